//! The mechanism of a disk: platters, arm and heads, and what they consume.

use std::sync::Arc;

use sledlab_core::{Op, Result, Span, Time};

use super::geometry::{DiskState, Geometry, Place};
use super::params::{DiskParams, RestState};
use super::seek::SeekCurve;
use super::spindle::Spindle;
use crate::device::{Aim, DeviceState, Extent, Location, Mechanics, PositionIndex, Queued, Timing, Work};
use crate::power::PowerRates;

/// What a disk is built of.
#[derive(Debug)]
struct Parts {
    geometry: Geometry,
    curve: SeekCurve,
    spindle: Spindle,
    head_switch: Span,
    write_settle: Span,
    /// How much shorter a movement is before a write, where settling is negative.
    write_haste: Span,
    rates: PowerRates,
    idle_mw: f64,
}

/// A disk and where its arm is.
#[derive(Clone, Debug)]
pub(super) struct Drive {
    parts: Arc<Parts>,
    pub at: DiskState,
}

impl Drive {
    /// A disk with its arm over the first track.
    pub fn new(params: &DiskParams) -> Result<Self> {
        let numbers = &params.flat;
        let (inactive_mw, startup_ms) = match numbers.rest_state {
            RestState::Sleep => (numbers.sleep_mw, numbers.startup_ms),
            RestState::Off => (0.0, numbers.off_startup_ms),
        };
        let rates = PowerRates {
            active_mw: numbers.active_mw,
            tip_mw: 0.0,
            startup_mw: numbers.startup_mw,
            inactive_mw,
            startup: Span::from_ms(startup_ms),
        };
        let parts = Parts {
            geometry: Geometry::new(params)?,
            curve: SeekCurve::new(params)?,
            spindle: Spindle::new(params),
            head_switch: Span::from_ms(numbers.head_switch_ms),
            write_settle: Span::from_ms(numbers.write_settle_ms.max(0.0)),
            write_haste: Span::from_ms((-numbers.write_settle_ms).max(0.0)),
            rates,
            idle_mw: numbers.idle_mw,
        };
        Ok(Drive { parts: Arc::new(parts), at: DiskState::default() })
    }

    /// Seek and settling from one track to another. Heads are switched while the arm moves; what takes no time
    /// needs no settling.
    fn moves(&self, from: DiskState, to: DiskState, op: Op) -> (Span, Span) {
        let Parts { curve, head_switch, write_settle, write_haste, .. } = &*self.parts;
        if from == to {
            return (Span::ZERO, Span::ZERO);
        }
        let seek = curve.time(from.cylinder.abs_diff(to.cylinder));
        let switch = if from.head == to.head { Span::ZERO } else { *head_switch };
        match (seek.max(switch), op) {
            (movement, Op::Write) if movement > Span::ZERO => {
                (movement.saturating_sub(*write_haste), *write_settle)
            }
            (movement, _) => (movement, Span::ZERO),
        }
    }

    /// What serving `request` takes when the mechanism sets out `from` a track at `now`: its timing without
    /// overhead, its work, and where the arm is then.
    pub fn serve_at(&self, now: Time, from: DiskState, request: &Queued) -> (Timing, Work, DiskState) {
        let Parts { geometry, spindle, .. } = &*self.parts;
        let (mut timing, mut work) = (Timing::default(), Work::default());
        let (mut now, mut at, mut done) = (now, from, 0);
        let blocks = u64::from(request.blocks);
        while done < blocks {
            let lbn = request.lbn + done;
            let Place { track, sector, slot, sectors } = geometry.place(lbn);
            let count = (blocks - done).min(geometry.run(lbn));
            // Slipped sectors between them pass as well.
            let passing = geometry.place(lbn + count - 1).sector - sector + 1;
            let (seek, settle) = self.moves(at, track, request.op);
            let access = spindle.access(now + seek + settle, slot, passing, sectors);
            let reach = seek + settle + access.wait;
            if done == 0 {
                timing = Timing { seek_x: seek, settle, rotation: access.wait, ..timing };
            } else {
                timing.reposition += reach;
                timing.transfer += reach;
            }
            timing.transfer += access.transfer;
            work.seek += reach;
            work.access += access.transfer;
            now += reach + access.transfer;
            at = track;
            done += count;
        }
        (timing, work, at)
    }

    /// The same when nobody knows the angle: the first sector is half a turn away when the head is on its track.
    pub fn serve_from_any_angle(&self, from: DiskState, request: &Queued) -> (Timing, DiskState) {
        let Place { track, slot, sectors, .. } = self.parts.geometry.place(request.lbn);
        let (seek, settle) = self.moves(from, track, request.op);
        let ready = self.parts.spindle.half_turn_before(slot, sectors);
        let set_out = Time::from_ns(ready.since(Time::ZERO).saturating_sub(seek + settle).as_ns());
        let (timing, _, then) = self.serve_at(set_out, from, request);
        (timing, then)
    }
}

/// Schedulers are not told the time, so they see half a turn of rotational latency in every request.
impl Mechanics for Drive {
    fn capacity_blocks(&self) -> u64 {
        self.parts.geometry.capacity_blocks()
    }

    fn state(&self) -> DeviceState {
        DeviceState::Disk(self.at)
    }

    fn location(&self, lbn: u64) -> Location {
        let DiskState { cylinder, head } = self.parts.geometry.place(lbn).track;
        Location { cylinder, row: head, x_bit: cylinder as i32, up_bit: 0, down_bit: 0 }
    }

    fn extent(&self) -> Extent {
        let geometry = &self.parts.geometry;
        Extent {
            cylinders: geometry.cylinders as u32,
            rows: geometry.heads as u32,
            blocks_per_track: geometry.longest_track,
        }
    }

    fn positioning_from(&self, state: DeviceState, request: &Queued) -> Span {
        let track = self.parts.geometry.place(request.lbn).track;
        let (seek, settle) = self.moves(state.disk(), track, request.op);
        seek + settle + self.parts.spindle.half_turn()
    }

    fn distance(&self, request: &Queued) -> u64 {
        u64::from(self.parts.geometry.place(request.lbn).track.cylinder.abs_diff(self.at.cylinder))
    }

    fn serve_from(&self, state: DeviceState, request: &Queued) -> (Timing, DeviceState) {
        let (timing, then) = self.serve_from_any_angle(state.disk(), request);
        (timing, DeviceState::Disk(then))
    }

    fn position_index(&self, _aim: &Aim) -> Option<Box<dyn PositionIndex>> {
        None
    }

    fn snapshot(&self) -> Box<dyn Mechanics> {
        Box::new(self.clone())
    }

    fn power_rates(&self) -> PowerRates {
        self.parts.rates
    }

    fn idle_mw(&self) -> f64 {
        self.parts.idle_mw
    }
}
