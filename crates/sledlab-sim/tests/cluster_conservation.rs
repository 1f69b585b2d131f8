//! Nothing is lost, whatever record is replayed: 1,000 random ones.

mod clusters;

use clusters::{Machine, record};
use proptest::prelude::*;
use serde_json::{Value, json};
use sledlab_sim::cluster::{ClusterHooks, ClusterOutcome};

const FILES: [&str; 3] = ["data", "bucket", "runs"];
const ORDERS: [&str; 4] = ["sequential", "random", "merge", "streams"];
const COLLECTIVES: [&str; 6] = ["barrier", "gather", "broadcast", "reduce", "all-reduce", "all-gather"];

/// What one node does: numbers from which a step is made.
type Draw = (u64, u64, usize, usize, u64, Vec<u64>, bool);

fn step(phase: &str, node: usize, nodes: usize, sizes: &[Vec<u64>], draw: &Draw) -> Value {
    let (read, write, file, order, operations, sends, is_nested) = draw;
    let access = |file: usize, share: u64| {
        let bytes = sizes[file][node] * (share % 101) / 100;
        let mut access = json!({ "file": FILES[file], "bytes": bytes, "order": ORDERS[*order] });
        if ORDERS[*order] == "merge" {
            access["runs"] = json!(share % 7 + 1);
        }
        access
    };
    let mut reads = vec![access(*file, *read)];
    let outer = (file + 1) % 3;
    if *is_nested && sizes[outer][node] > 0 {
        reads[0]["per_block_of"] = json!(FILES[outer]);
        reads.push(access(outer, 100));
    }
    // To every node, itself included, and the client.
    let sends: Vec<u64> = sends.iter().copied().cycle().take(nodes + 1).collect();
    json!({
        "phase": phase, "node": node, "reads": reads, "writes": [access((file + 2) % 3, *write)],
        "operations": { "tuple": operations, "pack": operations / 3 }, "sends": sends,
    })
}

fn text(nodes: usize, sizes: &[Vec<u64>], phases: &[(Vec<Draw>, usize, u64)]) -> String {
    let files: serde_json::Map<String, Value> =
        FILES.iter().zip(sizes).map(|(name, bytes)| ((*name).to_owned(), json!(bytes[..nodes]))).collect();
    let mut lines = vec![json!({ "work": 1, "job": "random", "nodes": nodes, "files": files })];
    for (index, (draws, collective, bytes)) in phases.iter().enumerate() {
        let name = format!("phase {index}");
        lines.extend((0..nodes).map(|node| step(&name, node, nodes, sizes, &draws[node])));
        if let Some(kind) = COLLECTIVES.get(*collective) {
            let mut line = json!({ "phase": name, "collective": kind });
            if *kind != "barrier" {
                line["bytes"] = json!(bytes);
            }
            lines.push(line);
        }
    }
    lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

fn check(outcome: &ClusterOutcome) {
    for phase in &outcome.phases {
        let (mut sent, mut received) = (0, 0);
        for node in &phase.nodes {
            let parts = node.compute_ns + node.store_ns + node.network_ns + node.waiting_ns;
            assert_eq!(parts, phase.end_ns - phase.start_ns);
            sent += node.sent_bytes;
            received += node.received_bytes;
        }
        assert!(received <= sent, "the rest is the client's");
    }
    let energy = &outcome.energy;
    let parts = energy.store_j + energy.processor_j + energy.memory_j + energy.network_j;
    assert!((parts - energy.total_j).abs() <= 1e-9 * parts);
    let last = outcome.phases.last().unwrap();
    assert_eq!(last.end_ns, outcome.elapsed_ns);
    assert!(outcome.phases.windows(2).all(|two| two[0].end_ns == two[1].start_ns));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn parts_add_up_and_threads_change_nothing(
        nodes in 1_usize..6,
        sizes in prop::collection::vec(prop::collection::vec(0_u64..150_000, 5), 3),
        phases in prop::collection::vec(
            (
                prop::collection::vec(
                    (0_u64..200, 0_u64..200, 0_usize..3, 0_usize..4, 0_u64..5000,
                     prop::collection::vec(prop_oneof![Just(0_u64), 0_u64..100_000], 1..6), any::<bool>()),
                    5,
                ),
                0_usize..9,
                0_u64..100_000,
            ),
            1..4,
        ),
        (network, device) in (0_usize..4, 0_usize..3),
        prefetch in 0_u64..17,
        (request_us, startup_ms, message_kb, extent_kb) in (0_u64..200, 0_u64..3, 1_u64..100, 0_u64..40),
        is_at_host in prop::bool::weighted(0.2),
    ) {
        let work = record(&text(nodes, &sizes, &phases));
        let own = [
            ("device.preset", ["ram", "mems-g2", "hp-c2490a"][device].to_owned()),
            ("network.kind", ["ideal", "switch", "hub", "tree"][network].to_owned()),
            ("node.prefetch_pages", prefetch.to_string()),
            ("node.request_us", request_us.to_string()),
            ("node.startup_ms", startup_ms.to_string()),
            ("node.message_kb", message_kb.to_string()),
            ("node.extent_kb", extent_kb.to_string()),
            ("node.block_kb", "16".to_owned()),
            ("node.byte_cycles", (prefetch % 3).to_string()),
            ("cluster.at", if is_at_host { "host" } else { "nodes" }.to_owned()),
        ];
        let settings: Vec<(&str, &str)> = own.iter().map(|(key, value)| (*key, value.as_str())).collect();
        let machine = Machine::new(&settings);
        let run = |threads| {
            let hooks = ClusterHooks { threads, ..ClusterHooks::default() };
            machine.experiment.run(&work, hooks).unwrap_or_else(|error| panic!("{error}"))
        };
        let one = run(1);
        check(&one);
        prop_assert_eq!(serde_json::to_string(&one).unwrap(), serde_json::to_string(&run(2)).unwrap());
    }
}
