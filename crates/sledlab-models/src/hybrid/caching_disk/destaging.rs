//! Destaging: victims go from their slots through the speed-matching buffer to the back device.
//!
//! With Immediate Report, the slot of a victim is free once the buffer has the victim. So victims may be written behind
//! reads: while no read of the back device is in flight, one at a time, in ascending order of segments (an elevator).
//! Write-behind delays nothing forever: as many victims are written at once as segments wait for a place in the
//! buffer, at least one is written while victims take more than half of the buffer, and a victim that is requested
//! again is written at once.

use std::collections::BTreeSet;

use smallvec::smallvec;

use super::moves::SlotRequest;
use super::{CachingDisk, Job, Phase, Slot};
use crate::cache::BlockRun;
use crate::hybrid::blocks::{Blocks, Runs};
use crate::hybrid::io::{Io, Tier};
use crate::system::{Completion, Content};

/// The progress of a destage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The victim is being read into the buffer.
    Collecting,
    /// The victim is in the buffer.
    Collected,
    /// The neighbors of the victim are being read into the buffer.
    Joining,
    /// Victim and neighbors are being written to the back device.
    Writing,
}

/// A victim that is being destaged through the buffer.
#[derive(Debug)]
pub(super) struct Destage {
    pub segment: u64,
    stay: u64,
    /// The victim's slot, until that is free.
    pub slot: Option<u32>,
    /// Whether the slot is free as soon as the buffer has all dirty blocks (Immediate Report).
    reports_early: bool,
    pub step: Step,
    /// Runs of the back device that are written.
    pub runs: Runs,
    /// Dirty blocks of the victim.
    pub dirty: Blocks,
    /// Number of accesses of the present step that are not complete.
    pub remaining_accesses: usize,
    /// Slots of the neighbors that are destaged with the victim.
    pub neighbors: Vec<u32>,
    /// The data to be written to the back device, from block `first` on, as far as the buffer has them.
    pub data: Vec<Content>,
    pub first: u64,
}

impl Destage {
    /// Index in `data` of a block of the back device.
    pub fn data_index(&self, lbn: u64) -> usize {
        (lbn - self.first) as usize
    }

    fn contents(&self, run: BlockRun) -> Vec<Content> {
        self.data[self.data_index(run.first)..self.data_index(run.end)].to_vec()
    }
}

/// Victims in the buffer that are written behind reads.
#[derive(Debug, Default)]
pub(super) struct WriteBehindQueue {
    /// Whether victims are written behind reads of the back device.
    is_on: bool,
    /// Victims whose write has not begun, by segment: the segment and the index in `destages`.
    waiting: BTreeSet<(u64, usize)>,
    /// Number of victims that are being written and whose slot is free.
    writing: usize,
    /// The segment that [`pop`](WriteBehindQueue::pop) took last.
    last_segment: u64,
    /// Number of reads of the back device in flight.
    pub reads: usize,
}

impl WriteBehindQueue {
    /// Returns a state without victims; `is_on` is whether victims are written behind reads.
    pub fn new(is_on: bool) -> Self {
        WriteBehindQueue { is_on, ..WriteBehindQueue::default() }
    }

    /// The next victim in ascending order of segments, from the lowest again at the end.
    fn pop(&mut self) -> Option<usize> {
        let next =
            self.waiting.range((self.last_segment, 0)..).next().or_else(|| self.waiting.first()).copied()?;
        self.waiting.remove(&next);
        self.last_segment = next.0;
        Some(next.1)
    }

    /// Takes out the victim that holds a segment, if it waits.
    fn remove(&mut self, segment: u64) -> Option<usize> {
        let victim = self.waiting.range((segment, 0)..=(segment, usize::MAX)).next().copied()?;
        self.waiting.remove(&victim);
        Some(victim.1)
    }
}

