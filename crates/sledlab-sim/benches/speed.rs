//! Benchmark of replays and of scheduling decisions: prints a table and writes `validation/benches/results.json`.
//!
//! Every value is the median of several runs in this process; ratios compare values of the same run.

mod replays;
mod table;

use std::fs;
use std::time::Instant;

use rand::RngExt;
use sledlab_core::source::MemorySource;
use sledlab_core::{Op, Request, Source, Time, seed};
use sledlab_models::device::{self, Device, QueuedRequest, preset};
use sledlab_models::merge::MergeParams;
use sledlab_models::system::{Setup, Single, Start, Station};
use sledlab_models::{power, scheduler};
use sledlab_sim::{Experiment, Hooks, Recorder, Replay, simulate};
use sledlab_trace::{synthetic, writer};

use replays::{CACHING_DISK, WRITE_BACK_CACHE, WRITE_BUFFER, news_requests, replay_s};
use table::{Row, median, row};

const REQUESTS: usize = 1_000_000;
const RUNS: usize = 7;
const DEPTHS: [usize; 6] = [10, 100, 300, 1_000, 10_000, 100_000];

/// Returns one million requests of 8 blocks, uniform over `blocks`, with interarrival times of `mean_gap_ms`: 1 ms on a
/// G2 is a utilization of about 70 %, 10 ms on an Atlas 10K about 80 %.
fn requests(blocks: u64, mean_gap_ms: f64) -> Vec<Request> {
    let params = format!("requests = {REQUESTS}\nmean_interarrival_ms = {mean_gap_ms:.1}\nblocks = 8");
    let mut source =
        synthetic::build("uniform", &params.parse().expect("a table"), 1, blocks).expect("a workload");
    let mut requests = Vec::with_capacity(REQUESTS);
    while source.fill(&mut requests).expect("requests") > 0 {}
    requests
}

/// Returns the requests per second of wall-clock time, from opening the source to the summary.
fn replay(device: &str, scheduler: &str, source: &dyn Fn(&mut Experiment) -> Option<Box<dyn Source>>) -> f64 {
    let rate = || {
        let mut experiment = Experiment::new();
        experiment.set_device(device).expect("a device");
        experiment.set("scheduler.kind", scheduler).expect("a scheduler");
        let source = source(&mut experiment);
        let outcome = experiment.run(Hooks { source, ..Hooks::default() }).expect("a run");
        outcome.summary.requests as f64 / outcome.wall_s
    };
    median((0..RUNS).map(|_| rate()).collect())
}

fn replays(rows: &mut Vec<Row>) {
    let requests = requests(6_750_000, 1.0);
    let file = std::env::temp_dir().join(format!("sledlab-speed-{}.txt", std::process::id()));
    let mut trace = writer::create(&file, Some("disksim-ascii")).expect("a trace file");
    for request in &requests {
        trace.write(request).expect("a request written");
    }
    trace.finish().expect("a trace written");
    let million = 1e-6;
    let from_memory =
        |_: &mut Experiment| Some(Box::new(MemorySource::new(requests.clone())) as Box<dyn Source>);
    let from_file = |experiment: &mut Experiment| {
        experiment.set_trace(&file.to_string_lossy(), Some("disksim-ascii"));
        None
    };
    rows.push(row(
        "FCFS from memory",
        replay("mems-g2", "fcfs", &from_memory) * million,
        "million requests/s",
        "8",
    ));
    rows.push(row(
        "FCFS from a DiskSim ascii file",
        replay("mems-g2", "fcfs", &from_file) * million,
        "million requests/s",
        "4",
    ));
    energy_accounting(rows, &requests);
    rows.push(row(
        "SPTF from memory",
        replay("mems-g2", "sptf", &from_memory) * million,
        "million requests/s",
        "",
    ));
    disk_replay(rows);
    flash_replay(rows);
    // The file is in the system's temporary directory; a failure to delete it is harmless.
    let _ = fs::remove_file(&file);
}

