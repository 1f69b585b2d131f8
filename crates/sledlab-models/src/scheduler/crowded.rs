//! Parallelism-aware choices: many requests at a position are worth a longer way (paper 002, section 3).

use sledlab_core::{Span, Time};

use crate::device::{Crowd, Score, Stretch};

/// A position at no distance counts as if it were this far: a priority must be finite.
pub(super) const NEAREST: Span = Span::from_ns(1_000);

/// What counts of the requests that wait at a position.
#[derive(Clone, Copy, Debug)]
pub(super) enum Crowded {
    /// How many they are (P-SPTF, equation 2).
    Number,
    /// The sum of their waiting times (PA-SPTF, equation 3).
    Waits,
    /// The sum of a power of their waiting times in ms: 0 counts them, 1 adds the waits up.
    Powers(f64),
}

impl Crowded {
    /// Minus the priority: the smallest score is served.
    fn score(time: Span, worth: f64) -> f64 {
        -worth / time.max(NEAREST).as_ns() as f64
    }

    fn power(exponent: f64, now: Time, joined: Time) -> f64 {
        now.since(joined).as_ms().powf(exponent)
    }
}

impl Score for Crowded {
    fn of(&self, now: Time, time: Span, crowd: &Crowd, joined: &mut dyn Iterator<Item = Time>) -> f64 {
        let worth = match *self {
            Crowded::Number => f64::from(crowd.requests),
            Crowded::Waits => crowd.waited_ns(now),
            Crowded::Powers(exponent) => joined.map(|at| Self::power(exponent, now, at)).sum(),
        };
        Self::score(time, worth)
    }

    fn bound(&self, now: Time, stretch: &Stretch) -> f64 {
        let requests = f64::from(stretch.requests);
        let worth = match *self {
            Crowded::Number => requests,
            Crowded::Waits => requests * now.since(stretch.oldest).as_ns() as f64,
            // Sums of rounded terms may come out a little larger than the product.
            Crowded::Powers(exponent) => requests * Self::power(exponent, now, stretch.oldest) * (1.0 + 1e-9),
        };
        Self::score(stretch.least, worth)
    }

    fn heeds_farthest(&self) -> bool {
        false
    }
}
