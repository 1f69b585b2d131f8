//! Park after a fixed idle time (PW-04).

use sledlab_core::{Error, Span};

use super::{Model, PowerPolicy, Prices};

sledlab_core::params! {
    /// A fixed idle timeout.
    pub struct FixedParams {
        /// Idle time after which the device parks; by default the device's own `idle_timeout_ms`.
        timeout_ms: f64 = 1000.0, "ms", 0.0..1e12;
    }
}

/// A fixed idle timeout.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    timeout: Span,
}

impl Model for Fixed {
    type Params = FixedParams;
    const NAME: &'static str = "fixed";
    const MEANING: &'static str = "park after a fixed idle time";

    fn new(params: &FixedParams) -> Self {
        Fixed { timeout: Span::from_ms(params.timeout_ms) }
    }
}

impl PowerPolicy for Fixed {
    fn timeout(&mut self, _: &Prices) -> Span {
        self.timeout
    }

    fn timeout_in_hindsight(&mut self, _length: Span, prices: &Prices) -> Span {
        self.timeout(prices)
    }

    fn learn(&mut self, _length: Span, _timeout: Span, _prices: &Prices) {}

    fn patience(&mut self, _waiting: usize) -> Span {
        Span::ZERO
    }

    fn failure(&mut self) -> Option<Error> {
        None
    }
}
