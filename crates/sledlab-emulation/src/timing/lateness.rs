//! Timing accuracy of a run: the lateness of each reply with its cause, and the stalls of the server.

use serde::Serialize;
use sledlab_core::stats::Distribution;

/// From this duration on, work of the model or of the store is a cause of lateness, in nanoseconds.
const MIN_CAUSE_NS: u64 = 20_000;

/// A delay of the server's thread beyond this counts as a stall, in nanoseconds.
pub(crate) const STALL_NS: u64 = 1_000_000;

/// Stalls that are listed one by one; all are counted.
const MAX_LISTED_STALLS: usize = 1_000;

/// Lateness up to this needs no cause, in nanoseconds.
const ON_TIME_NS: i64 = 1_000;

/// Why a reply was late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Cause {
    /// The reply was on time: not more than 1 us late.
    #[default]
    OnTime = 0,
    /// The kernel scheduled the server's thread late.
    SchedulingDelay = 1,
    /// The model took long, for example a slow scheduler in Python.
    Model = 2,
    /// Reading or writing the data took long.
    Data = 3,
    /// The client did not take the reply at once.
    Client = 4,
    /// The reply was due sooner than the server can reply: before it can reach the client, when other replies were
    /// due, or passing it to the kernel took a little longer than usual.
    MinReplyTime = 5,
}

impl Cause {
    /// All causes, in order of their numbers.
    pub const ALL: [Cause; 6] = [
        Cause::OnTime,
        Cause::SchedulingDelay,
        Cause::Model,
        Cause::Data,
        Cause::Client,
        Cause::MinReplyTime,
    ];
}

/// An interval of wall-clock time, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct WallInterval {
    from: u64,
    to: u64,
}

impl WallInterval {
    fn overlap(self, from: u64, to: u64) -> u64 {
        self.to.min(to).saturating_sub(self.from.max(from))
    }
}

/// The most recent stall of each kind.
#[derive(Debug, Default)]
pub(crate) struct RecentStalls {
    scheduling: WallInterval,
    model: WallInterval,
    data: WallInterval,
}

impl RecentStalls {
    /// Records that the thread was due to resume at `expected` and resumed later, at `now`.
    pub fn record_wakeup(&mut self, due_at: u64, now: u64) {
        self.scheduling = WallInterval { from: due_at, to: now };
    }

    /// Notes that the model worked between two instants.
    pub fn record_model(&mut self, from: u64, to: u64) {
        extend_interval(&mut self.model, from, to);
    }

    /// Notes that data was read or written between two instants.
    pub fn record_data(&mut self, from: u64, to: u64) {
        extend_interval(&mut self.data, from, to);
    }

    /// Why a reply was late on which work should have begun at `send_at`, and which was handed over at `sent_at`,
    /// `lateness_ns` late.
    pub fn cause(&self, send_at: u64, sent_at: u64, lateness_ns: i64) -> Cause {
        if lateness_ns <= ON_TIME_NS {
            return Cause::OnTime;
        }
        let causes =
            [(Cause::Model, self.model), (Cause::Data, self.data), (Cause::SchedulingDelay, self.scheduling)];
        let causes = causes.map(|(cause, interval)| (interval.overlap(send_at, sent_at), cause));
        let (longest, cause) =
            causes.into_iter().fold((0, Cause::MinReplyTime), |a, b| if b.0 > a.0 { b } else { a });
        if longest * 4 >= lateness_ns.unsigned_abs() { cause } else { Cause::MinReplyTime }
    }
}

fn extend_interval(interval: &mut WallInterval, from: u64, to: u64) {
    if to - from < MIN_CAUSE_NS {
        return;
    }
    // Delays that follow one another closely count as one: many slow decisions delay the server as one does.
    let is_adjacent = from.saturating_sub(interval.to) < MIN_CAUSE_NS;
    *interval = WallInterval { from: if is_adjacent { interval.from } else { from }, to };
}

/// A stall: a time in which the server's thread did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Stall {
    /// When the thread was due to resume, in nanoseconds of wall-clock time since the start.
    pub at_ns: u64,
    /// The delay until it resumed, in nanoseconds of wall-clock time.
    pub length_ns: u64,
}

