//! The spectrum between P-SPTF and PA-SPTF (Bahn, Lee and Noh 2009).

use std::sync::Arc;

use sledlab_core::Result;

use super::queue::position_queue::PositionQueue;
use super::queue::position_weight::PositionWeight;
use super::{Model, Scheduler, SchedulerContext, Starvation};
use crate::device::Aim;

sledlab_core::params! {
    /// Position between P-SPTF and PA-SPTF.
    pub struct PAlphaParams {
        /// Exponent of the waiting times (in ms) that are summed: 0 counts requests, 1 sums the waits.
        alpha: f64 = 0.5, "", 0.0..4.0;
    }
}

/// The position with the largest sum of powers of waiting times per positioning time.
pub(super) struct PAlpha;

impl Model for PAlpha {
    type Params = PAlphaParams;
    const NAME: &'static str = "p-alpha";
    const MEANING: &'static str =
        "between p-sptf and pa-sptf: waiting times to the power of alpha per positioning time";
    // With alpha = 0 this is P-SPTF, under which requests can starve.
    const STARVATION: Starvation = Starvation::Possible;
    const BATCHES: bool = true;

    fn make(params: &PAlphaParams, context: SchedulerContext) -> Result<Box<dyn Scheduler>> {
        Ok(PositionQueue::new_boxed(&Aim::Score(Arc::new(PositionWeight::Powers(params.alpha))), context))
    }
}
