//! Service zone by zone: the base of all schedulers by zones (Hong 2006, section 4.1).
//!
//! Only the requests of the zone in service are in an inner queue, which orders them; those of other zones
//! wait in plain lists. A request moves from list to inner queue once, so that zones cost next to nothing
//! however long the queue.

use std::collections::BTreeSet;

use sledlab_core::{Error, Time};

use super::grid::Zones;
use crate::device::{Mechanics, QueuedRequest};
use crate::scheduler::Scheduler;

/// The order in which zones are visited.
pub(in crate::scheduler) trait Tour: Send {
    /// Adds to `zones` the zones to be served next, together. Called when the visit to the zones before has ended and
    /// requests wait, with gated visits perhaps in the same zones. At least one of the zones added must have requests.
    /// If the queue has a root, none may be added: the next request is then chosen among all, and the tour asked again.
    fn next(&mut self, mechanics: &dyn Mechanics, waiting: &WaitingRequests, zones: &mut Vec<u32>);
}

/// Removes a request from a list; false if the list does not contain it.
fn remove_from(requests: &mut Vec<QueuedRequest>, request: &QueuedRequest) -> bool {
    let at = requests.iter().position(|other| other.id == request.id);
    at.map(|at| requests.remove(at)).is_some()
}

/// Requests outside the zones in service.
pub(in crate::scheduler) struct WaitingRequests {
    zones: Vec<Vec<QueuedRequest>>,
    occupied_zones: BTreeSet<u32>,
    len: usize,
}

impl WaitingRequests {
    fn new(zones: u32) -> Self {
        WaitingRequests { zones: vec![Vec::new(); zones as usize], occupied_zones: BTreeSet::new(), len: 0 }
    }

    fn push(&mut self, zone: u32, request: QueuedRequest) {
        let requests = &mut self.zones[zone as usize];
        if requests.is_empty() {
            self.occupied_zones.insert(zone);
        }
        requests.push(request);
        self.len += 1;
    }

    /// Removes the requests of a zone, in order of arrival.
    fn take(&mut self, zone: u32) -> impl Iterator<Item = QueuedRequest> {
        let requests = &mut self.zones[zone as usize];
        if !requests.is_empty() {
            self.occupied_zones.remove(&zone);
        }
        self.len -= requests.len();
        requests.drain(..)
    }

    /// Removes a request; false if it does not wait in the zone.
    fn remove(&mut self, zone: u32, request: &QueuedRequest) -> bool {
        let requests = &mut self.zones[zone as usize];
        let is_removed = remove_from(requests, request);
        if is_removed {
            self.len -= 1;
            if requests.is_empty() {
                self.occupied_zones.remove(&zone);
            }
        }
        is_removed
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The requests of a zone, in order of arrival.
    pub fn requests(&self, zone: u32) -> &[QueuedRequest] {
        &self.zones[zone as usize]
    }

    /// The zones with requests, in ascending order.
    pub fn occupied_zones(&self) -> impl Iterator<Item = u32> {
        self.occupied_zones.iter().copied()
    }

    /// The first zone with requests from `zone` on.
    pub fn first_at_or_above(&self, zone: u32) -> Option<u32> {
        self.occupied_zones.range(zone..).next().copied()
    }

    /// The last zone with requests up to `zone`.
    pub fn last_at_or_below(&self, zone: u32) -> Option<u32> {
        self.occupied_zones.range(..=zone).next_back().copied()
    }
}

/// Visits zones in ascending order, then again from the lowest.
#[derive(Debug, Default)]
pub(in crate::scheduler) struct Circular {
    /// The zone at which the search for the next one begins.
    from: u32,
}

impl Circular {
    /// The next zone with requests.
    pub fn visit(&mut self, waiting: &WaitingRequests) -> Option<u32> {
        let zone = waiting.first_at_or_above(self.from).or_else(|| waiting.first_at_or_above(0))?;
        self.from = zone + 1;
        Some(zone)
    }
}

impl Tour for Circular {
    fn next(&mut self, _: &dyn Mechanics, waiting: &WaitingRequests, zones: &mut Vec<u32>) {
        zones.extend(self.visit(waiting));
    }
}

/// A queue of which one zone, or several merged ones, are in service.
pub(in crate::scheduler) struct ZonedQueue<Z, T> {
    /// Which zone a request is in.
    zone_of: Z,
    tour: T,
    /// Orders the requests in service.
    zone_queue: Box<dyn Scheduler>,
    /// Orders all requests, for choices while no zone is in service.
    root_queue: Option<Box<dyn Scheduler>>,
    /// Whether requests that arrive during a visit are left for the next one.
    is_gated: bool,
    /// Requests pushed since the last choice: only the mechanism at the next choice determines their zones.
    unsorted: Vec<QueuedRequest>,
    waiting: WaitingRequests,
    /// The zones in service.
    open: Vec<u32>,
    is_open: Vec<bool>,
}

/// An empty queue over the zones of a grid.
pub(in crate::scheduler) fn build<T: Tour + 'static>(
    zones: Zones,
    tour: T,
    zone_queue: Box<dyn Scheduler>,
) -> ZonedQueue<impl Fn(&dyn Mechanics, &QueuedRequest) -> u32 + Send + 'static, T> {
    ZonedQueue::new(
        zones.count(),
        move |mechanics: &dyn Mechanics, request: &QueuedRequest| zones.zone(mechanics, request),
        tour,
        zone_queue,
    )
}

