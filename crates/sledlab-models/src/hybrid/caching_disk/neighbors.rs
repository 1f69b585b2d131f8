//! Neighbors: dirty segments next to a victim on the back device are destaged with it, by one access. They stay in
//! their slots, and are clean then.
//!
//! Until the back device has them, their headers still mark their blocks as dirty, and recovery after a crash takes
//! these blocks from the slots: a host may write to a slot meanwhile, which makes its blocks dirty again.

use super::destaging::Step;
use super::{CachingDisk, Job, Phase, Slot};
use crate::cache::BlockRun;
use crate::hybrid::blocks::Runs;
use crate::hybrid::io::Io;
use crate::system::Content;

impl CachingDisk {
    /// The slot of a segment that can be destaged as a neighbor: the slot holds all its blocks, some of them dirty,
    /// and no access to the slot is in flight or waits.
    fn neighbor(&self, segment: u64) -> Option<u32> {
        let slot = self.directory.slot(segment)?;
        let Slot { segment: resident, phase, users, has_waiters, .. } = self.slots[slot as usize];
        let is_idle = resident == segment && phase == Phase::Resident && users == 0 && !has_waiters;
        let can_go = is_idle && !self.dirty.is_empty(slot) && self.is_whole(slot);
        can_go.then_some(slot)
    }

    fn is_whole(&self, slot: u32) -> bool {
        let blocks = self.segment_len(self.slots[slot as usize].segment);
        self.valid.has_all(slot, BlockRun { first: 0, end: blocks })
    }

    /// Whether all blocks of a victim should be destaged, clean ones included, so that a neighbor can be written by
    /// the same access.
    pub(super) fn joins_neighbors(&self, slot: u32) -> bool {
        let segment = self.slots[slot as usize].segment;
        let has_neighbor = || {
            let lower_neighbor = segment.checked_sub(1).and_then(|lower| self.neighbor(lower));
            lower_neighbor.or_else(|| self.neighbor(segment + 1)).is_some()
        };
        self.sizes.destage_segments > 1 && self.is_whole(slot) && has_neighbor()
    }

    /// Reads dirty neighbors of the victim into the buffer, up to the limit and the free space. Returns whether there
    /// were any.
    pub(super) fn read_neighbors(&mut self, io: &mut Io<Job>, place: usize) -> bool {
        let max_segments = self.sizes.destage_segments;
        let Some(destage) = self.destages[place].as_ref().filter(|_| max_segments > 1) else { return false };
        let (segment, size) = (destage.segment, self.sizes.segment_blocks);
        let reaches = |lbn: u64| destage.runs.iter().any(|run| run.first == lbn || run.end == lbn);
        let (reaches_up, reaches_down) = (reaches((segment + 1) * size), reaches(segment * size));
        let mut neighbors: Vec<(u64, u32)> = Vec::new();
        let up = (segment + 1..).take_while(|_| reaches_up);
        let lower_segments = (0..segment).rev().take_while(|_| reaches_down);
        for side in [&mut up.into_iter() as &mut dyn Iterator<Item = u64>, &mut lower_segments.into_iter()] {
            for segment in side {
                let has_room = 1 + (neighbors.len() as u64) < max_segments;
                let Some(slot) = self.neighbor(segment).filter(|_| has_room) else { break };
                if !self.buffer.take_neighbor() {
                    break;
                }
                neighbors.push((segment, slot));
            }
        }
        if neighbors.is_empty() {
            return false;
        }
        self.collect_neighbors(io, place, &neighbors);
        true
    }

    fn collect_neighbors(&mut self, io: &mut Io<Job>, place: usize, neighbors: &[(u64, u32)]) {
        let size = self.sizes.segment_blocks;
        let Some(destage) = self.destages[place].as_mut() else { return };
        let mut runs = Runs::new();
        let mut reads = Vec::new();
        for (segment, slot) in neighbors {
            self.slots[*slot as usize].users += 1;
            self.cleaned_blocks.insert(*slot, self.dirty.get(*slot));
            self.dirty.clear(*slot);
            let first = segment * size;
            let run = BlockRun { first, end: (first + size).min(self.back_blocks) };
            reads.push((*slot, run));
        }
        runs.extend(destage.runs.iter().copied().chain(reads.iter().map(|(_, run)| *run)));
        runs.sort_unstable_by_key(|run| run.first);
        runs.dedup_by(|next, previous| {
            let is_adjacent = previous.end == next.first;
            if is_adjacent {
                previous.end = next.end;
            }
            is_adjacent
        });
        if io.keeps_contents() {
            let first = runs[0].first.min(destage.first);
            let end = runs[runs.len() - 1].end.max(destage.first + destage.data.len() as u64);
            let mut data = vec![Content::default(); (end - first) as usize];
            let offset = (destage.first - first) as usize;
            data[offset..offset + destage.data.len()].clone_from_slice(&destage.data);
            (destage.data, destage.first) = (data, first);
        }
        destage.runs = runs;
        destage.neighbors = neighbors.iter().map(|(_, slot)| *slot).collect();
        (destage.step, destage.remaining_accesses) = (Step::Joining, neighbors.len());
        for (slot, run) in reads {
            self.read_slot(io, slot, run, place);
        }
    }

    /// The neighbors of a victim have been destaged.
    pub(super) fn complete_neighbors(&mut self, io: &mut Io<Job>, neighbors: Vec<u32>) {
        for slot in neighbors {
            self.counts.destaged_blocks += self.cleaned_blocks.remove(&slot).map_or(0, |dirty| dirty.len());
            self.note(io, slot);
            self.write_header(io, slot);
            self.end_access(slot);
            if let Some(request) = self.buffer.release_neighbor() {
                self.begin_move(io, request, false);
            }
        }
    }
}
