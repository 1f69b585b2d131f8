//! How much of a processor a thread of real-time priority may use.
//!
//! The kernel silences such threads when they have used 95 % of a second, for the rest of it: a gap of 50 ms. So an
//! allowance of processor time grows with real time, at [`SHARE`] of it, and work is charged to it. When it runs low
//! waiting is spent asleep rather than looking at the clock, and when there is none left the thread naps.

/// Share of real time that may be spent: 80 %, in thousandths.
const SHARE: u64 = 800;

/// Most that is saved up. With [`SHARE`] of a second it stays below what the kernel allows.
const SAVED_NS: u64 = 100_000_000;

/// Longest nap: late answers shall not be later than need be.
const NAP_NS: u64 = 500_000;

/// Asking the kernel for the processor time takes longer than asking for the time, so it is done this often at most.
const CHARGE_EVERY_NS: u64 = 1_000_000;

/// An allowance of processor time.
#[derive(Debug)]
pub(crate) struct Budget {
    /// What may still be spent; less than nothing where more was.
    saved: i64,
    real: u64,
    processor: u64,
    limited: bool,
}

impl Budget {
    /// With all that can be saved; without limit if not `limited`.
    pub fn new(limited: bool, real: u64, processor: u64) -> Self {
        Budget { saved: SAVED_NS.cast_signed(), real, processor, limited }
    }

    /// Whether there is a limit at all.
    pub fn is_limited(&self) -> bool {
        self.limited
    }

    /// Whether enough time has passed to charge again.
    #[inline]
    pub fn is_due(&self, real: u64) -> bool {
        self.limited && real >= self.real + CHARGE_EVERY_NS
    }

    /// At `real`, the thread has used `processor` in all.
    pub fn charge(&mut self, real: u64, processor: u64) {
        let earned = real.saturating_sub(self.real).saturating_mul(SHARE) / 1000;
        let spent = processor.saturating_sub(self.processor);
        let saved = self.saved.saturating_add_unsigned(earned).saturating_sub_unsigned(spent);
        self.saved = saved.min(SAVED_NS.cast_signed());
        (self.real, self.processor) = (real, processor);
    }

    /// How much of `spin` nanoseconds may be spent looking at the clock: all of it while more than half is saved,
    /// nothing below a quarter.
    #[inline]
    pub fn spin(&self, spin: u64) -> u64 {
        let (half, quarter) = (SAVED_NS.cast_signed() / 2, SAVED_NS.cast_signed() / 4);
        if !self.limited || self.saved >= half {
            return spin;
        }
        let left = (self.saved - quarter).max(0).cast_unsigned();
        spin * left / quarter.cast_unsigned()
    }

    /// How long to sleep before anything else, since too much has been spent.
    pub fn nap(&self) -> Option<u64> {
        let overspent = self.limited && self.saved < 0;
        overspent.then(|| (self.saved.unsigned_abs() * 1000 / SHARE).clamp(1, NAP_NS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// A thread that would always work and naps when it is told to, for ten seconds: (used, longest gap) in the worst
    /// of all windows of a second.
    fn greedy(limited: bool) -> (u64, u64) {
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
        let mut most = 0;
        for &(real, used) in &worked {
            while worked[begin].0 + SECOND < real {
                begin += 1;
            }
            most = most.max(used - worked[begin].1);
        }
        (most, gap)
    }

    #[test]
    fn stays_below_what_the_kernel_allows() {
        let (most, gap) = greedy(true);
        assert!(most < SECOND * 91 / 100, "{most}");
        assert!(gap <= NAP_NS);
        assert_eq!(greedy(false).1, 0);
    }

    #[test]
    fn spins_less_before_it_naps() {
        let mut budget = Budget::new(true, 0, 0);
        assert_eq!(budget.spin(60), 60);
        budget.charge(0, 60_000_000);
        assert!((1..60).contains(&budget.spin(60)));
        assert_eq!(budget.nap(), None);
        budget.charge(0, 80_000_000);
        assert_eq!(budget.spin(60), 0);
        assert_eq!(budget.nap(), None);
        budget.charge(0, 101_000_000);
        assert!(budget.nap().is_some());
        budget.charge(SECOND, 101_000_000);
        assert_eq!((budget.spin(60), budget.nap()), (60, None));
    }
}
