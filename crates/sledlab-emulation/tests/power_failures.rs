//! Emulated devices lose their power at any time: afterwards every block of the store equals that of the model, and
//! nothing durable is lost.

use proptest::prelude::*;
use sledlab_core::seed;
use sledlab_sim::LiveRun;

use crate::power::live::{self, Defect, Failure};
use crate::power::systems::{
    System, buffering_systems, durable_systems, mechanical_systems, mechanical_volatile_systems,
    volatile_systems,
};
use crate::power::{BLOCKS, Tally};

fn mechanical_devices() -> Vec<System> {
    mechanical_systems().into_iter().chain(mechanical_volatile_systems()).collect()
}

fn fail(systems: &[System], failures: u64) -> Tally {
    let mut tally = Tally::default();
    for system in systems {
        for number in 0..failures {
            let result = live::run(system, number, None);
            let Failure { interrupted, lost, restored, .. } =
                result.unwrap_or_else(|message| panic!("{system}, run {number}: {message}"));
            tally += Tally {
                failures: 1,
                interrupted: u64::from(interrupted),
                restored: u64::from(restored > 0),
                lost: u64::from(lost),
                blocks: BLOCKS,
            };
        }
    }
    tally
}

#[test]
fn store_equals_model_and_durable_data_survives() {
    let tallies = [(durable_systems(), 44), (volatile_systems(), 44), (mechanical_devices(), 14)]
        .map(|(systems, runs)| fail(&systems, runs));
    let [durable, volatile, devices] = tallies;
    assert!(durable.failures + volatile.failures + devices.failures >= 2_000, "{tallies:?}");
    assert!(
        tallies.iter().all(|tally| 5 * tally.interrupted >= 2 * tally.failures),
        "too few strike anything: {tallies:?}"
    );
    assert!(
        tallies.iter().all(|tally| 4 * tally.restored >= tally.failures),
        "too few change the store: {tallies:?}"
    );
    assert_eq!(durable.lost, 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// `PROPTEST_CASES=100000` draws more systems.
    #[test]
    fn drawn_systems_keep_durable_data(root: u64) {
        let system = System::draw(&mut seed::stream(root, "system"));
        let result = live::run(&system, root, None);
        prop_assert!(result.is_ok(), "{system}, run {root}: {}", result.err().unwrap_or_default());
    }
}

#[test]
fn same_seed_reproduces_power_failure() {
    for system in durable_systems().into_iter().chain(volatile_systems()).chain(mechanical_devices()) {
        assert!(live::run(&system, 7, None) == live::run(&system, 7, None), "{system}");
    }
}

/// Flushed writes are durable, which every run checks. Without flushes some acknowledged write is lost.
#[test]
fn volatile_cache_loses_unflushed_data() {
    for (systems, min_lost) in [(volatile_systems(), 8), (buffering_systems(), 1)] {
        for system in systems {
            let system = [system.without_flushes()];
            let tally = fail(&system, 40);
            assert!(tally.lost >= min_lost, "{}: {tally:?}", system[0]);
        }
    }
}

/// Whether any of several power failures shows a planted defect.
fn is_detected(system: &System, defect: Defect) -> bool {
    (0..400).any(|number| {
        // Recovery itself fails at a clean block that is not on the back device.
        let run = || live::run(system, number, Some(defect));
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        !matches!(result, Ok(Ok(_)))
    })
}

#[test]
fn early_dropped_versions_are_detected() {
    for system in durable_systems() {
        assert!(is_detected(&system, Defect::ArrivedIsComplete), "{system}");
    }
    for system in volatile_systems() {
        assert!(is_detected(&system, Defect::CompleteIsSafe), "{system}");
        assert!(is_detected(&system, Defect::FlushedAtOnce), "{system}");
    }
}

#[test]
fn lost_block_is_detected() {
    for system in durable_systems() {
        assert!(is_detected(&system, Defect::LosesBlock), "{system}");
    }
}

#[test]
fn degraded_raid5_is_refused() {
    let system = System::in_memory("system.kind=raid5 system.devices=3 system.failed=1");
    let live = LiveRun::with_contents(&system.experiment, None);
    let error = live.err().expect("an error: the failed device has unknown contents");
    assert!(error.to_string().contains("write hole"), "{error}");
    assert!(error.remedy().is_some_and(|remedy| remedy.contains("system.failed")), "{error}");
}
