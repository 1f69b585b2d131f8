//! What devices have to do for a request, and in which order.

use sledlab_core::Op;

/// An access to one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub device: usize,
    pub op: Op,
    /// First block on the device.
    pub lbn: u64,
    pub blocks: u64,
    /// Steps that must be done before, by their numbers: reads before the writes that need what they read.
    pub needs: Vec<usize>,
    /// Whether its last block holds the last block of the request, part of which the host may not want.
    pub ends_request: bool,
}

/// All accesses for one request.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub steps: Vec<Step>,
    /// Whether some of what is read was on a device that has failed, and comes from all others.
    pub recomputes: bool,
    /// Whether some of it is on no device any more.
    pub loses: bool,
}

impl Plan {
    /// Adds blocks `lbn..end` of a device and tells the number of their step: where they continue the step before on
    /// that device, they join it.
    ///
    /// Only reads may be needed, and they need nothing themselves, so joined steps never wait for each other.
    pub fn add(&mut self, device: usize, op: Op, (lbn, end): (u64, u64), needs: &[usize]) -> usize {
        debug_assert!(needs.iter().all(|need| self.steps[*need].op == Op::Read && op == Op::Write));
        let before = self.steps.iter_mut().enumerate().rev().find(|(_, s)| s.device == device && s.op == op);
        if let Some((number, step)) = before
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
            ends_request: false,
        });
        self.steps.len() - 1
    }

    /// Adds a part of a request that needs nothing before; `ends_request` where it is the last.
    pub fn add_part(&mut self, device: usize, op: Op, blocks: (u64, u64), ends_request: bool) {
        let step = self.add(device, op, blocks, &[]);
        self.steps[step].ends_request = ends_request;
    }

    /// For every step, how many it waits for.
    pub fn needs(&self) -> Vec<usize> {
        self.steps.iter().map(|step| step.needs.len()).collect()
    }

    /// Has every write wait for all reads: when a device fails, a request has either written nothing yet, and can begin
    /// anew, or knows all it needs.
    pub fn read_first(&mut self) {
        let of = |op| self.steps.iter().enumerate().filter(move |(_, step)| step.op == op).map(|(at, _)| at);
        let reads: Vec<usize> = of(Op::Read).collect();
        for step in self.steps.iter_mut().filter(|step| step.op == Op::Write) {
            step.needs.clone_from(&reads);
        }
    }
}
