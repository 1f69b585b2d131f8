//! Replays of work records against closed forms: the calculated time of a cluster.

use crate::clusters::{Machine, ns, record};
use proptest::prelude::*;
use sledlab_models::device::preset;

/// A memory that takes 8 us for a page of 8 KB, which is 1024 bytes/us.
const RAM: [(&str, &str); 3] =
    [("device.preset", "ram"), ("device.access_us", "0.0"), ("device.bus_mb_s", "1024.0")];
const PAGE_NS: u64 = 8_000;

fn machine(settings: &[(&str, &str)]) -> Machine {
    // 1 Gbit/s: a byte takes 8 ns.
    let network = [("network.bandwidth_mbit_s", "1000.0"), ("network.latency_us", "10.0")];
    let node = [("node.message_cycles", "0"), ("node.mhz", "1000.0"), ("node.cycles.tuple", "1000.0")];
    Machine::new(&[&RAM[..], &network, &node, settings].concat())
}

fn scan(nodes: usize, pages: u64, tuples: u64) -> sledlab_trace::work::Work {
    let bytes = pages * 8192;
    record(&format!(
        r#"{{"work": 1, "job": "scan", "nodes": {nodes}, "files": {{"data": {bytes}}}}}
{{"phase": "scan", "nodes": "all", "reads": [{{"file": "data"}}], "operations": {{"tuple": {tuples}}}}}"#
    ))
}

fn exchange(nodes: usize, bytes: u64) -> sledlab_trace::work::Work {
    record(&format!(
        r#"{{"work": 1, "job": "exchange", "nodes": {nodes}, "files": {{}}}}
{{"phase": "exchange", "nodes": "all", "sends": {{"each": {bytes}}}}}"#
    ))
}

#[test]
fn one_node_sums_or_overlaps_its_components() {
    // 10,000 pages of 8 us each, and tuples of 1 us each: 5, 8 and 20 us of computation per page.
    for tuples in [50_000, 80_000, 200_000] {
        let work = scan(1, 10_000, tuples);
        let (store_ns, compute_ns) = (10_000 * PAGE_NS, tuples * 1_000);
        let sequential = machine(&[]).run(&work);
        assert_eq!(sequential.elapsed_ns, store_ns + compute_ns);
        let prefetching = machine(&[("node.prefetch_pages", "8")]).run(&work);
        let bound_ns = store_ns.max(compute_ns);
        assert!(prefetching.elapsed_ns >= bound_ns);
        assert!(
            prefetching.elapsed_ns <= bound_ns + bound_ns / 1000,
            "{} for {bound_ns}",
            prefetching.elapsed_ns
        );
    }
}

#[test]
fn two_nodes_exchange_simultaneously() {
    for kind in ["ideal", "switch"] {
        let work = exchange(2, 1 << 20);
        for prefetch in ["0", "8"] {
            let outcome = machine(&[("network.kind", kind), ("node.prefetch_pages", prefetch)]).run(&work);
            assert_eq!(outcome.elapsed_ns, (1 << 20) * 8 + 10_000, "{kind}, {prefetch}");
        }
    }
    // A hub transmits one message after the other.
    let hub = machine(&[("network.kind", "hub")]).run(&exchange(2, 1 << 20));
    assert_eq!(hub.elapsed_ns, 2 * (1 << 20) * 8 + 10_000);
}

#[test]
fn all_to_all_is_software_or_link_bound() {
    for nodes in [2_u64, 5, 16] {
        let bytes = 1 << 20;
        let work = exchange(nodes as usize, bytes);
        let wire_ns = (nodes - 1) * bytes * 8;
        let outcome = machine(&[]).run(&work);
        let expected = wire_ns + 10_000;
        assert!(
            outcome.elapsed_ns.abs_diff(expected) * 1000 <= expected,
            "{} for {expected}",
            outcome.elapsed_ns
        );
        // 16 ns a byte at either end, on one processor: four times as long as on the link.
        let slow = machine(&[("node.byte_cycles", "16.0")]).run(&work);
        let software_ns = (nodes - 1) * bytes * 2 * 16;
        assert!(
            slow.elapsed_ns.abs_diff(software_ns + 10_000) * 1000 <= 2 * software_ns,
            "{} for {software_ns}",
            slow.elapsed_ns
        );
    }
}

