//! Which waiting requests overlap a range of blocks.

use std::collections::BTreeMap;

use sledlab_core::Op;

use crate::device::Queued;

/// Waiting requests by place. Each has a number of its own; a smaller number has waited longer.
#[derive(Debug, Default)]
pub(super) struct Overlaps {
    /// First block and number, to the block after the last and whether it is a write.
    by_place: BTreeMap<(u64, u64), (u64, bool)>,
    /// Blocks of the longest request ever: none that begins earlier than so many before a range reaches into it.
    longest: u64,
}

impl Overlaps {
    pub fn insert(&mut self, number: u64, request: &Queued) {
        self.longest = self.longest.max(request.blocks.into());
        self.by_place.insert((request.lbn, number), (end(request), is_write(request)));
    }

    pub fn remove(&mut self, number: u64, request: &Queued) {
        self.by_place.remove(&(request.lbn, number));
    }

    /// Whether a request of a smaller number must be served before `request`: they overlap, and one is a write.
    pub fn holds_back(&self, number: u64, request: &Queued) -> bool {
        let first = request.lbn.saturating_sub(self.longest);
        self.by_place.range((first, 0)..(end(request), 0)).any(|(&(_, other), &(until, write))| {
            other < number && until > request.lbn && (write || is_write(request))
        })
    }
}

pub(super) fn end(request: &Queued) -> u64 {
    request.lbn + u64::from(request.blocks)
}

pub(super) fn is_write(request: &Queued) -> bool {
    request.op == Op::Write
}
