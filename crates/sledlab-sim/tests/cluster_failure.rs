//! Redundant copies of files on other nodes, and failures of nodes.

use crate::clusters::random::{check, text};
use crate::clusters::{Machine, ns, record};
use proptest::prelude::*;
use sledlab_sim::cluster::{ClusterHooks, ClusterOutcome};
use sledlab_trace::work::Work;

/// A network whose time is negligible, so that stores limit a job.
const FAST: [(&str, &str); 3] =
    [("network.bandwidth_mbit_s", "1000000.0"), ("network.latency_us", "1.0"), ("node.message_cycles", "0")];

fn replay(work: &Work, settings: &[(&str, &str)]) -> ClusterOutcome {
    Machine::new(settings).run(work)
}

fn scan(nodes: usize, bytes: u64) -> Work {
    record(&format!(
        r#"{{"work": 1, "job": "scan", "nodes": {nodes}, "files": {{"data": {bytes}}}}}
{{"phase": "scan", "nodes": "all", "reads": [{{"file": "data"}}], "operations": {{"tuple": 100}}, "sends": {{"client": 999}}}}"#
    ))
}

/// A job that reads, then exchanges and writes, then reads the written data.
fn sort(nodes: usize, bytes: u64) -> Work {
    let share_bytes = bytes / nodes as u64;
    record(&format!(
        r#"{{"work": 1, "job": "sort", "nodes": {nodes}, "files": {{"data": {bytes}, "bucket": {bytes}}}}}
{{"phase": "sampling", "nodes": "all", "reads": [{{"file": "data", "bytes": {share_bytes}}}], "operations": {{"tuple": 900}}}}
{{"phase": "sampling", "collective": "all-gather", "bytes": 1000}}
{{"phase": "exchange", "nodes": "all", "reads": [{{"file": "data"}}], "writes": [{{"file": "bucket"}}], "sends": {{"each": {share_bytes}}}}}
{{"phase": "merge", "nodes": "all", "reads": [{{"file": "bucket"}}], "operations": {{"tuple": 5000}}}}"#
    ))
}

fn failure_settings<'a>(settings: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [&[("device.preset", "mems-g2")], &FAST[..], settings].concat()
}

#[test]
fn failure_slows_scan_as_redundancy_predicts() {
    let work = scan(8, 16 << 20);
    for prefetch in ["0", "8"] {
        let elapsed = |redundancy: &str, failed: &str| {
            let settings = [
                ("cluster.redundancy", redundancy),
                ("cluster.failed", failed),
                ("node.prefetch_pages", prefetch),
            ];
            replay(&work, &failure_settings(&settings)).elapsed_ns as f64
        };
        for failed in ["0", "3", "7"] {
            let chained = elapsed("chained", failed) / elapsed("chained", "none");
            assert!((chained / (8.0 / 7.0) - 1.0).abs() < 0.03, "chained: {chained}");
            let mirror = elapsed("mirror", failed) / elapsed("mirror", "none");
            assert!((mirror / 2.0 - 1.0).abs() < 0.03, "mirror: {mirror}");
        }
        // If every third node fails, two survivors share the work of three nodes.
        let every_third = elapsed("chained", "[0, 3]") / elapsed("chained", "none");
        assert!((every_third / 1.5 - 1.0).abs() < 0.03, "{every_third}");
    }
}

#[test]
fn copies_cost_only_extra_writes() {
    let work = sort(4, 4 << 20);
    let plain = replay(&work, &failure_settings(&[]));
    let mut no_redundancy =
        replay(&work, &failure_settings(&[("cluster.redundancy", "none"), ("cluster.failed", "[]")]));
    no_redundancy.config.clone_from(&plain.config);
    assert_eq!(serde_json::to_string(&no_redundancy).unwrap(), serde_json::to_string(&plain).unwrap());
    assert!(!serde_json::to_string(&plain).unwrap().contains("\"failure\":"));

    let chained = replay(&work, &failure_settings(&[("cluster.redundancy", "chained")]));
    let copy_phase = chained.phases.iter().find(|phase| phase.name == "exchange, copied").unwrap();
    // Exact except for a seek from the position of the copies.
    let expected = plain.elapsed_ns + copy_phase.end_ns - copy_phase.start_ns;
    assert!(chained.elapsed_ns.abs_diff(expected) < 1_000_000, "{} for {expected}", chained.elapsed_ns);
    assert_eq!(ns(&chained, |node| node.written_bytes), 2 * ns(&plain, |node| node.written_bytes));
    assert_eq!(ns(&chained, |node| node.read_bytes), ns(&plain, |node| node.read_bytes));
    assert_eq!(ns(&chained, |node| node.sent_bytes), ns(&plain, |node| node.sent_bytes) + (16 << 20));
    assert_eq!(chained.failure.unwrap().copied_bytes, 16 << 20);
    let read_only = scan(4, 1 << 20);
    let scan_ns = |redundancy: &str| {
        replay(&read_only, &failure_settings(&[("cluster.redundancy", redundancy)])).elapsed_ns
    };
    assert_eq!(scan_ns("mirror"), scan_ns("none"));
}

