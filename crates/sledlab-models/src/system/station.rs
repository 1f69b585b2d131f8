//! A station: a queue with its scheduler, a device, and the power policy that parks the device.

mod energy;

use std::collections::VecDeque;

use sledlab_core::{Error, Span, Time};

use self::energy::{FirstWaiter, StartUp};
use super::completion_queue::CompletionQueue;
use super::station_log::{State, StationLog, StationRecorder};
use super::{MAX_COMPLETIONS, MAX_EVENTS, Setup, Start};
use crate::device::preset::DeviceFile;
use crate::device::{
    self, BusyPeriod, Device, FaultCounts, FlashCounts, IdleOutcome, QueuedRequest, ServedRequest,
};
use crate::merge::{MergeCounts, Merger};
use crate::power::{Ledger, MechanicalWork, PowerPolicy, PowerRates};
use crate::scheduler::Scheduler;

/// A completed request, as the host sees it.
pub type Completion = ServedRequest;

/// The state of the mechanism.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Without requests since `since`; `is_parked` where it was parked already at that time.
    Idle { since: Time, is_parked: bool },
    /// Parked with requests waiting since the first of them; starts up at `until`, or earlier when enough requests
    /// wait.
    Delaying { first: FirstWaiter, until: Time },
    /// Starting up or ready: the next batch is selected at `at`.
    Selecting { at: Time },
    /// Serving a batch since `since`; `busy` is until when and with what work, where the device has reported it.
    Serving { since: Time, busy: Option<BusyPeriod> },
    /// The scheduler has failed: no request is served any more.
    Stuck,
}

/// Requests for data that the device had lost when they were selected, counted until a time.
#[derive(Clone, Copy, Debug, Default)]
struct Losses {
    requests: u64,
    until: Time,
}

/// A queue, a scheduler, a device and a power policy.
pub struct Station {
    device: Box<dyn Device>,
    has_background_work: bool,
    scheduler: Box<dyn Scheduler>,
    merger: Option<Merger>,
    power: Box<dyn PowerPolicy>,
    rates: PowerRates,
    phase: Phase,
    /// When another batch is selected although the device is not free, because the device accepts further requests and
    /// some wait.
    next_selection: Option<Time>,
    /// Requests whose command overhead runs, in order of its end.
    admitted: VecDeque<(Time, QueuedRequest)>,
    /// Number of requests that wait until the device admits them.
    unadmitted_requests: usize,
    /// When the mechanism last became free, for a device with background work.
    last_free: Time,
    /// Served requests whose completion lies in the future.
    future_completions: CompletionQueue,
    /// Start-ups until all requests that waited for them are reported served: a device with background work may be idle
    /// before it reports a completion.
    startups: Vec<StartUp>,
    /// `None` where the run accounts for no energy.
    ledger: Option<Ledger>,
    longest_queue: usize,
    /// Requests for lost data; `None` if no part of the device can fail.
    losses: Option<Losses>,
    /// Garbage collection of the device before the ledger was opened.
    flash_before: FlashCounts,
    batch: Vec<QueuedRequest>,
    served: Vec<ServedRequest>,
    /// Records choices and services, where the station is watched.
    watch: Option<Box<StationRecorder>>,
}

impl Station {
    /// Returns the station of a device file: its device idle, with an empty queue and the policies of `setup`.
    ///
    /// # Errors
    /// Parameters that contradict each other.
    pub fn new(file: &DeviceFile, setup: Setup) -> sledlab_core::Result<Self> {
        Station::with_device(device::build(file)?, setup)
    }

    /// Returns the station of an idle device, with an empty queue and the policies of `setup`.
    ///
    /// # Errors
    /// Parameters that contradict each other.
    pub fn with_device(device: Box<dyn Device>, setup: Setup) -> sledlab_core::Result<Self> {
        let Setup { scheduler, power, merge, start } = setup;
        let merger = Merger::new(merge, device.mechanics().parallel_blocks());
        if merger.is_some() && device.has_background_work() && !device.can_accept_batch() {
            return Err(Error::user(
                "merge.kind: requests cannot be merged behind an interleaved or shared bus, nor in a disk of several \
                 commands",
            )
            .with_remedy(
                "set device.pipeline = \"serial\", system.bus = \"own\" or device.queue_depth = 1, or merge.kind = \
                 \"none\"",
            ));
        }
        Ok(Station {
            scheduler: scheduler.make(device.mechanics())?,
            merger,
            power: power.make()?,
            rates: device.mechanics().power_rates(),
            has_background_work: device.has_background_work(),
            phase: Phase::Idle { since: Time::ZERO, is_parked: start == Start::Parked },
            next_selection: None,
            admitted: VecDeque::new(),
            unadmitted_requests: 0,
            last_free: Time::ZERO,
            future_completions: CompletionQueue::default(),
            startups: Vec::new(),
            ledger: Some(Ledger::default()),
            longest_queue: 0,
            losses: device.faults(Time::ZERO).map(|_| Losses::default()),
            flash_before: FlashCounts::default(),
            batch: Vec::new(),
            served: Vec::new(),
            watch: None,
            device,
        })
    }

