//! Emulated devices lose their power at any moment: afterwards every block of the store holds what the model finds, and
//! nothing durable is lost.

use sledlab_sim::LiveRun;

use crate::power::live::{self, Defect, Failure};
use crate::power::systems::{System, durable, mechanical, mechanical_volatile, volatile};
use crate::power::{BLOCKS, Tally};

fn devices() -> Vec<System> {
    mechanical().into_iter().chain(mechanical_volatile()).collect()
}

fn fail(systems: &[System], failures: u64) -> Tally {
    let mut tally = Tally::default();
    for system in systems {
        for number in 0..failures {
            let shown = live::run(system, number, None);
            let Failure { struck, lost, restored, .. } =
                shown.unwrap_or_else(|wrong| panic!("{system}, run {number}: {wrong}"));
            tally += Tally {
                failures: 1,
                struck: u64::from(struck),
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
    let shown = [(durable(), 44), (volatile(), 44), (devices(), 14)].map(|(of, runs)| fail(&of, runs));
    let [durable, volatile, devices] = shown;
    assert!(durable.failures + volatile.failures + devices.failures >= 2_000, "{shown:?}");
    assert!(
        shown.iter().all(|tally| 5 * tally.struck >= 2 * tally.failures),
        "too few strike anything: {shown:?}"
    );
    assert!(
        shown.iter().all(|tally| 4 * tally.restored >= tally.failures),
        "too few change the store: {shown:?}"
    );
    assert_eq!(durable.lost, 0);
}

#[test]
fn the_same_failure_leaves_the_same() {
    for system in durable().into_iter().chain(volatile()).chain(devices()) {
        assert!(live::run(&system, 7, None) == live::run(&system, 7, None), "{system}");
    }
}

/// Flushed writes are durable, which every run checks. Without flushes some acknowledged write is lost.
#[test]
fn volatile_cache_loses_unflushed_data() {
    for system in volatile() {
        let system = [system.without_flushes()];
        let tally = fail(&system, 40);
        assert!(5 * tally.lost >= tally.failures, "{}: {tally:?}", system[0]);
    }
}

/// Whether any of several power failures shows a planted defect.
fn is_found(system: &System, defect: Defect) -> bool {
    (0..400).any(|number| {
        // Recovery itself fails at a clean block that the back device does not hold.
        let run = || live::run(system, number, Some(defect));
        let shown = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        !matches!(shown, Ok(Ok(_)))
    })
}

#[test]
fn too_early_dropped_versions_are_detected() {
    for system in durable() {
        assert!(is_found(&system, Defect::ArrivedIsAnswered), "{system}");
    }
    for system in volatile() {
        assert!(is_found(&system, Defect::AnsweredIsSafe), "{system}");
        assert!(is_found(&system, Defect::FlushedAtOnce), "{system}");
    }
}

#[test]
fn lost_block_is_found() {
    for system in durable() {
        assert!(is_found(&system, Defect::LosesBlock), "{system}");
    }
}

#[test]
fn a_raid5_that_misses_a_device_is_refused() {
    let system = System::of_memory("system.kind=raid5 system.devices=3 system.failed=1");
    let live = LiveRun::with_contents(&system.experiment, None);
    let refused = live.err().expect("an error: the failed device has unknown contents");
    assert!(refused.to_string().contains("write hole"), "{refused}");
    assert!(refused.remedy().is_some_and(|remedy| remedy.contains("system.failed")), "{refused}");
}
