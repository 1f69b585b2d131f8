//! The optimal order of a handful of requests: an oracle for the other schedulers.

use std::collections::VecDeque;

use sledlab_core::{Error, Result};

use super::queue::planned_queue::{PlannedQueue, Planner};
use super::{Model, NoParams, Scheduler, SchedulerContext, Starvation};
use crate::device::{DeviceState, Mechanics, QueuedRequest};

/// Most requests of a plan: each further request doubles the time and memory of planning.
const MAX_REQUESTS: usize = 12;

/// The order with the smallest sum of completion times, as if no further request arrived.
pub(super) struct Optimal;

impl Model for Optimal {
    type Params = NoParams;
    const NAME: &'static str = "optimal";
    const MEANING: &'static str =
        "optimal order: the smallest sum of completion times; an oracle for up to 12 requests";
    const COMPARED_BY_DEFAULT: bool = false;
    const STARVATION: Starvation = Starvation::Possible;

    fn make(_: &NoParams, context: SchedulerContext) -> Result<Box<dyn Scheduler>> {
        if context.mechanics.is_time_dependent() {
            // The state after an access would depend on the time, so that different orders would share no states.
            let reason =
                "access times of this device depend on the time at which the access starts, as on a disk";
            return Err(Error::user(format!("scheduler `{}` cannot plan: {reason}", Self::NAME))
                .with_remedy("choose sptf, which approximates it"));
        }
        Ok(PlannedQueue::new_boxed(Planner {
            name: Self::NAME,
            max_requests: MAX_REQUESTS,
            online: true,
            order: plan,
        }))
    }
}

/// The service of a request: its service time in ns, and the number of the state in which the mechanism ends.
type Service = (u64, usize);

/// The order of `requests` with the smallest sum of completion times from the present state.
fn plan(mechanics: &dyn Mechanics, mut requests: Vec<QueuedRequest>) -> VecDeque<QueuedRequest> {
    requests.sort_unstable_by_key(|request| (mechanics.queue_order().rank(request), request.id));
    let services = services(mechanics, &requests);
    let costs = costs(&services, requests.len());
    let (mut left, mut state) = ((1_usize << requests.len()) - 1, 0);
    let mut order = VecDeque::with_capacity(requests.len());
    while left != 0 {
        let Some((_, best)) = best(&services[state], &costs, left) else { break };
        order.push_back(requests[best]);
        left &= !(1 << best);
        state = services[state][best].1;
    }
    order
}

/// The service of every request from every state that some order leads to; the present state is number 0.
fn services(mechanics: &dyn Mechanics, requests: &[QueuedRequest]) -> Vec<Vec<Service>> {
    let mut states: Vec<DeviceState> = vec![mechanics.state()];
    let mut services: Vec<Vec<Service>> = Vec::new();
    while let Some(from) = states.get(services.len()).copied() {
        let service = |request| {
            let (timing, end_state) = mechanics.serve_from(from, request);
            let number = states.iter().position(|state| *state == end_state).unwrap_or_else(|| {
                states.push(end_state);
                states.len() - 1
            });
            (timing.service().as_ns(), number)
        };
        services.push(requests.iter().map(service).collect());
    }
    services
}

/// The minimum sum of completion times, in ns from now, by the set of remaining requests (bits) and by state.
fn costs(services: &[Vec<Service>], requests: usize) -> Vec<Vec<u64>> {
    let mut costs: Vec<Vec<u64>> = vec![vec![0; services.len()]];
    for left in 1..1_usize << requests {
        let of = |from: &Vec<Service>| best(from, &costs, left).map_or(0, |(cost, _)| cost);
        let line = services.iter().map(of).collect();
        costs.push(line);
    }
    costs
}

/// Returns the minimum cost of serving the requests `left`, and the request to serve first for that cost.
fn best(services: &[Service], costs: &[Vec<u64>], left: usize) -> Option<(u64, usize)> {
    let waiting = u64::from(left.count_ones());
    let first = (0..services.len()).filter(|request| left >> request & 1 == 1);
    // The service time of the first request delays the completions of all that are left, its own included.
    first
        .map(|first| (services[first].0 * waiting + costs[left & !(1 << first)][services[first].1], first))
        .min()
}
