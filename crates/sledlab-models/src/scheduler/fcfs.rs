//! First come, first served (SC-01).

use std::collections::VecDeque;

use sledlab_core::Time;

use super::{Entry, Scheduler};
use crate::device::{Device, Queued};

pub(super) const ENTRY: Entry = Entry {
    name: "fcfs",
    meaning: "first come, first served: requests in order of arrival",
    make: |_| Box::new(Fcfs::default()),
};

/// A queue in order of arrival.
#[derive(Debug, Default)]
pub struct Fcfs {
    queue: VecDeque<Queued>,
}

impl Scheduler for Fcfs {
    #[inline]
    fn push(&mut self, request: Queued) {
        self.queue.push_back(request);
    }

    #[inline]
    fn pop(&mut self, _now: Time, _device: &dyn Device, batch: &mut Vec<Queued>) {
        if let Some(first) = self.queue.front() {
            batch.push(*first);
            self.queue.pop_front();
        }
    }

    fn len(&self) -> usize {
        self.queue.len()
    }
}
