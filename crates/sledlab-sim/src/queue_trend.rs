//! Detects overload: a queue that kept growing although a device was busy nearly all the time.
//!
//! The state of the system is sampled at the first arrival after each of a few dozen equal intervals of time. Samples
//! therefore count by time, not by request: a burst of many requests at one instant counts as long as its queue lasts. A
//! sample is taken before the request joins the queue. Since no request arrived after the previous arrival, the queue
//! was at least as long since then.

use sledlab_core::{Span, Time};
use sledlab_models::system::System;

/// A queue of fewer requests never counts as growing, because bursts are temporary.
const SHORT_QUEUE: f64 = 20.0;

/// Minimum share of a run's requests that are queued, on average over the last quarter, for an overloaded run. That many
/// requests would not have been served in time, whatever happened in the other quarters.
const MIN_QUEUED_SHARE: f64 = 0.02;

/// Minimum utilization of the busiest device over the last quarter of an overloaded run.
const MIN_UTILIZATION: f64 = 0.95;

/// Number of samples at which every second one is dropped, and the interval doubles.
const MAX_SAMPLES: usize = 64;

/// Fewer samples are no trend.
const MIN_SAMPLES: usize = 8;

/// The first interval between samples, much shorter than a run.
const FIRST_INTERVAL: Span = Span::from_ns(1 << 10);

/// The state of a system at an arrival, without the request that arrives.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// Time of the arrival.
    at: Time,
    /// Requests that have arrived.
    arrived: u64,
    /// Requests that wait.
    waiting: usize,
    /// Requests that wait for something other than a device, such as room in a cache or the lock of a stripe.
    waiting_elsewhere: usize,
    /// How long each device had nothing to do so far.
    idle: Vec<Span>,
}

impl Sample {
    /// Samples a system at `at`, when `arrived` requests have arrived.
    #[cold]
    pub fn new(at: Time, arrived: u64, system: &dyn System) -> Self {
        let (waiting, stations) = (system.queue_length(), system.stations());
        let at_devices: usize = stations.iter().map(|station| station.queue_length()).sum();
        Sample {
            at,
            arrived,
            waiting,
            waiting_elsewhere: waiting.saturating_sub(at_devices),
            idle: stations.iter().map(|station| station.idle_time(at)).collect(),
        }
    }
}

/// Samples of a system over the time in which requests arrive, in constant memory.
#[derive(Debug)]
pub(crate) struct QueueTrend {
    samples: Vec<Sample>,
    interval: Span,
    /// The next sample is taken at the first arrival at this time or later.
    next: Time,
}

impl QueueTrend {
    /// Returns a trend without samples, whose first is taken at the first arrival at `start` or later.
    pub fn new(start: Time) -> Self {
        QueueTrend { samples: Vec::new(), interval: FIRST_INTERVAL, next: start }
    }

    /// Returns whether a sample must be taken at an arrival at `now`.
    #[inline]
    pub fn is_due(&self, now: Time) -> bool {
        now >= self.next
    }

    /// Records a sample.
    #[cold]
    pub fn record(&mut self, sample: Sample) {
        self.samples.push(sample);
        if self.samples.len() == MAX_SAMPLES {
            let mut is_kept = false;
            // The first sample stays: it is the beginning of the period.
            self.samples.retain(|_| {
                is_kept = !is_kept;
                is_kept
            });
            self.interval = self.interval.saturating_mul(2);
        }
        self.next = self.samples.last().map_or(self.next, |last| last.at + self.interval);
    }

    /// Returns whether the run was overloaded: in the last quarter of the time in which requests arrived, the queue was
    /// long and had grown, and a device was busy nearly all the time.
    ///
    /// The queue had grown if it was longer in each quarter than in the one before, and then more than 1.5 times as long
    /// as in the second (steady growth gives 2.3, a stable queue about 1). It had grown too if it was more than 2.5 times
    /// as long as in any quarter before (growth from the middle of a run on gives 3), or if a large share of all requests
    /// was queued.
    pub fn is_overloaded(&self) -> bool {
        let [first, .., last] = self.samples.as_slice() else { return false };
        if self.samples.len() < MIN_SAMPLES {
            return false;
        }
        let [one, two, three, four] = self.mean_by_quarter();
        let is_rising = one < two && two < three && three < four && four > 1.5 * two;
        let is_late_rise = four > 2.5 * one.max(two).max(three);
        let is_large = four > MIN_QUEUED_SHARE * (last.arrived - first.arrived) as f64;
        four > SHORT_QUEUE && (is_rising || is_late_rise || is_large) && self.was_busy_in_last_quarter()
    }

    /// Returns the mean queue length over each quarter of the time between the first and the last sample.
    fn mean_by_quarter(&self) -> [f64; 4] {
        let (start, end) = self.period();
        let quarter_ns = (end - start) / 4.0;
        let mut sums = [0.0; 4];
        for pair in self.samples.windows(2) {
            let (from, to) = (pair[0].at.as_ns() as f64 - start, pair[1].at.as_ns() as f64 - start);
            for (quarter, sum) in sums.iter_mut().enumerate() {
                let begin = quarter as f64 * quarter_ns;
                let shared_ns = to.min(begin + quarter_ns) - from.max(begin);
                *sum += shared_ns.max(0.0) * pair[1].waiting as f64;
            }
        }
        sums.map(|sum| sum / quarter_ns)
    }

    /// Returns whether a device was busy nearly all the time in the last quarter, or requests always waited for
    /// something other than a device.
    fn was_busy_in_last_quarter(&self) -> bool {
        let (start, end) = self.period();
        let border = start + 0.75 * (end - start);
        let before = self.samples.partition_point(|sample| (sample.at.as_ns() as f64) < border);
        let [first, rest @ .., last] = &self.samples[before..] else { return false };
        let span_ns = last.at.since(first.at).as_ns() as f64;
        let is_busy = |(before, after): (&Span, &Span)| {
            after.saturating_sub(*before).as_ns() as f64 <= (1.0 - MIN_UTILIZATION) * span_ns
        };
        first.idle.iter().zip(&last.idle).any(is_busy)
            || rest.iter().chain([last]).all(|sample| sample.waiting_elsewhere > 0)
    }

    /// Returns the times of the first and the last sample, in ns.
    fn period(&self) -> (f64, f64) {
        let ns = |sample: Option<&Sample>| sample.map_or(0.0, |sample| sample.at.as_ns() as f64);
        (ns(self.samples.first()), ns(self.samples.last()))
    }
}

#[cfg(test)]
mod tests;
