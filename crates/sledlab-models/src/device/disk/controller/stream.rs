//! A read that goes on: what was asked for, and what is read ahead of it.
//!
//! Nothing happens until somebody looks: the passes of the head are worked out as far as they are asked for. Where the
//! segment has no room for a block, since the host has not taken what lies in its place, the pass ends before it, and the
//! head comes back for it when there is room.

use sledlab_core::{Op, Span, Time};
use smallvec::SmallVec;

use super::room::Room;
use crate::device::disk::drive::{Drive, Pass};
use crate::device::disk::geometry::Track;

/// Consecutive blocks on their way from the medium into a segment.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    /// The block after the last that will be read.
    limit: u64,
    /// Passes worked out so far and not forgotten, in order; the last may be under way.
    passes: SmallVec<[Pass; 2]>,
    next: u64,
    at: Track,
    /// When the next pass can be set out for; never, as far as is known, while there is no room for its first block.
    ready: Time,
    /// When room ran out, if it has.
    stalled: Option<Time>,
    /// Whether the head has come back for the last pass, after room had run out.
    is_back: bool,
    room: Room,
    /// The block after the last that is known to find room in its pass.
    fits: u64,
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
    /// From block `lbn` to `limit`, the arm setting out from `at` at `now`, into a segment with so much `room`.
    pub fn new(now: Time, at: Track, (lbn, limit): (u64, u64), room: Room) -> Self {
        Stream {
            limit,
            passes: SmallVec::new(),
            next: lbn,
            at,
            ready: now,
            stalled: None,
            is_back: false,
            room,
            fits: lbn,
        }
    }

    /// The same for a drive that starts with whichever block up to `end` comes first: where the head lands among
    /// them, the rest comes first and the beginning after a turn.
    pub fn on_arrival(
        drive: &Drive,
        now: Time,
        at: Track,
        (lbn, end, limit): (u64, u64, u64),
        room: Room,
    ) -> Self {
        let mut stream = Stream::new(now, at, (lbn, limit), room);
        // The beginning would have to wait for room that only it can make.
        if end - lbn > stream.room.sectors() {
            return stream;
        }
        let pass = drive.pass(now, at, lbn, end - lbn, Op::Read);
        if let Some((beginning, rest)) = drive.split_at_head(&pass) {
            stream.next = rest.end_block();
            stream.at = beginning.track;
            stream.ready = beginning.end();
            stream.passes.extend([beginning, rest]);
        }
        stream
    }

    /// Works out the next pass, as if there were room for all of it.
    fn go_on(&mut self, drive: &Drive) {
        self.room.forget(self.ready);
        self.is_back = self.stalled.take().is_some();
        let pass = drive.pass(self.ready, self.at, self.next, self.limit - self.next, Op::Read);
        self.next = pass.end_block();
        self.at = pass.track;
        self.ready = pass.end();
        self.passes.push(pass);
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

    /// Ends the last pass before the first of its blocks up to that of `end` that finds no room; whether there was one.
    fn cut(&mut self, end: impl FnOnce(&Pass) -> u64) -> bool {
        let may_stall =
            |pass: &&mut Pass| self.fits < pass.end_block() && !self.room.is_ample(pass.end_block());
        let Some(pass) = self.passes.last_mut().filter(may_stall) else {
            return false;
        };
        let end = end(pass).min(pass.end_block());
        let Some(block) = self.room.stall(pass, self.fits.max(pass.lbn), end) else {
            self.fits = self.fits.max(end);
            return false;
        };
        let begins = pass.begins(block);
        (self.next, self.fits, self.at, self.stalled) = (block, block, pass.track, Some(begins));
        self.ready = self.room.at(block, begins).unwrap_or(Time::MAX);
        match pass.before(block) {
            Some(beginning) => *pass = beginning,
            None => drop(self.passes.pop()),
        }
        true
    }

    /// From `now` on the blocks up to `limit` are to be read.
    pub fn extend(&mut self, now: Time, limit: u64) {
        if limit <= self.limit {
            return;
        }
        if self.next == self.limit {
            self.ready = self.ready.max(now);
        }
        self.limit = limit;
    }

    /// From `now` on a command wants the blocks from `lbn` on.
    pub fn hold(&mut self, now: Time, lbn: u64) {
        self.room.hold(now, lbn);
    }

    /// The host takes what that command wanted: these blocks, from `from` to `until`.
    fn take(&mut self, lbn: u64, end: u64, from: Time, until: Time) {
        self.room.take(lbn, end, from, until);
        if let Some(stalled) = self.stalled {
            self.ready = self.room.at(self.next, stalled).unwrap_or(Time::MAX);
        }
    }

    /// When the last of the blocks from `lbn` to `end`, which are all buffered, has crossed a bus that takes `sector` for
    /// each and starts at `start`.
    pub fn sent_from_buffer(&mut self, start: Time, lbn: u64, end: u64, sector: Span) -> Time {
        let sent = start + sector.times(end - lbn);
        self.take(lbn, end, start, sent);
        self.room.release();
        sent
    }

    /// The block after the last that is buffered at `now`.
    pub fn buffered(&mut self, drive: &Drive, now: Time) -> u64 {
        loop {
            if !self.cut(|pass| pass.begun(now)) && (self.next >= self.limit || self.ready > now) {
                break;
            }
            if self.ready <= now {
                // Those behind it are in the segment.
                self.passes.clear();
                self.go_on(drive);
            }
        }
        self.passes.last().map_or(self.next, |pass| pass.passed(now))
    }

    /// Whether all has been read at `now`. A drive goes on with what the next command asks for where that comes before
    /// the host has all of the command during which the last was read.
    pub fn is_done(&self, now: Time) -> bool {
        self.next >= self.limit && self.ready <= now && !self.room.is_in_use(self.ready, now)
    }

    /// When the last sector had passed, of those that have at `now`; where none has, when the arm was on the track. A head
    /// that waits for room looks at every sector.
    pub fn last_passed(&self, now: Time) -> Time {
        match self.passes.last() {
            Some(pass) if self.stalled.is_none() && !(self.is_back && now < pass.start) => {
                let end = pass.passed(now);
                if end > pass.lbn { pass.begins(end) } else { pass.settled.min(now) }
            }
            _ => now,
        }
    }

    /// Where the arm is when it is done.
    pub fn at(&self) -> Track {
        self.at
    }

    /// When the last of the blocks from `lbn` to `end` has crossed a bus that takes `sector` for each and starts at
    /// `start`; those before the stream's own are buffered already.
    pub fn sent(&mut self, drive: &Drive, start: Time, lbn: u64, end: u64, sector: Span) -> Time {
        let (mut sent, mut lbn) = (start, lbn);
        while lbn < end {
            if lbn >= self.next && self.next < self.limit {
                self.go_on(drive);
            }
            // What makes room for the rest has crossed before.
            let most = end.min(lbn.saturating_add(self.room.sectors()));
            if self.cut(|_| most) && self.next <= lbn {
                continue;
            }
            let (until, first, last) = self.cross(sent, lbn, most, sector);
            self.take(lbn, until, first, last);
            (sent, lbn) = (last, until);
        }
        self.room.release();
        sent
    }

    /// How far the bus, free at `free`, gets with the blocks from `lbn` to `end` before it may have to wait anew: to which
    /// block, and when the first begins to cross and the last has crossed.
    fn cross(&self, free: Time, lbn: u64, end: u64, sector: Span) -> (u64, Time, Time) {
        let passing = self.passes.iter().find(|pass| lbn < pass.end_block());
        if let Some(pass) = passing.filter(|pass| pass.lbn <= lbn) {
            // Sectors come at a steady rate: the bus waits for the first, or for the last, or for none.
            let until = end.min(pass.end_block());
            let first = free.max(pass.ends(lbn));
            let last = first + sector.times(until - lbn);
            return (until, first, last.max(pass.ends(until - 1) + sector));
        }
        // These are buffered.
        let until = passing.map_or(self.next, |pass| pass.lbn);
        let until = if lbn < until { until.min(end) } else { end };
        (until, free, free + sector.times(until - lbn))
    }

    /// Time between the passes worked out so far, in the order of time: the rest of a track that is read on arrival
    /// passes before its beginning.
    pub fn repositioning(&self) -> Span {
        let mut passes: SmallVec<[_; 2]> = self.passes.iter().map(|pass| (pass.start, pass.end())).collect();
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
        let Some(pass) = self.passes.last().filter(|_| self.ready > now) else {
            return Stopped { free: now, at: self.at, end };
        };
        // It waits for room, or has found some and looks what comes under the head: it need not go on.
        if pass.end() <= now || self.is_back && now < pass.start {
            return Stopped { free: now, at: self.at, end };
        }
        if now < pass.settled {
            return Stopped { free: pass.settled, at: pass.track, end };
        }
        if within_sector {
            return Stopped { free: now, at: pass.track, end };
        }
        Stopped { free: pass.ends(end), at: pass.track, end: end + 1 }
    }
}
