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
        let preparation = self.overheads.data_preparation;
        let busy_until = self.write_behind.until;
        let (ready, lead, append) = match entry {
            CommandEntry::Fresh => {
                let (lbn, end) = (request.lbn, request.lbn + u64::from(request.blocks));
                let append =
                    if self.stream.is_none() { self.write_behind.append(now, lbn, end) } else { None };
                (
                    now + self.overheads.command_overhead(Command::WriteBuffered, self.previous_op),
                    preparation,
                    append,
                )
            }
            CommandEntry::Waited(ready) => {
                (ready.max(now), self.overheads.reselect_first + preparation, None)
            }
        };
        let bus_ready = if append.is_some() { ready } else { ready.max(busy_until) };
        let arm = append.unwrap_or_else(|| self.halt_and_prepare(drive, now.max(busy_until), ready));
        let kind = Kind::Buffered { overhead: ready.since(now), arm, appends: append.is_some() };
        StartedCommand { request: *request, start: now, bus_ready, lead, kind }
    }

    /// Completes a buffered write whose data crosses the bus from `data_start` on.
    pub(super) fn complete_buffered_write(
        &mut self,
        drive: &mut Drive,
        started: &StartedCommand,
        data_start: Time,
        (overhead, arm, appends): (Span, Time, bool),
    ) -> CommandResult {
        let StartedCommand { request, start, .. } = started;
        let (lbn, end) = (request.lbn, request.lbn + u64::from(request.blocks));
        let medium_write = self.write_medium(drive, arm, data_start, request, &Constraint::default());
        let completion = medium_write.transfer_end + self.overheads.write_completion;
        self.write_behind.add(*start, lbn, end, medium_write.until);
        self.segments.write(lbn, end, appends);
        let timing = from_buffer(*start, overhead, completion);
        CommandResult {
            completion,
            timing,
            transfer_end: completion,
            arm_free: medium_write.until,
            answer: None,
        }
    }

    /// Begins a write that is complete when it is on the medium.
    pub(super) fn begin_write_through(
        &mut self,
        drive: &mut Drive,
        now: Time,
        request: &QueuedRequest,
        entry: CommandEntry,
    ) -> StartedCommand {
        let preparation = self.overheads.data_preparation;
        // The extra disconnection occurs only for a command that keeps the bus and follows a write.
        let extra = self.overheads.extra.clone();
        let is_fresh_after_write = matches!(entry, CommandEntry::Fresh) && self.previous_op == Op::Write;
        let (ready, bus_ready, lead, reselect) =
            match (entry, extra.as_ref().filter(|_| is_fresh_after_write)) {
                (CommandEntry::Waited(ready), _) => {
                    let reselect = self.overheads.reselect_first;
                    (ready, ready.max(now), reselect + preparation, reselect)
                }
                (CommandEntry::Fresh, None) => {
                    let arm = now + self.overheads.arm_overhead(Op::Write, self.previous_op);
                    (arm, arm, preparation, self.overheads.reselect_first)
                }
                (CommandEntry::Fresh, Some(extra)) => {
                    let arm = now + self.overheads.arm_overhead(Op::Write, self.previous_op);
                    (arm, now + extra.data, preparation, extra.reselect)
                }
            };
        let min_buffered = match (extra.is_some() && is_fresh_after_write, request.blocks) {
            (false, _) => 0,
            // Facts of the HP C2247A, the one drive that disconnects once more.
            (true, 45..) => 15,
            (true, blocks) => blocks.min(10).into(),
        };
        let constraint = Constraint {
            buffered_first: min_buffered,
            min_movement: extra.as_ref().map_or(Span::ZERO, |extra| extra.min_movement),
        };
        let arm = self.halt_and_prepare(drive, now, ready);
        let kind = Kind::Through { arm, reselect, constraint };
        StartedCommand { request: *request, start: now, bus_ready, lead, kind }
    }

    /// Completes a write to the medium whose data crosses the bus from `data_start` on.
    pub(super) fn write_through(
        &mut self,
        drive: &mut Drive,
        started: &StartedCommand,
        data_start: Time,
        (arm, reselect, constraint): (Time, Span, Constraint),
    ) -> CommandResult {
        let StartedCommand { request, start, .. } = started;
        let MediumWrite { until, transfer_end, positioning, reposition } =
            self.write_medium(drive, arm, data_start, request, &constraint);
        self.last_sector_end = until;
        let answer = reselect + self.overheads.write_completion;
        let completion = until + answer;
        self.segments.write(request.lbn, request.lbn + u64::from(request.blocks), false);
        let timing = from_medium(*start, arm, &positioning, reposition, completion);
        CommandResult { completion, timing, transfer_end, arm_free: until, answer: Some(answer) }
    }

    /// Writes a request, the arm starting at `arm` and its first sector crossing the bus from `data_start` on.
    ///
    /// A sector that has not crossed the bus when it comes under the head waits for the next revolution. A sector
    /// beyond the size of a segment crosses the bus once the sector in its place is on the medium.
    fn write_medium(
        &self,
        drive: &mut Drive,
        arm: Time,
        data_start: Time,
        request: &QueuedRequest,
        constraint: &Constraint,
    ) -> MediumWrite {
        let (mut lbn, end) = (request.lbn, request.lbn + u64::from(request.blocks));
        let start_pass = |drive: &Drive, now, lbn| {
            drive.slow_pass(now, drive.track, lbn, end - lbn, constraint.min_movement)
        };
        let room = if self.disk.segment_sectors > 0 { self.disk.segment_sectors } else { u64::MAX };
        let mut incoming = IncomingSectors {
            request,
            data_start,
            overheads: &self.overheads,
            buffered_first: constraint.buffered_first,
            room,
            beyond_room: VecDeque::new(),
            forgotten_sectors: 0,
        };
        let mut now = arm;
        let mut pass = start_pass(drive, arm, lbn);
        let (positioning, mut reposition) = (pass.positioning(), Span::ZERO);
        loop {
            let is_late = |at: &u64| incoming.crossed(*at) > pass.sector_start(*at);
            let stretch_end = pass.end_block().min(lbn.saturating_add(room));
            // Sectors pass at a steady rate and the first of a segment cross the bus at one: if first and last are in
            // time, all are.
            let is_steady = stretch_end - request.lbn <= room;
            let in_time_end = if is_steady && !is_late(&lbn) && !is_late(&(stretch_end - 1)) {
                stretch_end
            } else {
                (lbn..stretch_end).find(is_late).unwrap_or(stretch_end)
            };
            drive.track = pass.track;
            if in_time_end > lbn {
                if lbn > request.lbn {
                    reposition += pass.start.since(now);
                }
                if u64::from(request.blocks) > room {
                    incoming.make_room(&pass, lbn, in_time_end);
                }
                now = pass.sector_end(in_time_end - 1);
                lbn = in_time_end;
            }
            if lbn == end {
                return MediumWrite {
                    until: now,
                    transfer_end: incoming.crossed(end - 1),
                    positioning,
                    reposition,
                };
            }
            if in_time_end < stretch_end {
                // The sector that was late passes under the head again after a revolution.
                let retry_time = (pass.sector_start(lbn) + Span::from_ns(2)).max(incoming.crossed(lbn));
                pass = start_pass(drive, retry_time, lbn);
            } else if lbn == pass.end_block() {
                pass = start_pass(drive, now, lbn);
            }
        }
    }
}

