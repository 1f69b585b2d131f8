//! Power failures of a live system.
//!
//! Media store contents: for every block the number of its last write, as a [`version`], in place of the data. When the
//! power fails, all due events have been handled; each block of a write in flight, or in the volatile buffer of a disk,
//! either reaches its medium or does not; and outstanding operations never complete. The host then finds the contents
//! of the media.
//!
//! A trim completes at once, and is durable when it does: the blocks read zero until they are written again, after a
//! power failure too. Devices ignore trims, so [`Trims`] remembers them: no version from before a trim is found after
//! it, even if it is still on a medium.

use std::collections::BTreeMap;

use sledlab_core::{Error, Op, Request, Result, Time};
use sledlab_models::system::{Completion, Content, Contents, Durable, System};

use super::{Answer, LiveRun};
use crate::experiment::Experiment;
use crate::outcome::Outcome;
use crate::recorder::RowSink;

/// Returns the content, as in [`Content::Data`], that represents the data of the write `id`; 0 represents no data:
/// never written, or trimmed since.
pub fn version(id: u64) -> u64 {
    id + 1
}

/// The trims so far, by block.
#[derive(Default)]
pub(super) struct Trims {
    /// Non-overlapping runs of trimmed blocks. The key is the first block; the value is the block after the last, and
    /// the number of the last trim.
    trimmed: BTreeMap<u64, (u64, u64)>,
}

impl Trims {
    /// Records an operation that is about to arrive at the system.
    pub fn arrive(&mut self, id: u64, request: &Request, system: &mut dyn System) {
        if request.op == Op::Trim {
            self.trim(id, request.lbn, request.lbn + u64::from(request.blocks));
        } else if let Some(durable) = system.durable().filter(|_| request.op == Op::Write) {
            durable.supply_data(id, vec![Content::Data(version(id)); request.blocks as usize]);
        }
    }

    fn trim(&mut self, id: u64, first: u64, end: u64) {
        // Runs do not overlap, so only the last run that begins before `first` can reach into the trimmed one.
        if let Some((&previous_first, &(until, trim))) = self.trimmed.range(..first).next_back()
            && until > first
        {
            self.trimmed.insert(previous_first, (first, trim));
            if until > end {
                self.trimmed.insert(end, (until, trim));
            }
        }
        while let Some((&overlapping_first, &(until, trim))) = self.trimmed.range(first..end).next() {
            self.trimmed.remove(&overlapping_first);
            if until > end {
                self.trimmed.insert(end, (until, trim));
            }
        }
        self.trimmed.insert(first, (end, id));
    }

    /// Returns whether a block has been trimmed since it was written with this content.
    fn is_trimmed(&self, block: u64, content: &Content) -> bool {
        let run = self.trimmed.range(..=block).next_back();
        let trim = run.filter(|(_, (end, _))| *end > block).map(|(_, (_, id))| version(*id));
        matches!((content, trim), (Content::Data(written), Some(trim)) if *written < trim)
    }
}

/// Drops the contents read by completed reads, because hosts have the data themselves.
pub(super) fn discard_read_contents(completed: &[Completion], system: &mut dyn System) {
    for read in completed.iter().filter(|read| read.request.op == Op::Read) {
        if let Some(durable) = system.durable() {
            durable.read_contents(read.request.id);
        }
    }
}

impl LiveRun {
    /// Like [`LiveRun::new`], for a system whose media store contents, so that its power can fail. This needs memory
    /// for every block that is written and every run of blocks that is trimmed, and slightly more wall-clock time for
    /// each request. Completions are the same.
    ///
    /// # Errors
    /// The errors of [`LiveRun::new`]; a system that cannot store contents, or whose power failure would leave data
    /// that the host never wrote.
    pub fn with_contents(experiment: &Experiment, rows: Option<RowSink<'static>>) -> Result<Self> {
        let live = LiveRun::from_setup(experiment.build_live(true)?, rows);
        Ok(LiveRun { trims: Some(Trims::default()), ..live })
    }

    /// Fails the power at `at`, or at the current time of the system if that is later, after all events due by then.
    /// For each block of a write that is not durable, `survives` determines whether it reaches its medium. Returns the
    /// results of the completed operations, unless none counts, and the content of every block: [`Content::Data`] of a
    /// [`version`]. Blocks that are missing or have version 0 were never written, or have been trimmed since. A flush
    /// whose completion was announced for a time after the failure is not complete.
    ///
    /// # Errors
    /// The errors of [`advance`](LiveRun::advance); a system that stores no contents; violated conservation.
    pub fn crash(
        mut self,
        at: Time,
        survives: &mut dyn FnMut() -> bool,
        answers: &mut Vec<Answer>,
    ) -> Result<(Option<Outcome>, Contents)> {
        let at = at.max(self.last_time);
        self.advance(at, answers)?;
        let (Some(trims), Some(durable)) = (self.trims.take(), self.system.durable()) else {
            return Err(Error::internal("power failure of a system that stores no contents"));
        };
        let mut contents = durable.crash(at, survives);
        contents.retain(|block, content| !trims.is_trimmed(*block, content));
        self.bookkeeping.counts.interrupted = true;
        let has_counted = self.recorder.response_times.iter().any(|times| times.moments().count() > 0);
        Ok((if has_counted { Some(self.close()?) } else { None }, contents))
    }

    /// Returns the system's interface for contents, if it has one; for tests, which inject defects through it.
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
        fn last_trim_of_block_is_found(trims in prop::collection::vec((0_u64..60, 1_u64..20), 1..40)) {
            let mut all_trims = Trims::default();
            let mut last_trims = [None; 80];
            for (id, (first, blocks)) in (1..).zip(trims) {
                all_trims.trim(id, first, first + blocks);
                last_trims[first as usize..(first + blocks) as usize].fill(Some(id));
            }
            for (block, last_trim) in (0..).zip(last_trims) {
                for write_id in 0..45 {
                    let is_trimmed = all_trims.is_trimmed(block, &Content::Data(version(write_id)));
                    prop_assert_eq!(is_trimmed, last_trim.is_some_and(|trim| write_id < trim));
                }
            }
        }
    }
}
