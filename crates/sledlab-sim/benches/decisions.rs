//! Benchmark of scheduling decisions: wall-clock time by scheduler and queue length, with the index of the
//! device and with an exhaustive search. Prints a table and writes `validation/benches/decisions.json`.
//!
//! A decision selects a request; its arrival replacement is included. The device is a G2 under uniform requests of one
//! block that arrive as fast as they are served.

#[expect(dead_code, reason = "this benchmark prints its rows itself")]
mod table;

use std::time::Instant;

use rand::RngExt;
use serde_json::{Value, json};
use sledlab_core::{Op, Span, Time, seed};
use sledlab_models::device::mems::{self, MemsParams};
use sledlab_models::device::{Device, QueuedRequest};
use sledlab_models::scheduler::{self, Choice, Entry, Scheduler};
use toml::Table;

const DEPTHS: [usize; 8] = [4, 16, 64, 100, 300, 1_000, 10_000, 100_000];
const RUNS: usize = 3;
/// Interarrival time of the requests that are queued at the start.
const GAP: Span = Span::from_ns(400_000);
/// Maximum number of probes of an exhaustive search.
const MAX_PROBES: usize = 2_000_000;

/// A queue of constant length and the device that serves it.
struct Bench {
    device: Box<dyn Device>,
    queue: Box<dyn Scheduler>,
    rng: seed::Stream,
    now: Time,
    next_id: u64,
    spent_s: f64,
}

impl Bench {
    fn new(choice: &Choice, depth: usize, exhaustive: bool) -> Self {
        let device = mems::build(&MemsParams::default()).expect("a device");
        let make = if exhaustive { Choice::make_exhaustive } else { Choice::make };
        let queue = make(choice, device.mechanics()).expect("a queue");
        let now = Time::ZERO;
        let mut bench = Bench { device, queue, rng: seed::stream(7, "picks"), now, next_id: 0, spent_s: 0.0 };
        for _ in 0..depth {
            bench.now += GAP;
            bench.arrive();
        }
        bench.spent_s = 0.0;
        bench
    }

    fn arrive(&mut self) {
        let lbn = self.rng.random_range(0..self.device.mechanics().capacity_blocks());
        let (id, arrival) = (self.next_id, self.now);
        self.next_id += 1;
        let start = Instant::now();
        self.queue.push(QueuedRequest {
            id,
            arrival,
            queue_time: arrival,
            lbn,
            blocks: 1,
            op: Op::Read,
            ..QueuedRequest::default()
        });
        self.spent_s += start.elapsed().as_secs_f64();
    }

    /// Returns the nanoseconds per decision; `None` if the scheduler rejects a queue of this length.
    fn decide(mut self, decisions: usize) -> Option<f64> {
        let (mut batch, mut served) = (Vec::new(), Vec::new());
        for _ in 0..decisions {
            let start = Instant::now();
            self.queue.pop(self.now, self.device.mechanics(), &mut batch);
            self.spent_s += start.elapsed().as_secs_f64();
            if batch.is_empty() {
                return None;
            }
            let busy = self.device.issue(self.now, &batch, &mut served)?;
            self.now = busy.until;
            batch.drain(..).for_each(|_| self.arrive());
            served.clear();
        }
        Some(self.spent_s * 1e9 / decisions as f64)
    }
}

fn median_ns(choice: &Choice, depth: usize, exhaustive: bool, decisions: usize) -> Option<f64> {
    let mut ns: Vec<f64> =
        (0..RUNS).map(|_| Bench::new(choice, depth, exhaustive).decide(decisions)).collect::<Option<_>>()?;
    ns.sort_by(f64::total_cmp);
    Some(ns[RUNS / 2])
}

/// Returns whether the scheduler searches for positions, so that an exhaustive search can replace its index.
fn has_search(entry: &Entry) -> bool {
    let position_schedulers =
        ["sptf", "asptf", "wstf", "sdf", "gsptf", "zsptf", "p-sptf", "pa-sptf", "p-alpha"];
    position_schedulers.contains(&entry.name)
}

fn row(entry: &Entry, depth: usize) -> Value {
    let choice = Choice::new(entry.name, &Table::new()).expect("a scheduler");
    // Schedulers for small queues make a complete plan at every arrival, so fewer decisions are measured.
    let decisions = if entry.facts.compared_by_default { 20_000 } else { 20 };
    let index_ns = median_ns(&choice, depth, false, decisions);
    let search_ns = has_search(entry)
        .then(|| median_ns(&choice, depth, true, (MAX_PROBES / depth).clamp(5, 5_000)))
        .flatten();
    json!({ "scheduler": entry.name, "queue": depth, "ns": index_ns, "search_ns": search_ns })
}

fn main() {
    // `cargo test --benches` only checks that the benchmark compiles and starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let cell = |value: &Value| value.as_f64().map_or_else(|| "-".to_owned(), |ns| format!("{ns:.0}"));
    println!("ns per decision at a queue of {DEPTHS:?}; in brackets by exhaustive search");
    let mut rows = Vec::new();
    for entry in scheduler::LIST.iter().filter(|entry| entry.name != "sptf-exhaustive") {
        let depth_rows: Vec<Value> = DEPTHS.iter().map(|depth| row(entry, *depth)).collect();
        let cells = depth_rows.iter().map(|row| match &row["search_ns"] {
            Value::Null => cell(&row["ns"]),
            search_ns => format!("{} ({})", cell(&row["ns"]), cell(search_ns)),
        });
        print!("{:<16}", entry.name);
        cells.for_each(|text| print!(" {text:>18}"));
        println!();
        rows.extend(depth_rows);
    }
    table::save("decisions.json", &rows);
}