/// The target is 20 times the rate of the reference simulator, 68 thousand requests/s.
fn disk_replay(rows: &mut Vec<Row>) {
    let requests = requests(17_938_986, 10.0);
    let from_memory =
        |_: &mut Experiment| Some(Box::new(MemorySource::new(requests.clone())) as Box<dyn Source>);
    let rate = replay("atlas-10k", "fcfs", &from_memory) * 1e-6;
    rows.push(row("FCFS from memory, disk atlas-10k", rate, "million requests/s", "1.36"));
}

/// Flash with two workloads: random reads of 4 KB at 20,000 requests/s; and a mix with three writes of complete pages
/// in ten requests on a full device, so small that garbage collection runs most of the time, at about half the load
/// that its dies can serve. The mix is also served by address with dies held, and there with blocks collected as a
/// whole from the steady state, on a device with more spare pages.
fn flash_replay(rows: &mut Vec<Row>) {
    let small = [("device.blocks_per_die", "128"), ("device.pages_per_block", "256")];
    let by_address = [
        ("device.allocation", "CWDP"),
        ("device.channel_command_us", "0.29"),
        ("device.cache_registers", "false"),
        ("device.reads_first", "true"),
    ];
    let by_blocks = [
        ("device.garbage_collection", "block"),
        ("device.precondition", "random"),
        ("device.blocks_per_die", "192"),
        ("device.over_provisioning", "0.28"),
    ];
    let reads = "blocks = 8\nalign_blocks = 8\nread_share = 1.0\nmean_interarrival_ms = 0.05";
    let mixed = "blocks = 32\nalign_blocks = 32\nread_share = 0.7\nmean_interarrival_ms = 0.25";
    for (label, parameters, settings) in [
        ("reads of 4 KB", reads, Vec::new()),
        ("mixed", mixed, small.to_vec()),
        ("mixed, pages by address", mixed, [&small[..], &by_address].concat()),
        ("mixed, blocks collected as a whole", mixed, [&small[..], &by_address, &by_blocks].concat()),
    ] {
        let params = format!("requests = {REQUESTS}\n{parameters}").parse().expect("a table");
        let mut source = synthetic::build("uniform", &params, 1, 15_000_000).expect("a workload");
        let mut requests = Vec::with_capacity(REQUESTS);
        while source.fill(&mut requests).expect("requests") > 0 {}
        let from_memory = |experiment: &mut Experiment| {
            for (key, value) in &settings {
                experiment.set(key, value).expect("a setting");
            }
            Some(Box::new(MemorySource::new(requests.clone())) as Box<dyn Source>)
        };
        let rate = replay("ssd-tlc", "fcfs", &from_memory) * 1e-6;
        rows.push(row(format!("FCFS from memory, flash ssd-tlc, {label}"), rate, "million requests/s", "1"));
    }
}

/// A replay from memory whose rate is a row of the table.
struct MeasuredReplay<'a> {
    label: String,
    device: &'static str,
    settings: Vec<(&'static str, &'static str)>,
    requests: &'a [Request],
    target: &'static str,
}

/// Adds the rates of replays. The replays take turns, so that a slow phase of the machine does not fall on one of them.
fn add_rates(rows: &mut Vec<Row>, replays: Vec<MeasuredReplay>) {
    let mut rates = vec![Vec::new(); replays.len()];
    for _ in 0..RUNS {
        for (MeasuredReplay { device, settings, requests, .. }, rates) in replays.iter().zip(&mut rates) {
            rates.push(requests.len() as f64 / replay_s(device, settings, requests) * 1e-6);
        }
    }
    for (MeasuredReplay { label, target, .. }, rates) in replays.into_iter().zip(rates) {
        rows.push(row(label, median(rates), "million requests/s", target));
    }
}

