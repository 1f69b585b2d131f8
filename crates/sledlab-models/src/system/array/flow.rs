//! The flow of requests through an array: outstanding accesses of each request, and those that may begin next.

use sledlab_core::hash::{Map, Set};
use sledlab_core::{Op, Time};

use super::layout::{Layout, LockedStripes, Nearest, Redundant};
use super::plan::{Plan, Step};
use super::stripe_locks::StripeLocks;
use crate::device::{QueuedRequest, ServedRequest};
use crate::power::RequestEnergy;

/// A device, and an access that it is to serve.
pub(super) type Access = (usize, QueuedRequest);

/// The requests that rebuild stripes have numbers from here on.
const REBUILDS: u64 = 1 << 63;

/// The outstanding requests of an array.
pub(super) struct Flow {
    layout: Box<dyn Layout>,
    requests: Map<u64, OutstandingRequest>,
    /// Request and step of each access at a device, by the number of the access. Accesses are numbered as they begin,
    /// so that a device sees rising numbers and no number twice.
    accesses: Map<u64, (u64, usize)>,
    next_access: u64,
    locks: StripeLocks,
    blocked_requests: usize,
    counts: FlowCounts,
    /// The device for which a stripe is being rebuilt.
    rebuilding: Option<usize>,
    /// When the last stripe was rebuilt.
    last_rebuild: Time,
    /// Requests that are complete without a further access.
    completed: Vec<FinishedRequest>,
    /// Requests that have begun anew since [`take_restarted_requests`](Flow::take_restarted_requests): data read for
    /// them before are void.
    restarted_requests: Vec<u64>,
    /// The energy spent for no request of the host, and when the last such access was complete.
    background: (RequestEnergy, Time),
}

/// Counts of requests by the effects of failures: each request counts once, when it completes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FlowCounts {
    /// Reads of which a part was recomputed from the other devices.
    pub degraded_reads: u64,
    /// Requests that restarted because a device that served them failed.
    pub restarted_requests: u64,
    /// Reads of which some blocks could not be read, and writes of which some blocks are lost when they complete.
    pub lost_requests: u64,
    /// Blocks that were read and written to rebuild spares.
    pub rebuild_read_blocks: u64,
    pub rebuild_written_blocks: u64,
}

/// A request that is complete without a further access.
#[derive(Clone, Copy, Debug)]
pub(super) struct FinishedRequest {
    pub request: QueuedRequest,
    /// The energy spent on the request.
    pub energy: RequestEnergy,
    /// When its writes are durable.
    pub durable_at: Time,
}

/// A request that is not complete.
struct OutstandingRequest {
    request: QueuedRequest,
    /// The plan of the request; empty until the request begins. A remaining step of the plan replaces a completed step.
    plan: Plan,
    /// For every step, the number of steps that it still waits for.
    needs: Vec<usize>,
    /// Whether some step waits for another one, so that a completion may free it.
    has_waiting_steps: bool,
    unfinished_steps: usize,
    locked: LockedStripes,
    /// Number of stripes and long claims that the request has to wait for.
    blocked_by: usize,
    has_restarted: bool,
    /// Energy spent on the request so far.
    energy: RequestEnergy,
    /// When its accesses so far are durable.
    durable_at: Time,
}

/// Begins a step of a request.
fn begin(
    accesses: &mut Map<u64, (u64, usize)>,
    next_access: &mut u64,
    request: &QueuedRequest,
    (number, step): (usize, &Step),
    ready: &mut Vec<Access>,
) {
    let access = QueuedRequest {
        id: *next_access,
        lbn: step.lbn,
        blocks: step.blocks as u32,
        op: step.op,
        partial: request.partial.in_part(step.requested_blocks as u32, step.ends_request),
        ..*request
    };
    accesses.insert(*next_access, (request.id, number));
    *next_access += 1;
    ready.push((step.device, access));
}

/// Replaces `nearest` for a request that claimed stripes: layouts that call `nearest` do so for reads only, which claim
/// no stripes.
fn first_device(_read: &QueuedRequest, _has: &dyn Fn(usize) -> bool) -> usize {
    0
}

