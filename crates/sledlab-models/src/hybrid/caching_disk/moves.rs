//! Fetches: segments go from the back device through the speed-matching buffer to their slots.

use std::collections::VecDeque;

use sledlab_core::Op;

use super::groups::Member;
use super::{CachingDisk, Job, Next, Part, Parts, Phase};
use crate::cache::BlockRun;
use crate::hybrid::blocks::{Blocks, Runs};
use crate::hybrid::io::{Io, Tier, without_startup};
use crate::system::{Completion, Content};

/// A move that needs a slot of the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) enum SlotRequest {
    /// The segment of a slot is to be fetched.
    Fetch { slot: u32 },
    /// The dirty blocks of a slot are to be destaged.
    Destage { slot: u32 },
}

/// A segment in the buffer that is to be written to its slot.
#[derive(Debug, Default)]
pub(super) struct Fetch {
    /// Runs that are written to the slot; their data come from the back device or from writes answered from the buffer.
    pub blocks: Runs,
    /// Runs that hosts wrote into the buffer.
    pub written_runs: Vec<BlockRun>,
    /// Number of writes to the slot that are not complete.
    pub remaining_writes: usize,
    pub data: Vec<Content>,
}

/// Whether a segment is fetched while its slot is not free yet.
#[derive(Debug)]
pub(super) enum EarlyFetch {
    /// The segment is not being fetched.
    No,
    /// The segment is being fetched to the buffer.
    Reading,
    /// The segment is in the buffer.
    Ready(Fetch),
}

impl CachingDisk {
    /// Asks for a slot of the buffer, and begins the move when there is one.
    pub(super) fn request_buffer_slot(&mut self, io: &mut Io<Job>, request: SlotRequest) {
        if let Some(request) = self.buffer.take(request) {
            self.begin_move(io, request, true);
        }
    }

    /// Releases a slot of the buffer; the next waiting move begins with it.
    pub(super) fn release_buffer_slot(&mut self, io: &mut Io<Job>) {
        if let Some(request) = self.buffer.release() {
            self.begin_move(io, request, false);
        }
    }

    pub(super) fn begin_move(&mut self, io: &mut Io<Job>, request: SlotRequest, had_no_wait: bool) {
        match request {
            SlotRequest::Fetch { slot } => self.fetch(io, slot),
            SlotRequest::Destage { slot } => self.read_victim(io, slot, had_no_wait),
        }
    }

    fn fetch(&mut self, io: &mut Io<Job>, slot: u32) {
        let super::Slot { segment, stay, .. } = self.slots[slot as usize];
        self.fetch_group(io, Member { segment, slot, stay });
    }

    /// Whether a segment that waits for its slot must be fetched, and can be: all earlier stays of it have ended, so
    /// the back device has its newest blocks.
    pub(super) fn is_to_fetch(&self, next: &Next) -> bool {
        let first_ending = self.ending_stays.get(&next.segment).and_then(VecDeque::front);
        matches!(next.early, EarlyFetch::No)
            && next.needs_fetch
            && first_ending.is_none_or(|ending| *ending >= next.stay)
    }

    /// With Shortcut, reads are answered from the buffer before the segment is in its slot. So the next segment of a
    /// slot may be fetched while the one before is destaged, as long as the buffer keeps a free place for a victim.
    pub(super) fn fetch_early(&mut self, io: &mut Io<Job>, slot: u32) {
        let Some(next) = self.next.get(&slot).and_then(VecDeque::front) else { return };
        let (segment, stay) = (next.segment, next.stay);
        if !self.is_to_fetch(next) || !self.buffer.take_spare() {
            return;
        }
        if let Some(next) = self.next.get_mut(&slot).and_then(VecDeque::front_mut) {
            next.early = EarlyFetch::Reading;
        }
        self.fetch_group(io, Member { segment, slot, stay });
    }

