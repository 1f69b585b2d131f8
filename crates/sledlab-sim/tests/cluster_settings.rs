//! Settings of a replay, and the errors for invalid settings.

use std::io::Cursor;

use crate::clusters::{Machine, record};
use sledlab_sim::cluster::{ClusterExperiment, ClusterHooks, ClusterOutcome, Dump};
use sledlab_trace::work::Work;

const SCAN: &str = r#"{"work": 1, "job": "scan", "nodes": 4, "files": {"data": 819200}, "groups": {"left": [0, 1], "right": [2, 3]}}
{"phase": "scan", "nodes": "all", "reads": [{"file": "data"}], "operations": {"tuple": 5000}, "memory": 100000}
"#;

fn message(settings: &[(&str, &str)], work: &Work) -> String {
    let mut experiment = ClusterExperiment::new();
    let configured = settings.iter().try_for_each(|(key, value)| experiment.set(key, value));
    let outcome = configured.and_then(|()| experiment.run(work, ClusterHooks::default()));
    outcome.unwrap_err().to_string()
}

#[test]
fn errors_have_a_remedy() {
    let work = record(SCAN);
    let device = ("device.preset", "mems-g2");
    for (settings, part) in [
        (vec![], "no device was given"),
        (vec![device, ("node.preset", "smart-2004")], "did you mean `smart-2003`?"),
        (vec![device, ("network.preset", "ethernet")], "unknown network"),
        (vec![device, ("network.kind", "swatch")], "did you mean `switch`?"),
        (vec![device, ("node.page_kbs", "8")], "did you mean `node.page_kb`?"),
        (vec![device, ("cluster.at", "moon")], "expected one of nodes, host"),
        (vec![device, ("clusters.at", "host")], "did you mean `cluster`?"),
        (vec![device, ("workload.kind", "uniform")], "the replay of a record has none"),
        (vec![device, ("group.nodes", "[0]")], "write a table [[group]]"),
        (vec![device, ("node.cycles.tuple", "-3")], "node.cycles.tuple"),
        (vec![device, ("node.memory_mb", "0.5")], "phase `scan` needs 100000 bytes of memory on node 0"),
        (vec![device, ("node", "8")], "not of the form table.key"),
        (vec![device, ("node.cycles.tuple", "1e15"), ("node.mhz", "0.001")], "more than 30 years"),
    ] {
        let error = message(&settings, &work);
        assert!(error.contains(part), "{settings:?}: {error}");
    }
    let small_device = [("device.preset", "ram"), ("device.capacity_mb", "1")];
    let error = message(&small_device, &record(&SCAN.replace("819200", "2819200")));
    assert!(error.contains("the files of node 0 take"), "{error}");
    let unknown_operation = SCAN.replace("tuple", "dance");
    let error = message(&[device], &record(&unknown_operation));
    assert!(error.contains("`dance`") && error.contains("node.cycles.dance=1000"), "{error}");
    let mut dump = Dump::default();
    let hooks = ClusterHooks { dump: Some((4, &mut dump)), ..ClusterHooks::default() };
    let error = Machine::new(&[device]).experiment.run(&work, hooks).unwrap_err().to_string();
    assert!(error.contains("nodes are 0 to 3"), "{error}");
}

fn run_toml(text: &str, work: &Work) -> ClusterOutcome {
    let experiment = ClusterExperiment::from_toml("test.toml", text).unwrap();
    experiment.run(work, ClusterHooks::default()).unwrap()
}

