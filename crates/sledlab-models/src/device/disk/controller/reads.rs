//! Reads: from the buffer, from the medium, and the read-ahead that follows them.

use sledlab_core::{Op, Span, Time};

use super::segment_ring::SegmentRing;
use super::stream::Stream;
use super::{CommandEntry, CommandResult, Controller, Kind, StartedCommand, from_buffer, from_medium};
use crate::device::disk::drive::Drive;
use crate::device::disk::overheads::{Command, Overheads};
use crate::device::disk::params::ReadAhead;
use crate::device::{QueuedRequest, Timing};

impl Controller {
    pub(super) fn begin_read(
        &mut self,
        drive: &mut Drive,
        now: Time,
        request: &QueuedRequest,
        entry: CommandEntry,
    ) -> StartedCommand {
        let (lbn, end) = (request.lbn, request.lbn + u64::from(request.blocks));
        let holding_segment = self.segments.find(lbn, end, self.stream_segment());
        let started = match holding_segment.or_else(|| self.segment_reading_next(lbn)) {
            Some(segment) if self.segments.stored_end(segment, lbn) >= end => {
                self.begin_hit(drive, now, segment, request, entry)
            }
            Some(segment) => self.begin_remainder(drive, now, segment, request, entry),
            None => self.begin_miss(drive, now, request, entry),
        };
        // A stream that is still active here fills the segment of this command.
        if let Some((stream, _)) = &mut self.stream {
            stream.hold(now, lbn);
        }
        started
    }

    /// The segment that read-ahead is filling if its next block is `lbn`, and the drive keeps the sector under the
    /// head.
    fn segment_reading_next(&self, lbn: u64) -> Option<usize> {
        let (stream, segment) = self.stream.as_ref().filter(|_| self.disk.keeps_sector_under_head)?;
        segment.filter(|segment| self.segments.get(*segment).end == lbn && lbn < stream.limit())
    }

    /// When buffered data is ready for the bus, and the time from there to its first sector on the bus.
    fn hit_ready(&self, now: Time, entry: CommandEntry) -> (Time, Span) {
        let Overheads { data_preparation, reselect_first, .. } = *self.overheads;
        match entry {
            CommandEntry::Fresh => {
                (now + self.overheads.command_overhead(Command::ReadHit, self.previous_op), data_preparation)
            }
            CommandEntry::Waited(ready) => (ready.max(now), reselect_first + data_preparation),
        }
    }

    /// Begins a read whose blocks are all buffered.
    fn begin_hit(
        &mut self,
        drive: &mut Drive,
        now: Time,
        segment: usize,
        request: &QueuedRequest,
        entry: CommandEntry,
    ) -> StartedCommand {
        let (bus_ready, lead) = self.hit_ready(now, entry);
        let end = request.lbn + u64::from(request.blocks);
        let hit_segment = self.segments.get(segment);
        let limit = self.read_ahead_limit(drive, drive.track_bounds(request.lbn), hit_segment.first, end);
        match &mut self.stream {
            Some((stream, Some(stream_segment))) if *stream_segment == segment => {
                stream.extend(now, limit);
            }
            // The stream fills another segment and is stopped; the next movement of the arm waits for the end of the
            // stream's last one.
            Some(_) => self.write_behind.until = self.halt(drive, now).max(self.write_behind.until),
            None if self.disk.read_ahead_after_hit && limit > hit_segment.end => {
                let start = bus_ready.max(self.write_behind.until);
                let ring = SegmentRing::new(self.disk.segment_sectors);
                self.stream =
                    Some((Stream::new(start, drive.track, (hit_segment.end, limit), ring), Some(segment)));
            }
            _ => {}
        }
        self.segments.touch(segment);
        let kind = Kind::Hit { overhead: bus_ready.since(now), segment };
        StartedCommand { request: *request, start: now, bus_ready, lead, kind }
    }

    /// Begins a read whose first blocks are buffered, or about to be; the other blocks come from the medium.
    fn begin_remainder(
        &mut self,
        drive: &mut Drive,
        now: Time,
        segment: usize,
        request: &QueuedRequest,
        entry: CommandEntry,
    ) -> StartedCommand {
        let (bus_ready, lead) = self.hit_ready(now, entry);
        let end = request.lbn + u64::from(request.blocks);
        let hit_segment = self.segments.get(segment);
        let stored_end = self.segments.stored_end(segment, request.lbn);
        let limit =
            self.read_ahead_limit(drive, drive.track_bounds(request.lbn), hit_segment.first, end).max(end);
        match &mut self.stream {
            Some((stream, Some(stream_segment)))
                if *stream_segment == segment && stored_end == hit_segment.end =>
            {
                stream.extend(now, limit);
            }
            _ => {
                let start = self.arm_start(drive, now, entry);
                let ring = SegmentRing::new(self.disk.segment_sectors);
                self.segments.truncate(segment, stored_end);
                self.stream =
                    Some((Stream::new(start, drive.track, (stored_end, limit), ring), Some(segment)));
            }
        }
        self.segments.touch(segment);
        let kind = Kind::Remainder { overhead: bus_ready.since(now) };
        StartedCommand { request: *request, start: now, bus_ready, lead, kind }
    }

