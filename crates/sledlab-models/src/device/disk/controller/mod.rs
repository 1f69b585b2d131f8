//! The controller of a drive: commands, buffer, read-ahead, buffered writes, and the bus.
//!
//! The mechanism has one command at a time. What goes on between commands, reading ahead and writing what is buffered,
//! is worked out when the next one comes: the rules say where the arm is then and what it has to finish first. The
//! rules are those that public descriptions of the drives' simulators state; see `docs/device.md`.
//!
//! A command has two parts. It [begins](Controller::begin) when the mechanism turns to it, which tells when it wants
//! the bus, and [goes on](Controller::transfer) when it has the bus. A drive that has the bus to itself and one command
//! in it [does both at once](Controller::serve).

mod reads;
mod room;
mod segments;
mod stream;
mod writes;
mod writing;

use std::sync::Arc;

use sledlab_core::{Error, Op, Result, Span, Time};

use self::segments::Segments;
use self::stream::Stream;
use self::writing::Writing;
use super::drive::{Drive, Pass};
use super::overheads::Overheads;
use super::params::{DiskNumbers, DiskParams, ReadAhead};
use crate::device::{Queued, Timing};

/// The part of a drive that is not mechanism.
#[derive(Clone, Debug)]
pub(super) struct Controller {
    disk: DiskNumbers,
    overheads: Arc<Overheads>,
    segments: Segments,
    /// What the command before was.
    before: Op,
    /// Reading under way, and the segment it fills, if the drive has any.
    stream: Option<(Stream, Option<usize>)>,
    writing: Writing,
    /// When the last sector passed under the head that was read or written, buffered writes left out.
    passed: Time,
}

/// How a command comes to the mechanism.
#[derive(Clone, Copy, Debug)]
pub(super) enum CommandEntry {
    /// It has just come over the bus and keeps it as long as it can: its overhead begins.
    Fresh,
    /// It waited in the drive, off the bus: its overhead is over at that time.
    Waited(Time),
}

/// A command that the mechanism has turned to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    request: Queued,
    /// When the mechanism turned to it.
    start: Time,
    /// When it has something for the bus, or can take something.
    pub wants: Time,
    /// From there, with the bus, to the first sector.
    lead: Span,
    kind: Kind,
}

/// What is left of a command.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// All of it is buffered.
    Hit { overhead: Span },
    /// The beginning is buffered.
    Rest { overhead: Span },
    /// The medium gives all of it.
    Miss { arm: Time, pass: Pass },
    /// A write that is complete when it is buffered.
    Buffered { overhead: Span, arm: Time, appends: bool },
    /// A write that is complete when it is on the medium.
    Through { arm: Time, reselect: Span, constraint: Constraint },
}

/// What a command came to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    pub completion: Time,
    pub timing: Timing,
    /// When its data has crossed the bus.
    pub crossed: Time,
    /// When the arm is done with it.
    pub on_medium: Time,
    /// From there, with the bus once more, to completion, where it is not complete once its data has crossed.
    pub answer: Option<Span>,
}

impl Begun {
    /// Whether a command that has just come needs the bus until its data has crossed.
    pub fn keeps_bus(&self) -> bool {
        match self.kind {
            Kind::Miss { .. } => false,
            // It waits for the write before it.
            Kind::Buffered { overhead, .. } => self.wants <= self.start + overhead,
            Kind::Hit { .. } | Kind::Rest { .. } | Kind::Through { .. } => true,
        }
    }

    /// The same command, which the mechanism turned to as early as `start`: it has waited for the bus since.
    pub fn since(self, start: Time) -> Self {
        let waited = self.start.since(start);
        let kind = match self.kind {
            Kind::Hit { overhead } => Kind::Hit { overhead: overhead + waited },
            Kind::Rest { overhead } => Kind::Rest { overhead: overhead + waited },
            Kind::Buffered { overhead, arm, appends } => {
                Kind::Buffered { overhead: overhead + waited, arm, appends }
            }
            other => other,
        };
        Begun { start, kind, ..self }
    }
}

