//! A read that goes on: what was asked for, and what is read ahead of it.
//!
//! Nothing happens until somebody looks: the passes of the head are worked out as far as they are asked for.

use std::collections::VecDeque;

use sledlab_core::{Op, Span, Time};

use crate::device::disk::drive::{Drive, Pass};
use crate::device::disk::geometry::Track;

/// Consecutive blocks on their way from the medium into a segment.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    /// The block after the last that will be read.
    pub limit: u64,
    /// Passes worked out so far and not forgotten, in order; the last may be under way.
    passes: VecDeque<Pass>,
    next: u64,
    at: Track,
    ready: Time,
}

/// How a stream was stopped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopped {
    /// When the arm is free.
    pub free: Time,
    /// Where it is then.
    pub at: Track,
    /// The block after the last in the segment.
    pub end: u64,
}

impl Stream {
    /// From block `lbn` to `limit`, the arm setting out from `at` at `now`.
    pub fn new(now: Time, at: Track, lbn: u64, limit: u64) -> Self {
        Stream { limit, passes: VecDeque::new(), next: lbn, at, ready: now }
    }

    /// The same for a drive that starts with whichever block up to `end` comes first: where the head lands among
    /// them, the rest comes first and the beginning after a turn.
    pub fn on_arrival(drive: &Drive, now: Time, at: Track, lbn: u64, end: u64, limit: u64) -> Self {
        let mut stream = Stream::new(now, at, lbn, limit);
        let pass = drive.pass(now, at, lbn, end - lbn, Op::Read);
        if let Some((beginning, rest)) = drive.split_at_head(&pass) {
            stream.next = rest.end_block();
            stream.at = beginning.track;
            stream.ready = beginning.end();
            stream.passes.extend([beginning, rest]);
        }
        stream
    }

    /// Works out the next pass.
    fn go_on(&mut self, drive: &Drive) {
        let pass = drive.pass(self.ready, self.at, self.next, self.limit - self.next, Op::Read);
        self.next = pass.end_block();
        self.at = pass.track;
        self.ready = pass.end();
        self.passes.push_back(pass);
    }

    /// The pass that comes first: how the arm gets to the medium.
    pub fn first_pass(&mut self, drive: &Drive) -> Pass {
        if self.passes.is_empty() {
            self.go_on(drive);
        }
        self.passes
            .iter()
            .copied()
            .reduce(|a, b| if b.start < a.start { b } else { a })
            .unwrap_or(self.passes[0])
    }

    /// The block after the last that is buffered at `now`.
    pub fn buffered(&mut self, drive: &Drive, now: Time) -> u64 {
        while self.next < self.limit && self.ready <= now {
            // Those behind it are in the segment.
            self.passes.clear();
            self.go_on(drive);
        }
        self.passes.back().map_or(self.next, |pass| pass.passed(now))
    }

    /// Whether all has been read at `now`.
    pub fn is_done(&self, now: Time) -> bool {
        self.next >= self.limit && self.ready <= now
    }

    /// When the last sector had passed, of those that have at `now`; where none has, when the arm was on the track.
    pub fn last_passed(&self, now: Time) -> Time {
        let Some(pass) = self.passes.back() else { return now };
        match pass.passed(now) {
            end if end > pass.lbn => pass.begins(end),
            _ => pass.settled.min(now),
        }
    }

    /// Where the arm is when it is done.
    pub fn at(&self) -> Track {
        self.at
    }

    /// When the last of the blocks from `lbn` to `end` has crossed a bus that takes `sector` for each and starts at
    /// `start`; those before the stream's own are buffered already.
    pub fn sent(&mut self, drive: &Drive, start: Time, lbn: u64, end: u64, sector: Span) -> Time {
        while self.next < end.min(self.limit) {
            self.go_on(drive);
        }
        let (mut sent, mut lbn) = (start, lbn);
        for pass in &self.passes {
            let from = lbn.max(pass.lbn);
            let until = end.min(pass.end_block());
            if until <= from {
                continue;
            }
            sent += sector.times(from - lbn);
            // Sectors come at a steady rate: the bus waits for the first, or for the last, or for none.
            let sectors = until - from;
            let first = sent.max(pass.ends(from)) + sector.times(sectors);
            sent = first.max(pass.ends(until - 1) + sector);
            lbn = until;
        }
        sent + sector.times(end.saturating_sub(lbn))
    }

    /// Time between the passes worked out so far, in the order of time: the rest of a track that is read on arrival
    /// passes before its beginning.
    pub fn repositioning(&self) -> Span {
        let mut passes: Vec<_> = self.passes.iter().map(|pass| (pass.start, pass.end())).collect();
        passes.sort_unstable();
        let pairs = passes.iter().zip(passes.iter().skip(1));
        pairs.map(|((_, end), (start, _))| start.since(*end)).sum()
    }

    /// When block `lbn` is in the segment.
    pub fn buffered_at(&mut self, drive: &Drive, lbn: u64) -> Time {
        while self.next <= lbn && self.next < self.limit {
            self.go_on(drive);
        }
        let pass = self.passes.iter().find(|pass| (pass.lbn..pass.end_block()).contains(&lbn));
        pass.map_or(Time::ZERO, |pass| pass.ends(lbn))
    }

    /// Stops for another command that comes at `now`: a movement is completed, and so is a sector, under the head or
    /// waited for, unless the drive stops `within_sector`.
    pub fn stop(&mut self, drive: &Drive, now: Time, within_sector: bool) -> Stopped {
        // Not begun: it waits for something else.
        if self.passes.is_empty() {
            return Stopped { free: now, at: self.at, end: self.next };
        }
        let end = self.buffered(drive, now);
        let Some(pass) = self.passes.back().filter(|_| self.ready > now) else {
            return Stopped { free: now, at: self.at, end };
        };
        if now < pass.settled {
            return Stopped { free: pass.settled, at: pass.track, end };
        }
        if within_sector {
            return Stopped { free: now, at: pass.track, end };
        }
        Stopped { free: pass.ends(end), at: pass.track, end: end + 1 }
    }
}
