//! Sweeps over the block numbers: what C-SCAN and SCAN have in common.

use sledlab_core::Time;

use super::ordered_queue::{Key, OrderedQueue};
use crate::device::{Mechanics, QueueOrder, QueuedRequest};
use crate::scheduler::{Scheduler, SchedulerContext};

/// Behavior of the sweep when no request is ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::scheduler) enum End {
    /// The sweep starts over at the lowest block.
    Wrap,
    /// The sweep reverses its direction.
    Reverse,
}

/// Serves the requests ahead of the last one served, nearest block first.
///
/// A request that arrives ahead of the sweep joins it. A request for the very block where the sweep is waits for the
/// next sweep; otherwise requests for one block could hold the sweep there forever. A device whose queue is in order of
/// blocks does not contain the order of arrival: there such a request joins the sweep.
pub(in crate::scheduler) struct Sweep {
    queue: OrderedQueue,
    end: End,
    is_upwards: bool,
    /// First block of the last request served; the sweep begins at block 0.
    lbn: u64,
    /// Number of the newest request that is served at block `lbn` before the sweep continues; `None` before the first
    /// choice.
    admitted: Option<u64>,
    /// Number of the newest request pushed.
    newest_id: u64,
    /// Whether a request for the block where the sweep is joins the sweep.
    admits_all: bool,
}

impl Sweep {
    /// An empty queue.
    pub fn new_boxed(end: End, context: SchedulerContext) -> Box<dyn Scheduler> {
        Box::new(Sweep {
            queue: OrderedQueue::default(),
            end,
            is_upwards: true,
            lbn: 0,
            admitted: None,
            newest_id: 0,
            admits_all: context.mechanics.queue_order() == QueueOrder::Blocks,
        })
    }

    /// Key of the next request in the present direction.
    fn next_key(&self) -> Option<Key> {
        let admitted = if self.admits_all { u64::MAX } else { self.admitted.unwrap_or(self.newest_id) };
        let here =
            self.queue.first_at_or_above(self.lbn).filter(|(lbn, _, id)| *lbn == self.lbn && *id <= admitted);
        let beyond = || {
            let lbn = self.lbn;
            if self.is_upwards { self.queue.first_at_or_above(lbn + 1) } else { self.queue.first_below(lbn) }
        };
        here.or_else(beyond)
    }

    /// Begins the next sweep.
    fn begin_next_sweep(&mut self) {
        match self.end {
            End::Wrap => self.lbn = self.queue.first().map_or(0, |(lbn, ..)| lbn),
            End::Reverse => self.is_upwards = !self.is_upwards,
        }
        self.admitted = Some(self.newest_id);
    }
}

impl Scheduler for Sweep {
    fn push(&mut self, request: QueuedRequest) {
        self.newest_id = self.newest_id.max(request.id);
        self.queue.insert((request.lbn, 0, request.id), request);
    }

    fn pop(&mut self, _now: Time, _mechanics: &dyn Mechanics, batch: &mut Vec<QueuedRequest>) {
        let key = self.next_key().or_else(|| {
            self.begin_next_sweep();
            self.next_key()
        });
        let Some(key) = key else { return };
        if key.0 != self.lbn || self.admitted.is_none() {
            self.lbn = key.0;
            self.admitted = Some(self.newest_id);
        }
        batch.extend(self.queue.take(key));
    }

    fn remove(&mut self, request: &QueuedRequest, _mechanics: &dyn Mechanics) -> bool {
        self.queue.take((request.lbn, 0, request.id)).is_some()
    }

    fn len(&self) -> usize {
        self.queue.len()
    }
}
