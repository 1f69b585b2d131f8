//! The cyclic sweep (Hong 2006, section 4.3).

use sledlab_core::Result;

use super::queue::sweep::{End, Sweep};
use super::{Model, NoParams, Scheduler, SchedulerContext, Starvation};

/// Upwards by block number, again and again.
pub(super) struct CScan;

impl Model for CScan {
    type Params = NoParams;
    const NAME: &'static str = "c-scan";
    const ALIASES: &'static [&'static str] = &["c-look"];
    const MEANING: &'static str =
        "cyclic sweep: requests in ascending order of blocks, then again from the lowest";
    // One sweep over the queued requests and those that arrive ahead of the sled.
    const STARVATION: Starvation = Starvation::Bounded { test_bound_ms: 100.0 };

    fn make(_: &NoParams, context: SchedulerContext) -> Result<Box<dyn Scheduler>> {
        Ok(Sweep::new_boxed(End::Wrap, context))
    }
}
