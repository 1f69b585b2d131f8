//! Finds the waiting requests that overlap a range of blocks.

use std::collections::BTreeMap;

use sledlab_core::Op;

use crate::device::QueuedRequest;

/// Waiting requests in order of their blocks. Each has a unique number; a smaller number has waited longer.
#[derive(Debug, Default)]
pub(super) struct Overlaps {
    /// Key: first block and number. Value: the block after the last, and whether the request is a write.
    by_place: BTreeMap<(u64, u64), (u64, bool)>,
    /// Blocks of the longest request so far: a request that begins more than this before a range does not reach it.
    longest: u64,
}

impl Overlaps {
    pub fn insert(&mut self, number: u64, request: &QueuedRequest) {
        self.longest = self.longest.max(request.blocks.into());
        self.by_place.insert((request.lbn, number), (end(request), is_write(request)));
    }

    pub fn remove(&mut self, number: u64, request: &QueuedRequest) {
        self.by_place.remove(&(request.lbn, number));
    }

    /// The request with the smallest number that must be served before `request`: the two overlap, one of them is a
    /// write, and it is the earlier one.
    pub fn first_conflict(&self, number: u64, request: &QueuedRequest) -> Option<u64> {
        let first = request.lbn.saturating_sub(self.longest);
        let near = self.by_place.range((first, 0)..(end(request), 0));
        near.filter(|&(&(_, other), &(other_end, other_writes))| {
            other < number && other_end > request.lbn && (other_writes || is_write(request))
        })
        .map(|(&(_, other), _)| other)
        .min()
    }

    /// The requests that overlap the blocks from `lbn` to `range_end`, with their numbers.
    pub fn overlapping(&self, lbn: u64, range_end: u64) -> impl Iterator<Item = u64> + '_ {
        let near = self.by_place.range((lbn.saturating_sub(self.longest), 0)..(range_end, 0));
        near.filter(move |(_, (end, _))| *end > lbn).map(|((_, number), _)| *number)
    }
}

pub(super) fn end(request: &QueuedRequest) -> u64 {
    request.lbn + u64::from(request.blocks)
}

pub(super) fn is_write(request: &QueuedRequest) -> bool {
    request.op == Op::Write
}
