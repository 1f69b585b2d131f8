//! Batches of writes, times of software and page caches of nodes, against times computed by hand.

use crate::clusters::{Machine, record};
use sledlab_core::Op;
use sledlab_sim::cluster::{ClusterHooks, Dump};
use sledlab_trace::work::Work;

/// A memory that takes 8 us for a page of 8 KB, and nodes of 1,000 MHz, which take 1 us for a packed tuple.
const SETTINGS: [(&str, &str); 7] = [
    ("device.preset", "ram"),
    ("device.access_us", "0.0"),
    ("device.bus_mb_s", "1024.0"),
    ("network.kind", "ideal"),
    ("node.mhz", "1000.0"),
    ("node.message_cycles", "0"),
    ("node.cycles.pack", "1000.0"),
];

fn machine(settings: &[(&str, &str)]) -> Machine {
    Machine::new(&[&SETTINGS[..], settings].concat())
}

/// A step that reads six pages and writes six.
fn copy() -> Work {
    record(
        r#"{"work": 1, "job": "copy", "nodes": 1, "files": {"a": 49152, "b": 49152}}
{"phase": "copy", "node": 0, "reads": [{"file": "a"}], "writes": [{"file": "b"}]}"#,
    )
}

/// The operations of the store in order of arrival, and the time of the job in us.
fn operations(settings: &[(&str, &str)]) -> (String, u64) {
    let mut dump = Dump::default();
    let hooks = ClusterHooks { dump: Some((0, &mut dump)), ..ClusterHooks::default() };
    let outcome = machine(settings).experiment.run(&copy(), hooks).unwrap();
    let letter = |op: Op| if op == Op::Read { 'R' } else { 'W' };
    (dump.requests.iter().map(|request| letter(request.op)).collect(), outcome.elapsed_ns / 1_000)
}

#[test]
fn pages_are_written_in_batches() {
    for (batch, expected) in [
        ("1", "RWRWRWRWRWRW"),
        ("3", "RRRWWWRRRWWW"),
        ("4", "RRRRWWWWRRWW"),
        ("6", "RRRRRRWWWWWW"),
        ("100", "RRRRRRWWWWWW"),
    ] {
        assert_eq!(operations(&[("node.write_batch_pages", batch)]), (expected.to_owned(), 12 * 8));
    }
    // The processor takes no time, so the store is busy all the time. The fourth page is read ahead.
    let prefetching = [("node.prefetch_pages", "1"), ("node.write_batch_pages", "3")];
    let (order, elapsed_us) = operations(&prefetching);
    assert_eq!((&order[..4], order.matches('W').count(), elapsed_us), ("RRRR", 6, 12 * 8));
}

/// Ten pages in each of two phases: software of 5 us, then of 20 us a page, before 8 us of the store.
#[test]
fn software_of_requests_depends_on_phase() {
    let work = record(
        r#"{"work": 1, "job": "scans", "nodes": 1, "files": {"a": 81920}}
{"phase": "one", "node": 0, "reads": [{"file": "a"}]}
{"phase": "two, again", "node": 0, "reads": [{"file": "a"}]}"#,
    );
    let phases_us = |prefetch: &str, times: &str| {
        let settings =
            [("node.prefetch_pages", prefetch), ("node.request_us", "5.0"), ("node.phase_request_us", times)];
        let outcome = machine(&settings).run(&work);
        [0, 1].map(|phase| (outcome.phases[phase].end_ns - outcome.phases[phase].start_ns) / 1_000)
    };
    assert_eq!(phases_us("0", ""), [10 * (5 + 8), 10 * (5 + 8)]);
    assert_eq!(phases_us("0", "one=20, merge=7"), [10 * (20 + 8), 10 * (5 + 8)]);
    // With prefetching the software of a page overlaps the store's time of the page before: the first waits for its
    // software, the slower of both takes its time ten times.
    assert_eq!(phases_us("16", "one=20"), [10 * 20 + 8, 5 + 10 * 8]);
}

