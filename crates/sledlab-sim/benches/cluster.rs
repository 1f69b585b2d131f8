//! Benchmark of replays of work records: prints a table and writes `validation/benches/cluster.json`.
//!
//! Every value is the median of several runs in this process, on one thread.

mod table;

use std::fmt::Write as _;
use std::fs;
use std::io::Cursor;
use std::time::Instant;

use sledlab_sim::cluster::{ClusterExperiment, ClusterHooks, ClusterOutcome};
use sledlab_trace::work::Work;
use table::{Row, median, row};

const RUNS: usize = 5;
const PAGE: u64 = 8192;

fn parse(text: String) -> Work {
    Work::parse("bench.work", Cursor::new(text)).expect("a record")
}

fn replay(work: &Work, settings: &[(&str, &str)]) -> ClusterOutcome {
    let mut experiment = ClusterExperiment::new();
    for (key, value) in settings {
        experiment.set(key, value).expect("a setting");
    }
    experiment.run(work, ClusterHooks { threads: 1, ..ClusterHooks::default() }).expect("a replay")
}

fn measure_seconds(run: impl Fn() -> ClusterOutcome) -> (f64, ClusterOutcome) {
    let mut outcome = run();
    let durations_s = (0..RUNS).map(|_| {
        let start = Instant::now();
        outcome = run();
        start.elapsed().as_secs_f64()
    });
    (median(durations_s.collect()), outcome)
}

/// Returns the millions of simulated page requests per second of wall-clock time.
fn rate(work: &Work, settings: &[(&str, &str)]) -> f64 {
    let (seconds, outcome) = measure_seconds(|| replay(work, settings));
    outcome.pages as f64 / seconds * 1e-6
}

/// Returns a record in which one node reads half of `pages` pages and writes the other half.
fn copy(pages: u64) -> Work {
    let bytes = pages * PAGE / 2;
    parse(format!(
        r#"{{"work": 1, "job": "copy", "nodes": 1, "files": {{"data": {bytes}, "copy": {bytes}}}}}
{{"phase": "copy", "node": 0, "reads": [{{"file": "data"}}], "writes": [{{"file": "copy"}}], "operations": {{"tuple": {pages}}}}}"#
    ))
}

/// Returns a sort: nodes read `pages` pages in all, exchange them, and write and read the received pages.
fn sort(nodes: u64, pages: u64) -> Work {
    let share = pages * PAGE / nodes;
    let mut text = format!(
        r#"{{"work": 1, "job": "sort", "nodes": {nodes}, "files": {{"lineitem": {share}, "bucket": {share}}}}}
"#
    );
    let tuples = share / 179;
    let node_share = share / nodes;
    let phases = [
        format!(
            r#""phase": "sampling", "nodes": "all", "reads": [{{"file": "lineitem"}}], "operations": {{"tuple": {tuples}}}"#
        ),
        r#""phase": "sampling", "collective": "all-gather", "bytes": 1000"#.to_owned(),
        format!(
            r#""phase": "re-distribution", "nodes": "all", "reads": [{{"file": "lineitem"}}], "writes": [{{"file": "bucket", "order": "streams"}}], "operations": {{"pack": {tuples}}}, "sends": {{"each": {node_share}}}"#
        ),
        format!(
            r#""phase": "internal sort", "nodes": "all", "reads": [{{"file": "bucket"}}], "writes": [{{"file": "lineitem"}}], "operations": {{"compare": {}}}"#,
            15 * tuples
        ),
        format!(
            r#""phase": "merge", "nodes": "all", "reads": [{{"file": "lineitem", "order": "merge", "runs": 4}}], "writes": [{{"file": "bucket"}}], "operations": {{"merge": {tuples}}}"#
        ),
    ];
    for phase in phases {
        writeln!(text, "{{{phase}}}").expect("a line");
    }
    parse(text)
}

/// Returns a nested loop of `passes` passes over `pages` pages.
fn join(passes: u64, pages: u64) -> Work {
    parse(format!(
        r#"{{"work": 1, "job": "join", "nodes": 1, "files": {{"outer": {}, "inner": {}}}}}
{{"phase": "loop", "node": 0, "reads": [{{"file": "outer"}}, {{"file": "inner", "per_block_of": "outer"}}], "operations": {{"probe": {}}}}}"#,
        passes * 16 * PAGE,
        pages * PAGE,
        passes * pages
    ))
}

/// Returns the resident memory of this process in MB.
fn resident_mb(field: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
    line.trim_matches([':', ' ', '\t', 'k', 'B']).parse::<f64>().unwrap_or(f64::NAN) / 1024.0
}

fn main() {
    // `cargo test --benches` only checks that the benchmark compiles and starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let mut rows: Vec<Row> = Vec::new();
    let before_mb = resident_mb("VmRSS");
    // A record with hardly any work: nearly all of its time is spent constructing the cluster.
    let idle = parse(
        r#"{"work": 1, "job": "idle", "nodes": 1024, "files": {"data": 1048576}}
{"phase": "one page", "node": 0, "reads": [{"file": "data", "bytes": 8192}]}
"#
        .to_owned(),
    );
    let (build_s, _) = measure_seconds(|| replay(&idle, &[("device.preset", "mems-g3")]));
    rows.push(row("1,024 nodes with mems-g3 built", build_s, "s", "0.5"));
    rows.push(row("their memory", resident_mb("VmHWM") - before_mb, "MB", "200"));
    let million = "million pages/s";
    let work = copy(200_000);
    for (device, target) in [("mems-g2", "1.5"), ("hp-c2490a", "0.8")] {
        let rate = rate(&work, &[("device.preset", device)]);
        rows.push(row(format!("pages one by one, {device}"), rate, million, target));
    }
    let overlap = ("node.prefetch_pages", "8");
    let work = sort(4, 200_000);
    let (overlapped_rate, plain_rate) =
        (rate(&work, &[("device.preset", "mems-g2"), overlap]), rate(&work, &[("device.preset", "mems-g2")]));
    rows.push(row("sort on 4 nodes, overlap and exchange", overlapped_rate, million, "0.7"));
    rows.push(row("sort on 4 nodes, one thing at a time", plain_rate, million, ""));
    let large = sort(1024, 131_072);
    for (name, prefetch) in [("one thing at a time", "0"), ("overlap", "8")] {
        let settings = [("device.preset", "mems-g3"), ("node.prefetch_pages", prefetch)];
        let (duration_s, _) = measure_seconds(|| replay(&large, &settings));
        rows.push(row(format!("sort on 1,024 nodes, {name}"), duration_s, "s", "10"));
    }
    rows.push(row("most memory of all that", resident_mb("VmHWM"), "MB", "500"));
    let nested_loop = join(3_000, 1_000);
    for device in ["mems-g1", "mems-g2", "mems-g3", "hp-c2490a"] {
        let settings = [("device.preset", device), ("node.block_kb", "128")];
        let (skipped_s, skipped) = measure_seconds(|| replay(&nested_loop, &settings));
        let start = Instant::now();
        let exact = replay(&nested_loop, &[&settings[..], &[("cluster.exact", "true")]].concat());
        let exact_s = start.elapsed().as_secs_f64();
        let error = (skipped.elapsed_ns as f64 / exact.elapsed_ns as f64 - 1.0).abs() * 100.0;
        rows.push(row(
            format!("3,000 passes, {device}: sampled against exact"),
            exact_s / skipped_s,
            "times",
            "2",
        ));
        rows.push(row(format!("3,000 passes, {device}: difference"), error, "%", "0.1"));
    }
    table::print_and_save("cluster.json", &rows);
}