/// Schedulers with 64 requests queued all the time: the next request arrives when one is complete.
fn queued_replays(rows: &mut Vec<Row>) {
    let [on_sled, on_disk] = [6_750_000, 17_938_986].map(|blocks| requests(blocks, 1.0));
    let mut replays = Vec::new();
    for (device, requests, schedulers) in [
        ("mems-g2", &on_sled, &MEMS_SCHEDULERS[..]),
        ("atlas-10k", &on_disk, &[("fcfs", ""), ("sptf", "1.5")][..]),
    ] {
        replays.extend(schedulers.iter().map(|(scheduler, target)| MeasuredReplay {
            label: format!("{scheduler}, {device}, 64 queued"),
            device,
            settings: vec![("scheduler.kind", *scheduler), ("replay.mode", "closed:64")],
            requests: &requests[..REQUESTS / 4],
            target,
        }));
    }
    add_rates(rows, replays);
}

/// Schedulers and their targets, in million requests per second.
const MEMS_SCHEDULERS: [(&str, &str); 9] = [
    ("fcfs", ""),
    ("sptf", "2.5"),
    ("gsptf", "2.5"),
    ("zsptf", "2.5"),
    ("asptf", "1.2"),
    ("wstf", "1.2"),
    ("p-sptf", "1.2"),
    ("pa-sptf", "1.2"),
    ("p-alpha", "1.2"),
];

/// Hybrids and a cache under LRU: one million requests of a news server. Two thirds are hits of the caching disk.
fn hybrids(rows: &mut Vec<Row>) {
    let requests = news_requests(REQUESTS);
    let replays = [
        ("caching disk under LRU", CACHING_DISK, "1"),
        ("write buffer", WRITE_BUFFER, "1.2"),
        ("write-back cache under LRU", WRITE_BACK_CACHE, "2"),
    ];
    let replays = replays.map(|(label, settings, target)| MeasuredReplay {
        label: format!("{label} from memory, cello"),
        device: "atlas-10k-50mb",
        settings: settings.to_vec(),
        requests: &requests,
        target,
    });
    add_rates(rows, replays.into());
}

/// Returns the device of a preset.
fn preset_device(name: &str) -> Box<dyn Device> {
    let file = preset::from_table(&preset::text(name).expect("a preset").parse().expect("a table"));
    device::build(&file.expect("a device")).expect("a device")
}

/// Measures the cost of energy accounting: the same replay with and without it, alternately.
fn energy_accounting(rows: &mut Vec<Row>, requests: &[Request]) {
    let file = preset::from_table(&preset::text("mems-g2").expect("a preset").parse().expect("a table"));
    let file = file.expect("a device");
    let setup = Setup {
        scheduler: &scheduler::Choice::new("fcfs", &toml::Table::new()).expect("a scheduler"),
        power: &power::Choice::from_device_timeout(1000.0).expect("a policy"),
        merge: &MergeParams::default(),
        start: Start::Ready,
    };
    let replay = Replay::default();
    let replay_s = |has_energy: bool| {
        let (station, recorder) = (Station::new(&file, setup).expect("a station"), Recorder::new(0, None));
        let (station, mut recorder) = if has_energy {
            (station, recorder)
        } else {
            (station.without_energy(), recorder.without_energy())
        };
        let mut system = Single::new(station);
        let mut source = MemorySource::new(requests.to_vec());
        let start = Instant::now();
        simulate(&mut system, &mut source, &replay, &mut recorder, None).expect("a run");
        start.elapsed().as_secs_f64()
    };
    let ratios = (0..3 * RUNS).map(|_| replay_s(true) / replay_s(false)).collect();
    let cost = (median(ratios) - 1.0) * 100.0;
    rows.push(row("accounting for energy", cost, "% of the time without", "10"));
}

