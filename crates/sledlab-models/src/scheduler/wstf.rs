//! Weighted shortest time first: multiplicative ageing.

use std::sync::Arc;

use sledlab_core::{Result, Span, Time};

use super::queue::position_queue::PositionQueue;
use super::{Model, Scheduler, SchedulerContext, Starvation};
use crate::device::{Aging, Aim, PositionRange, RequestGroup, Score};

sledlab_core::params! {
    /// Weight of waiting times.
    pub struct WstfParams {
        /// Largest tolerated wait, at which the weighted time of a request reaches zero.
        max_wait_ms: f64 = 1000.0, "ms", 1e-3..1e9;
    }
}

/// The smallest positioning time times the share of the tolerated wait that is left.
pub(super) struct Wstf;

impl Model for Wstf {
    type Params = WstfParams;
    const NAME: &'static str = "wstf";
    const MEANING: &'static str =
        "weighted shortest time first: positioning time times the share of the tolerated wait left";
    // After 1,000 ms the weight of the distant request is negative, and only the 50 older requests may weigh less.
    const STARVATION: Starvation = Starvation::Bounded { test_bound_ms: 1_050.0 };

    fn make(params: &WstfParams, context: SchedulerContext) -> Result<Box<dyn Scheduler>> {
        let score = WeightedPositioning { max_wait_ns: params.max_wait_ms * 1e6 };
        Ok(PositionQueue::new_boxed(&Aim::Score(Arc::new(score)), context))
    }
}

/// Positioning time times weight; at a position the oldest request decides, as it has the minimum weight.
struct WeightedPositioning {
    max_wait_ns: f64,
}

impl WeightedPositioning {
    /// The share of the tolerated wait that is left; negative once a request has waited longer.
    fn remaining_share(&self, waited_ns: f64) -> f64 {
        (self.max_wait_ns - waited_ns) / self.max_wait_ns
    }
}

impl Score for WeightedPositioning {
    fn score(&self, now: Time, time: Span, group: &RequestGroup, _: &mut dyn Iterator<Item = Time>) -> f64 {
        time.as_ns() as f64 * self.remaining_share(now.since(group.oldest).as_ns() as f64)
    }

    fn weight(&self, times: [Time; 2], group: &RequestGroup, _: &mut dyn Iterator<Item = Time>) -> [f64; 2] {
        times.map(|time| group.oldest_ns(time))
    }

    fn lower_bound(&self, range: &PositionRange) -> f64 {
        let left = self.remaining_share(range.weight);
        let farthest = if left < 0.0 { range.max_time } else { range.min_time };
        farthest.as_ns() as f64 * left
    }

    fn aging(&self) -> Aging {
        Aging::Uniform
    }

    fn needs_max_time(&self, weight: f64) -> bool {
        self.remaining_share(weight) < 0.0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use rand::RngExt;
    use sledlab_core::seed;

    use super::*;
    use crate::device::QueuedRequest;
    use crate::device::mems::{self, MemsParams};

    /// Counts the places scored and the tiles bounded.
    struct CountingScore {
        score: WeightedPositioning,
        lookups: AtomicU64,
    }

    impl CountingScore {
        fn count_lookup(&self) {
            self.lookups.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Score for CountingScore {
        fn score(
            &self,
            now: Time,
            time: Span,
            group: &RequestGroup,
            queue_times: &mut dyn Iterator<Item = Time>,
        ) -> f64 {
            self.count_lookup();
            self.score.score(now, time, group, queue_times)
        }

        fn weight(
            &self,
            times: [Time; 2],
            group: &RequestGroup,
            queue_times: &mut dyn Iterator<Item = Time>,
        ) -> [f64; 2] {
            self.score.weight(times, group, queue_times)
        }

        fn lower_bound(&self, range: &PositionRange) -> f64 {
            self.count_lookup();
            self.score.lower_bound(range)
        }

        fn aging(&self) -> Aging {
            self.score.aging()
        }

        fn needs_max_time(&self, weight: f64) -> bool {
            self.score.needs_max_time(weight)
        }
    }

    /// Serves `queued` requests that arrived `gap` apart, all of them before the first was served, and returns the
    /// looks a pick, averaged over each fifth of the picks.
    fn lookups_per_choice(queued: u64, gap: Span) -> Vec<u64> {
        let mut device = mems::build(&MemsParams::default()).unwrap();
        let score = Arc::new(CountingScore {
            score: WeightedPositioning { max_wait_ns: 1e9 },
            lookups: AtomicU64::new(0),
        });
        let mut index = device.mechanics().position_index(&Aim::Score(score.clone())).unwrap();
        let (mut rng, mut now) = (seed::stream(7, "waiting"), Time::ZERO);
        for id in 0..queued {
            now += gap;
            let lbn = rng.random_range(0..device.mechanics().capacity_blocks());
            index.insert(QueuedRequest {
                id,
                arrival: now,
                queue_time: now,
                lbn,
                blocks: 1,
                ..QueuedRequest::default()
            });
        }
        let mut served = Vec::new();
        let mut serve_next = || {
            let request = index.take_best(now, device.mechanics()).unwrap();
            served.clear();
            now = device.issue(now, &[request], &mut served).unwrap().until;
        };
        let fifths = (0..5).map(|_| {
            let lookups_before = score.lookups.load(Ordering::Relaxed);
            (0..queued / 5).for_each(|_| serve_next());
            (score.lookups.load(Ordering::Relaxed) - lookups_before) / (queued / 5)
        });
        fifths.collect()
    }

    #[test]
    fn overdue_requests_do_not_raise_lookups() {
        // Requests arrive at once, within a tenth of a second, and as fast as they are served.
        for gap_ns in [1, 1_000, 400_000] {
            for (queued, max_lookups) in [(5_000, 400), (80_000, 3_200)] {
                let lookups = lookups_per_choice(queued, Span::from_ns(gap_ns));
                println!("{queued} requests, {gap_ns} ns apart: {lookups:?} looks a pick");
                assert!(
                    lookups.iter().all(|lookups| *lookups <= max_lookups),
                    "{queued}, {gap_ns} ns: {lookups:?}"
                );
            }
        }
    }
}
