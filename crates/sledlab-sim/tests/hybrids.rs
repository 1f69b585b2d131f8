//! Invariants of every hybrid, checked in runs of complete experiments.

use crate::answers::{self, is_close, run};
use proptest::prelude::*;
use rand::RngExt;
use sledlab_core::params::{ParamKind, ParamSpec};
use sledlab_core::source::MemorySource;
use sledlab_core::{Op, Request, Time, seed};
use sledlab_models::hybrid;
use sledlab_sim::{Experiment, Hooks, Rows, Summary};

const DISK: &str = "atlas-10k-50mb";
/// Capacity of the smallest disk: the front device has space for few of the segments that are used.
const BLOCKS: u64 = 90_000;

/// Keys of an experiment, with their values.
type Settings<'a> = &'a [(&'a str, &'a str)];

fn names() -> impl Iterator<Item = &'static str> {
    hybrid::LIST.iter().map(|entry| entry.name)
}

fn device_experiment(device: &str) -> Experiment {
    let mut experiment = Experiment::new();
    experiment.set_device(device).unwrap();
    experiment
}

fn experiment(kind: &str, settings: Settings) -> Experiment {
    let mut experiment = device_experiment(DISK);
    let small_sizes = [("hybrid.front_mb", "2"), ("hybrid.buffer_kb", "256"), ("device.startup_ms", "30.0")];
    let sizes = small_sizes.into_iter().filter(|(key, _)| kind != "mirror" || *key != "hybrid.front_mb");
    for (key, value) in [("hybrid.kind", kind)].into_iter().chain(sizes).chain(settings.iter().copied()) {
        experiment.set(key, value).unwrap();
    }
    experiment
}

/// Requests of all kinds: some at the same time, most near earlier ones, and some in streams.
fn requests(root_seed: u64, count: usize, mean_gap_ns: u64) -> Vec<Request> {
    let mut rng = seed::stream(root_seed, "hybrids");
    let (mut now, mut stream) = (0, 0);
    let mut next_request = |_| {
        now += if rng.random_bool(0.2) { 0 } else { rng.random_range(0..=2 * mean_gap_ns) };
        let arrival = Time::from_ns(now);
        if rng.random_bool(0.2) {
            stream = (stream + 32) % (BLOCKS - 64);
            return Request { arrival, lbn: stream, blocks: 32, op: Op::Read, ..Request::default() };
        }
        let op = match rng.random_range(0..20) {
            0 => Op::Trim,
            1 => Op::Flush,
            n if n < 10 => Op::Read,
            _ => Op::Write,
        };
        let max_blocks = if rng.random_bool(0.05) { 600 } else { 24 };
        let blocks = if op == Op::Flush { 0 } else { rng.random_range(1..=max_blocks) };
        let end = if rng.random_bool(0.7) { 6_000 } else { BLOCKS };
        let lbn = if op == Op::Flush { 0 } else { rng.random_range(0..=end - u64::from(blocks)) };
        Request { arrival, lbn, blocks, op, ..Request::default() }
    };
    (0..count).map(&mut next_request).collect()
}

/// Checks a run with `devices` devices; the run itself checks that times in states add up to the run.
fn check(experiment: &Experiment, source: &[Request], devices: f64) {
    let result = run(experiment, source);
    answers::check(&result, source, devices);
    let (summary, rows) = result;
    let flushes = source.iter().filter(|request| request.op == Op::Flush).count() as u64;
    assert_eq!(summary.operations.flush, flushes);
    let (energy, counts) = (&summary.energy_j, summary.hybrid.unwrap());
    let charged_uj: f64 = rows.seek_uj.iter().chain(&rows.access_uj).chain(&rows.startup_uj).sum();
    let spent_j = energy.seek + energy.access + energy.startup;
    assert!(is_close(charged_uj * 1e-6 + counts.background_j, spent_j), "{charged_uj} {counts:?} {spent_j}");
    let startups_j = rows.startup_uj.iter().sum::<f64>() * 1e-6;
    assert!(startups_j <= energy.startup + 1e-9, "{startups_j} {}", energy.startup);

    let written_blocks = counts.superseded_blocks + counts.destaged_blocks + counts.dirty_blocks;
    assert_eq!(counts.written_blocks, written_blocks, "{counts:?}");
    assert!(counts.read_hits <= counts.reads && counts.write_hits <= counts.writes, "{counts:?}");
    assert!(counts.destaged_blocks <= counts.back.written_blocks, "{counts:?}");
    assert!((0.0..=1.0).contains(&counts.live_share), "{counts:?}");
}

