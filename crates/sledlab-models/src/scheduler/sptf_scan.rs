//! Shortest positioning time first by probing every queued request: the oracle of the position index,
//! and what serves where a device has no exact index.

use sledlab_core::{Span, Time};

use super::{Entry, Scheduler};
use crate::device::{Device, Queued};

pub(super) const ENTRY: Entry = Entry {
    name: "sptf-scan",
    meaning: "shortest positioning time first, by probing every queued request: the same choices as `sptf`, \
              in time that grows with the queue",
    make: |_| Box::new(SptfScan::default()),
};

/// An unordered queue.
#[derive(Debug, Default)]
pub struct SptfScan {
    queue: Vec<Queued>,
}

/// Smallest positioning time, then distance in x or LBN, then arrival.
fn key(device: &dyn Device, request: &Queued) -> (Span, u64, u64) {
    let tie = if device.ties_to_lowest_lbn() { request.lbn } else { device.distance(request) };
    (device.positioning(request), tie, request.id)
}

impl Scheduler for SptfScan {
    fn push(&mut self, request: Queued) {
        self.queue.push(request);
    }

    fn pop(&mut self, _now: Time, device: &dyn Device, batch: &mut Vec<Queued>) {
        let nearest = (0..self.queue.len()).min_by_key(|at| key(device, &self.queue[*at]));
        batch.extend(nearest.map(|at| self.queue.swap_remove(at)));
    }

    fn len(&self) -> usize {
        self.queue.len()
    }
}
