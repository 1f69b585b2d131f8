//! Knows how long an idle period will be: parks at once if the idle period exceeds the break-even time, and
//! stays idle otherwise. In an idle period that lasts until the end of the run, parking needs no start-up and always
//! pays.
//!
//! No other choice of timeouts spends less energy on the same idle periods. The device starts up when a request
//! arrives, as under other policies, so requests wait for the start-up here too.

use sledlab_core::Span;

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

    fn timeout_in_hindsight(&mut self, length: Span, is_last: bool, costs: &PowerCosts) -> Span {
        let costs = PowerCosts { startup_uj: if is_last { 0.0 } else { costs.startup_uj }, ..*costs };
        if length > costs.break_even() { Span::ZERO } else { Span::MAX }
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

    #[test]
    fn parks_in_last_idle_period_unless_parking_costs_more() {
        let timeout = |costs| policy("oracle").timeout_in_hindsight(Span::from_ms(0.4), true, &costs);
        assert_eq!(timeout(SLED), Span::ZERO);
        assert_eq!(timeout(PowerCosts { idle_mw: 40.0, ..SLED }), Span::MAX);
    }
}
