//! Never park: the energy that the savings of other policies are measured against.

use sledlab_core::{Error, Span};

use super::{Model, NoParams, PowerPolicy, Prices};

/// Stays idle for ever.
#[derive(Clone, Copy, Debug)]
pub struct Never;

impl Model for Never {
    type Params = NoParams;
    const NAME: &'static str = "never";
    const MEANING: &'static str = "stay idle for ever";

    fn new(_: &NoParams) -> Self {
        Never
    }
}

impl PowerPolicy for Never {
    fn timeout(&mut self, _: &Prices) -> Span {
        Span::MAX
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