#[test]
fn invariants_hold_with_every_scheduler() {
    let source = requests(1, 150, 6_000_000);
    for kind in names() {
        for scheduler in sledlab_models::scheduler::LIST.iter().filter(|entry| entry.name != "optimal") {
            for mode in ["open", "closed:6"] {
                let settings = [("scheduler.kind", scheduler.name), ("replay.mode", mode)];
                check(&experiment(kind, &settings), &source, 2.0);
            }
        }
    }
}

#[test]
fn invariants_hold_with_every_power_policy() {
    let source = requests(2, 120, 60_000_000);
    for kind in names() {
        for power in sledlab_models::power::LIST.iter() {
            let settings = [("power.kind", power.name), ("front.idle_timeout_ms", "5.0")];
            check(&experiment(kind, &settings), &source, 2.0);
        }
    }
}

#[test]
fn invariants_hold_in_arrays() {
    let source = requests(3, 200, 3_000_000);
    for kind in names() {
        for (array, devices) in [("concatenation", 2), ("stripe", 3), ("mirror", 2), ("raid5", 4)] {
            for mode in ["open", "closed:6"] {
                let count = devices.to_string();
                let settings = [
                    ("system.kind", array),
                    ("system.devices", count.as_str()),
                    ("replay.mode", mode),
                    ("scheduler.kind", "sptf"),
                ];
                check(&experiment(kind, &settings), &source, 2.0 * f64::from(devices));
            }
        }
    }
}

#[test]
fn invariants_hold_with_every_front_device() {
    let source = requests(4, 200, 4_000_000);
    let sleds = [("front.sleds", "2"), ("front.sled_motion", "independent")];
    let fronts: [(&str, Settings, f64); 5] = [
        ("ram", &[], 2.0),
        ("mobile-disk", &[], 2.0),
        ("mems-g2", &[("front.pipeline", "interleaved")], 2.0),
        ("mems-g2", &sleds, 3.0),
        ("mems-g2", &[("merge.kind", "chains")], 2.0),
    ];
    for kind in names() {
        for (front, settings, devices) in fronts {
            let settings = [&[("front.preset", front), ("scheduler.kind", "sptf")], settings].concat();
            check(&experiment(kind, &settings), &source, devices);
        }
    }
}

#[test]
fn hybrid_has_capacity_of_the_disk() {
    let is_answered = |experiment: &Experiment, lbn| {
        let source = vec![Request { lbn, blocks: 1, ..Request::default() }];
        experiment
            .run(Hooks { source: Some(Box::new(MemorySource::new(source)) as Box<_>), ..Hooks::default() })
            .is_ok()
    };
    let blocks = |name: &str| {
        let device =
            sledlab_models::device::build(&Experiment::device(&device_experiment(name)).unwrap()).unwrap();
        device.mechanics().capacity_blocks()
    };
    for kind in names() {
        // The capacity of a mirror is at most that of its front device.
        for front in ["mems-g2", "ram"] {
            for disk in [DISK, "mobile-disk"] {
                let settings = [("front.preset", front), ("device.preset", disk)];
                let front_blocks = if kind == "mirror" { blocks(front) } else { u64::MAX };
                let capacity = blocks(disk).min(front_blocks);
                assert!(is_answered(&experiment(kind, &settings), capacity - 1), "{kind} {front} {disk}");
                assert!(!is_answered(&experiment(kind, &settings), capacity), "{kind} {front} {disk}");
            }
        }
    }
}

#[test]
fn warm_up_does_not_change_later_requests() {
    let source = requests(5, 300, 5_000_000);
    for kind in names() {
        let (all, rows) = run(&experiment(kind, &[]), &source);
        let (warmed_up, counted_rows) = run(&experiment(kind, &[("replay.warmup", "100")]), &source);
        let counted_times = |rows: &Rows| -> Vec<(u64, u64)> {
            let all = rows.id.iter().copied().zip(rows.completion_ns.iter().copied());
            all.filter(|(id, _)| *id >= 100).collect()
        };
        assert_eq!(counted_times(&counted_rows), counted_times(&rows), "{kind}");
        let (all, warmed_up) = (all.hybrid.unwrap(), warmed_up.hybrid.unwrap());
        assert!(
            0 < warmed_up.writes && warmed_up.writes < all.writes && warmed_up.front.reads < all.front.reads,
            "{kind}"
        );
    }
}

