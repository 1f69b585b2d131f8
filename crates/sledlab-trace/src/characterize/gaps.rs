//! Long gaps between arrivals.
//!
//! The arrivals do not show when a device is idle: requests that arrive before a gap keep it busy for a part of the
//! gap. So the gaps are an upper bound of the idle periods of a device that serves the whole trace.

use serde::Serialize;

/// Lengths that the table of gaps counts, in ns.
const THRESHOLDS_NS: [u64; 3] = [100_000_000, 1_000_000_000, 10_000_000_000];

/// Gaps between arrivals of reads and writes of all devices.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArrivalGaps {
    /// The longest gap; `None` with fewer than two reads and writes.
    pub longest_s: Option<f64>,
    /// Gaps longer than some lengths, the shortest first.
    pub long: Vec<LongGaps>,
}

/// Gaps that are longer than a length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LongGaps {
    /// The length.
    pub longer_than_s: f64,
    /// Number of gaps.
    pub count: u64,
    /// Share of the time from the first to the last read or write that lies in these gaps; `None` if that time is zero.
    pub time_share: Option<f64>,
}

/// Collects gaps, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct GapCollector {
    count: u64,
    sum_ns: u128,
    longest_ns: u64,
    long: [(u64, u128); THRESHOLDS_NS.len()],
}

impl GapCollector {
    #[inline]
    pub fn record(&mut self, gap_ns: u64) {
        self.count += 1;
        self.sum_ns += u128::from(gap_ns);
        self.longest_ns = self.longest_ns.max(gap_ns);
        for (threshold_ns, (count, sum_ns)) in THRESHOLDS_NS.iter().zip(&mut self.long) {
            if gap_ns <= *threshold_ns {
                break;
            }
            *count += 1;
            *sum_ns += u128::from(gap_ns);
        }
    }

    pub fn summarize(&self) -> ArrivalGaps {
        let long = THRESHOLDS_NS.iter().zip(&self.long).map(|(threshold_ns, (count, sum_ns))| LongGaps {
            longer_than_s: *threshold_ns as f64 / 1e9,
            count: *count,
            time_share: (self.sum_ns > 0).then(|| *sum_ns as f64 / self.sum_ns as f64),
        });
        ArrivalGaps {
            longest_s: (self.count > 0).then(|| self.longest_ns as f64 / 1e9),
            long: long.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(gaps_ms: &[u64]) -> ArrivalGaps {
        let mut collector = GapCollector::default();
        for ms in gaps_ms {
            collector.record(ms * 1_000_000);
        }
        collector.summarize()
    }

    #[test]
    fn gaps_are_counted_above_each_length() {
        // Gaps of exactly 0.1 s and 1 s are not longer than these lengths.
        let gaps = summary(&[100, 150, 1_000, 1_250, 12_500, 0]);
        assert_eq!(gaps.longest_s, Some(12.5));
        let long: Vec<_> = gaps.long.iter().map(|row| (row.longer_than_s, row.count)).collect();
        assert_eq!(long, [(0.1, 4), (1.0, 2), (10.0, 1)]);
        let shares: Vec<_> = gaps.long.iter().filter_map(|row| row.time_share).collect();
        for (share, expected) in shares.iter().zip([14.9 / 15.0, 13.75 / 15.0, 12.5 / 15.0]) {
            assert!((share - expected).abs() < 1e-12, "{shares:?}");
        }
    }

    #[test]
    fn no_time_has_no_shares() {
        assert_eq!(summary(&[]).longest_s, None);
        assert_eq!(summary(&[0, 0]).longest_s, Some(0.0));
        assert!(summary(&[0]).long.iter().all(|row| row.time_share.is_none() && row.count == 0));
    }
}
