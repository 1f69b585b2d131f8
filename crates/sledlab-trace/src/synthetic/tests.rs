mod databases;
mod placement;
mod short_runs;
mod small;
mod snake;
mod stand_ins;
mod volume;

use super::*;
use proptest::prelude::*;
use sledlab_core::Op;
use sledlab_core::stats::Moments;

const G2_BLOCKS: u64 = 6_750_000;

fn try_make(name: &str, params: &str, seed: u64, capacity: u64) -> Result<Vec<Request>> {
    let params = toml::from_str(params).expect("test parameters are valid TOML");
    let mut source = build(name, &params, seed, capacity)?;
    let mut requests = Vec::new();
    while source.fill(&mut requests)? > 0 {}
    assert_eq!(source.fill(&mut requests)?, 0);
    assert_eq!(source.progress(), Some(1.0));
    Ok(requests)
}

fn make(name: &str, params: &str) -> Vec<Request> {
    try_make(name, params, 1, G2_BLOCKS).expect("G2 is large enough")
}

/// Mean and squared coefficient of variation.
fn moments(values: impl Iterator<Item = u64>) -> (f64, f64) {
    let mut moments = Moments::default();
    values.for_each(|value| moments.record(value));
    (moments.mean(), moments.scv())
}

fn gaps_ns(requests: &[Request]) -> impl Iterator<Item = u64> {
    requests.windows(2).map(|pair| pair[1].arrival.since(pair[0].arrival).as_ns())
}

fn share(requests: &[Request], matches: impl Fn(&Request) -> bool) -> f64 {
    requests.iter().filter(|request| matches(request)).count() as f64 / requests.len() as f64
}

fn assert_near(what: &str, value: f64, expected: f64, tolerance: f64) {
    assert!(
        (value / expected - 1.0).abs() <= tolerance,
        "{what}: {value}, expected {expected} within {tolerance}"
    );
}

#[test]
fn invalid_parameters_are_rejected() {
    let message = |name: &str, params: &str, capacity: u64| {
        try_make(name, params, 1, capacity).map(|requests| requests.len()).unwrap_err().to_string()
    };
    assert!(message("unifrom", "", 1).contains("did you mean `uniform`?"));
    assert!(
        message("uniform", "mean_interarival_ms = 2", 1)
            .contains("did you mean `workload.mean_interarrival_ms`?")
    );
    assert!(message("uniform", "blocks = 0", 1).contains("workload.blocks = 0 blocks is out of range"));
    assert!(message("uniform", "read_share = 1.5", 1).contains("out of range"));
    assert!(message("uniform", "mean_interarrival_ms = nan", 1).contains("expected a number"));
    assert!(message("uniform", "", 0).contains("a device without blocks"));
    assert!(message("directed-merge", "", 20).contains("does not fit a device of 20 blocks"));
    assert!(message("directed-same-position", "", 2699).contains("do not fit a device of 2699 blocks"));
    assert!(message("directed-same-position", "blocks = 21", G2_BLOCKS).contains("does not fit a row of 20"));
}

#[test]
fn random_streams_are_independent() {
    let base = make("exponential", "requests = 500");
    let larger = make("exponential", "requests = 500\nmean_size_kb = 64");
    assert!(base.iter().zip(&larger).all(|(a, b)| a.arrival == b.arrival && a.op == b.op));
    assert!(base.iter().zip(&larger).any(|(a, b)| a.blocks != b.blocks));
    let slower = make("exponential", "requests = 500\nmean_interarrival_ms = 30.0");
    assert!(base.iter().zip(&slower).all(|(a, b)| a.lbn == b.lbn && a.blocks == b.blocks));
}

#[test]
fn exponential_moments_match_parameters() {
    // Enough requests for the sampling error of an SCV to be far below 1 %.
    let requests = make("exponential", "requests = 2000000");
    let (gap, gap_scv) = moments(gaps_ns(&requests));
    assert_near("mean gap", gap, 15e6, 0.01);
    assert_near("SCV of gaps", gap_scv, 1.0, 0.01);
    // Rounded up, an exponential of mean m is geometric: the mean is 1 / p with p = 1 - exp(-1/m), the variance (1 - p)
    // / p^2. Both agree with the mean of 4 KB before rounding.
    let p = 1.0 - (-1.0_f64 / 8.0).exp();
    let (size, size_scv) = moments(requests.iter().map(|r| u64::from(r.blocks)));
    assert_near("mean size", size, 1.0 / p, 0.01);
    assert_near("SCV of sizes", size_scv, 1.0 - p, 0.01);
    assert_near("mean size before rounding", -1.0 / (-1.0 / size).ln_1p(), 8.0, 0.01);
    assert_near("read share", share(&requests, |r| r.op == Op::Read), 0.5, 0.01);
    let (place, place_scv) = moments(requests.iter().map(|r| r.lbn));
    assert_near("mean place", place, G2_BLOCKS as f64 / 2.0, 0.01);
    assert_near("SCV of places", place_scv, 1.0 / 3.0, 0.01);
}

