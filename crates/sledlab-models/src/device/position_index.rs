//! Position indexes: the best queued request without probing all, and what best means.

use std::sync::Arc;

use sledlab_core::{Span, Time};

use super::{Mechanics, Queued};

/// What a position index finds the best of.
#[derive(Clone)]
pub enum Aim {
    /// The smallest positioning time; of equal ones the smallest [`tie`](Mechanics::tie), then the earlier number.
    Time,
    /// The smallest distance in the plane; of equal ones the first [in the queue](Mechanics::queue_order).
    Distance,
    /// The smallest score of a position; then as for `Time`.
    Score(Arc<dyn Score>),
}

/// How good it is to serve a position next; the smallest score wins.
///
/// A score depends on the positioning time and on what waits there, which is weighed as its worth: a number that no
/// scheduler sees, from which the score is bounded. Scores are never NaN. `of` and `bound` must be monotone in
/// floating-point numbers too, which sums, products and quotients of monotone terms are.
pub trait Score: Send + Sync {
    /// The score at `now` of a position reached in `time` where `crowd` waits; `joined` tells when each of them
    /// joined the queue.
    fn of(&self, now: Time, time: Span, crowd: &Crowd, joined: &mut dyn Iterator<Item = Time>) -> f64;

    /// What the crowd of a position is worth at two times, of which the second is later. In between it is worth at
    /// most what a straight line between the two says: worth is convex in time, and grows while a crowd waits. Either
    /// time may lie before some have joined; waits are negative then.
    fn worth(&self, at: [Time; 2], crowd: &Crowd, joined: &mut dyn Iterator<Item = Time>) -> [f64; 2];

    /// No position of a stretch scores less: the nearest is reached in `least`, the farthest in `most`, and none is
    /// worth more than `worth`.
    fn bound(&self, stretch: &Stretch) -> f64;

    /// Whether what every crowd is worth grows equally fast: then lines between two times are exact, however far apart.
    fn ages_alike(&self) -> bool;

    /// Whether bounds depend on the time to the farthest position; where they do not, [`Stretch::most`] is not
    /// worked out.
    fn heeds_farthest(&self) -> bool;
}

/// Positions that are judged together.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// Time to reach the nearest.
    pub least: Span,
    /// Time to reach the farthest.
    pub most: Span,
    /// The most that a position is worth now.
    pub worth: f64,
}

/// The requests that wait at a position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crowd {
    /// When the first of them joined the queue.
    pub oldest: Time,
    /// How many there are.
    pub requests: u32,
    /// Sum of the times at which they joined the queue, in ns.
    pub joined_ns: u128,
}

impl Crowd {
    /// Nobody.
    pub const EMPTY: Crowd = Crowd { oldest: Time::MAX, requests: 0, joined_ns: 0 };

    /// One more request waits.
    pub fn add(&mut self, request: &Queued) {
        self.oldest = self.oldest.min(request.queued);
        self.requests += 1;
        self.joined_ns += u128::from(request.queued.as_ns());
    }

    /// A request has left; `oldest` joined the queue first of those that stay.
    pub fn remove(&mut self, request: &Queued, oldest: Option<Time>) {
        self.oldest = oldest.unwrap_or(Time::MAX);
        self.requests -= 1;
        self.joined_ns -= u128::from(request.queued.as_ns());
    }

    /// How long the oldest has waited at `at`, in ns; negative before.
    pub fn oldest_ns(&self, at: Time) -> f64 {
        (i128::from(at.as_ns()) - i128::from(self.oldest.as_ns())) as f64
    }

    /// Sum of their waiting times at `at`, in ns, where those who join later have negative ones.
    pub fn balance_ns(&self, at: Time) -> f64 {
        (i128::from(at.as_ns()) * i128::from(self.requests) - self.joined_ns as i128) as f64
    }

    /// Sum of their waiting times at `now`, in ns.
    pub fn waited_ns(&self, now: Time) -> f64 {
        (u128::from(now.as_ns()) * u128::from(self.requests)).saturating_sub(self.joined_ns) as f64
    }
}

/// An index over queued requests by position: finds the best without probing all.
///
/// Requests must be inserted in order of their numbers and of the times at which they joined the queue, as far as
/// they lie at the same position.
#[expect(clippy::len_without_is_empty, reason = "`dyn PositionIndex` has it: it follows from `len`")]
pub trait PositionIndex: Send {
    /// Adds a request.
    fn insert(&mut self, request: Queued);
    /// Removes and returns the best request: the same one as an exhaustive search would find.
    fn take_best(&mut self, now: Time, mechanics: &dyn Mechanics) -> Option<Queued>;
    /// Moves into `batch` the requests that can be served [together](Mechanics::joins) with its first.
    fn take_joining(&mut self, mechanics: &dyn Mechanics, batch: &mut Vec<Queued>);
    /// How many requests are in the index.
    fn len(&self) -> usize;
}

impl dyn PositionIndex + '_ {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