impl Controller {
    /// A controller with an empty buffer.
    ///
    /// # Errors
    /// What needs a buffer in a disk without one.
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
            before: Op::Read,
            stream: None,
            writing: Writing::new(disk),
            passed: Time::ZERO,
            disk: disk.clone(),
        })
    }

    /// Schedulers are to judge requests as of `now`: by when the arm could set out, reading ahead left out where the
    /// overhead of a command hides its end.
    pub fn tell_time(&self, drive: &mut Drive, now: Time) {
        if self.disk.stale_angle {
            drive.tell_time(self.passed.max(self.writing.until.min(now)), self.before, Time::ZERO);
            return;
        }
        let free = match &self.stream {
            Some((stream, _)) if self.disk.queue_depth > 1 => {
                stream.clone().stop(drive, now, self.disk.stops_within_sector).free
            }
            _ => self.writing.until,
        };
        drive.tell_time(now, self.before, free);
    }

    /// Serves a command that comes at `now`.
    pub fn serve(&mut self, drive: &mut Drive, now: Time, request: &Queued) -> Done {
        let begun = self.begin(drive, now, request, CommandEntry::Fresh);
        let done = self.transfer(drive, &begun, begun.wants);
        self.before = request.op;
        done
    }

    /// The mechanism turns to a command at `now`.
    pub fn begin(&mut self, drive: &mut Drive, now: Time, request: &Queued, entry: CommandEntry) -> Begun {
        self.look(drive, now);
        match request.op {
            Op::Read => self.begin_read(drive, now, request, entry),
            _ if self.disk.buffers_writes => self.begin_buffered_write(drive, now, request, entry),
            _ => self.begin_write_through(drive, now, request, entry),
        }
    }

    /// A command that has begun gets the bus at `granted`, no earlier than it wants it.
    pub fn transfer(&mut self, drive: &mut Drive, begun: &Begun, granted: Time) -> Done {
        let data = granted + begun.lead;
        match begun.kind {
            Kind::Hit { .. } | Kind::Rest { .. } | Kind::Miss { .. } => self.send(drive, begun, data),
            Kind::Buffered { overhead, arm, appends } => {
                self.write_buffered(drive, begun, data, (overhead, arm, appends))
            }
            Kind::Through { arm, reselect, constraint } => {
                self.write_through(drive, begun, data, (arm, reselect, constraint))
            }
        }
    }

    /// How long a command holds the bus before its data.
    pub fn admission(&self, op: Op) -> Span {
        self.overheads.admission(op, self.before)
    }

    /// Whether a write that comes at `now` goes on in what is being written.
    pub fn appends(&mut self, now: Time, request: &Queued) -> bool {
        let end = request.lbn + u64::from(request.blocks);
        self.disk.buffers_writes && self.writing.append(now, request.lbn, end).is_some()
    }

    /// Enters that a command has been completed: overheads depend on it.
    pub fn completed(&mut self, op: Op) {
        self.before = op;
    }

    /// Brings segments up to what has been read at `now`.
    pub fn look(&mut self, drive: &mut Drive, now: Time) {
        if let Some((stream, segment)) = &mut self.stream {
            let end = stream.buffered(drive, now);
            if let Some(segment) = *segment {
                self.segments.extend(segment, end);
            }
            drive.at = stream.at();
            if self.disk.stale_angle {
                self.passed = stream.last_passed(now);
            }
            if stream.is_done(now) {
                self.stream = None;
            }
        }
    }

    fn streaming(&self) -> Option<usize> {
        self.stream.as_ref().and_then(|(_, segment)| *segment)
    }

    /// Stops reading ahead; tells when the arm is free.
    fn halt(&mut self, drive: &mut Drive, now: Time) -> Time {
        let Some((stream, segment)) = &mut self.stream else { return now };
        let stopped = stream.stop(drive, now, self.disk.stops_within_sector);
        if let Some(segment) = *segment {
            self.segments.extend(segment, stopped.end);
        }
        self.stream = None;
        drive.at = stopped.at;
        stopped.free
    }
}

/// What some drives ask of writes.
#[derive(Clone, Copy, Debug, Default)]
struct Constraint {
    /// Sectors that must be buffered before the first is written.
    buffered_first: u64,
    /// Movements take no less.
    least_movement: Span,
}

/// The parts of a request that only the buffer served.
fn from_buffer(now: Time, overhead: Span, completion: Time) -> Timing {
    let overhead = overhead.min(completion.since(now));
    Timing { overhead, transfer: completion.since(now).saturating_sub(overhead), ..Timing::default() }
}

/// The parts of a request for which the arm set out at `arm`.
fn from_medium(now: Time, arm: Time, pass: &Pass, reposition: Span, completion: Time) -> Timing {
    let timing = Timing {
        overhead: arm.since(now),
        seek_x: pass.seek,
        settle: pass.settle,
        rotation: pass.start.since(pass.settled),
        reposition,
        ..Timing::default()
    };
    let before = timing.overhead + timing.positioning();
    Timing { transfer: completion.since(now).saturating_sub(before), ..timing }
}
