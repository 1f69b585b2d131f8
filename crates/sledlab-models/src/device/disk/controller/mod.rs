//! The controller of a drive: commands, buffer, read-ahead, buffered writes, and the bus.
//!
//! The mechanism has one command at a time. Work between commands, that is read-ahead and destaging of buffered writes,
//! is computed when the next command arrives: the rules determine where the arm is by then and which work must finish
//! first. They are the rules in public descriptions of the drives' simulators; see `docs/device.md`.
//!
//! A command has two parts. It [begins](Controller::begin) when the mechanism selects the command, which determines
//! when the command needs the bus. Once the bus is granted, it [transfers its data](Controller::transfer). A drive with
//! its own bus and a queue depth of one [does both at once](Controller::serve).

mod reads;
mod segment_ring;
mod segments;
mod stream;
mod write_behind;
mod writes;

use std::sync::Arc;

use sledlab_core::{Error, Op, Result, Span, Time};

use self::segments::Segments;
use self::stream::{InterruptedSector, Stream};
use self::write_behind::WriteBehind;
use super::drive::{Drive, Positioning};
use super::overheads::Overheads;
use super::params::{DiskNumbers, DiskParams, ReadAhead};
use crate::device::{QueuedRequest, Timing};

/// The electronics of a drive: command handling and buffer, without the mechanism.
#[derive(Clone, Debug)]
pub(super) struct Controller {
    disk: DiskNumbers,
    overheads: Arc<Overheads>,
    segments: Segments,
    /// Operation of the previous command.
    previous_op: Op,
    /// The current stream of reads, and the segment it fills, if the drive has segments.
    stream: Option<(Stream, Option<usize>)>,
    write_behind: WriteBehind,
    interrupted_sector: InterruptedSector,
    /// When the last sector that was read or written passed under the head; buffered writes do not count.
    last_sector_end: Time,
}

/// How a command reaches the mechanism.
#[derive(Clone, Copy, Debug)]
pub(super) enum CommandEntry {
    /// The command has just come over the bus and keeps the bus as long as it can: its overhead begins.
    Fresh,
    /// The command waited in the drive, off the bus: its overhead is over at this time.
    Waited(Time),
}

/// A command that the mechanism has selected.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartedCommand {
    request: QueuedRequest,
    /// When the mechanism selected the command.
    start: Time,
    /// When the command needs the bus: it has data to send, or can accept data.
    pub bus_ready: Time,
    /// From the grant of the bus to the first sector on it.
    lead: Span,
    kind: Kind,
}

/// How a command that has begun will be completed.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A read whose blocks are all buffered.
    Hit { overhead: Span, segment: usize },
    /// A read whose first blocks are buffered, or about to be.
    Remainder { overhead: Span },
    /// A read whose blocks all come from the medium.
    Miss { arm: Time, positioning: Positioning },
    /// A write that is complete when it is buffered.
    Buffered { overhead: Span, arm: Time, appends: bool },
    /// A write that is complete when it is on the medium.
    Through { arm: Time, reselect: Span, constraint: Constraint },
}

/// The completion of a command, and how long its data and the arm took.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommandResult {
    pub completion: Time,
    pub timing: Timing,
    /// When the command's data has crossed the bus.
    pub transfer_end: Time,
    /// When the arm is done with the command.
    pub arm_free: Time,
    /// From there, with the bus once more, to completion; `None` if the command is complete once its data has
    /// crossed.
    pub answer: Option<Span>,
}

impl CommandResult {
    /// From completion until a write is on the medium.
    pub fn write_behind(&self, op: Op) -> Span {
        if op == Op::Write { self.arm_free.since(self.completion) } else { Span::ZERO }
    }
}

impl StartedCommand {
    /// Whether a command that has just come needs the bus until its data has crossed.
    pub fn keeps_bus(&self) -> bool {
        match self.kind {
            Kind::Miss { .. } => false,
            // The command releases the bus if it has to wait for the previous write.
            Kind::Buffered { overhead, .. } => self.bus_ready <= self.start + overhead,
            Kind::Hit { .. } | Kind::Remainder { .. } | Kind::Through { .. } => true,
        }
    }