#[test]
fn groups_have_separate_nodes_and_stores() {
    let work = record(SCAN);
    let disks = Machine::new(&[("device.preset", "hp-c2490a")]).run(&work);
    let sleds = Machine::new(&[("device.preset", "mems-g2"), ("node.mhz", "250.0")]).run(&work);
    let text = r#"
[[group]]
nodes = "left"
device = "hp-c2490a"
[[group]]
nodes = [2, 3]
device = "mems-g2"
node = { mhz = 250.0 }
"#;
    let mixed = run_toml(text, &work);
    let complete = ClusterExperiment::from_toml("test.toml", text).unwrap().to_toml(&work).unwrap();
    let repeated = run_toml(&complete, &work);
    assert_eq!(serde_json::to_string(&mixed).unwrap(), serde_json::to_string(&repeated).unwrap());
    let node = |outcome: &ClusterOutcome, index: usize| outcome.phases[0].nodes[index];
    assert_eq!(node(&mixed, 1).store_ns, node(&disks, 1).store_ns);
    assert_eq!(node(&mixed, 3).store_ns, node(&sleds, 3).store_ns);
    assert_eq!(node(&mixed, 3).compute_ns, node(&sleds, 3).compute_ns);
    assert_eq!(mixed.elapsed_ns, disks.elapsed_ns.max(sleds.elapsed_ns));
    for (text, part) in [
        ("[[group]]\nnodes = \"middle\"\ndevice = \"ram\"", "unknown group of the record `middle`"),
        ("[[group]]\nnodes = [7]\ndevice = \"ram\"", "`7` is not a node of 4"),
        ("[[group]]\ndevice = \"ram\"", "a group needs nodes"),
        ("[group]\ndevice = \"ram\"", "write [[group]]"),
        ("device = \"ram\"\n[[group]]\nnodes = [0]\nnetwork = \"hub\"", "set network for all nodes"),
        ("device = \"ram\"\n[[group]]\nnodes = [0]\n[[group]]\nnodes = [0]", "node 0 is in two groups"),
        ("[[group]]\nnodes = [0]\ndevice = \"ram\"", "no device was given"),
    ] {
        let outcome = ClusterExperiment::from_toml("test.toml", text)
            .and_then(|e| e.run(&work, ClusterHooks::default()));
        let error = outcome.unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn complete_experiment_repeats_replay() {
    let work = record(SCAN);
    let hybrid = [("device.preset", "atlas-10k"), ("hybrid.kind", "caching-disk"), ("cluster.at", "host")];
    let disk = [("device.preset", "hp-c2490a"), ("cluster.ready", "false"), ("node.preset", "csd-arm")];
    let array = [("device.preset", "mems-g2"), ("system.kind", "raid5"), ("system.devices", "5")];
    for settings in [&hybrid, &disk, &array] {
        let mut experiment = ClusterExperiment::new();
        for (key, value) in settings {
            experiment.set(key, value).unwrap();
        }
        let first = experiment.run(&work, ClusterHooks::default()).unwrap();
        let repeated = run_toml(&experiment.to_toml(&work).unwrap(), &work);
        assert_eq!(serde_json::to_string(&first).unwrap(), serde_json::to_string(&repeated).unwrap());
    }
}

#[test]
fn host_memory_determines_passes_over_inner_file() {
    let text = r#"{"work": 1, "job": "join", "nodes": 2, "files": {"outer": 1638400, "inner": 819200}}
{"phase": "loop", "nodes": "all", "reads": [{"file": "outer"}, {"file": "inner", "per_block_of": "outer"}], "writes": [{"file": "inner"}], "operations": {"probe": 1000}, "sends": {"client": 1000}}
"#;
    let work = record(text);
    let replay_at = |replay_at: &str| {
        let settings = [
            ("device.preset", "mems-g2"),
            ("cluster.at", replay_at),
            ("node.block_kb", "800"),
            ("host.block_kb", "800"),
        ];
        Machine::new(&settings).run(&work)
    };
    let read = |outcome: &ClusterOutcome| -> u64 {
        outcome.phases.iter().flat_map(|phase| &phase.nodes).map(|node| node.read_bytes).sum()
    };
    // Two blocks of 800 KB on each node; four at the host, whose memory is no larger, for the blocks of both.
    assert_eq!(read(&replay_at("nodes")), 2 * (1_638_400 + 2 * 819_200));
    let host = replay_at("host");
    assert_eq!(read(&host), 2 * (1_638_400 + 4 * 819_200));
    assert_eq!(host.nodes, 3);
    let names: Vec<&str> = host.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["loop", "loop, written back"]);
    let (node, host_node) = (host.phases[0].nodes[0], host.phases[0].nodes[2]);
    assert_eq!((node.compute_ns, node.sent_bytes), (0, 1_638_400 + 4 * 819_200));
    assert_eq!(
        (host_node.requests, host_node.sent_bytes, host_node.received_bytes),
        (0, 2000, 2 * node.sent_bytes)
    );
}

/// Pages are sent one by one, as messages of 1 us at either end, in the size of the pages of their node.
#[test]
fn pages_cross_network_in_page_size_of_their_node() {
    let work = record(
        r#"{"work": 1, "job": "copy", "nodes": 2, "files": {"data": 655360, "copy": 655360}}
{"phase": "copy", "nodes": "all", "reads": [{"file": "data"}], "writes": [{"file": "copy"}]}"#,
    );
    let busy_us = |node_settings: &str| {
        let text = format!(
            r#"
device = "ram"
node = {{ mhz = 1000.0, message_cycles = 1000.0 }}
host = {{ mhz = 1000.0, message_cycles = 1000.0 }}
{node_settings}
[[group]]
nodes = [1]
node = {{ page_kb = 64 }}
"#
        );
        let outcome = run_toml(&text, &work);
        (0..outcome.nodes)
            .map(|node| outcome.phases.iter().map(|phase| phase.nodes[node].processor_ns / 1_000).sum())
            .collect::<Vec<u64>>()
    };
    // 80 pages of 8 KB and 10 of 64 KB, read by the host and written by it.
    assert_eq!(busy_us("cluster = { at = \"host\" }"), [160, 20, 180]);
    // Each node sends its pages to the other, which has their copies.
    assert_eq!(busy_us("cluster = { redundancy = \"mirror\" }"), [90, 90]);
}

#[test]
fn samples_replay_on_every_network() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sample/work");
    for name in ["scan", "sort", "join", "exchange"] {
        let work = Work::read(folder.join(format!("{name}.work"))).unwrap();
        for network in ["fast-ethernet", "hub", "infiniband-1x", "ethernet-25g", "rack-ethernet", "ideal"] {
            for prefetch in ["0", "4"] {
                let settings = [
                    ("device.preset", "mems-g2"),
                    ("network.preset", network),
                    ("node.prefetch_pages", prefetch),
                ];
                let outcome = Machine::new(&settings).run(&work);
                assert!(outcome.elapsed_ns > 0, "{name} on {network}");
            }
        }
    }
}