#[test]
fn failure_at_phase_start_equals_failure_before_it() {
    let work = sort(8, 1 << 20);
    let replay_failure_at = |replay_failure_at: &str| {
        let settings = [
            ("cluster.redundancy", "chained"),
            ("cluster.failed", "3"),
            ("cluster.failed_at_s", replay_failure_at),
        ];
        let outcome = replay(&work, &failure_settings(&settings));
        (outcome.elapsed_ns, outcome.failure.unwrap())
    };
    let (start, failure) = replay_failure_at("0");
    assert_eq!((failure.phase.as_deref(), failure.detected_ns), (Some("sampling"), Some(0)));
    let (healthy, failure) = replay_failure_at("1e6");
    assert_eq!((failure.phase, failure.failed.len()), (None, 0));
    assert!(healthy < start);
    // At the beginning of the exchange, no work is repeated.
    let outcome = replay(&work, &failure_settings(&[("cluster.redundancy", "chained")]));
    let exchange_begin = format!("{:.9}", outcome.phases[1].start_ns as f64 / 1e9);
    let (at_exchange, failure) = replay_failure_at(&exchange_begin);
    assert_eq!(failure.phase.as_deref(), Some("exchange"));
    assert!(healthy < at_exchange && at_exchange < start, "{healthy}, {at_exchange}, {start}");
}

#[test]
fn lost_work_of_failed_node_is_repeated() {
    let work = sort(4, 4 << 20);
    let chained = [("cluster.redundancy", "chained")];
    let healthy = replay(&work, &failure_settings(&chained));
    for phase in &healthy.phases {
        let half_s = (phase.start_ns + phase.end_ns) as f64 / 2e9;
        let half_text = format!("{half_s:.9}");
        let settings = [chained[0], ("cluster.failed", "1"), ("cluster.failed_at_s", &half_text)];
        let outcome = replay(&work, &failure_settings(&settings));
        let failure = outcome.failure.clone().unwrap();
        let origin = phase.name.trim_end_matches(", copied");
        assert_eq!(failure.phase.as_deref(), Some(origin));
        let resumption_index =
            outcome.phases.iter().position(|other| other.name == format!("{origin}, after failure"));
        let resumed_phases = &outcome.phases[resumption_index.unwrap()..];
        assert_eq!(failure.detected_ns, Some(resumed_phases[0].start_ns));
        assert!(outcome.elapsed_ns > healthy.elapsed_ns, "{origin}");
        assert!(
            resumed_phases
                .iter()
                .map(|phase| phase.nodes[1])
                .all(|node| node.requests + node.sent_bytes == 0)
        );
        // A phase that copies runs to its end; any other phase ends when the node fails.
        if origin == phase.name {
            let failed_at_s = resumed_phases[0].start_ns as f64 / 1e9;
            assert!((failed_at_s / half_s - 1.0).abs() < 0.02, "{origin}: at {failed_at_s} for {half_s}");
        }
    }
}

#[test]
fn scan_repeats_work_of_failed_node() {
    let work = scan(8, 16 << 20);
    let elapsed_ns = |settings: &[(&str, &str)]| replay(&work, &failure_settings(settings)).elapsed_ns as f64;
    let chained = ("cluster.redundancy", "chained");
    let healthy_ns = elapsed_ns(&[chained]);
    for done_share in [0.01, 0.1, 0.25, 0.5, 0.9] {
        let at = (healthy_ns * done_share / 1e9).to_string();
        let slowdown =
            elapsed_ns(&[chained, ("cluster.failed", "3"), ("cluster.failed_at_s", &at)]) / healthy_ns;
        // The mean of the remaining work, but an entire share for the node that has the copy of a failed node.
        let expected = done_share + (1.0_f64 / 7.0 + 1.0 - done_share).max(1.0);
        assert!((slowdown / expected - 1.0).abs() < 0.03, "{slowdown} for {expected}, after {done_share}");
    }
}

