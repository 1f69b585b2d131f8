//! Keeps bursty arrivals to their rate.

use sledlab_core::{Time, math};

/// How far the clock of a process is ahead of its rate, and what quiet times make of it.
///
/// Bursts make the mean rate of an hour wander by several percent, and recorded hours are
/// published with three digits. So quiet times shrink while requests are late and stretch while
/// they are early, slowly enough that windows of a second hardly see it.
#[derive(Clone, Debug)]
pub struct Pace {
    interval_s: f64,
    patience_s: f64,
    made: u64,
}

impl Pace {
    /// Bursts, with the quiet times between them, in which most of a delay is made up for.
    const BURSTS: f64 = 10.0;

    /// Keeps to `rate_per_s` where a burst and a quiet time together last `cycle_s` on average.
    pub fn new(rate_per_s: f64, cycle_s: f64) -> Self {
        Pace { interval_s: 1.0 / rate_per_s, patience_s: Self::BURSTS * cycle_s, made: 0 }
    }

    /// Takes note of a request.
    #[inline]
    pub fn count(&mut self) {
        self.made += 1;
    }

    /// What the next quiet time is multiplied with.
    pub fn stretch(&self, now: Time) -> f64 {
        let late_s = now.as_seconds() - self.made as f64 * self.interval_s;
        math::exp((-late_s / self.patience_s).clamp(-2.0, 2.0))
    }
}
