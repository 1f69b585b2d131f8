//! Time series of a run in constant memory: the width of bins doubles when there are too many.

use serde::Serialize;
use sledlab_core::Time;

/// Maximum number of bins.
const MAX_BINS: usize = 1024;

/// Initial width of a bin: 2^20 ns, about a millisecond.
const FIRST_SHIFT: u32 = 20;

/// Counts and sums of one time interval.
#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    /// Requests completed that count.
    counted: u64,
    /// Requests completed that arrived in the warm-up.
    uncounted: u64,
    blocks: u64,
    response_ns: u64,
    max_response_ns: u64,
    arrived: u64,
    waiting: u64,
}

/// Completions and queue lengths over time.
#[derive(Debug)]
pub struct Timeline {
    shift: u32,
    bins: Vec<Bin>,
}

/// One bin, in the units of reports.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TimelineBin {
    /// Start of the bin.
    pub time_s: f64,
    /// Width of the bin.
    pub width_s: f64,
    /// Requests completed that count.
    pub requests: u64,
    /// Rate of all completions in the part of the bin that belongs to the counted time; `None` if there is no such
    /// part.
    pub throughput_iops: Option<f64>,
    /// Rate of data, in 10^6 bytes per second; `None` likewise.
    pub throughput_mb_s: Option<f64>,
    /// Mean response time of requests completed; `None` without any.
    pub mean_response_ms: Option<f64>,
    /// Longest response time of requests completed; `None` without any.
    pub max_response_ms: Option<f64>,
    /// Mean queue length at arrivals.
    pub queue_length: Option<f64>,
}

impl Default for Timeline {
    fn default() -> Self {
        Timeline { shift: FIRST_SHIFT, bins: Vec::with_capacity(MAX_BINS) }
    }
}

impl Timeline {
    #[inline]
    fn bin(&mut self, time: Time) -> &mut Bin {
        let index = (time.as_ns() >> self.shift) as usize;
        let index = if index < self.bins.len() { index } else { self.grow(time) };
        &mut self.bins[index]
    }

    /// Widens the bins until one of them contains `time`, and returns its number.
    #[cold]
    fn grow(&mut self, time: Time) -> usize {
        while time.as_ns() >> self.shift >= MAX_BINS as u64 {
            self.widen();
        }
        let index = (time.as_ns() >> self.shift) as usize;
        if index >= self.bins.len() {
            self.bins.resize(index + 1, Bin::default());
        }
        index
    }

    fn widen(&mut self) {
        self.bins =
            self.bins.chunks(2).map(|pair| pair.iter().copied().fold(Bin::default(), Bin::merge)).collect();
        self.shift += 1;
    }

    /// Records the arrival of `count` requests at a queue of `waiting` requests.
    #[inline]
    pub fn arrive(&mut self, time: Time, waiting: usize, count: u64) {
        let bin = self.bin(time);
        bin.arrived += count;
        bin.waiting += waiting as u64 * count;
    }

    /// Records the completion of a request of `blocks` blocks after `response_ns`.
    #[inline]
    pub fn complete(&mut self, time: Time, blocks: u32, response_ns: u64) {
        let bin = self.bin(time);
        bin.counted += 1;
        bin.blocks += u64::from(blocks);
        bin.response_ns = bin.response_ns.saturating_add(response_ns);
        bin.max_response_ns = bin.max_response_ns.max(response_ns);
    }

    /// Records the completion of a request of `blocks` blocks that arrived in the warm-up.
    pub fn complete_uncounted(&mut self, time: Time, blocks: u32) {
        let bin = self.bin(time);
        bin.uncounted += 1;
        bin.blocks += u64::from(blocks);
    }

    /// Returns all bins from the start of a run whose counted time is from `start` to `end`.
    pub fn bins(&self, start: Time, end: Time) -> Vec<TimelineBin> {
        let width_ns = 1_u64 << self.shift;
        let width_s = width_ns as f64 / 1e9;
        let mean_of = |sum: f64, n: u64| (n > 0).then(|| sum / n as f64);
        let report_bin = |(index, bin): (usize, &Bin)| {
            let begin_ns = index as u64 * width_ns;
            let counted_ns = begin_ns
                .saturating_add(width_ns)
                .min(end.as_ns())
                .saturating_sub(begin_ns.max(start.as_ns()));
            let rate = |amount: f64| (counted_ns > 0).then(|| amount / (counted_ns as f64 / 1e9));
            TimelineBin {
                time_s: index as f64 * width_s,
                width_s,
                requests: bin.counted,
                throughput_iops: rate((bin.counted + bin.uncounted) as f64),
                throughput_mb_s: rate((bin.blocks * sledlab_core::BLOCK_BYTES) as f64 / 1e6),
                mean_response_ms: mean_of(bin.response_ns as f64 / 1e6, bin.counted),
                max_response_ms: (bin.counted > 0).then_some(bin.max_response_ns as f64 / 1e6),
                queue_length: mean_of(bin.waiting as f64, bin.arrived),
            }
        };
        self.bins.iter().enumerate().map(report_bin).collect()
    }
}

impl Bin {
    fn merge(self, other: Bin) -> Bin {
        Bin {
            counted: self.counted + other.counted,
            uncounted: self.uncounted + other.uncounted,
            blocks: self.blocks + other.blocks,
            response_ns: self.response_ns.saturating_add(other.response_ns),
            max_response_ns: self.max_response_ns.max(other.max_response_ns),
            arrived: self.arrived + other.arrived,
            waiting: self.waiting + other.waiting,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loses_nothing_when_bins_widen() {
        let mut timeline = Timeline::default();
        for i in 0..10_000_u64 {
            timeline.complete(Time::from_ns(i * 3_000_000), 2, i);
        }
        let bins = timeline.bins(Time::ZERO, Time::from_ns(30_000_000_000));
        assert!(bins.len() <= MAX_BINS && bins.len() > MAX_BINS / 4);
        assert_eq!(bins.iter().map(|bin| bin.requests).sum::<u64>(), 10_000);
        assert!(bins.iter().filter_map(|bin| bin.max_response_ms).fold(0.0, f64::max) > 9.0e-3);
    }

    /// A request every 10 ms, from 20 s to 37 s counted: the rate is 100 per second wherever it is known.
    #[test]
    fn rates_cover_the_counted_part_of_a_bin() {
        let mut timeline = Timeline::default();
        let (start, end) = (Time::from_ns(20_000_000_000), Time::from_ns(37_000_000_000));
        for time in (start.as_ns()..=end.as_ns()).step_by(10_000_000) {
            match time {
                ..25_000_000_000 => timeline.complete_uncounted(Time::from_ns(time), 1),
                _ => timeline.complete(Time::from_ns(time), 1, 7),
            }
        }
        let bins = timeline.bins(start, end);
        let (before, after): (Vec<TimelineBin>, Vec<TimelineBin>) =
            bins.iter().copied().partition(|bin| bin.time_s + bin.width_s <= 20.0);
        assert!(
            before.iter().all(|bin| bin.throughput_iops.is_none() && bin.requests == 0) && !before.is_empty()
        );
        let [inner @ .., last] = after.as_slice() else { panic!("no bins are left") };
        for bin in inner.iter().skip(1) {
            assert!((bin.throughput_iops.unwrap() / 100.0 - 1.0).abs() <= 0.01 / bin.width_s, "{bin:?}");
        }
        let last_s = 37.0 - last.time_s;
        assert!((last.throughput_iops.unwrap() - 100.0).abs() <= 1.0 / last_s, "{last:?}");
    }
}
