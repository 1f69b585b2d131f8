//! Statistics published with traces, to the digits printed.

use std::path::PathBuf;

use super::super::*;
use crate::OpenOptions;

/// Returns a file of reference data next to the workspace, or `None` after printing that it is absent.
fn reference_file(variable: &str, folder: &str, file: &str) -> Option<PathBuf> {
    let default = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(folder);
    let path = std::env::var_os(variable).map_or_else(default, PathBuf::from).join(file);
    let existing = path.exists().then_some(path);
    if existing.is_none() {
        eprintln!("skipped: no {file}; set {variable} to the folder that holds it");
    }
    existing
}

/// A recorded trace: one of the samples, or one too large to be a sample.
fn recorded_trace(name: &str) -> Option<PathBuf> {
    let file = format!("{name}.csv.zst");
    let samples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../sample/traces");
    Some(samples.join(&file))
        .filter(|path| path.exists())
        .or_else(|| reference_file("SLEDLAB_TRACES", "traces", &file))
}

fn characterize_file(path: PathBuf, options: &CharacterOptions) -> Report {
    let mut trace = crate::open(path, OpenOptions::default()).unwrap();
    characterize(&mut trace, options).unwrap()
}

/// Asserts that `found`, rounded to the decimals of `printed`, reads the same.
fn assert_prints(what: &str, value: f64, printed: &str) {
    let decimals = printed.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    assert_eq!(format!("{value:.decimals$}"), printed, "{what}: {value}");
}

/// The two tables of statistics published with the recorded traces, a line for each trace.
const RECORDED_STATISTICS: &str = "
oltp-bank-a    160625 52483 78939 0 29203 420.0 39.9 8.3 8 13.4 8 0.45 1.08      354 766 799 3.25 0.2 4.1 313 6.7 0.29 100.0
oltp-orders-a  279203 132922 134650 0 11631 420.0 49.7 9.0 8 12.3 8 1.22 1.70    395 857 966 3.25 0.4 1.3 637 30.0 0.49 100.0
dss-a          300000 296150 3798 0 52 194.0 98.7 101.7 128 306.4 408 30.84 1.19 2039 678 2043 4.72 49.3 92.7 1546 2.3 0.43 100.0
mail-a         156527 25171 90790 0 40566 480.0 21.7 9.6 4 19.4 4 0.25 1.80      203 286 411 3.15 17.8 52.0 242 36.4 0.84 100.0
desktop-a      105472 55967 29036 16250 4219 805.7 65.8 19.7 4 95.2 16 1.13 2.83 651 1144 1212 5.24 24.5 40.8 106 45.3 0.60 100.0
kv-a           211681 77841 84675 0 49165 420.0 47.9 16.1 4 6.6 4 1.28 0.58      504 170 548 1.35 8.6 22.2 387 7.1 0.73 91.2
";

/// Requests per sixth of the time; the commonest requests as operation, size in KB and share in percent.
const RECORDED_COMMON_SIZES: &str = "
oltp-bank-a   19728 22671 22166 22611 22281 21965  R 8 39, W 8 39, W 24 16, W 16 4, W 40 1, W 32 0
oltp-orders-a 51381 46007 41258 42165 44460 42301  W 8 46, R 8 44, R 4 2, R 16 2, W 16 1, R 24 1
dss-a         45437 55019 53746 35129 43895 66722  R 128 74, R 8 12, R 32 4, R 16 3, R 64 3, R 4 1
mail-a        18019 24179 16703 14382 20438 22240  W 4 45, R 4 14, W 8 13, R 8 3, W 44 3, W 52 2
desktop-a     10628 12324 13488 13520 12302 22741  R 4 42, W 4 14, R 8 7, R 16 3, R 12 3, W 512 3
kv-a          26990 28136 26869 28530 25748 26243  R 4 36, W 4 33, W 12 6, W 3 4, R 16 3, W 2 3
";

