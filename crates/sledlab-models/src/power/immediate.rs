//! Park as soon as the queue is empty (PW-05): aggressive spin-down (paper 000, section 5.2.1; paper 003,
//! section 3).

use sledlab_core::{Error, Span};

use super::{Model, NoParams, PowerPolicy, Prices};

/// Park at once.
#[derive(Clone, Copy, Debug)]
pub struct Immediate;

impl Model for Immediate {
    type Params = NoParams;
    const NAME: &'static str = "immediate";
    const MEANING: &'static str = "park as soon as the queue is empty";

    fn new(_: &NoParams) -> Self {
        Immediate
    }
}

impl PowerPolicy for Immediate {
    fn timeout(&mut self, _: &Prices) -> Span {
        Span::ZERO
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
