//! The exact position index of a disk: finds the request with the minimum positioning time, counted from when the arm
//! can start, or the nearest request, without probing all.
//!
//! Buckets of neighboring cylinders are visited outward from the arm. The seek time over a distance is a lower bound of
//! the positioning time of all requests that far away or farther, so the search ends where the bound exceeds the best
//! time. As measured seek curves dip, the bound is the minimum seek time over that distance or any larger one. For each
//! request of a visited bucket, the movement and the angle of the sector give a closer bound. The exact time, which
//! takes longest to compute, is usually needed only for the request with the lowest bound: bounds are a few nanoseconds
//! too low. If another request could be as fast, the search is repeated with exact times.

use sledlab_core::{Span, Time};

use super::drive::{DiskState, Drive};
use super::geometry::SectorPlace;
use super::positioning_bounds::{MAX_ERROR_NS, MovementTable, PositioningBounds, Target};
use crate::device::{Mechanics, PositionIndex, QueuedRequest};

/// Mean number of requests of a bucket above which buckets are halved.
const MAX_MEAN: usize = 8;

/// The quantity that the index minimizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Criterion {
    /// The smallest positioning time, then the smallest distance in cylinders, then the earliest number.
    Time,
    /// The smallest distance in cylinders, then the earliest number.
    Distance,
}

/// An index over the requests queued at a disk.
pub(super) struct DiskIndex {
    /// Gives the places of blocks and the times of movements; the position of this copy's own arm is not used.
    drive: Drive,
    criterion: Criterion,
    movements: MovementTable,
    /// Bucket `b` has the cylinders from `b << shift` on.
    buckets: Vec<Bucket>,
    shift: u32,
    /// Number of requests.
    len: usize,
}

/// Requests on neighboring cylinders, in no order.
#[derive(Clone, Default)]
struct Bucket {
    /// Where each request begins.
    targets: Vec<Target>,
    requests: Vec<PlacedRequest>,
}

/// A request and where its first block lies.
#[derive(Clone, Copy)]
struct PlacedRequest {
    place: SectorPlace,
    request: QueuedRequest,
}

/// A request of the index: its bucket, and its number in the bucket.
type Slot = (usize, usize);

impl DiskIndex {
    /// An empty index for drives with the geometry and seek times of `drive`.
    pub fn new(drive: &Drive, criterion: Criterion) -> Self {
        let cylinders = drive.extent().cylinders;
        DiskIndex {
            drive: drive.clone(),
            criterion,
            movements: MovementTable::new(drive, if criterion == Criterion::Time { cylinders } else { 0 }),
            buckets: vec![Bucket::default()],
            shift: u32::BITS - cylinders.leading_zeros(),
            len: 0,
        }
    }

    fn enter(&mut self, placed: PlacedRequest) {
        let bucket = &mut self.buckets[(placed.place.track.cylinder >> self.shift) as usize];
        bucket.targets.push(Target::new(&placed.place, placed.request.op));
        bucket.requests.push(placed);
    }

    /// Distributes the requests to buckets of `1 << shift` cylinders.
    fn redistribute(&mut self, shift: u32) {
        self.shift = shift;
        let buckets = ((self.drive.extent().cylinders - 1) >> shift) as usize + 1;
        for bucket in std::mem::replace(&mut self.buckets, vec![Bucket::default(); buckets]) {
            bucket.requests.into_iter().for_each(|placed| self.enter(placed));
        }
    }

    /// The buckets, from that of cylinder `home` outward, and the distance of each from that cylinder.
    fn outward(&self, home: u32) -> impl Iterator<Item = (usize, u32)> + use<> {
        let (shift, buckets) = (self.shift, self.buckets.len());
        let first = (home >> shift) as usize;
        let (mut below, mut above) = (first, first);
        std::iter::from_fn(move || {
            let up = ((above as u32) << shift).saturating_sub(home);
            let down = home - ((below as u32) << shift) + 1;
            if above < buckets && (up <= down || below == 0) {
                above += 1;
                Some((above - 1, up))
            } else {
                below = below.checked_sub(1)?;
                Some((below, down))
            }
        })
    }

    /// Returns the request with the minimum positioning time for an arm in `state`; the index is not empty.
    fn soonest(&self, state: DiskState) -> Slot {
        let home = state.track.cylinder;
        let bounds = self.drive.positioning_bounds(&self.movements, state);
        let max_error = self.movements.to_turns(MAX_ERROR_NS);
        let (mut lowest, mut next_movement) = (LowestBounds::default(), Span::MAX);
        for (number, distance) in self.outward(home) {
            let targets = &self.buckets[number].targets;
            let movement = self.drive.min_movement_time(distance);
            if self.movements.to_turns(movement.as_ns() as f64) > lowest.first() + max_error
                || !lowest.has_numbers(targets.len())
            {
                next_movement = movement;
                break;
            }
            lowest.add(&bounds, targets);
        }
        if let Some(slot) = self.visited(home, lowest.first_target()) {
            let (time, ..) = self.rank(state, slot);
            // All other requests take longer, also those that are not visited: a nanosecond exceeds errors of rounding.
            if time < next_movement && lowest.second() > self.movements.to_turns(time.as_ns() as f64 + 1.0) {
                return slot;
            }
        }
        self.soonest_of_all(state)
    }

    /// As `soonest`, without bounds of single requests.
    fn soonest_of_all(&self, state: DiskState) -> Slot {
        let mut best = ((Span::MAX, u32::MAX, u64::MAX), Slot::default());
        for (number, distance) in self.outward(state.track.cylinder) {
            let (time, nearest, _) = best.0;
            if (self.drive.min_movement_time(distance), distance) > (time, nearest) {
                break;
            }
            let slots = (0..self.buckets[number].requests.len()).map(|at| (number, at));
            best = slots.map(|slot| (self.rank(state, slot), slot)).fold(best, Ord::min);
        }
        best.1
    }

