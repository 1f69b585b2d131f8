//! Detects overload: a queue that kept growing although a device was busy nearly all the time.
//!
//! The state of the system is sampled at the first arrival after each of a few dozen equal intervals of time. Samples
//! therefore count by time: a burst of many requests at one instant counts as long as its queue lasts. A
//! sample is taken before the request joins the queue. Since no request arrived after the previous arrival, the queue
//! was at least as long since then.

use sledlab_core::{Span, Time};
use sledlab_models::system::System;

/// A queue of fewer requests never counts as growing, because bursts are temporary.
const SHORT_QUEUE: f64 = 20.0;

/// Minimum share of a run's requests that are queued, on average over the last quarter, for an overloaded run. That
/// many requests would not have been served in time, whatever happened in the other quarters.
const MIN_QUEUED_SHARE: f64 = 0.02;

/// Minimum utilization of the busiest device over the last quarter of an overloaded run.
const MIN_UTILIZATION: f64 = 0.95;

/// Minimum load of a run that may be overloaded in the last quarter of its requests only: the utilization of a device
/// if all requests had been served when the last one arrived.
const HIGH_LOAD: f64 = 0.8;

/// Number of samples at which every second one is dropped, and the interval doubles.
const MAX_SAMPLES: usize = 64;

/// Fewer samples are no trend.
const MIN_SAMPLES: usize = 8;

/// The first interval between samples, much shorter than a run.
const FIRST_INTERVAL: Span = Span::from_ns(1 << 10);

/// An arrival, and the queue without the request that arrives.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrival {
    pub at: Time,
    /// Requests that have arrived.
    pub arrived: u64,
    /// Requests that wait.
    pub waiting: usize,
}

/// The state of a system at an arrival.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    arrival: Arrival,
    /// Requests that wait for something other than a device, such as room in a cache or the lock of a stripe.
    waiting_elsewhere: usize,
    /// How long each device had nothing to do so far.
    idle: Vec<Span>,
}

impl Sample {
    #[cold]
    pub fn new(arrival: Arrival, system: &dyn System) -> Self {
        let stations = system.stations();
        let waiting_at_devices: usize = stations.iter().map(|station| station.queue_length()).sum();
        Sample {
            arrival,
            waiting_elsewhere: arrival.waiting.saturating_sub(waiting_at_devices),
            idle: stations.iter().map(|station| station.idle_time(arrival.at)).collect(),
        }
    }
}

/// Samples of a system over the time in which requests arrive, in constant memory.
#[derive(Debug)]
pub(crate) struct QueueTrend {
    samples: Vec<Sample>,
    interval: Span,
    /// The next sample is taken at the first arrival at this time or later.
    next_sample_time: Time,
    /// One of the last arrivals.
    pub last: Arrival,
}

impl QueueTrend {
    /// Returns a trend without samples, whose first is taken at the first arrival at `start` or later.
    pub fn new(start: Time) -> Self {
        QueueTrend {
            samples: Vec::new(),
            interval: FIRST_INTERVAL,
            next_sample_time: start,
            last: Arrival::default(),
        }
    }

    /// Returns whether a sample must be taken at an arrival at `now`.
    #[inline]
    pub fn is_due(&self, now: Time) -> bool {
        now >= self.next_sample_time
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
        self.next_sample_time =
            self.samples.last().map_or(self.next_sample_time, |last| last.arrival.at + self.interval);
    }

    /// Returns whether the run was overloaded: at its end, the queue was long and had grown, and a device was busy
    /// nearly all the time. The end is the last quarter of the time in which requests arrived or, if the load of the
    /// whole run was high, of the requests. At a low load, many requests in a short time at the end are a burst.
    pub fn is_overloaded(&self) -> bool {
        let [first, .., last_sample] = self.samples.as_slice() else { return false };
        if self.samples.len() < MIN_SAMPLES {
            return false;
        }
        let (by_time, by_request) =
            (|arrival: Arrival| arrival.at.as_ns(), |arrival: Arrival| arrival.arrived);
        let served_share = 1.0 - self.last.waiting as f64 / self.arrived();
        self.is_overloaded_at_end(by_time)
            || is_busy(first, last_sample, HIGH_LOAD * served_share) && self.is_overloaded_at_end(by_request)
    }

