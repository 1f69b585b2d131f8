//! Confidence interval of the mean of correlated values, by the method of batch means.
//!
//! Two facts make intervals of response times too narrow. Means of successive batches are correlated: their variance is
//! multiplied by (1 + r) / (1 - r), where r is their correlation of lag 1 (Tafazzoli, Steiger and Wilson 2011,
//! N-Skart). A run near saturation is too short to show how correlated it is, because queues persist longer than the
//! run: the caller passes a number of successive values that are correlated, derived from the load, and a run has to be
//! [`MIN_INDEPENDENT`] times as long (Whitt 1989, "Planning queueing simulations").

/// Minimum number of batches; there are fewer than twice as many.
const MIN_BATCHES: usize = 16;

/// Minimum number of independent values that a series must be worth, for an interval.
const MIN_INDEPENDENT: f64 = 100.0;

/// Quantile of the normal distribution for two-sided 99 %. With that of 95 %, intervals of M/D/1 and M/M/1 queues
/// contain the true mean in 90 % to 94 % of runs: means of batches are skewed, and runs start with an empty queue.
const Z: f64 = 2.575_829_303_548_901;

/// Means of batches: equal numbers of successive values. When there are too many batches, pairs of them are merged, so
/// memory use is constant.
#[derive(Clone, Debug)]
pub struct BatchMeans {
    batch_size: u64,
    in_batch: u64,
    batch_sum: f64,
    means: Vec<f64>,
}

impl Default for BatchMeans {
    fn default() -> Self {
        BatchMeans { batch_size: 1, in_batch: 0, batch_sum: 0.0, means: Vec::with_capacity(2 * MIN_BATCHES) }
    }
}

impl BatchMeans {
    /// Records a value.
    #[inline]
    pub fn record(&mut self, value: f64) {
        self.batch_sum += value;
        self.in_batch += 1;
        if self.in_batch == self.batch_size {
            self.close_batch();
        }
    }

    fn close_batch(&mut self) {
        self.means.push(self.batch_sum / self.batch_size as f64);
        self.batch_sum = 0.0;
        self.in_batch = 0;
        if self.means.len() == 2 * MIN_BATCHES {
            self.means = self.means.chunks_exact(2).map(|pair| f64::midpoint(pair[0], pair[1])).collect();
            self.means.reserve(MIN_BATCHES);
            self.batch_size *= 2;
        }
    }

    /// Returns half the width of the 95 % confidence interval of the mean of a series in which about
    /// `correlated_values` successive values (1 if they are independent) are worth one independent value.
    ///
    /// `None` if the series is too short for a reliable interval: worth fewer than 100 independent values.
    pub fn half_width_95(&self, correlated_values: f64) -> Option<f64> {
        let recorded_values = self.means.len() as f64 * self.batch_size as f64 + self.in_batch as f64;
        if self.means.len() < MIN_BATCHES || recorded_values < MIN_INDEPENDENT * correlated_values {
            return None;
        }
        let batches = self.means.len() as f64;
        let mean = self.means.iter().sum::<f64>() / batches;
        let deviations: Vec<f64> = self.means.iter().map(|batch_mean| batch_mean - mean).collect();
        let squares: f64 = deviations.iter().map(|deviation| deviation * deviation).sum();
        if squares == 0.0 {
            return Some(0.0);
        }
        let products: f64 = deviations.windows(2).map(|pair| pair[0] * pair[1]).sum();
        // The estimate of a correlation is too low by about one over the number of batches. A negative one may be
        // chance: it never narrows.
        let correlation = if products > 0.0 { (products / squares + 1.0 / batches).min(1.0) } else { 0.0 };
        let inflation = (1.0 + correlation) / (1.0 - correlation);
        let half_width =
            student_t((batches - 1.0) / inflation) * (squares / (batches - 1.0) / batches * inflation).sqrt();
        half_width.is_finite().then_some(half_width)
    }
}

/// Returns the quantile of Student's t distribution that corresponds to [`Z`], for at least one degree of freedom, by
/// its expansion for many (Abramowitz and Stegun 1964, 26.7.5).
fn student_t(degrees: f64) -> f64 {
    let (n, z2) = (degrees.max(1.0), Z * Z);
    let first = Z * (z2 + 1.0) / 4.0;
    let second = Z * ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    let third = Z * (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    Z + first / n + second / n.powi(2) + third / n.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    /// Returns how many of 400 series of 2,000 values contain the mean 0.5 in their interval. `retained` is the share
    /// of each value that is the value before.
    fn count_covered_series(retained: f64) -> usize {
        let mut rng = crate::seed::stream(1, "coverage");
        let draw_series = || {
            let (mut batches, mut sum, mut value) = (BatchMeans::default(), 0.0, 0.5);
            for _ in 0..2000 {
                value = retained * value + (1.0 - retained) * rng.random::<f64>();
                sum += value;
                batches.record(value);
            }
            let half_width = batches.half_width_95(1.0).expect("2000 values are enough");
            (sum / 2000.0 - 0.5).abs() <= half_width
        };
        std::iter::repeat_with(draw_series).take(400).filter(|is_covered| *is_covered).count()
    }

    #[test]
    fn interval_covers_mean_of_independent_values() {
        let covered_count = count_covered_series(0.0);
        assert!((380..=400).contains(&covered_count), "{covered_count} of 400");
    }

    /// Values are worth one of 19 independent ones: a batch of 62 or more is correlated with the next.
    #[test]
    fn interval_covers_mean_of_correlated_values() {
        let covered_count = count_covered_series(0.9);
        assert!((370..=400).contains(&covered_count), "{covered_count} of 400");
    }

    #[test]
    fn short_series_has_no_interval() {
        let mut batches = BatchMeans::default();
        assert_eq!(batches.half_width_95(1.0), None);
        (0..999).for_each(|i| batches.record(f64::from(i % 7)));
        assert!(batches.half_width_95(1.0).is_some());
        assert_eq!(batches.half_width_95(10.0), None);
    }

    #[test]
    fn long_series_uses_bounded_memory() {
        let mut batches = BatchMeans::default();
        (0..1_000_000).for_each(|i| batches.record(f64::from(i % 7)));
        assert!(batches.means.len() < 2 * MIN_BATCHES);
    }

    /// Tables: 3.169 at 10 degrees of freedom, 2.750 at 30.
    #[test]
    fn quantiles_agree_with_tables() {
        assert!((student_t(10.0) - 3.169).abs() < 0.002 && (student_t(30.0) - 2.750).abs() < 0.001);
    }
}
