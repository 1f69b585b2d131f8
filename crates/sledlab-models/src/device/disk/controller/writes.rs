//! Writes: through to the medium, or into the buffer and from there, after completion, to the medium.

use std::collections::VecDeque;

use sledlab_core::{Op, Span, Time};

use super::{
    CommandEntry, CommandResult, Constraint, Controller, Kind, StartedCommand, from_buffer, from_medium,
};
use crate::device::QueuedRequest;
use crate::device::disk::drive::{Drive, Pass, Positioning};
use crate::device::disk::overheads::{Command, Overheads};

impl Controller {
    /// Begins a write that is complete when it is buffered; the medium gets it later.
    pub(super) fn begin_buffered_write(
        &mut self,
        drive: &mut Drive,
        now: Time,
        request: &QueuedRequest,
        entry: CommandEntry,
    ) -> StartedCommand {
        let prepared = self.overheads.data_preparation;
        let busy_until = self.writing.until;
        let (ready, lead, append) = match entry {
            CommandEntry::Fresh => {
                let (lbn, end) = (request.lbn, request.lbn + u64::from(request.blocks));
                let append = if self.stream.is_none() { self.writing.append(now, lbn, end) } else { None };
                (now + self.overheads.command_overhead(Command::WriteBuffered, self.before), prepared, append)
            }
            CommandEntry::Waited(ready) => (ready.max(now), self.overheads.reselect_first + prepared, None),
        };
        let bus_ready = if append.is_some() { ready } else { ready.max(busy_until) };
        let arm = append.unwrap_or_else(|| self.halt(drive, now.max(busy_until)).max(bus_ready));
        let kind = Kind::Buffered { overhead: ready.since(now), arm, appends: append.is_some() };
        StartedCommand { request: *request, start: now, bus_ready, lead, kind }
    }

    /// Completes a buffered write whose data crosses the bus from `data` on.
    pub(super) fn complete_buffered_write(
        &mut self,
        drive: &mut Drive,
        begun: &StartedCommand,
        data: Time,
        (overhead, arm, appends): (Span, Time, bool),
    ) -> CommandResult {
        let StartedCommand { request, start, .. } = begun;
        let (lbn, end) = (request.lbn, request.lbn + u64::from(request.blocks));
        let written = self.write_medium(drive, arm, data, request, &Constraint::default());
        let completion = written.crossed + self.overheads.write_completion;
        self.writing.add(*start, lbn, end, written.until);
        self.segments.write(lbn, end, appends);
        let timing = from_buffer(*start, overhead, completion);
        CommandResult { completion, timing, transfer_end: completion, arm_free: written.until, answer: None }
    }

    /// Begins a write that is complete when it is on the medium.
    pub(super) fn begin_write_through(
        &mut self,
        drive: &mut Drive,
        now: Time,
        request: &QueuedRequest,
        entry: CommandEntry,
    ) -> StartedCommand {
        let prepared = self.overheads.data_preparation;
        // The extra disconnection occurs only for a command that keeps the bus and follows a write.
        let extra = self.overheads.extra.clone();
        let fresh = matches!(entry, CommandEntry::Fresh) && self.before == Op::Write;
        let (ready, bus_ready, lead, reselect) = match (entry, extra.as_ref().filter(|_| fresh)) {
            (CommandEntry::Waited(ready), _) => {
                let reselect = self.overheads.reselect_first;
                (ready, ready.max(now), reselect + prepared, reselect)
            }
            (CommandEntry::Fresh, None) => {
                let arm = now + self.overheads.arm_overhead(Op::Write, self.before);
                (arm, arm, prepared, self.overheads.reselect_first)
            }
            (CommandEntry::Fresh, Some(extra)) => {
                let arm = now + self.overheads.arm_overhead(Op::Write, self.before);
                (arm, now + extra.data, prepared, extra.reselect)
            }
        };
        let minimum = match (extra.is_some() && fresh, request.blocks) {
            (false, _) => 0,
            // Facts of the HP C2247A, the one drive that disconnects once more.
            (true, 45..) => 15,
            (true, blocks) => blocks.min(10).into(),
        };
        let constraint = Constraint {
            buffered_first: minimum,
            min_movement: extra.as_ref().map_or(Span::ZERO, |extra| extra.min_movement),
        };
        let arm = self.halt(drive, now).max(ready);
        let kind = Kind::Through { arm, reselect, constraint };
        StartedCommand { request: *request, start: now, bus_ready, lead, kind }
    }

