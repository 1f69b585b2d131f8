//! What a station does, for whoever looks on: who waits, what is chosen of what, what comes of it.
//!
//! Nothing of it is kept unless somebody asks: runs are the same to the byte, so whoever wants to look runs the experiment
//! again and watches.

use sledlab_core::{Span, Time};

use crate::device::{Device, DeviceState, Queued, Served};

/// Candidates whose positioning is worked out; of more, those that are nearest along x.
const PROBED: usize = 256;
/// Candidates that are kept of those that were not chosen.
const KEPT: usize = 7;

/// What a mechanism is doing when it does not serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Ready.
    Idle,
    /// Parked.
    Parked,
    /// Getting going.
    StartUp,
}

/// A time without service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rested {
    /// What it did.
    pub state: State,
    /// Since when.
    pub begin: Time,
    /// Until when; [`Time::MAX`] where it has not ended.
    pub end: Time,
}

/// A request from which was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The request.
    pub id: u64,
    /// What positioning takes, or would take.
    pub positioning: Span,
    /// Whether it was chosen.
    pub chosen: bool,
}

/// A choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// When it was made.
    pub at: Time,
    /// Requests that waited, the chosen among them.
    pub waiting: usize,
    /// Where the mechanism was.
    pub from: DeviceState,
    /// What it waits for before it sets out.
    pub overhead: Span,
    /// What was chosen, in order.
    pub batch: Vec<Queued>,
    /// What was chosen; then seven at most that would have been as near, by positioning time, and whoever waits longest.
    pub candidates: Vec<Candidate>,
}

/// What came of a request, as far as that is known.
#[derive(Clone, Copy, Debug)]
pub enum Access {
    /// Its times.
    Served(Served),
    /// It waits, or is being served.
    Waiting(Queued),
}

/// What has been seen.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Requests that were served, and those that wait.
    pub accesses: Vec<Access>,
    /// Choices, in order.
    pub choices: Vec<Choice>,
    /// Times without service, in order.
    pub rests: Vec<Rested>,
}

/// Looks on.
#[derive(Debug, Default)]
pub(super) struct Watch {
    from: Time,
    waiting: Vec<Queued>,
    /// Chosen, and not told of yet.
    under_way: Vec<Queued>,
    seen: Seen,
}

impl Watch {
    pub fn begin(&mut self, from: Time) {
        self.from = from;
    }

    pub fn take(&mut self, resting: Option<(Time, State)>) -> Seen {
        let mut seen = std::mem::take(&mut self.seen);
        seen.accesses
            .extend(self.waiting.iter().chain(&self.under_way).map(|request| Access::Waiting(*request)));
        seen.rests.extend(resting.map(|(begin, state)| Rested { state, begin, end: Time::MAX }));
        seen
    }

    pub fn arrive(&mut self, request: &Queued) {
        self.waiting.push(*request);
    }

    /// Spends a time so.
    pub fn pass(&mut self, state: State, begin: Time, end: Time) {
        if end > self.from && begin < end {
            self.seen.rests.push(Rested { state, begin, end });
        }
    }

    pub fn serve(&mut self, served: &Served) {
        // One that was merged with others was chosen under another number.
        let found = [&mut self.under_way, &mut self.waiting].into_iter().any(|requests| {
            let place = requests.iter().position(|request| request.id == served.request.id);
            place.map(|place| requests.swap_remove(place)).is_some()
        });
        debug_assert!(found, "request {} was served twice", served.request.id);
        if served.completion >= self.from {
            self.seen.accesses.push(Access::Served(*served));
        }
    }

    /// `batch` has been chosen of all that wait.
    pub fn choose(&mut self, now: Time, batch: &[Queued], device: &dyn Device) {
        let waiting = self.waiting.len();
        let mut chosen = Vec::with_capacity(batch.len());
        for request in batch {
            if let Some(place) = self.waiting.iter().position(|waits| waits.id == request.id) {
                chosen.push(self.waiting.swap_remove(place));
            }
        }
        if now >= self.from {
            let mut candidates: Vec<Candidate> =
                batch.iter().map(|one| candidate(now, one, true, device)).collect();
            candidates.extend(self.others(now, device));
            self.seen.choices.push(Choice {
                at: now,
                waiting,
                from: device.mechanics().state(),
                overhead: batch.first().map_or(Span::ZERO, |first| device.probe(now, first).overhead),
                batch: batch.to_vec(),
                candidates,
            });
        }
        self.under_way.append(&mut chosen);
    }

    /// The nearest that were not chosen, and the oldest.
    fn others(&self, now: Time, device: &dyn Device) -> Vec<Candidate> {
        let mut near: Vec<&Queued> = self.waiting.iter().collect();
        if near.len() > PROBED {
            let x = device.mechanics().state().x;
            near.select_nth_unstable_by_key(PROBED, |request| {
                (device.mechanics().location(request.lbn).x.abs_diff(x), request.id)
            });
            near.truncate(PROBED);
        }
        let mut others: Vec<Candidate> =
            near.into_iter().map(|request| candidate(now, request, false, device)).collect();
        others.sort_unstable_by_key(|other| (other.positioning, other.id));
        others.truncate(KEPT);
        let oldest = self.waiting.iter().min_by_key(|request| (request.queued, request.id));
        if let Some(oldest) = oldest.filter(|oldest| others.iter().all(|other| other.id != oldest.id)) {
            others.push(candidate(now, oldest, false, device));
        }
        others
    }
}

fn candidate(now: Time, request: &Queued, chosen: bool, device: &dyn Device) -> Candidate {
    Candidate { id: request.id, positioning: device.probe(now, request).positioning(), chosen }
}
