//! Keeps the mean rate of bursty arrivals.

use sledlab_core::{Time, math};

/// Compares the time reached with the requests made, and lengthens or shortens quiet times accordingly.
///
/// Bursts make the mean rate of an hour wander by several percent, but the rates of recorded hours are published with
/// three digits. So quiet times shrink while requests are late and stretch while they are early, slowly enough that
/// counts in windows of a second hardly change.
#[derive(Clone, Debug)]
pub struct RateControl {
    interval_s: f64,
    patience_s: f64,
    requests: u64,
}

impl RateControl {
    /// Number of bursts, each with its quiet time, over which most of a delay is compensated.
    const BURSTS: f64 = 10.0;

    /// Keeps to `rate_per_s` where a burst and a quiet time together last `cycle_s` on average.
    pub fn new(rate_per_s: f64, cycle_s: f64) -> Self {
        RateControl { interval_s: 1.0 / rate_per_s, patience_s: Self::BURSTS * cycle_s, requests: 0 }
    }

    /// Counts a request.
    #[inline]
    pub fn count(&mut self) {
        self.requests += 1;
    }

    /// The factor on the next quiet time.
    pub fn stretch(&self, now: Time) -> f64 {
        let lateness_s = now.as_seconds() - self.requests as f64 * self.interval_s;
        math::exp((-lateness_s / self.patience_s).clamp(-2.0, 2.0))
    }
}
