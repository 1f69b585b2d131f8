//! Moments and percentiles of one distribution.

use super::Moments;
use super::histogram::Histogram;

/// Moments and a histogram of durations in nanoseconds; percentiles are accurate to 0.05 %.
#[derive(Clone, Debug, Default)]
pub struct Distribution {
    moments: Moments,
    histogram: Histogram,
}

impl Distribution {
    /// Records a value in nanoseconds.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        self.moments.record(value_ns);
        self.histogram.record(value_ns);
    }

    /// Adds all values that `other` has recorded.
    pub fn merge(&mut self, other: &Distribution) {
        self.moments.merge(&other.moments);
        self.histogram.add(&other.histogram);
    }

    /// Returns the exact mean, variance, minimum and maximum.
    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    /// Returns the value that a share `quantile` (0 to 1) of all values does not exceed, accurate to 0.05 %.
    pub fn quantile_ns(&self, quantile: f64) -> u64 {
        if self.moments.count() == 0 {
            return 0;
        }
        self.histogram.quantile(quantile).min(self.moments.max())
    }

    /// Returns the cumulative distribution as `(value_ns, share of values at or below)`, at most a few thousand points.
    pub fn cdf(&self) -> Vec<(u64, f64)> {
        let total = self.moments.count() as f64;
        let mut cumulative_count = 0_u64;
        let steps = self.histogram.steps().map(|(upper_bound, count)| {
            cumulative_count += count;
            (upper_bound.min(self.moments.max()), cumulative_count as f64 / total)
        });
        steps.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn percentiles_are_accurate_to_a_thousandth(
            mut values in prop::collection::vec(1_u64..1_000_000_000_000, 1..500),
        ) {
            let mut distribution = Distribution::default();
            for value in &values {
                distribution.record(*value);
            }
            values.sort_unstable();
            for q in [0.5, 0.9, 0.99, 1.0] {
                let rank = ((q * values.len() as f64).ceil() as usize).clamp(1, values.len());
                let (exact, ours) = (values[rank - 1] as f64, distribution.quantile_ns(q) as f64);
                prop_assert!((ours - exact).abs() <= 0.001 * exact + 1.0, "{} {} {}", q, exact, ours);
            }
        }
    }
}