impl<Z, T> ZonedQueue<Z, T>
where
    Z: Fn(&dyn Mechanics, &QueuedRequest) -> u32 + Send + 'static,
    T: Tour + 'static,
{
    /// An empty queue over `count` zones. A zone is left when it is empty, arrivals during the visit included.
    pub fn new(count: u32, zone_of: Z, tour: T, zone_queue: Box<dyn Scheduler>) -> Self {
        ZonedQueue {
            zone_of,
            tour,
            zone_queue,
            root_queue: None,
            is_gated: false,
            unsorted: Vec::new(),
            waiting: WaitingRequests::new(count),
            open: Vec::new(),
            is_open: vec![false; count as usize],
        }
    }

    /// Returns this queue with visits to zones that serve only requests that had arrived when the visit began.
    pub fn with_gated_visits(self) -> Self {
        ZonedQueue { is_gated: true, ..self }
    }

    /// Returns this queue with `root_queue`, which chooses among all requests while no zone is in service.
    pub fn with_root(self, root_queue: Box<dyn Scheduler>) -> Self {
        ZonedQueue { root_queue: Some(root_queue), ..self }
    }

    pub fn into_boxed(self) -> Box<dyn Scheduler> {
        Box::new(self)
    }

    /// Sorts the requests pushed since the last choice into their zones.
    fn sort_arrivals(&mut self, mechanics: &dyn Mechanics) {
        for request in self.unsorted.drain(..) {
            if let Some(root_queue) = &mut self.root_queue {
                root_queue.push(request);
            }
            let zone = (self.zone_of)(mechanics, &request);
            if self.is_open[zone as usize] && !self.is_gated {
                self.zone_queue.push(request);
            } else {
                self.waiting.push(zone, request);
            }
        }
    }

    /// Leaves the zones in service, which are empty, for the next ones.
    fn enter_next_zones(&mut self, mechanics: &dyn Mechanics) {
        for zone in self.open.drain(..) {
            self.is_open[zone as usize] = false;
        }
        self.tour.next(mechanics, &self.waiting, &mut self.open);
        for zone in &self.open {
            self.is_open[*zone as usize] = true;
            self.waiting.take(*zone).for_each(|request| self.zone_queue.push(request));
        }
    }

    /// Chooses among the requests of the zones in service; among all requests if no zone is in service.
    fn choose(&mut self, now: Time, mechanics: &dyn Mechanics, batch: &mut Vec<QueuedRequest>) {
        let Some(root_queue) = &mut self.root_queue else {
            return self.zone_queue.pop(now, mechanics, batch);
        };
        let chosen = batch.len();
        if self.zone_queue.is_empty() {
            root_queue.pop(now, mechanics, batch);
            for request in &batch[chosen..] {
                self.waiting.remove((self.zone_of)(mechanics, request), request);
            }
        } else {
            self.zone_queue.pop(now, mechanics, batch);
            for request in &batch[chosen..] {
                root_queue.remove(request, mechanics);
            }
        }
    }
}

