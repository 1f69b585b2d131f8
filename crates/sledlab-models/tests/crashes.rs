//! Hybrids and caches lose their power at any moment: no acknowledged write is lost, and no stale block is ever read,
//! before or after.

use crate::crash_bench::{Bench, Defect, Outcome, Plan};
use sledlab_core::{Op, seed};
use sledlab_models::cache::ReadDestage;

/// The hybrids under test, and `none`, the disk alone.
const SYSTEMS: [&str; 30] = [
    "none",
    "caching-disk:shortcut=false:immediate_report=false:partial_write=false",
    "caching-disk:shortcut=true:immediate_report=false:partial_write=false",
    "caching-disk:shortcut=false:immediate_report=true:partial_write=false",
    "caching-disk:shortcut=false:immediate_report=false:partial_write=true",
    "caching-disk:shortcut=true:immediate_report=true:partial_write=false",
    "caching-disk:shortcut=true:immediate_report=false:partial_write=true",
    "caching-disk:shortcut=false:immediate_report=true:partial_write=true",
    "caching-disk",
    "caching-disk:header_blocks=0",
    "caching-disk:fetch_kb=16",
    "caching-disk:fetch_kb=16:shortcut=false:immediate_report=false:partial_write=false",
    "caching-disk:copy_kb=1",
    "caching-disk:copy_kb=1:shortcut=false:immediate_report=false:partial_write=false",
    "caching-disk:copy_kb=1:fetch_kb=16:early_fetch=true:destage=in-order",
    "caching-disk:bypass_kb=2",
    "caching-disk:fetch_kb=16:bypass_kb=2:header_blocks=0:immediate_report=false",
    "caching-disk:destage=in-order",
    "caching-disk:destage=in-order:early_fetch=true",
    "caching-disk:early_fetch=true:fetch_kb=16",
    "caching-disk:destage_kb=16",
    "caching-disk:destage_kb=16:destage=in-order:partial_write=false",
    "caching-disk:destage_kb=12:immediate_report=false",
    "caching-disk:destage_kb=16:shortcut=false:header_blocks=0:bypass_kb=2",
    "write-buffer",
    "write-buffer:gather=true",
    "write-buffer:idle_ms=1000",
    "write-buffer:cleaning=fifo",
    "write-buffer:cleaning=fifo:gather=true:clean_from=0.5:clean_to=0.2",
    "mirror:sequential_kb=4",
];

/// Crashes of each system with memory for devices, where every access takes about as long as any other.
const CRASHES: u64 = 1_000;
/// Crashes of each system with a sled in front of a disk, whose schedulers change the order.
const MECHANICAL_CRASHES: u64 = 40;

/// Minimum share of crashes with accesses in flight, in percent.
const MIN_IN_FLIGHT_PERCENT: u64 = 75;

fn crash(benches: impl Iterator<Item = Bench>, crashes: u64) {
    let (mut total, mut in_flight) = (0, 0);
    for bench in benches {
        for number in 0..crashes {
            let plan = Plan::random(&mut seed::stream(number, "crashes"), number);
            match bench.run_plan(&plan) {
                Outcome::Crashed => in_flight += 1,
                Outcome::Ended => {}
                Outcome::Wrong(error) => panic!("{bench}, crash {number}: {error}"),
            }
        }
        total += crashes;
    }
    assert!(100 * in_flight >= MIN_IN_FLIGHT_PERCENT * total, "only {in_flight} of {total} crashes strike");
}

#[test]
fn nothing_acknowledged_is_lost_in_memory() {
    crash(SYSTEMS.iter().map(|system| Bench::with_memories(system)), CRASHES);
}

#[test]
fn acknowledged_writes_survive_on_sled_and_disk() {
    for scheduler in ["fcfs", "sptf"] {
        crash(SYSTEMS.iter().map(|system| Bench::with_devices(system, scheduler)), MECHANICAL_CRASHES);
    }
}

/// Hybrids, and caches that keep their contents, wait until their writes are on the medium of such a disk.
#[test]
fn acknowledged_writes_survive_disk_with_buffer() {
    let bench = |system: &&str, has_fua| Bench::with_devices(system, "fcfs").with_buffered_writes(has_fua);
    let hybrids = || SYSTEMS.iter().filter(|system| **system != "none");
    crash(hybrids().map(|system| bench(system, true)), MECHANICAL_CRASHES);
    crash(SYSTEMS.iter().map(|system| bench(system, true).with_cache(false)), MECHANICAL_CRASHES / 2);
    // Without force unit access the check finds lost writes.
    assert!(shows_defect(&bench(&"caching-disk", false)));
    assert!(shows_defect(&bench(&"none", false).with_cache(false)));
}

#[test]
fn nothing_is_lost_behind_a_cache() {
    for volatile in [false, true] {
        crash(SYSTEMS.iter().map(|system| Bench::with_memories(system).with_cache(volatile)), CRASHES / 2);
    }
}

#[test]
fn nothing_is_lost_where_reads_destage() {
    for read_destage in [ReadDestage::First, ReadDestage::After] {
        let bench =
            |system: &&str| Bench::with_memories(system).with_cache(false).with_read_destage(read_destage);
        crash(["none", "caching-disk"].iter().map(bench), CRASHES / 2);
    }
}

