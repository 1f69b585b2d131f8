//! Writes: through to the medium, or into the buffer and from there, after completion, to the medium.

use sledlab_core::{Op, Span, Time};

use super::{
    CommandEntry, CommandResult, Constraint, Controller, Kind, StartedCommand, from_buffer, from_medium,
};
use crate::device::QueuedRequest;
use crate::device::disk::drive::{Drive, Positioning};
use crate::device::disk::overheads::Command;

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
        let completion =
            data + self.overheads.write_transfer(request.blocks.into()) + self.overheads.write_completion;
        let written = self.write_medium(drive, arm, data, request, &Constraint::default());
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
        let MediumWrite { until, first, reposition } =
            self.write_medium(drive, arm, data, request, &constraint);
        self.passed = until;
        let answer = reselect + self.overheads.write_completion;
        let completion = until + answer;
        self.segments.write(request.lbn, request.lbn + u64::from(request.blocks), false);
        let timing = from_medium(*start, arm, &first, reposition, completion);
        let crossed = data + self.overheads.write_transfer(request.blocks.into());
        CommandResult { completion, timing, transfer_end: crossed, arm_free: until, answer: Some(answer) }
    }

    /// Writes a request, the arm starting at `arm` and its first sector crossing the bus from `data` on.
    ///
    /// A sector that has not crossed the bus when it comes under the head waits for the next revolution.
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
        let first = pass(drive, arm, lbn);
        let mut written = MediumWrite { until: arm, first: first.positioning(), reposition: Span::ZERO };
        let mut now = arm;
        let mut here = first;
        loop {
            let crossed = |lbn: u64| {
                let sectors = (lbn - request.lbn + 1).max(constraint.buffered_first);
                data + self.overheads.write_transfer(sectors)
            };
            // Sectors pass at a steady rate and cross the bus at one: if first and last are in time, all are.
            let late = |at: &u64| crossed(*at) > here.sector_start(*at);
            let until = here.end_block();
            let in_time = if !late(&lbn) && !late(&(until - 1)) {
                until
            } else {
                (lbn..until).find(late).unwrap_or(until)
            };
            drive.track = here.track;
            if in_time > lbn {
                if lbn > request.lbn {
                    written.reposition += here.start.since(now);
                }
                now = here.sector_end(in_time - 1);
                lbn = in_time;
            }
            if lbn == end {
                written.until = now;
                return written;
            }
            // The sector that was late passes under the head again after a revolution.
            let again = if in_time < until {
                (here.sector_start(lbn) + Span::from_ns(2)).max(crossed(lbn))
            } else {
                now
            };
            here = pass(drive, again, lbn);
        }
    }
}

/// A write to the medium.
#[derive(Clone, Copy, Debug)]
struct MediumWrite {
    /// When the last block was written.
    until: Time,
    /// How the arm got to the first block.
    first: Positioning,
    /// Time between one stretch of sectors and the next.
    reposition: Span,
}
