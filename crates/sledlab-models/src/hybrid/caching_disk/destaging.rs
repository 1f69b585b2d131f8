//! Victims on their way from their slots through the speed-matching buffer to the back device.
//!
//! Where Immediate Report is on, nobody waits for a victim once it is in the buffer, so it may be written behind the reads
//! that hosts wait for: while none is under way on the back device, one at a time, in the order of places (an elevator).
//! Nothing is held up by that for ever: as many are written at once as there are segments that wait for a place in the
//! buffer, one at least while victims take more than half of it, and a victim that is asked for again at once.

use std::collections::BTreeSet;

use super::moves::Wanted;
use super::{CachingDisk, Job, Phase, Slot};
use crate::cache::BlockRun;
use crate::hybrid::blocks::Blocks;
use crate::hybrid::io::{Io, Tier};
use crate::system::{Completion, Content};

/// How far a destage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The victim is on its way to the buffer.
    Collecting,
    /// It is in the buffer.
    Collected,
    /// Its neighbours are on their way there.
    Joining,
    /// All is on its way to the back device.
    Writing,
}

/// What was dirty in a slot, on its way through the buffer.
#[derive(Debug)]
pub(super) struct Destage {
    pub segment: u64,
    stay: u64,
    /// Its slot, until that is free.
    pub slot: Option<u32>,
    /// Whether the slot is free as soon as all is in the buffer.
    reports_early: bool,
    pub step: Step,
    /// Blocks of the back device that go there.
    pub runs: Vec<BlockRun>,
    /// Dirty blocks of the segment.
    pub dirty: Blocks,
    /// Accesses under way.
    pub left: usize,
    /// Slots of neighbours that are written along.
    pub neighbours: Vec<u32>,
    /// What goes to the back device from block `first` on, as far as it is in the buffer.
    pub data: Vec<Content>,
    pub first: u64,
}

impl Destage {
    /// Where a block of the back device is in `data`.
    pub fn place_of(&self, lbn: u64) -> usize {
        (lbn - self.first) as usize
    }

    fn contents(&self, run: BlockRun) -> Vec<Content> {
        self.data[self.place_of(run.first)..self.place_of(run.end)].to_vec()
    }
}

/// Victims in the buffer that are written behind reads.
#[derive(Debug, Default)]
pub(super) struct Behind {
    /// Whether reads of the back device go before them.
    is_on: bool,
    /// Those that have not been begun, by segment.
    waiting: BTreeSet<(u64, usize)>,
    /// How many are being written.
    writing: usize,
    /// The segment that was written last.
    at: u64,
    /// Reads of the back device under way.
    pub reads: usize,
}

impl Behind {
    /// Nothing to write; whether reads go before what comes.
    pub fn new(is_on: bool) -> Self {
        Behind { is_on, ..Behind::default() }
    }

    /// The next one in the order of places.
    fn pop(&mut self) -> Option<usize> {
        let next = self.waiting.range((self.at, 0)..).next().or_else(|| self.waiting.first()).copied()?;
        self.waiting.remove(&next);
        self.at = next.0;
        Some(next.1)
    }

    /// That of a segment.
    fn remove(&mut self, segment: u64) -> Option<usize> {
        let found = self.waiting.range((segment, 0)..=(segment, usize::MAX)).next().copied()?;
        self.waiting.remove(&found);
        Some(found.1)
    }
}

impl CachingDisk {
    /// A segment makes room for the next.
    pub(super) fn leave(&mut self, io: &mut Io<Job>, slot: u32) {
        self.slots[slot as usize].phase = Phase::Leaving;
        if self.dirty.is_empty(slot) {
            let (segment, stay) = (self.slots[slot as usize].segment, self.slots[slot as usize].stay);
            self.free(io, slot);
            self.end_stay(segment, stay);
        } else {
            self.want(io, Wanted::Destage { slot });
        }
    }

    /// A slot holds nothing any more.
    fn free(&mut self, io: &mut Io<Job>, slot: u32) {
        self.valid.clear(slot);
        self.dirty.clear(slot);
        self.slots[slot as usize].phase = Phase::Free;
        self.note(io, slot);
        self.ready.push(slot);
    }

    /// The back device has all of a segment that was somewhere on the front device; it may come back.
    fn end_stay(&mut self, segment: u64, stay: u64) {
        if let Some(stays) = self.ending.get_mut(&segment) {
            // They end in their order.
            let ended = stays.pop_front();
            debug_assert_eq!(ended, Some(stay));
            if stays.is_empty() {
                self.ending.remove(&segment);
            }
        }
        self.ready.extend(self.held_up.remove(&segment).into_iter().flatten());
    }

