//! Thousands of power failures over the wire: `cargo run --example power -- 2000` prints a tally of them as JSON, and
//! ends with an error if a block did not hold the version that the model finds, or something durable was lost.
#![cfg(target_os = "linux")]

// The example uses a part of the module.
#[allow(dead_code)]
#[path = "../tests/power/mod.rs"]
mod power;

use std::process::ExitCode;

use power::systems::System;
use power::{Tally, wire};
use sledlab_emulation::Server;

/// Power failures where the command line gives no number.
const DEFAULT_FAILURES: u64 = 2_000;

fn main() -> ExitCode {
    let failures = std::env::args().nth(1).and_then(|number| number.parse().ok()).unwrap_or(DEFAULT_FAILURES);
    let groups = [
        ("durable", wire::durable_systems()),
        ("volatile", wire::volatile_systems()),
        ("never_flushed", wire::unflushed_systems()),
    ];
    let systems: usize = groups.iter().map(|(_, systems)| systems.len()).sum();
    let failures_per_system = failures.div_ceil(systems as u64);
    let mut fields = Vec::new();
    for (name, systems) in &groups {
        match group(systems, failures_per_system) {
            Ok((tally, min_lost)) => fields.push(format!(
                "\"{name}\": {{\"systems\": {}, \"failures\": {}, \"struck\": {}, \"restored\": {}, \"lost\": {}, \
                 \"least_lost_share\": {min_lost}, \"blocks\": {}}}",
                systems.len(),
                tally.failures,
                tally.interrupted,
                tally.restored,
                tally.lost,
                tally.blocks
            )),
            Err(message) => {
                eprintln!("{message}");
                return ExitCode::FAILURE;
            }
        }
    }
    println!("{{{}}}", fields.join(", "));
    ExitCode::SUCCESS
}

/// Returns the sum of the tallies of all systems of a group, and the minimum share of failures that lost a write among
/// its systems.
fn group(systems: &[System], failures_per_system: u64) -> Result<(Tally, f64), String> {
    let (mut sum, mut min_lost_share) = (Tally::default(), 1.0_f64);
    for system in systems {
        let tally = wire::run(system, failures_per_system, Server::start)
            .map_err(|message| format!("{system}: {message}"))?;
        min_lost_share = min_lost_share.min(tally.lost as f64 / tally.failures as f64);
        sum += tally;
    }
    Ok((sum, min_lost_share))
}