    /// Returns the command with `start` as the time at which the mechanism selected it: the time since then was a wait
    /// for the bus.
    pub fn with_start(self, start: Time) -> Self {
        let wait = self.start.since(start);
        let kind = match self.kind {
            Kind::Hit { overhead, segment } => Kind::Hit { overhead: overhead + wait, segment },
            Kind::Remainder { overhead } => Kind::Remainder { overhead: overhead + wait },
            Kind::Buffered { overhead, arm, appends } => {
                Kind::Buffered { overhead: overhead + wait, arm, appends }
            }
            other => other,
        };
        StartedCommand { start, kind, ..self }
    }
}

impl Controller {
    /// A controller with an empty buffer.
    ///
    /// # Errors
    /// Buffered writes or read-ahead in a disk without a buffer.
    pub fn new(params: &DiskParams, overheads: Arc<Overheads>) -> Result<Self> {
        let disk = &params.flat;
        let has_buffer = disk.cache_segments > 0 && disk.segment_sectors > 0;
        if !has_buffer && (disk.buffers_writes || disk.read_ahead != ReadAhead::None) {
            return Err(Error::user("a disk without a buffer cannot buffer writes or read ahead").with_remedy(
                "set device.cache_segments and device.segment_sectors, or device.buffers_writes = false and \
                 device.read_ahead = \"none\"",
            ));
        }
        Ok(Controller {
            overheads,
            segments: Segments::new(disk),
            previous_op: Op::Read,
            stream: None,
            write_behind: WriteBehind::new(disk),
            interrupted_sector: InterruptedSector::new(disk),
            last_sector_end: Time::ZERO,
            disk: disk.clone(),
        })
    }

    /// When all buffered writes are on the medium.
    pub fn destage_end(&self) -> Time {
        self.write_behind.until
    }

    /// Makes schedulers judge requests as of `now`, by when the arm could start. Active read-ahead does not
    /// delay the arm where the overhead of a command hides its end.
    pub fn set_time(&self, drive: &mut Drive, now: Time) {
        if self.disk.stale_angle {
            drive.set_time(
                self.last_sector_end.max(self.write_behind.until.min(now)),
                self.previous_op,
                Time::ZERO,
            );
            return;
        }
        let free = match &self.stream {
            Some((stream, _)) if self.disk.queue_depth > 1 => {
                stream.clone().stop(drive, now, self.interrupted_sector).free
            }
            _ => self.write_behind.until,
        };
        drive.set_time(now, self.previous_op, free);
    }

    /// Serves a command that comes at `now`.
    pub fn serve(&mut self, drive: &mut Drive, now: Time, request: &QueuedRequest) -> CommandResult {
        let started = self.begin(drive, now, request, CommandEntry::Fresh);
        let result = self.transfer(drive, &started, started.bus_ready);
        self.previous_op = request.op;
        result
    }

    /// Selects a command for the mechanism at `now`.
    pub fn begin(
        &mut self,
        drive: &mut Drive,
        now: Time,
        request: &QueuedRequest,
        entry: CommandEntry,
    ) -> StartedCommand {
        self.enter_buffered_blocks(drive, now);
        match request.op {
            Op::Read => self.begin_read(drive, now, request, entry),
            _ if self.disk.buffers_writes => self.begin_buffered_write(drive, now, request, entry),
            _ => self.begin_write_through(drive, now, request, entry),
        }
    }

    /// Transfers the data of a command that has begun and gets the bus at `grant_time`, not before it needs the bus.
    pub fn transfer(
        &mut self,
        drive: &mut Drive,
        started: &StartedCommand,
        grant_time: Time,
    ) -> CommandResult {
        let data_start = grant_time + started.lead;
        match started.kind {
            Kind::Hit { .. } | Kind::Remainder { .. } | Kind::Miss { .. } => {
                self.send(drive, started, data_start)
            }
            Kind::Buffered { overhead, arm, appends } => {
                self.complete_buffered_write(drive, started, data_start, (overhead, arm, appends))
            }
            Kind::Through { arm, reselect, constraint } => {
                self.write_through(drive, started, data_start, (arm, reselect, constraint))
            }
        }
    }