#[deny(clippy::missing_trait_methods)]
impl<Z, T> Scheduler for ZonedQueue<Z, T>
where
    Z: Fn(&dyn Mechanics, &QueuedRequest) -> u32 + Send + 'static,
    T: Tour + 'static,
{
    fn push(&mut self, request: QueuedRequest) {
        self.unsorted.push(request);
    }

    fn pop(&mut self, now: Time, mechanics: &dyn Mechanics, batch: &mut Vec<QueuedRequest>) {
        self.sort_arrivals(mechanics);
        if self.zone_queue.is_empty() && self.waiting.len() > 0 {
            self.enter_next_zones(mechanics);
        }
        self.choose(now, mechanics, batch);
    }

    fn len(&self) -> usize {
        self.unsorted.len() + self.waiting.len() + self.zone_queue.len()
    }

    fn remove(&mut self, request: &QueuedRequest, mechanics: &dyn Mechanics) -> bool {
        let zone = (self.zone_of)(mechanics, request);
        if let Some(root_queue) = &mut self.root_queue {
            root_queue.remove(request, mechanics);
        }
        remove_from(&mut self.unsorted, request)
            || self.waiting.remove(zone, request)
            || self.zone_queue.remove(request, mechanics)
    }

    fn failure(&mut self) -> Option<Error> {
        self.zone_queue.failure()
    }
}

#[cfg(test)]
pub(in crate::scheduler) mod trial {
    use sledlab_core::{Op, Time};
    use toml::Table;

    use super::{QueuedRequest, Scheduler};
    use crate::device::{self, Device, preset};
    use crate::scheduler::{Choice, parse};

    /// Cylinder and row.
    pub type CylinderRow = (u32, u32);

    /// A scheduler at work on a G2, which has 2500 cylinders of 27 rows.
    pub struct Trial {
        device: Box<dyn Device>,
        queue: Box<dyn Scheduler>,
        now: Time,
        pushed: u64,
    }

    impl Trial {
        /// A trial of the scheduler that `word` describes.
        pub fn new(word: &str) -> Self {
            let table: Table = preset::text("mems-g2").unwrap().parse().unwrap();
            let device = device::build(&preset::from_table(&table).unwrap()).unwrap();
            let (name, params) = parse(word).unwrap();
            let queue = Choice::new(&name, &params).unwrap().make(device.mechanics()).unwrap();
            Trial { device, queue, now: Time::ZERO, pushed: 0 }
        }

        /// Queues a request for one block at each of `places`.
        pub fn push(&mut self, places: &[CylinderRow]) {
            let extent = self.device.mechanics().extent();
            let per_cylinder = self.device.mechanics().capacity_blocks() / u64::from(extent.cylinders);
            let per_row = extent.blocks_per_track / u64::from(extent.rows);
            for (cylinder, row) in places {
                let lbn = u64::from(*cylinder) * per_cylinder + u64::from(*row) * per_row;
                let location = self.device.mechanics().location(lbn);
                assert_eq!((location.cylinder, location.row), (*cylinder, *row));
                let (id, now) = (self.pushed, self.now);
                self.queue.push(QueuedRequest {
                    id,
                    arrival: now,
                    queue_time: now,
                    lbn,
                    blocks: 1,
                    op: Op::Read,
                    ..QueuedRequest::default()
                });
                self.pushed += 1;
            }
        }

        /// Serves the scheduler's choice and returns its cylinder and row; `None` when the queue is empty.
        pub fn pop(&mut self) -> Option<CylinderRow> {
            let (mut batch, mut served) = (Vec::new(), Vec::new());
            self.queue.pop(self.now, self.device.mechanics(), &mut batch);
            let location = self.device.mechanics().location(batch.first()?.lbn);
            self.now = self.device.issue(self.now, &batch, &mut served).unwrap().until;
            Some((location.cylinder, location.row))
        }

        /// Serves all requests left in the queue.
        pub fn drain(&mut self) -> Vec<CylinderRow> {
            std::iter::from_fn(|| self.pop()).collect()
        }
    }

    /// The order in which requests at `places` are served, which have all arrived before the first choice.
    pub fn order(word: &str, places: &[CylinderRow]) -> Vec<CylinderRow> {
        let mut trial = Trial::new(word);
        trial.push(places);
        trial.drain()
    }
}
