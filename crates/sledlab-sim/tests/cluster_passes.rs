//! Sampled passes of nested loops against simulating every pass.

use crate::clusters::{Machine, record};
use sledlab_sim::cluster::{ClusterOutcome, NodeOutcome};
use sledlab_trace::work::Work;

/// The documented error of sampled passes, with 99.9 % confidence.
const ERROR_BOUND: f64 = 1e-3;

const PAGE: u64 = 8192;

/// A nested loop: pages of the outer file, of the inner file and of a block, and pages written in 10 passes.
pub struct Shape {
    outer: u64,
    inner: u64,
    pub block: u64,
    written: u64,
}

const fn shape(outer: u64, inner: u64, block: u64, written: u64) -> Shape {
    Shape { outer, inner, block, written }
}

/// From loops bound by positioning between the files to loops bound by the inner file.
pub const SHAPES: [Shape; 12] = [
    shape(6000, 2, 2, 3),
    shape(6000, 20, 16, 3),
    shape(6000, 37, 16, 10),
    shape(2000, 150, 16, 3),
    shape(2000, 150, 16, 30),
    shape(2000, 150, 16, 300),
    shape(8000, 150, 16, 300),
    shape(2000, 400, 16, 10),
    shape(3000, 400, 50, 30),
    shape(500, 1500, 5, 10),
    shape(1001, 700, 7, 70),
    shape(300, 3333, 3, 50),
];

impl Shape {
    /// Returns a record of the loop whose outer file is `factor` as long.
    pub fn work(&self, factor: u64, has_writes: bool) -> Work {
        let outer = self.outer * factor;
        let passes = outer.div_ceil(self.block);
        let (output, writes_field) = if has_writes {
            ((passes * self.written).div_ceil(10), r#", "writes": [{"file": "output"}]"#)
        } else {
            (0, "")
        };
        record(&format!(
            r#"{{"work": 1, "job": "join", "nodes": 1, "files": {{"outer": {}, "inner": {}, "output": {}}}}}
{{"phase": "loop", "node": 0, "reads": [{{"file": "outer"}}, {{"file": "inner", "per_block_of": "outer"}}]{writes_field}, "operations": {{"probe": {}}}}}"#,
            outer * PAGE,
            self.inner * PAGE,
            output * PAGE,
            passes * self.inner
        ))
    }
}

/// Replays a loop with and without sampling, and checks that the sampled replay is within its bounds.
pub fn compare(work: &Work, settings: &[(&str, &str)]) -> ClusterOutcome {
    let sampled = Machine::new(settings).run(work);
    let exact = Machine::new(&[settings, &[("cluster.exact", "true")]].concat()).run(work);
    let error = sampled.elapsed_ns as f64 / exact.elapsed_ns as f64 - 1.0;
    let energy_error = (sampled.energy.total_j / exact.energy.total_j - 1.0).abs();
    let store_energy_error = (sampled.energy.store_j / exact.energy.store_j.max(1e-12) - 1.0).abs();
    let case = format!(
        "{settings:?}: error {:.4} %, bound {:.4} %, energy {:.4} %, {:.3} simulated of {}",
        error * 100.0,
        sampled.sampling_error * 100.0,
        energy_error.max(store_energy_error) * 100.0,
        sampled.simulated_share,
        sampled.pages
    );
    println!("{case}");
    assert!((exact.simulated_share - 1.0).abs() < 1e-12 && exact.sampling_error == 0.0, "{case}");
    assert!(sampled.sampling_error <= ERROR_BOUND, "{case}");
    assert!(error.abs() <= sampled.sampling_error, "{case}");
    assert!(energy_error.max(store_energy_error) <= ERROR_BOUND, "{case}");
    assert_eq!(sampled.skipped_passes > 0, sampled.simulated_share < 1.0, "{case}");
    let (sampled_node, exact_node) = (sampled.phases[0].nodes[0], exact.phases[0].nodes[0]);
    let counts = |node: &NodeOutcome| {
        (node.requests, node.read_bytes, node.written_bytes, node.compute_ns, node.processor_ns)
    };
    assert_eq!(counts(&sampled_node), counts(&exact_node), "{case}");
    assert_eq!(sampled.pages, exact.pages, "{case}");
    sampled
}

#[test]
fn sampled_passes_stay_within_bound() {
    let mut sampled_runs = 0;
    for (shape, store) in [(shape(4500, 300, 3, 30), "mems-g3"), (shape(3000, 300, 3, 30), "ram")] {
        for (writes, prefetch) in [(false, "0"), (true, "0"), (true, "4")] {
            let settings =
                [("device.preset", store), ("node.block_kb", "24"), ("node.prefetch_pages", prefetch)];
            sampled_runs += usize::from(compare(&shape.work(1, writes), &settings).skipped_passes > 0);
        }
    }
    assert!(sampled_runs >= 3, "{sampled_runs} of 6 loops were sampled");
}

#[test]
fn short_loops_are_simulated_completely() {
    for shape in &SHAPES[..6] {
        let outcome =
            compare(&shape.work(1, true), &[("device.preset", "mems-g1"), ("node.block_kb", "512")]);
        assert_eq!((outcome.skipped_passes, outcome.sampling_error), (0, 0.0));
    }
}

#[test]
fn stores_with_memory_simulate_every_pass() {
    let cache_settings =
        [("device.preset", "mems-g3"), ("cache.kind", "write-back"), ("node.block_kb", "24")];
    let flash = [("device.preset", "ssd-tlc"), ("node.block_kb", "24")];
    let long_loop = shape(3000, 300, 3, 50);
    assert_eq!(compare(&long_loop.work(1, false), &cache_settings).skipped_passes, 0);
    assert!(compare(&long_loop.work(1, false), &flash).skipped_passes > 0);
    assert_eq!(compare(&long_loop.work(1, true), &flash).skipped_passes, 0);
}
