//! Segments on their way from the back device through the speed-matching buffer to their slots.

use std::collections::VecDeque;

use sledlab_core::Op;

use super::groups::Member;
use super::{CachingDisk, Job, Next, Part, Phase};
use crate::cache::BlockRun;
use crate::hybrid::blocks::Blocks;
use crate::hybrid::io::{Io, Tier, shared};
use crate::system::{Completion, Content};

/// Who waits for a slot of the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wanted {
    /// The segment of a slot.
    Fetch { slot: u32 },
    /// What is dirty in a slot.
    Destage { slot: u32 },
}

/// A segment in the buffer on its way to a slot.
#[derive(Debug, Default)]
pub(super) struct Fetch {
    /// Blocks that go to the slot, from the back device or from hosts that did not want to wait.
    pub blocks: Vec<BlockRun>,
    /// Those that hosts wrote into the buffer.
    pub written: Vec<BlockRun>,
    /// Accesses to the slot still under way.
    pub left: usize,
    pub data: Vec<Content>,
}

/// A segment that is read while its slot is not free yet.
#[derive(Debug)]
pub(super) enum Early {
    /// It is not.
    No,
    /// It is on its way to the buffer.
    Reading,
    /// It is in the buffer.
    Ready(Fetch),
}

impl CachingDisk {
    /// Asks for a slot of the buffer.
    pub(super) fn want(&mut self, io: &mut Io<Job>, wanted: Wanted) {
        if let Some(wanted) = self.buffer.take(wanted) {
            self.move_on(io, wanted, true);
        }
    }

    /// Gives a slot of the buffer back.
    pub(super) fn release(&mut self, io: &mut Io<Job>) {
        if let Some(wanted) = self.buffer.release() {
            self.move_on(io, wanted, false);
        }
    }

    pub(super) fn move_on(&mut self, io: &mut Io<Job>, wanted: Wanted, at_once: bool) {
        match wanted {
            Wanted::Fetch { slot } => self.fetch(io, slot),
            Wanted::Destage { slot } => self.collect(io, slot, at_once),
        }
    }

    fn fetch(&mut self, io: &mut Io<Job>, slot: u32) {
        let super::Slot { segment, stay, .. } = self.slots[slot as usize];
        self.fetch_group(io, Member { segment, slot, stay });
    }

    /// Whether a segment that waits for its slot must be read, and can be: nothing of it is on its way out.
    pub(super) fn is_to_fetch(&self, next: &Next) -> bool {
        let ending = self.ending.get(&next.segment).and_then(VecDeque::front);
        matches!(next.early, Early::No)
            && next.needs_fetch
            && ending.is_none_or(|ending| *ending >= next.stay)
    }

    /// With Shortcut nobody waits for a slot, so the next segment may be read while the one before leaves: as long as the
    /// buffer keeps a place for what leaves.
    pub(super) fn fetch_early(&mut self, io: &mut Io<Job>, slot: u32) {
        let Some(next) = self.next.get(&slot).and_then(VecDeque::front) else { return };
        let (segment, stay) = (next.segment, next.stay);
        if !self.is_to_fetch(next) || !self.buffer.take_spare() {
            return;
        }
        if let Some(next) = self.next.get_mut(&slot).and_then(VecDeque::front_mut) {
            next.early = Early::Reading;
        }
        self.fetch_group(io, Member { segment, slot, stay });
    }

    /// A segment is in the buffer: what waits may be answered, and what the slot lacks goes there when it is free.
    pub(super) fn fetched(
        &mut self,
        io: &mut Io<Job>,
        member: Member,
        data: Vec<Content>,
        access: &Completion,
    ) {
        let Member { slot, stay, .. } = member;
        let mut fetch = Fetch { data, ..Fetch::default() };
        if self.slots[slot as usize].stay == stay {
            let mut parts = self.waiting.remove(&slot).unwrap_or_default();
            if self.techniques.shortcut {
                self.answer_waiting(io, Some(slot), &mut parts, &mut fetch, access);
            }
            if !parts.is_empty() {
                self.waiting.insert(slot, parts);
            }
            self.fill(io, slot, fetch);
        } else if let Some(mut parts) = self.next_of(slot, stay).map(|next| std::mem::take(&mut next.parts)) {
            if self.techniques.shortcut {
                let queued = parts.len();
                self.answer_waiting(io, None, &mut parts, &mut fetch, access);
                self.queued -= queued - parts.len();
            }
            if let Some(next) = self.next_of(slot, stay) {
                (next.parts, next.early) = (parts, Early::Ready(fetch));
            }
        }
    }

    pub(super) fn next_of(&mut self, slot: u32, stay: u64) -> Option<&mut Next> {
        let queue = self.next.get_mut(&slot)?;
        let place = queue.binary_search_by_key(&stay, |next| next.stay).ok()?;
        queue.get_mut(place)
    }

    /// A part waits for its segment to get the slot, unless it can be answered before.
    pub(super) fn queue(&mut self, io: &mut Io<Job>, slot: u32, part: Part) {
        if self.techniques.shortcut && self.answer_early(io, slot, &part) {
            return;
        }
        let blocks = self.blocks_of(part.run.first / self.sizes.segment_blocks);
        let needs_none = self.techniques.partial_write || u64::from(part.run.blocks()) == blocks;
        let Some(next) = self.next.get_mut(&slot).and_then(VecDeque::back_mut) else { return };
        next.needs_fetch |= part.op == Op::Read || !needs_none;
        next.parts.push_back(part);
        self.queued += 1;
    }

