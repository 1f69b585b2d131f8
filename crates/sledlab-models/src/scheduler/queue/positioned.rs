//! A queue kept in a position index: what all schedulers by position are made of.

use sledlab_core::{Error, Time};

use crate::device::{Aim, Mechanics, PositionIndex, Queued};
use crate::scheduler::{Batch, Scheduler, Setting};

/// Serves the best position of an index, alone or with all that waits there.
pub(in crate::scheduler) struct Positioned {
    index: Box<dyn PositionIndex>,
    batch: Batch,
}

impl Positioned {
    /// An empty queue that serves the best by `aim`.
    pub fn boxed(aim: &Aim, setting: Setting) -> Box<dyn Scheduler> {
        Box::new(Positioned { index: setting.index(aim), batch: setting.batch })
    }
}

impl Scheduler for Positioned {
    fn push(&mut self, request: Queued) {
        self.index.insert(request);
    }

    fn pop(&mut self, now: Time, mechanics: &dyn Mechanics, batch: &mut Vec<Queued>) {
        let Some(best) = self.index.take_best(now, mechanics) else { return };
        batch.push(best);
        if self.batch == Batch::SamePosition {
            self.index.take_joining(mechanics, batch);
        }
    }

    fn len(&self) -> usize {
        self.index.len()
    }

    fn remove(&mut self, _request: &Queued) -> bool {
        false
    }

    fn failure(&mut self) -> Option<Error> {
        None
    }
}
