//! A stream: the blocks of a read, and the read-ahead that follows them.
//!
//! A stream is evaluated lazily: passes of the head are computed only as far as callers need them. If the segment has
//! no space for a block, because the host has not read the previous block in its place, the pass ends before that
//! block, and the head returns when there is space.

use sledlab_core::{Op, Span, Time};
use smallvec::SmallVec;

use super::segment_ring::SegmentRing;
use crate::device::disk::drive::{Drive, Pass};
use crate::device::disk::geometry::Track;
use crate::device::disk::params::DiskNumbers;

/// Passes that are kept: of a longer read, those whose blocks have crossed the bus are discarded.
const MAX_PASSES: usize = 64;

/// Consecutive blocks that are read from the medium into a segment.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    /// The block after the last to be read.
    limit: u64,
    /// Passes computed so far and not discarded, in order; the last may not have ended.
    passes: SmallVec<[Pass; 2]>,
    /// Time between the passes of the current read that [`Stream::transfer_end`] has discarded.
    discarded_gap: Span,
    next: u64,
    track: Track,
    /// When the arm can start for the next pass; [`Time::MAX`] while it is unknown when its first block has room.
    ready: Time,
    /// When the segment ran out of room, if it has.
    stall_time: Option<Time>,
    /// Whether the head came back for the last pass after the segment had run out of room.
    is_back: bool,
    ring: SegmentRing,
    /// The block after the last that is known to have room when its pass reaches it.
    room_end: u64,
}

/// What a drive does with the sector that read-ahead has under the head when a command stops it.
#[derive(Clone, Copy, Debug)]
pub(super) enum InterruptedSector {
    /// The arm is free at once.
    Abandoned,
    /// The sector passes before the arm is free, and is not buffered; of a sector that is only awaited, the beginning
    /// frees the arm. The overhead of the command follows.
    Discarded,
    /// The sector passes before the arm is free, and is buffered.
    Kept,
}

impl InterruptedSector {
    pub fn new(disk: &DiskNumbers) -> Self {
        match (disk.stops_within_sector, disk.keeps_sector_under_head) {
            (true, _) => InterruptedSector::Abandoned,
            (false, false) => InterruptedSector::Discarded,
            (false, true) => InterruptedSector::Kept,
        }
    }
}

/// How a stream was stopped.
#[derive(Clone, Copy, Debug)]
pub(super) struct StopResult {
    /// When the arm is free.
    pub free: Time,
    /// Position of the arm then.
    pub track: Track,
    /// The block after the last one buffered in the segment.
    pub end: u64,
}

impl Stream {
    /// A stream of blocks `lbn..limit`, the arm starting from `at` at `now`, into a segment with `ring`.
    pub fn new(now: Time, at: Track, (lbn, limit): (u64, u64), ring: SegmentRing) -> Self {
        Stream {
            limit,
            passes: SmallVec::new(),
            discarded_gap: Span::ZERO,
            next: lbn,
            track: at,
            ready: now,
            stall_time: None,
            is_back: false,
            ring,
            room_end: lbn,
        }
    }

    /// A stream up to `limit` whose first pass is known.
    pub fn with_pass(pass: Pass, limit: u64, ring: SegmentRing) -> Self {
        let mut stream = Stream::new(pass.end(), pass.track, (pass.end_block(), limit), ring);
        stream.room_end = pass.lbn;
        stream.passes.push(pass);
        stream
    }

    /// Makes the drive start reading at the first block up to `end` that reaches the head: the blocks from there on are
    /// read first, and the beginning of the only pass so far after a revolution.
    pub fn read_on_arrival(&mut self, drive: &Drive, end: u64) {
        let Some(pass) = self.passes[0].prefix(end) else { return };
        // The beginning would wait for room that only its own transfer to the host can make.
        if end - pass.lbn > self.ring.sectors() {
            return;
        }
        if let Some((beginning, upcoming)) = drive.split_at_head(&pass) {
            self.next = upcoming.end_block();
            self.ready = beginning.end();
            self.passes[0] = beginning;
            self.passes.push(upcoming);
        }
    }

    /// Computes the next pass, as if there were room for all its blocks.
    fn add_pass(&mut self, drive: &Drive) {
        self.ring.forget(self.ready);
        self.is_back = self.stall_time.take().is_some();
        let pass = drive.pass(self.ready, self.track, self.next, self.limit - self.next, Op::Read);
        self.next = pass.end_block();
        self.track = pass.track;
        self.ready = pass.end();
        self.passes.push(pass);
    }

