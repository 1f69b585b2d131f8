//! P-SPTF between zones and inside them (Lee 2009, section 3.3).

use std::sync::Arc;

use sledlab_core::{Result, Span};

use super::queue::grid::{CellParams, ZoneOrder, Zones};
use super::queue::position_queue::PositionQueue;
use super::queue::position_weight::{MIN_POSITIONING, PositionWeight};
use super::queue::zoned_queue::{self, Tour, WaitingRequests};
use super::{Model, Scheduler, SchedulerContext, Starvation};
use crate::device::{Aim, Mechanics, QueuedRequest};

/// P-SPTF inside a zone of the medium; the next zone is the one with the most requests per positioning time to it.
pub(super) struct Zpsptf;

impl Model for Zpsptf {
    type Params = CellParams;
    const NAME: &'static str = "zpsptf";
    const MEANING: &'static str =
        "P-SPTF between zones of the medium and inside; each zone is served until empty";
    const STARVATION: Starvation = Starvation::Possible;
    const BATCHES: bool = true;

    fn make(params: &CellParams, context: SchedulerContext) -> Result<Box<dyn Scheduler>> {
        let zones = Zones::new(params.grid, ZoneOrder::Columns, context.mechanics);
        let zone_queue = PositionQueue::new_boxed(&Aim::Score(Arc::new(PositionWeight::Number)), context);
        Ok(zoned_queue::build(zones, RequestRateTour, zone_queue).into_boxed())
    }
}

/// Visits the zone with the maximum number of requests per positioning time to the nearest of them.
///
/// A choice examines every waiting request, but happens only when the zone in service is empty.
struct RequestRateTour;

impl Tour for RequestRateTour {
    fn next(&mut self, mechanics: &dyn Mechanics, waiting: &WaitingRequests, zones: &mut Vec<u32>) {
        let best = waiting.occupied_zones().map(|zone| Candidate::new(zone, mechanics, waiting));
        zones.extend(best.reduce(Candidate::better).map(|best| best.zone));
    }
}

/// A zone with waiting requests, and what decides between it and others.
struct Candidate {
    zone: u32,
    requests: u64,
    /// Positioning time of the zone's nearest request, then the tie-breakers of SPTF.
    nearest: (Span, u64, u64),
}

impl Candidate {
    /// `zone` must have requests.
    fn new(zone: u32, mechanics: &dyn Mechanics, waiting: &WaitingRequests) -> Self {
        let requests = waiting.requests(zone);
        let key = |request: &QueuedRequest| {
            (mechanics.positioning(request), mechanics.tie_rank(request), request.id)
        };
        let nearest = requests.iter().map(key).min().unwrap_or((Span::ZERO, 0, 0));
        Candidate { zone, requests: requests.len() as u64, nearest }
    }

    fn better(self, other: Candidate) -> Candidate {
        let time = |candidate: &Candidate| candidate.nearest.0.max(MIN_POSITIONING).as_ns();
        // Requests per time are compared by products crosswise, which are exact.
        let (ours, theirs) = (self.requests * time(&other), other.requests * time(&self));
        let is_better = ours > theirs || (ours == theirs && self.nearest <= other.nearest);
        if is_better { self } else { other }
    }
}

#[cfg(test)]
mod tests {
    use super::super::queue::zoned_queue::trial::{Trial, order};
    use super::*;

    fn candidate(zone: u32, requests: u64, time_ns: u64) -> Candidate {
        Candidate { zone, requests, nearest: (Span::from_ns(time_ns), 0, zone.into()) }
    }

    #[test]
    fn many_requests_outweigh_longer_seek() {
        let better = |a, b| Candidate::better(a, b).zone;
        assert_eq!(better(candidate(0, 2, 200_000), candidate(1, 3, 299_999)), 1);
        assert_eq!(better(candidate(0, 2, 200_000), candidate(1, 3, 300_001)), 0);
        // Equally good: the nearer zone. Times below a microsecond count as a microsecond, but break the tie.
        assert_eq!(better(candidate(0, 4, 400_000), candidate(1, 2, 200_000)), 1);
        assert_eq!(better(candidate(0, 1, 900), candidate(1, 1, 0)), 1);
        assert_eq!(better(candidate(0, 2, 900), candidate(1, 1, 0)), 0);
    }

    #[test]
    fn zone_is_emptied_before_next_choice() {
        // From the middle: one request nearby, four at a distance.
        let mut trial = Trial::new("zpsptf");
        trial.push(&[(1310, 13), (1710, 13), (1720, 13), (1730, 13), (1740, 13)]);
        assert_eq!(trial.pop(), Some((1710, 13)));
        // A crowd just across the border has to wait.
        trial.push(&[(1690, 13), (1691, 13), (1692, 13), (1693, 13), (1694, 13), (1790, 13)]);
        let visits: Vec<u32> = trial.drain().iter().map(|(cylinder, _)| cylinder / 100).collect();
        assert_eq!(visits, [17, 17, 17, 17, 16, 16, 16, 16, 16, 13]);
    }

    #[test]
    fn a_single_zone_is_p_sptf() {
        let places = [(0, 0), (1200, 3), (1200, 3), (2499, 26), (900, 20), (900, 20), (901, 7)];
        assert_eq!(order("zpsptf:grid=1x1", &places), order("p-sptf", &places));
    }
}
