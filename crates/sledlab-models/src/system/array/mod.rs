//! Several devices of one kind behind one address space: concatenation, striping, mirroring, RAID 5, and the units of a
//! device that move independently.

mod contents;
mod degraded;
mod faults;
mod flow;
mod health;
mod layout;
mod mirror;
mod plan;
mod raid5;
mod raid5_steps;
mod stripe_locks;
#[cfg(test)]
mod tests;
mod units;
mod unprotected;

use sledlab_core::{Error, Op, Result, Span, Time};

use self::contents::RequestData;
use self::faults::Faults;
use self::flow::{Access, FinishedRequest, Flow};
use self::health::Health;
use self::layout::{BlockContent, Layout};
use self::mirror::Mirror;
use self::raid5::Raid5;
use self::units::UnitLayout;
use self::unprotected::{Concatenation, Stripe};
use super::params::{BusUse, SystemKind, SystemParams};
use super::{
    Completion, Content, Contents, Durable, HybridCounts, Residency, Setup, Single, Station, System,
    advance_by_events,
};
use crate::cache::CacheCounts;
use crate::device::preset::DeviceFile;
use crate::device::{FaultCounts, QueuedRequest, Units};
use crate::power::RequestEnergy;

/// Returns the layout that `params` define, on devices of `device_blocks` blocks.
///
/// # Errors
/// A unit that is larger than a device, and more blocks than can be counted.
fn layout(params: &SystemParams, device_blocks: u64) -> Result<Box<dyn Layout>> {
    let SystemParams { kind, devices, unit_blocks, .. } = *params;
    let can_fail = !params.failed.0.is_empty();
    if device_blocks.checked_mul(devices).is_none() {
        return Err(Error::user(format!("{devices} devices of {device_blocks} blocks are too large"))
            .with_remedy("use fewer or smaller devices"));
    }
    let units = device_blocks / unit_blocks;
    if matches!(kind, SystemKind::Stripe | SystemKind::Raid5) && units == 0 {
        return Err(Error::user(format!(
            "system.unit_blocks = {unit_blocks} is more than a device has: {device_blocks} blocks"
        ))
        .with_remedy(format!("choose a unit of at most {device_blocks} blocks")));
    }
    Ok(match kind {
        SystemKind::Single | SystemKind::Concatenation => Box::new(Concatenation { devices, device_blocks }),
        SystemKind::Stripe => Box::new(Stripe { devices, unit_blocks, units }),
        SystemKind::Mirror => {
            let health = Health::new(device_blocks.div_ceil(unit_blocks), devices as usize - 1, can_fail);
            Box::new(Mirror { devices, device_blocks, unit_blocks, health })
        }
        SystemKind::Raid5 => {
            let health = Health::new(units, 1, can_fail);
            Box::new(Raid5 { devices, unit_blocks, stripes: units, health })
        }
    })
}

/// Several devices of one kind, or hybrids in their places; a request is complete when all its accesses are.
pub struct Array {
    flow: Flow,
    nodes: Vec<Box<dyn System>>,
    /// Number of devices of a node; 0 for a unit, which is not counted as a device.
    devices_of_node: u32,
    bus: BusUse,
    ready: Vec<Access>,
    completions: Vec<Completion>,
    longest_queue: usize,
    /// The present.
    now: Time,
    /// Failures and spares, where devices fail.
    faults: Option<Box<Faults>>,
    /// Contents of outstanding requests, where media keep contents.
    keeper: Option<Box<RequestData>>,
}

impl Array {
    /// `nodes` as one array: devices, or hybrids of two devices each, and spares. The media of the nodes keep contents
    /// if `keep_contents`.
    ///
    /// # Errors
    /// A unit that does not fit.
    pub fn new(
        params: &SystemParams,
        nodes: Vec<Box<dyn System>>,
        devices_of_node: u32,
        keep_contents: bool,
    ) -> Result<Self> {
        let device_blocks = nodes.first().map_or(0, |node| node.capacity_blocks());
        let mut array = Array::with_nodes(layout(params, device_blocks)?, nodes);
        array.bus = params.bus;
        array.devices_of_node = devices_of_node;
        array.keeper = keep_contents.then(Box::default);
        array.faults = Faults::new(params).map(Box::new);
        array.fail_due(Time::ZERO);
        Ok(array)
    }

    /// Number of nodes of an array: devices and spares.
    pub fn nodes(params: &SystemParams) -> u64 {
        params.devices + faults::spares(params)
    }

    /// The units of a device as one array, each with an empty queue and the policies of `setup`.
    ///
    /// # Errors
    /// Parameters that contradict each other.
    pub fn from_units(units: Units, setup: Setup) -> Result<Self> {
        let Units { unit, count, map, .. } = units;
        let file = DeviceFile { name: String::new(), description: String::new(), params: unit };
        let make_unit = |_| Ok(Box::new(Single::new(Station::new(&file, setup)?)) as Box<dyn System>);
        let nodes = (0..count).map(make_unit).collect::<Result<Vec<_>>>()?;
        Ok(Array::with_nodes(Box::new(UnitLayout { map, count }), nodes))
    }