    /// Completes a write to the medium whose data crosses the bus from `data` on.
    pub(super) fn write_through(
        &mut self,
        drive: &mut Drive,
        begun: &StartedCommand,
        data: Time,
        (arm, reselect, constraint): (Time, Span, Constraint),
    ) -> CommandResult {
        let StartedCommand { request, start, .. } = begun;
        let MediumWrite { until, crossed, first, reposition } =
            self.write_medium(drive, arm, data, request, &constraint);
        self.passed = until;
        let answer = reselect + self.overheads.write_completion;
        let completion = until + answer;
        self.segments.write(request.lbn, request.lbn + u64::from(request.blocks), false);
        let timing = from_medium(*start, arm, &first, reposition, completion);
        CommandResult { completion, timing, transfer_end: crossed, arm_free: until, answer: Some(answer) }
    }

    /// Writes a request, the arm starting at `arm` and its first sector crossing the bus from `data` on.
    ///
    /// A sector that has not crossed the bus when it comes under the head waits for the next revolution. A sector
    /// beyond the size of a segment crosses the bus once the sector in its place is on the medium.
    fn write_medium(
        &self,
        drive: &mut Drive,
        arm: Time,
        data: Time,
        request: &QueuedRequest,
        constraint: &Constraint,
    ) -> MediumWrite {
        let (mut lbn, end) = (request.lbn, request.lbn + u64::from(request.blocks));
        let pass = |drive: &Drive, now, lbn| {
            drive.slow_pass(now, drive.track, lbn, end - lbn, constraint.min_movement)
        };
        let room = if self.disk.segment_sectors > 0 { self.disk.segment_sectors } else { u64::MAX };
        let mut incoming = IncomingSectors {
            request,
            data,
            overheads: &self.overheads,
            buffered_first: constraint.buffered_first,
            room,
            beyond_room: VecDeque::new(),
            forgotten: 0,
        };
        let mut now = arm;
        let mut here = pass(drive, arm, lbn);
        let (first, mut reposition) = (here.positioning(), Span::ZERO);
        loop {
            let late = |at: &u64| incoming.crossed(*at) > here.sector_start(*at);
            let until = here.end_block().min(lbn.saturating_add(room));
            // Sectors pass at a steady rate and the first of a segment cross the bus at one: if first and last are in
            // time, all are.
            let is_steady = until - request.lbn <= room;
            let in_time = if is_steady && !late(&lbn) && !late(&(until - 1)) {
                until
            } else {
                (lbn..until).find(late).unwrap_or(until)
            };
            drive.track = here.track;
            if in_time > lbn {
                if lbn > request.lbn {
                    reposition += here.start.since(now);
                }
                if u64::from(request.blocks) > room {
                    incoming.make_room(&here, lbn, in_time);
                }
                now = here.sector_end(in_time - 1);
                lbn = in_time;
            }
            if lbn == end {
                return MediumWrite { until: now, crossed: incoming.crossed(end - 1), first, reposition };
            }
            if in_time < until {
                // The sector that was late passes under the head again after a revolution.
                let again = (here.sector_start(lbn) + Span::from_ns(2)).max(incoming.crossed(lbn));
                here = pass(drive, again, lbn);
            } else if lbn == here.end_block() {
                here = pass(drive, now, lbn);
            }
        }
    }
}

/// The sectors of a write on their way over the bus into a segment.
struct IncomingSectors<'a> {
    request: &'a QueuedRequest,
    /// When the first sector begins to cross the bus.
    data: Time,
    overheads: &'a Overheads,
    /// Sectors that must have crossed before the first is written.
    buffered_first: u64,
    /// Sectors of the segment.
    room: u64,
    /// When each of the last `room` sectors has crossed, as far as known, of those that follow the first `room`.
    beyond_room: VecDeque<Time>,
    /// Number of sectors before these.
    forgotten: u64,
}

impl IncomingSectors<'_> {
    /// When block `lbn` has crossed the bus.
    #[inline]
    fn crossed(&self, lbn: u64) -> Time {
        let before = lbn - self.request.lbn;
        if before < self.room {
            self.data + self.overheads.write_transfer((before + 1).max(self.buffered_first))
        } else {
            self.beyond_room[(before - self.room - self.forgotten) as usize]
        }
    }

    /// Records that `pass` writes blocks `lbn..end`: one more sector crosses the bus after each of them.
    #[cold]
    fn make_room(&mut self, pass: &Pass, lbn: u64, end: u64) {
        let last = self.request.lbn + u64::from(self.request.blocks);
        for written in lbn..end.min(last.saturating_sub(self.room)) {
            let bus_free = self.crossed(written + self.room - 1);
            let crossed = bus_free.max(pass.sector_end(written)) + self.overheads.write_transfer(1);
            self.beyond_room.push_back(crossed);
            if self.beyond_room.len() as u64 > self.room {
                self.beyond_room.pop_front();
                self.forgotten += 1;
            }
        }
    }
}

/// A write to the medium.
#[derive(Clone, Copy, Debug)]
struct MediumWrite {
    /// When the last block was written.
    until: Time,
    /// When the last block had crossed the bus.
    crossed: Time,
    /// How the arm got to the first block.
    first: Positioning,
    /// Time between one stretch of sectors and the next.
    reposition: Span,
}
