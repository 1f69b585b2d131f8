//! Runs with the per-request table, and checks that apply to any run.

use sledlab_core::source::MemorySource;
use sledlab_core::{BLOCK_BYTES, Request};
use sledlab_sim::{Experiment, Hooks, Rows, Summary};

pub fn run(experiment: &Experiment, source: &[Request]) -> (Summary, Rows) {
    let mut all_rows = Rows::default();
    let mut sink = |rows: &Rows| {
        all_rows.id.extend(&rows.id);
        all_rows.arrival_ns.extend(&rows.arrival_ns);
        all_rows.start_ns.extend(&rows.start_ns);
        all_rows.completion_ns.extend(&rows.completion_ns);
        all_rows.seek_uj.extend(&rows.seek_uj);
        all_rows.access_uj.extend(&rows.access_uj);
        all_rows.startup_uj.extend(&rows.startup_uj);
        Ok(())
    };
    let source = Some(Box::new(MemorySource::new(source.to_vec())) as Box<_>);
    let outcome =
        experiment.run(Hooks { source, rows: Some(Box::new(&mut sink)), ..Hooks::default() }).unwrap();
    (outcome.summary, all_rows)
}

pub fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-9)
}

/// Checks that every request completes once and after its arrival, that all of its bytes have moved, and that the times
/// in states of `devices` devices add up to the run.
pub fn check((summary, rows): &(Summary, Rows), source: &[Request], devices: f64) {
    let media = || source.iter().filter(|request| request.op.is_media());
    let mut ids = rows.id.clone();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((ids.len(), rows.id.len()), (media().count(), media().count()), "each is completed once");
    assert_eq!(summary.operations.dropped, 0);
    for i in 0..rows.id.len() {
        assert!(rows.arrival_ns[i] <= rows.start_ns[i] && rows.start_ns[i] <= rows.completion_ns[i]);
    }
    assert!(rows.completion_ns.is_sorted());
    let bytes: u64 = media().map(|request| u64::from(request.blocks) * BLOCK_BYTES).sum();
    assert_eq!(summary.read.bytes + summary.write.bytes, bytes);
    let time = &summary.state_time_s;
    let states_s = time.seek + time.access + time.idle + time.inactive + time.startup;
    assert!(is_close(states_s, devices * summary.elapsed_s), "{states_s} {}", summary.elapsed_s);
}
