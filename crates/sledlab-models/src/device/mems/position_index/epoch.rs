//! Epochs: intervals for which the weight of positions is known at both ends.

use sledlab_core::Time;

/// An epoch lasts until the number of changes is that of the queued requests divided by this ...
const SHARE: usize = 2;
/// ... but for at least this number of changes.
const MIN_CHANGES: usize = 16;
/// Minimum length of an epoch if weights are exact however long it lasts: about a minute.
const LONG_NS: u64 = 1 << 36;

#[derive(Clone, Copy, Debug)]
pub(super) struct Epoch {
    from: Time,
    to: Time,
    /// Number of requests inserted or removed.
    changes: usize,
}

impl Epoch {
    /// An epoch that is over at once.
    pub fn new() -> Self {
        Epoch { from: Time::ZERO, to: Time::ZERO, changes: 0 }
    }

    pub fn ends(&self) -> [Time; 2] {
        [self.from, self.to]
    }

    /// Share of the epoch that has passed at `now`.
    pub fn share(&self, now: Time) -> f64 {
        now.since(self.from).as_ns() as f64 / self.to.since(self.from).as_ns() as f64
    }

    /// Counts a change of the requests at a position.
    pub fn count_change(&mut self) {
        self.changes += 1;
    }

    /// Begins the next epoch if this one is over; `queued` requests wait. An epoch is set to last twice as long as its
    /// changes are expected to take, so that few epochs end early. If weights grow linearly (`is_exact`), and in
    /// several tiles all at the same rate, the line between the ends is exact, except for rounding, however long an
    /// epoch lasts. Returns whether a new epoch has begun.
    pub fn begin(&mut self, now: Time, queued: usize, is_exact: bool) -> bool {
        let max_changes = (queued / SHARE).max(MIN_CHANGES);
        if (is_exact || self.changes < max_changes) && self.from <= now && now < self.to {
            return false;
        }
        let elapsed_ns = now.since(self.from).as_ns();
        let span_ns = if is_exact {
            elapsed_ns.saturating_mul(2).max(LONG_NS)
        } else {
            (elapsed_ns / self.changes.max(1) as u64).saturating_mul(2 * max_changes as u64).max(1)
        };
        let to = Time::from_ns(now.as_ns().saturating_add(span_ns));
        *self = Epoch { from: now, to, changes: 0 };
        true
    }
}
