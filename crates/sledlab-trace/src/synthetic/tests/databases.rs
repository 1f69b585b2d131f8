//! The databases of Wang 2005: their published statistics, and the effect of each parameter.

use std::collections::HashMap;

use super::stand_ins::{characterize_generator, dispersion, report, touched_mb};
use super::*;
use crate::characterize::Report;

/// Hit ratio of a cache with least-recently-used replacement.
fn hit_ratio(report: &Report, cache_mb: u64) -> f64 {
    report
        .cache_hits
        .iter()
        .find(|row| row.cache_mb == cache_mb)
        .expect("a size that is reported")
        .hit_ratio
        .unwrap()
}

/// Asserts that each of `changes` makes other requests than the defaults do.
fn assert_changes(name: &str, changes: &[&str]) {
    let make_requests = |params: &str| make(name, &format!("requests = 20000\n{params}"));
    let base = make_requests("");
    for change in changes {
        assert!(make_requests(change) != base, "{name}: {change}");
    }
    // All parameters except the number of requests.
    assert_eq!((LIST.find(name).unwrap().specs)().len() - 1, changes.len());
}

#[test]
fn tpcd_matches_published_statistics() {
    for seed in 1..=3 {
        let report = characterize_generator("tpcd", "", seed, G2_BLOCKS);
        assert_eq!(report.requests, 238_971);
        assert_near("span, h", report.span_s / 3600.0, 7.0, 0.02);
        assert_near("rate", report.rate_per_s.unwrap(), 9.48, 0.02);
        assert_near("reads", report.read_share.unwrap(), 1.0, 0.0);
        assert_near("mean size", report.sizes.all.mean_kb.unwrap(), 39.9, 0.01);
        assert_near("sequential", report.sequentiality.one_stream_share.unwrap(), 0.727, 0.01);
        assert_near("with gap", report.sequentiality.with_16kb_gap_share.unwrap(), 0.727, 0.01);
        assert_near("data, MB", touched_mb(&report), 1242.0, 0.001);
        assert!(report.end_block <= 6_710_887, "3.2 GB");
        // Nearly all other data are read before a page is read again: no cache of this size helps, as stated in the
        // paper.
        assert!(hit_ratio(&report, 512) < 0.02);
    }
}

#[test]
fn tpcc_matches_published_statistics() {
    for seed in 1..=3 {
        let report = characterize_generator("tpcc", "", seed, G2_BLOCKS);
        assert_eq!(report.requests, 1_246_763);
        assert_near("span, h", report.span_s / 3600.0, 2.5, 0.02);
        assert_near("rate", report.rate_per_s.unwrap(), 138.5, 0.02);
        assert_near("reads", report.read_share.unwrap(), 0.521, 0.01);
        assert_near("mean size", report.sizes.all.mean_kb.unwrap(), 8.0, 0.0);
        assert_near("data, MB", touched_mb(&report), 1006.0, 0.02);
        assert!(report.sequentiality.with_16kb_gap_share.unwrap() < 0.000_5);
        assert_near("dispersion, a choice", dispersion(&report, 0), 4.0, 0.05);
        assert!(report.end_block <= 6_710_887, "3.2 GB");
    }
}

/// Think times of tpcd: all gaps too long for a query, less the wait by which they are recognized.
fn think_times_s(requests: &[Request]) -> Vec<f64> {
    let gaps = gaps_ns(requests).map(|ns| ns as f64 / 1e9);
    gaps.filter(|gap_s| *gap_s > 1.0).map(|gap_s| gap_s - 1.0).collect()
}

#[test]
fn tpcd_queries_are_separated_by_think_time() {
    for (params, think_s) in [("", 30.0), ("think_s = 10.0\nquery_gap_ms = 50.0", 10.0)] {
        let times = think_times_s(&make("tpcd", params));
        assert_near("think time", times.iter().sum::<f64>() / times.len() as f64, think_s, 0.1);
    }
    let gaps = make("tpcd", "query_gap_ms = 50.0");
    let (gap_ns_in_query, _) = moments(gaps_ns(&gaps).filter(|ns| *ns < 1_000_000_000));
    assert_near("gap within queries", gap_ns_in_query, 50e6, 0.03);
}

#[test]
fn tpcd_tables_are_read_sequentially_and_interleaved() {
    let requests = make("tpcd", "probe_share = 0.0");
    let mut reads: HashMap<u64, u64> = HashMap::new();
    for request in &requests {
        for page in request.lbn / 16..request.end() / 16 {
            *reads.entry(page).or_default() += 1;
        }
    }
    // Seven and a half passes: no page lags behind another by more reads than the concurrent scans explain.
    let (minimum, maximum) = (reads.values().min().unwrap(), reads.values().max().unwrap());
    assert!(*minimum >= 6 && *maximum <= *minimum + 2, "{minimum} to {maximum}");
    // Every table is contiguous: a page that no read page precedes is the beginning of a table.
    let tables = reads.keys().filter(|page| !reads.contains_key(&(*page - 1))).count();
    assert!(tables <= 12, "{tables}");
}

