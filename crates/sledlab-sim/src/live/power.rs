//! A live system that loses its power.
//!
//! Media keep contents: of every block the number of a write, its [`version`], which stands for the data that the host
//! gave with it. When the power fails, all that was due has been done, what is under way gets to its medium or does not,
//! block by block, and what was not answered never is. What is found then is what the host has to find.
//!
//! A trim completes at once, and is durable when it does: the blocks read zero until they are written again, after a power
//! failure too. Devices take no notice of trims, so those are kept here: no version from before a trim is found after it,
//! were it still on a medium.

use std::collections::BTreeMap;

use sledlab_core::{Error, Op, Request, Result, Time};
use sledlab_models::system::{Completion, Content, Contents, Durable, System};

use super::{Answer, Live};
use crate::experiment::Experiment;
use crate::outcome::Outcome;
use crate::recorder::RowSink;

/// What stands in [`Content::Data`] for the data of the write of this number; 0 stands for none: never written, or
/// trimmed since.
pub fn version(id: u64) -> u64 {
    id + 1
}

/// Blocks that were trimmed.
#[derive(Default)]
pub(super) struct Kept {
    /// Runs that do not overlap, by their first block: the block after the last, and the number of the last trim.
    trimmed: BTreeMap<u64, (u64, u64)>,
}

impl Kept {
    /// An operation is about to arrive at the system.
    pub fn arrive(&mut self, id: u64, request: &Request, system: &mut dyn System) {
        if request.op == Op::Trim {
            self.trim(id, request.lbn, request.lbn + u64::from(request.blocks));
        } else if let Some(durable) = system.durable().filter(|_| request.op == Op::Write) {
            durable.give(id, vec![Content::Data(version(id)); request.blocks as usize]);
        }
    }

    fn trim(&mut self, id: u64, first: u64, end: u64) {
        // Runs do not overlap, so the last that begins before is the only one that reaches in from there.
        if let Some((&before, &(until, trim))) = self.trimmed.range(..first).next_back()
            && until > first
        {
            self.trimmed.insert(before, (first, trim));
            if until > end {
                self.trimmed.insert(end, (until, trim));
            }
        }
        while let Some((&inside, &(until, trim))) = self.trimmed.range(first..end).next() {
            self.trimmed.remove(&inside);
            if until > end {
                self.trimmed.insert(end, (until, trim));
            }
        }
        self.trimmed.insert(first, (end, id));
    }

    /// Whether a block has been trimmed since it was written with this content.
    fn is_trimmed(&self, block: u64, content: &Content) -> bool {
        let run = self.trimmed.range(..=block).next_back();
        let trim = run.filter(|(_, (end, _))| *end > block).map(|(_, (_, id))| version(*id));
        matches!((content, trim), (Content::Data(written), Some(trim)) if *written < trim)
    }
}

/// Requests of a system that keeps contents are complete. Hosts have their own data, so nobody asks what reads found.
pub(super) fn forget_found(completed: &[Completion], system: &mut dyn System) {
    for read in completed.iter().filter(|done| done.request.op == Op::Read) {
        if let Some(durable) = system.durable() {
            durable.found(read.request.id);
        }
    }
}

impl Live {
    /// The same as [`Live::new`] of a system whose media keep contents, so that its power can fail. This takes memory for
    /// every block that is written and every piece that is trimmed, and somewhat more time for each request; completions
    /// are the same.
    ///
    /// A disk that buffers writes reports them when they are in its buffer, and is taken to keep that through a power
    /// failure: only a cache that is said to be volatile loses what it has reported.
    ///
    /// # Errors
    /// As [`Live::new`]; a system that cannot keep contents, or of which a power failure would leave what nobody wrote.
    pub fn keeping_contents(experiment: &Experiment, rows: Option<RowSink<'static>>) -> Result<Self> {
        let live = Live::of(experiment.recorded(true)?, rows);
        Ok(Live { kept: Some(Kept::default()), ..live })
    }

    /// The power fails at `at`, or where the system has got to if that is later, all that is due before having been done:
    /// of every block that is under way then, `survives` tells whether it got to its medium. Returns what there is to say of what was completed, unless nothing
    /// was that counts, and what every block holds: [`Content::Data`] of a [`version`]. Blocks that are missing, or hold
    /// version 0, were never written, or have been trimmed since.
    ///
    /// # Errors
    /// As [`advance`](Live::advance); a system that keeps no contents; violated conservation.
    pub fn crash(
        mut self,
        at: Time,
        survives: &mut dyn FnMut() -> bool,
        answers: &mut Vec<Answer>,
    ) -> Result<(Option<Outcome>, Contents)> {
        self.do_before(at.max(self.latest), answers)?;
        let (Some(kept), Some(durable)) = (self.kept.take(), self.system.durable()) else {
            return Err(Error::internal("the power fails of a system that keeps no contents"));
        };
        let mut contents = durable.crash(survives);
        contents.retain(|block, content| !kept.is_trimmed(*block, content));
        self.books.counts.interrupted = true;
        let has_counted = self.recorder.by_op.iter().any(|requests| requests.moments().count() > 0);
        Ok((if has_counted { Some(self.close()?) } else { None }, contents))
    }

    /// The system as one that keeps contents, where it does: for tests, which plant defects in it.
    pub fn durable(&mut self) -> Option<&mut dyn Durable> {
        self.system.durable()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_last_trim_of_a_block_is_known(trims in prop::collection::vec((0_u64..60, 1_u64..20), 1..40)) {
            let mut kept = Kept::default();
            let mut last = [None; 80];
            for (id, (first, blocks)) in (1..).zip(trims) {
                kept.trim(id, first, first + blocks);
                last[first as usize..(first + blocks) as usize].fill(Some(id));
            }
            for (block, last) in (0..).zip(last) {
                for written in 0..45 {
                    let is_trimmed = kept.is_trimmed(block, &Content::Data(version(written)));
                    prop_assert_eq!(is_trimmed, last.is_some_and(|trim| written < trim));
                }
            }
        }
    }
}