    /// A segment has been fetched to the buffer: waiting parts may be answered, and the blocks that the slot lacks are
    /// written to the slot once it is free.
    pub(super) fn complete_fetch(
        &mut self,
        io: &mut Io<Job>,
        member: Member,
        data: Vec<Content>,
        access: &Completion,
    ) {
        let Member { slot, stay, .. } = member;
        if self.slots[slot as usize].stay == stay {
            // Pieces may have been copied to the slot already.
            let mut fetch = Fetch { data, ..self.fetches.remove(&slot).unwrap_or_default() };
            let mut parts = self.waiting_parts.remove(&slot).unwrap_or_default();
            if self.techniques.shortcut {
                self.answer_waiting(io, member, true, &mut parts, &mut fetch, access);
            }
            if !parts.is_empty() {
                self.waiting_parts.insert(slot, parts);
            }
            self.fill(io, slot, fetch);
        } else if let Some(mut parts) =
            self.next_segment(slot, stay).map(|next| std::mem::take(&mut next.parts))
        {
            let mut fetch = Fetch { data, ..Fetch::default() };
            if self.techniques.shortcut {
                let parts_before = parts.len();
                self.answer_waiting(io, member, false, &mut parts, &mut fetch, access);
                self.queued_parts -= parts_before - parts.len();
            }
            if let Some(next) = self.next_segment(slot, stay) {
                (next.parts, next.early) = (parts, EarlyFetch::Ready(fetch));
            }
        }
    }

    pub(super) fn next_segment(&mut self, slot: u32, stay: u64) -> Option<&mut Next> {
        let queue = self.next.get_mut(&slot)?;
        let place = queue.binary_search_by_key(&stay, |next| next.stay).ok()?;
        queue.get_mut(place)
    }

    /// Lets a part wait until its segment takes the slot, unless the buffer can answer it before.
    pub(super) fn queue(&mut self, io: &mut Io<Job>, slot: u32, part: Part) {
        if part.op == Op::Read && self.techniques.shortcut && self.answer_early(io, slot, &part) {
            return;
        }
        let blocks = self.segment_len(part.run.first / self.sizes.segment_blocks);
        let needs_none = self.techniques.partial_write || u64::from(part.run.blocks()) == blocks;
        let Some(next) = self.next.get_mut(&slot).and_then(VecDeque::back_mut) else { return };
        next.needs_fetch |= part.op == Op::Read || !needs_none;
        next.parts.push(part);
        self.queued_parts += 1;
    }

    /// Answers a read from the buffer where its segment has been fetched and does not have its slot yet; false where it
    /// cannot.
    fn answer_early(&mut self, io: &mut Io<Job>, slot: u32, part: &Part) -> bool {
        let next = self.next.get(&slot).and_then(VecDeque::back);
        let Some(Next { segment, early: EarlyFetch::Ready(fetch), .. }) = next else { return false };
        let run = self.segment_run(*segment, part);
        let contents = fetch.data.get(run.first as usize..run.end as usize);
        io.deliver(part, contents.map(<[_]>::to_vec).unwrap_or_default());
        io.complete_now(part);
        true
    }

    /// Blocks that a slot lacks and that are not being written to it.
    pub(super) fn missing_blocks(&self, slot: u32, fetch: &Fetch) -> Blocks {
        let (valid, dirty) = (self.valid.get(slot), self.dirty.get(slot));
        let mut missing =
            Blocks(valid.0.iter().zip(&dirty.0).map(|(valid, dirty)| !(valid | dirty)).collect());
        fetch.blocks.iter().for_each(|run| missing.remove(*run));
        missing
    }

    /// Writes those blocks of a segment that its slot lacks from the buffer to the slot.
    pub(super) fn fill(&mut self, io: &mut Io<Job>, slot: u32, fetch: Fetch) {
        let blocks = self.segment_len(self.slots[slot as usize].segment);
        let runs = self.missing_blocks(slot, &fetch).runs(blocks, None);
        self.slots[slot as usize].phase = Phase::Filling;
        self.slots[slot as usize].is_changed = true;
        let is_filled = runs.is_empty() && fetch.remaining_writes == 0;
        self.write_fetched(io, slot, fetch, &runs);
        if is_filled {
            self.end_fill(io, slot);
        }
    }

