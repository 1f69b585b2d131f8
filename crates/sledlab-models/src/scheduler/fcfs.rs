//! First come, first served.

use std::collections::VecDeque;

use sledlab_core::{Result, Time};

use super::{Model, NoParams, Scheduler, SchedulerContext, Starvation};
use crate::device::{Mechanics, QueuedRequest};

/// A queue in order of arrival.
#[derive(Debug, Default)]
pub struct Fcfs {
    queue: VecDeque<QueuedRequest>,
}

impl Model for Fcfs {
    type Params = NoParams;
    const NAME: &'static str = "fcfs";
    const MEANING: &'static str = "first come, first served: requests in order of arrival";
    // About 50 requests are older.
    const STARVATION: Starvation = Starvation::Bounded { test_bound_ms: 50.0 };

    fn make(_: &NoParams, _: SchedulerContext) -> Result<Box<dyn Scheduler>> {
        Ok(Box::new(Fcfs::default()))
    }
}

impl Fcfs {
    /// Returns a request that must wait to its place in order of arrival.
    #[cold]
    fn push_again(&mut self, request: QueuedRequest) {
        let place = self.queue.partition_point(|other| other.id < request.id);
        self.queue.insert(place, request);
    }
}

impl Scheduler for Fcfs {
    #[inline]
    fn push(&mut self, request: QueuedRequest) {
        if self.queue.back().is_none_or(|last| last.id < request.id) {
            self.queue.push_back(request);
        } else {
            self.push_again(request);
        }
    }

    #[inline]
    fn pop(&mut self, _now: Time, _mechanics: &dyn Mechanics, batch: &mut Vec<QueuedRequest>) {
        if let Some(first) = self.queue.front() {
            batch.push(*first);
            self.queue.pop_front();
        }
    }

    fn len(&self) -> usize {
        self.queue.len()
    }

    /// Always false: a request that is popped without need changes no choice of this scheduler.
    fn remove(&mut self, _request: &QueuedRequest, _mechanics: &dyn Mechanics) -> bool {
        false
    }
}
