//! The elevator.

use sledlab_core::Result;

use super::queue::sweep::{End, Sweep};
use super::{Model, NoParams, Scheduler, SchedulerContext, Starvation};

/// Up and down by block number.
pub(super) struct Scan;

impl Model for Scan {
    type Params = NoParams;
    const NAME: &'static str = "scan";
    const ALIASES: &'static [&'static str] = &["look"];
    const MEANING: &'static str =
        "elevator: requests in ascending order of blocks, then back in descending order (LOOK)";
    // The sweep may have turned just before: two sweeps.
    const STARVATION: Starvation = Starvation::Bounded { test_bound_ms: 200.0 };

    fn make(_: &NoParams, context: SchedulerContext) -> Result<Box<dyn Scheduler>> {
        Ok(Sweep::new_boxed(End::Reverse, context))
    }
}
