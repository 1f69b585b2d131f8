//! A volume of a cloud has the statistics that its parameters set.

use super::stand_ins::{characterize_generator, touched_mb};
use super::*;

/// A volume without bursts and days, so that the property under test shows plainly.
fn flat_volume(params: &str) -> Vec<Request> {
    make("volume", &format!("requests = 200000\nburst_ratio = 1.0\nday_amplitude = 0.0\n{params}"))
}

fn arrival_hours(requests: &[Request]) -> Vec<f64> {
    let mut counts = Vec::new();
    for request in requests {
        let hour = (request.arrival.as_seconds() / 3600.0) as usize;
        counts.resize(counts.len().max(hour + 1), 0.0);
        counts[hour] += 1.0;
    }
    counts
}

#[test]
fn defaults_are_as_declared() {
    for seed in 1..=3 {
        let report = characterize_generator(
            "volume",
            "rate_per_s = 100.0\nday_h = 0.1\nburst_s = 1.0",
            seed,
            G2_BLOCKS,
        );
        assert_near("rate", report.rate_per_s.unwrap(), 100.0, 0.05);
        assert_near("reads", report.read_share.unwrap(), 0.25, 0.02);
        assert_near("reads, KB", report.sizes.read.mean_kb.unwrap(), 57.0, 0.02);
        assert_near("writes, KB", report.sizes.write.mean_kb.unwrap(), 34.0, 0.02);
        assert!(touched_mb(&report) <= 1000.0);
    }
}

#[test]
fn three_quarters_of_reads_and_writes_are_small() {
    let requests = flat_volume("");
    for (op, blocks) in [(Op::Read, 64), (Op::Write, 32)] {
        let requests_of_op: Vec<Request> = requests.iter().filter(|r| r.op == op).copied().collect();
        assert_near("three quarters", share(&requests_of_op, |r| r.blocks <= blocks), 0.75, 0.02);
    }
}

#[test]
fn run_length_matches_parameter() {
    for expected in [0.1, 0.3, 0.6] {
        let requests = flat_volume(&format!("sequential_share = {expected}"));
        let mut ends = [u64::MAX; 2];
        let sequential = requests.iter().filter(|request| {
            let end = &mut ends[usize::from(request.op == Op::Write)];
            let is_sequential = request.lbn == *end;
            *end = request.end();
            is_sequential
        });
        assert_near("sequential", sequential.count() as f64 / requests.len() as f64, expected, 0.03);
    }
}

#[test]
fn rate_follows_daily_cycle() {
    let requests = make(
        "volume",
        "requests = 864000\nburst_ratio = 1.0\nday_amplitude = 0.8\npeak_h = 6.0\nrate_per_s = 10.0",
    );
    let hours = arrival_hours(&requests);
    assert_near("at the peak", hours[5], 36_000.0 * 1.8, 0.03);
    assert_near("opposite", hours[17], 36_000.0 * 0.2, 0.06);
    assert_near("a day", requests[863_999].arrival.as_seconds(), 86_400.0, 0.01);
}

#[test]
fn burst_rate_matches_parameter() {
    let requests = make(
        "volume",
        "requests = 2000000\nday_amplitude = 0.0\nburst_ratio = 200.0\nburst_share = 0.002\nburst_s = 20.0",
    );
    let mut seconds = vec![0_u64; requests[1_999_999].arrival.as_seconds() as usize + 1];
    for request in &requests {
        seconds[request.arrival.as_seconds() as usize] += 1;
    }
    let burst_counts: Vec<u64> = seconds.iter().copied().filter(|count| *count > 1000).collect();
    assert_near(
        "in a second of a burst",
        burst_counts.iter().sum::<u64>() as f64 / burst_counts.len() as f64,
        2000.0,
        0.05,
    );
    assert_near("in bursts", burst_counts.iter().sum::<u64>() as f64 / 2_000_000.0, 0.4, 0.25);
    assert_near("rate", 2_000_000.0 / seconds.len() as f64, 10.0, 0.1);
    let message =
        try_make("volume", "burst_ratio = 10.0\nburst_share = 0.2", 1, 1000).unwrap_err().to_string();
    assert!(message.contains("more than all requests") && message.contains("at most 0.1"), "{message}");
}

#[test]
fn hot_extents_follow_zipf_distribution() {
    let share_of_top_tenth = |op: Op, params: &str| {
        let requests = flat_volume(&format!("sequential_share = 0.0\nfootprint_mb = 64.0\n{params}"));
        let mut hits = vec![0_u64; 1024];
        requests.iter().filter(|r| r.op == op).for_each(|r| hits[(r.lbn / 128) as usize] += 1);
        hits.sort_unstable_by(|a, b| b.cmp(a));
        hits[..102].iter().sum::<u64>() as f64 / hits.iter().sum::<u64>() as f64
    };
    let expected = |exponent: f64| {
        let weights = (1..=1024).map(|rank| f64::from(rank).powf(-exponent));
        weights.clone().take(102).sum::<f64>() / weights.sum::<f64>()
    };
    for exponent in [0.5, 0.9, 1.2] {
        let measured_share = share_of_top_tenth(Op::Write, &format!("write_zipf = {exponent:.1}"));
        assert_near("writes", measured_share, expected(exponent), 0.05);
    }
    let measured_share = share_of_top_tenth(Op::Read, "read_zipf = 1.0\nread_share = 0.9");
    assert_near("reads", measured_share, expected(1.0), 0.05);
}

#[test]
fn requests_cover_exactly_the_footprint() {
    for capacity in [1, 7, 8, 100, 1000, 2048] {
        let params = "requests = 20000\nread_zipf = 0.0\nwrite_zipf = 0.0\nfootprint_mb = 1.0";
        let requests = try_make("volume", params, 3, capacity).unwrap();
        assert_eq!(requests.iter().map(Request::end).max(), Some(capacity));
        assert_eq!(requests.iter().map(|r| r.lbn).min(), Some(0));
    }
}
