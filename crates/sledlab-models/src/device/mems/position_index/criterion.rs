//! The criteria by which an index compares requests, and lower bounds of them.

use std::sync::Arc;

use sledlab_core::{Span, Time};

use super::epoch::Epoch;
use crate::device::{Aging, RequestGroup, Score};

/// Costs in y and x, and what follows from them: the smallest value is best.
pub(in crate::device::mems) trait Criterion: Send {
    /// Whether costs are squares of distances instead of times.
    const BY_DISTANCE: bool = false;

    /// Whether the requests of a position have a weight.
    const WEIGHS: bool = false;

    /// Whether bounds of positions with at most this weight depend on maximum costs.
    fn needs_most(&self, _weight: f64) -> bool {
        false
    }

    /// Sets `bounds` to lower bounds of the values of positions by their minimum and maximum costs and weights.
    fn bounds(&self, _min_costs: &[u32], _max_costs: &[u32], _weights: &[f64], _bounds: &mut Vec<f64>) {}

    /// The value of a position that costs `cost`.
    fn value(
        &self,
        now: Time,
        cost: u64,
        group: &RequestGroup,
        queue_times: &mut dyn Iterator<Item = Time>,
    ) -> f64;

    /// The weight of the requests of a position at both ends of the epoch.
    fn weight(&self, _group: &RequestGroup, _queue_times: &mut dyn Iterator<Item = Time>) -> [f64; 2] {
        [0.0; 2]
    }

    /// Begins a new epoch if one is due, so that all weights must be computed anew; `queued` requests wait in `tiles`.
    fn begin_epoch(&mut self, _now: Time, _queued: usize, _tiles: usize) -> bool {
        false
    }

    /// Counts a request that joined or left.
    fn count_change(&mut self) {}

    /// Share of the epoch that has passed.
    fn share(&self, _now: Time) -> f64 {
        0.0
    }
}

/// The smallest positioning time.
pub(in crate::device::mems) struct ByTime;

impl Criterion for ByTime {
    #[inline]
    fn value(&self, _: Time, cost: u64, _: &RequestGroup, _: &mut dyn Iterator<Item = Time>) -> f64 {
        cost as f64
    }
}

/// The smallest distance.
pub(in crate::device::mems) struct ByDistance;

impl Criterion for ByDistance {
    const BY_DISTANCE: bool = true;

    #[inline]
    fn value(&self, _: Time, cost: u64, _: &RequestGroup, _: &mut dyn Iterator<Item = Time>) -> f64 {
        cost as f64
    }
}

/// The smallest score of a scheduler.
pub(in crate::device::mems) struct ByScore {
    score: Arc<dyn Score>,
    epoch: Epoch,
}

impl ByScore {
    pub fn new(score: Arc<dyn Score>) -> Self {
        ByScore { score, epoch: Epoch::new() }
    }
}

impl Criterion for ByScore {
    const WEIGHS: bool = true;

    #[inline]
    fn bounds(&self, min_costs: &[u32], max_costs: &[u32], weights: &[f64], bounds: &mut Vec<f64>) {
        self.score.lower_bounds(min_costs, max_costs, weights, bounds);
    }

    #[inline]
    fn value(
        &self,
        now: Time,
        cost: u64,
        group: &RequestGroup,
        queue_times: &mut dyn Iterator<Item = Time>,
    ) -> f64 {
        self.score.score(now, Span::from_ns(cost), group, queue_times)
    }

    fn needs_most(&self, weight: f64) -> bool {
        self.score.needs_max_time(weight)
    }

    fn weight(&self, group: &RequestGroup, queue_times: &mut dyn Iterator<Item = Time>) -> [f64; 2] {
        self.score.weight(self.epoch.ends(), group, queue_times)
    }

    fn begin_epoch(&mut self, now: Time, queued: usize, tiles: usize) -> bool {
        let is_exact = match self.score.aging() {
            Aging::Uniform => true,
            Aging::Linear => tiles == 1,
            Aging::Curved => false,
        };
        self.epoch.begin(now, queued, is_exact)
    }

    fn count_change(&mut self) {
        self.epoch.count_change();
    }

    fn share(&self, now: Time) -> f64 {
        self.epoch.share(now)
    }
}
