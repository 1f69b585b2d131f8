//! Stand-ins have the published statistics, and each parameter has its stated effect.

use super::*;
use crate::characterize::{Characterization, Report};

pub(super) fn characterize_generator(name: &str, params: &str, seed: u64, capacity: u64) -> Report {
    let mut characterization = Characterization::default();
    for request in &try_make(name, params, seed, capacity).expect("possible") {
        characterization.record(request);
    }
    characterization.finish()
}

pub(super) fn report(name: &str, params: &str) -> Report {
    characterize_generator(name, params, 1, G2_BLOCKS)
}

pub(super) fn dispersion(report: &Report, window: usize) -> f64 {
    report.dispersion[window].index.expect("the workload lasts long enough")
}

pub(super) fn touched_mb(report: &Report) -> f64 {
    report.working_set.all_512_bytes as f64 / f64::from(1 << 20)
}

#[test]
fn cello_matches_published_statistics() {
    for seed in 1..=3 {
        let report = characterize_generator("cello", "", seed, G2_BLOCKS);
        assert_eq!(report.requests, 118_800);
        assert_near("span, s", report.span_s, 3600.0, 0.02);
        assert_near("rate", report.rate_per_s.unwrap(), 33.0, 0.02);
        assert_near("reads", report.read_share.unwrap(), 0.287, 0.03);
        assert_near("mean size", report.sizes.all.mean_kb.unwrap(), 7.2, 0.03);
        assert_near("writes below 8 KB", report.sizes.write.below_8kb_share.unwrap(), 0.52, 0.03);
        assert_near("sequential", report.sequentiality.one_stream_share.unwrap(), 0.074, 0.03);
        assert_near("with gap", report.sequentiality.with_16kb_gap_share.unwrap(), 0.074, 0.03);
        assert_near("dispersion, a choice", dispersion(&report, 0), 20.0, 0.1);
        assert!(report.end_block <= 6_710_887, "3.2 GB");
    }
}

#[test]
fn hplajw_matches_published_statistics() {
    let cello = report("cello", "");
    for seed in 1..=3 {
        let report = characterize_generator("hplajw", "", seed, G2_BLOCKS);
        assert_eq!(report.requests, 75_240);
        assert_near("span, s", report.span_s, 3600.0, 0.02);
        assert_near("rate", report.rate_per_s.unwrap(), 20.9, 0.02);
        assert_near("reads", report.read_share.unwrap(), 0.603, 0.03);
        assert_near("mean size", report.sizes.all.mean_kb.unwrap(), 7.6, 0.03);
        assert_near("sequential", report.sequentiality.one_stream_share.unwrap(), 0.143, 0.03);
        assert_near("with gap", report.sequentiality.with_16kb_gap_share.unwrap(), 0.143, 0.03);
        // According to Hong 2006, hplajw is highly sequential and burstier than cello.
        assert!(report.sequentiality.streams_32_share.unwrap() > 0.5, "{:?}", report.sequentiality);
        assert!((0..2).all(|window| dispersion(&report, window) > 1.1 * dispersion(&cello, window)));
        assert!(report.interarrival_ms.scv.unwrap() > 10.0 * cello.interarrival_ms.scv.unwrap());
        assert_near("data of ajw, MiB", touched_mb(&report), 28.7, 0.15);
        assert!(report.end_block <= 713_032, "0.34 GB");
    }
}

/// The two hours of Wang 2005.
const HPLAJW_2H: &str =
    "requests = 308788\nrate_per_s = 42.9\nnew_write_share = 0.0505\naddress_space_gb = 3.2";

#[test]
fn longer_traces_match_published_footprint() {
    let cello = report("cello", "requests = 1088407\nrate_per_s = 25.2");
    assert_near("span of cello, h", cello.span_s / 3600.0, 12.0, 0.01);
    assert_near("cello, MB", touched_mb(&cello), 775.0, 0.03);
    let hplajw = report("hplajw", HPLAJW_2H);
    assert_near("span of hplajw, h", hplajw.span_s / 3600.0, 2.0, 0.01);
    assert_near("hplajw, MB", touched_mb(&hplajw), 376.0, 0.03);
}

