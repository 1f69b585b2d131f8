//! The cyclic sweep (SC-02, SC-04).

use sledlab_core::Result;

use super::queue::sweep::{End, Sweep};
use super::{Model, NoParams, Scheduler, Setting};

/// Upwards by block number, again and again.
pub(super) struct CScan;

impl Model for CScan {
    type Params = NoParams;
    const NAME: &'static str = "c-scan";
    const ALIASES: &'static [&'static str] = &["c-look"];
    const MEANING: &'static str =
        "cyclic sweep: requests in ascending order of blocks, then again from the lowest";
    const STARVATION_FREE: bool = true;

    fn make(_: &NoParams, setting: Setting) -> Result<Box<dyn Scheduler>> {
        Ok(Sweep::boxed(End::Wrap, setting))
    }
}
