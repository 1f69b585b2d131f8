//! Spans of time for which what places are worth is known at both ends.

use sledlab_core::{Span, Time};

/// An epoch lasts until this share of the queue has changed ...
const SHARE: usize = 2;
/// ... but for at least so many changes.
const LEAST_CHANGES: usize = 16;

#[derive(Clone, Copy, Debug)]
pub(super) struct Epoch {
    from: Time,
    to: Time,
    /// Requests that came or went.
    changes: usize,
}

impl Epoch {
    /// Over at once.
    pub fn new() -> Self {
        Epoch { from: Time::ZERO, to: Time::ZERO, changes: 0 }
    }

    pub fn ends(&self) -> [Time; 2] {
        [self.from, self.to]
    }

    /// How much of it has passed.
    pub fn share(&self, now: Time) -> f64 {
        now.since(self.from).as_ns() as f64 / self.to.since(self.from).as_ns() as f64
    }

    /// A place has changed.
    pub fn changed(&mut self) {
        self.changes += 1;
    }

    /// Begins the next epoch if this one is over; `queued` requests wait. An epoch is to last twice as long as its
    /// changes are expected to take, so that hardly any ends early. Where all that waits gains alike, lines go on
    /// for ever.
    pub fn begin(&mut self, now: Time, queued: usize, ages_alike: bool) -> bool {
        if ages_alike && self.from < self.to && self.from <= now {
            return false;
        }
        let due = (queued / SHARE).max(LEAST_CHANGES);
        if self.changes < due && self.from <= now && now < self.to {
            return false;
        }
        let a_change = now.since(self.from).as_ns() / self.changes.max(1) as u64;
        let span = a_change.saturating_mul(2 * due as u64).clamp(1, Time::MAX.since(now).as_ns());
        *self = Epoch { from: now, to: now + Span::from_ns(span), changes: 0 };
        true
    }
}
