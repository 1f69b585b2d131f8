//! The mechanism of a disk: platters, arm and heads, and the power they draw.

use std::sync::Arc;

use sledlab_core::{Op, Result, Span, Time};

use super::geometry::{Geometry, Located, SectorPlace, Track};
use super::overheads::Overheads;
use super::params::{DiskParams, IdleState};
use super::seek::SeekCurve;
use super::spindle::Spindle;
use crate::device::{DeviceState, QueuedRequest, Timing};
use crate::power::PowerRates;

/// Position of a disk's arm, and when the arm can start to move: the angle of the platters follows from the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskState {
    /// The track.
    pub track: Track,
    /// When the arm can start for a read.
    pub earliest_read: Time,
    /// When the arm can start for a write.
    pub earliest_write: Time,
}

impl DiskState {
    /// An arm that can start at `time`, for reads and writes alike.
    pub fn ready(track: Track, time: Time) -> Self {
        DiskState { track, earliest_read: time, earliest_write: time }
    }

    pub(super) fn ready_time(&self, op: Op) -> Time {
        match op {
            Op::Write => self.earliest_write,
            _ => self.earliest_read,
        }
    }
}

impl From<DiskState> for DeviceState {
    fn from(DiskState { track, earliest_read, earliest_write }: DiskState) -> Self {
        let (x, y) = (track.cylinder.cast_signed(), track.head.cast_signed());
        DeviceState { x, y, earliest_read, earliest_write, ..DeviceState::ORIGIN }
    }
}

impl From<DeviceState> for DiskState {
    fn from(DeviceState { x, y, earliest_read, earliest_write, .. }: DeviceState) -> Self {
        let track = Track { cylinder: x.cast_unsigned(), head: y.cast_unsigned() };
        DiskState { track, earliest_read, earliest_write }
    }
}

/// The unchanging parts of a disk.
#[derive(Debug)]
struct Parts {
    geometry: Geometry,
    curve: SeekCurve,
    /// By distance in cylinders: the minimum seek time over that distance or more, as measured curves are not
    /// monotonic.
    min_seek: Box<[Span]>,
    spindle: Spindle,
    head_switch: Span,
    write_settle: Span,
    /// By how much a movement before a write is shorter where the write settling time is negative.
    write_haste: Span,
    overheads: Arc<Overheads>,
    rates: PowerRates,
    idle_mw: f64,
}

/// A disk and where its arm is.
#[derive(Clone, Debug)]
pub(super) struct Drive {
    parts: Arc<Parts>,
    pub track: Track,
    /// State by which schedulers judge requests: the time, the operation of the previous command, and when the arm is
    /// done with buffered blocks.
    scheduler_view: (Time, Op, Time),
    /// Whether schedulers ignore command overheads: because the overheads are over when a command's turn comes, or
    /// because `stale_angle` is set: DiskSim's schedulers ignore overheads.
    ignores_overheads: bool,
}

impl Drive {
    /// A disk with its arm over the first track.
    pub fn new(params: &DiskParams) -> Result<Self> {
        let numbers = &params.flat;
        let (inactive_mw, startup_ms) = match numbers.idle_state {
            IdleState::Sleep => (numbers.sleep_mw, numbers.startup_ms),
            IdleState::Off => (0.0, numbers.off_startup_ms),
        };
        let rates = PowerRates {
            active_mw: numbers.active_mw,
            startup_mw: numbers.startup_mw,
            inactive_mw,
            startup: Span::from_ms(startup_ms),
            ..PowerRates::default()
        };
        let curve = SeekCurve::new(params)?;
        let parts = Parts {
            geometry: Geometry::new(params)?,
            min_seek: min_seek_times(&curve, params.cylinders()),
            curve,
            spindle: Spindle::new(params),
            head_switch: Span::from_ms(numbers.head_switch_ms),
            write_settle: Span::from_ms(numbers.write_settle_ms.max(0.0)),
            write_haste: Span::from_ms((-numbers.write_settle_ms).max(0.0)),
            overheads: Arc::new(Overheads::new(numbers)),
            rates,
            idle_mw: numbers.idle_mw,
        };
        Ok(Drive {
            parts: Arc::new(parts),
            track: Track::default(),
            scheduler_view: (Time::ZERO, Op::Read, Time::ZERO),
            ignores_overheads: numbers.queue_depth > 1 || numbers.stale_angle,
        })
    }

