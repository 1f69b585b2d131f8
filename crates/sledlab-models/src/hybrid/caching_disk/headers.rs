//! Headers (Wang 2005, section 4.1): the segment in a slot, its valid blocks and its dirty blocks, stored on the front
//! device in front of the slot's data.
//!
//! A header changes at the same time as its slot. The buffer between the devices is non-volatile, so it keeps a note of
//! each change at once; the header on the front device is written later in the background, and then the note is
//! dropped. A block counts as dirty as soon as a write to it begins, and as valid once that write is complete.

use sledlab_core::hash::Map;

use super::moves::EarlyFetch;
use super::{CachingDisk, Job, Phase, Sizes};
use crate::cache::BlockRun;
use crate::hybrid::blocks::Blocks;
use crate::hybrid::io::{Io, Tier};
use crate::system::{Completion, Content, Contents};

/// State of the header of a slot.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// The header on the front device is older than the note.
    is_old: bool,
    /// The header is being written.
    is_writing: bool,
}

/// States of the headers of all slots, and notes for those that are stale.
#[derive(Debug)]
pub(super) struct Headers {
    sizes: Sizes,
    states: Vec<State>,
    /// The current headers; kept only where contents are.
    notes: Map<u32, Content>,
}

impl Headers {
    pub fn new(sizes: Sizes) -> Self {
        Headers { sizes, states: vec![State::default(); sizes.slots as usize], notes: Map::default() }
    }

    /// The write of a current header begins; false where the front device has no headers.
    pub fn begin(&mut self, slot: u32) -> bool {
        let has_headers = self.sizes.header_blocks > 0;
        if has_headers {
            self.states[slot as usize] = State { is_old: false, is_writing: true };
        }
        has_headers
    }

    /// A header has been written.
    pub fn end(&mut self, slot: u32) {
        self.states[slot as usize].is_writing = false;
    }
}

/// All that survives a crash.
pub(super) struct Durable {
    sizes: Sizes,
    front: Contents,
    back: Contents,
    notes: Map<u32, Content>,
    /// Dirty blocks in the buffer.
    buffer: Contents,
}

impl CachingDisk {
    /// The current header of a slot: the segment, its valid blocks and its dirty blocks; empty for a free slot.
    fn header(&self, slot: u32) -> Content {
        let state = self.slots[slot as usize];
        if state.phase == Phase::Free {
            return Content::Header([].into());
        }
        Content::Header(words(state.segment, &self.valid.get(slot), &self.undestaged_blocks(slot)))
    }

    /// Blocks of a slot that are dirty or being destaged with a neighboring victim.
    fn undestaged_blocks(&self, slot: u32) -> Blocks {
        let mut dirty = self.dirty.get(slot);
        for (word, cleaning) in
            dirty.0.iter_mut().zip(self.cleaned_blocks.get(&slot).into_iter().flat_map(|set| &set.0))
        {
            *word |= cleaning;
        }
        dirty
    }

    /// The header of a slot as it is once the slot has been filled from the buffer.
    pub(super) fn filled_header(&self, slot: u32) -> Content {
        let segment = self.slots[slot as usize].segment;
        let blocks = self.segment_len(segment);
        let valid_words = (0..self.valid.get(slot).0.len() as u64).map(|word| {
            u64::MAX.checked_shr(64_u64.saturating_sub(blocks.saturating_sub(word * 64)) as u32).unwrap_or(0)
        });
        let mut dirty = self.undestaged_blocks(slot);
        for run in self.fetches.get(&slot).into_iter().flat_map(|fetch| &fetch.written_runs) {
            dirty.insert(*run);
        }
        Content::Header(words(segment, &Blocks(valid_words.collect()), &dirty))
    }

    /// A slot has changed: its header is stale, and the buffer keeps a note of the current header.
    #[inline]
    pub(super) fn note(&mut self, io: &Io<Job>, slot: u32) {
        self.headers.states[slot as usize].is_old = true;
        if io.keeps_contents() {
            let header = self.header(slot);
            self.headers.notes.insert(slot, header);
        }
    }

    /// A slot has been filled; its header was written with the data if the entire segment was written.
    pub(super) fn note_fill(&mut self, io: &mut Io<Job>, slot: u32, is_whole: bool) {
        if is_whole && self.sizes.header_blocks > 0 && !self.headers.states[slot as usize].is_old {
            self.headers.notes.remove(&slot);
            return;
        }
        self.note(io, slot);
        self.write_header(io, slot);
    }