    fn with_nodes(layout: Box<dyn Layout>, nodes: Vec<Box<dyn System>>) -> Self {
        let flow = Flow::new(layout);
        Array {
            flow,
            nodes,
            devices_of_node: 0,
            bus: BusUse::Own,
            ready: Vec::new(),
            completions: Vec::new(),
            longest_queue: 0,
            now: Time::ZERO,
            faults: None,
            keeper: None,
        }
    }

    /// The nodes that take part in the run: all but those that failed before it began.
    fn working_nodes(&self) -> impl Iterator<Item = &dyn System> {
        let is_working = |at: &usize| self.faults.as_ref().is_none_or(|faults| faults.works(*at));
        (0..self.nodes.len()).filter(is_working).map(|at| self.nodes[at].as_ref())
    }

    /// Hands the accesses in `ready` to their devices.
    fn submit_ready(&mut self, now: Time) {
        for (device, access) in self.ready.drain(..) {
            let node = faults::node(self.faults.as_deref(), device);
            if let Some(keeper) = &mut self.keeper
                && access.op == Op::Write
            {
                let data = keeper.write_data(&self.flow, device, &access);
                if let Some(medium) = self.nodes[node].durable() {
                    medium.supply_data(access.id, data);
                }
            }
            self.nodes[node].arrive(now, access);
        }
    }

    /// Makes those devices fail whose failure is due by `now`.
    fn fail_due(&mut self, now: Time) {
        let Some(faults) = &mut self.faults else { return };
        while let Some(device) = faults.fail_due(now) {
            self.flow.fail(device, &mut nearest(&self.nodes, Some(faults), now), &mut self.ready);
        }
    }

    /// Handles failures and rebuilds that are due, and appends the requests that are complete without a further access.
    fn handle_faults(&mut self, now: Time, completed: &mut Vec<Completion>) {
        self.fail_due(now);
        if let Some(faults) = &mut self.faults {
            faults.rebuild(&mut self.flow, now, &mut self.ready);
        }
        let restarted = self.flow.take_restarted_requests();
        self.keeper.iter_mut().for_each(|keeper| keeper.forget(&restarted));
        self.submit_ready(now);
        for FinishedRequest { request, energy, durable_at } in self.flow.take_completed() {
            if let Some(keeper) = &mut self.keeper {
                keeper.finish(&self.flow, &request);
            }
            let write_behind = durable_at.since(now);
            completed.push(Completion { write_behind, energy, ..Completion::immediate(request, now) });
        }
    }
}

/// Returns a function that chooses the device with the shortest positioning time for a read at `now`, the first among
/// equals.
fn nearest(
    nodes: &[Box<dyn System>],
    faults: Option<&Faults>,
    now: Time,
) -> impl FnMut(&QueuedRequest, &dyn Fn(usize) -> bool) -> usize {
    let devices = faults.map_or(nodes.len(), |faults| faults.places.len());
    move |read, has_block| {
        let positioning = |device: &usize| nodes[faults::node(faults, *device)].positioning(now, read);
        (0..devices).filter(|device| has_block(*device)).min_by_key(positioning).unwrap_or(0)
    }
}

impl System for Array {
    fn capacity_blocks(&self) -> u64 {
        self.flow.capacity_blocks()
    }

    fn arrive(&mut self, now: Time, request: QueuedRequest) {
        self.now = now;
        if let Some(keeper) = &mut self.keeper {
            keeper.arrive(&request);
        }
        let faults = self.faults.as_deref();
        self.flow.arrive(request, &mut nearest(&self.nodes, faults, now), &mut self.ready);
        self.submit_ready(now);
    }

    fn next_event(&self) -> Option<Time> {
        let next = self.nodes.iter().filter_map(|node| node.next_event()).min();
        let Some(faults) = &self.faults else { return next };
        let completed = self.flow.has_completed().then_some(self.now);
        [next, completed, faults.next_event(&self.flow)].into_iter().flatten().min()
    }

    fn advance(&mut self, now: Time, completed: &mut Vec<Completion>) {
        // Requests that are selected at the time of their arrival do not count as queued.
        if self.now < now {
            self.longest_queue = self.longest_queue.max(self.queue_length());
        }
        self.now = now;
        for step in 0..self.nodes.len() {
            // If devices request the shared bus at the same time, the last device gets the bus first, as at later
            // times.
            let node_number = if self.bus == BusUse::Shared { self.nodes.len() - 1 - step } else { step };
            let (node, completed_before) = (&mut self.nodes[node_number], self.completions.len());
            if node.next_event().is_some_and(|at| at <= now) {
                node.advance(now, &mut self.completions);
                let first = self.devices_of_node * node_number as u32;
                self.completions[completed_before..]
                    .iter_mut()
                    .for_each(|access| access.offset_device(first));
            }
            if let Some(keeper) = &mut self.keeper {
                keeper.record_reads(&self.flow, node.as_mut(), &self.completions[completed_before..]);
            }
        }
        for access in self.completions.drain(..) {
            let completion = self.flow.complete(&access, &mut self.ready);
            if let (Some(keeper), Some(completion)) = (&mut self.keeper, &completion) {
                keeper.finish(&self.flow, &completion.request);
            }
            completed.extend(completion);
        }
        self.submit_ready(now);
        if self.faults.is_some() {
            self.handle_faults(now, completed);
        }
    }

