//! Random records, and checks that apply to every replay.

use serde_json::{Value, json};
use sledlab_sim::cluster::ClusterOutcome;

const FILES: [&str; 3] = ["data", "bucket", "runs"];
const ORDERS: [&str; 4] = ["sequential", "random", "merge", "streams"];
const COLLECTIVES: [&str; 6] = ["barrier", "gather", "broadcast", "reduce", "all-reduce", "all-gather"];

/// Random numbers that determine the step of one node.
pub type Draw = (u64, u64, usize, usize, u64, Vec<u64>, bool);

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
        // The outer file may be in memory.
        if read % 2 == 0 {
            reads.push(access(outer, 100));
        }
    }
    // Sends to every node, itself included, and to the client.
    let sends: Vec<u64> = sends.iter().copied().cycle().take(nodes + 1).collect();
    json!({
        "phase": phase, "node": node, "reads": reads, "writes": [access((file + 2) % 3, *write)],
        "operations": { "tuple": operations, "pack": operations / 3 }, "sends": sends,
    })
}

/// Returns the text of a record of so many nodes, whose files have the given sizes.
pub fn text(nodes: usize, sizes: &[Vec<u64>], phases: &[(Vec<Draw>, usize, u64)]) -> String {
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

/// Checks that apply to every outcome.
pub fn check(outcome: &ClusterOutcome) {
    for phase in &outcome.phases {
        let (mut sent, mut received) = (0, 0);
        for node in &phase.nodes {
            let parts_ns = node.compute_ns + node.store_ns + node.network_ns + node.waiting_ns;
            assert_eq!(parts_ns, phase.end_ns - phase.start_ns);
            sent += node.sent_bytes;
            received += node.received_bytes;
        }
        assert!(received <= sent, "the client receives the remaining bytes");
    }
    let energy = &outcome.energy;
    let parts_j = energy.store_j + energy.processor_j + energy.memory_j + energy.network_j;
    assert!((parts_j - energy.total_j).abs() <= 1e-9 * parts_j);
    let last = outcome.phases.last().unwrap();
    assert_eq!(last.end_ns, outcome.elapsed_ns);
    assert!(outcome.phases.windows(2).all(|pair| pair[0].end_ns == pair[1].start_ns));
}