impl CachingDisk {
    /// Evicts the segment in a slot: a clean segment at once, a dirty segment after destaging.
    pub(super) fn evict(&mut self, io: &mut Io<Job>, slot: u32) {
        self.slots[slot as usize].phase = Phase::Leaving;
        if self.dirty.is_empty(slot) {
            let (segment, stay) = (self.slots[slot as usize].segment, self.slots[slot as usize].stay);
            self.free(io, slot);
            self.end_stay(segment, stay);
        } else {
            self.request_buffer_slot(io, SlotRequest::Destage { slot });
        }
    }

    /// Marks a slot as free.
    fn free(&mut self, io: &mut Io<Job>, slot: u32) {
        self.valid.clear(slot);
        self.dirty.clear(slot);
        self.slots[slot as usize].phase = Phase::Free;
        self.note(io, slot);
        self.ready.push(slot);
    }

    /// A stay of a segment on the front device has ended, and the back device has all its blocks; the next stay may
    /// begin.
    fn end_stay(&mut self, segment: u64, stay: u64) {
        if let Some(stays) = self.ending_stays.get_mut(&segment) {
            // The stays of a segment end in order.
            let ended = stays.pop_front();
            debug_assert_eq!(ended, Some(stay));
            if stays.is_empty() {
                self.ending_stays.remove(&segment);
            }
        }
        self.ready.extend(self.blocked_slots.remove(&segment).into_iter().flatten());
    }

    /// Reads the dirty blocks of a slot into the buffer, which has a place for them; `had_no_wait` where the victim did
    /// not wait for that place. A victim that waited reports early only with write-behind, where the wait for the place
    /// was a wait for another victim's write already.
    pub(super) fn read_victim(&mut self, io: &mut Io<Job>, slot: u32, had_no_wait: bool) {
        let Slot { segment, stay, .. } = self.slots[slot as usize];
        let (valid, dirty) = (self.valid.get(slot), self.dirty.get(slot));
        let (blocks, first) = (self.segment_len(segment), segment * self.sizes.segment_blocks);
        let mut runs = if self.techniques.partial_write && !self.joins_neighbors(slot) {
            dirty.runs(blocks, Some(&valid))
        } else {
            smallvec![BlockRun { first: 0, end: blocks }]
        };
        for run in &mut runs {
            *run = BlockRun { first: first + run.first, end: first + run.end };
        }
        let data = if io.keeps_contents() { vec![Content::default(); blocks as usize] } else { Vec::new() };
        let destage = Destage {
            segment,
            stay,
            slot: Some(slot),
            reports_early: self.techniques.immediate_report && (had_no_wait || self.write_behind_queue.is_on),
            step: Step::Collecting,
            runs: runs.clone(),
            dirty,
            remaining_accesses: runs.len(),
            neighbors: Vec::new(),
            data,
            first,
        };
        let place = self.destages.iter().position(Option::is_none).unwrap_or_else(|| {
            self.destages.push(None);
            self.destages.len() - 1
        });
        self.destages[place] = Some(destage);
        for run in runs {
            self.read_slot(io, slot, run, place);
        }
        if self.frees_early {
            self.report_early(io, place);
        }
    }

    /// Reads the blocks `run`, numbered as on the back device, from their slot into the buffer.
    pub(super) fn read_slot(&mut self, io: &mut Io<Job>, slot: u32, run: BlockRun, place: usize) {
        let offset = run.first % self.sizes.segment_blocks;
        let from = self.first_data_block(slot) + offset;
        let from = BlockRun { first: from, end: from + u64::from(run.blocks()) };
        io.read(Tier::Front, from, Job::Collected { destage: place, run });
    }

    /// A run of a victim, or a neighbor, has been read into the buffer.
    pub(super) fn complete_victim_read(
        &mut self,
        io: &mut Io<Job>,
        place: usize,
        run: BlockRun,
        access: &Completion,
    ) {
        io.charge_background(access);
        let contents = io.contents(Tier::Front, access);
        let Some(destage) = self.destages[place].as_mut() else { return };
        if !contents.is_empty() {
            let data_offset = destage.data_index(run.first);
            destage.data[data_offset..data_offset + contents.len()].clone_from_slice(&contents);
        }
        destage.remaining_accesses -= 1;
        if destage.remaining_accesses > 0 {
            return;
        }
        if destage.step == Step::Joining {
            self.write_back(io, place);
            return;
        }
        destage.step = Step::Collected;
        self.report_early(io, place);
        let Some(Destage { segment, slot, .. }) = self.destages[place].as_ref() else { return };
        let is_behind =
            self.write_behind_queue.is_on && slot.is_none() && !self.blocked_slots.contains_key(segment);
        if is_behind {
            self.write_behind_queue.waiting.insert((*segment, place));
        } else {
            self.begin_write(io, place);
        }
    }

