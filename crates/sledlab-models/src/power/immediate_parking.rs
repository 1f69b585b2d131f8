//! Park as soon as the queue is empty: aggressive spin-down (Hong 2006, section 5.2.1; Lin,
//! section 3).

use sledlab_core::Span;

use super::constant_timeout::ConstantTimeout;
use super::{Model, NoParams, PowerPolicy};

/// Park at once.
pub struct ImmediateParking;

impl Model for ImmediateParking {
    type Params = NoParams;
    const NAME: &'static str = "immediate";
    const MEANING: &'static str = "park as soon as the queue is empty";

    fn make(_: &NoParams) -> Box<dyn PowerPolicy> {
        ConstantTimeout::new_boxed(Span::ZERO)
    }
}