/// The sectors of a write on their way over the bus into a segment.
struct IncomingSectors<'a> {
    request: &'a QueuedRequest,
    /// When the first sector begins to cross the bus.
    data_start: Time,
    overheads: &'a Overheads,
    /// Sectors that must have crossed before the first is written.
    buffered_first: u64,
    /// Sectors of the segment.
    room: u64,
    /// When each of the last `room` sectors has crossed, as far as known, of those that follow the first `room`.
    beyond_room: VecDeque<Time>,
    /// Number of sectors before these.
    forgotten_sectors: u64,
}

impl IncomingSectors<'_> {
    /// When block `lbn` has crossed the bus.
    #[inline]
    fn crossed(&self, lbn: u64) -> Time {
        let previous_op = lbn - self.request.lbn;
        if previous_op < self.room {
            self.data_start + self.overheads.write_transfer((previous_op + 1).max(self.buffered_first))
        } else {
            self.beyond_room[(previous_op - self.room - self.forgotten_sectors) as usize]
        }
    }

    /// Records that `pass` writes blocks `lbn..end`: one more sector crosses the bus after each of them.
    #[cold]
    fn make_room(&mut self, pass: &Pass, lbn: u64, end: u64) {
        let last = self.request.lbn + u64::from(self.request.blocks);
        for block in lbn..end.min(last.saturating_sub(self.room)) {
            let bus_free = self.crossed(block + self.room - 1);
            let transfer_end = bus_free.max(pass.sector_end(block)) + self.overheads.write_transfer(1);
            self.beyond_room.push_back(transfer_end);
            if self.beyond_room.len() as u64 > self.room {
                self.beyond_room.pop_front();
                self.forgotten_sectors += 1;
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
    transfer_end: Time,
    /// How the arm got to the first block.
    positioning: Positioning,
    /// Time between one stretch of sectors and the next.
    reposition: Span,
}
