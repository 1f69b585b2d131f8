//! Moments and percentiles together.

use hdrhistogram::Histogram;

use super::Moments;

/// Significant decimal digits of the histogram: percentiles are good to 0.05 %.
const DIGITS: u8 = 3;

/// Moments and a high-dynamic-range histogram of spans in nanoseconds.
#[derive(Clone, Debug)]
pub struct Distribution {
    moments: Moments,
    histogram: Histogram<u64>,
}

impl Default for Distribution {
    fn default() -> Self {
        // One day to begin with; longer values make the histogram grow by itself.
        let histogram =
            Histogram::new_with_bounds(1, 86_400_000_000_000, DIGITS).expect("constant bounds are valid");
        let mut distribution = Distribution { moments: Moments::default(), histogram };
        distribution.histogram.auto(true);
        distribution
    }
}

impl Distribution {
    /// Takes one value in nanoseconds.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        self.moments.record(value_ns);
        self.histogram.saturating_record(value_ns);
    }

    /// Takes all values of another.
    pub fn merge(&mut self, other: &Distribution) {
        self.moments.merge(&other.moments);
        // Adding only fails where a value does not fit, and `auto` makes room for every u64.
        let _ = self.histogram.add(&other.histogram);
    }

    /// Mean, variance, extremes: exact.
    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    /// The value below which a share `quantile` (0 to 1) of all lies, within 0.05 %.
    pub fn quantile_ns(&self, quantile: f64) -> u64 {
        if self.moments.count() == 0 {
            return 0;
        }
        let value = self.histogram.value_at_quantile(quantile);
        self.histogram.median_equivalent(value).min(self.moments.max())
    }

    /// The cumulative distribution as `(value_ns, share of values at or below)`, at most a few thousand points.
    pub fn cdf(&self) -> Vec<(u64, f64)> {
        let total = self.moments.count() as f64;
        let mut seen = 0_u64;
        self.histogram
            .iter_recorded()
            .map(|step| {
                seen += step.count_since_last_iteration();
                (step.value_iterated_to().min(self.moments.max()), seen as f64 / total)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn percentiles_hold_to_a_thousandth(mut values in prop::collection::vec(1_u64..1_000_000_000_000, 1..500)) {
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
