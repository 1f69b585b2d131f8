//! Checks of every system of several devices, and of memory.

use crate::answers::{self, is_close, run};
use crate::experiments::experiment;
use proptest::prelude::*;
use rand::RngExt;
use sledlab_core::{Op, Request, Time, seed};
use sledlab_sim::{Experiment, Summary};

const KINDS: [&str; 4] = ["concatenation", "stripe", "mirror", "raid5"];
const DEVICES: [&str; 3] = ["mems-g2", "mobile-disk", "ram"];

/// Requests of all kinds, some at the same time.
fn requests(root_seed: u64, count: usize, capacity: u64, mean_gap_ns: u64) -> Vec<Request> {
    let mut rng = seed::stream(root_seed, "systems");
    let mut now = 0;
    let mut next_request = |_| {
        now += if rng.random_bool(0.2) { 0 } else { rng.random_range(0..=2 * mean_gap_ns) };
        let op = match rng.random_range(0..20) {
            0 => Op::Trim,
            1 => Op::Flush,
            n if n < 11 => Op::Read,
            _ => Op::Write,
        };
        let max_blocks = if rng.random_bool(0.1) { 1000 } else { 64 };
        let blocks = if op == Op::Flush { 0 } else { rng.random_range(1..=max_blocks) };
        let lbn = if op == Op::Flush { 0 } else { rng.random_range(0..=capacity - u64::from(blocks)) };
        Request { arrival: Time::from_ns(now), lbn, blocks, op, ..Request::default() }
    };
    (0..count).map(&mut next_request).collect()
}

/// Checks a run with `devices` devices; the run itself checks that requests are charged the energy of the devices.
fn check(experiment: &Experiment, source: &[Request], devices: f64) {
    let result = run(experiment, source);
    answers::check(&result, source, devices);
    let summary = result.0;
    let (energy, time) = (summary.energy_j, summary.state_time_s);
    assert!(is_close(
        energy.total,
        energy.seek + energy.access + energy.idle + energy.inactive + energy.startup
    ));
    assert!(is_close(summary.utilization, (time.seek + time.access) / devices / summary.elapsed_s));
    let to_json = |summary: &Summary| serde_json::to_string(summary).unwrap();
    assert_eq!(to_json(&summary), to_json(&run(experiment, source).0), "the same run gives the same bytes");
}

#[test]
fn conservation_holds_for_every_kind_of_system() {
    for device in DEVICES {
        // Two thirds of the capacity of four devices minus a tenth, so that all kinds but the mirror use every device.
        for kind in KINDS {
            let capacity = if kind == "mirror" { 6_700_000 } else { 20_000_000 };
            let gap_ns = if device == "mobile-disk" { 30_000_000 } else { 1_000_000 };
            let source = requests(1, 300, capacity, gap_ns);
            for scheduler in ["fcfs", "sptf", "c-scan"] {
                for mode in ["open", "closed:1", "closed:9"] {
                    let settings = [
                        ("system.kind", kind),
                        ("system.devices", "4"),
                        ("scheduler.kind", scheduler),
                        ("replay.mode", mode),
                    ];
                    check(&experiment(device, &settings), &source, 4.0);
                }
            }
        }
    }
}

#[test]
fn every_scheduler_serves_memory() {
    let source = requests(2, 100, 8_000_000, 3_000);
    for scheduler in sledlab_models::scheduler::LIST.iter() {
        let settings = [("scheduler.kind", scheduler.name), ("replay.mode", "closed:4")];
        check(&experiment("ram", &settings), &source, 1.0);
    }
}

fn read(ms: u64, lbn: u64) -> Request {
    Request { arrival: Time::from_ns(ms * 1_000_000), lbn, blocks: 8, ..Request::default() }
}

#[test]
fn mirror_reads_from_device_with_nearer_head() {
    // The first read leaves one head at the far end; each of the others is near one of the two.
    let far_lbn = 6_700_000;
    let mut source = vec![read(0, far_lbn)];
    source.extend((1..20).map(|i| read(20_000 + 100 * i, if i % 2 == 0 { 8 * i } else { far_lbn + 8 * i })));
    for device in ["mems-g2", "mobile-disk"] {
        let settings = [("power.kind", "never")];
        let single = run(&experiment(device, &settings), &source).0;
        let settings = [("power.kind", "never"), ("system.kind", "mirror"), ("system.devices", "2")];
        let mirrored = run(&experiment(device, &settings), &source).0;
        let (single, mirrored) = (single.time_by_part_ms.seek_x, mirrored.time_by_part_ms.seek_x);
        // A single head moves back and forth; with two devices each head moves once, and then hardly at all.
        assert!(mirrored < 0.35 * single, "{device}: {mirrored} ms of {single} ms");
    }
}

