//! Parallelism-aware shortest positioning time first (Lee 2009, equation 2).

use std::sync::Arc;

use sledlab_core::Result;

use super::queue::position_queue::PositionQueue;
use super::queue::position_weight::PositionWeight;
use super::{Model, NoParams, Scheduler, SchedulerContext, Starvation};
use crate::device::Aim;

/// P-SPTF: the position with the most requests per positioning time.
pub(super) struct PSptf;

impl Model for PSptf {
    type Params = NoParams;
    const NAME: &'static str = "p-sptf";
    const MEANING: &'static str =
        "parallel SPTF: the position with most requests per positioning time, all of them served at once";
    const STARVATION: Starvation = Starvation::Possible;
    const BATCHES: bool = true;

    fn make(_: &NoParams, context: SchedulerContext) -> Result<Box<dyn Scheduler>> {
        Ok(PositionQueue::new_boxed(&Aim::Score(Arc::new(PositionWeight::Number)), context))
    }
}
