//! The steps of a long request to a RAID 5 that have not started.

use std::ops::Range;

use sledlab_core::Op;

use super::layout::blocks;
use super::plan::{Plan, RemainingSteps, Step};
use super::raid5::Raid5;
use crate::device::QueuedRequest;

/// Plans the reads of a long read, or the writes of a long write, one after another: the same steps, in the same order,
/// as a plan of the entire request has.
#[derive(Clone, Debug)]
pub(super) struct Raid5Steps {
    /// The array when the request began.
    array: Raid5,
    op: Op,
    /// Blocks of the host that are not planned.
    unplanned: Range<u64>,
    /// Planned steps; the last one on each device may grow.
    planned: Vec<Step>,
    /// Devices that have failed since the request began.
    failed: Vec<usize>,
}

impl Raid5Steps {
    pub fn new(array: Raid5, request: &QueuedRequest) -> Self {
        Raid5Steps {
            array,
            op: request.op,
            unplanned: blocks(request),
            planned: Vec::new(),
            failed: Vec::new(),
        }
    }

    /// Takes the first planned step, if it cannot grow.
    fn take_complete(&mut self) -> Option<Step> {
        let (first, others) = self.planned.split_first()?;
        let is_complete = self.unplanned.is_empty() || others.iter().any(|step| step.device == first.device);
        is_complete.then(|| self.planned.remove(0))
    }

    /// Plans the next stripes; where parity lies between the steps, one stripe.
    fn plan_next(&mut self) -> Option<()> {
        let stripe = self.unplanned.start / (self.array.width() * self.array.unit_blocks);
        let max_stripes = if self.array.has_gaps(self.op, stripe) { 1 } else { u64::MAX };
        let touched = self.array.touch(&mut self.unplanned, max_stripes)?;
        let mut plan = Plan { steps: std::mem::take(&mut self.planned), ..Plan::default() };
        self.array.plan_stripes(self.op, &touched, self.unplanned.is_empty(), &mut plan);
        self.planned = plan.steps;
        // The reads that writes need have begun before.
        self.planned.retain(|step| step.op == self.op);
        self.planned.iter_mut().for_each(|step| step.needs.clear());
        Some(())
    }
}

impl Iterator for Raid5Steps {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        loop {
            match self.take_complete() {
                Some(step) if self.failed.contains(&step.device) => {}
                Some(step) => return Some(step),
                None => self.plan_next()?,
            }
        }
    }
}

impl RemainingSteps for Raid5Steps {
    fn op(&self) -> Op {
        self.op
    }

    fn uses(&self, device: usize) -> bool {
        self.clone().any(|step| step.device == device)
    }

    fn omit_device(&mut self, device: usize) {
        self.failed.push(device);
    }
}