#[test]
fn energy_adds_up_after_a_warm_up() {
    let source = requests(5, 400, 20_000_000);
    for kind in names() {
        let (_, rows) = run(&experiment(kind, &[]), &source);
        let is_idle_before = |id: u64, arrival_ns: u64| {
            rows.id
                .iter()
                .zip(&rows.completion_ns)
                .all(|(other, end_ns)| *other >= id || *end_ns <= arrival_ns)
        };
        // The warm-up ends while no request is in flight, but perhaps an access in the background.
        let ends =
            rows.id.iter().zip(&rows.arrival_ns).filter(|(id, at)| **id >= 50 && is_idle_before(**id, **at));
        let ends: Vec<u64> = ends.map(|(id, _)| *id).collect();
        assert!(ends.len() > 20, "{kind}: {}", ends.len());
        for warmup in ends {
            let (summary, rows) = run(&experiment(kind, &[("replay.warmup", &warmup.to_string())]), &source);
            let (energy, counts) = (&summary.energy_j, summary.hybrid.unwrap());
            let charged: f64 = rows.seek_uj.iter().chain(&rows.access_uj).chain(&rows.startup_uj).sum();
            let spent = energy.seek + energy.access + energy.startup;
            assert!(
                is_close(charged * 1e-6 + counts.background_j, spent),
                "{kind}, {warmup}: {charged} {counts:?} {spent}"
            );
        }
    }
}

/// Blocks that are adjacent on the disk are not adjacent on the front device, and may exceed its capacity.
#[test]
fn mirror_of_hybrids_serves_reads_longer_than_front() {
    let read = |id: u64, blocks| Request {
        arrival: Time::from_ns(id * 1_000_000_000),
        blocks,
        op: if id == 0 { Op::Write } else { Op::Read },
        ..Request::default()
    };
    for kind in ["caching-disk", "write-buffer"] {
        let settings = [
            ("device.preset", "mobile-disk"),
            ("front.preset", DISK),
            ("hybrid.front_mb", "0"),
            ("system.kind", "mirror"),
            ("system.devices", "2"),
        ];
        check(&experiment(kind, &settings), &[read(0, 8), read(1, 8), read(2, 200_000)], 4.0);
    }
}

/// Returns whether any result except the configuration differs.
fn results_differ(a: &Summary, b: &Summary) -> bool {
    let results = |summary: &Summary| {
        let mut value = serde_json::to_value(summary).unwrap();
        value.as_object_mut().unwrap().remove("config");
        value
    };
    results(a) != results(b)
}

/// Returns values of a parameter other than its default.
fn other_values(spec: &ParamSpec) -> Vec<String> {
    let (minimum, maximum) = spec.range.unwrap_or_default();
    let numbers = |value: f64| [value / 2.0, value * 2.0, 16.0, 1.0, 0.5, minimum, maximum.min(1e6)];
    match &spec.default {
        toml::Value::Boolean(value) => vec![(!value).to_string()],
        toml::Value::Integer(value) => numbers(*value as f64).map(|x| format!("{x:.0}")).into(),
        toml::Value::Float(value) => numbers(*value).map(|x| format!("{x:?}")).into(),
        _ => match spec.kind {
            ParamKind::Choice(text) => text.iter().map(|word| (*word).to_owned()).collect(),
            _ => vec!["fifo".to_owned()],
        },
    }
}

#[test]
fn every_parameter_changes_some_result() {
    let source = requests(6, 700, 9_000_000);
    let try_run = |kind, settings: Settings| {
        let source = Some(Box::new(MemorySource::new(source.clone())) as Box<_>);
        experiment(kind, settings)
            .run(Hooks { source, ..Hooks::default() })
            .ok()
            .map(|outcome| outcome.summary)
    };
    for entry in hybrid::LIST.iter() {
        for spec in (entry.specs)() {
            let key = format!("hybrid.{}", spec.name);
            let changes = |base: Settings| {
                let base_summary = try_run(entry.name, base).unwrap();
                other_values(&spec).iter().any(|value| {
                    let settings = [base, &[(key.as_str(), value.as_str())]].concat();
                    try_run(entry.name, &settings)
                        .is_some_and(|summary| results_differ(&base_summary, &summary))
                })
            };
            // Some parameters take effect only with other settings.
            let other_settings: Settings = match entry.name {
                "caching-disk" => &[("hybrid.fetch_kb", "64")],
                "write-buffer" => {
                    &[("hybrid.idle_ms", "500.0"), ("hybrid.clean_from", "0.5"), ("hybrid.clean_to", "0.2")]
                }
                _ => &[],
            };
            assert!(changes(&[]) || changes(other_settings), "{} {key}", entry.name);
        }
    }
}