#[test]
fn interrupt_ends_replay() {
    let work = Work::parse("long.work", Cursor::new(SCAN.replace("819200", "81920000"))).unwrap();
    for prefetch in ["0", "8"] {
        let machine = Machine::new(&[("device.preset", "mems-g2"), ("node.prefetch_pages", prefetch)]);
        let mut calls = 0;
        let mut stop = |_: f64, _: u64| {
            calls += 1;
            false
        };
        let hooks = ClusterHooks { progress: Some(&mut stop), ..ClusterHooks::default() };
        let outcome = machine.experiment.run(&work, hooks);
        assert!(
            outcome.is_ok() && calls == 0 || outcome.is_err_and(|error| error.is_interrupt()),
            "{prefetch}"
        );
    }
}

fn large(bytes: &str, sends: &str) -> Work {
    record(&format!(
        r#"{{"work": 1, "job": "large", "nodes": 2, "files": {{"data": 8192}}}}
{{"phase": "exchange", "node": 0, "reads": [{{"file": "data"}}], "sends": {{"1": {bytes}}}{sends}}}"#
    ))
}

#[test]
fn too_large_exchange_is_rejected_with_phase() {
    let ram = ("device.preset", "ram");
    let (sequential, prefetching) = (("node.prefetch_pages", "0"), ("node.prefetch_pages", "8"));
    let petabyte = large("1125899906842624", "");
    let single_bytes = large("10000000000", r#", "message_bytes": 1"#);
    let broadcast = record(
        r#"{"work": 1, "job": "large", "nodes": 2, "files": {}}
{"phase": "exchange", "collective": "broadcast", "bytes": 1125899906842624}"#,
    );
    for (work, settings, part) in [
        (&petabyte, [ram, sequential], "pages, messages and packets, more than 2^32"),
        (&petabyte, [ram, prefetching], "messages exceed the maximum of 2^26"),
        (&single_bytes, [ram, sequential], "pages, messages and packets, more than 2^32"),
        (&single_bytes, [ram, prefetching], "messages exceed the maximum of 2^26"),
        (&broadcast, [ram, sequential], "pages, messages and packets, more than 2^32"),
        (&broadcast, [ram, prefetching], "pages, messages and packets, more than 2^32"),
    ] {
        let error = message(&settings, work);
        assert!(error.contains("phase `exchange`") && error.contains(part), "{settings:?}: {error}");
    }
    let slow = [ram, sequential, ("network.bandwidth_mbit_s", "0.001"), ("network.packet_kb", "1000000")];
    let error = message(&slow, &large("1000000000000", r#", "message_bytes": 1000000000"#));
    assert!(error.contains("phase `exchange`") && error.contains("30 years"), "{error}");
}

#[test]
fn too_many_pages_are_rejected_with_phase() {
    let settings = [("device.preset", "ram"), ("device.capacity_mb", "1000000000"), ("node.block_kb", "8")];
    let file = r#"{"work": 1, "job": "large", "nodes": 1, "files": {"outer": 70368744177664, "inner": 70368744177664}}"#;
    let scan = r#"{"phase": "scan", "node": 0, "reads": [{"file": "outer"}]}"#;
    let error = message(&settings, &record(&format!("{file}\n{scan}")));
    assert!(error.contains("phase `scan`") && error.contains("more than 2^32"), "{error}");
    let random = scan.replace("}]", r#", "order": "random"}]"#);
    let error = message(&settings, &record(&format!("{file}\n{random}")));
    assert!(error.contains("phase `scan`") && error.contains("random order"), "{error}");
    let nested = scan.replace("}]", r#"}, {"file": "inner", "per_block_of": "outer"}]"#);
    let error = message(&settings, &record(&format!("{file}\n{nested}")));
    assert!(error.contains("phase `scan`") && error.contains("more than 2^62 bytes"), "{error}");
    let at_host = [&settings[..], &[("cluster.at", "host")]].concat();
    let error = message(&at_host, &record(&format!("{file}\n{nested}")));
    assert!(error.contains("the host would read `inner`"), "{error}");
}

#[test]
fn many_reads_and_phases_take_linear_time() {
    let reads = vec![r#"{"file": "data"}"#; 100_000].join(", ");
    let header = r#"{"work": 1, "job": "many", "nodes": 1, "files": {"data": 512}}"#;
    let step = |name: usize, reads: &str| format!(r#"{{"phase": "{name}", "node": 0, "reads": [{reads}]}}"#);
    let ram = [("device.preset", "ram")];
    let outcome = Machine::new(&ram).run(&record(&format!("{header}\n{}", step(0, &reads))));
    assert_eq!(outcome.pages, 100_000);
    let phases: Vec<String> = (0..20_000).map(|phase| step(phase, r#"{"file": "data"}"#)).collect();
    let outcome = Machine::new(&ram).run(&record(&format!("{header}\n{}", phases.join("\n"))));
    assert_eq!((outcome.phases.len(), outcome.pages), (20_000, 20_000));
}
