//! A queue served by a plan: the base of schedulers that order all waiting requests at once.

use std::collections::VecDeque;

use sledlab_core::{Error, Time};

use crate::device::{Mechanics, QueuedRequest};
use crate::scheduler::Scheduler;

/// How requests are ordered.
pub(in crate::scheduler) struct Planner {
    /// Name of the scheduler, for messages.
    pub name: &'static str,
    /// Most requests that a plan can order.
    pub max_requests: usize,
    /// Whether a new plan is made as soon as a request has arrived, or only when the last plan is done.
    pub online: bool,
    /// Puts requests in their order of service from the mechanism's present state.
    pub order: fn(&dyn Mechanics, Vec<QueuedRequest>) -> VecDeque<QueuedRequest>,
}

/// Serves requests by a plan; fails if the queue is too long to plan.
pub(in crate::scheduler) struct PlannedQueue {
    planner: Planner,
    /// Planned requests, in order of service.
    plan: VecDeque<QueuedRequest>,
    /// Requests that have arrived since the plan was made.
    fresh: Vec<QueuedRequest>,
    is_too_long: bool,
}

impl PlannedQueue {
    /// An empty queue.
    pub fn new_boxed(planner: Planner) -> Box<dyn Scheduler> {
        Box::new(PlannedQueue { planner, plan: VecDeque::new(), fresh: Vec::new(), is_too_long: false })
    }
}

impl Scheduler for PlannedQueue {
    fn push(&mut self, request: QueuedRequest) {
        self.fresh.push(request);
    }

    fn pop(&mut self, _now: Time, mechanics: &dyn Mechanics, batch: &mut Vec<QueuedRequest>) {
        if self.plan.is_empty() || (self.planner.online && !self.fresh.is_empty()) {
            self.is_too_long = self.is_too_long || self.len() > self.planner.max_requests;
            if self.is_too_long {
                return;
            }
            self.fresh.extend(self.plan.drain(..));
            self.plan = (self.planner.order)(mechanics, std::mem::take(&mut self.fresh));
        }
        batch.extend(self.plan.pop_front());
    }

    fn remove(&mut self, request: &QueuedRequest, _mechanics: &dyn Mechanics) -> bool {
        let queued = self.len();
        self.plan.retain(|other| other.id != request.id);
        self.fresh.retain(|other| other.id != request.id);
        self.len() < queued
    }

    fn len(&self) -> usize {
        self.plan.len() + self.fresh.len()
    }

    fn failure(&mut self) -> Option<Error> {
        self.is_too_long.then(|| {
            let (Planner { name, max_requests, .. }, queued) = (&self.planner, self.len());
            Error::user(format!(
                "scheduler {name}: {queued} queued requests exceed the maximum of {max_requests}"
            ))
            .with_remedy("lower the load, or choose sptf, which has no maximum")
        })
    }
}
