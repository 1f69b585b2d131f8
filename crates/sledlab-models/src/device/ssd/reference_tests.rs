//! Flash compared with recorded runs of MQSim (Tavakkol et al., "MQSim: A Framework for Enabling Realistic Studies of
//! Modern Multi-Queue SSD Devices", FAST 2018).
//!
//! The runs are not part of the project: the tests read them from `$SLEDLAB_REFERENCE`, by default a directory next to
//! the project, and pass with a note if there are none.

use std::path::{Path, PathBuf};

use sledlab_core::{Request, Source, Span};
use sledlab_trace::{OpenOptions, open};

use super::tests::{serve, station};
use super::*;
use crate::device::QueuedRequest;

/// A recorded run.
struct Run {
    name: String,
    mean_us: f64,
}

/// The folder of recorded runs and the runs in it, or `None` after a remark.
fn reference(folder: &str) -> Option<(PathBuf, Vec<Run>)> {
    let root = std::env::var_os("SLEDLAB_REFERENCE").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference"),
        PathBuf::from,
    );
    let folder = root.join(folder);
    let Ok(table) = std::fs::read_to_string(folder.join("runs.csv")) else {
        eprintln!("skipped: no recorded runs of flash (set SLEDLAB_REFERENCE)");
        return None;
    };
    let rows = table.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    // Means are rounded down to whole microseconds.
    let runs = rows.map(|row| Run { name: row[0].to_owned(), mean_us: row[2].parse::<f64>().unwrap() + 0.5 });
    Some((folder, runs.collect()))
}

/// The drive of the runs: `ssdconfig.xml`, with the times of commands and the overhead of packets from MQSim's sources.
fn drive() -> SsdParams {
    SsdParams {
        channels: 4,
        dies_per_channel: 4,
        blocks_per_die: 512,
        pages_per_block: 256,
        page_kb: 16,
        over_provisioning: 1.0 / 0.91 - 1.0,
        filled: 0.0,
        queue_depth: 512,
        command_us: 0.1,
        read_us: 75.0,
        program_us: 750.0,
        erase_us: 3800.0,
        // Two bytes in 6 ns.
        channel_mb_s: 1e3 / 3.0,
        // 4 GB/s, of which each packet of 128 bytes takes 28 bytes more.
        bus_mb_s: 4000.0 * 128.0 / 156.0,
        allocation: "CWDP".to_owned(),
        channel_command_us: 0.29,
        cache_registers: false,
        reads_first: true,
        // MQSim reads the old blocks of a page over the channel, but sends only the new ones to the die.
        copyback: true,
        startup_ms: 0.0,
        idle_timeout_ms: 1e9,
        ..SsdParams::default()
    }
}

/// The mean response time of a run, in microseconds.
fn mean_us(params: &SsdParams, folder: &Path, run: &Run) -> f64 {
    let mut source = open(folder.join(format!("{}.csv.zst", run.name)), OpenOptions::default()).unwrap();
    let mut requests: Vec<Request> = Vec::new();
    while source.fill(&mut requests).unwrap() > 0 {}
    let requests: Vec<QueuedRequest> = (0..)
        .zip(requests)
        .map(|(id, Request { arrival, lbn, blocks, op, .. })| QueuedRequest {
            id,
            arrival,
            lbn,
            blocks,
            op,
            ..QueuedRequest::default()
        })
        .collect();
    let (served, _) = serve(&mut station(params), &requests, usize::MAX);
    let response: Span = served.iter().map(|served| served.completion.since(served.request.arrival)).sum();
    response.as_seconds() * 1e6 / served.len() as f64
}

/// Runs above 70 % of the load at which MQSim is saturated: 20,000 page writes a second, by the time that a die is
/// busy with one, and 58,600 page reads, as measured.
const HIGH_LOADS: [&str; 2] = ["write-page-16000", "read-page-60000"];

#[test]
fn mean_responses_agree_with_mqsim() {
    let Some((folder, runs)) = reference("flash") else { return };
    assert_eq!(runs.len(), 19);
    let deviations = runs.iter().map(|run| {
        let ours_us = mean_us(&drive(), &folder, run);
        let deviation = ours_us / run.mean_us - 1.0;
        eprintln!(
            "{}: {ours_us:.1} us, recorded {:.1} us, {:+.2} %",
            run.name,
            run.mean_us,
            100.0 * deviation
        );
        let max_deviation = if HIGH_LOADS.contains(&&*run.name) { 0.05 } else { 0.02 };
        (&run.name, deviation, max_deviation)
    });
    let outside: Vec<_> = deviations.filter(|(_, deviation, max)| deviation.abs() > *max).collect();
    assert!(outside.is_empty(), "{outside:?}");
}
