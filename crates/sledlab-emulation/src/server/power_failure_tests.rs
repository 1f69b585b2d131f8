//! A planted defect in the superseded data, which tests of power failures over the network must detect.

// These tests use a part of the module.
#[allow(dead_code)]
#[path = "../../tests/power/mod.rs"]
mod power;

use std::panic::{AssertUnwindSafe, catch_unwind};

use sledlab_core::{BLOCK_BYTES, Result};
use sledlab_sim::{Experiment, LiveRun};

use self::power::wire;
use super::{Server, ServerOptions};
use crate::model::Model;
use crate::power::Power;

/// A server that considers acknowledged writes safe although they are in a volatile cache, and discards superseded data
/// too early.
fn start_forgetful_server(experiment: &Experiment, options: ServerOptions) -> Result<Server> {
    let live = LiveRun::with_contents(experiment, None)?;
    let bytes = live.capacity_blocks() * BLOCK_BYTES;
    let restart_experiment = experiment.clone();
    let restart = move || -> Result<Box<dyn Model>> {
        Ok(Box::new(LiveRun::with_contents(&restart_experiment, None)?))
    };
    let power = Power::new(false, 1, Box::new(restart));
    Server::start_model(Box::new(live), bytes, options, Box::new(|| (0, 0)), Some(power))
}

#[test]
fn early_dropped_versions_are_detected() {
    let undetected = wire::unflushed_systems().into_iter().take(4).filter(|system| {
        let outcome = catch_unwind(AssertUnwindSafe(|| wire::run(system, 20, start_forgetful_server)));
        !matches!(outcome, Ok(Ok(_)))
    });
    assert_eq!(undetected.count(), 4);
}