/// Senders with the same receivers begin with different ones, and receivers take turns: none is idle meanwhile.
#[test]
fn half_to_half_is_bound_by_links() {
    let bytes: u64 = 1 << 20;
    for half in [2_u64, 8, 24] {
        let (lower, upper): (Vec<u64>, Vec<u64>) = ((0..half).collect(), (half..2 * half).collect());
        let even = lower.iter().map(|node| 2 * node).collect::<Vec<u64>>();
        let odd = lower.iter().map(|node| 2 * node + 1).collect::<Vec<u64>>();
        for (from, to) in [(&lower, &upper), (&upper, &lower), (&even, &odd)] {
            let sends = to.iter().map(|to| format!(r#""{to}": {bytes}"#)).collect::<Vec<_>>().join(", ");
            let work = record(&format!(
                r#"{{"work": 1, "job": "half", "nodes": {}, "files": {{}}}}
{{"phase": "half to half", "nodes": {from:?}, "sends": {{{sends}}}}}"#,
                2 * half
            ));
            let bound_ns = half * bytes * 8 + 10_000;
            // Messages of a part of a packet, and of many packets.
            for (prefetch, message_kb) in [("0", "8"), ("0", "1024"), ("8", "8"), ("8", "1024")] {
                let settings = [("node.prefetch_pages", prefetch), ("node.message_kb", message_kb)];
                let outcome = machine(&settings).run(&work);
                assert!(
                    (bound_ns..=bound_ns + bound_ns / 20).contains(&outcome.elapsed_ns),
                    "{from:?} to {to:?}, {settings:?}: {} for {bound_ns}",
                    outcome.elapsed_ns
                );
            }
        }
    }
}

/// The time of a node without other work is network while a message is in transfer to it, else waiting.
#[test]
fn transfer_to_idle_receiver_counts_as_network() {
    // One message a page; one message of ten packets every 80 pages; and only one such message.
    for (pages, bytes, message_kb) in [(100, 819_200, "8"), (160, 1_310_720, "640"), (1, 655_360, "640")] {
        let work = record(&format!(
            r#"{{"work": 1, "job": "scan", "nodes": 2, "files": {{"data": [{}, 0]}}}}
{{"phase": "scan", "node": 0, "reads": [{{"file": "data"}}], "operations": {{"tuple": {}}}, "sends": {{"1": {bytes}}}}}"#,
            pages * 8192,
            pages * 20_000
        ));
        for prefetch in ["0", "1", "8"] {
            let settings = [
                ("node.prefetch_pages", prefetch),
                ("network.latency_us", "0.0"),
                ("node.message_kb", message_kb),
            ];
            let outcome = machine(&settings).run(&work);
            let receiver = outcome.phases[0].nodes[1];
            assert_eq!(receiver.network_ns, bytes * 8, "{bytes} bytes, {prefetch} pages ahead");
            assert_eq!(receiver.waiting_ns, outcome.elapsed_ns - bytes * 8);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Some nodes send to the others and to the client.
    #[test]
    fn prefetch_never_slows_steps_that_only_send(
        sends in prop::collection::vec(prop::collection::vec(prop_oneof![Just(0_u64), 0_u64..1_000_000], 5), 1..4),
        receivers in 0_usize..4,
        (message_cycles, byte_cycles, message_kb) in (0_u64..30_000, 0_u64..3, 1_u64..100),
        (mbit_s, network, tuples) in (10_u64..10_000, 0_usize..3, 0_u64..1000),
    ) {
        let nodes = sends.len() + receivers;
        let header = format!(r#"{{"work": 1, "job": "messages", "nodes": {nodes}, "files": {{}}}}"#);
        let steps = sends.iter().enumerate().map(|(node, settings_text)| {
            let row = [&vec![0; sends.len()], &settings_text[..=receivers]].concat();
            format!(r#"{{"phase": "p", "node": {node}, "operations": {{"tuple": {tuples}}}, "sends": {row:?}}}"#)
        });
        let work = record(&std::iter::once(header).chain(steps).collect::<Vec<_>>().join("\n"));
        let settings_text = [
            ("node.message_cycles", message_cycles.to_string()),
            ("node.byte_cycles", byte_cycles.to_string()),
            ("node.message_kb", message_kb.to_string()),
            ("network.kind", ["ideal", "switch", "hub"][network].to_owned()),
            ("network.bandwidth_mbit_s", mbit_s.to_string()),
        ];
        let elapsed_ns = |prefetch: &str| {
            let mut settings: Vec<(&str, &str)> =
                settings_text.iter().map(|(key, value)| (*key, value.as_str())).collect();
            settings.push(("node.prefetch_pages", prefetch));
            machine(&settings).run(&work).elapsed_ns
        };
        let (sequential_ns, prefetching_ns) = (elapsed_ns("0"), elapsed_ns("8"));
        // The time of software is rounded for each message.
        let messages: u64 = work.phases[0].bytes_sent().map(|bytes| bytes / (1024 * message_kb) + 5).sum();
        prop_assert!(
            prefetching_ns <= sequential_ns + messages,
            "{prefetching_ns} with prefetching, {sequential_ns} without"
        );
    }
}

/// Nodes that both send and receive: software handles received messages after the messages to send, in both modes.
#[test]
fn prefetch_does_not_slow_chain_of_messages() {
    let work = record(
        r#"{"work": 1, "job": "chain", "nodes": 4, "files": {}}
{"phase": "chain", "node": 0, "sends": {"1": 10485760}}
{"phase": "chain", "node": 1, "sends": {"2": 10485760}}
{"phase": "chain", "node": 2, "sends": {"3": 10485760}}"#,
    );
    let elapsed = |prefetch| {
        let settings = [("node.prefetch_pages", prefetch), ("node.message_cycles", "100000.0")];
        machine(&settings).run(&work).elapsed_ns
    };
    assert_eq!(elapsed("8"), elapsed("0"));
}

#[test]
fn incast_is_bound_by_link_of_receiver() {
    let bytes: u64 = 3_000_000;
    for nodes in [1_u64, 4, 20] {
        let work = record(&format!(
            r#"{{"work": 1, "job": "incast", "nodes": {nodes}, "files": {{}}}}
{{"phase": "incast", "nodes": "all", "sends": {{"client": {bytes}}}}}"#
        ));
        for prefetch in ["0", "4"] {
            let outcome = machine(&[("node.prefetch_pages", prefetch)]).run(&work);
            assert_eq!(outcome.elapsed_ns, nodes * bytes * 8 + 10_000, "{nodes} nodes, {prefetch} ahead");
        }
    }
}

#[test]
fn collective_time_is_latency_rounds_plus_bytes() {
    let collective = |kind: &str, nodes: usize, bytes: u64| {
        let work = record(&format!(
            r#"{{"work": 1, "job": "talk", "nodes": {nodes}, "files": {{}}}}
{{"phase": "talk", "nodes": "all", "operations": {{"tuple": 0}}}}
{{"phase": "talk", "collective": "{kind}", "bytes": {bytes}}}"#
        ));
        machine(&[]).run(&work).elapsed_ns
    };
    for (nodes, rounds) in [(2, 1), (4, 2), (8, 3), (32, 5)] {
        // One packet each, so that no message is divided.
        let hop_ns = 10_000 + 8 * 50_000;
        assert_eq!(collective("barrier", nodes, 0), rounds * 10_000, "barrier of {nodes}");
        assert_eq!(collective("broadcast", nodes, 50_000), rounds * hop_ns, "broadcast to {nodes}");
        assert_eq!(collective("reduce", nodes, 50_000), rounds * hop_ns, "reduce of {nodes}");
        assert_eq!(collective("all-reduce", nodes, 50_000), rounds * hop_ns, "all-reduce of {nodes}");
        let all_rounds_ns = rounds * 10_000 + (nodes as u64 - 1) * 8 * 1_000;
        assert_eq!(collective("all-gather", nodes, 1_000), all_rounds_ns, "all-gather of {nodes}");
        assert_eq!(collective("gather", nodes, 1_000), all_rounds_ns, "gather of {nodes}");
    }
}

/// Riedel, Gibson and Faloutsos (VLDB 1998): the slowest of disks, network and processors determines the throughput.
#[test]
fn overlap_reaches_published_bound_of_active_disks() {
    let (nodes, pages) = (4_u64, 10_000_u64);
    // Tuples per page, of 1 us each, and bytes per page to the client: store-, processor- and network-bound.
    for (tuples, share, name) in [(2_u64, 100_u64, "store"), (30, 100, "compute"), (2, 2048, "network")] {
        let work = record(&format!(
            r#"{{"work": 1, "job": "filter", "nodes": {nodes}, "files": {{"data": {}}}}}
{{"phase": "filter", "nodes": "all", "reads": [{{"file": "data"}}], "operations": {{"tuple": {}}}, "sends": {{"client": {}}}}}"#,
            pages * 8192,
            pages * tuples,
            pages * share
        ));
        let outcome = machine(&[("node.prefetch_pages", "8")]).run(&work);
        let bounds_ns = [pages * PAGE_NS, pages * tuples * 1_000, nodes * pages * share * 8];
        let bound_ns = bounds_ns.into_iter().max().unwrap();
        assert!(outcome.elapsed_ns >= bound_ns, "{name}");
        assert!(
            outcome.elapsed_ns <= bound_ns + bound_ns / 100,
            "{name}: {} for {bound_ns}",
            outcome.elapsed_ns
        );
        // All pages pass through the link of a host: D / r_net, unless its processor is slower.
        let host = machine(&[("node.prefetch_pages", "8"), ("cluster.at", "host")]).run(&work);
        let shipped_ns = nodes * pages * 8192 * 8;
        let bound_ns = shipped_ns.max(nodes * pages * tuples * 1_000).max(pages * PAGE_NS);
        assert!(
            host.elapsed_ns >= bound_ns && host.elapsed_ns <= bound_ns + bound_ns / 100,
            "{name} at the host"
        );
    }
}

#[test]
fn what_if_replay_differs_from_halving_a_component() {
    // Store and processor take the same time: with both overlapped, a store twice as fast saves no time.
    let work = scan(1, 10_000, 80_000);
    let outcome = machine(&[("node.prefetch_pages", "8")]).what_if(&work);
    let store = outcome.what_if.iter().find(|row| row.what == "store").unwrap();
    assert!(store.saved < 0.01, "{}", store.saved);
    let node = outcome.phases[0].nodes[0];
    assert!(node.compute_ns + node.store_ns + node.network_ns + node.waiting_ns == outcome.elapsed_ns);
    // Without overlap, halving the time of a component is exact.
    let sequential = machine(&[]).what_if(&work);
    assert_eq!(
        sequential.what_if[1].elapsed_ns,
        ns(&sequential, |node| node.compute_ns) + ns(&sequential, |node| node.store_ns) / 2
    );
}

#[test]
fn more_prefetch_never_slows_sequential_scan() {
    for device in ["ram", "mems-g1", "mems-g2", "mems-g3"] {
        for tuples in [1_000_u64, 100_000, 1_000_000] {
            let work = scan(1, 2_000, tuples);
            let mut last_ns = u64::MAX;
            for pages in [0, 1, 2, 4, 8] {
                let pages = pages.to_string();
                let machine = Machine::new(&[("device.preset", device), ("node.prefetch_pages", &pages)]);
                let elapsed_ns = machine.run(&work).elapsed_ns;
                assert!(
                    elapsed_ns <= last_ns,
                    "{device}, {tuples} tuples: {pages} pages ahead take {elapsed_ns} after {last_ns}"
                );
                last_ns = elapsed_ns;
            }
        }
    }
}

#[test]
fn more_prefetch_slows_no_disk() {
    let work = scan(1, 500, 25_000);
    let disks = preset::names().filter(|name| !name.starts_with("mems") && *name != "ram");
    let slower: Vec<&str> = disks
        .filter(|device| {
            let elapsed_ns = |pages: &str| {
                Machine::new(&[("device.preset", device), ("node.prefetch_pages", pages)])
                    .run(&work)
                    .elapsed_ns
            };
            let times_ns = ["0", "1", "2", "4", "8"].map(elapsed_ns);
            times_ns.windows(2).any(|pair| pair[1] > pair[0])
        })
        .collect();
    assert!(slower.is_empty(), "{slower:?}");
}

#[test]
fn prefetched_scan_is_bound_by_store_or_processor() {
    for device in ["ram", "mems-g1", "mems-g2", "mems-g3", "hp-c2490a"] {
        let store =
            Machine::new(&[("device.preset", device), ("node.prefetch_pages", "8")]).run(&scan(1, 4_000, 0));
        for tuples in [10_000_u64, 100_000, 1_000_000] {
            let machine = Machine::new(&[("device.preset", device), ("node.prefetch_pages", "8")]);
            let elapsed_ns = machine.run(&scan(1, 4_000, tuples)).elapsed_ns;
            let slower_ns = store.elapsed_ns.max(tuples * 2_000);
            println!("{device} {tuples}: {:.3}", slower_ns as f64 / elapsed_ns as f64);
            assert!(
                elapsed_ns * 95 / 100 <= slower_ns,
                "{device}, {tuples} tuples: {elapsed_ns} for {slower_ns}"
            );
        }
    }
}
