//! Copies that overlap the fetch: a segment is fetched with several reads (pieces), and each piece is written to the
//! slot while the next one is read.
//!
//! A slot that is being copied to counts as being filled, so hosts write nothing to it meanwhile. Requests are answered
//! as if there were no pieces, once the segment is complete in the buffer or in its slot.

use sledlab_core::hash::Map;

use super::groups::{Member, Members};
use super::moves::Fetch;
use super::{CachingDisk, Job, Phase};
use crate::cache::BlockRun;
use crate::hybrid::blocks::Blocks;
use crate::hybrid::io::{Io, Tier};
use crate::system::Content;

/// Segments of which the buffer has some pieces, by stay.
pub(super) type Arrivals = Map<u64, Arrival>;

/// The pieces of a segment that the buffer has.
pub(super) struct Arrival {
    blocks: Blocks,
    data: Vec<Content>,
}

impl CachingDisk {
    /// Reads the blocks `run` of a group from the back device: with one access, or in pieces.
    pub(super) fn read_pieces(&mut self, io: &mut Io<Job>, run: BlockRun, requested: u64, members: &Members) {
        let piece_blocks =
            if self.sizes.copy_blocks == 0 { run.end - run.first } else { self.sizes.copy_blocks };
        let mut first = run.first;
        while first < run.end {
            let end = run.end.min(first + piece_blocks);
            self.write_behind_queue.reads += 1;
            let job = Job::Fetched { segment: requested, members: members.clone() };
            io.read(Tier::Back, BlockRun { first, end }, job);
            first = end;
        }
    }

    /// A piece of a segment has been fetched: the blocks `run`, counted from the first block of the segment. Returns
    /// the data of the segment once it is complete.
    pub(super) fn complete_piece(
        &mut self,
        io: &mut Io<Job>,
        member: Member,
        run: BlockRun,
        data: Vec<Content>,
    ) -> Option<Vec<Content>> {
        let blocks = self.segment_len(member.segment);
        if run.end - run.first == blocks {
            return Some(data);
        }
        let arrival = self.arrivals.entry(member.stay).or_insert_with(|| Arrival {
            blocks: Blocks(std::iter::repeat_n(0, blocks.div_ceil(64) as usize).collect()),
            data: if io.keeps_contents() { vec![Content::default(); blocks as usize] } else { Vec::new() },
        });
        arrival.blocks.insert(run);
        if io.keeps_contents() {
            arrival.data[run.first as usize..run.end as usize].clone_from_slice(&data);
        }
        if arrival.blocks.len() == blocks {
            return self.arrivals.remove(&member.stay).map(|arrival| arrival.data);
        }
        if self.slots[member.slot as usize].stay == member.stay {
            self.copy_pieces(io, member);
        }
        None
    }

    /// Copies the pieces in the buffer to the slot of their segment, as far as the slot lacks their blocks.
    fn copy_pieces(&mut self, io: &mut Io<Job>, Member { segment, slot, stay }: Member) {
        let Some(Arrival { blocks: arrived, data }) = self.arrivals.get(&stay) else { return };
        let (arrived, data) = (arrived.clone(), data.clone());
        let fetch = Fetch { data, ..self.fetches.remove(&slot).unwrap_or_default() };
        let mut missing = self.missing_blocks(slot, &fetch);
        missing.0.iter_mut().zip(&arrived.0).for_each(|(word, arrived)| *word &= arrived);
        self.slots[slot as usize].phase = Phase::Filling;
        let runs = missing.runs(self.segment_len(segment), None);
        self.write_fetched(io, slot, fetch, &runs);
    }

    /// Whether pieces of the segment in a slot have not been fetched yet.
    #[inline]
    pub(super) fn awaits_pieces(&self, slot: u32) -> bool {
        !self.arrivals.is_empty() && self.arrivals.contains_key(&self.slots[slot as usize].stay)
    }
}