    /// Overheads of commands and of the bus.
    pub fn overheads(&self) -> Arc<Overheads> {
        self.parts.overheads.clone()
    }

    /// Makes schedulers judge requests as of `now`, after a command of operation `previous_op`, with the arm busy
    /// writing buffered blocks until `busy_until`.
    pub fn set_time(&mut self, now: Time, previous_op: Op, busy_until: Time) {
        self.scheduler_view = (now, previous_op, busy_until);
    }

    /// The state of an arm over `track` at `now`, after a command of operation `previous_op`; the arm is free at
    /// `arm_free`.
    pub fn state_at(&self, track: Track, now: Time, previous_op: Op, arm_free: Time) -> DeviceState {
        if self.ignores_overheads {
            return DiskState::ready(track, now.max(arm_free)).into();
        }
        let earliest = |op| (now + self.parts.overheads.arm_overhead(op, previous_op)).max(arm_free);
        DiskState { track, earliest_read: earliest(Op::Read), earliest_write: earliest(Op::Write) }.into()
    }

    /// Seek and settling from one track to another. Heads are switched while the arm moves; a movement that takes no
    /// time needs no settling.
    #[inline]
    pub fn seek_and_settling(&self, from: Track, to: Track, op: Op) -> (Span, Span) {
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

    /// Lower bound of the time of any movement over `cylinders` cylinders or more.
    pub fn min_movement_time(&self, cylinders: u32) -> Span {
        self.parts.min_seek[cylinders as usize].saturating_sub(self.parts.write_haste)
    }

    /// Returns the location of block `lbn`.
    pub fn place(&self, lbn: u64) -> SectorPlace {
        self.parts.geometry.place(lbn)
    }

    /// Positioning time from a state: until the sector at `place` comes under the head.
    pub fn positioning_time(&self, state: DiskState, place: &SectorPlace, op: Op) -> Span {
        let (seek, settle) = self.seek_and_settling(state.track, place.track, op);
        let time = state.ready_time(op);
        let settle_end = time + seek + settle;
        let wait_ns = self.parts.spindle.wait_ns(settle_end, place.slot, place.sectors);
        offset_time(settle_end, wait_ns).since(time)
    }

    /// Angles of the platters when the arm in a state can start for a read and for a write.
    pub fn start_angles(&self, state: DiskState) -> [u32; 2] {
        [state.earliest_read, state.earliest_write].map(|time| self.parts.spindle.angle(time))
    }

    /// The state by which schedulers judge requests.
    pub fn scheduler_state(&self) -> DeviceState {
        let (now, previous_op, free) = self.scheduler_view;
        self.state_at(self.track, now, previous_op, free)
    }

    pub fn geometry(&self) -> &Geometry {
        &self.parts.geometry
    }

    /// Power of the states, and power of an idle drive in mW.
    pub fn power(&self) -> (PowerRates, f64) {
        (self.parts.rates, self.parts.idle_mw)
    }

    /// Time of a revolution.
    pub fn turn_ns(&self) -> f64 {
        self.parts.spindle.turn_ns()
    }

    /// Returns the location of block `lbn` and the blocks next to it.
    pub fn locate(&self, lbn: u64) -> Located {
        self.parts.geometry.locate(lbn)
    }

    /// Returns the movement from one track to that of block `lbn`, and the access of up to `max_blocks` consecutive
    /// blocks from `lbn` on that track, if the arm starts at `now`.
    pub fn pass(&self, now: Time, from: Track, lbn: u64, max_blocks: u64, op: Op) -> Pass {
        self.pass_to((lbn, &self.locate(lbn)), now, from, max_blocks, op)
    }

    /// Returns the [pass](Self::pass) from a block whose location is known.
    #[inline]
    pub fn pass_to(&self, block: (u64, &Located), now: Time, from: Track, max_blocks: u64, op: Op) -> Pass {
        let movement = self.seek_and_settling(from, block.1.place.track, op);
        self.pass_after(movement, block, now, max_blocks)
    }

    /// Returns the [pass](Self::pass) of a write whose movement takes at least `min_movement`.
    pub fn slow_pass(&self, now: Time, from: Track, lbn: u64, max_blocks: u64, min_movement: Span) -> Pass {
        let location = self.locate(lbn);
        let (seek, settle) = self.seek_and_settling(from, location.place.track, Op::Write);
        let seek =
            if seek + settle > Span::ZERO { seek.max(min_movement.saturating_sub(settle)) } else { seek };
        self.pass_after((seek, settle), (lbn, &location), now, max_blocks)
    }

    #[inline]
    fn pass_after(
        &self,
        (seek, settle): (Span, Span),
        (lbn, located): (u64, &Located),
        now: Time,
        max_blocks: u64,
    ) -> Pass {
        let spindle = &self.parts.spindle;
        let SectorPlace { track, slot, sectors, .. } = located.place;
        let settle_end = now + seek + settle;
        let wait_ns = spindle.wait_ns(settle_end, slot, sectors);
        Pass {
            lbn,
            blocks: located.contiguous_blocks.min(max_blocks),
            track,
            seek,
            settle,
            settle_end,
            start: offset_time(settle_end, wait_ns),
            wait_ns,
            sector_ns: spindle.sector_ns(sectors),
        }
    }

    /// Splits `pass` where the head lands among its sectors: the pass over the sectors that have passed, to be read a
    /// turn later, and the pass over the sectors still to come, which is first in time. `None` if the head lands
    /// elsewhere.
    pub fn split_at_head(&self, pass: &Pass) -> Option<(Pass, Pass)> {
        let turn_ns = self.turn_ns();
        let since_first_ns = turn_ns - pass.wait_ns;
        let sectors = since_first_ns / pass.sector_ns;
        // As `ceil`, which is a call on some processors.
        let passed_sectors = (sectors as i64 + i64::from(sectors > sectors as i64 as f64)).cast_unsigned();
        // In a transfer faster than the rotation of the platters, no angle of a sector is known at which to split.
        if passed_sectors == 0 || passed_sectors >= pass.blocks || self.parts.spindle.is_sped_up() {
            return None;
        }
        let beginning = Pass { blocks: passed_sectors, ..*pass };
        let wait_ns = pass.wait_ns - turn_ns + passed_sectors as f64 * pass.sector_ns;
        let (lbn, blocks) = (pass.lbn + passed_sectors, pass.blocks - passed_sectors);
        Some((
            beginning,
            Pass { lbn, blocks, wait_ns, start: offset_time(pass.settle_end, wait_ns), ..*pass },
        ))
    }

    /// Serves `request` by the mechanism alone, without buffer and bus, setting out `from` a track at `now`: its
    /// timing, and the track where the arm ends.
    pub fn serve_mechanically(&self, now: Time, from: Track, request: &QueuedRequest) -> (Timing, Track) {
        let end = request.lbn + u64::from(request.blocks);
        let first = self.pass(now, from, request.lbn, end - request.lbn, request.op);
        let mut timing = Timing {
            seek_x: first.seek,
            settle: first.settle,
            rotation: first.start.since(first.settle_end),
            transfer: first.end().since(first.start),
            ..Timing::default()
        };
        let mut last = first;
        while last.end_block() < end {
            let (track, ready, lbn) = (last.track, last.end(), last.end_block());
            last = self.pass(ready, track, lbn, end - lbn, request.op);
            timing.reposition += last.start.since(ready);
            timing.transfer += last.end().since(ready);
        }
        (timing, last.track)
    }

    /// Number of blocks of the disk.
    pub fn blocks(&self) -> u64 {
        self.parts.geometry.capacity_blocks()
    }

    /// First and last block of the track of `lbn`.
    pub fn track_bounds(&self, lbn: u64) -> (u64, u64) {
        self.parts.geometry.track_bounds(lbn)
    }

    /// The block after the last of the cylinder of `lbn`.
    pub fn cylinder_end(&self, lbn: u64) -> u64 {
        let cylinder = self.parts.geometry.cylinder(lbn);
        let mut end = self.track_bounds(lbn).1 + 1;
        while end < self.blocks() && self.parts.geometry.cylinder(end) == cylinder {
            end = self.track_bounds(end).1 + 1;
        }
        end
    }
}

/// A movement to a track and the access of consecutive sectors on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass {
    /// First block.
    pub lbn: u64,
    blocks: u64,
    pub track: Track,
    pub seek: Span,
    pub settle: Span,
    /// When the arm is on the track and has settled.
    pub settle_end: Time,
    /// When the first sector comes under the head.
    pub start: Time,
    /// From `settle_end` to `start`, and the time of a sector: not rounded, so that rounding errors do not add up.
    wait_ns: f64,
    sector_ns: f64,
}