    /// Begins a read of which no block is buffered.
    fn begin_miss(
        &mut self,
        drive: &mut Drive,
        now: Time,
        request: &QueuedRequest,
        entry: CommandEntry,
    ) -> StartedCommand {
        let (lbn, end) = (request.lbn, request.lbn + u64::from(request.blocks));
        let arm = self.arm_start(drive, now, entry);
        let segment = self.segments.take_for_read(lbn);
        let location = drive.locate(lbn);
        let track = location.track_bounds;
        let limit = match segment {
            Some(_) => self.read_ahead_limit(drive, track, lbn, end).max(end),
            None => end,
        };
        let ring = SegmentRing::new(segment.map_or(u64::MAX, |_| self.disk.segment_sectors));
        let pass = drive.pass_to((lbn, &location), arm, drive.track, limit - lbn, Op::Read);
        let (stream, _) = self.stream.insert((Stream::with_pass(pass, limit, ring), segment));
        if self.disk.zero_latency_reads {
            stream.read_on_arrival(drive, end);
        }
        let first = stream.first_pass();
        let positioning = first.positioning();
        if let Some(segment) = segment
            && self.disk.zero_latency_reads
            && first.lbn == lbn
        {
            // Blocks that pass under the head before the first one requested are buffered as well.
            self.segments.set_first_block(segment, first.first_passed_block(track.0));
        }
        // Sectors that must be buffered before the drive reconnects to the bus.
        let min_sectors = (u64::from(request.blocks).min(self.disk.segment_sectors.max(1)) as f64
            * self.disk.read_watermark) as u64;
        let bus_ready = stream.buffer_time(drive, lbn + min_sectors.clamp(1, request.blocks.into()) - 1);
        let lead = self.overheads.reselect_first + self.overheads.data_preparation;
        let kind = Kind::Miss { arm, positioning };
        StartedCommand { request: *request, start: now, bus_ready, lead, kind }
    }

    /// Sends the blocks of a read to the host, the first sector crossing the bus from `data_start` on.
    pub(super) fn send(
        &mut self,
        drive: &mut Drive,
        started: &StartedCommand,
        data_start: Time,
    ) -> CommandResult {
        let StartedCommand { request, start, kind, .. } = started;
        let (lbn, end) = (request.lbn, request.lbn + u64::from(request.blocks));
        let last_sector_end = self.transfer_end(drive, data_start, lbn, end, kind);
        let completion = last_sector_end + self.overheads.read_completion;
        let timing = match kind {
            Kind::Hit { overhead, .. } | Kind::Remainder { overhead } => {
                from_buffer(*start, *overhead, completion)
            }
            Kind::Miss { arm, positioning } => {
                let reposition =
                    self.stream.as_ref().map_or(Span::ZERO, |(stream, _)| stream.repositioning_time());
                if let Some((stream, None)) = &self.stream {
                    drive.track = stream.track();
                    self.stream = None;
                }
                from_medium(*start, *arm, positioning, reposition, completion)
            }
            Kind::Buffered { .. } | Kind::Through { .. } => Timing::default(),
        };
        let segment =
            if let Kind::Hit { segment, .. } = kind { Some(*segment) } else { self.stream_segment() };
        if let Some(segment) = segment.filter(|_| self.disk.drops_requested) {
            self.segments.drop_before(segment, end);
        }
        CommandResult { completion, timing, transfer_end: completion, arm_free: completion, answer: None }
    }

    /// When the arm can start for a read: after the command's overhead, and after the buffered writes and the
    /// movement that the arm has to finish first.
    fn arm_start(&mut self, drive: &mut Drive, now: Time, entry: CommandEntry) -> Time {
        let ready = match entry {
            CommandEntry::Fresh => now + self.overheads.arm_overhead(Op::Read, self.previous_op),
            CommandEntry::Waited(ready) => ready,
        };
        self.halt_and_prepare(drive, now.max(self.write_behind.until), ready)
    }

    /// When the last block has crossed the bus.
    fn transfer_end(&mut self, drive: &Drive, start: Time, lbn: u64, end: u64, kind: &Kind) -> Time {
        let sector = self.overheads.sector;
        match (&mut self.stream, kind) {
            (Some((stream, _)), Kind::Hit { .. }) => stream.buffered_transfer_end(start, lbn, end, sector),
            (Some((stream, _)), _) => stream.transfer_end(drive, start, lbn, end, sector),
            (None, _) => start + sector.saturating_mul(end - lbn),
        }
    }

    /// The block up to which the drive reads after a read of the blocks up to `end`, into a segment that begins with
    /// block `first`. The read begins on a track with the bounds `track`.
    fn read_ahead_limit(&self, drive: &Drive, track: (u64, u64), first: u64, end: u64) -> u64 {
        let capacity = drive.blocks();
        let track_bounds =
            |lbn| if (track.0..=track.1).contains(&lbn) { track } else { drive.track_bounds(lbn) };
        let max_end = (end + self.disk.read_ahead_sectors).min(capacity);
        match self.disk.read_ahead {
            ReadAhead::None => end,
            _ if end >= capacity => capacity,
            ReadAhead::Track => max_end.min(track_bounds(end - 1).1 + 1),
            ReadAhead::Cylinder => max_end.min(drive.cylinder_end(end - 1)),
            ReadAhead::Segment => max_end,
            ReadAhead::SequentialTrack => {
                let (track_first, track_last) = track_bounds(end);
                if first < track_first && track_last + 1 < capacity {
                    track_bounds(track_last + 1).1 + 1
                } else {
                    track_last + 1
                }
            }
        }
    }
}