    /// Whether writes are complete when they are in the buffer.
    pub fn buffers_writes(&self) -> bool {
        self.disk.buffers_writes
    }

    /// How long a command holds the bus before its data crosses.
    pub fn admission(&self, op: Op) -> Span {
        self.overheads.admission(op, self.previous_op)
    }

    /// Returns whether a write that arrives at `now` is appended to the buffered writes in transfer to the medium.
    pub fn appends(&mut self, now: Time, request: &QueuedRequest) -> bool {
        let end = request.lbn + u64::from(request.blocks);
        self.disk.buffers_writes && self.write_behind.append(now, request.lbn, end).is_some()
    }

    /// Records the operation of a completed command, as the overheads of the next one depend on it.
    pub fn record_operation(&mut self, op: Op) {
        self.previous_op = op;
    }

    /// Enters into the segments the blocks that the stream has read by `now`.
    pub fn enter_buffered_blocks(&mut self, drive: &mut Drive, now: Time) {
        if let Some((stream, segment)) = &mut self.stream {
            let end = stream.buffered_end(drive, now);
            if let Some(segment) = *segment {
                self.segments.extend(segment, end);
            }
            drive.track = stream.track();
            if self.disk.stale_angle {
                self.last_sector_end = stream.last_sector_time(now);
            }
            if stream.is_done(now) {
                self.stream = None;
            }
        }
    }

    fn stream_segment(&self) -> Option<usize> {
        self.stream.as_ref().and_then(|(_, segment)| *segment)
    }

    /// Stops reading ahead; returns when the arm is free.
    fn halt(&mut self, drive: &mut Drive, now: Time) -> Time {
        let Some((stream, segment)) = &mut self.stream else { return now };
        let stop = stream.stop(drive, now, self.interrupted_sector);
        if let Some(segment) = *segment {
            self.segments.extend(segment, stop.end);
        }
        self.stream = None;
        drive.track = stop.track;
        stop.free
    }

    /// Stops reading ahead at `now` for a command whose overhead ends at `ready`; returns when the arm can start.
    fn halt_and_prepare(&mut self, drive: &mut Drive, now: Time, ready: Time) -> Time {
        let free = self.halt(drive, now);
        match self.interrupted_sector {
            // As in DiskSim 4.0: such a drive handles the command once read-ahead has stopped.
            InterruptedSector::Discarded if free > now => free + ready.since(now),
            _ => free.max(ready),
        }
    }
}

/// Constraints of some drives on write-through.
#[derive(Clone, Copy, Debug, Default)]
struct Constraint {
    /// Sectors that must have crossed the bus before the first is written.
    buffered_first: u64,
    /// Minimum time of a movement of the arm.
    min_movement: Span,
}

/// The parts of the service time of a request that only the buffer served.
fn from_buffer(now: Time, overhead: Span, completion: Time) -> Timing {
    let overhead = overhead.min(completion.since(now));
    Timing { overhead, transfer: completion.since(now).saturating_sub(overhead), ..Timing::default() }
}

/// The parts of the service time of a request for which the arm started at `arm`.
fn from_medium(
    now: Time,
    arm: Time,
    positioning: &Positioning,
    reposition: Span,
    completion: Time,
) -> Timing {
    let timing = Timing {
        overhead: arm.since(now),
        seek_x: positioning.seek,
        settle: positioning.settle,
        rotation: positioning.rotation,
        reposition,
        ..Timing::default()
    };
    let before_transfer = timing.overhead + timing.positioning();
    Timing { transfer: completion.since(now).saturating_sub(before_transfer), ..timing }
}
