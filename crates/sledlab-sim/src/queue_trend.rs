//! Detects a queue that kept growing, which marks a run as saturated.

use sledlab_core::stats::BatchMeans;

/// A queue of fewer requests never counts as growing, because bursts are temporary.
const SHORT_QUEUE: f64 = 20.0;

/// Minimum share of a run's requests that are queued, on average over the last quarter, for a saturated run. That many
/// requests would not have been served in time, whatever happened in the other quarters.
const MIN_QUEUED_SHARE: f64 = 0.02;

/// The queue length at each arrival, in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct QueueTrend {
    lengths: BatchMeans,
}

impl QueueTrend {
    /// Records an arrival at a queue of `waiting` requests.
    #[inline]
    pub fn record(&mut self, waiting: usize) {
        self.lengths.record(waiting as f64);
    }

    /// Returns whether the queue of a run of `requests` grew from each quarter to the next, was long at the end, and
    /// then more than 1.5 times as long as in the second quarter (steady growth gives 2.3, a stable queue about 1).
    /// Also returns true if a large share of all requests was queued during the last quarter.
    pub fn is_growing(&self, requests: u64) -> bool {
        let means = self.lengths.means();
        if means.len() < 8 {
            return false;
        }
        let quarter = means.len() / 4;
        let mean = |at: usize| means[at * quarter..(at + 1) * quarter].iter().sum::<f64>() / quarter as f64;
        let [first, second, third, fourth] = [mean(0), mean(1), mean(2), mean(3)];
        let rising = first < second && second < third && third < fourth && fourth > 1.5 * second;
        fourth > SHORT_QUEUE && (rising || fourth > MIN_QUEUED_SHARE * requests as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_distinguished_from_bursts() {
        let is_growing = |length: &dyn Fn(usize) -> usize| {
            let mut trend = QueueTrend::default();
            (0..10_000).for_each(|i| trend.record(length(i)));
            trend.is_growing(10_000)
        };
        assert!(is_growing(&|i| i / 10));
        assert!(!is_growing(&|i| if i % 1000 < 200 { 500 } else { 0 }));
        assert!(!is_growing(&|_| 150));
        assert!(is_growing(&|i| if i < 5000 { i / 10 } else { 600 - i / 25 }), "never caught up");
        assert!(!is_growing(&|i| i / 1000));
    }
}
