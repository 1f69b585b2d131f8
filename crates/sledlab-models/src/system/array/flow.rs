//! The way of requests through an array: what of them is under way, and what may begin next.

use sledlab_core::hash::{Map, Set};
use sledlab_core::{Op, Time};

use super::guards::Guards;
use super::layout::{Guarded, Layout, Nearest, Redundant};
use super::plan::{Plan, Step};
use crate::device::{Queued, Served};
use crate::power::Spent;

/// An access and the device it is for.
pub(super) type Access = (usize, Queued);

/// Numbers of requests by which stripes are rebuilt begin here.
const REBUILDS: u64 = 1 << 63;

/// Requests under way.
pub(super) struct Flow {
    layout: Box<dyn Layout>,
    requests: Map<u64, UnderWay>,
    /// Request and step of each access at a device, by the number of the access. Accesses are numbered as they begin,
    /// so that a device sees rising numbers, and never the same one twice.
    accesses: Map<u64, (u64, usize)>,
    begun: u64,
    guards: Guards,
    held: usize,
    counts: FlowCounts,
    /// The device of the stripe that is being rebuilt.
    rebuilding: Option<usize>,
    /// When the last stripe was rebuilt.
    rebuilt_at: Time,
    /// Requests that are done without an access, and what was spent on them.
    answered: Vec<(Queued, Spent)>,
    /// Requests that began anew since somebody asked: what was read under their numbers is void.
    restarted: Vec<u64>,
    /// What was spent for no request of the host, and when the last of it was done.
    background: (Spent, Time),
}

/// What became of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FlowCounts {
    /// Reads of which a part was recomputed.
    pub degraded_reads: u64,
    /// Requests that were under way on a device when it failed, and began anew.
    pub restarts: u64,
    /// Requests of which a part is on no device any more.
    pub lost: u64,
    /// Blocks that were read and written to rebuild.
    pub rebuild_read: u64,
    pub rebuild_written: u64,
}

/// A request of which something is still to be done.
struct UnderWay {
    whole: Queued,
    /// Nothing until it begins.
    plan: Plan,
    /// For every step, how many it still waits for.
    needs: Vec<usize>,
    missing: usize,
    guarded: Guarded,
    /// Claims on stripes that are in its way.
    held_by: usize,
    /// What has been spent on it so far.
    energy: Spent,
}

/// Begins a step of a request.
fn begin(
    accesses: &mut Map<u64, (u64, usize)>,
    begun: &mut u64,
    whole: &Queued,
    (number, step): (usize, &Step),
    ready: &mut Vec<Access>,
) {
    let access = Queued {
        id: *begun,
        lbn: step.lbn,
        blocks: step.blocks as u32,
        op: step.op,
        unwanted_words: if step.ends_request { whole.unwanted_words } else { 0 },
        ..*whole
    };
    accesses.insert(*begun, (whole.id, number));
    *begun += 1;
    ready.push((step.device, access));
}

/// Of layouts that need not ask: those that guard no reads.
fn any_device(_read: &Queued, _has: &dyn Fn(usize) -> bool) -> usize {
    0
}

impl Flow {
    /// Nothing under way.
    pub fn new(layout: Box<dyn Layout>) -> Self {
        Flow {
            layout,
            requests: Map::default(),
            accesses: Map::default(),
            begun: 0,
            guards: Guards::default(),
            held: 0,
            counts: FlowCounts::default(),
            rebuilding: None,
            rebuilt_at: Time::ZERO,
            answered: Vec::new(),
            restarted: Vec::new(),
            background: (Spent::default(), Time::ZERO),
        }
    }

    /// Number of blocks the host sees.
    pub fn capacity_blocks(&self) -> u64 {
        self.layout.capacity_blocks()
    }

    /// Where the blocks of the host are.
    pub fn layout(&self) -> &dyn Layout {
        self.layout.as_ref()
    }

    /// The request that an access is for, and the device.
    pub fn owner(&self, access: u64) -> Option<(u64, usize)> {
        let (id, step) = self.accesses.get(&access)?;
        self.requests.get(id).map(|under_way| (*id, under_way.plan.steps[*step].device))
    }

    /// A request that is under way.
    pub fn request(&self, id: u64) -> Option<&Queued> {
        self.requests.get(&id).map(|under_way| &under_way.whole)
    }

    /// Requests that wait for others to leave their stripes.
    pub fn held(&self) -> usize {
        self.held
    }

    /// What became of requests.
    pub fn counts(&self) -> FlowCounts {
        self.counts
    }

    /// What was spent for no request of the host, and when the last of it was done.
    pub fn background(&self) -> (Spent, Time) {
        self.background
    }

    /// Whether there is something to take.
    pub fn has_answered(&self) -> bool {
        !self.answered.is_empty()
    }

    /// Requests that are done without an access, and what was spent on them.
    pub fn take_answered(&mut self) -> Vec<(Queued, Spent)> {
        std::mem::take(&mut self.answered)
    }