    /// The device.
    pub fn device(&self) -> &dyn Device {
        self.device.as_ref()
    }

    /// Time and energy by state, where the station accounts for them.
    pub fn ledger(&self) -> Option<&Ledger> {
        self.ledger.as_ref()
    }

    /// Returns how long the device had nothing to do until `now`, since the ledger was opened: it was idle or parked.
    /// Zero if the station has no ledger.
    pub fn idle_time(&self, now: Time) -> Span {
        let Some(ledger) = &self.ledger else { return Span::ZERO };
        let unfinished = match self.phase {
            Phase::Idle { since: start, .. }
            | Phase::Delaying { first: FirstWaiter { since: start, .. }, .. } => {
                ledger.counted_time(start, now)
            }
            _ => Span::ZERO,
        };
        ledger.idle + ledger.inactive + unfinished
    }

    /// Returns the station without energy accounting, to measure the cost of the accounting.
    #[must_use]
    pub fn without_energy(mut self) -> Self {
        self.device.disable_energy();
        Station { ledger: None, ..self }
    }

    /// Positioning time of `request` if it were served next: from where the mechanism is, or will be when it is free.
    pub fn positioning(&self, now: Time, request: &QueuedRequest) -> Span {
        let free = match self.phase {
            Phase::Selecting { at } => at,
            Phase::Serving { busy: Some(busy), .. } => busy.until,
            _ => now,
        };
        self.device.probe(free.max(now), request).positioning()
    }

    /// From now on records choices, services and idle periods at `from` or later, for [`take_log`](Station::take_log).
    /// Call this at the beginning of a run: requests that wait already are not known. A watched station behaves the
    /// same, but runs more slowly.
    pub fn watch(&mut self, from: Time) {
        self.watch.get_or_insert_default().begin(from);
    }

    /// Returns the log since the last call; an empty log without [`watch`](Station::watch).
    pub fn take_log(&mut self) -> StationLog {
        let idle = match self.phase {
            Phase::Idle { since, is_parked } => {
                Some((since, if is_parked { State::Parked } else { State::Idle }))
            }
            Phase::Delaying { first, .. } => Some((first.since, State::Parked)),
            _ => None,
        };
        self.watch.as_mut().map(|watch| watch.take(idle)).unwrap_or_default()
    }

    /// When the mechanism finished its last work: some disks still write after the last request is complete.
    pub fn last_free(&self) -> Time {
        self.last_free
    }

    /// The error that stopped the scheduler, the power policy or the device, if one did.
    pub fn failure(&mut self) -> Option<Error> {
        self.scheduler.failure().or_else(|| self.power.failure()).or_else(|| self.device.failure())
    }

    /// Number of requests that wait to be selected, including those the device has not admitted.
    pub fn queue_length(&self) -> usize {
        self.waiting_requests() + self.admitted.len() + self.unadmitted_requests
    }

    /// Number of requests in the queue of the scheduler.
    #[inline]
    fn waiting_requests(&self) -> usize {
        self.merger.as_ref().map_or_else(|| self.scheduler.len(), Merger::len)
    }

    /// Requests merged since the ledger was opened.
    pub fn merge_counts(&self) -> MergeCounts {
        self.merger.as_ref().map(Merger::counts).unwrap_or_default()
    }

    /// Largest number of requests that waited at one time since the ledger was opened. A request that is selected in
    /// the time of its arrival does not count.
    pub fn longest_queue(&self) -> usize {
        self.longest_queue
    }