#[test]
fn recorded_traces_have_their_published_statistics() {
    for line in RECORDED_STATISTICS.lines().filter(|line| !line.is_empty()) {
        let (name, printed) = line.split_once(' ').unwrap();
        let Some(path) = recorded_trace(name) else { continue };
        let report = characterize_file(path, &CharacterOptions::default());
        let (sizes, working_set) = (&report.sizes, &report.working_set);
        let count = |n: u64| n as f64;
        let values = [
            count(report.requests),
            count(report.reads),
            count(report.writes),
            count(report.trims),
            count(report.flushes),
            report.span_s,
            100.0 * report.read_share.unwrap(),
            sizes.read.mean_kb.unwrap(),
            sizes.read.p50_kb.unwrap(),
            sizes.write.mean_kb.unwrap(),
            sizes.write.p50_kb.unwrap(),
            count(report.bytes_read) / 1e9,
            count(report.bytes_written) / 1e9,
            count(working_set.read_4k_bytes) / 1e6,
            count(working_set.written_4k_bytes) / 1e6,
            count(working_set.all_4k_bytes) / 1e6,
            count(report.end_block * BLOCK_BYTES) / 1e9,
            100.0 * report.sequentiality.one_stream_share.unwrap(),
            100.0 * report.sequentiality.streams_32_share.unwrap(),
            report.rate_per_s.unwrap(),
            report.interarrival_ms.scv.unwrap(),
            report.overwrite_ratio.unwrap(),
            100.0 * report.aligned_4k_share.unwrap(),
        ];
        let printed: Vec<&str> = printed.split_whitespace().collect();
        assert_eq!(printed.len(), values.len());
        for (column, (value, printed)) in values.into_iter().zip(printed).enumerate() {
            assert_prints(&format!("{name}, number {column}"), value, printed);
        }
    }
}

#[test]
fn recorded_traces_have_their_published_shape() {
    for line in RECORDED_COMMON_SIZES.lines().filter(|line| !line.is_empty()) {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap();
        let Some(path) = recorded_trace(name) else { continue };
        let report = characterize_file(path, &CharacterOptions::default());
        for count in report.requests_per_sixth {
            let printed: u64 = words.next().unwrap().parse().unwrap();
            assert!(count.abs_diff(printed) <= printed / 1000, "{name}: {:?}", report.requests_per_sixth);
        }
        let printed: Vec<&str> = words.collect();
        let common = report.sizes.commonest[..6].iter();
        let common_sizes: Vec<String> =
            common.map(|size| format!("{} {:.0} {:.0}", size.op, size.kb, 100.0 * size.share)).collect();
        assert_eq!(common_sizes.join(", "), printed.join(" "), "{name}");
    }
}

#[test]
fn seagate_validation_trace_has_its_published_statistics() {
    let Some(path) = reference_file("SLEDLAB_REFERENCE", "reference", "mems/traces/seagate_gap.txt.gz")
    else {
        return;
    };
    let report = characterize_file(path, &CharacterOptions::default());
    let (sequentiality, gaps) = (&report.sequentiality, &report.interarrival_ms);
    for (what, value, printed) in [
        ("requests", report.requests as f64, "9999"),
        ("reads", 100.0 * report.read_share.unwrap(), "66.8"),
        ("mean KB", report.sizes.all.mean_kb.unwrap(), "8.20"),
        ("size SCV", report.sizes.all.scv.unwrap(), "0.96"),
        ("smallest", report.sizes.all.min_kb.unwrap() * 2.0, "1"),
        ("largest", report.sizes.all.max_kb.unwrap() * 2.0, "143"),
        ("sequential", 100.0 * sequentiality.one_stream_share.unwrap(), "24.9"),
        ("local", 100.0 * sequentiality.local_share.unwrap(), "23.9"),
        ("mergeable", 100.0 * sequentiality.mergeable_read_pairs_share.unwrap(), "16.5"),
        ("highest block", report.highest_start_block.unwrap() as f64, "2675337"),
        ("highest GB", (report.end_block * BLOCK_BYTES) as f64 / 1e9, "1.37"),
        ("distinct MB", report.working_set.all_512_bytes as f64 / 1e6, "81.5"),
        // The source prints 13.92 for 13.925.
        ("mean gap", gaps.mean.unwrap(), "13.93"),
        ("gap SCV", gaps.scv.unwrap(), "0.26"),
        ("median gap", gaps.p50.unwrap(), "13.7"),
        ("95 % gap", gaps.p95.unwrap(), "27.6"),
        ("99 % gap", gaps.p99.unwrap(), "31.3"),
        ("longest gap", gaps.max.unwrap(), "35.88"),
        ("span", report.span_s, "139.2"),
    ] {
        assert_prints(what, value, printed);
    }
}