fn queued_request(id: u64, rng: &mut seed::Stream, capacity: u64) -> QueuedRequest {
    let lbn = rng.random_range(0..capacity);
    QueuedRequest {
        id,
        arrival: Time::ZERO,
        queue_time: Time::ZERO,
        lbn,
        blocks: 1,
        op: Op::Read,
        ..QueuedRequest::default()
    }
}

/// Returns the nanoseconds for a pick and the push that replaces the picked request, with `depth` requests queued. The
/// device gets the same times as in a run.
fn pick_ns(device: &str, name: &str, depth: usize, picks: usize) -> f64 {
    let mut device = preset_device(device);
    let queue = scheduler::Choice::new(name, &toml::Table::new()).expect("a scheduler");
    let mut queue = queue.make(device.mechanics()).expect("a queue");
    let mut rng = seed::stream(7, "picks");
    let capacity = device.mechanics().capacity_blocks();
    (0..depth as u64).for_each(|id| queue.push(queued_request(id, &mut rng, capacity)));
    let new_requests: Vec<QueuedRequest> =
        (0..picks as u64).map(|id| queued_request(id + depth as u64, &mut rng, capacity)).collect();
    let (mut batch, mut served) = (Vec::new(), Vec::new());
    let (mut spent_s, mut now) = (0.0, Time::ZERO);
    for request in new_requests {
        device.set_time(now);
        let start = Instant::now();
        queue.pop(now, device.mechanics(), &mut batch);
        queue.push(request);
        spent_s += start.elapsed().as_secs_f64();
        now = device.issue(now, &batch, &mut served).map_or(now, |busy| busy.until);
        batch.clear();
        served.clear();
    }
    spent_s * 1e9 / picks as f64
}

fn picks(rows: &mut Vec<Row>) {
    for depth in DEPTHS {
        let median_ns =
            |name, picks| median((0..3).map(|_| pick_ns("mems-g2", name, depth, picks)).collect());
        let index_ns = median_ns("sptf", 20_000);
        let search_ns = median_ns("sptf-exhaustive", (3_000_000 / depth).clamp(20, 20_000));
        let target = match depth {
            300 => "1000",
            100_000 => "2000",
            _ => "",
        };
        rows.push(row(format!("SPTF pick and push, queue of {depth}, index"), index_ns, "ns", target));
        rows.push(row(
            format!("SPTF pick and push, queue of {depth}, exhaustive search"),
            search_ns,
            "ns",
            "",
        ));
        rows.push(row(
            format!("SPTF, queue of {depth}: exhaustive search over index"),
            search_ns / index_ns,
            "times",
            "",
        ));
    }
    disk_picks(rows);
}

/// Like [`picks`], on a disk, where the rotational position depends on the time of the decision.
fn disk_picks(rows: &mut Vec<Row>) {
    let median_ns = |name, picks| median((0..3).map(|_| pick_ns("atlas-10k", name, 1_000, picks)).collect());
    let (index_ns, search_ns) = (median_ns("sptf", 20_000), median_ns("sptf-exhaustive", 3_000));
    let label = "SPTF pick and push, disk, queue of 1000";
    rows.push(row(format!("{label}, index"), index_ns, "ns", "3000"));
    rows.push(row(format!("{label}, exhaustive search"), search_ns, "ns", ""));
}

/// A part of the benchmark: its name, and the function that adds its rows.
type Section = (&'static str, fn(&mut Vec<Row>));

fn main() {
    // `cargo test --benches` only checks that the benchmark compiles and starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let sections: [Section; 4] =
        [("replays", replays), ("schedulers", queued_replays), ("hybrids", hybrids), ("picks", picks)];
    // `cargo bench --bench speed -- hybrids` only prints the rows of hybrids.
    let chosen: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let mut rows = Vec::new();
    for (name, measure) in sections {
        if chosen.is_empty() || chosen.iter().any(|word| word == name) {
            measure(&mut rows);
        }
    }
    if chosen.is_empty() {
        table::print_and_save("results.json", &rows);
    } else {
        table::print(&rows);
    }
}
