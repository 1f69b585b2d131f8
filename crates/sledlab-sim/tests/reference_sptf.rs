//! Compares SPTF with a reference simulator, whose SPTF (with its angle corrected) assumes one overhead for all reads
//! and one for all writes. An SPTF with the same assumption has the same response times here. The SPTF of sledlab uses
//! the overhead of each command and has shorter ones.
//!
//! The runs are not part of the project: the test reads them from `$SLEDLAB_REFERENCE`, by default a directory next to
//! the project, and passes with a note where they are absent.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use sledlab_core::{Span, Time};
use sledlab_models::device::disk::DiskState;
use sledlab_models::device::{Mechanics, QueuedRequest};
use sledlab_models::scheduler::{Choice, Scheduler};
use sledlab_sim::{Experiment, Hooks};

/// Overheads of the HP C2490A's reads and writes that the recorded runs assume.
const READ_OVERHEAD: Span = Span::from_ns(3_616_000);
const WRITE_OVERHEAD: Span = Span::from_ns(3_283_000);

/// SPTF with one overhead for reads and one for writes, independent of the previous command; ties are resolved by the
/// lowest block.
#[derive(Default)]
struct FixedOverheads {
    queue: Vec<QueuedRequest>,
}

impl Scheduler for FixedOverheads {
    fn push(&mut self, request: QueuedRequest) {
        self.queue.push(request);
    }

    fn pop(&mut self, now: Time, mechanics: &dyn Mechanics, batch: &mut Vec<QueuedRequest>) {
        let DiskState { track, .. } = mechanics.state().into();
        let state =
            DiskState { track, earliest_read: now + READ_OVERHEAD, earliest_write: now + WRITE_OVERHEAD }
                .into();
        let cost = |request: &QueuedRequest| (mechanics.positioning_from(state, request), request.lbn);
        let chosen = (0..self.queue.len()).min_by_key(|index| cost(&self.queue[*index]));
        batch.extend(chosen.map(|index| self.queue.remove(index)));
    }

    fn len(&self) -> usize {
        self.queue.len()
    }

    fn remove(&mut self, _request: &QueuedRequest, _mechanics: &dyn Mechanics) -> bool {
        false
    }
}

/// Returns the folder with the runs, or `None` after a note.
fn reference_runs() -> Option<PathBuf> {
    let root = std::env::var_os("SLEDLAB_REFERENCE").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference"),
        PathBuf::from,
    );
    let runs = root.join("disks/open");
    if !runs.is_dir() {
        eprintln!("skipped: no reference runs (set SLEDLAB_REFERENCE)");
        return None;
    }
    Some(runs)
}

fn recorded_ms(table: &Path) -> f64 {
    let mut text = String::new();
    GzDecoder::new(File::open(table).unwrap()).read_to_string(&mut text).unwrap();
    let mut lines = text.lines();
    let column = lines.next().unwrap().split(',').position(|name| name == "sptf_angle_fixed_response_us");
    let us: Vec<f64> =
        lines.map(|line| line.split(',').nth(column.unwrap()).unwrap().parse().unwrap()).collect();
    us.iter().sum::<f64>() / us.len() as f64 / 1e3
}

/// Returns the mean response time of the drive as in the recorded runs.
fn mean_ms(trace: &Path, scheduler: Option<Choice>) -> f64 {
    let mut experiment = Experiment::new();
    experiment.set_device("hp-c2490a").unwrap();
    for (key, value) in [
        ("device.bus_sector_us", "148.41"),
        ("device.bus_write_sector_us", "148.41"),
        ("device.idle_timeout_ms", "1e9"),
        ("device.startup_ms", "0.0"),
        ("scheduler.kind", "sptf"),
    ] {
        experiment.set(key, value).unwrap();
    }
    experiment.set_trace(&trace.to_string_lossy(), None);
    experiment.set("trace.start", "zero").unwrap();
    if let Some(scheduler) = scheduler {
        experiment.set_scheduler(scheduler);
    }
    experiment.run(Hooks::default()).unwrap().summary.response_time_ms.stats.mean
}

#[test]
fn sptf_with_two_overheads_equals_reference_simulator() {
    let Some(runs) = reference_runs() else { return };
    for load in ["heavy", "overload", "mixed"] {
        let recorded_mean_ms = recorded_ms(&runs.join(format!("hp_c2490a.{load}.csv.gz")));
        let trace = runs.join(format!("hp_c2490a.{load}.trace.gz"));
        let two_overheads =
            Choice::custom("two-overheads", toml::Table::new(), |_| Ok(Box::new(FixedOverheads::default())));
        let deviation = mean_ms(&trace, Some(two_overheads)) / recorded_mean_ms - 1.0;
        let own_deviation = mean_ms(&trace, None) / recorded_mean_ms - 1.0;
        println!(
            "{load}: by two overheads {:+.2} %, by the drive's own {:+.2} %",
            deviation * 100.0,
            own_deviation * 100.0
        );
        assert!(deviation.abs() < 0.01 && own_deviation < deviation, "{load}: {deviation}, {own_deviation}");
    }
}
