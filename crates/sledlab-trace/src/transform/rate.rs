//! A transformation step that makes requests arrive faster or slower.

use sledlab_core::{Error, Request, Result, Time};

use super::{Next, TransformStep};
use crate::arrivals::MAX_ARRIVAL_NS;

/// Divides every arrival by a factor, rounded to the nearest nanosecond: a factor of 2 is twice as intense.
///
/// Hong 2006 and Lee 2009 call this number the scaling factor; Lin's scale factor is its inverse.
#[derive(Clone, Copy, Debug)]
pub struct Speedup {
    factor: f64,
}

impl Speedup {
    /// # Errors
    /// The factor is not a positive, finite number.
    pub fn new(factor: f64) -> Result<Self> {
        if factor.is_finite() && factor > 0.0 {
            return Ok(Speedup { factor });
        }
        Err(Error::user(format!("invalid speed-up {factor}"))
            .with_remedy("choose a number above 0: 2 is twice as fast, 0.5 half as fast"))
    }
}

impl TransformStep for Speedup {
    #[inline]
    fn take(&mut self, mut request: Request) -> Result<Next> {
        // A factor of 1 must leave times beyond 2^53 ns (104 days) exact.
        #[allow(clippy::float_cmp, reason = "exactly 1 means: as traced")]
        if self.factor != 1.0 {
            let ns = (request.arrival.as_ns() as f64 / self.factor).round();
            if ns > MAX_ARRIVAL_NS as f64 {
                return Err(Error::user(format!(
                    "a request arrives after more than 9e18 ns (285 years) at a speed-up of {}",
                    self.factor
                ))
                .with_remedy("choose a larger speed-up"));
            }
            request.arrival = Time::from_ns(ns as u64);
        }
        Ok(Next::Pass(request))
    }
}
