//! Zone-based shortest positioning time first, constrained in arrival time (Hong 2006, section 4.2.1).

use sledlab_core::Result;

use super::queue::grid::{ZoneParams, Zones};
use super::queue::position_queue::PositionQueue;
use super::queue::zoned_queue::{self, Circular};
use super::{Model, Scheduler, SchedulerContext, Starvation};
use crate::device::Aim;

/// As ZSPTF, but a visit to a zone serves only requests that had arrived when the visit began.
pub(super) struct Ztsptf;

impl Model for Ztsptf {
    type Params = ZoneParams;
    const NAME: &'static str = "ztsptf";
    const MEANING: &'static str =
        "time-constrained zsptf: a visit to a zone serves only requests that arrived before the visit";
    // A visit serves a fixed set of requests, and every zone is visited once in a round.
    // The requests that were queued in the nearer zones when the scheduler entered them.
    const STARVATION: Starvation = Starvation::Bounded { test_bound_ms: 100.0 };

    fn make(params: &ZoneParams, context: SchedulerContext) -> Result<Box<dyn Scheduler>> {
        let zones = Zones::circular(params, context.mechanics);
        let zone_queue = PositionQueue::new_boxed(&Aim::Time, context);
        Ok(zoned_queue::build(zones, Circular::default(), zone_queue).with_gated_visits().into_boxed())
    }
}

#[cfg(test)]
mod tests {
    use super::super::queue::zoned_queue::trial::Trial;

    #[test]
    fn arrivals_during_a_visit_wait_for_the_next() {
        let mut trial = Trial::new("ztsptf");
        trial.push(&[(10, 1), (12, 1), (300, 5)]);
        let first = trial.pop();
        trial.push(&[(14, 1), (16, 1)]);
        let mut visit = [first, trial.pop()].map(Option::unwrap);
        visit.sort_unstable();
        assert_eq!(visit, [(10, 1), (12, 1)]);
        assert_eq!(trial.pop(), Some((300, 5)));
        let mut next_visit = trial.drain();
        next_visit.sort_unstable();
        assert_eq!(next_visit, [(14, 1), (16, 1)]);
    }

    #[test]
    fn stream_into_one_zone_delays_no_other_request() {
        let picks_until_far = |word| {
            let mut trial = Trial::new(word);
            trial.push(&[(10, 1), (12, 1), (2000, 20)]);
            (0..500).position(|pick| {
                trial.push(&[(10 + pick % 50 * 2, 3)]);
                trial.pop() == Some((2000, 20))
            })
        };
        assert_eq!(picks_until_far("zsptf"), None);
        assert_eq!(picks_until_far("ztsptf"), Some(3));
    }
}
