//! The exact position index of a disk: finds the request with the minimum positioning time, counted from when the arm
//! can start, or the nearest request, without probing all.
//!
//! Requests are kept by cylinder and visited outward from the arm. The seek time over a distance is a lower bound of
//! the positioning time of all requests that far away or farther, so the search ends where the bound exceeds the best
//! time found. As measured seek curves dip, the bound is the minimum seek time over that distance or any larger one. Of a
//! request that is visited, the movement and the angle of its sector give a closer bound, and the exact time, which takes
//! longest to compute, is needed only if that bound is not above the best time.

use slab::Slab;
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

/// An index over the requests queued at a disk.
pub(super) struct DiskIndex {
    /// Gives the places of blocks and the times of movements; the position of this copy's own arm is not used.
    drive: Drive,
    criterion: Criterion,
    /// Requests by cylinder: the cylinder, and the key of the request in `waiting`.
    order: Vec<(u32, u32)>,
    waiting: Slab<PlacedRequest>,
}

/// A request and where its first block lies.
struct PlacedRequest {
    place: SectorPlace,
    /// Angle of the first block, in turns.
    angle: f64,
    request: QueuedRequest,
}

/// The best request found so far.
struct Best {
    time: Span,
    distance: u32,
    id: u64,
    /// Its number in `order`.
    at: usize,
}

impl DiskIndex {
    /// An empty index for drives with the geometry and seek times of `drive`.
    pub fn new(drive: &Drive, criterion: Criterion) -> Self {
        DiskIndex { drive: drive.clone(), criterion, order: Vec::new(), waiting: Slab::new() }
    }

    /// Number in `order` of the first request at `cylinder` or above.
    fn first_from(&self, cylinder: u32) -> usize {
        self.order.partition_point(|(other, _)| *other < cylinder)
    }

    /// Returns the number in `order` of the request with the minimum positioning time for an arm in `state`.
    fn soonest(&self, state: DiskState) -> Option<usize> {
        let home = state.track.cylinder;
        let rotation = self.drive.rotation(state);
        let mut above = self.first_from(home);
        let mut below = above;
        let mut best: Option<Best> = None;
        loop {
            let distance = |(cylinder, _): &(u32, u32)| cylinder.abs_diff(home);
            let up = self.order.get(above).map(distance);
            let down = below.checked_sub(1).map(|at| distance(&self.order[at]));
            let (at, distance) = match (up, down) {
                (Some(up), None) => (above, up),
                (Some(up), Some(down)) if up <= down => (above, up),
                (_, Some(down)) => (below - 1, down),
                (None, None) => break,
            };
            if at == above {
                above += 1;
            } else {
                below -= 1;
            }
            let PlacedRequest { place, angle, request } = &self.waiting[self.order[at].1 as usize];
            if let Some(best) = &best {
                if (self.drive.min_movement_time(distance), distance) > (best.time, best.distance) {
                    break;
                }
                let bound = self.drive.positioning_bound(state, &rotation, (place, *angle), request.op);
                if bound > best.time {
                    continue;
                }
            }
            let time = self.drive.positioning_time(state, place, request.op);
            let better = |best: &Best| (time, distance, request.id) < (best.time, best.distance, best.id);
            if best.as_ref().is_none_or(better) {
                best = Some(Best { time, distance, id: request.id, at });
            }
        }
        best.map(|best| best.at)
    }

    /// Number in `order` of the request nearest to cylinder `home`.
    fn nearest(&self, home: u32) -> Option<usize> {
        let above = self.first_from(home);
        let below = above.checked_sub(1).map(|at| self.first_from(self.order[at].0));
        let of_cylinder = |first: usize| {
            let cylinder = self.order.get(first)?.0;
            let end = first + self.order[first..].partition_point(|(other, _)| *other == cylinder);
            let id = |at: &usize| self.waiting[self.order[*at].1 as usize].request.id;
            let earliest = (first..end).min_by_key(id)?;
            Some((cylinder.abs_diff(home), id(&earliest), earliest))
        };
        [Some(above), below].into_iter().flatten().filter_map(of_cylinder).min().map(|(.., at)| at)
    }
}

impl PositionIndex for DiskIndex {
    fn insert(&mut self, request: QueuedRequest) {
        let place = self.drive.place(request.lbn);
        let angle = place.slot as f64 / place.sectors as f64;
        let number = self.waiting.insert(PlacedRequest { place, angle, request }) as u32;
        let cylinder = place.track.cylinder;
        let at = self.order.partition_point(|(other, _)| *other <= cylinder);
        self.order.insert(at, (cylinder, number));
    }

    fn take_best(&mut self, _now: Time, mechanics: &dyn Mechanics) -> Option<QueuedRequest> {
        let state = DiskState::from(mechanics.state());
        let at = match self.criterion {
            Criterion::Time => self.soonest(state),
            Criterion::Distance => self.nearest(state.track.cylinder),
        };
        let (_, number) = self.order.remove(at?);
        Some(self.waiting.remove(number as usize).request)
    }

    /// Adds no requests: one head is active at a time, so requests are never served together.
    fn take_joining(&mut self, _mechanics: &dyn Mechanics, _batch: &mut Vec<QueuedRequest>) {}

    fn len(&self) -> usize {
        self.order.len()
    }
}
