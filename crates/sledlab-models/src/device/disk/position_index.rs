//! The exact position index of a disk: finds the request with the minimum positioning time, counted from when the arm
//! can start, or the nearest request, without probing all.
//!
//! Requests are kept by cylinder and visited outward from the arm. The seek time over a distance is a lower bound of
//! the positioning time of all requests that far away or farther, so the search ends where the bound exceeds the best
//! time found. As measured seek curves dip, the bound is the minimum seek time over that distance or any larger one.

use std::collections::BTreeMap;

use sledlab_core::{Span, Time};

use super::drive::{DiskState, Drive};
use super::geometry::SectorPlace;
use crate::device::{Mechanics, PositionIndex, QueuedRequest};

/// The quantity that the index minimizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Criterion {
    /// The smallest positioning time, then the smallest distance in cylinders, then the earliest number.
    Time,
    /// The smallest distance in cylinders, then the earliest number.
    Distance,
}

/// Cylinder and number of a request.
type Key = (u32, u64);

/// An index over the requests queued at a disk.
pub(super) struct DiskIndex {
    /// Gives the places of blocks and the times of movements; the position of this copy's own arm is not used.
    drive: Drive,
    criterion: Criterion,
    waiting: BTreeMap<Key, PlacedRequest>,
}

/// A request and where its first block lies.
struct PlacedRequest {
    place: SectorPlace,
    request: QueuedRequest,
}

/// The best request found so far.
struct Best {
    time: Span,
    distance: u32,
    key: Key,
}

impl DiskIndex {
    /// An empty index for drives with the geometry and seek times of `drive`.
    pub fn new(drive: &Drive, criterion: Criterion) -> Self {
        DiskIndex { drive: drive.clone(), criterion, waiting: BTreeMap::new() }
    }

    /// Returns the key of the request with the minimum positioning time for an arm in `state`.
    fn soonest(&self, state: DiskState) -> Option<Key> {
        let home = state.track.cylinder;
        let distance = |key: &Key| key.0.abs_diff(home);
        let mut above = self.waiting.range((home, 0)..).peekable();
        let mut below = self.waiting.range(..(home, 0)).rev().peekable();
        let mut best: Option<Best> = None;
        loop {
            let upwards = match (above.peek(), below.peek()) {
                (Some((up, _)), Some((down, _))) => distance(up) <= distance(down),
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => break,
            };
            let Some((key, waiting)) = (if upwards { above.next() } else { below.next() }) else { break };
            let distance = distance(key);
            if let Some(best) = &best
                && (self.drive.min_movement_time(distance), distance) > (best.time, best.distance)
            {
                break;
            }
            let time = self.drive.positioning_time(state, &waiting.place, waiting.request.op);
            let better = |best: &Best| (time, distance, key.1) < (best.time, best.distance, best.key.1);
            if best.as_ref().is_none_or(better) {
                best = Some(Best { time, distance, key: *key });
            }
        }
        best.map(|best| best.key)
    }

    /// Key of the request nearest to cylinder `home`.
    fn nearest(&self, home: u32) -> Option<Key> {
        let first_from = |cylinder| self.waiting.range((cylinder, 0)..).next().map(|(key, _)| *key);
        let above = first_from(home);
        let below = self.waiting.range(..(home, 0)).next_back().and_then(|(key, _)| first_from(key.0));
        above.into_iter().chain(below).min_by_key(|key| (key.0.abs_diff(home), key.1))
    }
}

impl PositionIndex for DiskIndex {
    fn insert(&mut self, request: QueuedRequest) {
        let place = self.drive.place(request.lbn);
        self.waiting.insert((place.track.cylinder, request.id), PlacedRequest { place, request });
    }

    fn take_best(&mut self, _now: Time, mechanics: &dyn Mechanics) -> Option<QueuedRequest> {
        let state = DiskState::from(mechanics.state());
        let key = match self.criterion {
            Criterion::Time => self.soonest(state),
            Criterion::Distance => self.nearest(state.track.cylinder),
        };
        self.waiting.remove(&key?).map(|waiting| waiting.request)
    }

    /// Adds no requests: one head is active at a time, so requests are never served together.
    fn take_joining(&mut self, _mechanics: &dyn Mechanics, _batch: &mut Vec<QueuedRequest>) {}

    fn len(&self) -> usize {
        self.waiting.len()
    }
}