#[test]
fn mirror_writes_all_devices_and_stripe_divides() {
    let write = Request { op: Op::Write, blocks: 512, ..Request::default() };
    let time = |kind| {
        let settings = [("system.kind", kind), ("system.devices", "4"), ("power.kind", "never")];
        run(&experiment("ram", &settings), &[write]).0
    };
    let block_s = 512.0 / 133e6;
    let access = |kind| time(kind).state_time_s.access;
    assert!((access("mirror") - 4.0 * (1e-6 + 512.0 * block_s)).abs() < 1e-8);
    assert!((access("stripe") - (4.0 * 1e-6 + 512.0 * block_s)).abs() < 1e-8);
    assert!((time("stripe").response_time_ms.stats.mean - (1e-3 + 128e3 * block_s)).abs() < 1e-5);
    // 384 blocks fill a stripe and its parity. Of the next request, 128 blocks are written after their old contents and
    // the old parity have been read.
    assert!((access("raid5") - (8.0 * 1e-6 + 1024.0 * block_s)).abs() < 2e-6, "{}", access("raid5"));
}

#[test]
fn invalid_systems_are_rejected() {
    let message = |device, settings: &[(&str, &str)]| {
        let settings = [settings, &[("workload.kind", "uniform")]].concat();
        experiment(device, &settings).check().unwrap_err().to_string()
    };
    for kind in KINDS {
        let too_few = if kind == "raid5" { "2" } else { "1" };
        let error_message = message("ram", &[("system.kind", kind), ("system.devices", too_few)]);
        assert!(
            error_message.contains(&format!("system.devices = {too_few} is too few for a {kind}")),
            "{error_message}"
        );
    }
    assert!(message("ram", &[("system.devices", "4")]).contains("system.kind = \"single\" has one"));
    let single_on_bus = message("mobile-disk", &[("system.bus", "shared")]);
    assert!(single_on_bus.contains("system.kind = \"single\" has one device"), "{single_on_bus}");
    let large = [("system.kind", "stripe"), ("system.devices", "4"), ("system.unit_blocks", "9000000")];
    assert!(message("ram", &large).contains("is more than a device has: 8000000 blocks"));
    assert!(message("ram", &[("system.kind", "raid6")]).contains("expected one of single"));
    assert!(message("ram", &[("system.device", "4")]).contains("did you mean `system.devices`?"));
    let mirrored_sleds = [("system.kind", "mirror"), ("system.devices", "2"), ("device.sleds", "2")];
    assert!(message("mems-g2", &mirrored_sleds).contains("several independent sleds"));
    let together = [("device.sled_motion", "together"), ("workload.kind", "uniform")];
    let together = [&mirrored_sleds[..], &together].concat();
    experiment("mems-g2", &together).check().unwrap();
}

#[test]
fn complete_experiment_contains_the_system() {
    let text = experiment("ram", &[("system.kind", "stripe"), ("system.devices", "3")]).to_toml().unwrap();
    let parsed = Experiment::from_toml("again.toml", &text).unwrap();
    assert_eq!(parsed.to_toml().unwrap(), text);
    assert!(text.contains("[system]\nkind = \"stripe\"\ndevices = 3\nunit_blocks = 128\n"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn conservation_holds_for_any_system(
        root: u64, gap in 1_u64..3_000_000, kind in 0_usize..4, device in 0_usize..3, devices in 3_u64..7,
        unit in 1_u64..300, closed in 0_u64..9, merges: bool, timeout in 0_u64..20, sptf: bool,
    ) {
        let (devices_text, unit) = (devices.to_string(), unit.to_string());
        let mode = if closed == 0 { "open".to_owned() } else { format!("closed:{closed}") };
        let power = format!("fixed:timeout_ms={timeout}");
        let settings = [
            ("system.kind", KINDS[kind]),
            ("system.devices", devices_text.as_str()),
            ("system.unit_blocks", unit.as_str()),
            ("scheduler.kind", if sptf { "sptf" } else { "fcfs" }),
            ("merge.kind", if merges { "chains" } else { "none" }),
            ("power.kind", power.as_str()),
            ("replay.mode", mode.as_str()),
        ];
        check(&experiment(DEVICES[device], &settings), &requests(root, 120, 6_500_000, gap), devices as f64);
    }
}
