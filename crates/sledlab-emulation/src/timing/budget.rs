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
    allowance_ns: i64,
    charged_at_ns: u64,
    charged_processor_ns: u64,
    is_limited: bool,
}

impl Budget {
    /// A full allowance at `now_ns`, when the thread has used `processor_ns`; without limit if not `is_limited`.
    pub fn new(is_limited: bool, now_ns: u64, processor_ns: u64) -> Self {
        Budget {
            allowance_ns: MAX_SAVED_NS.cast_signed(),
            charged_at_ns: now_ns,
            charged_processor_ns: processor_ns,
            is_limited,
        }
    }

    /// Whether there is a limit at all.
    pub fn is_limited(&self) -> bool {
        self.is_limited
    }

    /// Whether enough time has passed to charge again.
    #[inline]
    pub fn is_due(&self, now_ns: u64) -> bool {
        self.is_limited && now_ns >= self.charged_at_ns + CHARGE_INTERVAL_NS
    }

    /// Charges the allowance: at `now_ns`, the thread has used `processor_ns` nanoseconds since it began.
    pub fn charge(&mut self, now_ns: u64, processor_ns: u64) {
        let earned_ns = now_ns.saturating_sub(self.charged_at_ns).saturating_mul(SHARE) / 1000;
        let spent_ns = processor_ns.saturating_sub(self.charged_processor_ns);
        let allowance_ns =
            self.allowance_ns.saturating_add_unsigned(earned_ns).saturating_sub_unsigned(spent_ns);
        self.allowance_ns = allowance_ns.min(MAX_SAVED_NS.cast_signed());
        (self.charged_at_ns, self.charged_processor_ns) = (now_ns, processor_ns);
    }

    /// How much of `spin_ns` may be spent polling the clock: all of it while more than half of the allowance is left,
    /// nothing below a quarter.
    #[inline]
    pub fn allowed_spin(&self, spin_ns: u64) -> u64 {
        let (half_ns, quarter_ns) = (MAX_SAVED_NS.cast_signed() / 2, MAX_SAVED_NS.cast_signed() / 4);
        if !self.is_limited || self.allowance_ns >= half_ns {
            return spin_ns;
        }
        let left_ns = (self.allowance_ns - quarter_ns).max(0).cast_unsigned();
        spin_ns * left_ns / quarter_ns.cast_unsigned()
    }

    /// Returns how long the thread must pause because the allowance is overdrawn.
    pub fn nap(&self) -> Option<u64> {
        let is_overdrawn = self.is_limited && self.allowance_ns < 0;
        is_overdrawn.then(|| (self.allowance_ns.unsigned_abs() * 1000 / SHARE).clamp(1, MAX_NAP_NS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Simulates ten seconds of a thread that always works and pauses when required. Returns the maximum processor time
    /// of any window of a second, and the longest pause.
    fn run_greedy_thread(is_limited: bool) -> (u64, u64) {
        let mut budget = Budget::new(is_limited, 0, 0);
        let (mut real_ns, mut used_ns) = (0, 0);
        let mut usage = vec![(0, 0)];
        let mut longest_pause_ns = 0;
        while real_ns < 10 * SECOND {
            real_ns += 100_000;
            used_ns += 100_000;
            if budget.is_due(real_ns) {
                budget.charge(real_ns, used_ns);
                if let Some(nap_ns) = budget.nap() {
                    real_ns += nap_ns;
                    longest_pause_ns = longest_pause_ns.max(nap_ns);
                }
            }
            usage.push((real_ns, used_ns));
        }
        let mut begin = 0;
        let mut max_used_ns = 0;
        for &(real_ns, used_ns) in &usage {
            while usage[begin].0 + SECOND < real_ns {
                begin += 1;
            }
            max_used_ns = max_used_ns.max(used_ns - usage[begin].1);
        }
        (max_used_ns, longest_pause_ns)
    }

    #[test]
    fn usage_stays_below_kernel_limit() {
        let (max_used_ns, longest_pause_ns) = run_greedy_thread(true);
        assert!(max_used_ns < SECOND * 91 / 100, "{max_used_ns}");
        assert!(longest_pause_ns <= MAX_NAP_NS);
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
