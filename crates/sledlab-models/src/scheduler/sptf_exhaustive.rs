//! Shortest positioning time first by probing every queued request: the oracle of the position index.

use sledlab_core::Result;

use super::queue::position_queue::PositionQueue;
use super::{Model, NoParams, Scheduler, SchedulerContext, Starvation};
use crate::device::Aim;

/// [`Sptf`](super::sptf::Sptf) without an index.
pub(super) struct SptfExhaustive;

impl Model for SptfExhaustive {
    type Params = NoParams;
    const NAME: &'static str = "sptf-exhaustive";
    const MEANING: &'static str =
        "SPTF by probing every queued request: the same choices as `sptf`, slower in long queues";
    const COMPARED_BY_DEFAULT: bool = false;
    const STARVATION: Starvation = Starvation::Possible;

    fn make(_: &NoParams, context: SchedulerContext) -> Result<Box<dyn Scheduler>> {
        Ok(PositionQueue::new_boxed(&Aim::Time, SchedulerContext { exhaustive: true, ..context }))
    }
}
