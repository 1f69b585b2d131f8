//! Zone-based shortest positioning time first (Hong 2006, section 4.1).

use sledlab_core::Result;

use super::queue::grid::{ZoneParams, Zones};
use super::queue::position_queue::PositionQueue;
use super::queue::zoned_queue::{self, Circular};
use super::{Model, Scheduler, SchedulerContext, Starvation};
use crate::device::Aim;

/// SPTF inside a zone of the medium; the zones in circular order.
pub(super) struct Zsptf;

impl Model for Zsptf {
    type Params = ZoneParams;
    const NAME: &'static str = "zsptf";
    const MEANING: &'static str =
        "zone-based SPTF: zones of the medium in circular order, SPTF inside until a zone is empty";
    // A zone is served until it is empty, so a stream of requests into one zone keeps the requests of all others
    // waiting.
    const STARVATION: Starvation = Starvation::Possible;

    fn make(params: &ZoneParams, context: SchedulerContext) -> Result<Box<dyn Scheduler>> {
        let zones = Zones::circular(params, context.mechanics);
        Ok(zoned_queue::build(zones, Circular::default(), PositionQueue::new_boxed(&Aim::Time, context))
            .into_boxed())
    }
}

#[cfg(test)]
mod tests {
    use super::super::queue::zoned_queue::trial::{Trial, order};

    #[test]
    fn zones_alternate_direction_by_column() {
        let shuffled = [(126, 3), (1, 2), (2499, 0), (2, 20), (1, 20), (0, 2)];
        // A cell is 125 cylinders wide; the upper one of two begins at row 14.
        assert_eq!(order("zsptf", &shuffled), [(0, 2), (2, 20), (1, 20), (1, 2), (126, 3), (2499, 0)]);
        assert_eq!(order("zsptf:grid=1x1:parity=false", &shuffled), order("sptf", &shuffled));
    }

    #[test]
    fn zones_without_parity_hold_all_columns() {
        let served = order("zsptf:parity=false", &[(126, 3), (3, 20), (40, 2), (2, 20), (41, 2)]);
        assert!(served[..2].iter().all(|place| [(40, 2), (41, 2)].contains(place)), "{served:?}");
        assert!(served[2..4].iter().all(|place| [(3, 20), (2, 20)].contains(place)), "{served:?}");
        assert_eq!(served[4], (126, 3));
    }

    #[test]
    fn arrivals_join_visit_and_restart_tour() {
        let mut trial = Trial::new("zsptf");
        trial.push(&[(500, 0), (502, 5), (504, 20)]);
        let first = trial.pop();
        trial.push(&[(506, 9), (0, 0), (501, 9)]);
        let mut zone = vec![first.unwrap(), trial.pop().unwrap(), trial.pop().unwrap()];
        zone.sort_unstable();
        assert_eq!(zone, [(500, 0), (502, 5), (506, 9)]);
        assert_eq!(trial.drain(), [(504, 20), (501, 9), (0, 0)]);
    }
}