    /// Writes the blocks `runs` of a segment from the buffer to its slot.
    pub(super) fn write_fetched(&mut self, io: &mut Io<Job>, slot: u32, mut fetch: Fetch, runs: &Runs) {
        let blocks = self.segment_len(self.slots[slot as usize].segment);
        fetch.blocks.extend(runs.iter().copied());
        fetch.remaining_writes += runs.len();
        self.fetches.insert(slot, fetch);
        let base = self.first_data_block(slot);
        for run in runs {
            let data = || {
                let data = &self.fetches[&slot].data;
                data[run.first as usize..run.end as usize].to_vec()
            };
            let mut to = BlockRun { first: base + run.first, end: base + run.end };
            if run.end - run.first == blocks {
                // The header is written with the data, by one access.
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

    /// Answers those of `parts` from the buffer of which the slot, if it `has_segment`, contains no block: what the
    /// slot holds may be newer.
    fn answer_waiting(
        &mut self,
        io: &mut Io<Job>,
        Member { segment, slot, .. }: Member,
        has_segment: bool,
        parts: &mut Parts,
        fetch: &mut Fetch,
        access: &Completion,
    ) {
        let mut access = *access;
        parts.retain(|part| {
            let run = self.segment_run(segment, part);
            if has_segment && (self.valid.has_any(slot, run) || self.dirty.has_any(slot, run)) {
                return true;
            }
            // A write that is answered from the buffer must not be older than the copy in the slot.
            if part.op == Op::Write && fetch.blocks.iter().any(|copied| overlap(*copied, run)) {
                return true;
            }
            let range = run.first as usize..run.end as usize;
            if part.op == Op::Read {
                io.deliver(part, fetch.data.get(range).map(<[_]>::to_vec).unwrap_or_default());
            } else {
                if io.keeps_contents() {
                    fetch.data[range].clone_from_slice(&io.data(part));
                }
                fetch.written_runs.push(run);
            }
            io.complete_part(part, &access);
            access = without_startup(&access);
            false
        });
    }

    /// Answers a read from the buffer while the slot is being filled from there.
    pub(super) fn serve_from_buffer(&mut self, io: &mut Io<Job>, slot: u32, part: &Part) -> bool {
        let run = self.segment_run(self.slots[slot as usize].segment, part);
        let is_in_buffer = self.techniques.shortcut && !self.awaits_pieces(slot);
        let Some(fetch) = self.fetches.get(&slot).filter(|_| is_in_buffer) else { return false };
        if !fetch.blocks.iter().any(|filled| filled.first <= run.first && run.end <= filled.end) {
            return false;
        }
        let contents = fetch.data.get(run.first as usize..run.end as usize);
        io.deliver(part, contents.map(<[_]>::to_vec).unwrap_or_default());
        io.complete_now(part);
        true
    }

    /// Some blocks have been written from the buffer to a slot.
    pub(super) fn complete_fill_write(&mut self, io: &mut Io<Job>, slot: u32, access: &Completion) {
        io.charge_background(access);
        let Some(fetch) = self.fetches.get_mut(&slot) else { return };
        fetch.remaining_writes -= 1;
        if fetch.remaining_writes == 0 && !self.awaits_pieces(slot) {
            self.end_fill(io, slot);
        }
    }

    fn end_fill(&mut self, io: &mut Io<Job>, slot: u32) {
        let Some(fetch) = self.fetches.remove(&slot) else { return };
        let blocks = self.segment_len(self.slots[slot as usize].segment);
        let is_whole = fetch.blocks[..] == [BlockRun { first: 0, end: blocks }];
        for run in &fetch.blocks {
            self.valid.add(slot, *run);
        }
        for run in &fetch.written_runs {
            let newly_dirty = self.dirty.add(slot, *run);
            self.counts.superseded_blocks += u64::from(run.blocks()) - newly_dirty;
        }
        self.slots[slot as usize].phase = Phase::Resident;
        self.slots[slot as usize].is_changed = true;
        if is_whole {
            self.headers.end(slot);
        }
        self.note_fill(io, slot, is_whole);
        self.ready.push(slot);
        self.release_buffer_slot(io);
    }
}

fn overlap(a: BlockRun, b: BlockRun) -> bool {
    a.first < b.end && b.first < a.end
}
