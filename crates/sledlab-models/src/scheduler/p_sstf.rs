//! Parallelism-aware shortest seek time first (Lee 2009, section 3.1).

use std::collections::{BTreeMap, VecDeque};

use sledlab_core::hash::Map;
use sledlab_core::{Result, Time};

use super::queue::ordered_queue::{Key, OrderedQueue};
use super::{Batch, Model, NoParams, Scheduler, SchedulerContext, Starvation};
use crate::device::{Location, Mechanics, QueuedRequest};

/// P-SSTF: the position with the most requests per distance along x.
///
/// The distance is counted in cylinders, from the place of the mechanism. Positions in its cylinder have no distance
/// and go first, the one with the most requests before the others. Of positions with equal priority the one with more
/// requests is served, then the one whose first request arrived first.
///
/// A decision compares, for each number of requests that wait at some position, the nearest such positions on both
/// sides. Among `n` requests there are at most `sqrt(2 n)` different numbers.
pub(super) struct PSstf {
    /// Requests pushed since the last choice: only the mechanism determines where they lie.
    unplaced: Vec<QueuedRequest>,
    /// The other requests by cylinder and row, in order of arrival.
    positions: Map<(u32, u32), VecDeque<QueuedRequest>>,
    /// The first request of each position in order of x, by the number of requests at the position.
    by_number: BTreeMap<u64, OrderedQueue>,
    /// Number of requests in `positions`.
    placed_requests: usize,
    batch: Batch,
}

impl Model for PSstf {
    type Params = NoParams;
    const NAME: &'static str = "p-sstf";
    const MEANING: &'static str =
        "parallel SSTF: the position with most requests per distance in x, all of them served at once";
    const STARVATION: Starvation = Starvation::Possible;
    const BATCHES: bool = true;

    fn make(_: &NoParams, context: SchedulerContext) -> Result<Box<dyn Scheduler>> {
        Ok(Box::new(PSstf {
            unplaced: Vec::new(),
            positions: Map::default(),
            by_number: BTreeMap::new(),
            placed_requests: 0,
            batch: context.batch,
        }))
    }
}

/// Number of cylinders from the lowest x that a mechanism can have.
fn place(x: i32) -> u64 {
    x.abs_diff(i32::MIN).into()
}

fn key(location: Location, first: &QueuedRequest) -> Key {
    (place(location.x), 0, first.id)
}

/// Key of the request nearest to `from`, the earlier one of two on both sides.
fn nearest(queue: &OrderedQueue, from: u64) -> Option<Key> {
    let sides = [queue.first_at_or_above(from), queue.first_below(from)];
    sides.into_iter().flatten().min_by_key(|(place, _, id)| (place.abs_diff(from), *id))
}

impl PSstf {
    /// Removes the requests at a position.
    fn take_position(&mut self, location: Location) -> VecDeque<QueuedRequest> {
        let requests = self.positions.remove(&(location.cylinder, location.row)).unwrap_or_default();
        let number = requests.len() as u64;
        if let (Some(first), Some(queue)) = (requests.front(), self.by_number.get_mut(&number)) {
            queue.take(key(location, first));
            if queue.len() == 0 {
                self.by_number.remove(&number);
            }
        }
        self.placed_requests -= requests.len();
        requests
    }

    /// Adds the requests at a position, from which [`take_position`](Self::take_position) removed all others.
    fn put_position(&mut self, location: Location, requests: VecDeque<QueuedRequest>) {
        let Some(first) = requests.front() else { return };
        self.by_number.entry(requests.len() as u64).or_default().insert(key(location, first), *first);
        self.placed_requests += requests.len();
        self.positions.insert((location.cylinder, location.row), requests);
    }

    /// The first request at the position of the highest priority for a mechanism at `x`.
    fn best(&self, x: i32) -> Option<QueuedRequest> {
        let candidates = self.by_number.iter().filter_map(|(number, queue)| {
            let key = nearest(queue, place(x))?;
            Some((*number, key.0.abs_diff(place(x)), queue.get(key)?))
        });
        // Requests per distance are compared by products crosswise, which are exact. Of equal priorities `max_by`
        // returns the last one, which has the largest number.
        let best = candidates.max_by(|(ours, our_distance, _), (theirs, their_distance, _)| {
            (ours * their_distance).cmp(&(theirs * our_distance))
        });
        best.map(|(.., first)| first)
    }
}

