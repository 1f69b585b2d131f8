//! Several devices alike behind one address space: concatenation, striping, mirroring, RAID 5, and the units of a
//! device that move each on their own.

mod flow;
mod layout;
mod plan;
mod raid5;
#[cfg(test)]
mod tests;
mod units;

use sledlab_core::{Error, Result, Span, Time};

use self::flow::{Access, Flow};
use self::layout::Layout;
use self::units::OfUnits;
use super::params::{BusUse, Kind, SystemParams};
use super::{Completion, Durable, Parts, Setup, Single, Station, System, advance_by_events};
use crate::cache::CacheCounts;
use crate::device::preset::DeviceFile;
use crate::device::{self, Bus, Queued, Units};
use crate::hybrid::HybridCounts;
use crate::power::Spent;

/// A device, or a hybrid in its place, several times; a request is done when all accesses for it are.
pub struct Array {
    flow: Flow,
    nodes: Vec<Box<dyn System>>,
    bus: BusUse,
    ready: Vec<Access>,
    done: Vec<Completion>,
    longest_queue: usize,
    /// The present.
    now: Time,
}

impl Array {
    /// Devices or hybrids put together as `parts` say, each with an empty queue.
    ///
    /// # Errors
    /// Too few devices, a unit that does not fit, and parameters of the device that make no sense together or in an
    /// array.
    pub fn new(parts: Parts) -> Result<Self> {
        let params = parts.system;
        check(params, parts.device)?;
        let bus = Bus::default();
        let node = |_| match params.bus {
            BusUse::Own => super::node(parts),
            BusUse::Shared => on_bus(&bus, parts),
        };
        let nodes = (0..params.devices).map(node).collect::<Result<Vec<_>>>()?;
        let device_blocks = nodes[0].capacity_blocks();
        Ok(Array { bus: params.bus, ..Array::of(layout::build(params, device_blocks)?, nodes) })
    }

    /// The units of a device, each with an empty queue as `setup` says.
    ///
    /// # Errors
    /// Parameters that make no sense together.
    pub fn of_units(units: Units, setup: Setup) -> Result<Self> {
        let Units { each, count, map, .. } = units;
        let file = DeviceFile { name: String::new(), description: String::new(), params: each };
        let unit = |_| Ok(Box::new(Single::new(Station::new(&file, setup)?)) as Box<dyn System>);
        let nodes = (0..count).map(unit).collect::<Result<Vec<_>>>()?;
        Ok(Array::of(Box::new(OfUnits(map)), nodes))
    }

    fn of(layout: Box<dyn Layout>, nodes: Vec<Box<dyn System>>) -> Self {
        let flow = Flow::new(layout);
        Array {
            flow,
            nodes,
            bus: BusUse::Own,
            ready: Vec::new(),
            done: Vec::new(),
            longest_queue: 0,
            now: Time::ZERO,
        }
    }

    /// Hands accesses that may begin to their devices.
    fn hand_over(&mut self, now: Time) {
        for (device, access) in self.ready.drain(..) {
            self.nodes[device].arrive(now, access);
        }
    }
}

/// A device on a bus with the others.
fn on_bus(bus: &Bus, parts: Parts) -> Result<Box<dyn System>> {
    if parts.hybrid.is_some() {
        return Err(Error::user("system.bus = \"shared\" is for disks: hybrids have a bus of their own")
            .with_remedy("set system.bus = \"own\", or leave out hybrid.kind"));
    }
    let device = device::build_on(bus, parts.device)?;
    Ok(Box::new(Single::new(Station::of(device, parts.setup)?)))
}

/// Whether devices of `file` can be put together as `params` says.
fn check(params: &SystemParams, file: &DeviceFile) -> Result<()> {
    let SystemParams { kind, devices, .. } = *params;
    let (word, fewest) = (kind.word(), kind.fewest_devices());
    if devices < fewest {
        return Err(Error::user(format!("system.devices = {devices} is too few for a {word}"))
            .with_remedy(format!("choose at least {fewest} devices, for example system.devices = 4")));
    }
    if kind == Kind::Single && devices > 1 {
        return Err(Error::user(format!("system.devices = {devices}, but system.kind = \"{word}\" has one"))
            .with_remedy("choose a system.kind of several: concatenation, stripe, mirror or raid5"));
    }
    if let Some(Units { called, remedy, .. }) = file.params.units()? {
        return Err(Error::user(format!(
            "a device of several {called} cannot be one of a system of several"
        ))
        .with_remedy(remedy));
    }
    Ok(())
}

impl System for Array {
    fn capacity_blocks(&self) -> u64 {
        self.flow.capacity_blocks()
    }

    fn arrive(&mut self, now: Time, request: Queued) {
        self.now = now;
        let nodes = &self.nodes;
        let mut nearest = |read: &Queued| {
            let devices = 0..nodes.len();
            // Of equals the first.
            devices.min_by_key(|device| nodes[*device].positioning(now, read)).unwrap_or(0)
        };
        self.flow.arrive(request, &mut nearest, &mut self.ready);
        self.hand_over(now);
    }

    fn next_event(&self) -> Option<Time> {
        self.nodes.iter().filter_map(|node| node.next_event()).min()
    }

    fn advance(&mut self, now: Time, completed: &mut Vec<Completion>) {
        // Who is selected in the moment of arrival has not waited.
        if self.now < now {
            self.longest_queue = self.longest_queue.max(self.queue_length());
        }
        self.now = now;
        for at in 0..self.nodes.len() {
            // Of devices that ask for their bus at once, the last is first, as later.
            let at = if self.bus == BusUse::Shared { self.nodes.len() - 1 - at } else { at };
            let node = &mut self.nodes[at];
            if node.next_event().is_some_and(|at| at <= now) {
                node.advance(now, &mut self.done);
            }
        }
        for access in self.done.drain(..) {
            completed.extend(self.flow.done(&access, &mut self.ready));
        }
        self.hand_over(now);
    }

    fn advance_before(&mut self, horizon: Time, completed: &mut Vec<Completion>) {
        advance_by_events(self, horizon, completed);
    }

    fn flush(&mut self, _now: Time, _request: Queued) -> bool {
        false
    }

    fn failure(&mut self) -> Option<Error> {
        self.nodes.iter_mut().find_map(|node| node.failure())
    }

    fn stations(&self) -> Vec<&Station> {
        self.nodes.iter().flat_map(|node| node.stations()).collect()
    }

    fn queue_length(&self) -> usize {
        self.flow.held() + self.nodes.iter().map(|node| node.queue_length()).sum::<usize>()
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

    fn background(&self) -> (Spent, Time) {
        self.nodes.iter().map(|node| node.background()).fold(
            (Spent::default(), Time::ZERO),
            |all, (spent, end)| {
                let mut sum = all.0;
                sum += spent;
                (sum, all.1.max(end))
            },
        )
    }

    fn cache(&self) -> Option<CacheCounts> {
        None
    }

    fn hybrid(&self) -> Option<HybridCounts> {
        let mut all: Option<HybridCounts> = None;
        for counts in self.nodes.iter().filter_map(|node| node.hybrid()) {
            *all.get_or_insert_default() += counts;
        }
        let share = 1.0 / self.nodes.len() as f64;
        all.map(|all| HybridCounts { live_share: all.live_share * share, ..all })
    }

    fn positioning(&self, _now: Time, _read: &Queued) -> Span {
        Span::ZERO
    }

    fn durable(&mut self) -> Option<&mut dyn Durable> {
        None
    }
}