    /// Brings what is dirty in a slot to the buffer, where it has room now; `at_once` where it had all along. A victim that
    /// is written behind reads frees its slot in either case: it had to wait for another to be written already.
    pub(super) fn collect(&mut self, io: &mut Io<Job>, slot: u32, at_once: bool) {
        let Slot { segment, stay, .. } = self.slots[slot as usize];
        let (valid, dirty) = (self.valid.get(slot), self.dirty.get(slot));
        let (blocks, first) = (self.blocks_of(segment), segment * self.sizes.segment_blocks);
        let mut runs = if self.techniques.partial_write && !self.joins_neighbours(slot) {
            dirty.runs(blocks, Some(&valid))
        } else {
            vec![BlockRun { first: 0, end: blocks }]
        };
        for run in &mut runs {
            *run = BlockRun { first: first + run.first, end: first + run.end };
        }
        let data = if io.keeps_contents() { vec![Content::default(); blocks as usize] } else { Vec::new() };
        let destage = Destage {
            segment,
            stay,
            slot: Some(slot),
            reports_early: self.techniques.immediate_report && (at_once || self.behind.is_on),
            step: Step::Collecting,
            runs: runs.clone(),
            dirty,
            left: runs.len(),
            neighbours: Vec::new(),
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
            self.report(io, place);
        }
    }

    /// Brings blocks `run` of the back device from their slot to the buffer.
    pub(super) fn read_slot(&mut self, io: &mut Io<Job>, slot: u32, run: BlockRun, place: usize) {
        let within = run.first % self.sizes.segment_blocks;
        let from = self.data_at(slot) + within;
        let from = BlockRun { first: from, end: from + u64::from(run.blocks()) };
        io.read(Tier::Front, from, Job::Collected { destage: place, run });
    }

    /// Some of what goes to the back device is in the buffer.
    pub(super) fn collected(&mut self, io: &mut Io<Job>, place: usize, run: BlockRun, access: &Completion) {
        io.spend(access);
        let contents = io.contents(Tier::Front, access);
        let Some(destage) = self.destages[place].as_mut() else { return };
        if !contents.is_empty() {
            let from = destage.place_of(run.first);
            destage.data[from..from + contents.len()].clone_from_slice(&contents);
        }
        destage.left -= 1;
        if destage.left > 0 {
            return;
        }
        if destage.step == Step::Joining {
            self.write_back(io, place);
            return;
        }
        destage.step = Step::Collected;
        self.report(io, place);
        let Some(Destage { segment, slot, .. }) = self.destages[place].as_ref() else { return };
        let is_behind = self.behind.is_on && slot.is_none() && !self.held_up.contains_key(segment);
        if is_behind {
            self.behind.waiting.insert((*segment, place));
        } else {
            self.begin_write(io, place);
        }
    }

    /// Frees the slot of a victim where nobody waits for the back device.
    fn report(&mut self, io: &mut Io<Job>, place: usize) {
        let Some(destage) = self.destages[place].as_mut().filter(|destage| destage.reports_early) else {
            return;
        };
        if let Some(slot) = destage.slot.take() {
            self.free(io, slot);
        }
    }

    /// Writes victims behind reads, as far as it is their turn.
    pub(super) fn write_behind(&mut self, io: &mut Io<Job>) {
        while !self.behind.waiting.is_empty()
            && self.behind.writing < self.writes_at_once()
            && let Some(place) = self.behind.pop()
        {
            self.begin_write(io, place);
        }
    }

    /// How many victims may be written at once.
    fn writes_at_once(&self) -> usize {
        let Behind { waiting, writing, reads, .. } = &self.behind;
        let crowds_buffer = 2 * (waiting.len() + writing) > self.sizes.buffer_slots;
        self.buffer.waiting().max(usize::from(*reads == 0 || crowds_buffer))
    }

    /// A segment is asked for while it waits for being written: at once then.
    pub(super) fn hurry(&mut self, io: &mut Io<Job>, segment: u64) {
        if let Some(place) = self.behind.remove(segment) {
            self.begin_write(io, place);
        }
    }

    /// Begins to write a victim, with its neighbours where some can go along.
    fn begin_write(&mut self, io: &mut Io<Job>, place: usize) {
        let is_early = self.destages[place].as_ref().is_some_and(|destage| destage.slot.is_none());
        self.behind.writing += usize::from(is_early);
        if !self.join(io, place) {
            self.write_back(io, place);
        }
    }

    fn write_back(&mut self, io: &mut Io<Job>, place: usize) {
        let Some(destage) = self.destages[place].as_mut() else { return };
        (destage.step, destage.left) = (Step::Writing, destage.runs.len());
        let destage = &*destage;
        for run in &destage.runs {
            io.write(Tier::Back, *run, Job::Destaged { destage: place }, || destage.contents(*run));
        }
    }

    /// Some of what was dirty is on the back device.
    pub(super) fn destaged(&mut self, io: &mut Io<Job>, place: usize, access: &Completion) {
        io.spend(access);
        let Some(destage) = self.destages[place].as_mut() else { return };
        destage.left -= 1;
        if destage.left > 0 {
            return;
        }
        let Some(Destage { segment, stay, slot, dirty, neighbours, .. }) = self.destages[place].take() else {
            return;
        };
        self.counts.destaged_blocks += dirty.len();
        match slot {
            Some(slot) => self.free(io, slot),
            None => self.behind.writing -= 1,
        }
        self.end_stay(segment, stay);
        self.cleaned(io, neighbours);
        self.release(io);
    }

    /// Blocks that the back device has yet to get, those in the buffer included.
    pub(super) fn dirty_blocks(&self) -> u64 {
        let in_buffer = self.destages.iter().flatten().filter(|destage| destage.slot.is_none());
        let leaving = in_buffer.map(|destage| &destage.dirty).chain(self.cleaning.values());
        self.dirty.len() + leaving.map(Blocks::len).sum::<u64>()
    }
}
