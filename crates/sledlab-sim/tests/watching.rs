//! Whoever looks on changes nothing, and sees all.

use std::collections::HashSet;

use sledlab_core::Time;
use sledlab_models::system::{Access, Station};
use sledlab_sim::{Experiment, Hooks};

const SYSTEMS: [&str; 7] = [
    "device.preset = \"mems-g2\"\nscheduler.kind = \"sptf\"",
    "device = { preset = \"mems-g2\", pipeline = \"interleaved\" }\nscheduler.kind = \"c-scan\"",
    "device.preset = \"mems-g2\"\nmerge.kind = \"chains\"\nscheduler.kind = \"sptf\"",
    "device = { preset = \"mems-g2\", idle_timeout_ms = 1.0 }\npower.kind = \"fixed\"\npower.timeout_ms = 1.0",
    "device.preset = \"atlas-10k\"\nscheduler.kind = \"sptf\"",
    "device.preset = \"mems-g2\"\nsystem = { kind = \"raid5\", devices = 4 }",
    "device.preset = \"atlas-10k\"\nhybrid.kind = \"caching-disk\"",
];

fn experiment(system: &str) -> Experiment {
    let said = format!("{system}\nworkload.kind = \"uniform\"\nreplay.limit = 3000");
    Experiment::from_toml("watching", &said).unwrap()
}

#[test]
fn a_watched_run_is_the_same() {
    for system in SYSTEMS {
        let experiment = experiment(system);
        let alone = experiment.run(Hooks::default()).unwrap().summary;
        let mut running = experiment.begin(Hooks::default()).unwrap();
        running.stations_mut().into_iter().for_each(|station| station.watch(Time::ZERO));
        let mut seen = Vec::new();
        let mut done = false;
        while !done {
            done = running.go_on_for(100).unwrap();
            seen.extend(running.stations_mut().into_iter().map(Station::seen));
        }
        let served = |access: &&Access| matches!(access, Access::Served(_));
        let count = seen.iter().map(|seen| seen.accesses.iter().filter(served).count()).sum::<usize>();
        assert!(count as u64 >= alone.requests, "{system}: {count}");
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

#[test]
fn shortest_positioning_chooses_the_nearest_of_all_candidates() {
    let mut running = experiment(SYSTEMS[0]).begin(Hooks::default()).unwrap();
    running.stations_mut()[0].watch(Time::ZERO);
    while !running.go_on_for(100).unwrap() {}
    let seen = running.stations_mut()[0].seen();
    assert_eq!(seen.choices.len(), 3000);
    for choice in &seen.choices {
        let nearest = choice.candidates.iter().map(|one| one.positioning).min();
        assert_eq!(Some(choice.candidates[0].positioning), nearest, "{choice:?}");
    }
}
