//! Parallelism-aware aged shortest positioning time first (Lee 2009, equation 3).

use std::sync::Arc;

use sledlab_core::Result;

use super::queue::position_queue::PositionQueue;
use super::queue::position_weight::PositionWeight;
use super::{Model, NoParams, Scheduler, SchedulerContext, Starvation};
use crate::device::Aim;

/// PA-SPTF: the position with the largest sum of waiting times per positioning time.
pub(super) struct PaSptf;

impl Model for PaSptf {
    type Params = NoParams;
    const NAME: &'static str = "pa-sptf";
    const MEANING: &'static str =
        "parallel aged SPTF: the position with most waiting per positioning time, all served at once";
    // A wait grows without end, but so do the sums of waits at nearby positions where more requests arrive than can
    // be served.
    const STARVATION: Starvation = Starvation::Possible;
    const BATCHES: bool = true;

    fn make(_: &NoParams, context: SchedulerContext) -> Result<Box<dyn Scheduler>> {
        Ok(PositionQueue::new_boxed(&Aim::Score(Arc::new(PositionWeight::Waits)), context))
    }
}
