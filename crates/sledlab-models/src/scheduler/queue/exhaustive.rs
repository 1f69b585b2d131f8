//! An index that probes every queued request: the fallback if a device has no index, and the reference for tests of the
//! indexes that devices have.

use sledlab_core::hash::Map;
use sledlab_core::{Span, Time};

use crate::device::{Aim, DeviceState, Mechanics, PositionIndex, QueuedRequest, RequestGroup};

/// Queued requests in no order.
pub struct ExhaustiveIndex {
    aim: Aim,
    queue: Vec<QueuedRequest>,
}

/// Score or distance, then positioning time, then the rank that breaks ties, then the request's number.
type Key = (f64, Span, u64, u64);

/// The requests that wait at a position.
struct CellRequests {
    group: RequestGroup,
    /// Numbers of the requests, and when they joined the queue, in order: a sum over them is then rounded as that of an
    /// index.
    queue_times: Vec<(u64, Time)>,
    first: QueuedRequest,
}

impl ExhaustiveIndex {
    /// An empty index that finds the best request by `aim`.
    pub fn new(aim: Aim) -> Self {
        ExhaustiveIndex { aim, queue: Vec::new() }
    }

    /// Index in `queue` of the best request.
    fn best(&self, now: Time, mechanics: &dyn Mechanics) -> Option<usize> {
        match &self.aim {
            Aim::Time => self.min_by(|request| {
                (0.0, mechanics.positioning(request), mechanics.tie_rank(request), request.id)
            }),
            Aim::Distance => {
                let (DeviceState { x, y, .. }, order) = (mechanics.state(), mechanics.queue_order());
                self.min_by(|request| {
                    let distance = mechanics.distance_squared((x, y), request.lbn);
                    (distance as f64, Span::ZERO, order.rank(request), request.id)
                })
            }
            Aim::Score(score) => {
                let groups = self.requests_by_cell(mechanics);
                self.min_by(|request| {
                    let CellRequests { group, queue_times, first } = &groups[&place(mechanics, request)];
                    let time = mechanics.positioning(request);
                    let score = score.score(now, time, group, &mut queue_times.iter().map(|(_, at)| *at));
                    // All requests of a position share its score, and its first request breaks ties for them all.
                    // Adding zero makes -0 into 0, so that the two compare as equal.
                    (score + 0.0, time, mechanics.tie_rank(first), request.id)
                })
            }
        }
    }

    fn min_by(&self, key: impl Fn(&QueuedRequest) -> Key) -> Option<usize> {
        let compare = |a: &Key, b: &Key| a.0.total_cmp(&b.0).then((a.1, a.2, a.3).cmp(&(b.1, b.2, b.3)));
        let keys = self.queue.iter().map(key).enumerate();
        keys.min_by(|(_, a), (_, b)| compare(a, b)).map(|(at, _)| at)
    }

    /// The requests that wait at each cylinder and row, and when they joined the queue.
    fn requests_by_cell(&self, mechanics: &dyn Mechanics) -> Map<(u32, u32), CellRequests> {
        let mut groups: Map<(u32, u32), CellRequests> = Map::default();
        for request in &self.queue {
            let new_cell =
                || CellRequests { group: RequestGroup::EMPTY, queue_times: Vec::new(), first: *request };
            let cell = groups.entry(place(mechanics, request)).or_insert_with(new_cell);
            cell.group.add(request);
            cell.queue_times.push((request.id, request.queue_time));
            if request.id < cell.first.id {
                cell.first = *request;
            }
        }
        for cell in groups.values_mut() {
            cell.queue_times.sort_unstable();
        }
        groups
    }
}

fn place(mechanics: &dyn Mechanics, request: &QueuedRequest) -> (u32, u32) {
    let location = mechanics.location(request.lbn);
    (location.cylinder, location.row)
}

impl PositionIndex for ExhaustiveIndex {
    fn insert(&mut self, request: QueuedRequest) {
        self.queue.push(request);
    }

    fn remove(&mut self, request: &QueuedRequest) -> bool {
        let at = self.queue.iter().position(|other| other.id == request.id);
        at.map(|at| self.queue.swap_remove(at)).is_some()
    }

    fn take_best(&mut self, now: Time, mechanics: &dyn Mechanics) -> Option<QueuedRequest> {
        self.best(now, mechanics).map(|at| self.queue.swap_remove(at))
    }

    fn take_joining(&mut self, mechanics: &dyn Mechanics, batch: &mut Vec<QueuedRequest>) {
        // In order of arrival, as far as the batch has room.
        self.queue.sort_unstable_by_key(|request| request.id);
        self.queue.retain(|request| {
            let can_join = mechanics.can_join(batch, request);
            if can_join {
                batch.push(*request);
            }
            !can_join
        });
    }

    fn len(&self) -> usize {
        self.queue.len()
    }
}