    /// Frees the slot of a victim that reports early.
    fn report_early(&mut self, io: &mut Io<Job>, place: usize) {
        let Some(destage) = self.destages[place].as_mut().filter(|destage| destage.reports_early) else {
            return;
        };
        if let Some(slot) = destage.slot.take() {
            self.free(io, slot);
        }
    }

    /// Begins as many writes of waiting victims as [`max_concurrent_writes`](Self::max_concurrent_writes) allows.
    #[inline]
    pub(super) fn write_behind(&mut self, io: &mut Io<Job>) {
        while !self.write_behind_queue.waiting.is_empty()
            && self.write_behind_queue.writing < self.max_concurrent_writes()
            && let Some(place) = self.write_behind_queue.pop()
        {
            self.begin_write(io, place);
        }
    }

    /// Number of victims that may be written at once.
    fn max_concurrent_writes(&self) -> usize {
        let WriteBehindQueue { waiting, writing, reads, .. } = &self.write_behind_queue;
        let crowds_buffer = 2 * (waiting.len() + writing) > self.sizes.buffer_slots;
        self.buffer.waiting_users().max(usize::from(*reads == 0 || crowds_buffer))
    }

    /// Begins the write of a waiting victim at once, as its segment is requested again.
    pub(super) fn write_now(&mut self, io: &mut Io<Job>, segment: u64) {
        if let Some(place) = self.write_behind_queue.remove(segment) {
            self.begin_write(io, place);
        }
    }

    /// Begins to write a victim, with its neighbors where there are some.
    fn begin_write(&mut self, io: &mut Io<Job>, place: usize) {
        let is_early = self.destages[place].as_ref().is_some_and(|destage| destage.slot.is_none());
        self.write_behind_queue.writing += usize::from(is_early);
        if !self.read_neighbors(io, place) {
            self.write_back(io, place);
        }
    }

    fn write_back(&mut self, io: &mut Io<Job>, place: usize) {
        let Some(destage) = self.destages[place].as_mut() else { return };
        (destage.step, destage.remaining_accesses) = (Step::Writing, destage.runs.len());
        let destage = &*destage;
        for run in &destage.runs {
            io.write(Tier::Back, *run, Job::Destaged { destage: place }, || destage.contents(*run));
        }
    }

    /// A run of a victim is on the back device.
    pub(super) fn complete_destage(&mut self, io: &mut Io<Job>, place: usize, access: &Completion) {
        io.charge_background(access);
        let Some(destage) = self.destages[place].as_mut() else { return };
        destage.remaining_accesses -= 1;
        if destage.remaining_accesses > 0 {
            return;
        }
        let Some(Destage { segment, stay, slot, dirty, neighbors, .. }) = self.destages[place].take() else {
            return;
        };
        self.counts.destaged_blocks += dirty.len();
        match slot {
            Some(slot) => self.free(io, slot),
            None => self.write_behind_queue.writing -= 1,
        }
        self.end_stay(segment, stay);
        self.complete_neighbors(io, neighbors);
        self.release_buffer_slot(io);
    }

    /// Number of dirty blocks, including those in the buffer that are being destaged.
    pub(super) fn dirty_blocks(&self) -> u64 {
        let in_buffer = self.destages.iter().flatten().filter(|destage| destage.slot.is_none());
        let departing_blocks = in_buffer.map(|destage| &destage.dirty).chain(self.cleaned_blocks.values());
        self.dirty.len() + departing_blocks.map(Blocks::len).sum::<u64>()
    }
}
