//! Hybrids and caches lose their power at any moment: nothing that was acknowledged is lost, and no stale block is
//! ever read, before or after.

mod crashing;

use crashing::{Bench, Outcome, Plan};
use sledlab_core::seed;

/// What stands in front of the disk.
const SYSTEMS: [&str; 10] = [
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
];

/// Crashes of each system with memory for devices, where every access takes about as long as any other.
const CRASHES: u64 = 1_000;
/// Crashes of each system with a sled in front of a disk, whose schedulers change the order.
const MECHANICAL_CRASHES: u64 = 40;

fn crash(bench: &Bench, crashes: u64) {
    for number in 0..crashes {
        let plan = Plan::random(&mut seed::stream(number, "crashes"), number);
        if let Outcome::Wrong(what) = bench.run(&plan) {
            panic!("{bench}, crash {number}: {what}");
        }
    }
}

#[test]
fn nothing_acknowledged_is_lost_in_memory() {
    for system in SYSTEMS {
        crash(&Bench::of_memory(system), CRASHES);
    }
}

#[test]
fn nothing_acknowledged_is_lost_on_a_sled_and_a_disk() {
    for system in SYSTEMS {
        for scheduler in ["fcfs", "sptf"] {
            crash(&Bench::of_devices(system, scheduler), MECHANICAL_CRASHES);
        }
    }
}

#[test]
fn a_header_that_is_not_written_is_found() {
    for system in SYSTEMS.iter().filter(|system| **system != "none" && !system.contains("header_blocks=0")) {
        let bench = Bench::of_memory(system).losing_headers();
        let found = (0..CRASHES).any(|number| {
            let plan = Plan::random(&mut seed::stream(number, "crashes"), number);
            matches!(bench.run(&plan), Outcome::Wrong(_))
        });
        assert!(found, "{system}");
    }
}
