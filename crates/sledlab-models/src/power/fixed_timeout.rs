//! Park after a fixed idle time.

use sledlab_core::Span;

use super::constant_timeout::ConstantTimeout;
use super::{Model, PowerPolicy};

sledlab_core::params! {
    /// A fixed idle timeout.
    pub struct FixedParams {
        /// Idle time after which the device parks; by default the device's own `idle_timeout_ms`.
        timeout_ms: f64 = 1000.0, "ms", 0.0..1e12;
    }
}

/// A fixed idle timeout.
pub struct FixedTimeout;

impl Model for FixedTimeout {
    type Params = FixedParams;
    const NAME: &'static str = "fixed";
    const MEANING: &'static str = "park after a fixed idle time";

    fn make(params: &FixedParams) -> Box<dyn PowerPolicy> {
        ConstantTimeout::new_boxed(Span::from_ms(params.timeout_ms))
    }
}
