//! Stores of a cluster compared with the same device alone.

use crate::clusters::{Machine, record};
use sledlab_core::source::MemorySource;
use sledlab_core::{Request, Source};
use sledlab_sim::cluster::{ClusterHooks, Dump};
use sledlab_sim::{Experiment, Hooks, Rows};

/// Stores by name, as settings.
const STORES: [(&str, &[(&str, &str)]); 9] = [
    ("mems-g1", &[("device.preset", "mems-g1")]),
    ("mems-g2", &[("device.preset", "mems-g2")]),
    ("mems-g3", &[("device.preset", "mems-g3")]),
    ("mems-g1-disksim", &[("device.preset", "mems-g1-disksim")]),
    ("mems-g2-disksim", &[("device.preset", "mems-g2-disksim"), ("scheduler.kind", "sptf")]),
    ("mems-g3-disksim", &[("device.preset", "mems-g3-disksim")]),
    ("hp-c2490a", &[("device.preset", "hp-c2490a")]),
    ("caching disk", &[("device.preset", "atlas-10k"), ("hybrid.kind", "caching-disk")]),
    ("raid5", &[("device.preset", "mems-g2"), ("system.kind", "raid5"), ("system.devices", "5")]),
];

/// A job that reads, computes, sends and writes, in every order.
const MIXED_WORK: &str = r#"{"work": 1, "job": "mixed", "nodes": 2, "files": {"data": 3000000, "runs": 2000000, "bucket": 2500000}}
{"phase": "first", "nodes": "all", "reads": [{"file": "data"}, {"file": "runs", "order": "merge", "runs": 5}], "writes": [{"file": "bucket", "order": "streams"}], "operations": {"tuple": 9000, "pack": 700}, "sends": {"each": 900000}}
{"phase": "second", "nodes": "all", "reads": [{"file": "bucket", "bytes": 700000, "order": "random"}], "writes": [{"file": "runs"}], "operations": {"compare": 20000}}"#;

#[test]
fn store_in_cluster_behaves_like_store_alone() {
    let work = record(MIXED_WORK);
    for (name, settings) in STORES {
        for prefetch in ["0", "8"] {
            let node_settings = [
                ("node.prefetch_pages", prefetch),
                ("node.request_us", "30"),
                ("cluster.exact", "true"),
                ("cluster.ready", "false"),
            ];
            let machine = Machine::new(&[settings, &node_settings].concat());
            let mut dump = Dump::default();
            let hooks = ClusterHooks { dump: Some((1, &mut dump)), ..ClusterHooks::default() };
            machine.experiment.run(&work, hooks).unwrap();
            let Dump { requests, completions } = dump;
            assert!(requests.len() > 900, "{name}");
            let times_alone_ns = run_alone(settings, requests);
            for (index, (cluster_time, alone_ns)) in completions.iter().zip(&times_alone_ns).enumerate() {
                assert_eq!(cluster_time.as_ns(), *alone_ns, "{name}, {prefetch} ahead: request {index}");
            }
            assert_eq!(completions.len(), times_alone_ns.len());
        }
    }
}

/// Returns the completion times of a device alone for the same requests at the same times.
fn run_alone(settings: &[(&str, &str)], requests: Vec<Request>) -> Vec<u64> {
    let mut experiment = Experiment::new();
    for (key, value) in settings {
        experiment.set(key, value).unwrap();
    }
    let mut completions = vec![0; requests.len()];
    let mut rows = |rows: &Rows| {
        rows.id.iter().zip(&rows.completion_ns).for_each(|(id, at)| completions[*id as usize] = *at);
        Ok(())
    };
    let source: Option<Box<dyn Source>> = Some(Box::new(MemorySource::new(requests)));
    experiment.run(Hooks { source, rows: Some(Box::new(&mut rows)), ..Hooks::default() }).unwrap();
    completions
}
