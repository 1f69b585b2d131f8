//! The share algorithm (Helmbold, Long, Sherrod and Sconyers 2000): a weighted mean of experts, each with a
//! separate timeout.
//!
//! After each idle period the loss of an expert is the energy that its timeout would have cost above that of the best
//! timeout. Experts with large losses hand a part of their weight to a pool that is divided among all, so that an
//! expert with past losses can regain weight.

use sledlab_core::{Span, math};

use super::{Model, PowerCosts, PowerPolicy};

sledlab_core::params! {
    /// The experts and how their weights change.
    pub struct ShareParams {
        /// Number of experts: their timeouts are spaced evenly from 0 to `longest`.
        experts: u64 = 25_u64, "", 2..1000;
        /// Longest timeout of an expert, in break-even times.
        longest: f64 = 1.0, "", 0.01..1000.0;
        /// Learning rate: weights fall by exp(-eta * loss).
        eta: f64 = 4.0, "", 0.0..100.0;
        /// Share of its weight that an expert with the largest loss hands over to all.
        alpha: f64 = 0.08, "", 0.0..0.999;
    }
}

/// The share algorithm.
#[derive(Clone, Debug)]
pub struct Share {
    params: ShareParams,
    /// The weights of the experts; their sum is 1.
    weights: Vec<f64>,
}

impl Share {
    /// Timeout of expert `number`, in break-even times.
    fn expert(&self, number: usize) -> f64 {
        self.params.longest * number as f64 / (self.weights.len() - 1) as f64
    }

    /// The energy that `timeout` costs above the best timeout in an idle period of `length`, as a share of a start-up's
    /// energy. Times are in break-even times, for each of which idling costs one start-up more than being parked.
    fn loss(timeout: f64, length: f64) -> f64 {
        let cost = if length < timeout { length } else { timeout + 1.0 };
        (cost - length.min(1.0)).clamp(0.0, 1.0)
    }
}

impl Model for Share {
    type Params = ShareParams;
    const NAME: &'static str = "share";
    const MEANING: &'static str =
        "share algorithm: the mean of experts' timeouts, weighted by the energy that each would have saved";

    fn make(params: &ShareParams) -> Box<dyn PowerPolicy> {
        let experts = params.experts as usize;
        Box::new(Share { params: params.clone(), weights: vec![1.0 / experts as f64; experts] })
    }
}

impl PowerPolicy for Share {
    fn timeout(&mut self, costs: &PowerCosts) -> Span {
        let mean: f64 =
            self.weights.iter().enumerate().map(|(number, weight)| weight * self.expert(number)).sum();
        match costs.break_even() {
            Span::MAX => Span::MAX,
            break_even => Span::from_seconds(mean * break_even.as_seconds()),
        }
    }

    fn learn(&mut self, length: Span, _: Span, costs: &PowerCosts) {
        let length = length.as_seconds() / costs.break_even().as_seconds();
        let ShareParams { eta, alpha, .. } = self.params;
        let mut pool = 0.0;
        for number in 0..self.weights.len() {
            let loss = Share::loss(self.expert(number), length);
            let weight = self.weights[number] * math::exp(-eta * loss);
            let retained_weight = weight * math::pow(1.0 - alpha, loss);
            pool += weight - retained_weight;
            self.weights[number] = retained_weight;
        }
        let pool_share = pool / self.weights.len() as f64;
        let total: f64 = self.weights.iter().sum::<f64>() + pool;
        for weight in &mut self.weights {
            *weight = (*weight + pool_share) / total;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SLED, policy, timeouts_ms};
    use super::*;

    #[test]
    fn losses_are_timeout_costs_above_the_best() {
        // Compared with the energies: 150 mW idle, 50 mW parked, 50 uJ for a start-up, so the break-even time is 0.5
        // ms.
        let cost_uj = |timeout_ms: f64, length_ms: f64| {
            if length_ms < timeout_ms {
                150.0 * length_ms
            } else {
                150.0 * timeout_ms + 50.0 * (length_ms - timeout_ms) + 50.0
            }
        };
        for (timeout_ms, length_ms) in
            [(0.0, 0.2), (0.2, 0.3), (0.5, 0.5), (0.25, 4.0), (0.4, 0.1), (0.5, 9.0)]
        {
            let best = cost_uj(f64::INFINITY, length_ms).min(cost_uj(0.0, length_ms));
            let extra = (cost_uj(timeout_ms, length_ms) - best) / 50.0;
            assert!((Share::loss(timeout_ms / 0.5, length_ms / 0.5) - extra).abs() < 1e-12);
        }
    }

    #[test]
    fn learns_to_park_at_once_and_to_wait() {
        let mut share = policy("share");
        let first = timeouts_ms(share.as_mut(), &[5.0; 200], &SLED);
        assert!((first[0] - 0.25).abs() < 1e-9, "the mean of experts that weigh the same");
        assert!(first[199] < 0.05, "long idle periods: park at once");
        let after_short = timeouts_ms(share.as_mut(), &[0.3; 200], &SLED);
        assert!(after_short[199] > 0.3, "short idle periods: outlast them");
        let after_long = timeouts_ms(share.as_mut(), &[5.0; 60], &SLED);
        assert!(after_long[59] < 0.1, "and it goes back");
    }
}