    /// A request arrives.
    #[inline]
    pub fn arrive(&mut self, now: Time, request: QueuedRequest) {
        if !self.has_background_work {
            self.enqueue(now, request);
            return;
        }
        let ready = self.device.admit(now, &QueuedRequest { queue_time: now, ..request });
        match ready {
            Time::MAX => self.unadmitted_requests += 1,
            ready if ready <= now => self.enqueue(now, request),
            ready => self.admitted.push_back((ready, request)),
        }
    }

    /// Adds a request to the queue, which ends the idle period of the device.
    #[inline]
    fn enqueue(&mut self, now: Time, mut request: QueuedRequest) {
        // Changed in place, which saves a copy of the request.
        request.queue_time = now;
        if let Some(watch) = &mut self.watch {
            watch.arrive(&request);
        }
        let id = request.id;
        match &mut self.merger {
            None => self.scheduler.push(request),
            Some(merger) => merger.push(request, self.device.mechanics(), self.scheduler.as_mut()),
        }
        match self.phase {
            Phase::Idle { since, is_parked } => {
                self.end_idle_period(since, is_parked, FirstWaiter { id, since: now });
            }
            Phase::Delaying { first, .. } => self.delay_startup(first, now),
            Phase::Selecting { at } if now < at => {
                // Only a start-up delays a selection.
                if let Some(startup) = self.startups.last_mut() {
                    startup.waiters += 1;
                }
            }
            Phase::Serving { busy: None, .. } => self.select_while_busy(now),
            _ => {}
        }
    }

    /// Selects another batch at `now` if the device, which is not free, accepts further requests and some wait.
    fn select_while_busy(&mut self, now: Time) {
        if self.next_selection.is_none() && self.waiting_requests() > 0 && self.device.can_accept_batch() {
            self.next_selection = Some(now);
        }
    }

    /// Accounts for the idle period that an arrival ends; starts up a parked device, or selects.
    fn end_idle_period(&mut self, since: Time, is_parked: bool, first: FirstWaiter) {
        let now = first.since;
        let length = now.since(since);
        let costs = self.power_costs();
        let timeout = if is_parked { Span::ZERO } else { self.timeout(since, now, false, &costs) };
        self.charge_idle_period(since, timeout, now, costs.idle_mw);
        // A queue that is refilled at the time at which it becomes empty was not idle.
        let was_idle = since < now;
        if was_idle && !is_parked {
            self.power.learn(length, timeout, &costs);
        }
        if is_parked || (was_idle && timeout <= length) {
            self.device.end_idle_period(IdleOutcome::Parked);
            self.delay_startup(first, now);
        } else {
            self.device.end_idle_period(IdleOutcome::Idle(length));
            self.phase = Phase::Selecting { at: now };
        }
    }

    /// A parked device with requests waiting starts up, or waits for further requests.
    fn delay_startup(&mut self, first: FirstWaiter, now: Time) {
        let waiting = self.queue_length();
        let until = first.since + self.power.patience(waiting);
        if until > now {
            self.phase = Phase::Delaying { first, until };
        } else {
            self.start_up(first, now);
        }
    }

    /// Starts up a device that has stayed parked with requests waiting since `first`.
    fn start_up(&mut self, first: FirstWaiter, now: Time) {
        let at = now + self.rates.startup;
        if let Some(ledger) = &mut self.ledger {
            ledger.enter_inactive(first.since, now);
            ledger.enter_startup(now, at);
        }
        if let Some(watch) = &mut self.watch {
            watch.record_idle(State::Parked, first.since, now);
            watch.record_idle(State::StartUp, now, at);
        }
        let waiters = self.waiting_requests();
        if now < at {
            self.startups.push(StartUp { first, begin: now, end: at, waiters });
        } else if first.since < now {
            self.longest_queue = self.longest_queue.max(self.queue_length());
        }
        self.phase = Phase::Selecting { at };
    }

    /// Time of the next event.
    #[inline]
    pub fn next_event(&self) -> Option<Time> {
        let phase_end = match self.phase {
            Phase::Idle { .. } | Phase::Stuck => None,
            Phase::Selecting { at } => Some(at),
            Phase::Delaying { until, .. } => Some(until),
            Phase::Serving { busy, .. } => busy.map(|busy| busy.until),
        };
        let mut next = earliest(phase_end, self.future_completions.first());
        if !self.has_background_work {
            return next;
        }
        if let Some((ready, _)) = self.admitted.front() {
            next = earliest(next, Some(*ready));
        }
        earliest(earliest(next, self.next_selection), self.device.next_wakeup())
    }

