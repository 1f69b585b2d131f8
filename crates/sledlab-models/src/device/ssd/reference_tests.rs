//! Flash compared with recorded runs of MQSim (Tavakkol et al., "MQSim: A Framework for Enabling Realistic Studies of
//! Modern Multi-Queue SSD Devices", FAST 2018).
//!
//! The runs are not part of the project: the tests read them from `$SLEDLAB_REFERENCE`, by default a directory next to
//! the project, and pass with a note if there are none.

use std::path::{Path, PathBuf};

use sledlab_core::{Op, Request, Source, Span};
use sledlab_trace::{OpenOptions, open};

use super::params::{GarbageCollection, Precondition, SsdParams};
use super::tests::{serve, station};
use crate::device::QueuedRequest;

/// A recorded run.
struct Run {
    name: String,
    mean_us: f64,
    /// Pages programmed for each page that the host wrote, where blocks were collected.
    write_amplification: Option<f64>,
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
    let runs = rows.map(|row| Run {
        name: row[0].to_owned(),
        mean_us: row[2].parse::<f64>().unwrap() + 0.5,
        write_amplification: row.get(12).map(|cell| cell.parse().unwrap()),
    });
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
        program_mw: 1.0,
        read_mw: 0.0,
        erase_mw: 0.0,
        channel_mw: 0.0,
        ..SsdParams::default()
    }
}

/// The mean response time of a run in microseconds, and pages programmed for each write.
fn replay(params: &SsdParams, folder: &Path, run: &Run) -> (f64, f64) {
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
    let mut station = station(params);
    let (served, _) = serve(&mut station, &requests, usize::MAX);
    let response: Span = served.iter().map(|served| served.completion.since(served.request.arrival)).sum();
    // Only programs take energy, of 1 mW.
    let programs = station.ledger().unwrap().tip_ns as f64 / (params.program_us * 1e3);
    let writes = served.iter().filter(|served| served.request.op == Op::Write).count();
    (response.as_seconds() * 1e6 / served.len() as f64, programs / writes as f64)
}

/// Runs above 70 % of the load at which MQSim is saturated: 20,000 page writes a second, by the time that a die is
/// busy with one, and 58,600 page reads, as measured.
const HIGH_LOADS: [&str; 2] = ["write-page-16000", "read-page-60000"];

#[test]
fn mean_responses_agree_with_mqsim() {
    let Some((folder, runs)) = reference("flash") else { return };
    assert_eq!(runs.len(), 19);
    let deviations = runs.iter().map(|run| {
        let (ours_us, _) = replay(&drive(), &folder, run);
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

/// The drive of the runs in which blocks are collected: the same with smaller blocks, in its steady state.
fn collecting_drive(run: &str) -> SsdParams {
    let hidden_share = match run.split('-').nth(1) {
        Some("op7") => 0.07,
        Some("op12") => 0.125,
        _ => 0.28,
    };
    SsdParams {
        blocks_per_die: 2048,
        pages_per_block: 32,
        over_provisioning: 1.0 / (1.0 - hidden_share) - 1.0,
        filled: 1.0,
        precondition: Precondition::Random,
        garbage_collection: GarbageCollection::Block,
        // Collection begins below 25 erased blocks; one more block is kept for a table of pages.
        gc_free_blocks: 25,
        queue_depth: 65_000,
        ..drive()
    }
}

#[test]
fn collected_blocks_agree_with_mqsim() {
    let Some((folder, runs)) = reference("flash-gc") else { return };
    assert_eq!(runs.len(), 12);
    let deviations = runs.iter().map(|run| {
        let (ours_us, amplification) = replay(&collecting_drive(&run.name), &folder, run);
        let [time, programs] = [ours_us / run.mean_us, amplification / run.write_amplification.unwrap()];
        let [time, programs] = [time, programs].map(|ratio| ratio - 1.0);
        eprintln!(
            "{}: {ours_us:.0} us, recorded {:.0} us, {:+.2} %; write amplification {amplification:.3}, {:+.2} %",
            run.name,
            run.mean_us,
            100.0 * time,
            100.0 * programs
        );
        (&run.name, time, programs)
    });
    let outside: Vec<_> =
        deviations.filter(|(_, time, programs)| time.abs() > 0.05 || programs.abs() > 0.02).collect();
    assert!(outside.is_empty(), "{outside:?}");
}
