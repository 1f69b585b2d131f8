//! Joint service for any scheduler: requests that wait at the position of its choice are served together with
//! it.

use std::collections::VecDeque;

use sledlab_core::hash::{Map, Set};
use sledlab_core::{Error, Time};

use crate::device::{Mechanics, QueuedRequest};
use crate::scheduler::Scheduler;

/// Wraps a scheduler and serves, with each of its choices, the other requests at the same position.
///
/// A scheduler inside that cannot [remove](Scheduler::remove) a request served with another one still pops it later;
/// the wrapper then skips the request.
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
                if !self.queue.remove(request) {
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

impl Scheduler for JointQueue {
    fn push(&mut self, request: QueuedRequest) {
        self.unplaced.push(request);
        self.queue.push(request);
    }

    fn pop(&mut self, now: Time, mechanics: &dyn Mechanics, batch: &mut Vec<QueuedRequest>) {
        for request in self.unplaced.drain(..) {
            self.places.entry(Self::place(mechanics, &request)).or_default().push_back(request);
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

    /// Always false: the scheduler inside may be able to remove the request, but `places` would still hold it.
    fn remove(&mut self, _request: &QueuedRequest) -> bool {
        false
    }

    fn failure(&mut self) -> Option<Error> {
        self.queue.failure()
    }
}