    /// Handles the events due at `now`. Selection comes last and in a separate call, so that requests that arrive in
    /// response to a completion at the same time take part in it.
    #[inline]
    pub fn advance(&mut self, now: Time, completed: &mut Vec<Completion>) {
        let mut has_progressed = self.future_completions.take_due(now, completed);
        if self.has_background_work {
            has_progressed |= self.wake(now);
            has_progressed |= self.admit(now);
        }
        if let Phase::Serving { since, busy: Some(BusyPeriod { until, work }) } = self.phase
            && until <= now
        {
            self.free(since, until, work);
            has_progressed = true;
        }
        if let Phase::Delaying { first, until } = self.phase
            && until <= now
        {
            self.start_up(first, now);
            has_progressed = true;
        }
        if let Phase::Selecting { at } = self.phase
            && at <= now
            && !has_progressed
        {
            self.select(now);
        }
        if self.next_selection.is_some_and(|at| at <= now) && !has_progressed {
            self.issue_while_busy(now);
        }
    }

    /// See [`System::advance_before`](super::System::advance_before).
    #[inline]
    pub fn advance_before(&mut self, horizon: Time, completed: &mut Vec<Completion>) -> bool {
        let mut events = 0;
        while completed.len() < MAX_COMPLETIONS {
            match self.phase {
                // Selects and serves in one step, as no other event can come between.
                Phase::Selecting { at }
                    if at < horizon && self.has_final_completions() && self.future_completions.is_empty() =>
                {
                    self.serve(at, horizon, completed);
                }
                Phase::Serving { since, busy: Some(BusyPeriod { until, work }) }
                    if until < horizon && self.has_final_completions() =>
                {
                    self.future_completions.take_due(Time::MAX, completed);
                    self.free(since, until, work);
                }
                _ => match self.next_event() {
                    Some(now) if now < horizon => {
                        if events == MAX_EVENTS {
                            return false;
                        }
                        events += 1;
                        self.advance(now, completed);
                    }
                    _ => return true,
                },
            }
        }
        false
    }

    fn wake(&mut self, now: Time) -> bool {
        if self.device.next_wakeup().is_none_or(|at| at > now) {
            return false;
        }
        let finished_work = self.device.wake(now, &mut self.served);
        self.sort_completions();
        if let Phase::Serving { since, .. } = self.phase {
            match finished_work {
                Some(work) => {
                    self.last_free = now;
                    self.free(since, now, work);
                }
                None if self.next_selection.is_none() && self.device.can_accept_batch() => {
                    // Requests that wait now did wait for the device to take more.
                    self.longest_queue = self
                        .longest_queue
                        .max(self.waiting_requests() + self.admitted.len() + self.unadmitted_requests);
                    self.select_while_busy(now);
                }
                _ => {}
            }
        }
        while let Some(request) = self.device.pop_admitted() {
            self.unadmitted_requests -= 1;
            self.enqueue(now, request);
        }
        true
    }

    fn admit(&mut self, now: Time) -> bool {
        let mut has_admitted = false;
        while let Some((ready, request)) = self.admitted.front().copied()
            && ready <= now
        {
            self.admitted.pop_front();
            self.enqueue(now, request);
            has_admitted = true;
        }
        has_admitted
    }

    /// The mechanism has become free at `now`.
    #[inline]
    fn free(&mut self, since: Time, now: Time, work: MechanicalWork) {
        let queued = self.waiting_requests();
        self.next_selection = None;
        self.longest_queue = self.longest_queue.max(queued + self.admitted.len() + self.unadmitted_requests);
        if let Some(ledger) = &mut self.ledger {
            ledger.enter_work(since, now, work);
        }
        self.phase = if queued == 0 {
            Phase::Idle { since: now, is_parked: false }
        } else {
            Phase::Selecting { at: now }
        };
    }

    /// Whether completions can be taken from the device as soon as a batch is issued: the device reports all of them at
    /// once and in order, no request is left that waited for a start-up, requests are not merged, and the station is
    /// not watched.
    #[inline]
    fn has_final_completions(&self) -> bool {
        !self.has_background_work && self.startups.is_empty() && self.merger.is_none() && self.watch.is_none()
    }