    /// Writes the header of a slot if it is stale and not being written already.
    #[inline]
    pub(super) fn write_header(&mut self, io: &mut Io<Job>, slot: u32) {
        let State { is_old, is_writing } = self.headers.states[slot as usize];
        let phase = self.slots[slot as usize].phase;
        let is_settled = matches!(phase, Phase::Resident | Phase::Fetching);
        if is_old && !is_writing && is_settled && self.headers.begin(slot) {
            self.slots[slot as usize].users += 1;
            let front_block = self.first_data_block(slot) - self.sizes.header_blocks;
            let run = BlockRun { first: front_block, end: front_block + self.sizes.header_blocks };
            let header = || vec![self.header(slot)];
            io.write(Tier::Front, run, Job::Header { slot }, header);
        }
    }

    /// The header of a slot has been written to the front device.
    pub(super) fn complete_header_write(&mut self, io: &mut Io<Job>, slot: u32, access: &Completion) {
        io.charge_background(access);
        self.headers.end(slot);
        if self.headers.states[slot as usize].is_old {
            self.write_header(io, slot);
        } else {
            self.headers.notes.remove(&slot);
        }
        self.end_access(slot);
    }

    /// The state that survives a crash, with the contents of the media of both devices.
    pub(super) fn durable(&mut self, (front, back): (Contents, Contents)) -> Durable {
        let mut buffer = Contents::default();
        for destage in self.destages.iter().flatten().filter(|destage| destage.slot.is_none()) {
            let first = destage.segment * self.sizes.segment_blocks;
            for lbn in (first..first + self.sizes.segment_blocks).filter(|lbn| destage.dirty.has(lbn - first))
            {
                buffer.insert(lbn, destage.data[destage.data_index(lbn)].clone());
            }
        }
        let mut keep_block = |segment: u64, block: u64, data: &[Content]| {
            buffer.insert(segment * self.sizes.segment_blocks + block, data[block as usize].clone());
        };
        for (slot, fetch) in &self.fetches {
            for run in &fetch.written_runs {
                (run.first..run.end)
                    .for_each(|block| keep_block(self.slots[*slot as usize].segment, block, &fetch.data));
            }
        }
        for next in self.next.values().flatten() {
            if let EarlyFetch::Ready(fetch) = &next.early {
                let blocks = fetch.written_runs.iter().flat_map(|run| run.first..run.end);
                blocks.for_each(|block| keep_block(next.segment, block, &fetch.data));
            }
        }
        Durable { sizes: self.sizes, front, back, notes: std::mem::take(&mut self.headers.notes), buffer }
    }
}

/// The words of a header.
fn words(segment: u64, valid: &Blocks, dirty: &Blocks) -> std::sync::Arc<[u64]> {
    std::iter::once(segment).chain(valid.0.iter().copied()).chain(dirty.0.iter().copied()).collect()
}

/// The contents of every block, recovered from durable state only: the back device, replaced by the blocks that headers
/// and notes mark as dirty in the slots, replaced by the dirty blocks in the buffer.
///
/// # Panics
/// If a block that its header marks as clean differs between slot and back device: a defect, which is visible only in
/// tests that keep contents.
pub(super) fn recover(durable: Durable) -> Contents {
    let Durable { sizes, front, back, notes, buffer } = durable;
    let mut contents = back;
    let slot_blocks = sizes.segment_blocks + sizes.header_blocks;
    for slot in 0..sizes.slots {
        let header_block = u64::from(slot) * slot_blocks;
        let header = notes.get(&slot).or_else(|| front.get(&header_block));
        let Some(Content::Header(words)) = header else { continue };
        let Some((segment, sets)) = words.split_first() else { continue };
        let (valid, dirty) = sets.split_at(sets.len() / 2);
        let (valid, dirty) = (Blocks(valid.into()), Blocks(dirty.into()));
        for block in (0..sizes.segment_blocks).filter(|block| valid.has(*block)) {
            let content =
                front.get(&(header_block + sizes.header_blocks + block)).cloned().unwrap_or_default();
            let lbn = segment * sizes.segment_blocks + block;
            if dirty.has(block) {
                contents.insert(lbn, content);
            } else {
                assert_eq!(
                    content,
                    contents.get(&lbn).cloned().unwrap_or_default(),
                    "block {lbn} is marked clean"
                );
            }
        }
    }
    contents.extend(buffer);
    contents
}