    /// Requests that began anew.
    pub fn take_restarted(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.restarted)
    }

    /// A request arrives; what may begin is appended to `ready`. `nearest` is asked where any device would do.
    pub fn arrive(&mut self, request: Queued, nearest: Nearest, ready: &mut Vec<Access>) {
        let guarded = self.layout.guarded(&request);
        let held_by = self.guards.claim(request.id, &guarded);
        let plan = if held_by == 0 { self.plan(&request, nearest) } else { Plan::default() };
        self.add(request, plan, guarded, held_by, ready);
    }

    /// A request that begins, with its plan, or waits for others to leave its stripes.
    fn add(
        &mut self,
        request: Queued,
        plan: Plan,
        guarded: Guarded,
        held_by: usize,
        ready: &mut Vec<Access>,
    ) {
        let (needs, missing) = (plan.needs(), plan.steps.len());
        for (number, step) in plan.steps.iter().enumerate().filter(|(_, step)| step.needs.is_empty()) {
            begin(&mut self.accesses, &mut self.begun, &request, (number, step), ready);
        }
        let under_way =
            UnderWay { whole: request, plan, needs, missing, guarded, held_by, energy: Spent::default() };
        self.requests.insert(request.id, under_way);
        if held_by > 0 {
            self.held += 1;
        } else if missing == 0 {
            self.answer(request.id, ready);
        }
    }

    /// What has to be done for a request that begins.
    fn plan(&mut self, request: &Queued, nearest: Nearest) -> Plan {
        let plan = match self.rebuilding {
            Some(device) if request.id >= REBUILDS => {
                let stripe = request.id - REBUILDS;
                self.layout.redundant().map(|layout| layout.rebuild(device, stripe)).unwrap_or_default()
            }
            _ => self.layout.plan(request, nearest),
        };
        self.counts.degraded_reads += u64::from(plan.recomputes);
        self.counts.lost += u64::from(plan.loses);
        plan
    }

    /// A request that has waited, or has to do everything again, begins.
    fn begin(&mut self, id: u64, nearest: Nearest, ready: &mut Vec<Access>) {
        let Some(whole) = self.request(id).copied() else { return };
        let plan = self.plan(&whole, nearest);
        let Some(under_way) = self.requests.get_mut(&id) else { return };
        (under_way.needs, under_way.missing) = (plan.needs(), plan.steps.len());
        under_way.plan = plan;
        self.start(id, ready);
    }

    /// A request starts with all that needs nothing before.
    fn start(&mut self, id: u64, ready: &mut Vec<Access>) {
        let steps = &self.requests[&id].plan.steps;
        if steps.is_empty() {
            self.answer(id, ready);
            return;
        }
        let first: Vec<usize> = (0..steps.len()).filter(|step| steps[*step].needs.is_empty()).collect();
        for step in first {
            self.access(id, step, ready);
        }
    }

    fn access(&mut self, id: u64, number: usize, ready: &mut Vec<Access>) {
        let UnderWay { whole, plan, .. } = &self.requests[&id];
        begin(&mut self.accesses, &mut self.begun, whole, (number, &plan.steps[number]), ready);
    }

    /// A device has done an access; what may begin now is appended to `ready`. Returns the request of the host if that was
    /// the last of it: its timing is that of this access.
    pub fn done(&mut self, access: &Served, ready: &mut Vec<Access>) -> Option<Served> {
        let Some((id, done)) = self.accesses.remove(&access.request.id) else {
            self.spend(access.energy, access.completion);
            return None;
        };
        let under_way = self.requests.get_mut(&id)?;
        under_way.energy += access.energy;
        under_way.missing -= 1;
        if id >= REBUILDS {
            let blocks = u64::from(access.request.blocks);
            let FlowCounts { rebuild_read, rebuild_written, .. } = &mut self.counts;
            *(if access.request.op == Op::Read { rebuild_read } else { rebuild_written }) += blocks;
            self.background.1 = self.background.1.max(access.completion);
        }
        if under_way.missing == 0 {
            return self.finish(id, access, ready);
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

    /// All accesses of a request are done, the last of them this one.
    fn finish(&mut self, id: u64, access: &Served, ready: &mut Vec<Access>) -> Option<Served> {
        let UnderWay { whole, energy, guarded, .. } = self.requests.remove(&id)?;
        if id < REBUILDS {
            self.leave(id, &guarded, ready);
            return Some(Served { request: whole, energy, ..*access });
        }
        // Who waits for the stripe finds it on the spare.
        if let (Some(health), Some(device)) = (self.layout.health(), self.rebuilding.take()) {
            health.rebuilt(device);
        }
        self.rebuilt_at = access.completion;
        self.spend(energy, access.completion);
        self.leave(id, &guarded, ready);
        None
    }

    /// A request is done without another access: on what it would have needed, a device has failed.
    fn answer(&mut self, id: u64, ready: &mut Vec<Access>) {
        let Some(UnderWay { whole, energy, guarded, .. }) = self.requests.remove(&id) else { return };
        if id < REBUILDS {
            self.answered.push((whole, energy));
        } else {
            self.rebuilding = None;
            self.background.0 += energy;
        }
        self.leave(id, &guarded, ready);
    }

    fn spend(&mut self, energy: Spent, end: Time) {
        self.background.0 += energy;
        self.background.1 = self.background.1.max(end);
    }

    /// A request is done with its stripes; who waited for all of them begins.
    fn leave(&mut self, id: u64, guarded: &Guarded, ready: &mut Vec<Access>) {
        let mut freed = Vec::new();
        for stripe in guarded.stripes.clone() {
            self.guards.leave(id, stripe, &mut freed);
            for next in freed.drain(..) {
                let Some(under_way) = self.requests.get_mut(&next) else { continue };
                under_way.held_by -= 1;
                if under_way.held_by == 0 {
                    self.held -= 1;
                    self.begin(next, &mut any_device, ready);
                }
            }
        }
    }

    /// The device and the stripe that can be rebuilt next, while none is.
    pub fn next_to_rebuild(&self) -> Option<(usize, u64)> {
        let idle = self.rebuilding.is_none();
        self.layout.redundant().filter(|_| idle).and_then(|layout| layout.health().next())
    }

    /// When the spare of a device had all, if it has: asked when a stripe has been rebuilt.
    pub fn rebuilt_at(&self, device: usize) -> Option<Time> {
        let layout = self.layout.redundant()?;
        layout.health().is_rebuilt(device).then_some(self.rebuilt_at)
    }

    /// Blocks of the host that are lost.
    pub fn lost_blocks(&self) -> u64 {
        self.layout.redundant().map_or(0, Redundant::lost_blocks)
    }

    /// Begins to rebuild a stripe of a device on its spare.
    pub fn rebuild(&mut self, device: usize, stripe: u64, now: Time, ready: &mut Vec<Access>) {
        self.rebuilding = Some(device);
        self.restarted.push(REBUILDS + stripe);
        let whole = Queued { id: REBUILDS + stripe, arrival: now, queued: now, ..Queued::default() };
        let guarded = Guarded { stripes: stripe..stripe + 1, is_shared: false };
        let held_by = self.guards.claim(whole.id, &guarded);
        let plan = if held_by == 0 { self.plan(&whole, &mut any_device) } else { Plan::default() };
        self.add(whole, plan, guarded, held_by, ready);
    }

    /// A device fails: what has yet to be done on it is left out where all that it needs has been read, and else begins
    /// anew. Accesses that are forgotten so are done for nothing.
    pub fn fail(&mut self, device: usize, nearest: Nearest, ready: &mut Vec<Access>) {
        let step = |(id, number): &(u64, usize)| &self.requests[id].plan.steps[*number];
        let begun: Set<(u64, usize)> = self.accesses.values().copied().collect();
        let reading: Set<u64> =
            begun.iter().filter(|at| step(at).op == Op::Read).map(|(id, _)| *id).collect();
        let rebuild = self.requests.iter().find(|(id, request)| **id >= REBUILDS && request.held_by == 0);
        let rebuild = rebuild.map(|(id, _)| *id);
        let is_written = rebuild.is_some_and(|id| !reading.contains(&id));
        if let Some(health) = self.layout.health() {
            health.fail(device, self.rebuilding.filter(|_| is_written));
        }
        let is_affected = |(id, under_way): &(&u64, &UnderWay)| {
            let mut steps = under_way.plan.steps.iter().enumerate().filter(|(_, step)| step.device == device);
            steps.any(|(number, _)| under_way.needs[number] > 0 || begun.contains(&(**id, number)))
        };
        let mut affected: Vec<u64> = self.requests.iter().filter(is_affected).map(|(id, _)| *id).collect();
        // What was read of a stripe may no longer be enough to rebuild it.
        affected.extend(rebuild.filter(|id| !is_written && !affected.contains(id)));
        affected.sort_unstable();
        let (again, without): (Vec<u64>, Vec<u64>) = affected.iter().partition(|id| reading.contains(id));
        let requests = &mut self.requests;
        self.accesses.retain(|_, (id, step)| {
            let is_left_out = without.binary_search(id).is_ok_and(|_| {
                requests.get(id).is_some_and(|under_way| under_way.plan.steps[*step].device == device)
            });
            if is_left_out && let Some(under_way) = requests.get_mut(id) {
                under_way.missing -= 1;
            }
            !is_left_out && again.binary_search(id).is_err()
        });
        for id in affected {
            if reading.contains(&id) {
                self.restart(id, nearest, ready);
            } else if self.requests.get(&id).is_some_and(|under_way| under_way.missing == 0) {
                self.answer(id, ready);
            }
        }
    }

    /// A request that has written nothing forgets what it has read.
    fn restart(&mut self, id: u64, nearest: Nearest, ready: &mut Vec<Access>) {
        self.counts.restarts += u64::from(id < REBUILDS);
        self.restarted.push(id);
        let Some(under_way) = self.requests.get_mut(&id) else { return };
        if under_way.guarded.stripes.is_empty() {
            under_way.guarded = self.layout.guarded(&under_way.whole);
            under_way.held_by = self.guards.claim(id, &under_way.guarded);
            if under_way.held_by > 0 {
                under_way.plan = Plan::default();
                self.held += 1;
                return;
            }
        }
        self.begin(id, nearest, ready);
    }
}
