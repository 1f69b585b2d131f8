//! The day of snake: its published statistics, and the effect of each parameter.

use super::*;
use crate::characterize::{Characterization, Report};

/// Blocks of a G3 sled, for which the results were published.
const G3_BLOCKS: u64 = 11_998_800;

fn snake(params: &str, seed: u64) -> Vec<Request> {
    try_make("snake", params, seed, G3_BLOCKS).expect("possible")
}

fn report(requests: &[Request]) -> Report {
    let mut characterization = Characterization::default();
    for request in requests {
        characterization.record(request);
    }
    characterization.finish()
}

/// Reads that begin where the read before ended, as a share of reads.
fn sequential_reads(requests: &[Request]) -> f64 {
    let reads: Vec<&Request> = requests.iter().filter(|request| request.op == Op::Read).collect();
    let sequential = reads.windows(2).filter(|pair| pair[1].lbn == pair[0].end()).count();
    sequential as f64 / reads.len() as f64
}

/// Busy periods, at 10 times the speed, of a device that takes 0.385 ms for a request and 0.5 ms to start up after each
/// idle period: about the times of a G3 sled.
fn busy_periods(requests: &[Request]) -> f64 {
    let (mut free_ms, mut busy_periods) = (f64::NEG_INFINITY, 0.0);
    for request in requests {
        let at_ms = request.arrival.as_seconds() * 1e3 / 10.0;
        if at_ms >= free_ms {
            busy_periods += 1.0;
            free_ms = at_ms + 0.5;
        }
        free_ms += 0.385;
    }
    busy_periods
}

#[test]
fn snake_matches_published_statistics() {
    for seed in 1..=3 {
        let requests = snake("", seed);
        let report = report(&requests);
        assert_eq!(report.requests, 87_000);
        assert_near("span, s", report.span_s, 42_500.0, 0.02);
        assert_near("mean size", report.sizes.all.mean_kb.unwrap(), 8.0, 0.02);
        assert_near("metadata", report.metadata_share.unwrap(), 0.72, 0.01);
        assert_near("8 KB", share(&requests, |r| r.blocks == 16), 0.75, 0.01);
        assert_near("below 8 KB", report.sizes.all.below_8kb_share.unwrap(), 0.15, 0.03);
        assert_near("reads, a choice", report.read_share.unwrap(), 0.45, 0.05);
        assert_near("sequential reads, a choice", sequential_reads(&requests), 0.6, 0.01);
        assert!(report.end_block <= 2_726_298, "1.3 GB");
        // At 100 times the speed the number depends on the mechanics; the calibration simulates a sled for it.
        assert_near("busy periods at 10 times the speed", busy_periods(&requests), 37_645.0, 0.03);
    }
}

/// The lengths of stretches without a gap of `gap_ms` or more, in requests.
fn stretches(requests: &[Request], gap_ms: f64) -> Vec<u64> {
    let is_near = |a: &Request, b: &Request| b.arrival.since(a.arrival).as_ms() < gap_ms;
    requests.chunk_by(is_near).map(|stretch| stretch.len() as u64).collect()
}

#[test]
fn time_scale_parameters_have_documented_effect() {
    // Time scales so far apart that the length of a gap shows which one it belongs to.
    let distinct_scales = "rate_per_s = 0.1\ncopy_requests = 0\nsequential_share = 0.4";
    let snake_requests = |params: &str| snake(&format!("requests = 40000\n{params}"), 1);
    let mean_length = |params: &str, gap_ms: f64| {
        let params = format!("{distinct_scales}\ncluster_gap_ms = 500.0\n{params}");
        moments(stretches(&snake_requests(&params), gap_ms).into_iter()).0
    };
    assert_near("clump", mean_length("", 10.0), 1.5, 0.03);
    assert_near("longer clump", mean_length("clump_requests = 4.0", 10.0), 4.0, 0.03);
    assert_near("cluster", mean_length("", 6000.0), 1.5 * 19.0, 0.1);
    assert_near("shorter cluster", mean_length("cluster_clumps = 5.0", 6000.0), 1.5 * 5.0, 0.1);
    let gap_ms = |params: &str, is_counted: fn(f64) -> bool| {
        let requests = snake_requests(&format!("{distinct_scales}\n{params}"));
        moments(gaps_ns(&requests).filter(|ns| is_counted(*ns as f64 / 1e6))).0 / 1e6
    };
    assert_near("in clumps", gap_ms("clump_gap_ms = 0.01", |ms| ms < 0.1), 0.01, 0.1);
    assert_near("in clusters", gap_ms("clump_gap_ms = 0.01", |ms| (0.1..1000.0).contains(&ms)), 59.2, 0.03);
    let gap_in_clusters_ms =
        gap_ms("clump_gap_ms = 0.01\ncluster_gap_ms = 100.0", |ms| (0.1..1500.0).contains(&ms));
    assert_near("longer in clusters", gap_in_clusters_ms, 100.0, 0.03);
    for rate_per_s in [1.0, 4.0] {
        let report = report(&snake_requests(&format!("rate_per_s = {rate_per_s}")));
        assert_near("rate", report.rate_per_s.unwrap(), rate_per_s, 0.05);
    }
}

/// Runs of more than a thousand requests without a gap of a second: copies.
fn copies(requests: &[Request]) -> Vec<&[Request]> {
    let is_near = |a: &Request, b: &Request| b.arrival.since(a.arrival).as_ms() < 1000.0;
    requests.chunk_by(is_near).filter(|stretch| stretch.len() > 1000).collect()
}