#[test]
fn lost_files_are_rebuilt_at_configured_rate() {
    let work = sort(8, 8 << 20);
    // A node has its own data and a copy of another node's; buckets are not written yet.
    let lost_bytes = 2 * (8 << 20);
    for prefetch in ["0", "8"] {
        let replay_with_rebuild = |rate: &str| {
            let settings = [
                ("cluster.redundancy", "chained"),
                ("cluster.failed", "3"),
                ("cluster.rebuild_mb_s", rate),
                ("node.prefetch_pages", prefetch),
            ];
            replay(&work, &failure_settings(&settings))
        };
        let without_rebuild_ns = replay_with_rebuild("0").elapsed_ns;
        let mut last_ns = without_rebuild_ns;
        for rate in [1.0, 4.0, 8.0] {
            let outcome = replay_with_rebuild(&rate.to_string());
            let failure = outcome.failure.clone().unwrap();
            let rebuild = failure.rebuild.unwrap();
            assert_eq!((rebuild.bytes, failure.spares, outcome.nodes), (lost_bytes, 1, 9));
            // Bytes due at the configured rate by the end of the job; the other bytes are rebuilt after it.
            let due_bytes = rate * 1e-3 * outcome.elapsed_ns as f64;
            assert!(
                (rebuild.job_bytes as f64 / due_bytes.min(lost_bytes as f64) - 1.0).abs() < 0.02,
                "{rate}: {rebuild:?}"
            );
            let finished_ns = lost_bytes as f64 / (rate * 1e-3);
            assert!((rebuild.finished_ns as f64 / finished_ns - 1.0).abs() < 0.02, "{rate}: {rebuild:?}");
            assert!(outcome.elapsed_ns > last_ns, "{rate} MB/s costs more than less");
            last_ns = outcome.elapsed_ns;
            let spare_bytes = |phase: &sledlab_sim::cluster::PhaseOutcome| phase.nodes[8].received_bytes;
            assert_eq!(outcome.phases.iter().map(spare_bytes).sum::<u64>(), rebuild.job_bytes);
        }
        // At a rate beyond that of stores and network, the rebuild is as fast as they allow.
        let outcome = replay_with_rebuild("1000000");
        let rebuild = outcome.failure.unwrap().rebuild.unwrap();
        assert_eq!(rebuild.job_bytes, lost_bytes);
        assert!(rebuild.finished_ns <= outcome.elapsed_ns && rebuild.finished_ns > 0);
    }
}

/// The outer file is in memory: the step does not read it. The rebuild reads it on one node, and must not end the loop
/// after its few bytes.
#[test]
fn rebuild_leaves_nested_loop_over_lost_file_whole() {
    let work = record(
        r#"{"work": 1, "job": "loop", "nodes": 4, "files": {"outer": 8192000, "inner": 819200}}
{"phase": "warm", "nodes": "all", "operations": {"tuple": 1000}}
{"phase": "loop", "nodes": "all", "reads": [{"file": "inner", "per_block_of": "outer"}], "operations": {"tuple": 100000}}"#,
    );
    for prefetch in ["0", "4"] {
        let read_bytes = |rate: &str| {
            let settings = [
                ("cluster.redundancy", "chained"),
                ("cluster.failed", "1"),
                ("cluster.rebuild_mb_s", rate),
                ("node.block_kb", "800"),
                ("node.prefetch_pages", prefetch),
            ];
            let outcome = replay(&work, &failure_settings(&settings));
            let rebuild = outcome.failure.as_ref().and_then(|failure| failure.rebuild);
            (rebuild.map_or(0, |rebuild| rebuild.job_bytes), ns(&outcome, |node| node.read_bytes))
        };
        let (rebuilt_bytes, read_with_rebuild) = read_bytes("1");
        assert!(rebuilt_bytes > 0);
        // Each file that is rebuilt in a phase ends in a block that is read whole.
        let added_bytes = read_with_rebuild - read_bytes("0").1;
        assert!(
            (rebuilt_bytes..rebuilt_bytes + 8 * 512).contains(&added_bytes),
            "{added_bytes} for {rebuilt_bytes}"
        );
    }
}

#[test]
fn data_loss_and_invalid_settings_are_rejected() {
    let work = scan(8, 1 << 20);
    let error = |settings: &[(&str, &str)]| {
        let machine = Machine::new(&failure_settings(settings));
        machine.experiment.run(&work, ClusterHooks::default()).unwrap_err().to_string()
    };
    let chained = ("cluster.redundancy", "chained");
    let cases = [
        (error(&[("cluster.failed", "3")]), "the share of node 3 is lost: no node holds a copy"),
        (
            error(&[("cluster.redundancy", "mirror"), ("cluster.failed", "[6, 7]")]),
            "the shares of nodes 6 and 7 are lost",
        ),
        (
            error(&[chained, ("cluster.failed", "[2, 3]")]),
            "the share of node 2 is lost: the node with the copy fails as well",
        ),
        (error(&[chained, ("cluster.failed", "9")]), "there is no node 9"),
        (error(&[chained, ("cluster.at", "host")]), "require cluster.at"),
        (error(&[chained, ("cluster.failed_at_s", "3")]), "cluster.failed_at_s is set, but no node fails"),
        (error(&[chained, ("cluster.rebuild_mb_s", "3")]), "cluster.rebuild_mb_s is set, but no node fails"),
    ];
    for (message, expected) in cases {
        assert!(message.contains(expected), "{message}");
    }
    let many_failures = [("cluster.redundancy", "mirror"), ("cluster.failed", "[0, 3, 5, 6]")];
    assert_eq!(replay(&work, &failure_settings(&many_failures)).failure.unwrap().failed, [0, 3, 5, 6]);
}