    /// The first pass in time, which determines how the arm reaches the medium.
    pub fn first_pass(&self) -> &Pass {
        self.passes.iter().reduce(|a, b| if b.start < a.start { b } else { a }).unwrap_or(&self.passes[0])
    }

    /// Ends the last pass before the first of its blocks that has no room, looking only at blocks before the one that
    /// `end` returns. Returns whether there was such a block.
    fn truncate_last_pass(&mut self, end: impl FnOnce(&Pass) -> u64) -> bool {
        let may_stall =
            |pass: &&mut Pass| self.room_end < pass.end_block() && !self.ring.is_ample(pass.end_block());
        let Some(pass) = self.passes.last_mut().filter(may_stall) else {
            return false;
        };
        let end = end(pass).min(pass.end_block());
        let Some(block) = self.ring.first_stalled_block(pass, self.room_end.max(pass.lbn), end) else {
            self.room_end = self.room_end.max(end);
            return false;
        };
        let stall_time = pass.sector_start(block);
        (self.next, self.room_end, self.track, self.stall_time) =
            (block, block, pass.track, Some(stall_time));
        self.ready = self.ring.free_time(block, stall_time).unwrap_or(Time::MAX);
        match pass.prefix(block) {
            Some(beginning) => *pass = beginning,
            None => drop(self.passes.pop()),
        }
        true
    }

    /// The block after the last to be read.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Continues the stream up to `limit`, from `now` on.
    pub fn extend(&mut self, now: Time, limit: u64) {
        if limit <= self.limit {
            return;
        }
        if self.next == self.limit {
            self.ready = self.ready.max(now);
        }
        self.limit = limit;
    }

    /// Makes a command hold the blocks from `lbn` on, from `now` on.
    pub fn hold(&mut self, now: Time, lbn: u64) {
        self.ring.hold(now, lbn);
    }

    /// Records that the host takes blocks `lbn..end`, which a command holds, between the times `from` and `until`.
    fn take(&mut self, lbn: u64, end: u64, from: Time, until: Time) {
        self.ring.take(lbn, end, from, until);
        if let Some(stall_time) = self.stall_time {
            self.ready = self.ring.free_time(self.next, stall_time).unwrap_or(Time::MAX);
        }
    }

    /// When the last of blocks `lbn..end`, which are all buffered, has crossed the bus: the transfer starts at
    /// `start` and takes `sector` for each block.
    pub fn buffered_transfer_end(&mut self, start: Time, lbn: u64, end: u64, sector: Span) -> Time {
        let end_time = start + sector.saturating_mul(end - lbn);
        self.take(lbn, end, start, end_time);
        self.ring.release();
        end_time
    }

    /// The block after the last that is buffered at `now`.
    pub fn buffered_end(&mut self, drive: &Drive, now: Time) -> u64 {
        loop {
            if !self.truncate_last_pass(|pass| pass.started_end(now))
                && (self.next >= self.limit || self.ready > now)
            {
                break;
            }
            if self.ready <= now {
                // The blocks of the passes before are in the segment.
                self.passes.clear();
                self.discarded_gap = Span::ZERO;
                self.add_pass(drive);
            }
        }
        self.passes.last().map_or(self.next, |pass| pass.passed_end(now))
    }

    /// Whether the stream has ended by `now`: all blocks are read, and the host has all blocks of the command during
    /// which the last one was read. A command that arrives earlier continues the stream.
    pub fn is_done(&self, now: Time) -> bool {
        self.next >= self.limit && self.ready <= now && !self.ring.is_in_use(self.ready, now)
    }

    /// When the last sector passed of those that have passed at `now`; if none has, when the arm was on the track.
    /// While the head waits for room every sector passes under it, so the answer is `now`.
    pub fn last_sector_time(&self, now: Time) -> Time {
        match self.passes.last() {
            Some(pass) if self.stall_time.is_none() && !(self.is_back && now < pass.start) => {
                let end = pass.passed_end(now);
                if end > pass.lbn { pass.sector_start(end) } else { pass.settle_end.min(now) }
            }
            _ => now,
        }
    }

    /// Returns the position of the arm after the passes computed so far.
    pub fn track(&self) -> Track {
        self.track
    }

