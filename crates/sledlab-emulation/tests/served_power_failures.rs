//! Servers whose devices lose their power: every block, read over the network, equals that of the model. The example
//! `power` does the same thousands of times.

use std::time::Duration;

use sledlab_emulation::{Server, ServerOptions};
use sledlab_sim::Experiment;

use crate::power::Tally;
use crate::power::systems::System;
use crate::power::wire::host::{FUA, Host, WRITE};
use crate::power::wire::{durable_systems, run, server_options, unflushed_systems, volatile_systems};

fn fail(systems: &[System], failures: u64) -> Tally {
    let mut sum = Tally::default();
    for system in systems {
        sum += run(system, failures, Server::start).unwrap_or_else(|message| panic!("{system}: {message}"));
    }
    sum
}

#[test]
fn blocks_equal_model_and_durable_data_survives() {
    let durable = fail(&durable_systems(), 3);
    assert_eq!(durable.lost, 0);
    let volatile = fail(&volatile_systems(), 3);
    for tally in [durable, volatile] {
        assert!(4 * tally.interrupted >= tally.failures, "too few strike anything: {tally:?}");
        assert!(tally.restored > 0, "none changes the data: {tally:?}");
    }
}

#[test]
fn volatile_cache_loses_unflushed_data() {
    let tally = fail(&unflushed_systems(), 4);
    assert!(5 * tally.lost >= tally.failures, "{tally:?}");
}

/// The writes are complete in the volatile cache when the power fails, but their flushes take seconds.
#[test]
fn unanswered_fua_writes_are_not_lost() {
    let cache = "cache.kind=write-back cache.volatile=true cache.destage=demand";
    let system = System::in_memory(&format!("{cache} device.access_us=1000000"));
    let server = Server::start(&system.experiment, server_options(&system)).expect("a server");
    for seed in 0..6 {
        let mut host = Host::connect(server.socket().expect("a socket")).expect("a connection");
        for write in 0..4 {
            host.send_request(WRITE, FUA, 4096 * write, 4096, &[seed as u8 + 1; 4096]);
        }
        std::thread::sleep(Duration::from_millis(20));
        let (failure, _) = server.power_fail(Some(seed)).expect("a power failure");
        assert_eq!((failure.in_flight, failure.lost), (4, 0), "{failure:?}");
        assert!(failure.newest + failure.older > 0, "{failure:?}");
    }
}

#[test]
fn power_failures_must_be_enabled() {
    let mut experiment = Experiment::new();
    experiment.set_device("ram").expect("a device");
    let server = Server::start(&experiment, ServerOptions::default()).expect("a server");
    let error = server.power_fail(None).expect_err("nothing was kept");
    assert!(error.remedy().is_some_and(|remedy| remedy.contains("--power-failures")), "{error}");
    assert!(server.stop(true).expect("a report").power_failures.is_empty());
    let options = ServerOptions { untimed: true, power_failures: true, ..ServerOptions::default() };
    let error = Server::start(&experiment, options).expect_err("there is no model");
    assert!(error.to_string().contains("untimed"), "{error}");
}