    /// Answers a read of a segment that is in the buffer before it has its slot.
    fn answer_early(&mut self, io: &mut Io<Job>, slot: u32, part: &Part) -> bool {
        let run = self.within(part);
        let next = self.next.get(&slot).and_then(VecDeque::back);
        let Some(Next { early: Early::Ready(fetch), .. }) = next else { return false };
        if part.op == Op::Read {
            let found = fetch.data.get(run.first as usize..run.end as usize);
            io.deliver(part, found.map(<[_]>::to_vec).unwrap_or_default());
            io.answer_now(part);
        }
        part.op == Op::Read
    }

    /// A segment goes from the buffer to its slot, as far as that lacks it.
    pub(super) fn fill(&mut self, io: &mut Io<Job>, slot: u32, mut fetch: Fetch) {
        let blocks = self.blocks_of(self.slots[slot as usize].segment);
        let (valid, dirty) = (self.valid.get(slot), self.dirty.get(slot));
        let missing = valid.0.iter().zip(&dirty.0).map(|(valid, dirty)| !(valid | dirty));
        fetch.blocks = Blocks(missing.collect()).runs(blocks, None);
        let is_whole = fetch.blocks == [BlockRun { first: 0, end: blocks }];
        fetch.left = fetch.blocks.len();
        let (base, runs) = (self.data_at(slot), fetch.blocks.clone());
        self.slots[slot as usize].phase = Phase::Filling;
        self.slots[slot as usize].is_changed = true;
        self.fetches.insert(slot, fetch);
        if runs.is_empty() {
            self.end_fill(io, slot);
            return;
        }
        for run in runs {
            let data = || {
                let data = &self.fetches[&slot].data;
                data[run.first as usize..run.end as usize].to_vec()
            };
            let mut to = BlockRun { first: base + run.first, end: base + run.end };
            if is_whole {
                // The header goes along.
                to.first -= self.sizes.header_blocks;
                let has_header = self.headers.begin(slot);
                io.write(Tier::Front, to, Job::Filled { slot }, || {
                    let header = has_header.then(|| self.filled_header(slot));
                    header.into_iter().chain(data()).collect()
                });
            } else {
                io.write(Tier::Front, to, Job::Filled { slot }, data);
            }
        }
    }

    /// Answers from the buffer all that waits for nothing else. What is in the slot, if the segment has one, may be
    /// newer.
    fn answer_waiting(
        &mut self,
        io: &mut Io<Job>,
        slot: Option<u32>,
        parts: &mut VecDeque<Part>,
        fetch: &mut Fetch,
        access: &Completion,
    ) {
        let mut access = *access;
        parts.retain(|part| {
            let run = self.within(part);
            let is_newer = |slot| self.valid.has_any(slot, run) || self.dirty.has_any(slot, run);
            if slot.is_some_and(is_newer) {
                return true;
            }
            let range = run.first as usize..run.end as usize;
            if part.op == Op::Read {
                io.deliver(part, fetch.data.get(range).map(<[_]>::to_vec).unwrap_or_default());
            } else {
                if io.keeps_contents() {
                    fetch.data[range].clone_from_slice(&io.data(part));
                }
                fetch.written.push(run);
            }
            io.answer(part, &access);
            access = shared(&access);
            false
        });
    }

    /// Answers a read from the buffer while the slot is being filled from there.
    pub(super) fn serve_from_buffer(&mut self, io: &mut Io<Job>, slot: u32, part: &Part) -> bool {
        let run = self.within(part);
        let Some(fetch) = self.fetches.get(&slot).filter(|_| self.techniques.shortcut) else { return false };
        if !fetch.blocks.iter().any(|filled| filled.first <= run.first && run.end <= filled.end) {
            return false;
        }
        let found = fetch.data.get(run.first as usize..run.end as usize);
        io.deliver(part, found.map(<[_]>::to_vec).unwrap_or_default());
        io.answer_now(part);
        true
    }

    /// Some blocks have come to a slot from the buffer.
    pub(super) fn filled(&mut self, io: &mut Io<Job>, slot: u32, access: &Completion) {
        io.spend(access);
        let Some(fetch) = self.fetches.get_mut(&slot) else { return };
        fetch.left -= 1;
        if fetch.left == 0 {
            self.end_fill(io, slot);
        }
    }

    fn end_fill(&mut self, io: &mut Io<Job>, slot: u32) {
        let Some(fetch) = self.fetches.remove(&slot) else { return };
        let blocks = self.blocks_of(self.slots[slot as usize].segment);
        let is_whole = fetch.blocks == [BlockRun { first: 0, end: blocks }];
        for run in &fetch.blocks {
            self.valid.add(slot, *run);
        }
        for run in &fetch.written {
            let dirtied = self.dirty.add(slot, *run);
            self.counts.superseded_blocks += u64::from(run.blocks()) - dirtied;
        }
        self.slots[slot as usize].phase = Phase::Held;
        self.slots[slot as usize].is_changed = true;
        if is_whole {
            self.headers.end(slot);
        }
        self.note_filled(io, slot, is_whole);
        self.ready.push(slot);
        self.release(io);
    }
}