#[test]
fn hplajw_keeps_its_statistics_at_every_run_share() {
    for run_share in [0.3, 0.5, 0.8] {
        for interleave_kb in [0, 8, 16] {
            let params = format!("run_share = {run_share}\ninterleave_kb = {interleave_kb}");
            let requests = make("hplajw", &params);
            let gap = interleave_kb * 2;
            let continued = requests.windows(2).filter(|pair| pair[1].lbn == pair[0].end() + gap).count();
            assert_near(&params, continued as f64 / requests.len() as f64, 0.143, 0.03);
            let report = report("hplajw", &params);
            assert_near("mean size", report.sizes.all.mean_kb.unwrap(), 7.6, 0.03);
            let sequentiality = report.sequentiality;
            match interleave_kb {
                0 => assert_near("in files", sequentiality.streams_32_share.unwrap(), run_share * 0.85, 0.1),
                8 => assert!(sequentiality.with_16kb_gap_share.unwrap() < 0.01),
                _ => assert_near("with gap", sequentiality.with_16kb_gap_share.unwrap(), 0.143, 0.03),
            }
        }
    }
}

#[test]
fn cello_parameters_have_documented_effect() {
    let short = |params: &str| format!("requests = 40000\n{params}");
    let report_of = |params: &str| report("cello", &short(params));
    let base = report_of("");
    assert_near("rate", report_of("rate_per_s = 10.0").rate_per_s.unwrap(), 10.0, 0.02);
    let regular = report_of("dispersion_1s = 5.0\ndispersion_10s = 12.0");
    assert_near("dispersion at 1 s", dispersion(&regular, 0), 5.0, 0.1);
    assert_near("dispersion at 10 s", dispersion(&regular, 1), 12.0, 0.2);
    let poisson = report_of("dispersion_1s = 1.0\ndispersion_10s = 1.0");
    assert_near("Poisson", dispersion(&poisson, 0), 1.0, 0.1);
    assert_near("reads", report_of("read_share = 0.5").read_share.unwrap(), 0.5, 0.03);
    assert_near("size", report_of("mean_size_kb = 8.0").sizes.all.mean_kb.unwrap(), 8.0, 0.03);
    assert_near(
        "small writes",
        report_of("small_write_share = 0.4").sizes.write.below_8kb_share.unwrap(),
        0.4,
        0.03,
    );
    let sequential = report_of("sequential_share = 0.3").sequentiality.one_stream_share.unwrap();
    assert_near("sequential", sequential, 0.3, 0.03);
    assert!(report_of("burst_share = 0.05").dispersion[0].busiest > base.dispersion[0].busiest * 5 / 4);
    assert_reuse_parameters("cello");
}

/// Share of requests that read a place which one of the last 100 requests used.
fn repeated_read_share(requests: &[Request]) -> f64 {
    let is_repeated = |index: &usize| {
        let earlier = &requests[index.saturating_sub(100)..*index];
        requests[*index].op == Op::Read && earlier.iter().any(|before| before.lbn == requests[*index].lbn)
    };
    (0..requests.len()).filter(is_repeated).count() as f64 / requests.len() as f64
}

/// Asserts the effect of the parameters of reuse, which several generators share.
fn assert_reuse_parameters(name: &str) {
    let short = |params: &str| format!("requests = 40000\n{params}");
    let report_of = |params: &str| report(name, &short(params));
    let touched = |params: &str| touched_mb(&report_of(&format!("host_cache_requests = 0\n{params}")));
    assert!(touched("new_write_share = 0.1") > 1.5 * touched(""));
    assert!(touched("new_write_share = 0.0") < 2.0);
    assert!(report_of("address_space_gb = 0.1").end_block <= 209_716);
    let written_reads = |params: &str| {
        let report = report_of(&format!("host_cache_requests = 0\n{params}"));
        report.written_reuse.read_share.unwrap()
    };
    let default_share = written_reads("");
    assert!(written_reads("write_after_read_share = 0.0") < 0.3 * default_share);
    assert!(written_reads("read_after_write_share = 0.8") > default_share + 0.1);
    assert!(written_reads("new_read_ratio = 8.0") < default_share);
    let repeated = |params: &str| repeated_read_share(&make(name, &short(params)));
    assert!(repeated("host_cache_requests = 2000") < 0.5 * repeated("host_cache_requests = 0"));
}

