//! The way of requests through an array: what of them is under way, and what may begin next.

use std::collections::{HashMap, VecDeque};

use super::layout::Layout;
use super::plan::Plan;
use crate::device::{Queued, Served};
use crate::power::Spent;

/// An access and the device it is for.
pub(super) type Access = (usize, Queued);

/// Requests under way.
pub(super) struct Flow {
    layout: Box<dyn Layout>,
    requests: HashMap<u64, UnderWay>,
    /// Request and step of each access at a device, by the number of the access. Accesses are numbered as they begin,
    /// so that a device sees rising numbers, and never the same one twice.
    accesses: HashMap<u64, (u64, usize)>,
    begun: u64,
    /// For every stripe that is being changed, the request that does it and those that wait for it, in order.
    guards: HashMap<u64, VecDeque<u64>>,
    held: usize,
}

/// A request of which something is still to be done.
struct UnderWay {
    whole: Queued,
    plan: Plan,
    /// For every step, how many it still waits for.
    needs: Vec<usize>,
    missing: usize,
    /// Stripes that others are changing.
    held_by: usize,
    /// What has been spent on it so far.
    energy: Spent,
}

impl Flow {
    /// Nothing under way.
    pub fn new(layout: Box<dyn Layout>) -> Self {
        Flow {
            layout,
            requests: HashMap::new(),
            accesses: HashMap::new(),
            begun: 0,
            guards: HashMap::new(),
            held: 0,
        }
    }

    /// Number of blocks the host sees.
    pub fn capacity_blocks(&self) -> u64 {
        self.layout.capacity_blocks()
    }

    /// The request that an access is for.
    #[cfg(test)]
    pub fn owner(&self, access: u64) -> Option<u64> {
        self.accesses.get(&access).map(|(id, _)| *id)
    }

    /// Requests that wait for others to leave their stripes.
    pub fn held(&self) -> usize {
        self.held
    }

    /// A request arrives; what may begin is appended to `ready`. `nearest` is asked where any device would do.
    pub fn arrive(
        &mut self,
        request: Queued,
        nearest: &mut dyn FnMut(&Queued) -> usize,
        ready: &mut Vec<Access>,
    ) {
        let plan = self.layout.plan(&request, nearest);
        let mut held_by = 0;
        for stripe in self.layout.guarded(&request) {
            let queue = self.guards.entry(stripe).or_default();
            held_by += usize::from(!queue.is_empty());
            queue.push_back(request.id);
        }
        let needs = plan.steps.iter().map(|step| step.needs.len()).collect();
        let missing = plan.steps.len();
        let under_way = UnderWay { whole: request, plan, needs, missing, held_by, energy: Spent::default() };
        self.requests.insert(request.id, under_way);
        if held_by == 0 {
            self.begin(request.id, ready);
        } else {
            self.held += 1;
        }
    }

    /// A request begins with all that needs nothing before.
    fn begin(&mut self, id: u64, ready: &mut Vec<Access>) {
        let steps = &self.requests[&id].plan.steps;
        let first: Vec<usize> = (0..steps.len()).filter(|step| steps[*step].needs.is_empty()).collect();
        for step in first {
            self.access(id, step, ready);
        }
    }

    fn access(&mut self, id: u64, number: usize, ready: &mut Vec<Access>) {
        let UnderWay { whole, plan, .. } = &self.requests[&id];
        let step = &plan.steps[number];
        let access = Queued {
            id: self.begun,
            lbn: step.lbn,
            blocks: step.blocks as u32,
            op: step.op,
            unwanted_words: if step.ends_request { whole.unwanted_words } else { 0 },
            ..*whole
        };
        self.accesses.insert(self.begun, (id, number));
        self.begun += 1;
        ready.push((step.device, access));
    }

    /// A device has done an access; what may begin now is appended to `ready`. Returns the request if that was the last
    /// of it: its timing is that of this access.
    pub fn done(&mut self, access: &Served, ready: &mut Vec<Access>) -> Option<Served> {
        let (id, done) = self.accesses.remove(&access.request.id)?;
        let under_way = self.requests.get_mut(&id)?;
        under_way.energy += access.energy;
        under_way.missing -= 1;
        if under_way.missing == 0 {
            let UnderWay { whole, energy, .. } = *under_way;
            self.requests.remove(&id);
            self.leave(&whole, ready);
            return Some(Served { request: whole, energy, ..*access });
        }
        let mut free = Vec::new();
        for (number, step) in under_way.plan.steps.iter().enumerate() {
            if step.needs.contains(&done) {
                under_way.needs[number] -= 1;
                if under_way.needs[number] == 0 {
                    free.push(number);
                }
            }
        }
        for step in free {
            self.access(id, step, ready);
        }
        None
    }

    /// A request is done with its stripes; who waited for all of them begins.
    fn leave(&mut self, request: &Queued, ready: &mut Vec<Access>) {
        for stripe in self.layout.guarded(request) {
            let Some(queue) = self.guards.get_mut(&stripe) else { continue };
            queue.pop_front();
            let Some(next) = queue.front().copied() else {
                self.guards.remove(&stripe);
                continue;
            };
            let Some(under_way) = self.requests.get_mut(&next) else { continue };
            under_way.held_by -= 1;
            if under_way.held_by == 0 {
                self.held -= 1;
                self.begin(next, ready);
            }
        }
    }
}
