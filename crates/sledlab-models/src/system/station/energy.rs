//! Energy of a station: the times in its ledger, and what start-ups cost the requests that waited for them.

use sledlab_core::{Span, Time};

use super::{Phase, Station};
use crate::device::ServedRequest;
use crate::power::{Ledger, MechanicalWork, PowerCosts, PowerRates};
use crate::system::station_log::State;

/// The first request that waits for a start-up.
#[derive(Clone, Copy, Debug)]
pub(super) struct FirstWaiter {
    pub id: u64,
    pub since: Time,
}

/// A start-up with requests that waited for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartUp {
    pub first: FirstWaiter,
    pub begin: Time,
    pub end: Time,
    /// Requests that waited for the start-up and are not reported served.
    pub waiters: usize,
}

impl StartUp {
    /// Whether a request that joined the queue at `queue_time` waited for the start-up.
    fn has_delayed(&self, queue_time: Time) -> bool {
        self.first.since <= queue_time && queue_time < self.end
    }
}

impl Station {
    /// How long the device stays idle in the idle period from `since` to `now` before it parks.
    pub(super) fn timeout(&mut self, since: Time, now: Time, is_last: bool, costs: &PowerCosts) -> Span {
        let timeout = self.power.timeout_in_hindsight(now.since(since), is_last, costs);
        timeout.max(self.device.destage_end().since(since))
    }

    /// The powers and the start-up energy that the power policy weighs, where the mechanism has stopped.
    pub(super) fn power_costs(&self) -> PowerCosts {
        PowerCosts {
            idle_mw: self.device.mechanics().idle_mw(),
            inactive_mw: self.rates.inactive_mw,
            startup_uj: self.rates.startup_uj(),
        }
    }

    /// Enters the idle period from `since` to `now`, parked after `timeout`, into the ledger.
    pub(super) fn charge_idle_period(&mut self, since: Time, timeout: Span, now: Time, idle_mw: f64) {
        if let Some(watch) = &mut self.watch {
            let park = (since + timeout).min(now);
            watch.record_idle(State::Idle, since, park);
            watch.record_idle(State::Parked, park, now);
        }
        if let Some(ledger) = &mut self.ledger {
            let park = (since + timeout).min(now);
            ledger.enter_idle(since, park, idle_mw);
            if park < now {
                ledger.enter_inactive(park, now);
            }
        }
    }

    /// Adds to a served request the part of a start-up for which it waited. The energy counts for the first request.
    pub(super) fn add_startup(&mut self, served: &mut ServedRequest) {
        let queue_time = served.request.queue_time;
        let Some(place) = self.startups.iter().position(|startup| startup.has_delayed(queue_time)) else {
            return;
        };
        let startup = &mut self.startups[place];
        served.timing.startup = startup.end.since(startup.begin.max(queue_time));
        if startup.first.id == served.request.id {
            let opening = self.ledger.as_ref().map_or(Time::ZERO, Ledger::opening);
            let counted = startup.end.since(startup.begin.max(opening));
            served.energy.startup_uj = PowerRates { startup: counted, ..self.rates }.startup_uj();
        }
        startup.waiters = startup.waiters.saturating_sub(1);
        if startup.waiters == 0 {
            self.startups.remove(place);
        }
    }

    /// Starts the ledger anew at `now`.
    pub fn open_ledger(&mut self, now: Time) {
        if let Some(ledger) = &mut self.ledger {
            *ledger = Ledger::with_opening(now);
            // The remaining time of an unfinished start-up, which was entered into the old ledger when it began.
            if let Some(StartUp { begin, end, .. }) = self.startups.last()
                && *end > now
            {
                ledger.enter_startup(*begin, *end);
            }
        }
        self.future_completions.iter_mut().for_each(|served| served.discard_energy_before(now));
        self.flash_before = self.device.flash().unwrap_or_default();
        if let Some(merger) = &mut self.merger {
            merger.reset_counts();
        }
        self.longest_queue = self.queue_length();
    }

    /// Enters the idle period since the last service into the ledger, or the part of a service or start-up that has not
    /// ended.
    pub fn close_ledger(&mut self, now: Time) {
        if let Some(losses) = &mut self.losses {
            losses.until = now;
        }
        let costs = self.power_costs();
        let (since, timeout) = match self.phase {
            Phase::Idle { since, is_parked: true } => (since, Span::ZERO),
            Phase::Idle { since, is_parked: false } => (since, self.timeout(since, now, true, &costs)),
            Phase::Delaying { first, .. } => (first.since, Span::ZERO),
            _ => return self.charge_unfinished(now),
        };
        self.charge_idle_period(since, timeout, now, costs.idle_mw);
        self.phase = Phase::Idle { since: now, is_parked: true };
    }

    /// Enters the part until `now` of a service or start-up that has not ended into the ledger.
    fn charge_unfinished(&mut self, now: Time) {
        let Some(ledger) = &mut self.ledger else { return };
        match self.phase {
            Phase::Serving { since, busy } => {
                // Work that the device has not reported counts as seeks.
                let unknown = MechanicalWork { seek: now.since(since), ..MechanicalWork::default() };
                ledger.enter_unfinished_work(since, now, busy.map_or(unknown, |busy| busy.work));
            }
            // Only a start-up delays a selection.
            Phase::Selecting { at } => ledger.cut_startup(now, at),
            _ => {}
        }
    }
}