#[test]
fn hplajw_parameters_have_documented_effect() {
    let report_of = |params: &str| report("hplajw", &format!("requests = 40000\n{params}"));
    let base = report_of("");
    assert_near("rate", report_of("rate_per_s = 2.0").rate_per_s.unwrap(), 2.0, 0.03);
    assert_near("reads", report_of("read_share = 0.3").read_share.unwrap(), 0.3, 0.05);
    assert_near("size", report_of("mean_size_kb = 8.5").sizes.all.mean_kb.unwrap(), 8.5, 0.03);
    let sequential = report_of("sequential_share = 0.3").sequentiality.one_stream_share.unwrap();
    assert_near("sequential", sequential, 0.3, 0.03);
    // There are as many pauses as bursts: all requests over the requests of a burst.
    let pauses = |params: &str| {
        let requests = make("hplajw", &format!("requests = 40000\n{params}"));
        gaps_ns(&requests).filter(|gap| *gap > 300_000_000).count() as f64
    };
    assert_near("bursts", pauses(""), 40_000.0 / 60.0, 0.15);
    assert_near("longer bursts", pauses("burst_requests = 200.0"), 200.0, 0.25);
    assert!(report_of("busy_share = 0.6").dispersion[0].busiest < base.dispersion[0].busiest * 2 / 3);
    assert_reuse_parameters("hplajw");
    let in_files = |params: &str| report_of(params).sequentiality.streams_32_share.unwrap();
    assert!(in_files("mean_file_kb = 16.0") < in_files("mean_file_kb = 256.0") - 0.1);
}

#[test]
fn small_devices_are_used_within_capacity() {
    for name in ["cello", "hplajw", "snake", "tpcd", "tpcc"] {
        for capacity in [100_000, 1_000_000] {
            let requests = try_make(name, "requests = 50000\naddress_space_gb = 3.2", 1, capacity).unwrap();
            let ends = requests.iter().map(Request::end);
            assert!(ends.max().unwrap() > capacity * 9 / 10, "{name}");
            assert!(requests.iter().any(|r| r.lbn < capacity / 10), "{name}");
        }
    }
}

#[test]
fn impossible_parameters_are_rejected() {
    let message = |name: &str, params: &str| try_make(name, params, 1, G2_BLOCKS).unwrap_err().to_string();
    let message_text = message("cello", "dispersion_1s = 1000.0\ndispersion_10s = 3000.0");
    assert!(
        message_text.contains("a dispersion of 1000 is more than bursts of")
            && message_text.contains("take at most")
    );
    assert!(message("cello", "mean_size_kb = 20.0").contains("no mix of the sizes has a mean of 20 KB"));
    assert!(message("cello", "dispersion_10s = 300.0").contains("take workload.dispersion_10s from"));
    assert!(message("cello", "sequential_share = 0.7").contains("out of range"));
    assert!(message("hplajw", "mean_size_kb = 5.0").contains("no mix of the sizes has a mean of 5 KB"));
    assert!(message("hplajw", "sequential_share = 0.6").contains("a larger workload.run_share"));
    assert!(message("hplajw", "mean_file_kb = 8.0").contains("workload.mean_file_kb"));
}

#[test]
fn random_streams_are_independent() {
    for name in ["cello", "hplajw", "snake", "tpcc"] {
        let base = make(name, "requests = 5000");
        let rate = if name == "snake" { 4.0 } else { 10.0 };
        let changed_places = if name == "snake" { "zipf_exponent = 1.1" } else { "new_write_share = 0.2" };
        let slower = make(name, &format!("requests = 5000\nrate_per_s = {rate}"));
        assert!(base.iter().zip(&slower).any(|(a, b)| a.arrival != b.arrival));
        if name == "cello" {
            assert!(
                base.iter().zip(&slower).all(|(a, b)| (a.lbn, a.blocks, a.op) == (b.lbn, b.blocks, b.op))
            );
        }
        let skewed = make(name, &format!("requests = 5000\n{changed_places}"));
        assert!(base.iter().zip(&skewed).all(|(a, b)| a.arrival == b.arrival));
        assert!(base.iter().zip(&skewed).any(|(a, b)| a.lbn != b.lbn));
    }
}
