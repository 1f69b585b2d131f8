//! Records the queue of a station, the choices of its scheduler with their candidates, and the service of each request.
//!
//! Nothing is recorded by default. Runs are deterministic, so an experiment can be run again with recording.

use sledlab_core::{Span, Time};

use crate::device::{Device, DeviceState, QueuedRequest, ServedRequest};

/// Most candidates whose positioning time is computed: those nearest along x.
const MAX_PROBED: usize = 256;
/// Most candidates that are recorded among those not chosen, by positioning time.
const MAX_CANDIDATES: usize = 7;

/// The state of a mechanism that does not serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Idle: ready to serve at once.
    Idle,
    /// Parked.
    Parked,
    /// Starting up.
    StartUp,
}

/// A period without service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdlePeriod {
    /// The state of the mechanism during that time.
    pub state: State,
    /// When the state began.
    pub begin: Time,
    /// When the state ended; [`Time::MAX`] where it has not.
    pub end: Time,
}

/// A request that a scheduler could choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Number of the request.
    pub id: u64,
    /// The positioning time that the scheduler expects if the request is served next: that of the mechanism, or its
    /// estimate. A drive that buffers the request's data takes less.
    pub positioning: Span,
    /// Whether the scheduler chose the request.
    pub chosen: bool,
}

/// A choice of a scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// When the choice was made.
    pub at: Time,
    /// Number of requests that waited, including those chosen.
    pub waiting: usize,
    /// State of the mechanism when the choice was made.
    pub from: DeviceState,
    /// Overhead before the mechanism begins to move.
    pub overhead: Span,
    /// The chosen requests, in order of service.
    pub batch: Vec<QueuedRequest>,
    /// The chosen requests, then up to seven others with the shortest positioning times, and the request that has
    /// waited longest.
    pub candidates: Vec<Candidate>,
}

/// A request that was served, or is not complete.
#[derive(Clone, Copy, Debug)]
pub enum Access {
    /// A served request, with its times.
    Served(ServedRequest),
    /// A request that waits or is in service.
    Waiting(QueuedRequest),
}

/// The events recorded so far.
#[derive(Clone, Debug, Default)]
pub struct StationLog {
    /// Requests that were served, and those that wait.
    pub accesses: Vec<Access>,
    /// Choices, in order.
    pub choices: Vec<Choice>,
    /// Times without service, in order.
    pub idle_periods: Vec<IdlePeriod>,
}

/// The recorder of a station.
#[derive(Debug, Default)]
pub(super) struct StationRecorder {
    from: Time,
    waiting: Vec<QueuedRequest>,
    /// Requests that were chosen and are not reported served.
    in_flight: Vec<QueuedRequest>,
    log: StationLog,
}

impl StationRecorder {
    pub fn begin(&mut self, from: Time) {
        self.from = from;
    }

    pub fn take(&mut self, idle: Option<(Time, State)>) -> StationLog {
        let mut log = std::mem::take(&mut self.log);
        log.accesses
            .extend(self.waiting.iter().chain(&self.in_flight).map(|request| Access::Waiting(*request)));
        log.idle_periods.extend(idle.map(|(begin, state)| IdlePeriod { state, begin, end: Time::MAX }));
        log
    }

    pub fn arrive(&mut self, request: &QueuedRequest) {
        self.waiting.push(*request);
    }

    /// Records a time without service.
    pub fn record_idle(&mut self, state: State, begin: Time, end: Time) {
        if end > self.from && begin < end {
            self.log.idle_periods.push(IdlePeriod { state, begin, end });
        }
    }

    pub fn serve(&mut self, served: &ServedRequest) {
        // A request that was merged with others was chosen under another number, and still counts as waiting here.
        let was_waiting = [&mut self.in_flight, &mut self.waiting].into_iter().any(|requests| {
            let place = requests.iter().position(|request| request.id == served.request.id);
            place.map(|place| requests.swap_remove(place)).is_some()
        });
        debug_assert!(was_waiting, "request {} was served twice", served.request.id);
        if served.completion >= self.from {
            self.log.accesses.push(Access::Served(*served));
        }
    }

    /// Records that `batch` has been chosen among the waiting requests.
    pub fn choose(&mut self, now: Time, batch: &[QueuedRequest], device: &dyn Device) {
        let waiting = self.waiting.len();
        let mut chosen = Vec::with_capacity(batch.len());
        for request in batch {
            if let Some(place) =
                self.waiting.iter().position(|waiting_request| waiting_request.id == request.id)
            {
                chosen.push(self.waiting.swap_remove(place));
            }
        }
        if now >= self.from {
            let mut candidates: Vec<Candidate> =
                batch.iter().map(|one| candidate(one, true, device)).collect();
            candidates.extend(self.other_candidates(device));
            self.log.choices.push(Choice {
                at: now,
                waiting,
                from: device.mechanics().state(),
                overhead: batch.first().map_or(Span::ZERO, |first| device.probe(now, first).overhead),
                batch: batch.to_vec(),
                candidates,
            });
        }
        self.in_flight.append(&mut chosen);
    }

    /// The nearest requests that were not chosen, and the one that has waited longest.
    fn other_candidates(&self, device: &dyn Device) -> Vec<Candidate> {
        let mut near_requests: Vec<&QueuedRequest> = self.waiting.iter().collect();
        if near_requests.len() > MAX_PROBED {
            let x = device.mechanics().state().x;
            near_requests.select_nth_unstable_by_key(MAX_PROBED, |request| {
                (device.mechanics().location(request.lbn).x.abs_diff(x), request.id)
            });
            near_requests.truncate(MAX_PROBED);
        }
        let mut others: Vec<Candidate> =
            near_requests.into_iter().map(|request| candidate(request, false, device)).collect();
        others.sort_unstable_by_key(|other| (other.positioning, other.id));
        others.truncate(MAX_CANDIDATES);
        let oldest = self.waiting.iter().min_by_key(|request| (request.queue_time, request.id));
        if let Some(oldest) = oldest.filter(|oldest| others.iter().all(|other| other.id != oldest.id)) {
            others.push(candidate(oldest, false, device));
        }
        others
    }
}

fn candidate(request: &QueuedRequest, chosen: bool, device: &dyn Device) -> Candidate {
    Candidate { id: request.id, positioning: device.mechanics().positioning(request), chosen }
}