impl Flow {
    /// Returns a layout without outstanding requests.
    pub fn new(layout: Box<dyn Layout>) -> Self {
        Flow {
            layout,
            requests: Map::default(),
            accesses: Map::default(),
            next_access: 0,
            locks: StripeLocks::default(),
            blocked_requests: 0,
            counts: FlowCounts::default(),
            rebuilding: None,
            last_rebuild: Time::ZERO,
            completed: Vec::new(),
            restarted_requests: Vec::new(),
            background: (RequestEnergy::default(), Time::ZERO),
        }
    }

    /// Number of blocks the host sees.
    pub fn capacity_blocks(&self) -> u64 {
        self.layout.capacity_blocks()
    }

    /// Returns the layout, which maps the blocks of the host to devices.
    pub fn layout(&self) -> &dyn Layout {
        self.layout.as_ref()
    }

    /// The request of an access, and its device.
    pub fn owner(&self, access: u64) -> Option<(u64, usize)> {
        let (id, step) = self.accesses.get(&access)?;
        self.requests.get(id).map(|in_flight| (*id, in_flight.plan.steps[*step].device))
    }

    /// Returns an outstanding request.
    pub fn request(&self, id: u64) -> Option<&QueuedRequest> {
        self.requests.get(&id).map(|in_flight| &in_flight.request)
    }

    /// Number of requests that wait for stripes that other requests have claimed.
    pub fn blocked_requests(&self) -> usize {
        self.blocked_requests
    }

    /// Counts of requests by the effects of failures.
    pub fn counts(&self) -> FlowCounts {
        self.counts
    }

    /// The energy spent for no request of the host, and when the last such access was complete.
    pub fn background(&self) -> (RequestEnergy, Time) {
        self.background
    }

    /// Whether [`take_completed`](Flow::take_completed) would return requests.
    pub fn has_completed(&self) -> bool {
        !self.completed.is_empty()
    }

    /// Requests that are complete without a further access.
    pub fn take_completed(&mut self) -> Vec<FinishedRequest> {
        std::mem::take(&mut self.completed)
    }

