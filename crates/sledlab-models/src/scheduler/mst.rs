//! Scheduling by minimum spanning trees (Yu, Agrawal and El Abbadi 2003).

use std::collections::VecDeque;

use sledlab_core::Result;
use sledlab_core::hash::Map;

use super::queue::planned_queue::{PlannedQueue, Planner};
use super::{Model, Scheduler, SchedulerContext, Starvation};
use crate::device::{DeviceState, Mechanics, QueuedRequest};

/// Most requests of a tree: the number of costs to compute grows with the square.
const MAX_REQUESTS: usize = 1_000;

sledlab_core::params! {
    /// When the tree is built.
    pub struct MstParams {
        /// Whether the tree is built anew after every arrival, or only when all of the last tree is served.
        online: bool = true;
    }
}

/// A walk around the minimum spanning tree of the positions where requests wait.
pub(super) struct Mst;

impl Model for Mst {
    type Params = MstParams;
    const NAME: &'static str = "mst";
    const MEANING: &'static str =
        "minimum spanning tree: a walk around the tree of waiting positions; for up to 1000 requests";
    const COMPARED_BY_DEFAULT: bool = false;
    const STARVATION: Starvation = Starvation::Possible;

    fn make(params: &MstParams, _: SchedulerContext) -> Result<Box<dyn Scheduler>> {
        let order = |mechanics: &dyn Mechanics, requests| Places::new(mechanics, requests).ordered_requests();
        Ok(PlannedQueue::new_boxed(Planner {
            name: Self::NAME,
            max_requests: MAX_REQUESTS,
            online: params.online,
            order,
        }))
    }
}

/// The positions where requests wait.
struct Places<'a> {
    mechanics: &'a dyn Mechanics,
    /// Requests at each position, in order of arrival. Positions are in the order in which ties are broken.
    waiting: Vec<Vec<QueuedRequest>>,
    /// State of the mechanism after the first request of each position.
    end_states: Vec<DeviceState>,
}

impl<'a> Places<'a> {
    fn new(mechanics: &'a dyn Mechanics, mut requests: Vec<QueuedRequest>) -> Self {
        requests.sort_unstable_by_key(|request| request.id);
        let mut index_by_position = Map::default();
        let mut waiting: Vec<Vec<QueuedRequest>> = Vec::new();
        for request in requests {
            let location = mechanics.location(request.lbn);
            let place = *index_by_position.entry((location.cylinder, location.row)).or_insert(waiting.len());
            if place == waiting.len() {
                waiting.push(Vec::new());
            }
            waiting[place].push(request);
        }
        waiting.sort_by_key(|requests| mechanics.queue_order().rank(&requests[0]));
        let end_states =
            waiting.iter().map(|requests| mechanics.serve_from(mechanics.state(), &requests[0]).1).collect();
        Places { mechanics, waiting, end_states }
    }

    /// Positioning time from the mechanism's present state to position `to`, in ns.
    fn reach_ns(&self, to: usize) -> u64 {
        self.mechanics.positioning(&self.waiting[to][0]).as_ns()
    }

    /// The longer of the positioning times from `a` to `b` and back, in ns: a tree needs the same cost in both
    /// directions.
    fn edge_ns(&self, a: usize, b: usize) -> u64 {
        let cost = |from: usize, to: usize| {
            self.mechanics.positioning_from(self.end_states[from], &self.waiting[to][0]).as_ns()
        };
        cost(a, b).max(cost(b, a))
    }

    /// The walk around the minimum spanning tree: every position before those that branch off it, nearest branch
    /// first.
    fn walk(&self) -> Vec<usize> {
        let start = self.waiting.len();
        let mut branches = vec![Vec::new(); start + 1];
        // Prim's algorithm: positions outside the tree, each with the cost and origin of the cheapest edge to it.
        let mut unreached: Vec<(u64, usize, usize)> =
            (0..start).map(|place| (self.reach_ns(place), place, start)).collect();
        while let Some((place_in_list, _)) = unreached.iter().enumerate().min_by_key(|(_, cost)| **cost) {
            let (_, nearest, from) = unreached.swap_remove(place_in_list);
            branches[from].push(nearest);
            for (cost, place, from) in &mut unreached {
                let new_cost = self.edge_ns(nearest, *place);
                if new_cost < *cost {
                    (*cost, *from) = (new_cost, nearest);
                }
            }
        }
        let mut walk = Vec::with_capacity(start);
        let mut open: Vec<usize> = branches[start].iter().rev().copied().collect();
        while let Some(place) = open.pop() {
            walk.push(place);
            open.extend(branches[place].iter().rev());
        }
        walk
    }

    /// All requests in the order of the walk.
    fn ordered_requests(mut self) -> VecDeque<QueuedRequest> {
        let walk = self.walk();
        walk.into_iter().flat_map(|place| std::mem::take(&mut self.waiting[place])).collect()
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use sledlab_core::{Op, Time, seed};

    use super::*;
    use crate::device::mems::{self, MemsParams};

    fn length(places: &Places, walk: &[usize]) -> u64 {
        let legs_ns: u64 = walk.windows(2).map(|leg| places.edge_ns(leg[0], leg[1])).sum();
        places.reach_ns(walk[0]) + legs_ns
    }

    /// The shortest length of a walk that visits all places (Held and Karp 1962).
    fn shortest(places: &Places) -> u64 {
        let count = places.waiting.len();
        let mut best_ns = vec![vec![u64::MAX; count]; 1 << count];
        for first in 0..count {
            best_ns[1 << first][first] = places.reach_ns(first);
        }
        for visited in 1..1_usize << count {
            for last in (0..count).filter(|last| visited & (1 << last) != 0) {
                for next in (0..count).filter(|next| visited & (1 << next) == 0) {
                    let length_ns = best_ns[visited][last] + places.edge_ns(last, next);
                    let best = &mut best_ns[visited | (1 << next)][next];
                    *best = length_ns.min(*best);
                }
            }
        }
        best_ns[(1 << count) - 1].iter().copied().min().unwrap_or(0)
    }

    #[test]
    fn walks_at_most_twice_the_shortest_way() {
        let mut device = mems::build(&MemsParams::default()).unwrap();
        let mut rng = seed::stream(1, "instances");
        let (mut worst, mut served) = (1.0_f64, Vec::new());
        for instance in 0..600 {
            let count = 2 + instance % 8;
            let range = [6_750_000, 100_000, 5_000][(instance / 8 % 3) as usize];
            let mut request = |id| {
                let (lbn, blocks) = (rng.random_range(0..range), rng.random_range(1..=40));
                QueuedRequest {
                    id,
                    arrival: Time::ZERO,
                    queue_time: Time::ZERO,
                    lbn,
                    blocks,
                    op: Op::Read,
                    ..QueuedRequest::default()
                }
            };
            let requests = (0..count).map(&mut request).collect();
            let places = Places::new(device.mechanics(), requests);
            let (walk_ns, shortest_ns) = (length(&places, &places.walk()), shortest(&places));
            assert!(walk_ns <= 2 * shortest_ns, "{walk_ns} ns for {shortest_ns} ns");
            worst = worst.max(walk_ns as f64 / shortest_ns.max(1) as f64);
            device.issue(Time::ZERO, &[request(count)], &mut served);
        }
        assert!(worst > 1.05, "the test is too easy: {worst}");
    }
}
