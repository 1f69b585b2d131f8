//! Delayed spin-up (PW-15; paper 000, section 7): a parked device starts when enough requests wait, or when the
//! first of them has waited long enough.

use sledlab_core::{Error, Span};

use super::{Model, PowerPolicy, Prices};

sledlab_core::params! {
    /// Limits of the delay: whichever is reached first.
    pub struct DelayedSpinupParams {
        /// Number of waiting requests at which a parked device starts.
        requests: u64 = 4_u64, "", 1..1e9;
        /// Longest time that the first waiting request waits before a parked device starts.
        delay_ms: f64 = 10.0, "ms", 0.0..1e9;
        /// Idle time after which the device parks.
        timeout_ms: f64 = 0.0, "ms", 0.0..1e12;
    }
}

/// Delayed spin-up.
#[derive(Clone, Copy, Debug)]
pub struct DelayedSpinup {
    requests: u64,
    delay: Span,
    timeout: Span,
}

impl Model for DelayedSpinup {
    type Params = DelayedSpinupParams;
    const NAME: &'static str = "delayed-spinup";
    const MEANING: &'static str =
        "start a parked device when enough requests wait or the first has waited long enough";

    fn new(params: &DelayedSpinupParams) -> Self {
        DelayedSpinup {
            requests: params.requests,
            delay: Span::from_ms(params.delay_ms),
            timeout: Span::from_ms(params.timeout_ms),
        }
    }
}

impl PowerPolicy for DelayedSpinup {
    fn timeout(&mut self, _: &Prices) -> Span {
        self.timeout
    }

    fn timeout_in_hindsight(&mut self, _length: Span, prices: &Prices) -> Span {
        self.timeout(prices)
    }

    fn learn(&mut self, _length: Span, _timeout: Span, _prices: &Prices) {}

    fn patience(&mut self, waiting: usize) -> Span {
        if waiting as u64 >= self.requests { Span::ZERO } else { self.delay }
    }

    fn failure(&mut self) -> Option<Error> {
        None
    }
}