    /// The positioning time, the distance and the number of a request: less is better.
    fn rank(&self, state: DiskState, (number, at): Slot) -> (Span, u32, u64) {
        let PlacedRequest { place, request } = &self.buckets[number].requests[at];
        let time = self.drive.positioning_time(state, place, request.op);
        (time, place.track.cylinder.abs_diff(state.track.cylinder), request.id)
    }

    /// The request that is visited as number `count`, from 0, outward from cylinder `home`.
    fn visited(&self, home: u32, mut count: usize) -> Option<Slot> {
        for (number, _) in self.outward(home) {
            match count.checked_sub(self.buckets[number].requests.len()) {
                None => return Some((number, count)),
                Some(left) => count = left,
            }
        }
        None
    }

    /// Returns the request nearest to cylinder `home`; the index is not empty.
    fn nearest(&self, home: u32) -> Slot {
        let mut best = ((u32::MAX, u64::MAX), Slot::default());
        for (number, distance) in self.outward(home) {
            if distance > best.0.0 {
                break;
            }
            for (at, PlacedRequest { place, request }) in self.buckets[number].requests.iter().enumerate() {
                best = best.min(((place.track.cylinder.abs_diff(home), request.id), (number, at)));
            }
        }
        best.1
    }
}

/// The two lowest bounds of the targets added.
///
/// Bounds are positive floating-point numbers, whose bits compare like their values. The lowest bits are the number of
/// the target, in order of addition, so that the search for the minimum has no branches.
struct LowestBounds {
    first: u64,
    second: u64,
    targets: u64,
}

impl Default for LowestBounds {
    fn default() -> Self {
        let none = f64::MAX.to_bits();
        LowestBounds { first: none, second: none, targets: 0 }
    }
}

impl LowestBounds {
    const NUMBER: u64 = (1 << 16) - 1;

    /// Whether there are numbers for so many further targets.
    fn has_numbers(&self, targets: usize) -> bool {
        self.targets + targets as u64 <= Self::NUMBER
    }

    #[inline]
    fn add(&mut self, bounds: &PositioningBounds, targets: &[Target]) {
        for target in targets {
            let bound = bounds.bound(target).to_bits() & !Self::NUMBER | self.targets;
            self.second = self.second.min(self.first.max(bound));
            self.first = self.first.min(bound);
            self.targets += 1;
        }
    }

    /// Number of the target with the lowest bound.
    fn first_target(&self) -> usize {
        (self.first & Self::NUMBER) as usize
    }

    /// The lowest bound, or a little more.
    fn first(&self) -> f64 {
        f64::from_bits(self.first)
    }

    /// A bound of all targets but the first.
    fn second(&self) -> f64 {
        f64::from_bits(self.second & !Self::NUMBER)
    }
}

impl PositionIndex for DiskIndex {
    fn insert(&mut self, request: QueuedRequest) {
        self.enter(PlacedRequest { place: self.drive.place(request.lbn), request });
        self.len += 1;
        if self.len > self.buckets.len() * MAX_MEAN && self.shift > 0 {
            self.redistribute(self.shift - 1);
        }
    }

    fn take_best(&mut self, _now: Time, mechanics: &dyn Mechanics) -> Option<QueuedRequest> {
        if self.len == 0 {
            return None;
        }
        let state = DiskState::from(mechanics.state());
        let (number, at) = match self.criterion {
            Criterion::Time => self.soonest(state),
            Criterion::Distance => self.nearest(state.track.cylinder),
        };
        self.len -= 1;
        let bucket = &mut self.buckets[number];
        bucket.targets.swap_remove(at);
        let PlacedRequest { request, .. } = bucket.requests.swap_remove(at);
        if self.buckets.len() > self.len * 2 + 1 {
            self.redistribute(self.shift + 2);
        }
        Some(request)
    }

    /// Adds no requests: one head is active at a time, so requests are never served together.
    fn take_joining(&mut self, _mechanics: &dyn Mechanics, _batch: &mut Vec<QueuedRequest>) {}

    fn len(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use sledlab_core::Op;

    use super::super::params::DiskParams;
    use super::*;

    fn index_of(requests: impl Iterator<Item = (u64, u64)>) -> (Drive, DiskIndex) {
        let drive = Drive::new(&DiskParams::default()).unwrap();
        let mut index = DiskIndex::new(&drive, Criterion::Time);
        for (id, lbn) in requests {
            index.insert(QueuedRequest { id, lbn, blocks: 1, op: Op::Read, ..QueuedRequest::default() });
        }
        (drive, index)
    }

    #[test]
    fn equal_times_return_earliest_request() {
        let blocks = [700_000, 5_000, 5_000, 900_000, 5_000];
        let (drive, mut index) = index_of([4, 3, 1, 0, 2].into_iter().zip(blocks));
        let ids: Vec<u64> =
            std::iter::from_fn(|| index.take_best(Time::ZERO, &drive)).map(|r| r.id).collect();
        assert_eq!(ids[..3], [1, 2, 3]);
    }

    #[test]
    fn index_accepts_more_requests_than_bounds_are_numbered() {
        let requests = LowestBounds::NUMBER + 2;
        let (drive, mut index) = index_of((0..requests).map(|id| (id, 100 + (id * 7 + 5) % requests % 50)));
        let best = index.take_best(Time::ZERO, &drive).unwrap();
        let first = |request: &QueuedRequest| (drive.positioning(request), request.id);
        let others = index.buckets.iter().flat_map(|bucket| &bucket.requests);
        assert!(others.into_iter().all(|placed| first(&best) < first(&placed.request)));
    }
}
