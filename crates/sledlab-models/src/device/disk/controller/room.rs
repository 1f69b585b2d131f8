//! Room in a segment that is being filled: a ring whose oldest blocks make room for new ones, unless a command wants them.
//!
//! From the moment at which the mechanism turns to a command until the host has taken a block of it, neither that block
//! nor those behind it make room. Between commands nothing is held, and what nobody asked for falls out of the ring.

use sledlab_core::{Span, Time};
use smallvec::SmallVec;

use crate::device::disk::drive::Pass;

/// The ring of a segment, and what commands hold there.
#[derive(Clone, Debug)]
pub(super) struct Room {
    sectors: u64,
    /// Since when a command holds the blocks from which on: it has not got them yet.
    wanted: Option<(Time, u64)>,
    taken: SmallVec<[Taken; 1]>,
}

/// Blocks of a command that cross the bus at a steady rate.
#[derive(Clone, Copy, Debug)]
struct Taken {
    /// Since when they are held.
    since: Time,
    first: u64,
    end: u64,
    /// When the first begins to cross, and when the last has crossed.
    from: Time,
    until: Time,
}

impl Taken {
    /// Until when a block is held: until its turn on the bus if it is one of these, to the end if it lies behind them.
    fn at(&self, block: u64) -> Time {
        let (steps, all) = (block.min(self.end) - self.first, self.end - self.first);
        let span = u128::from(self.until.since(self.from).as_ns()) * u128::from(steps) / u128::from(all);
        self.from + Span::from_ns(span as u64)
    }
}

impl Room {
    /// An empty ring of so many sectors.
    pub fn new(sectors: u64) -> Self {
        Room { sectors, wanted: None, taken: SmallVec::new() }
    }

    /// Sectors of the ring.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// From `now` on a command holds the blocks from `first` on.
    pub fn hold(&mut self, now: Time, first: u64) {
        self.wanted = Some((now, first));
    }

    /// The host takes the blocks of that command from `first` to `end`, from `from` to `until`.
    pub fn take(&mut self, first: u64, end: u64, from: Time, until: Time) {
        let Some((since, _)) = self.wanted else { return };
        self.wanted = Some((since, end));
        self.taken.push(Taken { since, first, end, from, until });
    }

    /// The host has all that the command wanted.
    pub fn release(&mut self) {
        self.wanted = None;
    }

    /// Whether a command takes blocks from before `at` until `now` or later.
    pub fn is_in_use(&self, at: Time, now: Time) -> bool {
        self.taken.iter().any(|taken| taken.since <= at && now <= taken.until)
    }

    /// Nobody asks about the time before `now` any more.
    pub fn forget(&mut self, now: Time) {
        self.taken.retain(|taken| now < taken.until);
    }

    /// When there is room for a block, from `now` on; `None` until the host takes more.
    pub fn at(&self, block: u64, now: Time) -> Option<Time> {
        // What would make room.
        let Some(oldest) = block.checked_sub(self.sectors) else { return Some(now) };
        let mut at = now;
        for taken in &self.taken {
            if taken.first <= oldest && taken.since <= at {
                at = at.max(taken.at(oldest));
            }
        }
        let is_held = self.wanted.is_some_and(|(since, first)| first <= oldest && since <= at);
        (!is_held).then_some(at)
    }

    /// The first block for which a command may keep room from being made, if any holds blocks.
    fn first_contended(&self) -> Option<u64> {
        let held = self.taken.iter().map(|taken| taken.first).chain(self.wanted.map(|(_, first)| first));
        Some(held.min()?.saturating_add(self.sectors))
    }

    /// Whether all blocks before `end` find room whenever they come.
    pub fn is_ample(&self, end: u64) -> bool {
        self.first_contended().is_none_or(|first| end <= first)
    }

    /// The first of the blocks from `from` to `end` of a pass that comes under the head while there is no room for it.
    pub fn stall(&self, pass: &Pass, from: u64, end: u64) -> Option<u64> {
        let first = from.max(self.first_contended()?);
        (first..end).find(|block| {
            let begins = pass.begins(*block);
            self.at(*block, begins) != Some(begins)
        })
    }
}
