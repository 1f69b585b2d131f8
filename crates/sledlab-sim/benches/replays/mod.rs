//! Replays from memory that benchmarks time, without their setup.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use sledlab_core::source::MemorySource;
use sledlab_core::{Request, Source};
use sledlab_sim::{Experiment, Hooks};
use sledlab_trace::synthetic;

/// Settings of an experiment.
pub type Settings = &'static [(&'static str, &'static str)];

pub const CACHING_DISK: Settings = &[("hybrid.kind", "caching-disk"), ("power.kind", "never")];
pub const WRITE_BUFFER: Settings = &[("hybrid.kind", "write-buffer"), ("power.kind", "never")];
pub const WRITE_BACK_CACHE: Settings = &[("cache.kind", "write-back"), ("power.kind", "never")];

/// Returns the requests of a news server on a disk of 9.2 GB.
pub fn news_requests(count: usize) -> Vec<Request> {
    let params = format!("requests = {count}\nrate_per_s = 25.2").parse().expect("a table");
    let mut source = synthetic::build("cello", &params, 1, 17_938_986).expect("a workload");
    let mut requests = Vec::with_capacity(count);
    while source.fill(&mut requests).expect("requests") > 0 {}
    requests
}

/// Returns the processor time of a replay on a device with these settings, in seconds.
pub fn replay_s(device: &str, settings: &[(&str, &str)], requests: &[Request]) -> f64 {
    let mut experiment = Experiment::new();
    experiment.set_device(device).expect("a device");
    for (key, value) in settings {
        experiment.set(key, value).expect("a setting");
    }
    let source = Some(Box::new(MemorySource::new(requests.to_vec())) as Box<dyn Source>);
    let run = experiment.begin(Hooks { source, ..Hooks::default() }).expect("a run");
    let start_s = processor_s();
    run.finish().expect("results");
    processor_s() - start_s
}

/// Returns the processor time of the process so far, in seconds; wall-clock time where the system does not report it.
pub fn processor_s() -> f64 {
    let clock = fs::read_to_string("/proc/self/schedstat");
    let running_ns = clock.ok().and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    running_ns.map_or_else(wall_s, |ns| ns * 1e-9)
}

fn wall_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}
