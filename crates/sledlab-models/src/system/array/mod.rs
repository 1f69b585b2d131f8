//! Several devices alike behind one address space: concatenation, striping, mirroring, RAID 5, and the sleds of a
//! device that move each on its own.

mod flow;
mod layout;
mod plan;
mod raid5;
mod sleds;
#[cfg(test)]
mod tests;

use sledlab_core::{Error, Result, Time};

use self::flow::{Access, Flow};
use self::layout::Layout;
pub use self::sleds::independent;
use super::params::{Kind, SystemParams};
use super::{Completion, Setup, Station, System};
use crate::device::Queued;
use crate::device::mems::MemsParams;
use crate::device::preset::DeviceFile;

/// A station for each device; a request is done when all accesses for it are.
pub struct Array {
    flow: Flow,
    stations: Vec<Station>,
    ready: Vec<Access>,
    done: Vec<Completion>,
    longest_queue: usize,
}

impl Array {
    /// Devices that `file` describes, put together as `params` says, each with an empty queue as `setup` says.
    ///
    /// # Errors
    /// Too few devices, a unit that does not fit, and parameters of the device that make no sense together or in an
    /// array.
    pub fn new(params: &SystemParams, file: &DeviceFile, setup: Setup) -> Result<Self> {
        check(params, file)?;
        let stations = stations(params.devices, file, setup)?;
        let device_blocks = stations[0].device().mechanics().capacity_blocks();
        Ok(Array::of(layout::build(params, device_blocks)?, stations))
    }

    /// The sleds of a device, each with an empty queue as `setup` says.
    ///
    /// # Errors
    /// Parameters that make no sense together.
    pub fn of_sleds(params: &MemsParams, setup: Setup) -> Result<Self> {
        let stations = stations(params.sleds, &sleds::one(params), setup)?;
        Ok(Array::of(sleds::layout(params)?, stations))
    }

    fn of(layout: Box<dyn Layout>, stations: Vec<Station>) -> Self {
        let flow = Flow::new(layout);
        Array { flow, stations, ready: Vec::new(), done: Vec::new(), longest_queue: 0 }
    }

    /// Hands accesses that may begin to their devices.
    fn hand_over(&mut self, now: Time) {
        for (device, access) in self.ready.drain(..) {
            self.stations[device].arrive(now, access);
        }
    }
}

fn stations(devices: u64, file: &DeviceFile, setup: Setup) -> Result<Vec<Station>> {
    (0..devices).map(|_| Station::new(file, setup)).collect()
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
    if independent(file).is_some() {
        return Err(Error::user(
            "a device of several independent sleds cannot be one of a system of several",
        )
        .with_remedy("set device.sleds = 1 and more system.devices, or device.sled_motion = \"together\""));
    }
    Ok(())
}

impl System for Array {
    fn capacity_blocks(&self) -> u64 {
        self.flow.capacity_blocks()
    }

    fn arrive(&mut self, now: Time, request: Queued) {
        let stations = &self.stations;
        let mut nearest = |read: &Queued| {
            let devices = 0..stations.len();
            // Of equals the first.
            devices.min_by_key(|device| stations[*device].positioning(now, read)).unwrap_or(0)
        };
        self.flow.arrive(request, &mut nearest, &mut self.ready);
        self.hand_over(now);
    }

    fn next_event(&self) -> Option<Time> {
        self.stations.iter().filter_map(Station::next_event).min()
    }

    fn advance(&mut self, now: Time, completed: &mut Vec<Completion>) {
        for station in &mut self.stations {
            if station.next_event().is_some_and(|at| at <= now) {
                station.advance(now, &mut self.done);
            }
        }
        for access in self.done.drain(..) {
            completed.extend(self.flow.done(&access, &mut self.ready));
        }
        self.hand_over(now);
        // Who is selected in the moment of arrival has not waited.
        if self.next_event().is_none_or(|at| at > now) {
            self.longest_queue = self.longest_queue.max(self.queue_length());
        }
    }

    fn failure(&mut self) -> Option<Error> {
        self.stations.iter_mut().find_map(Station::failure)
    }

    fn stations(&self) -> Vec<&Station> {
        self.stations.iter().collect()
    }

    fn queue_length(&self) -> usize {
        self.flow.held() + self.stations.iter().map(Station::queue_length).sum::<usize>()
    }

    fn longest_queue(&self) -> usize {
        self.longest_queue
    }

    fn open_ledgers(&mut self, now: Time) {
        self.longest_queue = self.queue_length();
        self.stations.iter_mut().for_each(|station| station.open_ledger(now));
    }

    fn close_ledgers(&mut self, now: Time) {
        self.stations.iter_mut().for_each(|station| station.close_ledger(now));
    }
}