    fn advance_before(&mut self, horizon: Time, completed: &mut Vec<Completion>) -> bool {
        advance_by_events(self, horizon, completed)
    }

    fn flush(&mut self, _now: Time, _request: QueuedRequest) -> bool {
        false
    }

    fn failure(&mut self) -> Option<Error> {
        self.nodes.iter_mut().find_map(|node| node.failure())
    }

    fn stations(&self) -> Vec<&Station> {
        self.working_nodes().flat_map(System::stations).collect()
    }

    fn stations_mut(&mut self) -> Vec<&mut Station> {
        let is_working = |at: usize| self.faults.as_ref().is_none_or(|faults| faults.works(at));
        let nodes = self.nodes.iter_mut().enumerate().filter(|(at, _)| is_working(*at));
        nodes.flat_map(|(_, node)| node.stations_mut()).collect()
    }

    fn queue_length(&self) -> usize {
        self.flow.blocked_requests() + self.nodes.iter().map(|node| node.queue_length()).sum::<usize>()
    }

    fn longest_queue(&self) -> usize {
        self.longest_queue
    }

    fn open_ledgers(&mut self, now: Time) {
        self.longest_queue = self.queue_length();
        self.nodes.iter_mut().for_each(|node| node.open_ledgers(now));
    }

    fn close_ledgers(&mut self, now: Time) {
        self.nodes.iter_mut().for_each(|node| node.close_ledgers(now));
    }

    fn background(&self) -> (RequestEnergy, Time) {
        self.nodes.iter().map(|node| node.background()).fold(
            self.flow.background(),
            |total, (energy, end)| {
                let mut sum = total.0;
                sum += energy;
                (sum, total.1.max(end))
            },
        )
    }

    fn cache(&self) -> Option<CacheCounts> {
        None
    }

    fn hybrid(&self) -> Option<HybridCounts> {
        let mut total: Option<HybridCounts> = None;
        let mut live_shares = Vec::new();
        for (number, node) in self.nodes.iter().enumerate() {
            let Some(counts) = node.hybrid() else { continue };
            *total.get_or_insert_default() += counts;
            if faults::device(self.faults.as_deref(), number).is_some() {
                live_shares.push(counts.live_share);
            }
        }
        let live_share = live_shares.iter().sum::<f64>() / live_shares.len().max(1) as f64;
        total.map(|total| HybridCounts { live_share, ..total })
    }

    fn residency(&self) -> Vec<Residency> {
        self.working_nodes().flat_map(System::residency).collect()
    }

    fn faults(&self) -> Option<FaultCounts> {
        let mut total = self.faults.as_ref().map(|faults| faults.counts(&self.flow));
        for counts in self.nodes.iter().filter_map(|node| node.faults()) {
            *total.get_or_insert_default() += counts;
        }
        total
    }

    fn positioning(&self, _now: Time, _read: &QueuedRequest) -> Span {
        Span::ZERO
    }

    fn durable(&mut self) -> Option<&mut dyn Durable> {
        if self.keeper.is_some() { Some(self) } else { None }
    }
}

impl Durable for Array {
    fn supply_data(&mut self, access: u64, data: Vec<Content>) {
        self.keeper.iter_mut().for_each(|keeper| keeper.supply_data(access, data.clone()));
    }

    fn read_contents(&mut self, access: u64) -> Vec<Content> {
        self.keeper.as_mut().map(|keeper| keeper.read_contents(access)).unwrap_or_default()
    }

    /// The contents of each block on its device. Where copies differ, that of the last device counts, so a block may be
    /// found as it was before an unfinished write, although a read has found the new contents on another device.
    ///
    /// Parity is not used: an unfinished write may leave it stale, but no block has to be recomputed from it while all
    /// devices work. Where one device is missing, a block that no request was writing may be lost with a write to its
    /// stripe (the write hole), so the blocks of that device are omitted.
    fn crash(&mut self, now: Time, survives: &mut dyn FnMut() -> bool) -> Contents {
        let mut contents = Contents::default();
        for (node, device) in
            (0..self.nodes.len()).map(|node| (node, faults::device(self.faults.as_deref(), node)))
        {
            let node_contents =
                self.nodes[node].durable().map(|medium| medium.crash(now, survives)).unwrap_or_default();
            let Some(device) = device else { continue };
            for (lbn, content) in node_contents {
                if let BlockContent::Host(host) = self.flow.layout().holds(device, lbn) {
                    contents.insert(host, content);
                }
            }
        }
        contents
    }
}
