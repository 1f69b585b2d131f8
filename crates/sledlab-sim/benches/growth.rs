//! Benchmark of the growth of processor time: with the requests of a run, and with the size of a hybrid or of a cache.
//! Prints a table and writes `benches/growth.json`, to which `benches/growth.py` adds the runs of a study.
//!
//! `cargo bench --bench growth -- requests` only prints the series of requests.

mod replays;
#[expect(dead_code, reason = "this benchmark prints its rows itself")]
mod table;

use serde_json::{Value, json};
use sledlab_sim::{Experiment, Hooks};

use replays::{CACHING_DISK, WRITE_BACK_CACHE, WRITE_BUFFER, news_requests, processor_s, replay_s};
use table::median;

/// Numbers of requests of a run.
const REQUESTS: [u64; 7] = [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000];
/// Sizes of a front device or a cache, in MiB.
const SIZES_MB: [u64; 7] = [64, 128, 256, 512, 1024, 2048, 3072];
/// Number of requests of a replay on a hybrid or a cache.
const REPLAYED: usize = 1_000_000;

const RUNS: usize = 3;
/// Runs of this many requests or more are measured once.
const MEASURED_ONCE: u64 = 100_000_000;
/// Requests of a batch: the system counts processor time in steps of milliseconds, so short runs are timed together.
const BATCH: u64 = 3_000_000;

/// Returns a row of the table: a point of a curve, and the number of its measurements.
fn row(series: &str, curve: &str, size: u64, value: f64, unit: &str, runs: usize) -> Value {
    println!("{series:<10} {curve:<18} {size:>12} {value:>14.6} {unit}, {runs} runs");
    json!({ "series": series, "curve": curve, "size": size, "value": value, "unit": unit, "runs": runs })
}

/// Measures runs of requests that are generated while they are served, so that none is stored.
fn requests() -> Vec<Value> {
    let mut rows = Vec::new();
    for scheduler in ["fcfs", "sptf"] {
        for count in REQUESTS {
            let runs = if count < MEASURED_ONCE { RUNS } else { 1 };
            let value = median((0..runs).map(|_| generated_s(scheduler, count)).collect());
            rows.push(row("requests", scheduler, count, value, "s", runs));
        }
    }
    rows
}

/// Returns the processor time of a run of generated requests without its setup, in seconds: the mean of a batch.
fn generated_s(scheduler: &str, count: u64) -> f64 {
    let begin = || {
        let mut experiment = Experiment::new();
        experiment.set_device("mems-g2").expect("a device");
        for (key, value) in [
            ("scheduler.kind", scheduler),
            ("workload.kind", "uniform"),
            ("workload.mean_interarrival_ms", "1.0"),
            ("workload.blocks", "8"),
            ("workload.requests", &count.to_string()),
        ] {
            experiment.set(key, value).expect("a setting");
        }
        experiment.begin(Hooks::default()).expect("a run")
    };
    let batch: Vec<_> = (0..(BATCH / count).max(1)).map(|_| begin()).collect();
    let size = batch.len() as f64;
    let begun = processor_s();
    batch.into_iter().for_each(|run| drop(run.finish().expect("results")));
    (processor_s() - begun) / size
}

/// Measures replays of a news server from memory on a front device or a cache of rising size.
fn hybrids() -> Vec<Value> {
    let requests = news_requests(REPLAYED);
    let mut rows = Vec::new();
    for (curve, settings, key, factor) in [
        ("caching disk", CACHING_DISK, "hybrid.front_mb", 1),
        ("write buffer", WRITE_BUFFER, "hybrid.front_mb", 1),
        ("write-back cache", WRITE_BACK_CACHE, "cache.capacity_blocks", 2048),
    ] {
        for size in SIZES_MB {
            let capacity = (size * factor).to_string();
            let settings = [settings, &[(key, &*capacity)]].concat();
            let us = || replay_s("atlas-10k-50mb", &settings, &requests) / REPLAYED as f64 * 1e6;
            let value = median((0..RUNS).map(|_| us()).collect());
            rows.push(row("hybrids", curve, size, value, "us", RUNS));
        }
    }
    rows
}

fn main() {
    // `cargo test --benches` only checks that the benchmark compiles and starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let series: [(&str, fn() -> Vec<Value>); 2] = [("requests", requests), ("hybrids", hybrids)];
    let chosen: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let mut rows = Vec::new();
    for (name, measure) in series {
        if chosen.is_empty() || chosen.iter().any(|word| word == name) {
            rows.extend(measure());
        }
    }
    if chosen.is_empty() {
        table::save("growth.json", &rows);
    }
}
