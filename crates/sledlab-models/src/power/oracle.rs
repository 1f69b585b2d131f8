//! Knows how long an idle period will be (PW-08): parks at once if the idle period exceeds the break-even time, and
//! stays idle otherwise.
//!
//! No other choice of timeouts spends less energy on the same idle periods. The device starts up when a request
//! arrives, as under other policies, so requests wait for the start-up here too.

use sledlab_core::{Error, Span};

use super::{Model, NoParams, PowerCosts, PowerPolicy};

/// The offline optimum.
#[derive(Clone, Copy, Debug)]
pub struct Oracle;

impl Model for Oracle {
    type Params = NoParams;
    const NAME: &'static str = "oracle";
    const MEANING: &'static str =
        "park at once if the idle period outlasts the break-even time; requires knowledge of the future";

    fn make(_: &NoParams) -> Box<dyn PowerPolicy> {
        Box::new(Oracle)
    }
}

impl PowerPolicy for Oracle {
    /// Not used: every idle period is judged by its length when it is over, also the one that the end of a run cuts
    /// short.
    fn timeout(&mut self, _: &PowerCosts) -> Span {
        Span::ZERO
    }

    fn timeout_in_hindsight(&mut self, length: Span, costs: &PowerCosts) -> Span {
        if length > costs.break_even() { Span::ZERO } else { Span::MAX }
    }

    fn learn(&mut self, _length: Span, _timeout: Span, _prices: &PowerCosts) {}

    fn patience(&mut self, _waiting: usize) -> Span {
        Span::ZERO
    }

    fn failure(&mut self) -> Option<Error> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SLED, policy, timeouts_ms};
    use super::*;

    #[test]
    fn parks_where_it_pays() {
        let timeouts = timeouts_ms(policy("oracle").as_mut(), &[0.4, 0.6], &SLED);
        assert_eq!(timeouts, [Span::MAX.as_ms(), 0.0]);
    }
}