    /// Takes the requests that have begun anew.
    pub fn take_restarted_requests(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.restarted_requests)
    }

    /// A request arrives; accesses that may begin are appended to `ready`. `nearest` chooses among devices that all
    /// have the blocks.
    pub fn arrive(&mut self, request: QueuedRequest, nearest: Nearest, ready: &mut Vec<Access>) {
        let locked = self.layout.locked_stripes(&request);
        let blocked_by = self.locks.claim(request.id, &locked);
        let plan = if blocked_by == 0 { self.plan(&request, nearest) } else { Plan::default() };
        self.add(request, plan, locked, blocked_by, ready);
    }

    /// Enters a request: it begins with its plan, or waits for `blocked_by` stripes.
    fn add(
        &mut self,
        request: QueuedRequest,
        plan: Plan,
        locked: LockedStripes,
        blocked_by: usize,
        ready: &mut Vec<Access>,
    ) {
        let (needs, unfinished_steps) = (plan.needs(), plan.steps.len());
        for (number, step) in plan.steps.iter().enumerate().filter(|(_, step)| step.needs.is_empty()) {
            begin(&mut self.accesses, &mut self.next_access, &request, (number, step), ready);
        }
        let has_waiting_steps = needs.iter().any(|steps| *steps > 0);
        let in_flight = OutstandingRequest {
            request,
            plan,
            needs,
            has_waiting_steps,
            unfinished_steps,
            locked,
            blocked_by,
            has_restarted: false,
            energy: RequestEnergy::default(),
            durable_at: Time::ZERO,
        };
        self.requests.insert(request.id, in_flight);
        if blocked_by > 0 {
            self.blocked_requests += 1;
        } else if unfinished_steps == 0 {
            self.answer(request.id, ready);
        }
    }

    /// The plan of a request that begins.
    fn plan(&self, request: &QueuedRequest, nearest: Nearest) -> Plan {
        match self.rebuilding {
            Some(device) if request.id >= REBUILDS => {
                let stripe = request.id - REBUILDS;
                self.layout.redundant().map(|layout| layout.rebuild(device, stripe)).unwrap_or_default()
            }
            _ => self.layout.plan(request, nearest),
        }
    }

    /// Counts a request of the host that is complete. The plan of a read shows whether it could read all blocks; blocks
    /// of a write may have been lost since it began.
    fn count(&mut self, OutstandingRequest { request, plan, has_restarted, .. }: &OutstandingRequest) {
        let is_lost = match request.op {
            Op::Read => plan.loses,
            _ => self.layout.redundant().is_some_and(|layout| layout.loses(request)),
        };
        self.counts.degraded_reads += u64::from(plan.recomputes);
        self.counts.restarted_requests += u64::from(*has_restarted);
        self.counts.lost_requests += u64::from(is_lost);
    }

    /// Begins a request that has waited for stripes, or one that begins anew.
    fn begin(&mut self, id: u64, nearest: Nearest, ready: &mut Vec<Access>) {
        let Some(request) = self.request(id).copied() else { return };
        let plan = self.plan(&request, nearest);
        let Some(in_flight) = self.requests.get_mut(&id) else { return };
        (in_flight.needs, in_flight.unfinished_steps) = (plan.needs(), plan.steps.len());
        in_flight.has_waiting_steps = in_flight.needs.iter().any(|steps| *steps > 0);
        in_flight.plan = plan;
        self.start(id, ready);
    }

    /// Starts those steps of a request that wait for no other step.
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
        let OutstandingRequest { request, plan, .. } = &self.requests[&id];
        begin(&mut self.accesses, &mut self.next_access, request, (number, &plan.steps[number]), ready);
    }

    /// An access is complete; accesses that may begin now are appended to `ready`. Returns the request of the host if
    /// this was its last access, with the timing of this access.
    pub fn complete(&mut self, access: &ServedRequest, ready: &mut Vec<Access>) -> Option<ServedRequest> {
        let Some((id, done_step)) = self.accesses.remove(&access.request.id) else {
            self.spend(access.energy, access.completion);
            return None;
        };
        let in_flight = self.requests.get_mut(&id)?;
        in_flight.energy += access.energy;
        in_flight.durable_at = in_flight.durable_at.max(access.durable_time());
        in_flight.unfinished_steps -= 1;
        if id >= REBUILDS {
            let blocks = u64::from(access.request.blocks);
            let FlowCounts {
                rebuild_read_blocks: rebuild_read, rebuild_written_blocks: rebuild_written, ..
            } = &mut self.counts;
            *(if access.request.op == Op::Read { rebuild_read } else { rebuild_written }) += blocks;
            self.background.1 = self.background.1.max(access.completion);
        }
        if in_flight.plan.remaining.as_ref().is_some_and(|remaining| remaining.op() == access.request.op) {
            // No step waits for this one.
            let is_last = in_flight.unfinished_steps == 0;
            let has_next = self.refill(id, done_step, ready);
            return if is_last && !has_next { self.finish(id, access, ready) } else { None };
        }
        if in_flight.unfinished_steps == 0 {
            return self.finish(id, access, ready);
        }
        if !in_flight.has_waiting_steps {
            return None;
        }
        let mut ready_steps = Vec::new();
        for (number, step) in in_flight.plan.steps.iter().enumerate() {
            if step.needs.contains(&done_step) {
                in_flight.needs[number] -= 1;
                if in_flight.needs[number] == 0 {
                    ready_steps.push(number);
                }
            }
        }
        for step in ready_steps {
            self.access(id, step, ready);
        }
        None
    }

    /// Begins the next step of a long request in the place of the step `done_step`. Returns whether there was one.
    fn refill(&mut self, id: u64, done_step: usize, ready: &mut Vec<Access>) -> bool {
        let Some(in_flight) = self.requests.get_mut(&id) else { return false };
        let Some(next) = in_flight.plan.remaining.as_mut().and_then(Iterator::next) else { return false };
        in_flight.plan.steps[done_step] = next;
        in_flight.unfinished_steps += 1;
        self.access(id, done_step, ready);
        true
    }

    /// The request is complete with `access`, its last one.
    fn finish(&mut self, id: u64, access: &ServedRequest, ready: &mut Vec<Access>) -> Option<ServedRequest> {
        let in_flight = self.requests.remove(&id)?;
        let OutstandingRequest { request, energy, durable_at, ref locked, .. } = in_flight;
        if id < REBUILDS {
            self.count(&in_flight);
            self.release_stripes(id, locked, ready);
            let write_behind = durable_at.since(access.completion);
            return Some(ServedRequest { request, write_behind, energy, ..*access });
        }
        // Requests that wait for the stripe find it on the spare.
        if let (Some(health), Some(device)) = (self.layout.health(), self.rebuilding.take()) {
            health.record_rebuilt_stripe(device);
        }
        self.last_rebuild = access.completion;
        self.spend(energy, access.completion);
        self.release_stripes(id, locked, ready);
        None
    }

    /// Completes a request without another access, as the remaining ones were on a failed device.
    fn answer(&mut self, id: u64, ready: &mut Vec<Access>) {
        let Some(in_flight) = self.requests.remove(&id) else { return };
        let OutstandingRequest { request, energy, durable_at, ref locked, .. } = in_flight;
        if id < REBUILDS {
            self.count(&in_flight);
            self.completed.push(FinishedRequest { request, energy, durable_at });
        } else {
            self.rebuilding = None;
            self.background.0 += energy;
        }
        self.release_stripes(id, locked, ready);
    }

    fn spend(&mut self, energy: RequestEnergy, end: Time) {
        self.background.0 += energy;
        self.background.1 = self.background.1.max(end);
    }

    /// Releases the stripes of a request; requests that wait for no other stripe begin.
    fn release_stripes(&mut self, id: u64, locked: &LockedStripes, ready: &mut Vec<Access>) {
        let mut freed = Vec::new();
        for stripe in locked.single_stripes() {
            self.locks.release_stripe(id, stripe, &mut freed);
            self.begin_unblocked(&mut freed, ready);
        }
        if self.locks.has_long() {
            self.locks.release_range(id, &mut freed);
            self.begin_unblocked(&mut freed, ready);
        }
    }

    /// Begins those of the `freed` requests that wait for nothing else.
    fn begin_unblocked(&mut self, freed: &mut Vec<u64>, ready: &mut Vec<Access>) {
        for next in freed.drain(..) {
            let Some(in_flight) = self.requests.get_mut(&next) else { continue };
            in_flight.blocked_by -= 1;
            if in_flight.blocked_by == 0 {
                self.blocked_requests -= 1;
                self.begin(next, &mut first_device, ready);
            }
        }
    }

    /// The device and the stripe to rebuild next; `None` while a stripe is being rebuilt or none is left.
    pub fn next_to_rebuild(&self) -> Option<(usize, u64)> {
        let is_idle = self.rebuilding.is_none();
        self.layout.redundant().filter(|_| is_idle).and_then(|layout| layout.health().next())
    }

    /// When the spare of a device was complete, if it is; call it whenever a stripe has been rebuilt.
    pub fn rebuild_time(&self, device: usize) -> Option<Time> {
        let layout = self.layout.redundant()?;
        layout.health().is_rebuilt(device).then_some(self.last_rebuild)
    }

    /// Number of blocks of the host that are lost.
    pub fn lost_blocks(&self) -> u64 {
        self.layout.redundant().map_or(0, Redundant::lost_blocks)
    }

    /// Begins to rebuild a stripe of a device on its spare.
    pub fn rebuild(&mut self, device: usize, stripe: u64, now: Time, ready: &mut Vec<Access>) {
        self.rebuilding = Some(device);
        self.restarted_requests.push(REBUILDS + stripe);
        let request = QueuedRequest {
            id: REBUILDS + stripe,
            arrival: now,
            queue_time: now,
            ..QueuedRequest::default()
        };
        let locked = LockedStripes { stripes: stripe..stripe + 1, is_shared: false };
        let blocked_by = self.locks.claim(request.id, &locked);
        let plan = if blocked_by == 0 { self.plan(&request, &mut first_device) } else { Plan::default() };
        self.add(request, plan, locked, blocked_by, ready);
    }

    /// A device fails. A request with steps left on it omits these steps if its reads are complete, and restarts
    /// otherwise. Dropped accesses in flight are still served, without effect.
    pub fn fail(&mut self, device: usize, nearest: Nearest, ready: &mut Vec<Access>) {
        let step = |(id, number): &(u64, usize)| &self.requests[id].plan.steps[*number];
        let open_steps: Set<(u64, usize)> = self.accesses.values().copied().collect();
        let reading_requests: Set<u64> =
            open_steps.iter().filter(|at| step(at).op == Op::Read).map(|(id, _)| *id).collect();
        let rebuild = self.requests.iter().find(|(id, request)| **id >= REBUILDS && request.blocked_by == 0);
        let rebuild = rebuild.map(|(id, _)| *id);
        let is_written = rebuild.is_some_and(|id| !reading_requests.contains(&id));
        if let Some(health) = self.layout.health() {
            health.fail(device, self.rebuilding.filter(|_| is_written));
        }
        let is_affected = |(id, in_flight): &(&u64, &OutstandingRequest)| {
            let mut steps = in_flight.plan.steps.iter().enumerate().filter(|(_, step)| step.device == device);
            steps.any(|(number, _)| in_flight.needs[number] > 0 || open_steps.contains(&(**id, number)))
                || in_flight.plan.remaining.as_ref().is_some_and(|remaining| remaining.uses(device))
        };
        let mut affected_ids: Vec<u64> =
            self.requests.iter().filter(is_affected).map(|(id, _)| *id).collect();
        // The blocks read so far may no longer be enough to rebuild the stripe.
        affected_ids.extend(rebuild.filter(|id| !is_written && !affected_ids.contains(id)));
        affected_ids.sort_unstable();
        let (restarted_ids, continued_ids): (Vec<u64>, Vec<u64>) =
            affected_ids.iter().partition(|id| reading_requests.contains(id));
        let requests = &mut self.requests;
        let mut dropped_steps = Vec::new();
        self.accesses.retain(|_, (id, step)| {
            let is_dropped = continued_ids.binary_search(id).is_ok_and(|_| {
                requests.get(id).is_some_and(|in_flight| in_flight.plan.steps[*step].device == device)
            });
            if is_dropped && let Some(in_flight) = requests.get_mut(id) {
                in_flight.unfinished_steps -= 1;
                dropped_steps.push((*id, *step));
            }
            !is_dropped && restarted_ids.binary_search(id).is_err()
        });
        for id in &continued_ids {
            if let Some(remaining) =
                self.requests.get_mut(id).and_then(|in_flight| in_flight.plan.remaining.as_mut())
            {
                remaining.omit_device(device);
            }
        }
        dropped_steps.sort_unstable();
        for (id, step) in dropped_steps {
            self.refill(id, step, ready);
        }
        for id in affected_ids {
            if reading_requests.contains(&id) {
                self.restart(id, nearest, ready);
            } else if self.requests.get(&id).is_some_and(|in_flight| in_flight.unfinished_steps == 0) {
                self.answer(id, ready);
            }
        }
    }

    /// Begins a request anew that has written nothing yet; the blocks that it has read are discarded.
    fn restart(&mut self, id: u64, nearest: Nearest, ready: &mut Vec<Access>) {
        self.restarted_requests.push(id);
        let Some(in_flight) = self.requests.get_mut(&id) else { return };
        in_flight.has_restarted = true;
        if in_flight.locked.stripes.is_empty() {
            in_flight.locked = self.layout.locked_stripes(&in_flight.request);
            in_flight.blocked_by = self.locks.claim(id, &in_flight.locked);
            if in_flight.blocked_by > 0 {
                in_flight.plan = Plan::default();
                self.blocked_requests += 1;
                return;
            }
        }
        self.begin(id, nearest, ready);
    }
}
