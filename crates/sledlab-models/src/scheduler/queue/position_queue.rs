//! A queue kept in a position index: the base of all schedulers by position.

use sledlab_core::Time;

use crate::device::{Aim, Mechanics, PositionIndex, QueuedRequest};
use crate::scheduler::{Batch, Scheduler, SchedulerContext};

/// Serves the best request of an index, alone or with the others that wait at its position.
pub(in crate::scheduler) struct PositionQueue {
    index: Box<dyn PositionIndex>,
    batch: Batch,
}

impl PositionQueue {
    /// An empty queue that serves the best request by `aim`.
    pub fn new_boxed(aim: &Aim, context: SchedulerContext) -> Box<dyn Scheduler> {
        Box::new(PositionQueue { index: context.index(aim), batch: context.batch })
    }
}

impl Scheduler for PositionQueue {
    fn push(&mut self, request: QueuedRequest) {
        self.index.insert(request);
    }

    fn pop(&mut self, now: Time, mechanics: &dyn Mechanics, batch: &mut Vec<QueuedRequest>) {
        let Some(best) = self.index.take_best(now, mechanics) else { return };
        batch.push(best);
        if self.batch == Batch::SamePosition {
            self.index.take_joining(mechanics, batch);
        }
    }

    fn len(&self) -> usize {
        self.index.len()
    }

    fn remove(&mut self, request: &QueuedRequest, _mechanics: &dyn Mechanics) -> bool {
        self.index.remove(request)
    }
}
