//! The mechanism of a disk as schedulers see it.

use sledlab_core::Span;

use super::drive::{DiskState, Drive};
use super::geometry::{Located, SectorPlace, Track};
use super::position_index::{Criterion, DiskIndex};
use crate::device::{
    Aim, DeviceState, Extent, Location, Mechanics, MotionPath, PositionIndex, QueuedRequest, RotationalArc,
    Timing,
};
use crate::power::PowerRates;

impl Mechanics for Drive {
    fn capacity_blocks(&self) -> u64 {
        self.geometry().capacity_blocks()
    }

    fn state(&self) -> DeviceState {
        self.scheduler_state()
    }

    fn location(&self, lbn: u64) -> Location {
        let Track { cylinder, head } = self.geometry().place(lbn).track;
        Location { cylinder, row: head, x: cylinder.cast_signed(), y: head.cast_signed() }
    }

    fn extent(&self) -> Extent {
        let geometry = self.geometry();
        Extent {
            cylinders: geometry.cylinders as u32,
            rows: geometry.heads as u32,
            blocks_per_track: geometry.longest_track,
        }
    }

    fn parallel_blocks(&self) -> u32 {
        u32::try_from(self.extent().blocks_per_track).unwrap_or(u32::MAX)
    }

    fn positioning_from(&self, state: DeviceState, request: &QueuedRequest) -> Span {
        self.positioning_time(state.into(), &self.place(request.lbn), request.op)
    }

    fn tie_rank(&self, request: &QueuedRequest) -> u64 {
        u64::from(self.geometry().place(request.lbn).track.cylinder.abs_diff(self.track.cylinder))
    }

    /// Heads are switched during the seek: only cylinders count.
    fn distance_squared(&self, (x, _): (i32, i32), lbn: u64) -> u64 {
        u64::from(self.location(lbn).x.abs_diff(x)).pow(2)
    }

    /// Positioning times depend on the time, because the platters rotate.
    fn is_time_dependent(&self) -> bool {
        true
    }

    fn serve_from(&self, state: DeviceState, request: &QueuedRequest) -> (Timing, DeviceState) {
        let state = DiskState::from(state);
        let start = state.ready_time(request.op);
        let (timing, track) = self.serve_mechanically(start, state.track, request);
        let end = start + timing.service();
        (timing, self.state_at(track, end, request.op, end))
    }

    /// A straight path in cylinder and head.
    fn motion_path(&self, state: DeviceState, request: &QueuedRequest) -> MotionPath {
        let (timing, next_state) = self.serve_from(state, request);
        MotionPath::straight((state.x, state.y), (next_state.x, next_state.y), timing.seek_x + timing.settle)
    }

    fn rotation_arc(&self, request: &QueuedRequest) -> Option<RotationalArc> {
        let Located { place: SectorPlace { slot, sectors, .. }, contiguous_blocks, .. } =
            self.locate(request.lbn);
        let blocks = contiguous_blocks.min(u64::from(request.blocks.max(1)));
        let turns = |slots: u64| slots as f64 / sectors as f64;
        Some(RotationalArc { turn_ns: self.turn_ns(), begin: turns(slot % sectors), length: turns(blocks) })
    }

    fn position_index(&self, aim: &Aim) -> Option<Box<dyn PositionIndex>> {
        let criterion = match aim {
            Aim::Time => Criterion::Time,
            Aim::Distance => Criterion::Distance,
            // Scores depend on waiting times, which give no bounds by place on the disk.
            Aim::Score(_) => return None,
        };
        Some(Box::new(DiskIndex::new(self, criterion)))
    }

    fn snapshot(&self) -> Box<dyn Mechanics> {
        Box::new(self.clone())
    }

    fn power_rates(&self) -> PowerRates {
        self.power().0
    }

    fn idle_mw(&self) -> f64 {
        self.power().1
    }
}
