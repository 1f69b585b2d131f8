//! Plans: the accesses that a request needs, and their order.

use std::fmt::Debug;

use sledlab_core::Op;

/// Steps of one request in flight at once. The next step of a longer request starts when one of them is done, so that
/// a request takes the same memory whatever its length.
pub(super) const MAX_STEPS: usize = 4096;

/// An access to one device, as a step of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub device: usize,
    pub op: Op,
    /// First block on the device.
    pub lbn: u64,
    pub blocks: u64,
    /// Numbers of the steps that must be complete before this one: the reads whose data a write needs.
    pub needs: Vec<usize>,
    /// Number of blocks that are parts of the request, which may be requested in part only; the others are read or
    /// written for the sake of redundancy.
    pub requested_blocks: u64,
    /// Whether the last block of the step is the last block of the request.
    pub ends_request: bool,
}

/// The steps of a long request that have not started, one after another.
pub(super) trait RemainingSteps: Iterator<Item = Step> + Debug + Send {
    /// The kind of these steps.
    fn op(&self) -> Op;

    /// Whether some step is on a device.
    fn uses(&self, device: usize) -> bool;

    /// Omits the steps on a device.
    fn omit_device(&mut self, device: usize);
}

/// All accesses for one request.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub steps: Vec<Step>,
    /// Whether some blocks are recomputed from all other devices, because their own device has failed.
    pub recomputes: bool,
    /// Whether some blocks of a read are lost, so that it cannot read them.
    pub loses: bool,
    /// Further steps of a long request, which wait for no other step once one of their kind is done.
    pub remaining: Option<Box<dyn RemainingSteps>>,
}

impl Plan {
    /// Adds the blocks `lbn..end` of a device and returns the number of their step. Where they continue the last step
    /// of the same kind on that device, they join it.
    ///
    /// Steps may wait only for reads, and reads wait for nothing, so joined steps never wait for each other.
    pub fn add(&mut self, device: usize, op: Op, (lbn, end): (u64, u64), needs: &[usize]) -> usize {
        debug_assert!(needs.iter().all(|need| self.steps[*need].op == Op::Read && op == Op::Write));
        let last_step =
            self.steps.iter_mut().enumerate().rev().find(|(_, s)| s.device == device && s.op == op);
        if let Some((number, step)) = last_step
            && step.lbn + step.blocks == lbn
        {
            step.blocks += end - lbn;
            step.needs.extend(needs);
            step.needs.sort_unstable();
            step.needs.dedup();
            return number;
        }
        self.steps.push(Step {
            device,
            op,
            lbn,
            blocks: end - lbn,
            needs: needs.to_vec(),
            requested_blocks: 0,
            ends_request: false,
        });
        self.steps.len() - 1
    }

    /// Adds a part of a request that waits for no other step; `ends_request` where it is the last part.
    pub fn add_part(&mut self, device: usize, op: Op, (lbn, end): (u64, u64), ends_request: bool) {
        let step = self.add(device, op, (lbn, end), &[]);
        self.steps[step].requested_blocks += end - lbn;
        self.steps[step].ends_request = ends_request;
    }

    /// For every step, the number of steps that it waits for.
    pub fn needs(&self) -> Vec<usize> {
        self.steps.iter().map(|step| step.needs.len()).collect()
    }

    /// Makes every write wait for all reads: when a device fails, a request either has written nothing yet, and can
    /// begin anew, or has all the data it needs.
    pub fn read_first(&mut self) {
        let step_numbers =
            |op| self.steps.iter().enumerate().filter(move |(_, step)| step.op == op).map(|(at, _)| at);
        let reads: Vec<usize> = step_numbers(Op::Read).collect();
        for step in self.steps.iter_mut().filter(|step| step.op == Op::Write) {
            step.needs.clone_from(&reads);
        }
    }
}
