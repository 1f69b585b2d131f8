//! Shortest positioning time first (SC-07), exact, by the device's position index.

use sledlab_core::Time;

use super::{Entry, Scheduler, SptfScan};
use crate::device::{Device, PositionIndex, Queued};

pub(super) const ENTRY: Entry = Entry {
    name: "sptf",
    meaning: "shortest positioning time first: the request the mechanism reaches soonest, both axes, settling \
              and turnarounds included; exact at any queue length by the device's position index",
    make: |device| match device.position_index() {
        Some(index) => Box::new(Sptf { index }),
        None => Box::new(SptfScan::default()),
    },
};

/// A queue kept in a position index.
pub struct Sptf {
    index: Box<dyn PositionIndex>,
}

impl Scheduler for Sptf {
    fn push(&mut self, request: Queued) {
        self.index.insert(request);
    }

    fn pop(&mut self, _now: Time, device: &dyn Device, batch: &mut Vec<Queued>) {
        batch.extend(self.index.take_nearest(device.state()));
    }

    fn len(&self) -> usize {
        self.index.len()
    }
}
