//! Joint service for any scheduler: requests that wait at the position of its choice are served together with
//! it.

use std::collections::VecDeque;

use sledlab_core::hash::{Map, Set};
use sledlab_core::{Error, Time};

use crate::device::{Mechanics, QueuedRequest};
use crate::scheduler::Scheduler;

/// Wraps a scheduler and serves, with each of its choices, the other requests at the same position.
///
/// A scheduler inside that cannot [remove](Scheduler::remove) a request still pops it later; the wrapper then skips the
/// request.
pub(in crate::scheduler) struct JointQueue {
    queue: Box<dyn Scheduler>,
    /// Requests pushed since the last choice, not in `places` yet: only the mechanism at the next choice determines
    /// where they lie.
    unplaced: Vec<QueuedRequest>,
    /// Requests by cylinder and row, in order of arrival.
    places: Map<(u32, u32), VecDeque<QueuedRequest>>,
    joined_ids: Set<u64>,
    chosen: Vec<QueuedRequest>,
}

impl JointQueue {
    /// Wraps `queue` for joint service.
    pub fn new(queue: Box<dyn Scheduler>) -> Self {
        JointQueue {
            queue,
            unplaced: Vec::new(),
            places: Map::default(),
            joined_ids: Set::default(),
            chosen: Vec::new(),
        }
    }

    fn place(mechanics: &dyn Mechanics, request: &QueuedRequest) -> (u32, u32) {
        let location = mechanics.location(request.lbn);
        (location.cylinder, location.row)
    }

    /// Moves `first` and the requests at its position that can join it to `batch`.
    fn take(&mut self, mechanics: &dyn Mechanics, first: QueuedRequest, batch: &mut Vec<QueuedRequest>) {
        batch.push(first);
        let place = Self::place(mechanics, &first);
        let Some(waiting) = self.places.get_mut(&place) else { return };
        waiting.retain(|request| {
            if request.id == first.id {
                return false;
            }
            let can_join = mechanics.can_join(batch, request);
            if can_join {
                batch.push(*request);
                if !self.queue.remove(request, mechanics) {
                    self.joined_ids.insert(request.id);
                }
            }
            !can_join
        });
        if waiting.is_empty() {
            self.places.remove(&place);
        }
    }
}

#[deny(clippy::missing_trait_methods)]
impl Scheduler for JointQueue {
    fn push(&mut self, request: QueuedRequest) {
        self.unplaced.push(request);
        // Where the scheduler inside could not remove a request that is pushed again, the request still has its place.
        if !self.joined_ids.remove(&request.id) {
            self.queue.push(request);
        }
    }

    fn pop(&mut self, now: Time, mechanics: &dyn Mechanics, batch: &mut Vec<QueuedRequest>) {
        for request in self.unplaced.drain(..) {
            let waiting = self.places.entry(Self::place(mechanics, &request)).or_default();
            waiting.insert(waiting.partition_point(|other| other.id < request.id), request);
        }
        let mut chosen = std::mem::take(&mut self.chosen);
        while chosen.is_empty() {
            self.queue.pop(now, mechanics, &mut chosen);
            if chosen.is_empty() {
                return;
            }
            chosen.retain(|request| !self.joined_ids.remove(&request.id));
        }
        for first in &chosen {
            self.take(mechanics, *first, batch);
        }
        chosen.clear();
        self.chosen = chosen;
    }

    fn len(&self) -> usize {
        self.queue.len() - self.joined_ids.len()
    }

    fn remove(&mut self, request: &QueuedRequest, mechanics: &dyn Mechanics) -> bool {
        let place = Self::place(mechanics, request);
        let known = self.unplaced.len() + self.places.get(&place).map_or(0, VecDeque::len);
        self.unplaced.retain(|other| other.id != request.id);
        let waiting = self.places.entry(place).or_default();
        waiting.retain(|other| other.id != request.id);
        let is_removed = self.unplaced.len() + waiting.len() < known;
        if waiting.is_empty() {
            self.places.remove(&place);
        }
        if is_removed && !self.queue.remove(request, mechanics) {
            self.joined_ids.insert(request.id);
        }
        is_removed
    }

    fn failure(&mut self) -> Option<Error> {
        self.queue.failure()
    }
}
