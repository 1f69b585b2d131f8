//! Never park: the energy that the savings of other policies are measured against.

use sledlab_core::Span;

use super::constant_timeout::ConstantTimeout;
use super::{Model, NoParams, PowerPolicy};

/// Stays idle for ever.
pub struct NeverPark;

impl Model for NeverPark {
    type Params = NoParams;
    const NAME: &'static str = "never";
    const MEANING: &'static str = "stay idle for ever";

    fn make(_: &NoParams) -> Box<dyn PowerPolicy> {
        ConstantTimeout::new_boxed(Span::MAX)
    }
}
