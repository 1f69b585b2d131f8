//! Several sleds that move independently behind one address space (DM-11).

use std::collections::HashMap;

use sledlab_core::{Error, Result, Time};

use super::{Completion, Setup, Station, System};
use crate::device::Queued;
use crate::device::mems::geometry::Geometry;
use crate::device::mems::params::SledMotion;
use crate::device::mems::{AddressMap, MemsParams};
use crate::device::preset::{DeviceFile, DeviceParams};
use crate::power::Spent;

/// One station for each sled; a request is served by all sleds that hold a part of it.
pub struct Sleds {
    addresses: AddressMap,
    stations: Vec<Station>,
    /// Requests with parts still to come, by id.
    split: HashMap<u64, Parts>,
    parts: Vec<Completion>,
    longest_queue: usize,
}

/// A request of which parts are still being served.
struct Parts {
    whole: Queued,
    missing: usize,
    /// What the parts served so far have cost.
    energy: Spent,
}

impl Sleds {
    /// One station, with an empty queue, for each sled.
    ///
    /// # Errors
    /// Parameters that make no sense together.
    pub fn new(params: &MemsParams, setup: Setup) -> Result<Self> {
        let addresses = AddressMap::new(params, params.sleds, Geometry::new(params)?.blocks)?;
        let one = MemsParams { sleds: 1, sled_motion: SledMotion::Together, ..params.clone() };
        let file =
            DeviceFile { name: String::new(), description: String::new(), params: DeviceParams::Mems(one) };
        let stations = (0..params.sleds).map(|_| Station::new(&file, setup)).collect::<Result<_>>()?;
        Ok(Sleds { addresses, stations, split: HashMap::new(), parts: Vec::new(), longest_queue: 0 })
    }

    /// The host is told when the last part is done; its timing is that of the part that took until then.
    fn join(&mut self, completed: &mut Vec<Completion>) {
        for part in self.parts.drain(..) {
            let id = part.request.id;
            let Some(parts) = self.split.get_mut(&id) else { continue };
            parts.missing -= 1;
            parts.energy += part.energy;
            if parts.missing == 0 {
                let Parts { whole, energy, .. } = *parts;
                self.split.remove(&id);
                completed.push(Completion { request: whole, energy, ..part });
            }
        }
    }
}

impl System for Sleds {
    fn capacity_blocks(&self) -> u64 {
        self.addresses.capacity_blocks()
    }

    fn arrive(&mut self, now: Time, request: Queued) {
        let runs = self.addresses.split(request.lbn, request.blocks);
        self.split
            .insert(request.id, Parts { whole: request, missing: runs.len(), energy: Spent::default() });
        for (sled, lbn, blocks) in runs {
            self.stations[sled as usize].arrive(now, Queued { lbn, blocks, ..request });
        }
    }

    fn next_event(&self) -> Option<Time> {
        self.stations.iter().filter_map(Station::next_event).min()
    }

    fn advance(&mut self, now: Time, completed: &mut Vec<Completion>) {
        self.longest_queue = self.longest_queue.max(self.queue_length());
        for station in &mut self.stations {
            if station.next_event().is_some_and(|at| at <= now) {
                station.advance(now, &mut self.parts);
            }
        }
        self.join(completed);
    }

    fn failure(&mut self) -> Option<Error> {
        self.stations.iter_mut().find_map(Station::failure)
    }

    fn stations(&self) -> Vec<&Station> {
        self.stations.iter().collect()
    }

    fn queue_length(&self) -> usize {
        self.stations.iter().map(Station::queue_length).sum()
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