/// Returns, for every distance in cylinders, the minimum seek time over that distance or more.
fn min_seek_times(curve: &SeekCurve, cylinders: u64) -> Box<[Span]> {
    let mut times: Box<[Span]> = (0..cylinders as u32).map(|distance| curve.time(distance)).collect();
    for distance in (1..times.len()).rev() {
        times[distance - 1] = times[distance - 1].min(times[distance]);
    }
    times
}

/// Returns the time `ns` nanoseconds after `time`, rounded to an integer; negative `ns` count as zero.
#[inline]
fn offset_time(time: Time, ns: f64) -> Time {
    // As `round`, which is a call on some processors.
    let floor_ns = ns as i64;
    let rounded_ns = floor_ns + i64::from(ns - floor_ns as f64 >= 0.5);
    time + Span::from_ns(rounded_ns.max(0).cast_unsigned())
}

/// How the arm gets to the first sector of a pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Positioning {
    pub seek: Span,
    pub settle: Span,
    /// From the end of settling until the first sector is under the head.
    pub rotation: Span,
}

impl Pass {
    /// How the arm gets to the first sector.
    pub fn positioning(&self) -> Positioning {
        Positioning { seek: self.seek, settle: self.settle, rotation: self.start.since(self.settle_end) }
    }

    /// The block after the last.
    pub fn end_block(&self) -> u64 {
        self.lbn + self.blocks
    }

