//! Flushes of a volatile cache: a flush is complete when all blocks written before it have been destaged.

use std::collections::BTreeSet;

use sledlab_core::Time;

use super::{CachedSystem, Completion};
use crate::cache::BlockRun;
use crate::device::QueuedRequest;

/// A flush, and the blocks that were written before it and have not been destaged.
pub(super) struct Flush {
    request: QueuedRequest,
    /// Dirty blocks whose destage has not begun.
    undestaged: BTreeSet<u64>,
    /// Blocks that are being destaged.
    in_flight: BTreeSet<u64>,
}

impl Flush {
    /// The destage of the blocks `run` begins.
    pub fn begin(&mut self, run: BlockRun) {
        for block in run.first..run.end {
            if self.undestaged.remove(&block) {
                self.in_flight.insert(block);
            }
        }
    }

    /// The blocks `run` have been destaged.
    fn end(&mut self, run: BlockRun) {
        for block in run.first..run.end {
            self.in_flight.remove(&block);
        }
    }

    fn is_done(&self) -> bool {
        self.undestaged.is_empty() && self.in_flight.is_empty()
    }
}

impl CachedSystem {
    /// Begins a flush when all writes that arrived before it are in the cache: it waits until their dirty blocks have
    /// been destaged.
    pub(super) fn begin_flush(&mut self, now: Time, request: QueuedRequest) {
        let (undestaged, in_flight) = self.lines.undestaged_blocks();
        self.flushes.push(Flush { request, undestaged, in_flight });
        self.destage_for_flushes(now);
        self.answer_flushes(now);
    }

    /// The blocks `run` have been destaged.
    pub(super) fn end_flushes(&mut self, now: Time, run: BlockRun) {
        if self.flushes.is_empty() {
            return;
        }
        self.flushes.iter_mut().for_each(|flush| flush.end(run));
        self.destage_for_flushes(now);
        self.answer_flushes(now);
    }

    /// Destages all blocks that flushes wait for, except blocks of which an older version is being destaged.
    fn destage_for_flushes(&mut self, now: Time) {
        let undestaged: BTreeSet<u64> =
            self.flushes.iter().flat_map(|flush| flush.undestaged.iter().copied()).collect();
        for block in undestaged {
            if let Some(run) = self.lines.dirty_run_at(block) {
                self.destage(now, run);
            }
        }
    }

    fn answer_flushes(&mut self, now: Time) {
        let flushes = std::mem::take(&mut self.flushes);
        let (finished, unfinished) = flushes.into_iter().partition::<Vec<_>, _>(Flush::is_done);
        self.flushes = unfinished;
        for Flush { request, .. } in finished {
            self.answers.insert(Completion::immediate(request, now));
        }
    }
}