/// Arrays with small units, so that requests touch several devices.
const ARRAYS: [&str; 7] = [
    "kind = \"concatenation\"\ndevices = 2",
    "kind = \"stripe\"\ndevices = 3\nunit_blocks = 8",
    "kind = \"mirror\"\ndevices = 2",
    "kind = \"mirror\"\ndevices = 3\nfailed = 1\nfailed_at_s = 0.002\nrebuild_mb_s = 20.0",
    "kind = \"mirror\"\ndevices = 2\nfailed = 0\nfailed_at_s = 0.003",
    "kind = \"raid5\"\ndevices = 3\nunit_blocks = 8",
    "kind = \"raid5\"\ndevices = 5\nunit_blocks = 3",
];

/// Data blocks of a RAID 5 are read from their own devices, so parity left stale by an unfinished write does not
/// matter.
#[test]
fn nothing_acknowledged_is_lost_in_an_array() {
    let arrays = || ARRAYS.iter().map(|system| Bench::with_array(system));
    crash(arrays(), CRASHES);
    for volatile in [false, true] {
        crash(arrays().map(|bench| bench.with_cache(volatile)), CRASHES / 2);
    }
}

fn is_detected(system: &str, defect: Defect) -> bool {
    shows_defect(&Bench::with_memories(system).with_defect(defect))
}

/// Whether any crash shows a defect.
fn shows_defect(bench: &Bench) -> bool {
    (0..CRASHES).any(|number| {
        let plan = Plan::random(&mut seed::stream(number, "crashes"), number);
        // Recovery itself panics at a clean block that differs on the back device.
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| bench.run_plan(&plan)));
        outcome.is_err() || matches!(outcome, Ok(Outcome::Wrong(_)))
    })
}

#[test]
fn missing_header_is_detected() {
    for system in SYSTEMS.iter().filter(|system| system.contains('-') && !system.contains("header_blocks=0"))
    {
        assert!(is_detected(system, Defect::LosesHeaders), "{system}");
    }
}

/// Mirrors are omitted: they keep a write in the buffer until both devices have it.
#[test]
fn early_acknowledgement_is_detected() {
    for system in SYSTEMS.iter().filter(|system| !system.starts_with("mirror")) {
        assert!(is_detected(system, Defect::BackAnswersEarly), "{system}");
        assert_eq!(is_detected(system, Defect::FrontAnswersEarly), *system != "none", "{system}");
    }
}

/// The defect: a slot is free before its dirty blocks are in the buffer, or a log before its blocks are on the disk.
#[test]
fn too_early_free_space_is_detected() {
    let frees = |system: &&&str| {
        let reports = system.starts_with("caching-disk") && !system.contains("immediate_report=false");
        reports || system.starts_with("write-buffer")
    };
    for system in SYSTEMS.iter().filter(frees) {
        assert!(is_detected(system, Defect::FreesEarly), "{system}");
    }
}

/// The write is much larger than the buffer, and a long read is served by another device than a short one.
#[test]
fn mirror_reads_never_return_older_versions() {
    let bench = Bench::with_memories("mirror:sequential_kb=4").with_smallest_buffer(1);
    let requests = [(Op::Write, 0, 200), (Op::Read, 0, 8), (Op::Read, 0, 1)];
    for gap in [0.5, 1.0, 1.2, 1.5, 2.0, 3.0] {
        if let Outcome::Wrong(error) = bench.run_plan(&Plan::from_requests(requests.into_iter(), gap)) {
            panic!("{bench}, gaps of {gap}: {error}");
        }
    }
}

/// Every sequence of `count` requests to three segments, each for a part of a segment, an entire segment, or across
/// two, at once and one after the other, where the front device has room for a single segment: all are answered, no
/// read finds a stale block, and every block is accounted for.
fn answer_every_sequence(count: u32) {
    let kinds: Vec<(Op, u64, u32)> = [(1, 2), (8, 8), (6, 4), (16, 3)]
        .into_iter()
        .flat_map(|(lbn, blocks)| [(Op::Read, lbn, blocks), (Op::Write, lbn, blocks)])
        .collect();
    let benches = SYSTEMS
        .iter()
        .flat_map(|system| [1, 2].map(|n| Bench::with_memories(system).with_smallest_buffer(n)));
    for bench in benches {
        for sequence in 0..kinds.len().pow(count) {
            let digits = (0..count).map(|digit| kinds[sequence / kinds.len().pow(digit) % kinds.len()]);
            for gap in [0.0, 0.3, 3.0] {
                if let Outcome::Wrong(error) = bench.run_plan(&Plan::from_requests(digits.clone(), gap)) {
                    let requests: Vec<_> = digits.collect();
                    panic!("{bench}, {requests:?} with gaps of {gap}: {error}");
                }
            }
        }
    }
}

#[test]
fn every_sequence_of_three_requests_is_answered() {
    answer_every_sequence(3);
}

#[test]
#[ignore = "half a minute: `make test-all` runs it"]
fn no_request_waits_forever() {
    answer_every_sequence(4);
}
