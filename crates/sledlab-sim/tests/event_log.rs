//! Watching a run does not change its results, and shows every access.

use std::collections::HashSet;

use sledlab_core::{Op, Span, Time};
use sledlab_models::cache::SlotState;
use sledlab_models::system::{Access, Station, System};
use sledlab_sim::{Experiment, Hooks};

const SYSTEMS: [&str; 11] = [
    "device.preset = \"mems-g2\"\nscheduler.kind = \"sptf\"",
    "device = { preset = \"mems-g2\", pipeline = \"interleaved\" }\nscheduler.kind = \"c-scan\"",
    "device.preset = \"mems-g2\"\nmerge.kind = \"chains\"\nscheduler.kind = \"sptf\"",
    "device = { preset = \"mems-g2\", idle_timeout_ms = 1.0 }\npower.kind = \"fixed\"\npower.timeout_ms = 1.0",
    "device.preset = \"atlas-10k\"\nscheduler.kind = \"sptf\"",
    "device.preset = \"mems-g2\"\nsystem = { kind = \"raid5\", devices = 4 }",
    "device.preset = \"atlas-10k\"\nhybrid.kind = \"caching-disk\"",
    "device.preset = \"atlas-10k\"\nhybrid.kind = \"write-buffer\"",
    "device.preset = \"atlas-10k\"\nhybrid.kind = \"mirror\"\nsystem = { kind = \"stripe\", devices = 2 }",
    "device.preset = \"mems-g2\"\ncache.kind = \"write-back\"",
    "device.preset = \"atlas-10k\"\nhybrid.kind = \"caching-disk\"\ncache.kind = \"write-back\"",
];

fn experiment(system: &str) -> Experiment {
    let text = format!("{system}\nworkload.kind = \"uniform\"\nreplay.limit = 3000");
    Experiment::from_toml("watching", &text).unwrap()
}

#[test]
fn watch_does_not_change_results() {
    for system in SYSTEMS {
        let experiment = experiment(system);
        let alone = experiment.run(Hooks::default()).unwrap().summary;
        let mut running = experiment.begin(Hooks::default()).unwrap();
        running.stations_mut().into_iter().for_each(|station| station.watch(Time::ZERO));
        let mut seen = Vec::new();
        let mut done = false;
        while !done {
            done = running.run_iterations(100).unwrap();
            seen.extend(running.stations_mut().into_iter().map(Station::take_log));
            check_residency(running.system(), system);
        }
        let served = |access: &&Access| matches!(access, Access::Served(_));
        let count = seen.iter().map(|seen| seen.accesses.iter().filter(served).count()).sum::<usize>();
        // A cache completes some requests without an access to the device.
        assert!(count as u64 >= alone.requests || system.contains("cache"), "{system}: {count}");
        let waits = seen.iter().rev().take(running.system().stations().len());
        assert_eq!(
            waits.flat_map(|seen| &seen.accesses).filter(|access| !served(access)).count(),
            0,
            "{system}"
        );
        for choice in seen.iter().flat_map(|seen| &seen.choices) {
            let (chosen, others) = choice.candidates.split_at(choice.batch.len());
            assert!(chosen.iter().all(|one| one.chosen) && others.iter().all(|one| !one.chosen), "{system}");
            assert!(others.len() <= 8 && choice.waiting >= 1, "{system}: {choice:?}");
            let all: HashSet<u64> = choice.candidates.iter().map(|one| one.id).collect();
            assert_eq!(all.len(), choice.candidates.len(), "{system}: {choice:?}");
        }
        let watched = running.finish().unwrap().summary;
        assert_eq!(watched.checksum, alone.checksum, "{system}");
        assert_eq!(
            serde_json::to_string(&watched).unwrap(),
            serde_json::to_string(&alone).unwrap(),
            "{system}"
        );
    }
}

/// Checks the residency of a cache and of as many fronts as there are hybrids; without dirty blocks, none is destaged.
fn check_residency(system: &dyn System, text: &str) {
    let result = system.residency();
    let hybrids = if text.contains("hybrid") { system.stations().len() / 2 } else { 0 };
    assert_eq!(result.len(), usize::from(text.contains("cache")) + hybrids, "{text}");
    assert!(
        result.iter().all(|residency| !residency.slots.is_empty() && residency.slot_blocks > 0),
        "{text}"
    );
    let is_dirty = result.iter().any(|residency| {
        residency.waiting + residency.writing > 0
            || residency.slots.iter().any(|slot| !matches!(slot, SlotState::Free | SlotState::Clean))
    });
    let dirty_blocks = system.hybrid().map_or(0, |counts| counts.dirty_blocks);
    assert!(is_dirty || dirty_blocks == 0, "{text}: {dirty_blocks}");
}

/// Returns the distance between two angles, in turns.
fn circular_distance(one: f64, other: f64) -> f64 {
    let apart = (one - other).rem_euclid(1.0);
    apart.min(1.0 - apart)
}

#[test]
fn transfer_begins_at_first_sector_under_head() {
    for disk in ["atlas-10k", "cheetah-9lp", "hp-c2490a", "ibm-18es", "seagate-st41601n"] {
        let text = format!("device.preset = \"{disk}\"\nscheduler.kind = \"sptf\"\nworkload.blocks = 1");
        let mut running = experiment(&text).begin(Hooks::default()).unwrap();
        running.stations_mut()[0].watch(Time::ZERO);
        while !running.run_iterations(100).unwrap() {}
        let seen = running.stations_mut()[0].take_log();
        let mut sought = 0;
        for access in &seen.accesses {
            let Access::Served(served) = access else { continue };
            if served.request.op != Op::Read || served.timing.seek_x == Span::ZERO {
                continue;
            }
            let mechanics = running.system().stations()[0].device().mechanics();
            let turning = mechanics.rotation_arc(&served.request).unwrap();
            let begins = served.start + served.timing.overhead + served.timing.positioning();
            let sector = turning.length / f64::from(served.request.blocks);
            let apart = circular_distance(turning.head_angle(begins), turning.begin);
            assert!(apart < sector, "{disk}: {apart} of {sector}, {served:?}");
            sought += 1;
        }
        assert!(sought > 1000, "{disk}: {sought}");
    }
}

#[test]
fn sptf_selects_nearest_of_all_candidates() {
    let disk =
        "device.preset = \"atlas-10k\"\nscheduler.kind = \"sptf\"\nworkload.mean_interarrival_ms = 5.0";
    for system in [
        SYSTEMS[0],
        // The disk buffers writes, which its scheduler does not see.
        disk,
        // The scheduler estimates positioning times by the rule of the reference simulator.
        "device.preset = \"mems-g1-disksim\"\nscheduler.kind = \"sptf\"",
    ] {
        let mut running = experiment(system).begin(Hooks::default()).unwrap();
        running.stations_mut()[0].watch(Time::ZERO);
        while !running.run_iterations(100).unwrap() {}
        let seen = running.stations_mut()[0].take_log();
        assert_eq!(seen.choices.len(), 3000, "{system}");
        for choice in &seen.choices {
            let nearest = choice.candidates.iter().map(|one| one.positioning).min();
            assert_eq!(Some(choice.candidates[0].positioning), nearest, "{system}: {choice:?}");
        }
    }
}
