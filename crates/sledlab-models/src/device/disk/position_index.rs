//! The exact position index of a disk: finds the request with the minimum positioning time, counted from when the arm
//! can start, or the nearest request, without probing all.
//!
//! Buckets of neighboring cylinders are visited outward from the arm. The seek time over a distance is a lower bound of
//! the positioning time of all requests that far away or farther, so the search ends where the bound exceeds the best
//! time. As measured seek curves dip, the bound is the minimum seek time over that distance or any larger one. For each
//! request of a visited bucket, the movement and the angle of the sector give a closer bound, a few nanoseconds too
//! low. The exact times, which take longest to compute, are needed only if another request could be as fast as that of
//! the lowest bound, usually because both begin at the same angle.

use sledlab_core::{Span, Time};

use super::drive::{DiskState, Drive};
use super::positioning_bounds::{MovementTable, PositioningBounds, Target};
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
    requests: Vec<QueuedRequest>,
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

    fn enter(&mut self, target: Target, request: QueuedRequest) {
        let bucket = &mut self.buckets[(target.cylinder() >> self.shift) as usize];
        bucket.targets.push(target);
        bucket.requests.push(request);
    }

    fn take(&mut self, (number, place): Slot) -> QueuedRequest {
        self.len -= 1;
        let bucket = &mut self.buckets[number];
        bucket.targets.swap_remove(place);
        let request = bucket.requests.swap_remove(place);
        if self.buckets.len() > self.len * 2 + 1 {
            self.redistribute(self.shift + 2);
        }
        request
    }

    /// Distributes the requests to buckets of `1 << shift` cylinders.
    fn redistribute(&mut self, shift: u32) {
        self.shift = shift;
        let buckets = ((self.drive.extent().cylinders - 1) >> shift) as usize + 1;
        for bucket in std::mem::replace(&mut self.buckets, vec![Bucket::default(); buckets]) {
            bucket
                .targets
                .into_iter()
                .zip(bucket.requests)
                .for_each(|(target, request)| self.enter(target, request));
        }
    }

    /// The buckets, from that of cylinder `home` outward, and the distance of each from that cylinder.
    fn outward(&self, home: u32) -> impl Iterator<Item = (usize, u32)> + use<> {
        let (width, buckets, first) = (1 << self.shift, self.buckets.len(), (home >> self.shift) as usize);
        // The next bucket above, the bucket above the next one below, and the distances of their nearest cylinders.
        let ((mut above, mut below), start) = ((first, first), (home % width).cast_signed());
        let (mut up, mut down) = (-start, start + 1);
        std::iter::from_fn(move || {
            if above < buckets && (up <= down || below == 0) {
                let next = (above, up.max(0).cast_unsigned());
                (above, up) = (above + 1, up + width.cast_signed());
                Some(next)
            } else {
                below = below.checked_sub(1)?;
                let next = (below, down.cast_unsigned());
                down += width.cast_signed();
                Some(next)
            }
        })
    }

    /// Returns the request with the minimum positioning time for an arm in `state`; the index is not empty.
    fn soonest(&self, state: DiskState) -> Slot {
        let home = state.track.cylinder;
        let bounds = self.movements.bounds(&self.drive, state);
        let (mut lowest, mut next_movement) = (LowestBounds::default(), u64::MAX);
        for (number, distance) in self.outward(home) {
            let targets = &self.buckets[number].targets;
            let movement = self.movements.min_movement(distance);
            if movement > lowest.first() || targets.len() > LowestBounds::MAX_TARGETS {
                next_movement = movement;
                break;
            }
            lowest.add(&bounds, number, targets);
        }
        let mut max_bound = u64::MAX;
        if let Some(slot) = lowest.first_slot() {
            // Requests of larger bounds take longer than this one.
            let is_soonest = |max_bound| max_bound < lowest.second().min(next_movement);
            if is_soonest(bounds.max_bound(&self.buckets[slot.0].targets[slot.1])) {
                return slot;
            }
            max_bound = self.movements.max_bound(self.rank(state, slot).0);
            if is_soonest(max_bound) {
                return slot;
            }
        }
        self.soonest_by_time(state, &bounds, max_bound)
    }

    /// As `soonest`, by the exact times of all requests whose bound is at most `max_bound`; there is such a request.
    fn soonest_by_time(&self, state: DiskState, bounds: &PositioningBounds, max_bound: u64) -> Slot {
        let mut best = ((Span::MAX, u32::MAX, u64::MAX), Slot::default());
        for (number, distance) in self.outward(state.track.cylinder) {
            let (time, nearest, _) = best.0;
            if (self.drive.min_movement_time(distance), distance) > (time, nearest) {
                break;
            }
            let targets = self.buckets[number].targets.iter().enumerate();
            let candidates = targets.filter(|(_, target)| bounds.bound(target) <= max_bound);
            let slots = candidates.map(|(at, _)| (number, at));
            best = slots.map(|slot| (self.rank(state, slot), slot)).fold(best, Ord::min);
        }
        best.1
    }

    /// The positioning time, the distance and the number of a request: less is better.
    fn rank(&self, state: DiskState, (number, at): Slot) -> (Span, u32, u64) {
        let request = &self.buckets[number].requests[at];
        let place = self.drive.place(request.lbn);
        let time = self.drive.positioning_time(state, &place, request.op);
        (time, place.track.cylinder.abs_diff(state.track.cylinder), request.id)
    }

    /// Returns the request nearest to cylinder `home`; the index is not empty.
    fn nearest(&self, home: u32) -> Slot {
        let mut best = ((u32::MAX, u64::MAX), Slot::default());
        for (number, distance) in self.outward(home) {
            if distance > best.0.0 {
                break;
            }
            let Bucket { targets, requests } = &self.buckets[number];
            for (place, (target, request)) in targets.iter().zip(requests).enumerate() {
                best = best.min(((target.cylinder().abs_diff(home), request.id), (number, place)));
            }
        }
        best.1
    }
}

