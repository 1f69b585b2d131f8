//! The five-state ledger: how long a device was in each state and what that cost.

use serde::Serialize;
use sledlab_core::stats::CompensatedSum;
use sledlab_core::{Span, Time};

use super::{MechanicalWork, PowerRates};

/// The power states of a device. A disk's states are the same by other names: ACTIVE is seeking or accessing,
/// SLEEP and OFF are inactive, and spinning up is a start-up (Hong 2006, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerState {
    /// Parked: stationary, or not spinning.
    Inactive,
    /// Starting up.
    Startup,
    /// Seeking and accessing, alternately.
    Working,
    /// Waiting for requests, ready to serve.
    Idle,
}

impl PowerState {
    /// Whether a device can change to `next` (Hong 2006, figure 3).
    pub fn can_precede(self, next: PowerState) -> bool {
        use PowerState::{Idle, Inactive, Startup, Working};
        matches!(
            (self, next),
            (Inactive, Startup)
                | (Startup, Working)
                | (Working, Working | Idle | Inactive)
                | (Idle, Inactive | Working)
        )
    }
}

/// Time by state, tip-time (active tips times time) and idle energy of one device, counted from an opening time on.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    opening: Time,
    /// The state entered last and its end, to check the transitions.
    last: Option<(PowerState, Time)>,
    /// Mechanism moving without tips.
    pub seek: Span,
    /// Tips reading or writing.
    pub access: Span,
    /// Waiting for requests, servo loop running.
    pub idle: Span,
    /// Parked.
    pub inactive: Span,
    /// Starting up.
    pub startup: Span,
    /// Number of start-ups begun.
    pub startups: u64,
    /// Active tips, times how long.
    pub tip_ns: u128,
    /// The part of `tip_ns` in which tips were writing.
    pub written_tip_ns: u128,
    /// Tips that stayed inactive because the request did not need the data under them, multiplied by the time.
    pub dark_tip_ns: u128,
    idle_mw_ns: CompensatedSum,
}

/// Energy by state in joules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Energy {
    /// Sum of the parts.
    pub total: f64,
    /// Moving without tips.
    pub seek: f64,
    /// Sled and tips while reading or writing.
    pub access: f64,
    /// Waiting for requests.
    pub idle: f64,
    /// Parked.
    pub inactive: f64,
    /// Starting up.
    pub startup: f64,
}

impl Ledger {
    /// An empty ledger that counts only from `opening` on.
    pub fn with_opening(opening: Time) -> Self {
        Ledger { opening, ..Ledger::default() }
    }

    /// The time from which the ledger counts.
    pub fn opening(&self) -> Time {
        self.opening
    }

    /// The part of an interval that falls after the opening.
    pub(crate) fn counted_time(&self, from: Time, to: Time) -> Span {
        to.since(from.max(self.opening))
    }

    /// Enters a state. Debug builds check that states follow each other without gaps and by
    /// [`PowerState::can_precede`].
    #[inline]
    fn enter(&mut self, state: PowerState, from: Time, to: Time) {
        // A start-up may take no time, and a device may park at the time of an arrival: both must be checked.
        if cfg!(debug_assertions)
            && (from < to || matches!(state, PowerState::Inactive | PowerState::Startup))
        {
            if let Some((last, until)) = self.last {
                assert_eq!(until, from, "{state:?} does not follow {last:?} at once");
                assert!(last == state || last.can_precede(state), "{last:?} does not lead to {state:?}");
            }
            self.last = Some((state, to));
        }
    }

    /// Enters a period of work. If the period spans the opening, seeks, accesses and tip-times count in proportion.
    #[inline]
    pub fn enter_work(&mut self, from: Time, to: Time, work: MechanicalWork) {
        debug_assert_eq!(to.since(from), work.busy_time(), "a busy period consists of seeks and accesses");
        self.enter(PowerState::Working, from, to);
        if from >= self.opening {
            self.seek += work.seek;
            self.access += work.access;
            self.tip_ns += u128::from(work.tip_ns);
            self.written_tip_ns += u128::from(work.written_tip_ns);
            self.dark_tip_ns += u128::from(work.dark_tip_ns);
            return;
        }
        self.enter_partial_work(self.counted_time(from, to), work);
    }

    /// Enters a period of work that has not ended at `now`.
    pub fn enter_unfinished_work(&mut self, from: Time, now: Time, work: MechanicalWork) {
        self.enter(PowerState::Working, from, now);
        self.enter_partial_work(self.counted_time(from, now), work);
    }

    /// Enters the part of a period of work that lies in the counted time.
    #[cold]
    fn enter_partial_work(&mut self, counted: Span, work: MechanicalWork) {
        let share =
            |part: u128| part * u128::from(counted.as_ns()) / u128::from(work.busy_time().as_ns().max(1));
        let seek = Span::from_ns(share(u128::from(work.seek.as_ns())) as u64);
        self.seek += seek;
        self.access += counted - seek;
        self.tip_ns += share(u128::from(work.tip_ns));
        self.written_tip_ns += share(u128::from(work.written_tip_ns));
        self.dark_tip_ns += share(u128::from(work.dark_tip_ns));
    }