#[test]
fn exponential_has_the_defaults_of_the_experiments() {
    let requests = make("exponential", "");
    assert_eq!(requests.len(), 21_000, "1,000 to warm up and 20,000 to count");
    assert_near("mean gap", moments(gaps_ns(&requests)).0, 15e6, 0.03);
}

#[test]
fn mems_check_moments_equal_reference() {
    let requests = make("mems-check", "requests = 200000");
    // The reference simulator's dump of this workload for G2 has 9,999 requests, so its own sampling error is about 1 %
    // (mean gap 50.08 ms, 12.656 blocks, 66.9 % reads).
    let (gap, gap_scv) = moments(gaps_ns(&requests));
    assert_near("mean gap", gap, 50.076_870e6, 0.02);
    assert_near("SCV of gaps", gap_scv, 1.036, 0.05);
    let (size, _) = moments(requests.iter().map(|r| u64::from(r.blocks)));
    assert_near("mean size", size, 12.655_666, 0.02);
    assert_near("smallest size", share(&requests, |r| r.blocks == 8), 0.634_2, 0.02);
    assert_near("next size", share(&requests, |r| r.blocks == 16), 0.230_2, 0.03);
    assert_near("read share", share(&requests, |r| r.op == Op::Read), 0.669_2, 0.03);
    let (place, _) = moments(requests.iter().map(|r| r.lbn));
    assert_near("mean place", place, 3_373_045.8, 0.01);
    assert!(requests.iter().all(|r| r.lbn % 8 == 0 && r.blocks % 8 == 0 && r.end() <= G2_BLOCKS));
}

#[test]
fn disk_check_matches_its_mix() {
    let requests = make("disk-check", "requests = 200000");
    let (gap, gap_scv) = moments(gaps_ns(&requests));
    assert_near("mean gap", gap, 11e6, 0.01);
    assert_near("SCV of gaps", gap_scv, 1.0 / 3.0, 0.02);
    let (size, _) = moments(requests.iter().map(|r| u64::from(r.blocks)));
    assert_near("mean size", size, 1.0 / (1.0 - (-1.0_f64 / 16.0).exp()), 0.01);
    let pairs = |matches: &dyn Fn(&Request, &Request) -> bool| {
        requests.windows(2).filter(|pair| matches(&pair[0], &pair[1])).count() as f64 / requests.len() as f64
    };
    assert_near("sequential", pairs(&|a, b| a.end() == b.lbn), 0.3, 0.02);
    let near = |a: &Request, b: &Request| a.end() != b.lbn && a.lbn.abs_diff(b.lbn) <= 10_000;
    // 68.3 % of a normal distance lie within one standard deviation.
    assert_near("local", pairs(&near), 0.3 * 0.683, 0.03);
    assert_near(
        "sequential reads",
        pairs(&|a, b| a.end() == b.lbn && a.op == Op::Read && b.op == Op::Read),
        0.15,
        0.03,
    );
}

#[test]
fn uniform_covers_the_device_evenly() {
    let requests = make("uniform", "requests = 200000\nblocks = 8\nalign_blocks = 8\nread_share = 0.8");
    let (gap, gap_scv) = moments(gaps_ns(&requests));
    assert_near("mean gap", gap, 1e6, 0.01);
    assert_near("SCV of gaps", gap_scv, 1.0, 0.02);
    assert_near("read share", share(&requests, |r| r.op == Op::Read), 0.8, 0.01);
    for tenth in 0..10 {
        let is_in_tenth = |r: &Request| r.lbn * 10 / G2_BLOCKS == tenth;
        assert_near("a tenth of the device", share(&requests, is_in_tenth), 0.1, 0.03);
    }
    assert!(requests.iter().all(|r| r.lbn % 8 == 0 && r.blocks == 8));
}

