//! A timeout that adapts after each idle period for which it was too short or too long, after Douglis, Krishnan
//! and Bershad 1995.
//!
//! After a start-up soon after parking the timeout grows. After a device was parked for long, so that it could have
//! parked earlier, the timeout shrinks. All times are measured in break-even times, so that the same numbers suit a
//! sled and a disk.

use sledlab_core::Span;

use super::{Model, PowerCosts, PowerPolicy};

sledlab_core::params! {
    /// How the timeout adapts.
    pub struct AdaptiveParams {
        /// The first timeout, in break-even times.
        initial: f64 = 1.0, "", 0.001..1000.0;
        /// Smallest timeout, in break-even times.
        min_timeout: f64 = 0.01, "", 0.0..1000.0;
        /// Largest timeout, in break-even times.
        max_timeout: f64 = 10.0, "", 0.001..1e6;
        /// Factor on the timeout after a parked device was started within a break-even time.
        increase: f64 = 2.0, "", 1.0..100.0;
        /// Factor on the timeout after the device was parked for longer than `long`.
        decrease: f64 = 0.5, "", 0.01..1.0;
        /// Time parked that counts as long, in break-even times.
        long: f64 = 4.0, "", 1.0..1e6;
    }
}

/// A timeout that grows after hasty parking and shrinks after late parking.
#[derive(Clone, Debug)]
pub struct AdaptiveTimeout {
    params: AdaptiveParams,
    /// The timeout, in break-even times.
    timeout: f64,
}

impl Model for AdaptiveTimeout {
    type Params = AdaptiveParams;
    const NAME: &'static str = "adaptive";
    const MEANING: &'static str =
        "lengthen the timeout after too short a parked time, shorten the timeout after a long one";

    fn make(params: &AdaptiveParams) -> Box<dyn PowerPolicy> {
        let timeout = params.initial.max(params.min_timeout).min(params.max_timeout);
        Box::new(AdaptiveTimeout { params: params.clone(), timeout })
    }
}

impl PowerPolicy for AdaptiveTimeout {
    fn timeout(&mut self, costs: &PowerCosts) -> Span {
        match costs.break_even() {
            Span::MAX => Span::MAX,
            break_even => Span::from_seconds(self.timeout * break_even.as_seconds()),
        }
    }

    fn learn(&mut self, length: Span, timeout: Span, costs: &PowerCosts) {
        if timeout > length {
            return;
        }
        let parked_share = length.saturating_sub(timeout).as_seconds() / costs.break_even().as_seconds();
        let AdaptiveParams { min_timeout, max_timeout, increase, decrease, long, .. } = self.params;
        if parked_share < 1.0 {
            self.timeout = (self.timeout * increase).max(min_timeout).min(max_timeout);
        } else if parked_share > long {
            self.timeout = (self.timeout * decrease).max(min_timeout).min(max_timeout);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SLED, policy, timeouts_ms};

    #[test]
    fn timeout_adapts_to_wrong_decisions() {
        let mut adaptive = policy("adaptive:min_timeout=0.25:max_timeout=4");
        // Break-even is 0.5 ms. Idle periods just over the timeout show hasty parking, long ones late parking.
        let timeouts =
            timeouts_ms(adaptive.as_mut(), &[0.6, 1.2, 2.1, 2.1, 0.1, 9.0, 9.0, 9.0, 9.0, 9.0], &SLED);
        assert_eq!(timeouts, [0.5, 1.0, 2.0, 2.0, 2.0, 2.0, 1.0, 0.5, 0.25, 0.125]);
    }

    #[test]
    fn parking_at_the_end_of_idle_period_counts() {
        assert_eq!(timeouts_ms(policy("adaptive").as_mut(), &[0.5, 0.75], &SLED), [0.5, 1.0]);
    }
}
