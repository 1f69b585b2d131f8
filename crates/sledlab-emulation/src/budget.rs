//! Limits the processor time of a thread with real-time priority.
//!
//! The kernel throttles such a thread after 95 % of a second of processor time, for the remaining 50 ms. Therefore an
//! allowance of processor time grows with wall-clock time, at the rate [`SHARE`], and the thread's processor time is
//! charged to the allowance. When the allowance is low, the thread sleeps instead of polling the clock; when the
//! allowance is exhausted, the thread pauses.

/// Maximum share of wall-clock time for which the thread uses the processor: 80 %, in thousandths.
const SHARE: u64 = 800;

/// Maximum allowance that accumulates. Together with [`SHARE`] of a second it stays below what the kernel allows.
const MAX_SAVED_NS: u64 = 100_000_000;

/// Maximum pause, which limits the lateness of replies that are due meanwhile.
const MAX_NAP_NS: u64 = 500_000;

/// Minimum wall-clock time between two charges: reading the processor time from the kernel takes longer than reading
/// the clock.
const CHARGE_INTERVAL_NS: u64 = 1_000_000;

/// An allowance of processor time.
#[derive(Debug)]
pub(crate) struct Budget {
    /// Processor time that may still be used, in nanoseconds; negative where the thread has used more.
    saved: i64,
    real: u64,
    processor: u64,
    limited: bool,
}

impl Budget {
    /// A full allowance at `real`, when the thread has used `processor`; without limit if not `limited`.
    pub fn new(limited: bool, real: u64, processor: u64) -> Self {
        Budget { saved: MAX_SAVED_NS.cast_signed(), real, processor, limited }
    }

    /// Whether there is a limit at all.
    pub fn is_limited(&self) -> bool {
        self.limited
    }

    /// Whether enough time has passed to charge again.
    #[inline]
    pub fn is_due(&self, real: u64) -> bool {
        self.limited && real >= self.real + CHARGE_INTERVAL_NS
    }

    /// Charges the allowance: at `real`, the thread has used `processor` nanoseconds since it began.
    pub fn charge(&mut self, real: u64, processor: u64) {
        let earned = real.saturating_sub(self.real).saturating_mul(SHARE) / 1000;
        let spent = processor.saturating_sub(self.processor);
        let saved = self.saved.saturating_add_unsigned(earned).saturating_sub_unsigned(spent);
        self.saved = saved.min(MAX_SAVED_NS.cast_signed());
        (self.real, self.processor) = (real, processor);
    }

    /// How many of `spin` nanoseconds may be spent polling the clock: all of them while more than half of the allowance
    /// is left, none below a quarter.
    #[inline]
    pub fn allowed_spin(&self, spin: u64) -> u64 {
        let (half, quarter) = (MAX_SAVED_NS.cast_signed() / 2, MAX_SAVED_NS.cast_signed() / 4);
        if !self.limited || self.saved >= half {
            return spin;
        }
        let left = (self.saved - quarter).max(0).cast_unsigned();
        spin * left / quarter.cast_unsigned()
    }

    /// Returns how long the thread must pause because the allowance is overdrawn.
    pub fn nap(&self) -> Option<u64> {
        let overspent = self.limited && self.saved < 0;
        overspent.then(|| (self.saved.unsigned_abs() * 1000 / SHARE).clamp(1, MAX_NAP_NS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Simulates ten seconds of a thread that always works and pauses when required. Returns the maximum processor time
    /// of any window of a second, and the longest pause.
    fn run_greedy_thread(limited: bool) -> (u64, u64) {
        let mut budget = Budget::new(limited, 0, 0);
        let (mut real, mut used) = (0, 0);
        let mut worked = vec![(0, 0)];
        let mut gap = 0;
        while real < 10 * SECOND {
            real += 100_000;
            used += 100_000;
            if budget.is_due(real) {
                budget.charge(real, used);
                if let Some(nap) = budget.nap() {
                    real += nap;
                    gap = gap.max(nap);
                }
            }
            worked.push((real, used));
        }
        let mut begin = 0;
        let mut maximum = 0;
        for &(real, used) in &worked {
            while worked[begin].0 + SECOND < real {
                begin += 1;
            }
            maximum = maximum.max(used - worked[begin].1);
        }
        (maximum, gap)
    }

    #[test]
    fn usage_stays_below_kernel_limit() {
        let (maximum, gap) = run_greedy_thread(true);
        assert!(maximum < SECOND * 91 / 100, "{maximum}");
        assert!(gap <= MAX_NAP_NS);
        assert_eq!(run_greedy_thread(false).1, 0);
    }

    #[test]
    fn spin_shrinks_before_naps() {
        let mut budget = Budget::new(true, 0, 0);
        assert_eq!(budget.allowed_spin(60), 60);
        budget.charge(0, 60_000_000);
        assert!((1..60).contains(&budget.allowed_spin(60)));
        assert_eq!(budget.nap(), None);
        budget.charge(0, 80_000_000);
        assert_eq!(budget.allowed_spin(60), 0);
        assert_eq!(budget.nap(), None);
        budget.charge(0, 101_000_000);
        assert!(budget.nap().is_some());
        budget.charge(SECOND, 101_000_000);
        assert_eq!((budget.allowed_spin(60), budget.nap()), (60, None));
    }
}
