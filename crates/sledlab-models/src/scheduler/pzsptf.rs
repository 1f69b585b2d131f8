//! Parallelism-aware zone-based shortest positioning time first (Like et al. 2008).

use std::sync::Arc;

use sledlab_core::Result;

use super::queue::grid::{CellParams, ZoneOrder, Zones};
use super::queue::position_queue::PositionQueue;
use super::queue::position_weight::PositionWeight;
use super::queue::zoned_queue::{self, Circular};
use super::{Model, Scheduler, SchedulerContext, Starvation};
use crate::device::Aim;

/// P-SPTF inside a zone of the medium; the zones in circular order.
pub(super) struct Pzsptf;

impl Model for Pzsptf {
    type Params = CellParams;
    const NAME: &'static str = "pzsptf";
    const MEANING: &'static str =
        "zone-based P-SPTF: zones of the medium in circular order, P-SPTF inside until a zone is empty";
    // As for `zsptf`: a stream of requests into one zone keeps the requests of all others waiting.
    const STARVATION: Starvation = Starvation::Possible;
    const BATCHES: bool = true;

    fn make(params: &CellParams, context: SchedulerContext) -> Result<Box<dyn Scheduler>> {
        let zones = Zones::new(params.grid, ZoneOrder::Columns, context.mechanics);
        let zone_queue = PositionQueue::new_boxed(&Aim::Score(Arc::new(PositionWeight::Number)), context);
        Ok(zoned_queue::build(zones, Circular::default(), zone_queue).into_boxed())
    }
}

#[cfg(test)]
mod tests {
    use super::super::queue::zoned_queue::trial::order;

    #[test]
    fn zones_are_served_by_column_with_crowds_first() {
        // A cell is 100 cylinders wide and 9 rows high. Two requests at (90, 1) outweigh (20, 4).
        let shuffled = [(150, 26), (20, 4), (90, 1), (101, 0), (50, 20), (90, 1), (150, 10), (51, 12)];
        let served = [(90, 1), (20, 4), (51, 12), (50, 20), (101, 0), (150, 10), (150, 26)];
        assert_eq!(order("pzsptf", &shuffled), served);
    }
}
