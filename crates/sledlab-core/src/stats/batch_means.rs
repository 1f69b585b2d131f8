//! Confidence interval of the mean of correlated values, by the method of batch means.

/// Minimum number of batches; the maximum is twice as many.
const BATCHES: usize = 32;

/// Student's t for 97.5 % at 31 to 63 degrees of freedom lies between 2.00 and 2.04.
const T_975: f64 = 2.04;

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
        BatchMeans { batch_size: 1, in_batch: 0, batch_sum: 0.0, means: Vec::with_capacity(2 * BATCHES) }
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
        if self.means.len() == 2 * BATCHES {
            self.means = self.means.chunks_exact(2).map(|pair| f64::midpoint(pair[0], pair[1])).collect();
            self.means.reserve(BATCHES);
            self.batch_size *= 2;
        }
    }

    /// Returns half the width of the 95 % confidence interval of the mean; `None` if there are too few values for a
    /// reliable interval (fewer than 32 batches of 8).
    pub fn half_width_95(&self) -> Option<f64> {
        if self.means.len() < BATCHES || self.batch_size < 8 {
            return None;
        }
        let n = self.means.len() as f64;
        let mean = self.means.iter().sum::<f64>() / n;
        let variance = self.means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (n - 1.0);
        Some(T_975 * (variance / n).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    #[test]
    fn interval_covers_true_mean_in_95_percent() {
        let mut rng = crate::seed::stream(1, "coverage");
        let covered = (0..400)
            .filter(|_| {
                let mut batches = BatchMeans::default();
                let mut sum = 0.0;
                for _ in 0..2000 {
                    let value: f64 = rng.random();
                    sum += value;
                    batches.record(value);
                }
                let half = batches.half_width_95().expect("2000 values are enough");
                (sum / 2000.0 - 0.5).abs() <= half
            })
            .count();
        assert!((370..=396).contains(&covered), "{covered} of 400");
    }

    #[test]
    fn long_series_uses_bounded_memory() {
        let mut batches = BatchMeans::default();
        assert_eq!(batches.half_width_95(), None);
        (0..1_000_000).for_each(|i| batches.record(f64::from(i % 7)));
        assert!(batches.means.len() < 2 * BATCHES);
    }
}