/// All stalls of more than a millisecond.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stalls {
    /// Number of stalls.
    pub count: u64,
    /// Their total length, in nanoseconds of wall-clock time.
    pub sum_ns: u64,
    /// The longest stall, in nanoseconds of wall-clock time.
    pub longest_ns: u64,
    /// Requests detected at the end of a stall: they arrived earlier than their stamps, by at most the length of the
    /// stall.
    pub arrivals: u64,
    /// The first 1,000 stalls.
    pub listed: Vec<Stall>,
}

impl Stalls {
    /// Counts a stall if the thread was due to resume at `expected` and resumed much later, at `now`; returns whether
    /// it did.
    pub(crate) fn check(&mut self, due_at: u64, now: u64) -> bool {
        let length_ns = now.saturating_sub(due_at);
        if length_ns <= STALL_NS {
            return false;
        }
        self.count += 1;
        self.sum_ns += length_ns;
        self.longest_ns = self.longest_ns.max(length_ns);
        if self.listed.len() < MAX_LISTED_STALLS {
            self.listed.push(Stall { at_ns: due_at, length_ns });
        }
        true
    }
}

/// The number of replies with a lateness of at most a given share of their response time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CountWithinShare {
    /// Replies whose response time in the model is not zero.
    pub replies: u64,
    /// Of these, replies at most 1 % of their response time too early or too late.
    pub one: u64,
    /// Of these, replies at most 2 % of their response time too early or too late.
    pub two: u64,
    /// Of these, replies at most 5 % of their response time too early or too late.
    pub five: u64,
}

/// Percentiles of times in microseconds of wall-clock time; `None` without replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Percentiles {
    /// Median.
    pub p50: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p999: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
}

/// The lateness of all replies of a run.
#[derive(Debug, Default)]
pub(crate) struct Lateness {
    early: Distribution,
    late: Distribution,
    response: Distribution,
    pub within: CountWithinShare,
    /// Replies by [`Cause`].
    pub causes: [u64; Cause::ALL.len()],
    /// Replies more than 5 ms late.
    pub beyond_5_ms: u64,
}

impl Lateness {
    /// Records a reply that was `lateness_ns` nanoseconds late, and took the model `response_ns` nanoseconds of
    /// wall-clock time.
    pub fn record(&mut self, lateness_ns: i64, response_ns: u64, cause: Cause) {
        let deviation_ns = lateness_ns.unsigned_abs();
        let distribution = if lateness_ns < 0 { &mut self.early } else { &mut self.late };
        distribution.record(deviation_ns);
        self.causes[cause as usize] += 1;
        self.beyond_5_ms += u64::from(lateness_ns > 5_000_000);
        if response_ns > 0 {
            self.response.record(response_ns);
            let is_within = |percent: u64| {
                u64::from(deviation_ns.saturating_mul(100) <= response_ns.saturating_mul(percent))
            };
            self.within.replies += 1;
            self.within.one += is_within(1);
            self.within.two += is_within(2);
            self.within.five += is_within(5);
        }
    }

    /// Percentiles of the lateness with its sign: early replies are below zero.
    pub fn percentiles(&self) -> Percentiles {
        Percentiles {
            p50: self.quantile(0.5),
            p90: self.quantile(0.9),
            p99: self.quantile(0.99),
            p999: self.quantile(0.999),
            max: self.quantile(1.0),
        }
    }

    fn quantile(&self, quantile: f64) -> Option<f64> {
        let (early_count, late_count) =
            (self.early.moments().count() as f64, self.late.moments().count() as f64);
        let rank = quantile * (early_count + late_count);
        let ns = if early_count > 0.0 && rank <= early_count {
            Some(-(self.early.quantile_ns(1.0 - rank / early_count) as f64))
        } else {
            (late_count > 0.0).then(|| self.late.quantile_ns((rank - early_count) / late_count) as f64)
        };
        ns.map(|ns| ns / 1e3)
    }

    /// Response time that 90 % of replies exceed, in microseconds of wall-clock time; `None` if no reply takes time in
    /// the model.
    pub fn response_p10_us(&self) -> Option<f64> {
        (self.within.replies > 0).then(|| self.response.quantile_ns(0.1) as f64 / 1e3)
    }