    /// When the last of blocks `lbn..end` has crossed the bus: the transfer starts at `start` and takes `sector` for
    /// each block. Blocks before those of the stream are buffered already.
    pub fn transfer_end(&mut self, drive: &Drive, start: Time, lbn: u64, end: u64, sector: Span) -> Time {
        let (mut crossed_at, mut lbn) = (start, lbn);
        while lbn < end {
            if lbn >= self.next && self.next < self.limit {
                self.add_pass(drive);
            }
            // The blocks whose space is reused have crossed the bus before.
            let max_end = end.min(lbn.saturating_add(self.ring.sectors()));
            if self.truncate_last_pass(|_| max_end) && self.next <= lbn {
                continue;
            }
            let (until, first, last) = self.cross(crossed_at, lbn, max_end, sector);
            self.take(lbn, until, first, last);
            (crossed_at, lbn) = (last, until);
            if self.passes.len() > MAX_PASSES {
                self.discard_before(lbn);
            }
        }
        self.ring.release();
        crossed_at
    }

    /// Discards the passes whose blocks lie before `lbn`, except for the last of these: the time to the next pass
    /// counts from its end. The first two passes are discarded together, as they may be out of order in time.
    fn discard_before(&mut self, lbn: u64) {
        let last = self.passes.iter().rposition(|pass| pass.end_block() <= lbn).unwrap_or(0);
        if last >= 2 {
            self.discarded_gap += total_gap(&self.passes[..=last]);
            self.passes.drain(..last);
        }
    }

    /// How far the bus, free at `arm_free`, gets with blocks `lbn..end` before it may have to wait again: the block
    /// after the last that crosses, when the first block begins to cross, and when the last has crossed.
    fn cross(&self, arm_free: Time, lbn: u64, end: u64, sector: Span) -> (u64, Time, Time) {
        let passing = self.passes.iter().find(|pass| lbn < pass.end_block());
        if let Some(pass) = passing.filter(|pass| pass.lbn <= lbn) {
            // Sectors are read at a steady rate: the bus waits for the first, or for the last, or for none.
            let until = end.min(pass.end_block());
            let first = arm_free.max(pass.sector_end(lbn));
            let last = first + sector.saturating_mul(until - lbn);
            return (until, first, last.max(pass.sector_end(until - 1) + sector));
        }
        // These blocks are buffered.
        let until = passing.map_or(self.next, |pass| pass.lbn);
        let until = if lbn < until { until.min(end) } else { end };
        (until, arm_free, arm_free + sector.saturating_mul(until - lbn))
    }

    /// Total time between the passes computed so far, sorted by time: the end of a track that is read on arrival passes
    /// before its beginning.
    pub fn repositioning_time(&self) -> Span {
        self.discarded_gap + total_gap(&self.passes)
    }

    /// When block `lbn` is in the segment.
    pub fn buffer_time(&mut self, drive: &Drive, lbn: u64) -> Time {
        while self.next <= lbn && self.next < self.limit {
            self.add_pass(drive);
        }
        let pass = self.passes.iter().find(|pass| (pass.lbn..pass.end_block()).contains(&lbn));
        pass.map_or(Time::ZERO, |pass| pass.sector_end(lbn))
    }

    /// Stops the stream for another command that comes at `now`. A movement of the arm is completed; the sector that is
    /// under the head or awaited is treated as `sector` says.
    pub fn stop(&mut self, drive: &Drive, now: Time, sector: InterruptedSector) -> StopResult {
        // No pass is active: the arm waits for an overhead, for buffered writes or for room.
        if self.passes.is_empty() {
            return StopResult { free: now, track: self.track, end: self.next };
        }
        let end = self.buffered_end(drive, now);
        let Some(pass) = self.passes.last().filter(|_| self.ready > now) else {
            return StopResult { free: now, track: self.track, end };
        };
        // The head waits for room, or has room again and waits for its first sector: neither has to be completed.
        if pass.end() <= now || self.is_back && now < pass.start {
            return StopResult { free: now, track: self.track, end };
        }
        if now < pass.settle_end {
            return StopResult { free: pass.settle_end, track: pass.track, end };
        }
        let (free, end) = match sector {
            InterruptedSector::Abandoned => (now, end),
            InterruptedSector::Discarded => (pass.sector_start(pass.started_end(now)), end),
            InterruptedSector::Kept => (pass.sector_end(end), end + 1),
        };
        StopResult { free, track: pass.track, end }
    }
}

/// Total time between passes, sorted by time.
fn total_gap(passes: &[Pass]) -> Span {
    if passes.len() < 2 {
        return Span::ZERO;
    }
    let mut times: SmallVec<[_; 2]> = passes.iter().map(|pass| (pass.start, pass.end())).collect();
    times.sort_unstable();
    let pairs = times.iter().zip(times.iter().skip(1));
    pairs.map(|((_, end), (start, _))| start.since(*end)).sum()
}