#[test]
fn virtual_managers_adapt_group_size_to_workload() {
    let blocks_of_a_fetch = |lbn: &dyn Fn(u64) -> u64| {
        let read = |number: u64| Request {
            arrival: Time::from_ns(20_000_000 * number),
            lbn: lbn(number),
            blocks: 8,
            ..Request::default()
        };
        let settings = [("hybrid.fetch_kb", "64"), ("hybrid.virtual_managers", "true")];
        let device_counts =
            run(&experiment("caching-disk", &settings), &(0..4_000).map(read).collect::<Vec<_>>())
                .0
                .hybrid
                .unwrap()
                .back;
        device_counts.read_blocks as f64 / device_counts.reads as f64
    };
    let scan = blocks_of_a_fetch(&|number| 8 * number);
    let random =
        blocks_of_a_fetch(&|number| 16 * (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) % BLOCKS);
    assert!(scan > 50.0, "{scan}");
    assert!(random < 24.0, "{random}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn invariants_hold_for_all_parameters(
        root: u64, gap in 1_u64..20_000_000, closed in 0_u64..9, segment in 4_u64..80, slots in 1_u64..40,
        buffered in 1_u64..6, techniques in 0_u8..128, destaged in 0_u64..200, fetch in 0_u64..200, bypass in 0_u64..40,
        odd in 0.0..1.0, cached: bool, idle in 0.0..30.0,
        copied in 0_u64..40, read_destage in prop::sample::select(vec!["none", "first", "after"]),
    ) {
        let mode = if closed == 0 { "open".to_owned() } else { format!("closed:{closed}") };
        let switch = |bit: u8| (techniques >> bit & 1 == 1).to_string();
        let either = |bit: u8, one: &str, other: &str| if techniques >> bit & 1 == 1 { one } else { other }.to_owned();
        let (segment_kb, buffer_kb) = (segment.to_string(), (segment * buffered).max(8).to_string());
        let front_mb = |minimum: u64| {
            let slots_kb = (segment * (minimum + slots)) as f64 * 1.2;
            format!("{:?}", slots_kb / 1024.0 + odd / 2048.0)
        };
        let common = [("replay.mode", mode), ("hybrid.buffer_kb", buffer_kb), ("replay.warmup", "0".to_owned())];
        let cache = [("cache.kind", "write-back"), ("cache.capacity_blocks", "100"), ("cache.volatile", "true"),
            ("cache.read_destage", read_destage)];
        let cache = &cache[..if cached { 4 } else { 0 }];
        let caching = [
            ("hybrid.segment_kb", segment_kb.clone()), ("hybrid.front_mb", front_mb(0)), ("hybrid.shortcut", switch(0)),
            ("hybrid.immediate_report", switch(1)), ("hybrid.partial_write", switch(2)),
            ("hybrid.fetch_kb", fetch.to_string()), ("hybrid.bypass_kb", bypass.to_string()),
            ("hybrid.header_blocks", (techniques >> 3 & 1).to_string()),
            ("hybrid.early_fetch", switch(4)), ("hybrid.destage_kb", destaged.to_string()),
            ("hybrid.destage", either(5, "behind-reads", "in-order")), ("hybrid.copy_kb", copied.to_string()),
        ];
        let buffering = [
            ("hybrid.log_kb", segment_kb), ("hybrid.front_mb", front_mb(3)), ("hybrid.gather", switch(0)),
            ("hybrid.idle_ms", format!("{idle:?}")), ("hybrid.cleaning", either(6, "elevator", "fifo")),
        ];
        let mirroring = [("hybrid.sequential_kb", (bypass + 1).to_string())];
        let source = requests(root, 100, gap);
        for (kind, kind_settings) in
            [("caching-disk", &caching[..]), ("write-buffer", &buffering[..]), ("mirror", &mirroring[..])]
        {
            let settings = common.iter().chain(kind_settings).map(|(key, value)| (*key, value.as_str()));
            let settings: Vec<_> = settings.chain(cache.iter().copied()).collect();
            let (summary, rows) = run(&experiment(kind, &settings), &source);
            prop_assert_eq!(rows.id.len(), source.iter().filter(|request| request.op.is_media()).count());
            let counts = summary.hybrid.unwrap();
            let written_blocks = counts.superseded_blocks + counts.destaged_blocks + counts.dirty_blocks;
            prop_assert_eq!(counts.written_blocks, written_blocks, "{:?} {:?}", settings, counts);
            if !cached {
                check(&experiment(kind, &settings), &source, 2.0);
            }
        }
    }
}
