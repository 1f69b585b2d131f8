//! Shortest seek time first by block numbers.

use std::cmp::Ordering;

use sledlab_core::{Result, Time};

use super::queue::ordered_queue::{Key, OrderedQueue};
use super::{Model, Scheduler, SchedulerContext, Starvation};
use crate::device::{Mechanics, QueueOrder, QueuedRequest};

sledlab_core::choices! {
    /// Unit of distances.
    pub enum Unit {
        /// Tracks, from that of the last block accessed.
        Tracks = "tracks",
        /// Blocks, from the one after the last accessed.
        Blocks = "blocks",
    }
}

sledlab_core::choices! {
    /// Order of equally distant requests.
    pub enum Ties {
        /// The earliest request.
        Arrival = "arrival",
        /// The request for the lowest block.
        Lbn = "lbn",
    }
}

sledlab_core::params! {
    /// How distance is counted and ties are broken.
    pub struct SstfParams {
        /// Unit of distances: `tracks`, or `blocks` as in the reference simulator.
        distance: Unit = Unit::Tracks;
        /// Order of equally distant requests: the earliest (`arrival`) or the lowest block (`lbn`) first.
        ties: Ties = Ties::Arrival;
    }
}

/// The request whose block number is nearest.
pub(super) struct Sstf {
    queue: OrderedQueue,
    /// Blocks of a unit of distance.
    unit_blocks: u64,
    /// The place from which distances are counted, in units.
    last: u64,
    tie: Tie,
}

/// Order of equally distant requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tie {
    Earliest,
    Lowest,
    /// The lower request if the last tie was decided for the upper one, and vice versa.
    Alternate {
        lower_is_next: bool,
    },
}

impl Model for Sstf {
    type Params = SstfParams;
    const NAME: &'static str = "sstf";
    const MEANING: &'static str =
        "shortest seek time first: the request the fewest tracks away from the last block accessed";
    const STARVATION: Starvation = Starvation::Possible;

    fn make(params: &SstfParams, context: SchedulerContext) -> Result<Box<dyn Scheduler>> {
        let by_lbn = params.ties == Ties::Lbn || context.mechanics.queue_order() == QueueOrder::Blocks;
        let (unit_blocks, tie) = match params.distance {
            Unit::Tracks if by_lbn => (context.mechanics.extent().blocks_per_track, Tie::Lowest),
            Unit::Tracks => (context.mechanics.extent().blocks_per_track, Tie::Earliest),
            Unit::Blocks => (1, Tie::Alternate { lower_is_next: false }),
        };
        Ok(Box::new(Sstf { queue: OrderedQueue::default(), unit_blocks, last: 0, tie }))
    }
}

impl Sstf {
    fn key(&self, request: &QueuedRequest) -> Key {
        let rank = if self.tie == Tie::Lowest { request.lbn } else { 0 };
        (request.lbn / self.unit_blocks, rank, request.id)
    }

    /// Which of two requests, one from `last` on and one below, is nearer.
    fn nearest(&mut self, above: Key, below: Key) -> Key {
        match (above.0 - self.last).cmp(&(self.last - below.0)) {
            Ordering::Less => above,
            Ordering::Greater => below,
            Ordering::Equal => match &mut self.tie {
                Tie::Earliest if above.2 < below.2 => above,
                Tie::Earliest | Tie::Lowest => below,
                Tie::Alternate { lower_is_next } => {
                    *lower_is_next = !*lower_is_next;
                    if *lower_is_next { above } else { below }
                }
            },
        }
    }
}

impl Scheduler for Sstf {
    fn push(&mut self, request: QueuedRequest) {
        self.queue.insert(self.key(&request), request);
    }

    fn pop(&mut self, _now: Time, _mechanics: &dyn Mechanics, batch: &mut Vec<QueuedRequest>) {
        let key = match (self.queue.first_at_or_above(self.last), self.queue.first_below(self.last)) {
            (Some(above), Some(below)) => self.nearest(above, below),
            (above, below) => match above.or(below) {
                Some(key) => key,
                None => return,
            },
        };
        let Some(request) = self.queue.take(key) else { return };
        let end = request.lbn + u64::from(request.blocks);
        self.last = match self.tie {
            Tie::Alternate { .. } => end,
            Tie::Earliest | Tie::Lowest => (end - 1) / self.unit_blocks,
        };
        batch.push(request);
    }

    fn remove(&mut self, request: &QueuedRequest, _mechanics: &dyn Mechanics) -> bool {
        let key = self.key(request);
        self.queue.take(key).is_some()
    }

    fn len(&self) -> usize {
        self.queue.len()
    }
}
