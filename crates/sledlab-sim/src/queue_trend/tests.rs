use sledlab_core::seed;

use super::*;
use rand::RngExt;

/// Returns whether a device that serves one request in 1 ms, in order of arrival, is overloaded by requests at these
/// times, in ms.
fn is_overloaded(arrivals_ms: impl IntoIterator<Item = f64>) -> bool {
    let mut trend = QueueTrend::new(Time::ZERO);
    // Completion times of requests that wait or are served, and of the last one.
    let mut outstanding = std::collections::VecDeque::new();
    let (mut free_ms, mut idle_ms, mut last_ms) = (0.0_f64, 0.0, 0.0);
    for (arrived, now_ms) in arrivals_ms.into_iter().enumerate() {
        assert!(now_ms >= last_ms);
        last_ms = now_ms;
        while outstanding.front().is_some_and(|end| *end <= now_ms) {
            outstanding.pop_front();
        }
        let now = Time::from_ns((now_ms * 1e6) as u64);
        let waiting = outstanding.len().saturating_sub(1);
        let arrival = Arrival { at: now, arrived: arrived as u64, waiting };
        trend.last = arrival;
        if trend.is_due(now) {
            let idle = Span::from_ms(idle_ms + (now_ms - free_ms).max(0.0));
            trend.record(Sample { arrival, waiting_elsewhere: 0, idle: vec![idle] });
        }
        idle_ms += (now_ms - free_ms).max(0.0);
        free_ms = free_ms.max(now_ms) + 1.0;
        outstanding.push_back(free_ms);
    }
    assert!(trend.samples.len() <= MAX_SAMPLES);
    trend.is_overloaded()
}

/// Returns `count` arrivals in ms whose mean gap, in ms, depends on the share of the run that is over.
fn arrivals(count: u32, root: u64, gap_ms: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut rng = seed::stream(root, "queue-trend");
    let mut now_ms = 0.0;
    (0..count)
        .map(|i| {
            let random: f64 = rng.random();
            now_ms -= (1.0 - random).ln() * gap_ms(f64::from(i) / f64::from(count));
            now_ms
        })
        .collect()
}

/// Returns bursts of `size` requests, each `period_ms` after the one before, with `gap_ms` between requests.
fn bursts(count: u32, size: u32, period_ms: f64, gap_ms: f64) -> Vec<f64> {
    let burst = |number| (0..size).map(move |i| f64::from(number) * period_ms + f64::from(i) * gap_ms);
    (0..count).flat_map(burst).collect()
}

const COUNTS: [u32; 3] = [2_000, 20_000, 200_000];

#[test]
fn stable_load_is_no_overload() {
    for (count, root) in COUNTS.into_iter().flat_map(|count| (0..5).map(move |root| (count, root))) {
        for load in [0.05, 0.5, 0.9] {
            assert!(!is_overloaded(arrivals(count, root, |_| 1.0 / load)), "{load} of {count}, {root}");
        }
    }
}

#[test]
fn steady_overload_is_found() {
    for (count, root) in COUNTS.into_iter().flat_map(|count| (0..5).map(move |root| (count, root))) {
        for load in [1.1, 1.5, 10.0] {
            assert!(is_overloaded(arrivals(count, root, |_| 1.0 / load)), "{load} of {count}, {root}");
        }
    }
}

#[test]
fn overload_of_second_half_is_found() {
    for (count, root) in
        [20_000, 130_000, 400_000].into_iter().flat_map(|n| (0..5).map(move |root| (n, root)))
    {
        for load in [1.05, 1.1, 1.5] {
            let gap = |share| if share < 0.5 { 1.0 / 0.8 } else { 1.0 / load };
            assert!(is_overloaded(arrivals(count, root, gap)), "{load} of {count}, {root}");
        }
    }
}

/// At 71 % load until the last tenth of the time, in which a quarter of the requests arrive: 87 % in all. The same at
/// 14 % load is a burst.
#[test]
fn overload_of_last_quarter_of_requests_is_found() {
    for (count, root) in
        [60_000, 130_000, 400_000].into_iter().flat_map(|n| (0..5).map(move |root| (n, root)))
    {
        let late_gap = |load: f64| move |share: f64| if share < 0.73 { 1.0 / load } else { 1.0 / 2.4 };
        assert!(is_overloaded(arrivals(count, root, late_gap(0.71))), "{count}, {root}");
        assert!(!is_overloaded(arrivals(count, root, late_gap(0.14))), "{count}, {root}");
    }
}

#[test]
fn regular_bursts_at_high_load_are_no_overload() {
    for bursts_in_run in [8, 9, 20, 100] {
        let period_ms = 100_000.0 / f64::from(bursts_in_run);
        let size = (0.85 * period_ms) as u32;
        assert!(!is_overloaded(bursts(bursts_in_run, size, period_ms, 0.3)), "{bursts_in_run} bursts");
    }
}

#[test]
fn overload_of_first_half_counts_until_queue_is_short() {
    let arrivals_at_load =
        |load: f64| arrivals(50_000, 1, move |share| if share < 0.5 { 1.0 / 1.2 } else { 1.0 / load });
    assert!(is_overloaded(arrivals_at_load(0.95)), "a third of the queue is left at the end");
    assert!(!is_overloaded(arrivals_at_load(0.4)), "the queue was served before the last quarter");
}

#[test]
fn bursts_are_no_overload() {
    // Time stamps in whole seconds at 4 % load, in traces of 80 to 100,000 requests.
    for count in [2, 5, 60, 2_500] {
        assert!(!is_overloaded(bursts(count, 40, 1_000.0, 0.0)), "{count} bursts");
    }
    for period_ms in [100.0, 1_000.0, 30_000.0] {
        let size = (period_ms / 2.0) as u32;
        assert!(
            !is_overloaded(bursts(100, size, period_ms, 0.1)),
            "bursts at half of the load, {period_ms} ms"
        );
    }
    let quiet = arrivals(1_000, 1, |_| 10.0);
    let end_ms = quiet[999];
    let burst = (0..1_600).map(|i| end_ms + f64::from(i) * 0.05);
    assert!(!is_overloaded(quiet.into_iter().chain(burst)), "a burst at the end, 26 % of the time in all");
    assert!(!is_overloaded(vec![0.0; 10_000]), "all requests at once");
}

#[test]
fn slow_drift_into_overload_is_found() {
    assert!(is_overloaded(arrivals(200_000, 1, |share| 1.0 / (0.9 + 0.15 * share))));
    assert!(!is_overloaded(arrivals(200_000, 1, |share| 1.0 / (0.5 + 0.4 * share))));
}

#[test]
fn requests_that_wait_for_no_device_count() {
    let is_overloaded = |waiting_elsewhere: fn(u64) -> usize| {
        let mut trend = QueueTrend::new(Time::ZERO);
        for ms in 0..50 {
            let at = Time::from_ns(ms * 1_000_000);
            let idle = vec![Span::from_ns(at.as_ns() / 2)];
            trend.last = Arrival { at, arrived: 20 * ms, waiting: 10 * ms as usize };
            trend.record(Sample { arrival: trend.last, waiting_elsewhere: waiting_elsewhere(ms), idle });
        }
        trend.is_overloaded()
    };
    assert!(is_overloaded(|_| 1));
    assert!(!is_overloaded(|ms| usize::from(ms != 45)));
    assert!(!is_overloaded(|_| 0));
}
