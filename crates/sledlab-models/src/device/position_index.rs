//! Position indexes, which find the best queued request without probing all, and the criteria for the best.

use std::sync::Arc;

use sledlab_core::{Span, Time};

use super::{Mechanics, QueuedRequest};

/// The criterion by which a position index finds the best request.
#[derive(Clone)]
pub enum Aim {
    /// The smallest positioning time; of equal ones the smallest [`tie_rank`](Mechanics::tie_rank), then the lowest
    /// number.
    Time,
    /// The smallest distance in the plane; of equal ones the first [in the queue](Mechanics::queue_order).
    Distance,
    /// The smallest score of a position; of equal ones as for `Time`.
    Score(Arc<dyn Score>),
}

/// How good it is to serve a position next; the smallest score wins.
///
/// A score depends on the positioning time and on the requests that wait at the position. An index aggregates these
/// requests into a weight, a number from which it bounds scores and that no scheduler sees. Scores are never NaN. `of`
/// and `bound` must be monotone in floating-point numbers too, which sums, products and quotients of monotone terms
/// are.
pub trait Score: Send + Sync {
    /// The score at `now` of a position reached in `time` where `group` waits; `queue_times` gives the time at which
    /// each request joined the queue.
    fn score(
        &self,
        now: Time,
        time: Span,
        group: &RequestGroup,
        queue_times: &mut dyn Iterator<Item = Time>,
    ) -> f64;

    /// Returns the weight of the group of a position at two times, of which the second is later. In between, the weight
    /// lies on or below the straight line between the two: it is convex in time, and grows while a group waits. Either
    /// time may lie before some requests have joined; their waits are negative then.
    fn weight(
        &self,
        times: [Time; 2],
        group: &RequestGroup,
        queue_times: &mut dyn Iterator<Item = Time>,
    ) -> [f64; 2];

    /// Returns a lower bound of the scores of all positions of a range.
    fn lower_bound(&self, range: &PositionRange) -> f64;

    /// Sets `bounds` to the [lower bounds](Self::lower_bound) of ranges, given by their minimum times in ns, maximum
    /// times and weights; `max_times` is empty if no bound [depends](Self::needs_max_time) on maximum times.
    fn lower_bounds(&self, min_times: &[u32], max_times: &[u32], weights: &[f64], bounds: &mut Vec<f64>) {
        let span = |ns: u32| Span::from_ns(ns.into());
        bounds.clear();
        if max_times.is_empty() {
            bounds.extend(min_times.iter().zip(weights).map(|(min_ns, weight)| {
                let min_time = span(*min_ns);
                self.lower_bound(&PositionRange { min_time, max_time: min_time, weight: *weight })
            }));
        } else {
            bounds.extend(min_times.iter().zip(max_times).zip(weights).map(|((min_ns, max_ns), weight)| {
                let (min_time, max_time) = (span(*min_ns), span(*max_ns));
                self.lower_bound(&PositionRange { min_time, max_time, weight: *weight })
            }));
        }
    }

    /// How the weights of waiting requests grow.
    fn aging(&self) -> Aging;

    /// Whether bounds of positions of at most this weight depend on the time to the farthest position; if they do not,
    /// [`PositionRange::max_time`] is not computed.
    fn needs_max_time(&self, weight: f64) -> bool;
}

/// How the weights of groups grow while no request joins or leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aging {
    /// Linearly, and those of all groups at the same rate.
    Uniform,
    /// Linearly, each at another rate.
    Linear,
    /// In another way.
    Curved,
}

/// Several positions whose scores are bounded together.
#[derive(Clone, Copy, Debug)]
pub struct PositionRange {
    /// Time to reach the nearest position.
    pub min_time: Span,
    /// Upper bound of the time to reach the farthest position.
    pub max_time: Span,
    /// Upper bound of the current weight of each position.
    pub weight: f64,
}

/// The requests that wait at a position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RequestGroup {
    /// When the first of them joined the queue.
    pub oldest: Time,
    /// Number of requests.
    pub requests: u32,
    /// Sum of the times at which they joined the queue, in ns.
    pub joined_ns: u128,
}

impl RequestGroup {
    /// A group without requests.
    pub const EMPTY: RequestGroup = RequestGroup { oldest: Time::MAX, requests: 0, joined_ns: 0 };

    /// Adds a request to the group.
    pub fn add(&mut self, request: &QueuedRequest) {
        self.oldest = self.oldest.min(request.queue_time);
        self.requests += 1;
        self.joined_ns += u128::from(request.queue_time.as_ns());
    }

    /// Removes a request from the group; `oldest` is when the first of the remaining ones joined the queue.
    pub fn remove(&mut self, request: &QueuedRequest, oldest: Option<Time>) {
        self.oldest = oldest.unwrap_or(Time::MAX);
        self.requests -= 1;
        self.joined_ns -= u128::from(request.queue_time.as_ns());
    }

    /// How long the oldest request has waited at `at`, in ns; negative if `at` lies before it joined.
    pub fn oldest_ns(&self, at: Time) -> f64 {
        let (at, oldest) = (at.as_ns(), self.oldest.as_ns());
        if at >= oldest { (at - oldest) as f64 } else { -((oldest - at) as f64) }
    }

    /// Sum of the waiting times at `at`, in ns; requests that join later have negative waits.
    pub fn balance_ns(&self, at: Time) -> f64 {
        to_f64(i128::from(at.as_ns()) * i128::from(self.requests) - self.joined_ns as i128)
    }

    /// Sum of the waiting times at `now`, in ns.
    pub fn waited_ns(&self, now: Time) -> f64 {
        to_f64((u128::from(now.as_ns()) * u128::from(self.requests)).saturating_sub(self.joined_ns) as i128)
    }
}

/// `ns` as a floating-point number. Nearly all fit 64 bits, whose conversion is one instruction.
#[inline]
fn to_f64(ns: i128) -> f64 {
    i64::try_from(ns).map_or_else(|_| wide_to_f64(ns), |ns| ns as f64)
}

/// Not inlined: the compiler would convert all numbers this way.
#[cold]
#[inline(never)]
fn wide_to_f64(ns: i128) -> f64 {
    ns as f64
}

/// An index over queued requests by position: finds the best request without probing all.
///
/// The numbers of requests are in the order of the times at which they joined the queue.
#[expect(clippy::len_without_is_empty, reason = "`is_empty` is a method of `dyn PositionIndex`")]
pub trait PositionIndex: Send {
    /// Adds a request.
    fn insert(&mut self, request: QueuedRequest);
    /// Removes `request`; false if the index does not contain it.
    fn remove(&mut self, request: &QueuedRequest) -> bool;
    /// Removes and returns the best request: the same that an exhaustive search would find.
    fn take_best(&mut self, now: Time, mechanics: &dyn Mechanics) -> Option<QueuedRequest>;
    /// Moves into `batch` the requests that can be served [together](Mechanics::can_join) with those in it.
    fn take_joining(&mut self, mechanics: &dyn Mechanics, batch: &mut Vec<QueuedRequest>);
    /// Number of requests in the index.
    fn len(&self) -> usize;
}

impl dyn PositionIndex + '_ {
    /// Whether the index holds no requests.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