    /// Returns whether the queue had grown, and a device was busy, in the last quarter of the run as measured by
    /// `position`.
    ///
    /// The queue had grown if it was longer in each quarter than in the one before, and then more than 1.5 times as
    /// long as in the second (steady growth gives 2.3, a stable queue about 1). It had grown too if it was more than
    /// 2.5 times as long as in any quarter before (growth from the middle of a run on gives 3), or if a large share of
    /// all requests was queued.
    fn is_overloaded_at_end(&self, position: impl Fn(Arrival) -> u64) -> bool {
        let [one, two, three, four] = self.mean_by_quarter(&position);
        let is_rising = one < two && two < three && three < four && four > 1.5 * two;
        let is_late_rise = four > 2.5 * one.max(two).max(three);
        let is_large = four > MIN_QUEUED_SHARE * self.arrived();
        four > SHORT_QUEUE
            && (is_rising || is_late_rise || is_large)
            && self.was_busy_in_last_quarter(&position)
    }

    /// Returns the variance of the number of arrivals in an interval between samples, divided by its mean; 1, as of
    /// Poisson arrivals, if there are too few samples.
    pub fn arrival_dispersion(&self) -> f64 {
        let [first, .., last] = self.samples.as_slice() else { return 1.0 };
        let per_ns = (last.arrival.arrived - first.arrival.arrived) as f64
            / last.arrival.at.since(first.arrival.at).as_ns() as f64;
        if self.samples.len() < MIN_SAMPLES || per_ns <= 0.0 {
            return 1.0;
        }
        let deviation = |pair: &[Sample]| {
            let expected = per_ns * pair[1].arrival.at.since(pair[0].arrival.at).as_ns() as f64;
            ((pair[1].arrival.arrived - pair[0].arrival.arrived) as f64 - expected).powi(2) / expected
        };
        self.samples.windows(2).map(deviation).sum::<f64>() / (self.samples.len() - 2) as f64
    }

    /// Returns the mean queue length over each quarter between the first and the last sample.
    fn mean_by_quarter(&self, position: impl Fn(Arrival) -> u64) -> [f64; 4] {
        let (start, end) = self.range(&position);
        let length = (end - start) / 4.0;
        let mut sums = [0.0; 4];
        let arrivals = self.samples.iter().map(|sample| sample.arrival).chain([self.last]);
        for (before, after) in arrivals.clone().zip(arrivals.skip(1)) {
            let (from, to) = (position(before) as f64 - start, position(after) as f64 - start);
            for (quarter, sum) in sums.iter_mut().enumerate() {
                let begin = quarter as f64 * length;
                let overlap = to.min(begin + length) - from.max(begin);
                *sum += overlap.max(0.0) * after.waiting as f64;
            }
        }
        sums.map(|sum| sum / length)
    }

    /// Returns whether a device was busy nearly all the time in the last quarter, or requests always waited for
    /// something other than a device.
    fn was_busy_in_last_quarter(&self, position: impl Fn(Arrival) -> u64) -> bool {
        let (start, end) = self.range(&position);
        let border = start + 0.75 * (end - start);
        let before_border = self.samples.partition_point(|sample| (position(sample.arrival) as f64) < border);
        let [first, rest @ .., last] = &self.samples[before_border..] else { return false };
        is_busy(first, last, MIN_UTILIZATION)
            || rest.iter().chain([last]).all(|sample| sample.waiting_elsewhere > 0)
    }

    /// Returns the positions of the first sample and of the last arrival.
    fn range(&self, position: impl Fn(Arrival) -> u64) -> (f64, f64) {
        let first = self.samples.first().map_or(self.last, |sample| sample.arrival);
        (position(first) as f64, position(self.last) as f64)
    }

    /// Returns the number of requests that arrived after the first sample, at least 1.
    fn arrived(&self) -> f64 {
        let (first, last) = self.range(|arrival| arrival.arrived);
        (last - first).max(1.0)
    }
}

/// Returns whether a device was busy for at least a share of the time between two samples.
fn is_busy(first: &Sample, last: &Sample, utilization: f64) -> bool {
    let span_ns = last.arrival.at.since(first.arrival.at).as_ns() as f64;
    let is_busy = |(before, after): (&Span, &Span)| {
        after.saturating_sub(*before).as_ns() as f64 <= (1.0 - utilization) * span_ns
    };
    first.idle.iter().zip(&last.idle).any(is_busy)
}

#[cfg(test)]
mod tests;
