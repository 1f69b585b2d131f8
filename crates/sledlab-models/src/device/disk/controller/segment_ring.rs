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
    lock: Option<(Time, u64)>,
    transfers: SmallVec<[SteadyTransfer; 1]>,
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
        let (crossed_blocks, blocks) =
            (block.saturating_add(1).min(self.end) - self.first, self.end - self.first);
        let span =
            u128::from(self.until.since(self.from).as_ns()) * u128::from(crossed_blocks) / u128::from(blocks);
        self.from + Span::from_ns(span as u64)
    }
}

impl SteadyTransfer {
    /// Whether `next` follows without a gap and at the same rate, so that both are one transfer.
    fn is_continued_by(&self, next: &SteadyTransfer) -> bool {
        let cross = |a: &SteadyTransfer, b: &SteadyTransfer| {
            u128::from(a.until.since(a.from).as_ns()) * u128::from(b.end - b.first)
        };
        self.since == next.since
            && (self.end, self.until) == (next.first, next.from)
            && cross(self, next) == cross(next, self)
    }
}

impl SegmentRing {
    /// An empty ring of `sectors` sectors.
    pub fn new(sectors: u64) -> Self {
        SegmentRing { sectors, lock: None, transfers: SmallVec::new() }
    }

    /// Sectors of the ring.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Makes a command hold the blocks from `first` on, from `now` on.
    pub fn hold(&mut self, now: Time, first: u64) {
        self.lock = Some((now, first));
    }

    /// Records that the host takes blocks `first..end` of the command that holds them, between the times `from` and
    /// `until`.
    pub fn take(&mut self, first: u64, end: u64, from: Time, until: Time) {
        let Some((since, _)) = self.lock else { return };
        self.lock = Some((since, end));
        let transfer = SteadyTransfer { since, first, end, from, until };
        match self.transfers.last_mut() {
            Some(last) if last.is_continued_by(&transfer) => (last.end, last.until) = (end, until),
            _ => self.transfers.push(transfer),
        }
    }

    /// Ends the command's hold: the host has all its blocks.
    pub fn release(&mut self) {
        self.lock = None;
    }

    /// Whether a command takes blocks from before `time` until `now` or later.
    pub fn is_in_use(&self, time: Time, now: Time) -> bool {
        self.transfers.iter().any(|transfer| transfer.since <= time && now <= transfer.until)
    }

    /// Discards transfers that ended by `now`; callers use later times only.
    pub fn forget(&mut self, now: Time) {
        self.transfers.retain(|transfer| now < transfer.until);
    }

    /// The earliest time from `now` on at which `block` has room; `None` while that depends on blocks that the host
    /// has yet to take.
    pub fn free_time(&self, block: u64, now: Time) -> Option<Time> {
        // The block that would be evicted to make room.
        let Some(oldest) = block.checked_sub(self.sectors) else { return Some(now) };
        let mut time = now;
        for transfer in &self.transfers {
            if transfer.first <= oldest && transfer.since <= time {
                time = time.max(transfer.lock_end(oldest));
            }
        }
        let is_locked = self.lock.is_some_and(|(since, first)| first <= oldest && since <= time);
        (!is_locked).then_some(time)
    }

    /// The first block that may lack room because a command locks the block in its place; `None` if no blocks are
    /// locked.
    fn first_contended_block(&self) -> Option<u64> {
        let locked_blocks =
            self.transfers.iter().map(|transfer| transfer.first).chain(self.lock.map(|(_, first)| first));
        Some(locked_blocks.min()?.saturating_add(self.sectors))
    }

    /// Whether all blocks before `end` have room at whatever time they are read.
    pub fn is_ample(&self, end: u64) -> bool {
        self.first_contended_block().is_none_or(|first| end <= first)
    }

    /// The first of the blocks `from..end` of a pass that has no room when it comes under the head.
    pub fn first_stalled_block(&self, pass: &Pass, from: u64, end: u64) -> Option<u64> {
        let first = from.max(self.first_contended_block()?);
        (first..end).find(|block| {
            let sector_start = pass.sector_start(*block);
            self.free_time(*block, sector_start) != Some(sector_start)
        })
    }
}