/// The two lowest bounds of the targets added.
///
/// The lowest bits of each are the number of the target in its bucket, so that the search for the minimum has no
/// branches.
struct LowestBounds {
    first: u64,
    second: u64,
    /// The bucket of the first.
    bucket: usize,
}

impl Default for LowestBounds {
    fn default() -> Self {
        LowestBounds { first: u64::MAX, second: u64::MAX, bucket: 0 }
    }
}

impl LowestBounds {
    const NUMBER_BITS: u32 = 16;
    /// Maximum number of targets of a bucket.
    const MAX_TARGETS: usize = 1 << Self::NUMBER_BITS;

    #[inline]
    fn add(&mut self, bounds: &PositioningBounds, bucket: usize, targets: &[Target]) {
        let previous_first = self.first;
        for (place, target) in targets.iter().enumerate() {
            let bound = bounds.bound(target) << Self::NUMBER_BITS | place as u64;
            self.second = self.second.min(self.first.max(bound));
            self.first = self.first.min(bound);
        }
        if self.first != previous_first {
            self.bucket = bucket;
        }
    }

    /// The target with the lowest bound.
    fn first_slot(&self) -> Option<Slot> {
        (self.first < u64::MAX).then_some((self.bucket, self.first as usize % Self::MAX_TARGETS))
    }

    /// The lowest bound.
    fn first(&self) -> u64 {
        self.first >> Self::NUMBER_BITS
    }

    /// A bound of all targets but the first.
    fn second(&self) -> u64 {
        self.second >> Self::NUMBER_BITS
    }
}

impl PositionIndex for DiskIndex {
    fn insert(&mut self, request: QueuedRequest) {
        self.enter(Target::new(&self.drive.place(request.lbn), request.op), request);
        self.len += 1;
        if self.len > self.buckets.len() * MAX_MEAN && self.shift > 0 {
            self.redistribute(self.shift - 1);
        }
    }

    fn remove(&mut self, request: &QueuedRequest) -> bool {
        let number = (self.drive.place(request.lbn).track.cylinder >> self.shift) as usize;
        let place = self.buckets[number].requests.iter().position(|other| other.id == request.id);
        place.map(|place| self.take((number, place))).is_some()
    }

    fn take_best(&mut self, _now: Time, mechanics: &dyn Mechanics) -> Option<QueuedRequest> {
        if self.len == 0 {
            return None;
        }
        let state = DiskState::from(mechanics.state());
        let slot = match self.criterion {
            Criterion::Time => self.soonest(state),
            Criterion::Distance => self.nearest(state.track.cylinder),
        };
        Some(self.take(slot))
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
        let requests = LowestBounds::MAX_TARGETS as u64 + 1;
        let (drive, mut index) = index_of((0..requests).map(|id| (id, 100 + (id * 7 + 5) % requests % 50)));
        let best = index.take_best(Time::ZERO, &drive).unwrap();
        let first = |request: &QueuedRequest| (drive.positioning(request), request.id);
        let others = index.buckets.iter().flat_map(|bucket| &bucket.requests);
        assert!(others.into_iter().all(|request| first(&best) < first(request)));
    }
}