#[test]
fn invalid_phase_times_are_errors() {
    for text in ["merge", "merge=", "=3", "merge=-1", "merge=x"] {
        let error = machine(&[("node.phase_request_us", text)]).experiment.check(&copy()).unwrap_err();
        assert!(error.to_string().contains("expected PHASE=US"), "{text}: {error}");
    }
}

/// Node 0 keeps 3,000 of 4,000 bytes: 100 tuples are packed, or 400 with those that stay, each in 1 us.
#[test]
fn tuples_that_stay_are_packed_too() {
    let work = record(
        r#"{"work": 1, "job": "exchange", "nodes": 2, "files": {}}
{"phase": "exchange", "node": 0, "sends": {"0": 3000, "1": 1000}, "operations": {"pack": 100}}
{"phase": "exchange", "node": 1, "sends": {"1": 3000}, "operations": {"pack": 100}}"#,
    );
    for prefetch in ["0", "8"] {
        let busy_us = |packs_own_tuples| {
            let settings = [("node.prefetch_pages", prefetch), ("node.packs_own_tuples", packs_own_tuples)];
            machine(&settings).run(&work).phases[0]
                .nodes
                .iter()
                .map(|node| node.processor_ns / 1_000)
                .collect::<Vec<_>>()
        };
        assert_eq!(busy_us("false"), [100, 100]);
        assert_eq!(busy_us("true"), [400, 100], "node 1 sends nothing");
    }
}

/// Four blocks of a page of `a`, each followed by the three pages of `b`: 16 pages, of which the cache serves the nine
/// of the last three passes if the file fits.
#[test]
fn page_cache_serves_files_that_fit() {
    let work = record(
        r#"{"work": 1, "job": "loop", "nodes": 1, "files": {"a": 32768, "b": 24576}}
{"phase": "loop", "node": 0, "reads": [{"file": "a"}, {"file": "b", "per_block_of": "a"}]}"#,
    );
    let run = |prefetch: &str, pages: f64| {
        let mb = format!("{:?}", pages * 8.0 / 1024.0);
        let settings = [
            ("node.prefetch_pages", prefetch),
            ("node.page_cache_mb", mb.as_str()),
            ("node.block_kb", "8"),
            ("node.request_us", "5.0"),
        ];
        let outcome = machine(&settings).run(&work);
        (outcome.phases[0].nodes[0].requests, outcome.elapsed_ns / 1_000)
    };
    assert_eq!(run("0", 0.0), (16, 16 * (5 + 8)));
    assert_eq!(run("0", 6.0), (7, 16 * 5 + 7 * 8));
    // The cache has room for two pages, and each is evicted before it is read again.
    assert_eq!(run("0", 2.0), (16, 16 * (5 + 8)));
    // The store is idle in the last three passes, except for the blocks of `a`: software takes 5 us a page. The last
    // page is cached.
    let (requests, elapsed_us) = run("16", 6.0);
    assert_eq!(requests, 7);
    assert!((16 * 5..=16 * 5 + 4 * 8).contains(&elapsed_us), "{elapsed_us}");
}

#[test]
fn written_pages_are_in_the_page_cache() {
    let work = record(
        r#"{"work": 1, "job": "copy", "nodes": 1, "files": {"a": 49152, "b": 49152}}
{"phase": "copy", "node": 0, "reads": [{"file": "a"}], "writes": [{"file": "b"}]}
{"phase": "read", "node": 0, "reads": [{"file": "b"}]}"#,
    );
    let outcome = machine(&[("node.page_cache_mb", "1.0")]).run(&work);
    let requests = outcome.phases.iter().map(|phase| phase.nodes[0].requests).collect::<Vec<_>>();
    assert_eq!((requests, outcome.elapsed_ns), (vec![12, 0], 12 * 8_000));
}

#[test]
fn page_cache_of_less_than_a_page_is_an_error() {
    let error = machine(&[("node.page_cache_mb", "0.001")]).experiment.check(&copy()).unwrap_err();
    assert!(error.to_string().contains("less than a page of 8 KB"), "{error}");
}