#[test]
fn copies_are_long_and_sequential() {
    for seed in 1..=3 {
        let requests = snake("", seed);
        let copies = copies(&requests);
        assert_eq!(copies.len(), 4);
        for copy in copies {
            assert_near("requests", copy.len() as f64, 5_650.0, 0.02);
            let [reads, writes]: [Vec<&Request>; 2] =
                [Op::Read, Op::Write].map(|op| copy.iter().filter(|r| r.op == op).collect());
            for side in [reads, writes] {
                let continued = side.windows(2).filter(|pair| pair[0].end() == pair[1].lbn).count();
                assert!(continued + 60 > side.len(), "{continued} of {}", side.len());
            }
        }
    }
    let snake_requests = |params: &str| snake(&format!("requests = 40000\n{params}"), 1);
    let base = snake_requests("");
    assert!(copies(&snake_requests("copy_requests = 0\nsequential_share = 0.4")).is_empty());
    assert_near("requests", copies(&snake_requests("copy_requests = 2000"))[0].len() as f64, 2000.0, 0.05);
    assert!(
        copies(&snake_requests("copy_every_s = 5300.0\ncopy_requests = 2825")).len() > copies(&base).len()
    );
    let duration_s = |requests: &[Request]| {
        let copy = copies(requests)[0];
        copy[copy.len() - 1].arrival.since(copy[0].arrival).as_seconds()
    };
    assert_near("duration, s", duration_s(&base), 5_650.0 / 8.0 * 0.05, 0.15);
    assert!(duration_s(&snake_requests("copy_gap_ms = 100.0")) > 1.7 * duration_s(&base));
    assert!(duration_s(&snake_requests("copy_run = 16.0")) < 0.7 * duration_s(&base));
}

#[test]
fn other_parameters_have_documented_effect() {
    let report_of = |params: &str| report(&snake(&format!("requests = 40000\n{params}"), 1));
    let base = report_of("");
    assert_near("reads", report_of("read_share = 0.6").read_share.unwrap(), 0.6, 0.05);
    for expected in [0.4, 0.5] {
        let requests = snake(&format!("requests = 40000\nsequential_share = {expected}"), 1);
        assert_near("sequential", sequential_reads(&requests), expected, 0.04);
    }
    assert_near("size", report_of("mean_size_kb = 8.5").sizes.all.mean_kb.unwrap(), 8.5, 0.02);
    assert_near("metadata", report_of("metadata_share = 0.3").metadata_share.unwrap(), 0.3, 0.03);
    let scattered = report_of("copy_requests = 0\nsequential_share = 0.4\ndata_mb = 50.0").working_set;
    assert!(scattered.all_512_bytes <= 50 << 20);
    assert!(
        report_of("zipf_exponent = 1.2").cache_hits[0].hit_ratio.unwrap()
            > base.cache_hits[0].hit_ratio.unwrap() + 0.05
    );
    assert!(report_of("address_space_gb = 0.5").end_block <= 1 << 20);
    // In longer files, more reads continue within the file.
    let continued_runs = |file_kb: f64| {
        let requests = snake(
            &format!("requests = 40000\ncopy_requests = 0\nsequential_share = 0.4\nfile_kb = {file_kb}"),
            1,
        );
        let runs = requests.chunk_by(|a, b| a.end() == b.lbn).filter(|run| run.len() > 4);
        runs.count()
    };
    assert!(continued_runs(1024.0) > 2 * continued_runs(32.0));
}

#[test]
fn metadata_options_keep_times_and_addresses() {
    let without_metadata = snake("requests = 20000\nmetadata_share = 0.0", 1);
    let with_metadata = snake("requests = 20000", 1);
    assert!(
        without_metadata.iter().zip(&with_metadata).all(|(a, b)| *a == Request { metadata: false, ..*b })
    );
    for (bytes, words) in [(4, 1), (128, 16), (129, 17), (512, 64)] {
        let trimmed = snake(&format!("requests = 20000\ntrim_metadata = true\nmetadata_bytes = {bytes}"), 1);
        for (complete, trimmed) in with_metadata.iter().zip(&trimmed) {
            let unrequested_words = 64 - words;
            let expected = if complete.metadata {
                Request { blocks: 1, unrequested_words, ..*complete }
            } else {
                *complete
            };
            assert_eq!(*trimmed, expected);
        }
    }
}

#[test]
fn impossible_parameters_are_rejected() {
    let message = |params: &str| try_make("snake", params, 1, G3_BLOCKS).unwrap_err().to_string();
    assert!(message("mean_size_kb = 7.0").contains("no mix of the sizes has a mean of 7 KB"));
    assert!(message("sequential_share = 0.95").contains("take 0."));
    assert!(message("sequential_share = 0.1").contains("copies that are sequential"));
    assert!(message("copy_requests = 50000").contains("choose copies of fewer than 21698 requests"));
    assert!(message("rate_per_s = 40.0").contains("a lower rate"));
    assert!(message("metadata_bytes = 3").contains("out of range"));
}

#[test]
fn snake_requests_keep_largest_size() {
    let requests = make("snake", "max_size_kb = 8.0\nmean_size_kb = 6.96\naddress_space_gb = 0.325");
    let (mean_blocks, _) = moments(requests.iter().map(|request| u64::from(request.blocks)));
    assert_near("mean size, KB", mean_blocks / 2.0, 6.96, 0.01);
    assert_eq!(requests.iter().map(|request| request.blocks).max(), Some(16));
    assert!(requests.iter().all(|request| request.end() <= 681_575), "0.325 GiB");
}