#[test]
fn failed_node_uses_no_energy() {
    let work = scan(8, 8 << 20);
    let settings = [("cluster.redundancy", "mirror"), ("cluster.failed", "2"), ("cluster.ready", "false")];
    let outcome = replay(&work, &failure_settings(&settings));
    assert!(outcome.phases.iter().all(|phase| phase.nodes[2].store_j.abs() < 1e-12));
    let healthy = replay(&work, &failure_settings(&settings[..1]));
    // Twice as long, on seven of eight nodes.
    let memory_ratio = outcome.energy.memory_j / healthy.energy.memory_j;
    let expected = outcome.elapsed_ns as f64 / healthy.elapsed_ns as f64 * 7.0 / 8.0;
    assert!((memory_ratio / expected - 1.0).abs() < 1e-9, "{memory_ratio}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_failure_conserves_bytes_and_time(
        pairs in 1_usize..4,
        sizes in prop::collection::vec(prop::collection::vec(0_u64..150_000, 6), 3),
        phases in prop::collection::vec(
            (
                prop::collection::vec(
                    (0_u64..200, 0_u64..200, 0_usize..3, 0_usize..4, 0_u64..5000,
                     prop::collection::vec(prop_oneof![Just(0_u64), 0_u64..100_000], 1..6), any::<bool>()),
                    6,
                ),
                0_usize..9,
                0_u64..100_000,
            ),
            1..4,
        ),
        (network, prefetch, is_mirror) in (0_usize..4, 0_u64..4, any::<bool>()),
        (failed, at_ms, rebuild) in (0_usize..7, prop_oneof![Just(0_u64), 0_u64..300], 0_u64..20),
    ) {
        let nodes = 2 * pairs;
        let work = record(&text(nodes, &sizes, &phases));
        let has_failure = failed < nodes;
        let if_failing = |message: String| if has_failure { message } else { "0".to_owned() };
        let settings_text = [
            ("device.preset", "mems-g2".to_owned()),
            ("network.kind", ["ideal", "switch", "hub", "tree"][network].to_owned()),
            ("node.prefetch_pages", prefetch.to_string()),
            ("node.block_kb", "16".to_owned()),
            ("cluster.redundancy", if is_mirror { "mirror" } else { "chained" }.to_owned()),
            ("cluster.failed", if has_failure { failed.to_string() } else { "none".to_owned() }),
            ("cluster.failed_at_s", if_failing(format!("{}", at_ms as f64 / 1e3))),
        ];
        let run = |threads, rebuild_mb_s: u64| {
            let mut settings: Vec<(&str, &str)> =
                settings_text.iter().map(|(key, value)| (*key, value.as_str())).collect();
            let rebuild_mb_s = if_failing(rebuild_mb_s.to_string());
            settings.push(("cluster.rebuild_mb_s", &rebuild_mb_s));
            let hooks = ClusterHooks { threads, ..ClusterHooks::default() };
            Machine::new(&settings).experiment.run(&work, hooks).unwrap_or_else(|error| panic!("{error}"))
        };
        let with_rebuild = run(1, rebuild);
        check(&with_rebuild);
        let json = |outcome: &ClusterOutcome| serde_json::to_string(outcome).unwrap();
        prop_assert_eq!(json(&with_rebuild), json(&run(2, rebuild)));
        let rebuilt = with_rebuild.failure.as_ref().and_then(|failure| failure.rebuild);
        prop_assert!(rebuilt.is_none_or(|rebuilt| rebuilt.job_bytes <= rebuilt.bytes));
        // A rebuild only adds to the work of the job.
        for (phase_with, phase_without) in with_rebuild.phases.iter().zip(run(1, 0).phases) {
            for (node_with, node_without) in phase_with.nodes.iter().zip(phase_without.nodes) {
                prop_assert!(node_with.requests >= node_without.requests);
                prop_assert!(node_with.read_bytes >= node_without.read_bytes);
            }
        }
    }
}