#[test]
fn starvation_has_one_far_request() {
    let far_arrivals = |requests: &[Request]| {
        requests.iter().filter(|r| r.lbn == G2_BLOCKS - 8).map(|r| r.arrival.as_ns()).collect::<Vec<_>>()
    };
    let requests = make("directed-starvation", "requests = 3000");
    assert_eq!(far_arrivals(&requests), [10_000_000]);
    assert!(requests.iter().filter(|r| r.lbn != G2_BLOCKS - 8).all(|r| r.end() <= 20 * 2700));
    let repeated = make("directed-starvation", "requests = 3000\nfar_every_ms = 100.0");
    assert_eq!(far_arrivals(&repeated)[..3], [10_000_000, 110_000_000, 210_000_000]);
}

#[test]
fn stream_is_sequential_and_wraps_around() {
    let requests =
        try_make("directed-stream", "requests = 3000\nrandom_interarrival_ms = 2.0", 1, 1001).unwrap();
    // Stream requests arrive on a grid of 0.2 ms; a random one falls on it once in 200,000.
    let stream: Vec<u64> =
        requests.iter().filter(|r| r.arrival.as_ns() % 200_000 == 0).map(|r| r.lbn).collect();
    assert!(stream.iter().enumerate().all(|(i, lbn)| *lbn == (i as u64 % 125) * 8));
    assert_near("random requests", 1.0 - stream.len() as f64 / 3000.0, 1.0 / 11.0, 0.2);
}

#[test]
fn pairs_share_a_position_under_different_groups() {
    let requests = make("directed-same-position", "requests = 4000");
    for pair in requests.chunks_exact(2) {
        assert_eq!(pair[0].arrival, pair[1].arrival);
        assert_eq!(pair[0].lbn / 2700, pair[1].lbn / 2700);
        assert_eq!(pair[0].lbn % 540, pair[1].lbn % 540);
        assert_ne!(pair[0].lbn, pair[1].lbn);
        assert!(pair[0].lbn % 20 + 8 <= 20);
    }
}

#[test]
fn boundaries_are_crossed_cyclically() {
    let requests = try_make("directed-boundaries", "requests = 6000", 1, 2 * G2_BLOCKS).unwrap();
    for (i, request) in requests.iter().enumerate() {
        let crosses = |unit: u64| request.lbn / unit != (request.end() - 1) / unit;
        match i % 6 {
            0 => assert!(crosses(20)),
            1 => assert!(crosses(540)),
            2 => assert!(crosses(2700)),
            3 => assert!(crosses(G2_BLOCKS)),
            4 => assert_eq!(request.lbn, 0),
            _ => assert_eq!(request.end(), 2 * G2_BLOCKS),
        }
    }
}

#[test]
fn merged_reads_reach_or_just_miss_limit() {
    let requests = make("directed-merge", "requests = 2000");
    let bursts: Vec<&[Request]> = requests.chunk_by(|a, b| a.arrival == b.arrival).collect();
    for (i, burst) in bursts[..bursts.len() - 1].iter().enumerate() {
        let adjacent = &burst[1..];
        assert_eq!(adjacent[0].lbn % 20, 0);
        assert!(adjacent.windows(2).all(|pair| pair[0].end() == pair[1].lbn));
        assert_eq!(adjacent.iter().map(|r| r.blocks).sum::<u32>() as usize, 19 + i % 3);
    }
}

proptest! {
    #[test]
    fn any_request_size_is_accepted(
        blocks in 1_u64..1_000_000_000,
        align in 1_u64..1_000_000_000,
        capacity in 1_u64..10_000_000_000,
    ) {
        let params = format!("requests = 50\nblocks = {blocks}\nalign_blocks = {align}");
        let requests = try_make("uniform", &params, 1, capacity).unwrap();
        prop_assert!(requests.iter().all(|r| r.end() <= capacity && r.lbn % align == 0));
        for name in ["mems-check", "exponential", "disk-check"] {
            let key = if name == "mems-check" { "mean_blocks" } else { "mean_size_kb" };
            let params = format!("requests = 50\n{key} = {}", blocks / 1000 + 1);
            let requests = try_make(name, &params, 1, capacity).unwrap();
            prop_assert!(requests.iter().all(|r| r.blocks > 0 && r.end() <= capacity));
        }
    }
}