    /// Enters an idle period at `idle_mw`.
    pub fn enter_idle(&mut self, from: Time, to: Time, idle_mw: f64) {
        self.enter(PowerState::Idle, from, to);
        let span = self.counted_time(from, to);
        self.idle += span;
        self.idle_mw_ns += idle_mw * span.as_ns() as f64;
    }

    /// Enters a parked period.
    pub fn enter_inactive(&mut self, from: Time, to: Time) {
        self.enter(PowerState::Inactive, from, to);
        self.inactive += self.counted_time(from, to);
    }

    /// Enters a start-up.
    pub fn enter_startup(&mut self, from: Time, to: Time) {
        self.enter(PowerState::Startup, from, to);
        self.startup += self.counted_time(from, to);
        self.startups += u64::from(from >= self.opening);
    }

    /// Ends a start-up at `now`, which would have ended at `end`.
    pub fn cut_startup(&mut self, now: Time, end: Time) {
        self.startup = self.startup.saturating_sub(self.counted_time(now, end));
    }

    /// Time spent seeking or accessing.
    pub fn busy_time(&self) -> Span {
        self.seek + self.access
    }

    /// Time in all states together.
    pub fn total_time(&self) -> Span {
        self.busy_time() + self.idle + self.inactive + self.startup
    }

    /// Energy of all states: mW times ns is 1e-12 J.
    pub fn energy(&self, rates: &PowerRates) -> Energy {
        const PICO: f64 = 1e-12;
        let joules = |mw: f64, span: Span| mw * span.as_ns() as f64 * PICO;
        let seek = joules(rates.active_mw, self.seek);
        let access = joules(rates.active_mw, self.access)
            + rates.tip_mw * self.tip_ns as f64 * PICO
            + rates.writing_extra_mw() * self.written_tip_ns as f64 * PICO;
        let idle = self.idle_mw_ns.value() * PICO;
        let inactive = joules(rates.inactive_mw, self.inactive);
        let startup = joules(rates.startup_mw, self.startup);
        Energy { total: seek + access + idle + inactive + startup, seek, access, idle, inactive, startup }
    }
}

impl std::ops::AddAssign for Energy {
    fn add_assign(&mut self, other: Energy) {
        self.total += other.total;
        self.seek += other.seek;
        self.access += other.access;
        self.idle += other.idle;
        self.inactive += other.inactive;
        self.startup += other.startup;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NS: fn(u64) -> Time = Time::from_ns;

    #[test]
    fn times_before_opening_do_not_count() {
        let mut ledger = Ledger::with_opening(NS(100));
        ledger.enter_inactive(NS(0), NS(40));
        ledger.enter_startup(NS(40), NS(60));
        let half = Span::from_ns(40);
        let work =
            MechanicalWork { seek: half, access: half, tip_ns: 800, written_tip_ns: 600, dark_tip_ns: 80 };
        ledger.enter_work(NS(60), NS(140), work);
        ledger.enter_idle(NS(140), NS(150), 150.0);
        assert_eq!(ledger.total_time(), Span::from_ns(50));
        assert_eq!((ledger.seek.as_ns(), ledger.access.as_ns(), ledger.tip_ns), (20, 20, 400));
        assert_eq!((ledger.startups, ledger.dark_tip_ns, ledger.written_tip_ns), (0, 40, 300));
    }

    #[test]
    fn short_idle_periods_count_after_long_one() {
        let mut ledger = Ledger::default();
        let long_ns = 1 << 55;
        ledger.enter_idle(NS(0), NS(long_ns), 1.0);
        (long_ns..long_ns + 1_000_000).for_each(|at| ledger.enter_idle(NS(at), NS(at + 1), 1.0));
        let rates = PowerRates {
            active_mw: 0.0,
            tip_mw: 0.0,
            writing_tip_mw: 0.0,
            startup_mw: 0.0,
            inactive_mw: 0.0,
            startup: Span::ZERO,
        };
        // A plain sum of floating-point numbers would lose all the short idle periods.
        let joules = (long_ns + 1_000_000) as f64 * 1e-12;
        assert_eq!(ledger.energy(&rates).idle.to_bits(), joules.to_bits());
    }

    /// Hong 2006, figure 3: rows are states, columns those that may follow.
    #[test]
    fn states_follow_each_other_as_published() {
        use PowerState::{Idle, Inactive, Startup, Working};
        let states = [Inactive, Startup, Working, Idle];
        let may_follow = [
            [false, true, false, false],
            [false, false, true, false],
            [true, false, true, true],
            [true, false, true, false],
        ];
        assert_eq!(states.map(|state| states.map(|next| state.can_precede(next))), may_follow);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "Inactive does not lead to Working")]
    fn a_parked_device_cannot_serve() {
        let mut ledger = Ledger::default();
        ledger.enter_inactive(NS(0), NS(40));
        ledger.enter_work(
            NS(40),
            NS(50),
            MechanicalWork { seek: Span::from_ns(10), ..MechanicalWork::default() },
        );
    }
}