    /// Asks the scheduler for the next batch; false if the scheduler has failed.
    #[inline]
    fn choose(&mut self, now: Time) -> bool {
        self.batch.clear();
        self.device.set_time(now);
        let mechanics = self.device.mechanics();
        match &mut self.merger {
            None => self.scheduler.pop(now, mechanics, &mut self.batch),
            Some(merger) => merger.pop(now, mechanics, self.scheduler.as_mut(), &mut self.batch),
        }
        if self.losses.is_some() {
            self.count_lost_requests(now);
        }
        if self.batch.is_empty() {
            self.phase = Phase::Stuck;
        } else if let Some(watch) = &mut self.watch {
            watch.choose(now, &self.batch, self.device.as_ref());
        }
        !self.batch.is_empty()
    }

    /// Counts the selected requests for lost data, each of those that are merged.
    #[cold]
    fn count_lost_requests(&mut self, now: Time) {
        let is_lost = |request: &&QueuedRequest| self.device.is_lost(now, request);
        let lost_count = match &self.merger {
            None => self.batch.iter().filter(is_lost).count(),
            Some(merger) => self.batch.iter().flat_map(|group| merger.parts(group)).filter(is_lost).count(),
        };
        if let Some(losses) = &mut self.losses {
            *losses = Losses { requests: losses.requests + lost_count as u64, until: now };
        }
    }

    /// Failures of the device so far, and the requests that they affected; `None` if no part of the device can fail.
    pub fn faults(&self) -> Option<FaultCounts> {
        let Losses { requests, until } = self.losses?;
        self.device.faults(until).map(|counts| FaultCounts { lost_requests: requests, ..counts })
    }

    /// Garbage collection of the device since the ledger was opened; `None` for a device without it.
    pub fn flash(&self) -> Option<FlashCounts> {
        self.device.flash().map(|counts| counts.since(&self.flash_before))
    }

    fn select(&mut self, now: Time) {
        let queued = self.queue_length();
        if !self.choose(now) {
            return;
        }
        if self.startups.last().is_some_and(|startup| startup.end == now) {
            self.longest_queue = self.longest_queue.max(queued);
        }
        let busy = if self.has_final_completions() && self.future_completions.is_empty() {
            self.device.issue(now, &self.batch, self.future_completions.empty_vector())
        } else {
            let busy = self.device.issue(now, &self.batch, &mut self.served);
            self.sort_completions();
            busy
        };
        self.phase = Phase::Serving { since: now, busy };
        if self.has_background_work {
            self.select_while_busy(now);
        }
    }

    /// Issues another batch to a device that takes further requests while it is busy.
    fn issue_while_busy(&mut self, now: Time) {
        self.next_selection = None;
        if self.choose(now) {
            let busy = self.device.issue(now, &self.batch, &mut self.served);
            debug_assert!(
                busy.is_none(),
                "a device that accepts more requests reports no busy period before it is free"
            );
            self.sort_completions();
            self.select_while_busy(now);
        }
    }

    /// Starts a service where [`has_final_completions`](Station::has_final_completions) holds: the completions that
    /// the device reports are final.
    #[inline]
    fn serve(&mut self, now: Time, horizon: Time, completed: &mut Vec<Completion>) {
        if !self.choose(now) {
            return;
        }
        let busy = self.device.issue(now, &self.batch, completed);
        match busy {
            Some(BusyPeriod { until, work }) if until < horizon => self.free(now, until, work),
            _ => self.phase = Phase::Serving { since: now, busy },
        }
    }

    /// Sorts the reported completions into the queue of completions, splits merged requests, and adds start-ups to the
    /// requests that waited for them.
    fn sort_completions(&mut self) {
        let mut requests = std::mem::take(&mut self.served);
        for served in requests.drain(..) {
            match &mut self.merger {
                None => self.finish(served),
                Some(merger) => merger.split(&served).into_iter().for_each(|part| self.finish(part)),
            }
        }
        self.served = requests;
    }

    fn finish(&mut self, mut served: ServedRequest) {
        if !self.startups.is_empty() {
            self.add_startup(&mut served);
        }
        if let Some(ledger) = &self.ledger {
            served.discard_energy_before(ledger.opening());
        }
        if let Some(watch) = &mut self.watch {
            watch.serve(&served);
        }
        self.future_completions.insert(served);
    }
}

/// Returns the earlier of two times, where there are any.
#[inline]
pub(crate) fn earliest(a: Option<Time>, b: Option<Time>) -> Option<Time> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
