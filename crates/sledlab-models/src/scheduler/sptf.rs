//! Shortest positioning time first, exact, by the device's position index.

use sledlab_core::Result;

use super::queue::position_queue::PositionQueue;
use super::{Model, NoParams, Scheduler, SchedulerContext, Starvation};
use crate::device::Aim;

/// The request the mechanism reaches soonest.
pub(super) struct Sptf;

impl Model for Sptf {
    type Params = NoParams;
    const NAME: &'static str = "sptf";
    const MEANING: &'static str =
        "shortest positioning time first: the request that the mechanism reaches soonest";
    const STARVATION: Starvation = Starvation::Possible;

    fn make(_: &NoParams, context: SchedulerContext) -> Result<Box<dyn Scheduler>> {
        Ok(PositionQueue::new_boxed(&Aim::Time, context))
    }
}
