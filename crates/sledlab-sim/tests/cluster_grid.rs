//! Sampled passes against simulating every pass, for all shapes of loops on all stores. `make validate` runs this test,
//! in the release profile.

#[path = "cluster_passes.rs"]
mod cluster_passes;
#[expect(dead_code, reason = "the other tests use the other items")]
mod clusters;

use cluster_passes::{SHAPES, compare};

const STORES: [&str; 6] = ["mems-g1", "mems-g3", "hp-c2490a", "atlas-10k", "ssd-tlc", "ram"];

/// Loops with and without output pages and prefetching.
#[test]
fn sampled_passes_stay_within_bound_on_full_grid() {
    let mut sampled_runs = 0;
    for shape in &SHAPES {
        for (writes, prefetch) in [(false, "0"), (false, "4"), (true, "0"), (true, "4")] {
            let work = shape.work(10, writes);
            for store in STORES {
                let block = (shape.block * 8).to_string();
                let settings = [
                    ("device.preset", store),
                    ("node.block_kb", block.as_str()),
                    ("node.prefetch_pages", prefetch),
                ];
                sampled_runs += usize::from(compare(&work, &settings).skipped_passes > 0);
            }
        }
    }
    assert!(sampled_runs > 50, "{sampled_runs} loops were sampled");
}
