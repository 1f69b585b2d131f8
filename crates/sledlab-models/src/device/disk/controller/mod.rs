//! The controller of a drive: commands, buffer, read-ahead, buffered writes, and the bus.
//!
//! One command at a time. What goes on between commands, reading ahead and writing what is buffered, is worked out
//! when the next one comes: the rules say where the arm is then and what it has to finish first. The rules are those
//! that public descriptions of the drives' simulators state; see `docs/device.md`.

mod segments;
mod stream;
mod writing;

use std::sync::Arc;

use sledlab_core::{Error, Op, Result, Span, Time};

use self::segments::Segments;
use self::stream::Stream;
use self::writing::Writing;
use super::drive::{Drive, Pass};
use super::overheads::{Command, Overheads};
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
}

/// What a command came to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    pub completion: Time,
    pub timing: Timing,
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
            disk: disk.clone(),
        })
    }

    /// Schedulers are to judge requests as of `now`: by when the arm could set out, reading ahead left out.
    pub fn tell_time(&self, drive: &mut Drive, now: Time) {
        drive.tell_time(now, self.before, self.writing.until);
    }

    /// Serves a command that comes at `now`.
    pub fn serve(&mut self, drive: &mut Drive, now: Time, request: &Queued) -> Done {
        self.look(drive, now);
        let done = match request.op {
            Op::Read => self.read(drive, now, request),
            _ if self.disk.buffers_writes => self.write_buffered(drive, now, request),
            _ => self.write_through(drive, now, request),
        };
        self.before = request.op;
        done
    }

    /// Brings segments up to what has been read at `now`.
    pub fn look(&mut self, drive: &mut Drive, now: Time) {
        if let Some((stream, segment)) = &mut self.stream {
            let end = stream.buffered(drive, now);
            if let Some(segment) = *segment {
                self.segments.extend(segment, end);
            }
            drive.at = stream.at();
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
        let Some((mut stream, segment)) = self.stream.take() else { return now };
        let stopped = stream.stop(drive, now, self.disk.stops_within_sector);
        if let Some(segment) = segment {
            self.segments.extend(segment, stopped.end);
        }
        drive.at = stopped.at;
        stopped.free
    }

    fn read(&mut self, drive: &mut Drive, now: Time, request: &Queued) -> Done {
        let (lbn, end) = (request.lbn, request.lbn + u64::from(request.blocks));
        let done = match self.segments.find(lbn, end) {
            Some(segment) if self.segments.get(segment).end >= end => {
                self.read_hit(drive, now, segment, request)
            }
            Some(segment) => self.read_rest(drive, now, segment, request),
            None => self.read_miss(drive, now, request),
        };
        if self.disk.drops_requested
            && let Some(segment) = self.streaming()
        {
            self.segments.drop_before(segment, end);
        }
        done
    }

    /// All of it is buffered.
    fn read_hit(&mut self, drive: &mut Drive, now: Time, segment: usize, request: &Queued) -> Done {
        let overhead = self.overheads.of(Command::ReadHit, self.before);
        let end = request.lbn + u64::from(request.blocks);
        let held = self.segments.get(segment);
        let limit = self.read_ahead_limit(drive, held.first, end);
        match &mut self.stream {
            Some((stream, Some(streaming))) if *streaming == segment => {
                stream.limit = stream.limit.max(limit);
            }
            // A stream of another segment; what comes next waits for the movement that it ends with.
            Some(_) => self.writing.until = self.halt(drive, now).max(self.writing.until),
            None if self.disk.read_ahead_after_hit && limit > held.end => {
                let start = (now + overhead).max(self.writing.until);
                self.stream = Some((Stream::new(start, drive.at, held.end, limit), Some(segment)));
            }
            _ => {}
        }
        self.segments.touch(segment);
        let blocks = request.blocks.into();
        let completion = now
            + overhead
            + self.overheads.data_preparation
            + self.overheads.transfer(blocks)
            + self.overheads.read_completion;
        Done { completion, timing: from_buffer(now, overhead, completion) }
    }

    /// The beginning is buffered; the medium gives the rest.
    fn read_rest(&mut self, drive: &mut Drive, now: Time, segment: usize, request: &Queued) -> Done {
        let hit = self.overheads.of(Command::ReadHit, self.before);
        let (lbn, end) = (request.lbn, request.lbn + u64::from(request.blocks));
        let held = self.segments.get(segment);
        let limit = self.read_ahead_limit(drive, held.first, end).max(end);
        match &mut self.stream {
            Some((stream, Some(streaming))) if *streaming == segment => {
                stream.limit = stream.limit.max(limit);
            }
            _ => {
                let start = self.arm_start(drive, now);
                self.stream = Some((Stream::new(start, drive.at, held.end, limit), Some(segment)));
            }
        }
        self.segments.touch(segment);
        let start = now + hit + self.overheads.data_preparation;
        let completion = self.sent(drive, start, lbn, end) + self.overheads.read_completion;
        Done { completion, timing: from_buffer(now, hit, completion) }
    }

    /// Nothing of it is buffered.
    fn read_miss(&mut self, drive: &mut Drive, now: Time, request: &Queued) -> Done {
        let (lbn, end) = (request.lbn, request.lbn + u64::from(request.blocks));
        let start = self.arm_start(drive, now);
        let segment = self.segments.take_for_read(lbn);
        let limit = self.read_ahead_limit(drive, lbn, end).max(end);
        let limit = if segment.is_some() { limit } else { end };
        let mut stream = if self.disk.zero_latency_reads {
            Stream::on_arrival(drive, start, drive.at, lbn, end, limit)
        } else {
            Stream::new(start, drive.at, lbn, limit)
        };
        let pass = stream.first_pass(drive);
        if let Some(segment) = segment
            && self.disk.zero_latency_reads
            && pass.lbn == lbn
        {
            // What passes under the head before the first block is buffered as well.
            self.segments.begin_at(segment, pass.passed_before(drive.track_bounds(lbn).0));
        }
        // The drive reconnects when so many sectors are buffered.
        let least = (u64::from(request.blocks).min(self.disk.segment_sectors.max(1)) as f64
            * self.disk.read_watermark) as u64;
        let reconnect = stream.buffered_at(drive, lbn + least.clamp(1, request.blocks.into()) - 1);
        self.stream = Some((stream, segment));
        let begin = reconnect + self.overheads.reselect_first + self.overheads.data_preparation;
        let completion = self.sent(drive, begin, lbn, end) + self.overheads.read_completion;
        let reposition = self.stream.as_ref().map_or(Span::ZERO, |(stream, _)| stream.repositioning());
        if segment.is_none()
            && let Some((stream, _)) = self.stream.take()
        {
            drive.at = stream.at();
        }
        Done { completion, timing: from_medium(now, start, &pass, reposition, completion) }
    }

    /// When the arm can start for a read: after the command's overhead, and after what it has to finish first.
    fn arm_start(&mut self, drive: &mut Drive, now: Time) -> Time {
        let ready = now + self.overheads.to_arm(Op::Read, self.before);
        self.halt(drive, now.max(self.writing.until)).max(ready)
    }

    /// When the last block has crossed the bus.
    fn sent(&mut self, drive: &Drive, start: Time, lbn: u64, end: u64) -> Time {
        let sector = self.overheads.sector;
        match &mut self.stream {
            Some((stream, _)) => stream.sent(drive, start, lbn, end, sector),
            None => start + sector.times(end - lbn),
        }
    }

    /// The block up to which the drive reads after a read of the blocks up to `end`, into a segment that begins with
    /// block `first`.
    fn read_ahead_limit(&self, drive: &Drive, first: u64, end: u64) -> u64 {
        let capacity = drive.blocks();
        let most = (end + self.disk.read_ahead_sectors).min(capacity);
        match self.disk.read_ahead {
            ReadAhead::None => end,
            _ if end >= capacity => capacity,
            ReadAhead::Track => most.min(drive.track_bounds(end - 1).1 + 1),
            ReadAhead::Cylinder => most.min(drive.cylinder_end(end - 1)),
            ReadAhead::Segment => most,
            ReadAhead::SequentialTrack => {
                let (track_first, track_last) = drive.track_bounds(end);
                if first < track_first && track_last + 1 < capacity {
                    drive.track_bounds(track_last + 1).1 + 1
                } else {
                    track_last + 1
                }
            }
        }
    }

    /// A write that is complete when it is buffered; the medium gets it later.
    fn write_buffered(&mut self, drive: &mut Drive, now: Time, request: &Queued) -> Done {
        let overhead = self.overheads.of(Command::WriteBuffered, self.before);
        let (lbn, end) = (request.lbn, request.lbn + u64::from(request.blocks));
        let busy_until = self.writing.until;
        let append = if self.stream.is_none() { self.writing.append(now, lbn, end) } else { None };
        let taken = if append.is_some() { now + overhead } else { (now + overhead).max(busy_until) };
        let data = taken + self.overheads.data_preparation;
        let completion =
            data + self.overheads.write_transfer(request.blocks.into()) + self.overheads.write_completion;
        let arm = append.unwrap_or_else(|| self.halt(drive, now.max(busy_until)).max(taken));
        let written = self.write_medium(drive, arm, data, request, &Constraint::default());
        self.writing.add(now, lbn, end, written.until);
        self.segments.write(lbn, end, append.is_some());
        Done { completion, timing: from_buffer(now, overhead, completion) }
    }

    /// A write that is complete when it is on the medium.
    fn write_through(&mut self, drive: &mut Drive, now: Time, request: &Queued) -> Done {
        let (lbn, end) = (request.lbn, request.lbn + u64::from(request.blocks));
        let arm = now + self.overheads.to_arm(Op::Write, self.before);
        let extra = self.overheads.extra.clone().filter(|_| self.before == Op::Write);
        let (data, reselect) = match &extra {
            None => (arm, self.overheads.reselect_first),
            Some(extra) => (now + extra.data, extra.reselect),
        };
        let least = match (extra.is_some(), request.blocks) {
            (false, _) => 0,
            // Facts of the one drive that does so, the HP C2247A.
            (true, 45..) => 15,
            (true, blocks) => blocks.min(10).into(),
        };
        let constraint = Constraint {
            buffered_first: least,
            least_movement: self.overheads.extra.as_ref().map_or(Span::ZERO, |extra| extra.least_movement),
        };
        let arm = self.halt(drive, now).max(arm);
        let data = data + self.overheads.data_preparation;
        let Written { until, first, reposition } = self.write_medium(drive, arm, data, request, &constraint);
        let completion = until + reselect + self.overheads.write_completion;
        self.segments.write(lbn, end, false);
        Done { completion, timing: from_medium(now, arm, &first, reposition, completion) }
    }

    /// Writes a request, the arm setting out at `arm` and its first sector crossing the bus from `data` on; tells when
    /// its last sector is written, and the first pass.
    ///
    /// A sector that has not crossed the bus when it comes under the head waits for the next turn.
    fn write_medium(
        &self,
        drive: &mut Drive,
        arm: Time,
        data: Time,
        request: &Queued,
        constraint: &Constraint,
    ) -> Written {
        let (mut lbn, end) = (request.lbn, request.lbn + u64::from(request.blocks));
        let pass = |drive: &Drive, now, lbn| {
            drive.slow_pass(now, drive.at, lbn, end - lbn, constraint.least_movement)
        };
        let first = pass(drive, arm, lbn);
        let mut written = Written { until: arm, first, reposition: Span::ZERO };
        let mut now = arm;
        let mut here = first;
        loop {
            let crossed = |lbn: u64| {
                let sectors = (lbn - request.lbn + 1).max(constraint.buffered_first);
                data + self.overheads.write_transfer(sectors)
            };
            // Sectors pass at a steady rate and cross the bus at one: if first and last are in time, all are.
            let late = |at: &u64| crossed(*at) > here.begins(*at);
            let until = here.end_block();
            let in_time = if !late(&lbn) && !late(&(until - 1)) {
                until
            } else {
                (lbn..until).find(late).unwrap_or(until)
            };
            drive.at = here.track;
            if in_time > lbn {
                if lbn > request.lbn {
                    written.reposition += here.start.since(now);
                }
                now = here.ends(in_time - 1);
                lbn = in_time;
            }
            if lbn == end {
                written.until = now;
                return written;
            }
            // What was late comes by again after a turn.
            let again =
                if in_time < until { (here.begins(lbn) + Span::from_ns(2)).max(crossed(lbn)) } else { now };
            here = pass(drive, again, lbn);
        }
    }
}

/// Blocks on the medium.
#[derive(Clone, Copy, Debug)]
struct Written {
    /// When the last of them was written.
    until: Time,
    /// How the arm got there.
    first: Pass,
    /// Time between one stretch of sectors and the next.
    reposition: Span,
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
