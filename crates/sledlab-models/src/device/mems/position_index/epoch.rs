//! Spans of time for which what places are worth is known at both ends.

use sledlab_core::Time;

/// An epoch lasts until this share of the queue has changed ...
const SHARE: usize = 2;
/// ... but for at least so many changes.
const LEAST_CHANGES: usize = 16;
/// Where all that waits gains alike it lasts at least this long, about a minute.
const LONG_NS: u64 = 1 << 36;

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
    /// changes are expected to take, so that hardly any ends early. Where all that waits gains alike, lines are exact
    /// however long it lasts, but for rounding.
    pub fn begin(&mut self, now: Time, queued: usize, ages_alike: bool) -> bool {
        let due = (queued / SHARE).max(LEAST_CHANGES);
        if (ages_alike || self.changes < due) && self.from <= now && now < self.to {
            return false;
        }
        let elapsed_ns = now.since(self.from).as_ns();
        let span_ns = if ages_alike {
            elapsed_ns.saturating_mul(2).max(LONG_NS)
        } else {
            (elapsed_ns / self.changes.max(1) as u64).saturating_mul(2 * due as u64).max(1)
        };
        let to = Time::from_ns(now.as_ns().saturating_add(span_ns));
        *self = Epoch { from: now, to, changes: 0 };
        true
    }
}
