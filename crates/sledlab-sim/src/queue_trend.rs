//! Whether a queue kept growing: the mark of a saturated run.

use sledlab_core::stats::BatchMeans;

/// Waiting requests below which a queue is not called growing: bursts come and go.
const SHORT_QUEUE: f64 = 20.0;

/// The queue length that arrivals find, in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct QueueTrend {
    lengths: BatchMeans,
}

impl QueueTrend {
    /// An arrival finds `waiting` requests.
    #[inline]
    pub fn record(&mut self, waiting: usize) {
        self.lengths.record(waiting as f64);
    }

    /// True when the queue grew from each quarter of the run to the next, ended long, and at the end more
    /// than 1.5 times as long as in the second quarter (steady growth gives 2.3, a stable queue about 1).
    pub fn grew(&self) -> bool {
        let means = self.lengths.means();
        if means.len() < 8 {
            return false;
        }
        let quarter = means.len() / 4;
        let mean = |at: usize| means[at * quarter..(at + 1) * quarter].iter().sum::<f64>() / quarter as f64;
        let [first, second, third, fourth] = [mean(0), mean(1), mean(2), mean(3)];
        first < second && second < third && third < fourth && fourth > SHORT_QUEUE && fourth > 1.5 * second
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_growth_from_bursts() {
        let grew = |length: &dyn Fn(usize) -> usize| {
            let mut trend = QueueTrend::default();
            (0..10_000).for_each(|i| trend.record(length(i)));
            trend.grew()
        };
        assert!(grew(&|i| i / 10));
        assert!(!grew(&|i| if i % 1000 < 200 { 500 } else { 0 }));
        assert!(!grew(&|_| 1000));
        assert!(!grew(&|i| i / 1000));
    }
}