    /// The part of the pass with the blocks before `end`; `None` if it has no such blocks.
    pub fn prefix(&self, end: u64) -> Option<Pass> {
        let blocks = end.saturating_sub(self.lbn).min(self.blocks);
        (blocks > 0).then_some(Pass { blocks, ..*self })
    }

    /// When the last sector has passed.
    pub fn end(&self) -> Time {
        self.sector_start(self.end_block())
    }

    /// When the sector of block `lbn` comes under the head.
    pub fn sector_start(&self, lbn: u64) -> Time {
        offset_time(self.settle_end, self.wait_ns + (lbn - self.lbn) as i64 as f64 * self.sector_ns)
    }

    /// When the sector of block `lbn` has passed.
    pub fn sector_end(&self, lbn: u64) -> Time {
        self.sector_start(lbn + 1)
    }

    /// The block after the last that has begun to pass under the head by `now`.
    pub fn started_end(&self, now: Time) -> u64 {
        (self.passed_end(now) + u64::from(self.start <= now)).min(self.end_block())
    }

    /// The first block that passes under the head between its arrival on the track and this pass's first block; the
    /// track begins with block `track_first`.
    pub fn first_passed_block(&self, track_first: u64) -> u64 {
        let passed_sectors = (self.wait_ns.max(0.0) / self.sector_ns) as u64;
        self.lbn.saturating_sub(passed_sectors).max(track_first)
    }

    /// The block after the last that has passed entirely by `now`.
    pub fn passed_end(&self, now: Time) -> u64 {
        // Half a nanosecond of grace for rounding.
        let passed_ns = now.since(self.settle_end).as_ns() as f64 - self.wait_ns + 0.5;
        let sectors = (passed_ns / self.sector_ns) as i64;
        self.lbn + sectors.max(0).cast_unsigned().min(self.blocks)
    }
}
