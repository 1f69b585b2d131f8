//! Benchmark of the growth of processor time: with the requests of a run, and with the size of a hybrid or of a cache.
//! Prints a table and writes `validation/benches/growth.json`, to which `growth.py` adds the runs of a study.
//!
//! `cargo bench --bench growth -- requests` only prints the series of requests.

mod replays;
#[expect(dead_code, reason = "this benchmark prints its rows itself")]
mod table;

use serde_json::{Value, json};
use sledlab_sim::{Experiment, Hooks};

use replays::{CACHING_DISK, Settings, WRITE_BACK_CACHE, WRITE_BUFFER, news_requests, processor_s, replay_s};
use table::median;

/// Numbers of requests of a run.
const REQUESTS: [u64; 7] = [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000];
/// Sizes of a front device or a cache, in MiB.
const SIZES_MB: [u64; 7] = [64, 128, 256, 512, 1024, 2048, 3072];
/// Systems: name, settings, key of the size, and units of the key in a MiB.
const SYSTEMS: [(&str, Settings, &str, u64); 3] = [
    ("caching disk", CACHING_DISK, "hybrid.front_mb", 1),
    ("write buffer", WRITE_BUFFER, "hybrid.front_mb", 1),
    ("write-back cache", WRITE_BACK_CACHE, "cache.capacity_blocks", 2048),
];
/// Number of requests of a replay on a hybrid or a cache.
const REPLAYED: usize = 1_000_000;

/// Measurements of each point: all points are measured in turn, so that disturbances affect all of them alike.
const RUNS: usize = 5;
/// Runs of this many requests or more are measured once.
const MEASURED_ONCE: u64 = 100_000_000;
/// Requests of a batch: the system counts processor time in steps of milliseconds, so short runs are timed together.
const BATCH: u64 = 3_000_000;

/// Returns a row of the table: a point of a curve with the median of its measurements.
fn row(series: &str, curve: &str, size: u64, values: Vec<f64>, unit: &str) -> Value {
    let runs = values.len();
    let value = median(values);
    println!("{series:<10} {curve:<18} {size:>12} {value:>14.6} {unit}, {runs} runs");
    json!({ "series": series, "curve": curve, "size": size, "value": value, "unit": unit, "runs": runs })
}

/// Measures runs of requests that are generated while they are served, so that none is stored.
fn requests() -> Vec<Value> {
    let points: Vec<_> =
        ["fcfs", "sptf"].iter().flat_map(|scheduler| REQUESTS.map(|count| (*scheduler, count))).collect();
    let mut values = vec![Vec::new(); points.len()];
    for round in 0..RUNS {
        for ((scheduler, count), values) in points.iter().zip(&mut values) {
            if round == 0 || *count < MEASURED_ONCE {
                values.push(generated_s(scheduler, *count));
            }
        }
    }
    let rows = points.iter().zip(values);
    rows.map(|((scheduler, count), values)| row("requests", scheduler, *count, values, "s")).collect()
}

/// Returns the processor time of a run of generated requests without its setup, in seconds: the mean of a batch.
fn generated_s(scheduler: &str, count: u64) -> f64 {
    let begin_run = || {
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
    let runs: Vec<_> = (0..(BATCH / count).max(1)).map(|_| begin_run()).collect();
    let run_count = runs.len() as f64;
    let start_s = processor_s();
    for run in runs {
        run.finish().expect("results");
    }
    (processor_s() - start_s) / run_count
}

/// Measures replays of a news server from memory on a front device or a cache of rising size.
fn hybrids() -> Vec<Value> {
    let requests = news_requests(REPLAYED);
    let points: Vec<_> = SYSTEMS.iter().flat_map(|system| SIZES_MB.map(|size| (system, size))).collect();
    let mut values = vec![Vec::new(); points.len()];
    for _ in 0..RUNS {
        for (((_, settings, key, factor), size), values) in points.iter().zip(&mut values) {
            let capacity = (size * factor).to_string();
            let settings = [settings, &[(*key, &*capacity)][..]].concat();
            values.push(replay_s("atlas-10k-50mb", &settings, &requests) / REPLAYED as f64 * 1e6);
        }
    }
    let rows = points.iter().zip(values);
    rows.map(|(((curve, ..), size), values)| row("hybrids", curve, *size, values, "us")).collect()
}

fn main() {
    // `cargo test --benches` only checks that the benchmark compiles and starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let series = [("requests", requests as fn() -> Vec<Value>), ("hybrids", hybrids)];
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
