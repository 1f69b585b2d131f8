//! Fetches of several segments with one access: small segments waste little room, and large fetches waste little time
//! on positioning.

use smallvec::{SmallVec, smallvec};

use super::managers::Managers;
use super::moves::EarlyFetch;
use super::{CachingDisk, Job};
use crate::cache::BlockRun;
use crate::hybrid::io::{Io, Tier, without_startup};
use crate::system::Completion;

/// A segment of a group that is fetched, and its stay in a slot.
#[derive(Clone, Copy, Debug)]
pub(in crate::hybrid) struct Member {
    pub segment: u64,
    pub slot: u32,
    pub stay: u64,
}

/// The segments of a group that is fetched: most groups have one.
pub(in crate::hybrid) type Members = SmallVec<[Member; 1]>;

impl CachingDisk {
    /// Fetches a segment, which has its place in the buffer, with the adjacent segments of its group that are missing
    /// on the front device and find places in the buffer too. A group begins at a multiple of its size.
    pub(super) fn fetch_group(&mut self, io: &mut Io<Job>, requested: Member) {
        let group = self.fetch_segments();
        let first = requested.segment / group * group;
        let end = (first + group).min(self.back_blocks.div_ceil(self.sizes.segment_blocks));
        let mut members: Members = smallvec![requested];
        for segment in requested.segment + 1..end {
            let Some(member) = self.join_group(segment) else { break };
            members.push(member);
        }
        for segment in (first..requested.segment).rev() {
            let Some(member) = self.join_group(segment) else { break };
            members.push(member);
        }
        members.sort_unstable_by_key(|member| member.segment);
        let (first, last) = (members[0].segment, members[members.len() - 1].segment);
        let end = last * self.sizes.segment_blocks + self.segment_len(last);
        let run = BlockRun { first: first * self.sizes.segment_blocks, end };
        self.read_pieces(io, run, requested.segment, &members);
    }

    /// Takes a place in the buffer for a segment, and a slot where no request has been for the segment yet. `None`
    /// where the front device holds the segment already, it is being fetched or destaged, or the buffer has no place to
    /// spare.
    fn join_group(&mut self, segment: u64) -> Option<Member> {
        if !self.directory.holds(segment) {
            let is_leaving = self.ending_stays.contains_key(&segment);
            return if is_leaving || !self.buffer.take_spare() { None } else { self.join_uncached(segment) };
        }
        let slot = self.directory.slot(segment)?;
        let next = self.next.get(&slot)?.back().filter(|next| next.segment == segment)?;
        let stay = next.stay;
        if self.is_to_fetch(next) && self.buffer.take_spare() {
            self.next_segment(slot, stay)?.early = EarlyFetch::Reading;
            return Some(Member { segment, slot, stay });
        }
        None
    }

    fn join_uncached(&mut self, segment: u64) -> Option<Member> {
        let (slot, victim) = self.directory.prefetch(segment);
        self.assign(segment, slot, victim);
        let next = self.next.get_mut(&slot)?.back_mut()?;
        next.early = EarlyFetch::Reading;
        self.ready.push(slot);
        Some(Member { segment, slot, stay: next.stay })
    }

    /// A group, or a piece of it, has been fetched to the buffer.
    pub(super) fn complete_group_fetch(
        &mut self,
        io: &mut Io<Job>,
        requested: u64,
        members: &[Member],
        access: &Completion,
    ) {
        self.write_behind_queue.reads -= 1;
        if let Some(managers) = &mut self.managers {
            managers.learn(access);
        }
        let contents = io.contents(Tier::Back, access);
        // The energy of the access counts for the first part that waits for the requested segment.
        let payer = members.iter().find(|member| member.segment == requested).and_then(|member| {
            let parts = if self.slots[member.slot as usize].stay == member.stay {
                self.waiting_parts.get(&member.slot)
            } else {
                self.next_segment(member.slot, member.stay).map(|next| &next.parts)
            };
            parts.and_then(|parts| parts.first()).copied()
        });
        match payer {
            Some(part) => io.charge_request(&part, access),
            None => io.charge_background(access),
        }
        let fetched = BlockRun {
            first: access.request.lbn,
            end: access.request.lbn + u64::from(access.request.blocks),
        };
        for member in members {
            let first = member.segment * self.sizes.segment_blocks;
            let end = fetched.end.min(first + self.segment_len(member.segment));
            let run = BlockRun { first: fetched.first.max(first), end };
            if run.first >= run.end {
                continue;
            }
            let data = contents.get((run.first - fetched.first) as usize..(run.end - fetched.first) as usize);
            let run = BlockRun { first: run.first - first, end: run.end - first };
            let data = self.complete_piece(io, *member, run, data.map(<[_]>::to_vec).unwrap_or_default());
            let Some(data) = data else { continue };
            let access = if member.segment == requested { *access } else { without_startup(access) };
            self.complete_fetch(io, *member, data, &access);
        }
    }

    /// Most segments that are fetched with one access at present.
    fn fetch_segments(&self) -> u64 {
        self.managers.as_ref().map_or(self.sizes.fetch_segments, Managers::best)
    }
}
