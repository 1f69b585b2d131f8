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
        let unwatched = experiment.run(Hooks::default()).unwrap().summary;
        let mut running = experiment.begin(Hooks::default()).unwrap();
        running.stations_mut().into_iter().for_each(|station| station.watch(Time::ZERO));
        let mut logs = Vec::new();
        let mut is_done = false;
        while !is_done {
            is_done = running.run_iterations(100).unwrap();
            logs.extend(running.stations_mut().into_iter().map(Station::take_log));
            check_residency(running.system(), system);
        }
        let is_served = |access: &&Access| matches!(access, Access::Served(_));
        let count = logs.iter().map(|log| log.accesses.iter().filter(is_served).count()).sum::<usize>();
        // A cache completes some requests without an access to the device.
        assert!(count as u64 >= unwatched.requests || system.contains("cache"), "{system}: {count}");
        let last_logs = logs.iter().rev().take(running.system().stations().len());
        assert_eq!(
            last_logs.flat_map(|log| &log.accesses).filter(|access| !is_served(access)).count(),
            0,
            "{system}"
        );
        for choice in logs.iter().flat_map(|log| &log.choices) {
            let (chosen, others) = choice.candidates.split_at(choice.batch.len());
            assert!(
                chosen.iter().all(|candidate| candidate.chosen)
                    && others.iter().all(|candidate| !candidate.chosen),
                "{system}"
            );
            assert!(others.len() <= 8 && choice.waiting >= 1, "{system}: {choice:?}");
            let all: HashSet<u64> = choice.candidates.iter().map(|candidate| candidate.id).collect();
            assert_eq!(all.len(), choice.candidates.len(), "{system}: {choice:?}");
        }
        let watched = running.finish().unwrap().summary;
        assert_eq!(watched.checksum, unwatched.checksum, "{system}");
        assert_eq!(
            serde_json::to_string(&watched).unwrap(),
            serde_json::to_string(&unwatched).unwrap(),
            "{system}"
        );
    }
}

/// Checks the residency of a cache and of as many fronts as there are hybrids; without dirty blocks, none is destaged.
fn check_residency(system: &dyn System, text: &str) {
    let residencies = system.residency();
    let hybrids = if text.contains("hybrid") { system.stations().len() / 2 } else { 0 };
    assert_eq!(residencies.len(), usize::from(text.contains("cache")) + hybrids, "{text}");
    assert!(
        residencies.iter().all(|residency| !residency.slots.is_empty() && residency.slot_blocks > 0),
        "{text}"
    );
    let is_dirty = residencies.iter().any(|residency| {
        residency.waiting + residency.writing > 0
            || residency.slots.iter().any(|slot| !matches!(slot, SlotState::Free | SlotState::Clean))
    });
    let dirty_blocks = system.hybrid().map_or(0, |counts| counts.dirty_blocks);
    assert!(is_dirty || dirty_blocks == 0, "{text}: {dirty_blocks}");
}

/// Returns the distance between two angles, in turns.
fn circular_distance(angle: f64, other_angle: f64) -> f64 {
    let difference = (angle - other_angle).rem_euclid(1.0);
    difference.min(1.0 - difference)
}

#[test]
fn transfer_begins_at_first_sector_under_head() {
    for disk in ["atlas-10k", "cheetah-9lp", "hp-c2490a", "ibm-18es", "seagate-st41601n"] {
        let text = format!("device.preset = \"{disk}\"\nscheduler.kind = \"sptf\"\nworkload.blocks = 1");
        let mut running = experiment(&text).begin(Hooks::default()).unwrap();
        running.stations_mut()[0].watch(Time::ZERO);
        while !running.run_iterations(100).unwrap() {}
        let log = running.stations_mut()[0].take_log();
        let mut seeks = 0;
        for access in &log.accesses {
            let Access::Served(served) = access else { continue };
            if served.request.op != Op::Read || served.timing.seek_x == Span::ZERO {
                continue;
            }
            let mechanics = running.system().stations()[0].device().mechanics();
            let arc = mechanics.rotation_arc(&served.request).unwrap();
            let transfer_begin = served.start + served.timing.overhead + served.timing.positioning();
            let sector = arc.length / f64::from(served.request.blocks);
            let angle_error = circular_distance(arc.head_angle(transfer_begin), arc.begin);
            assert!(angle_error < sector, "{disk}: {angle_error} of {sector}, {served:?}");
            seeks += 1;
        }
        assert!(seeks > 1000, "{disk}: {seeks}");
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
        let log = running.stations_mut()[0].take_log();
        assert_eq!(log.choices.len(), 3000, "{system}");
        for choice in &log.choices {
            let nearest = choice.candidates.iter().map(|candidate| candidate.positioning).min();
            assert_eq!(Some(choice.candidates[0].positioning), nearest, "{system}: {choice:?}");
        }
    }
}
