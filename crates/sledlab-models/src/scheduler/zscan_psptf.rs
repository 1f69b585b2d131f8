//! P-SPTF in zones visited back and forth (Lee 2009, section 3.3).

use std::sync::Arc;

use sledlab_core::Result;

use super::queue::grid::{CellParams, ZoneOrder, Zones};
use super::queue::position_queue::PositionQueue;
use super::queue::position_weight::PositionWeight;
use super::queue::zoned_queue::{self, Tour, WaitingRequests};
use super::{Model, Scheduler, SchedulerContext, Starvation};
use crate::device::{Aim, Mechanics};

/// P-SPTF inside a zone of the medium; the zones back and forth along a snake.
pub(super) struct ZscanPsptf;

impl Model for ZscanPsptf {
    type Params = CellParams;
    const NAME: &'static str = "zscan-psptf";
    const MEANING: &'static str =
        "P-SPTF in zones that are visited back and forth, column after column, until each is empty";
    // As for `zsptf`: a stream of requests into one zone keeps the requests of all others waiting.
    const STARVATION: Starvation = Starvation::Possible;
    const BATCHES: bool = true;

    fn make(params: &CellParams, context: SchedulerContext) -> Result<Box<dyn Scheduler>> {
        let zones = Zones::new(params.grid, ZoneOrder::Snake, context.mechanics);
        let zone_queue = PositionQueue::new_boxed(&Aim::Score(Arc::new(PositionWeight::Number)), context);
        Ok(zoned_queue::build(zones, ReversingTour::default(), zone_queue).into_boxed())
    }
}

/// Upwards to the last zone with requests, then downwards to the first one.
#[derive(Debug, Default)]
struct ReversingTour {
    /// The last zone visited.
    last_zone: u32,
    is_downwards: bool,
}

impl ReversingTour {
    fn next_key(&self, waiting: &WaitingRequests) -> Option<u32> {
        if self.is_downwards {
            waiting.last_at_or_below(self.last_zone)
        } else {
            waiting.first_at_or_above(self.last_zone)
        }
    }
}

impl Tour for ReversingTour {
    fn next(&mut self, _: &dyn Mechanics, waiting: &WaitingRequests, zones: &mut Vec<u32>) {
        let zone = self.next_key(waiting).or_else(|| {
            self.is_downwards = !self.is_downwards;
            self.next_key(waiting)
        });
        self.last_zone = zone.unwrap_or(self.last_zone);
        zones.extend(zone);
    }
}

#[cfg(test)]
mod tests {
    use super::super::queue::zoned_queue::trial::{Trial, order};

    #[test]
    fn zones_are_served_along_a_snake() {
        let shuffled = [(101, 0), (250, 13), (50, 20), (150, 10), (20, 4), (151, 26), (51, 12)];
        let served = [(20, 4), (51, 12), (50, 20), (151, 26), (150, 10), (101, 0), (250, 13)];
        assert_eq!(order("zscan-psptf", &shuffled), served);
    }

    #[test]
    fn sweep_reverses_at_last_occupied_zone() {
        let mut trial = Trial::new("zscan-psptf");
        trial.push(&[(500, 0), (900, 0)]);
        assert_eq!(trial.pop(), Some((500, 0)));
        trial.push(&[(480, 0), (20, 0), (700, 0)]);
        assert_eq!([trial.pop(), trial.pop()], [Some((700, 0)), Some((900, 0))]);
        trial.push(&[(2000, 0)]);
        // The sweep turns only when no request is ahead.
        assert_eq!(trial.drain(), [(2000, 0), (480, 0), (20, 0)]);
    }
}