#[test]
fn tpcd_parameters_have_documented_effect() {
    assert_changes(
        "tpcd",
        &[
            "rate_per_s = 5.0",
            "think_s = 20.0",
            "query_gap_ms = 10.0",
            "mean_size_kb = 30.0",
            "sequential_share = 0.5",
            "probe_share = 0.1",
            "streams = 4",
            "tables = 11",
            "data_mb = 1000.0",
            "address_space_gb = 2.0",
        ],
    );
    let report_of = |params: &str| report("tpcd", &format!("requests = 60000\n{params}"));
    assert_near("rate", report_of("rate_per_s = 5.0").rate_per_s.unwrap(), 5.0, 0.03);
    assert_near("size", report_of("mean_size_kb = 20.0").sizes.all.mean_kb.unwrap(), 20.0, 0.03);
    for share in [0.0, 0.3, 0.9] {
        let sequential =
            report_of(&format!("sequential_share = {share}")).sequentiality.one_stream_share.unwrap();
        assert!((sequential - share).abs() < 0.01, "{sequential}");
    }
    // Scans continue one of the streams unless many probes in a row made the characterization forget them.
    let unsequential_share = |params: &str| 1.0 - report_of(params).sequentiality.streams_32_share.unwrap();
    assert_near(
        "probes",
        unsequential_share("probe_share = 0.2") - unsequential_share("probe_share = 0.05"),
        0.15,
        0.15,
    );
    assert_near(
        "sequential",
        report_of("probe_share = 0.2").sequentiality.one_stream_share.unwrap(),
        0.727,
        0.01,
    );
    assert_near("data, MB", touched_mb(&report_of("data_mb = 50.0")), 50.0, 0.01);
    assert!(hit_ratio(&report_of("data_mb = 50.0"), 64) > 0.95);
    assert!(report_of("address_space_gb = 1.5").end_block <= 3 << 20);
    // Before the end of any table is reached, as many places are begun as there are streams.
    let started_streams = |params: &str| {
        let requests = make("tpcd", &format!("requests = 400\nprobe_share = 0.0\n{params}"));
        requests.iter().filter(|request| !requests.iter().any(|r| r.end() == request.lbn)).count()
    };
    assert_eq!((started_streams("streams = 3"), started_streams("streams = 10")), (3, 10));
}

#[test]
fn tpcc_parameters_have_documented_effect() {
    assert_changes(
        "tpcc",
        &[
            "rate_per_s = 100.0",
            "dispersion_1s = 3.0",
            "dispersion_10s = 9.0",
            "burst_share = 0.2",
            "read_share = 0.6",
            "new_write_share = 0.06",
            "new_read_ratio = 3.0",
            "write_after_read_share = 0.5",
            "read_after_write_share = 0.1",
            "host_cache_requests = 1000",
            "address_space_gb = 3.0",
        ],
    );
    let report_of = |params: &str| report("tpcc", &format!("requests = 200000\n{params}"));
    let base = report_of("");
    assert_near("rate", report_of("rate_per_s = 50.0").rate_per_s.unwrap(), 50.0, 0.02);
    let burstier = report_of("dispersion_1s = 8.0\ndispersion_10s = 24.0");
    assert_near("dispersion", dispersion(&burstier, 0), 8.0, 0.1);
    let poisson = report_of("dispersion_1s = 1.0\ndispersion_10s = 1.0");
    assert_near("Poisson", dispersion(&poisson, 0), 1.0, 0.1);
    // Bursts of the same dispersion have 243 instead of 188 requests per second if they last a quarter of the time.
    assert!(report_of("burst_share = 0.05").dispersion[0].busiest > base.dispersion[0].busiest * 8 / 7);
    for share in [0.2, 0.8, 1.0] {
        assert_near("reads", report_of(&format!("read_share = {share}")).read_share.unwrap(), share, 0.01);
    }
    assert!(touched_mb(&report_of("new_write_share = 0.1")) > 1.5 * touched_mb(&base));
    // The buffer pool holds 49 MB of pages that are neither read nor written again.
    assert!(hit_ratio(&report_of("host_cache_requests = 100"), 64) > hit_ratio(&base, 64) + 0.1);
    assert!(report_of("address_space_gb = 2.5").end_block <= 5 << 20);
    assert!(make("tpcc", "requests = 20000").iter().all(|r| r.lbn % 16 == 0 && r.blocks == 16));
}

#[test]
fn impossible_database_parameters_are_rejected() {
    let message = |name: &str, params: &str| try_make(name, params, 1, G2_BLOCKS).unwrap_err().to_string();
    assert!(message("tpcd", "mean_size_kb = 63.0").contains("no mix of the sizes has a mean of 63 KB"));
    assert!(message("tpcd", "sequential_share = 0.96").contains("take less than 0.95"));
    assert!(message("tpcd", "rate_per_s = 60.0").contains("take less than 16.667 ms"));
    assert!(message("tpcd", "think_s = 0.1").contains("queries would not have a turn of 4.3 requests"));
    assert!(message("tpcc", "dispersion_1s = 1000.0\ndispersion_10s = 3000.0").contains("take at most"));
    assert!(message("tpcc", "read_share = 1.4").contains("out of range"));
}

#[test]
fn tpcd_timing_does_not_change_addresses() {
    let base = make("tpcd", "requests = 5000");
    for params in ["rate_per_s = 20.0", "think_s = 60.0", "query_gap_ms = 5.0"] {
        let other = make("tpcd", &format!("requests = 5000\n{params}"));
        assert!(base.iter().zip(&other).all(|(a, b)| (a.lbn, a.blocks) == (b.lbn, b.blocks)), "{params}");
        assert!(base.iter().zip(&other).any(|(a, b)| a.arrival != b.arrival), "{params}");
    }
}