impl Scheduler for PSstf {
    fn push(&mut self, request: QueuedRequest) {
        self.unplaced.push(request);
    }

    fn pop(&mut self, _now: Time, mechanics: &dyn Mechanics, batch: &mut Vec<QueuedRequest>) {
        let mut unplaced = std::mem::take(&mut self.unplaced);
        for request in unplaced.drain(..) {
            let location = mechanics.location(request.lbn);
            let mut requests = self.take_position(location);
            requests.insert(requests.partition_point(|other| other.id < request.id), request);
            self.put_position(location, requests);
        }
        self.unplaced = unplaced;
        let Some(first) = self.best(mechanics.state().x) else { return };
        let location = mechanics.location(first.lbn);
        let mut requests = self.take_position(location);
        batch.extend(requests.pop_front());
        if self.batch == Batch::SamePosition {
            requests.retain(|request| {
                let can_join = mechanics.can_join(batch, request);
                if can_join {
                    batch.push(*request);
                }
                !can_join
            });
        }
        self.put_position(location, requests);
    }

    fn len(&self) -> usize {
        self.unplaced.len() + self.placed_requests
    }

    fn remove(&mut self, request: &QueuedRequest, mechanics: &dyn Mechanics) -> bool {
        let queued = self.len();
        self.unplaced.retain(|other| other.id != request.id);
        let location = mechanics.location(request.lbn);
        let mut requests = self.take_position(location);
        requests.retain(|other| other.id != request.id);
        self.put_position(location, requests);
        self.len() < queued
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use sledlab_core::seed;

    use super::super::queue::zoned_queue::trial::{CylinderRow, order};

    /// The places, each repeated for its number of requests.
    fn repeat(places: &[(CylinderRow, usize)]) -> Vec<CylinderRow> {
        places.iter().flat_map(|(place, requests)| std::iter::repeat_n(*place, *requests)).collect()
    }

    #[test]
    fn serves_most_requests_per_distance() {
        // The sled begins in cylinder 1250. Priorities there: 1/10, 4/30, 2/50; two positions have no distance.
        let waiting = [((1260, 5), 1), ((1280, 3), 4), ((1300, 7), 2), ((1250, 20), 1), ((1250, 2), 2)];
        // In cylinder 1280 the priorities of the last two are 1/20 and 2/20.
        let expected = [(1250, 2), (1250, 20), (1280, 3), (1300, 7), (1260, 5)];
        assert_eq!(order("p-sstf", &repeat(&waiting)), expected);
    }

    #[test]
    fn larger_number_then_earliest_decides_ties() {
        // 1/10 and 2/20: the farther position has more requests. In cylinder 1270 only distances differ.
        let waiting = [((1260, 0), 1), ((1270, 0), 2), ((1240, 0), 1)];
        assert_eq!(order("p-sstf", &repeat(&waiting)), [(1270, 0), (1260, 0), (1240, 0)]);
        for waiting in [[(1240, 3), (1260, 3)], [(1260, 3), (1240, 3)]] {
            assert_eq!(order("p-sstf", &waiting)[0], waiting[0]);
        }
    }

    #[test]
    fn requests_without_tips_wait_and_count_again() {
        // The tips of a G2 serve 20 blocks in one pass; five requests remain, fewer than at the other position.
        let waiting = repeat(&[((1250, 2), 25), ((1250, 3), 6)]);
        assert_eq!(order("p-sstf", &waiting), [(1250, 2), (1250, 3), (1250, 2)]);
        let single_order = order("p-sstf:batch=none", &waiting);
        assert_eq!(single_order.iter().position(|place| *place == (1250, 3)), Some(20));
    }

    #[test]
    fn batches_equal_those_of_p_sptf_in_another_order() {
        let mut rng = seed::stream(1, "p-sstf");
        let place = |_| (rng.random_range(1200..1300), rng.random_range(0..3));
        let places: Vec<CylinderRow> = (0..600).map(place).collect();
        let [mut ours, mut theirs] = ["p-sstf", "p-sptf"].map(|word| order(word, &places));
        assert_ne!(ours, theirs);
        ours.sort_unstable();
        theirs.sort_unstable();
        assert_eq!(ours, theirs);
        assert!(ours.len() < places.len() / 2);
    }
}
