//! Aged shortest positioning time first (Jacobson and Wilkes 1992).

use std::sync::Arc;

use sledlab_core::{Result, Span, Time};

use super::queue::position_queue::PositionQueue;
use super::{Model, Scheduler, SchedulerContext, Starvation};
use crate::device::{Aging, Aim, PositionRange, RequestGroup, Score};

sledlab_core::params! {
    /// Weight of waiting times.
    pub struct AsptfParams {
        /// Credit for waiting, in ms of positioning per second; 0 is SPTF.
        weight: f64 = 5.0, "ms/s", 0.0..1e9;
    }
}

/// The smallest positioning time less a credit for waiting.
pub(super) struct Asptf;

impl Model for Asptf {
    type Params = AsptfParams;
    const NAME: &'static str = "asptf";
    const MEANING: &'static str =
        "aged SPTF: the smallest positioning time less a credit that grows with waiting";
    // 200 ms of waiting offset 1 ms of positioning; only the 1,050 requests that arrive within that time may overtake.
    const STARVATION: Starvation = Starvation::Bounded { test_bound_ms: 1_050.0 };

    fn make(params: &AsptfParams, context: SchedulerContext) -> Result<Box<dyn Scheduler>> {
        // A weight of zero is no ageing at all: a request that waits forever has no credit either.
        let score = AgedPositioning { credit: params.weight * 1e-3 };
        Ok(PositionQueue::new_boxed(&Aim::Score(Arc::new(score)), context))
    }
}

/// Positioning time less the credit for waiting; at a position the oldest request decides, as it has the most credit.
struct AgedPositioning {
    /// Credit per waiting time: nanoseconds of positioning for a nanosecond of waiting.
    credit: f64,
}

impl AgedPositioning {
    fn score_at(&self, time: Span, waited_ns: f64) -> f64 {
        time.as_ns() as f64 - self.credit * waited_ns
    }
}

impl Score for AgedPositioning {
    fn score(&self, now: Time, time: Span, group: &RequestGroup, _: &mut dyn Iterator<Item = Time>) -> f64 {
        self.score_at(time, now.since(group.oldest).as_ns() as f64)
    }

    fn weight(&self, times: [Time; 2], group: &RequestGroup, _: &mut dyn Iterator<Item = Time>) -> [f64; 2] {
        times.map(|time| group.oldest_ns(time))
    }

    fn lower_bound(&self, range: &PositionRange) -> f64 {
        self.score_at(range.min_time, range.weight)
    }

    fn aging(&self) -> Aging {
        Aging::Uniform
    }

    fn needs_max_time(&self, _weight: f64) -> bool {
        false
    }
}