/// The section of the disks that holds a block; the header of the trace states where sections begin.
fn ajw_section(lbn: u64) -> u16 {
    let starts = [74_128 / 2, 171_760 / 2, 1449 * 8 * 113 / 2];
    starts.iter().filter(|start| lbn >= **start).count() as u16
}

#[test]
fn week_of_a_workstation_has_its_published_statistics() {
    let Some(path) = reference_file("SLEDLAB_REFERENCE", "reference", "traces/ajw.1week.srt") else { return };
    let options = CharacterOptions {
        cache_block_bytes: 8192,
        cache_sizes_mb: vec![1, 4, 16],
        ..CharacterOptions::default()
    };
    let mut requests = Vec::new();
    let mut trace = crate::open(path, OpenOptions::default()).unwrap();
    while trace.fill(&mut requests).unwrap() > 0 {}
    let mut characterization = Characterization::new(&options).unwrap();
    for request in requests {
        // Published sequentiality is counted within each section of the disks.
        characterization.record(&Request { device: ajw_section(request.lbn), ..request });
    }
    let report = characterization.finish();
    let (sizes, sequentiality, gaps) = (&report.sizes, &report.sequentiality, &report.interarrival_ms);
    let share_of = |kb: f64| {
        let sizes_of_kb = sizes.commonest.iter().filter(|size| (size.kb - kb).abs() < 1e-9);
        sizes_of_kb.map(|size| 100.0 * size.share).sum::<f64>()
    };
    let dispersion = |i: usize| report.dispersion[i].index.unwrap();
    for (what, value, printed) in [
        ("requests", report.requests as f64, "44519"),
        ("hours", report.span_s / 3600.0, "167.5"),
        ("rate", report.rate_per_s.unwrap(), "0.0738"),
        ("reads", 100.0 * report.read_share.unwrap(), "29.3"),
        ("mean KB", sizes.all.mean_kb.unwrap(), "5.78"),
        ("mean KB of reads", sizes.read.mean_kb.unwrap(), "4.6"),
        ("mean KB of writes", sizes.write.mean_kb.unwrap(), "6.3"),
        ("8 KB", share_of(8.0), "60"),
        ("2 KB", share_of(2.0), "21"),
        ("1 KB", share_of(1.0), "11"),
        ("sequential", 100.0 * sequentiality.one_stream_share.unwrap(), "1.5"),
        ("with gap", 100.0 * sequentiality.with_16kb_gap_share.unwrap(), "7.5"),
        ("distinct MB of 2^20", report.working_set.all_512_bytes as f64 / f64::from(1 << 20), "26"),
        ("hot writes", 100.0 * report.hot_50_write_share.unwrap(), "67"),
        ("median gap, ms", gaps.p50.unwrap(), "23"),
        ("95 % gap, s", gaps.p95.unwrap() / 1e3, "8.8"),
        ("longest gap, s", gaps.max.unwrap() / 1e3, "1770"),
        ("gap SCV", gaps.scv.unwrap(), "96"),
        ("dispersion, 1 s", dispersion(0), "20"),
        ("dispersion, 10 s", dispersion(1), "63"),
        ("dispersion, 1 min", dispersion(2), "152"),
        ("dispersion, 1 h", dispersion(3), "1888"),
        ("hits, 1 MB", report.cache_hits[0].hit_ratio.unwrap(), "0.56"),
        ("hits, 4 MB", report.cache_hits[1].hit_ratio.unwrap(), "0.72"),
        ("hits, 16 MB", report.cache_hits[2].hit_ratio.unwrap(), "0.87"),
    ] {
        assert_prints(what, value, printed);
    }
    // The publication takes the order statistic before the nearest rank: 259 s; the nearest rank gives 262 s.
    assert!((gaps.p99.unwrap() / 1e3 - 259.0).abs() < 5.0);
}
