//! Short runs have the declared statistics too, on average over seeds.

use super::*;

/// Asserts that values of different seeds have the `expected` mean within four standard errors and `bias`.
fn assert_mean(what: &str, values: &[f64], expected: f64, bias: f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let error = 4.0 * (variance / count).sqrt();
    assert!((mean - expected).abs() <= error + bias, "{what}: {mean} +- {error}, expected {expected}");
}

/// The share of requests that begin where the last request of the same group ended.
fn sequential_share(requests: &[Request], group: impl Fn(&Request) -> Option<usize>) -> f64 {
    let (mut ends, mut sequential, mut grouped) = ([u64::MAX; 2], 0, 0);
    for request in requests {
        if let Some(group) = group(request) {
            grouped += 1;
            sequential += u32::from(ends[group] == request.lbn);
            ends[group] = request.end();
        }
    }
    f64::from(sequential) / f64::from(grouped.max(1))
}

#[test]
fn short_runs_have_the_sequential_share() {
    let all = |_: &Request| Some(0);
    let by_operation = |request: &Request| Some(usize::from(request.op == Op::Write));
    let reads = |request: &Request| (request.op == Op::Read).then_some(0);
    let share = |name: &str, params: &str, count: usize, group: &dyn Fn(&Request) -> Option<usize>| {
        let params = format!("requests = {count}\n{params}");
        let of_seed =
            |seed| sequential_share(&try_make(name, &params, seed, G2_BLOCKS).expect("possible"), group);
        (1..=100).map(of_seed).collect::<Vec<f64>>()
    };
    for count in [100, 300, 1000] {
        // The first requests of a run continue nothing.
        let bias = 1.5 / count as f64;
        for expected in [0.3, 0.6, 0.9] {
            let values = share("volume", &format!("sequential_share = {expected}"), count, &by_operation);
            assert_mean(&format!("volume, {count}"), &values, expected, bias);
        }
        assert_mean("cello", &share("cello", "", count, &all), 0.074, bias);
        assert_mean("hplajw", &share("hplajw", "", count, &all), 0.143, bias);
        let snake = share("snake", "sequential_share = 0.5\ncopy_requests = 0", count, &reads);
        assert_mean(&format!("snake, {count}"), &snake, 0.5, 2.0 * bias);
    }
}

#[test]
fn first_seconds_have_the_mean_rate() {
    for (name, params, rate_per_s) in [
        ("cello", "requests = 2000", 33.0),
        ("tpcc", "requests = 2000", 138.5),
        ("volume", "requests = 2000\nday_amplitude = 0.0\nrate_per_s = 40.0", 40.0),
    ] {
        for seconds in [1.0, 5.0] {
            let count = |seed| {
                let requests = try_make(name, params, seed, G2_BLOCKS).expect("possible");
                requests.iter().filter(|request| request.arrival.as_seconds() < seconds).count() as f64
            };
            let counts: Vec<f64> = (1..=300).map(count).collect();
            assert_mean(&format!("{name}, {seconds} s"), &counts, rate_per_s * seconds, 0.0);
        }
    }
}

#[test]
fn volumes_of_exact_length_end_on_time() {
    for (requests, bursts) in
        [(1, "burst_ratio = 20.0"), (100, "burst_ratio = 20.0"), (20_000, "burst_ratio = 1.0")]
    {
        let params = format!(
            "requests = {requests}\nrate_per_s = 10.0\nday_amplitude = 0.0\nexact_length = true\nburst_s = 2.0\n\
             burst_share = 0.02\n{bursts}"
        );
        for seed in 1..=20 {
            let generated = try_make("volume", &params, seed, G2_BLOCKS).expect("possible");
            assert_eq!(generated.len(), requests);
            assert!(generated[requests - 1].arrival.as_seconds() <= requests as f64 / 10.0 + 1e-6);
            assert!(generated.is_sorted_by_key(|request| request.arrival));
        }
    }
    let error = try_make("volume", "requests = 0\nexact_length = true", 1, G2_BLOCKS).unwrap_err();
    assert!(error.to_string().contains("exact_length"));
}
