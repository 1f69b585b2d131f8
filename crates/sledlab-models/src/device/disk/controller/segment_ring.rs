//! A cache segment that is being filled: a ring whose oldest blocks are evicted for new ones, unless a command needs
//! them.
//!
//! From the moment at which the mechanism selects a command until a block of the command has crossed the bus, neither
//! that block nor later ones can be evicted. Between commands no block is locked, and blocks that no command has
//! requested fall out of the ring.

use sledlab_core::{Span, Time};
use smallvec::SmallVec;

use crate::device::disk::drive::Pass;

/// The ring of a segment, and the blocks that commands lock in it.
#[derive(Clone, Debug)]
pub(super) struct SegmentRing {
    sectors: u64,
    /// Blocks that a command locks until the host has taken them: the start of the lock, and the first of them.
    awaited: Option<(Time, u64)>,
    taken: SmallVec<[SteadyTransfer; 1]>,
}

/// Blocks of a command that cross the bus at a steady rate.
#[derive(Clone, Copy, Debug)]
struct SteadyTransfer {
    /// Start of the lock.
    since: Time,
    first: u64,
    end: u64,
    /// When the first block begins to cross the bus, and when the last has crossed.
    from: Time,
    until: Time,
}

impl SteadyTransfer {
    /// Returns when the lock of `block` ends: when it has crossed the bus if it is one of these blocks, at the end of
    /// the transfer if it is a later one.
    fn lock_end(&self, block: u64) -> Time {
        let (steps, all) = (block.saturating_add(1).min(self.end) - self.first, self.end - self.first);
        let span = u128::from(self.until.since(self.from).as_ns()) * u128::from(steps) / u128::from(all);
        self.from + Span::from_ns(span as u64)
    }
}

impl SteadyTransfer {
    /// Whether `next` follows without a gap and at the same rate, so that both are one transfer.
    fn is_continued_by(&self, next: &SteadyTransfer) -> bool {
        let cross = |span: &SteadyTransfer, other: &SteadyTransfer| {
            u128::from(span.until.since(span.from).as_ns()) * u128::from(other.end - other.first)
        };
        self.since == next.since
            && (self.end, self.until) == (next.first, next.from)
            && cross(self, next) == cross(next, self)
    }
}

impl SegmentRing {
    /// An empty ring of `sectors` sectors.
    pub fn new(sectors: u64) -> Self {
        SegmentRing { sectors, awaited: None, taken: SmallVec::new() }
    }

    /// Sectors of the ring.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Makes a command hold the blocks from `first` on, from `now` on.
    pub fn hold(&mut self, now: Time, first: u64) {
        self.awaited = Some((now, first));
    }

    /// Records that the host takes blocks `first..end` of the command that holds them, between the times `from` and
    /// `until`.
    pub fn take(&mut self, first: u64, end: u64, from: Time, until: Time) {
        let Some((since, _)) = self.awaited else { return };
        self.awaited = Some((since, end));
        let taken = SteadyTransfer { since, first, end, from, until };
        match self.taken.last_mut() {
            Some(last) if last.is_continued_by(&taken) => (last.end, last.until) = (end, until),
            _ => self.taken.push(taken),
        }
    }

    /// Ends the command's hold: the host has all its blocks.
    pub fn release(&mut self) {
        self.awaited = None;
    }

    /// Whether a command takes blocks from before `at` until `now` or later.
    pub fn is_in_use(&self, at: Time, now: Time) -> bool {
        self.taken.iter().any(|taken| taken.since <= at && now <= taken.until)
    }

    /// Discards transfers that ended by `now`; callers use later times only.
    pub fn forget(&mut self, now: Time) {
        self.taken.retain(|taken| now < taken.until);
    }

    /// The earliest time from `now` on at which `block` has room; `None` while that depends on blocks that the host
    /// has yet to take.
    pub fn free_time(&self, block: u64, now: Time) -> Option<Time> {
        // The block that would be evicted to make room.
        let Some(oldest) = block.checked_sub(self.sectors) else { return Some(now) };
        let mut at = now;
        for taken in &self.taken {
            if taken.first <= oldest && taken.since <= at {
                at = at.max(taken.lock_end(oldest));
            }
        }
        let is_locked = self.awaited.is_some_and(|(since, first)| first <= oldest && since <= at);
        (!is_locked).then_some(at)
    }

    /// The first block that may lack room because a command locks the block in its place; `None` if no blocks are
    /// locked.
    fn first_contended_block(&self) -> Option<u64> {
        let stored = self.taken.iter().map(|taken| taken.first).chain(self.awaited.map(|(_, first)| first));
        Some(stored.min()?.saturating_add(self.sectors))
    }

    /// Whether all blocks before `end` have room at whatever time they are read.
    pub fn is_ample(&self, end: u64) -> bool {
        self.first_contended_block().is_none_or(|first| end <= first)
    }

    /// The first of the blocks `from..end` of a pass that has no room when it comes under the head.
    pub fn first_stalled_block(&self, pass: &Pass, from: u64, end: u64) -> Option<u64> {
        let first = from.max(self.first_contended_block()?);
        (first..end).find(|block| {
            let begins = pass.sector_start(*block);
            self.free_time(*block, begins) != Some(begins)
        })
    }
}