    /// Mean response time of the model, in microseconds of wall-clock time; `None` if no reply takes time in the model.
    pub fn response_mean_us(&self) -> Option<f64> {
        (self.within.replies > 0).then(|| self.response.moments().mean() / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cause_of_lateness_is_identified() {
        let mut stalls = RecentStalls::default();
        assert_eq!(stalls.cause(1_000, 1_500, 500), Cause::OnTime);
        assert_eq!(stalls.cause(100_000, 130_000, 30_000), Cause::MinReplyTime);
        stalls.record_wakeup(60_000, 125_000);
        assert_eq!(stalls.cause(100_000, 130_000, 30_000), Cause::SchedulingDelay);
        stalls.record_model(200_000, 5_200_000);
        assert_eq!(stalls.cause(300_000, 5_210_000, 4_910_000), Cause::Model);
        // Short work is no cause of lateness.
        stalls.record_data(6_000_000, 6_010_000);
        assert_eq!(stalls.cause(6_000_000, 6_020_000, 20_000), Cause::MinReplyTime);
        stalls.record_data(7_000_000, 7_400_000);
        assert_eq!(stalls.cause(7_100_000, 7_420_000, 300_000), Cause::Data);
    }

    #[test]
    fn slow_decisions_add_up() {
        let mut stalls = RecentStalls::default();
        for step in 0..10 {
            stalls.record_model(step * 30_000, step * 30_000 + 25_000);
        }
        assert_eq!(stalls.cause(0, 300_000, 300_000), Cause::Model);
    }

    #[test]
    fn counts_stalls_and_lists_the_first() {
        let mut stalls = Stalls::default();
        assert!(!stalls.check(5, 1_000_005));
        for at in 0..2_000 {
            assert!(stalls.check(at, at + 2_000_000));
        }
        assert_eq!((stalls.count, stalls.sum_ns, stalls.longest_ns), (2_000, 4_000_000_000, 2_000_000));
        assert_eq!(stalls.listed.len(), MAX_LISTED_STALLS);
    }

    #[test]
    fn statistics_without_replies_are_missing() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.percentiles(), Percentiles::default());
        assert_eq!((lateness.response_mean_us(), lateness.response_p10_us()), (None, None));
        lateness.record(0, 0, Cause::OnTime);
        assert_eq!((lateness.percentiles().max, lateness.response_mean_us()), (Some(0.0), None));
    }

    #[test]
    fn shares_count_early_and_late_alike() {
        let mut lateness = Lateness::default();
        for lateness_ns in [-10_000, 10_000, 10_001, 20_000, -50_000, 50_001] {
            lateness.record(lateness_ns, 1_000_000, Cause::OnTime);
        }
        lateness.record(6_000_000, 0, Cause::Client);
        assert_eq!(lateness.within, CountWithinShare { replies: 6, one: 2, two: 4, five: 5 });
        assert_eq!(lateness.causes, [6, 0, 0, 0, 1, 0]);
        assert_eq!(lateness.beyond_5_ms, 1);
        assert!((lateness.percentiles().p50.unwrap() - 10.0).abs() < 0.1);
    }

    proptest! {
        #[test]
        fn percentiles_have_signs(mut latenesses in prop::collection::vec(-1_000_000_i64..1_000_000, 1..300)) {
            let mut lateness = Lateness::default();
            for lateness_ns in &latenesses {
                lateness.record(*lateness_ns, 1, Cause::OnTime);
            }
            latenesses.sort_unstable();
            let percentiles = lateness.percentiles();
            for (quantile, percentile) in [(0.5, percentiles.p50), (0.9, percentiles.p90), (1.0, percentiles.max)] {
                let percentile = percentile.unwrap();
                let rank = quantile * latenesses.len() as f64;
                // Between the neighbors of that rank, within the precision of the histogram.
                let neighbor_us = |shift: f64| {
                    let index = ((rank + shift) as usize).clamp(1, latenesses.len()) - 1;
                    latenesses[index] as f64 / 1e3
                };
                let (low, high) = (neighbor_us(-1.0), neighbor_us(2.0));
                let tolerance = 0.002 + 0.001 * percentile.abs();
                let is_between = percentile >= low - tolerance && percentile <= high + tolerance;
                prop_assert!(is_between, "{} {} {}", low, percentile, high);
            }
        }
    }
}
