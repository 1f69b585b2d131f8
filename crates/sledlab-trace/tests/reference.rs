//! Real traces, against published or measured statistics of them.

use std::collections::HashSet;

use crate::trace_reader::{read_all, read_file, reference};
use sledlab_core::{Op, Request};
use sledlab_trace::{OpenOptions, open};

fn mean_bytes(requests: &[Request]) -> f64 {
    requests.iter().map(|r| f64::from(r.blocks) * 512.0).sum::<f64>() / requests.len() as f64
}

fn share(requests: &[Request], mut is_counted: impl FnMut(&Request) -> bool) -> f64 {
    requests.iter().filter(|r| is_counted(r)).count() as f64 / requests.len() as f64
}

fn span_s(requests: &[Request]) -> f64 {
    requests.last().unwrap().arrival.since(requests[0].arrival).as_seconds()
}

#[test]
fn application_traces_match_published_counts() {
    let Some(folder) = reference("SLEDLAB_TRACES", "traces") else { return };
    // Rows, reads, writes, trims, flushes, seconds, highest offset in GB.
    let published = [
        ("oltp-bank-a", [160_625, 52_483, 78_939, 0, 29_203], 420.0, 3.25),
        ("oltp-orders-a", [279_203, 132_922, 134_650, 0, 11_631], 420.0, 3.25),
        ("dss-a", [300_000, 296_150, 3_798, 0, 52], 194.0, 4.72),
        ("mail-a", [156_527, 25_171, 90_790, 0, 40_566], 480.0, 3.15),
        ("desktop-a", [105_472, 55_967, 29_036, 16_250, 4_219], 805.7, 5.24),
        ("kv-a", [211_681, 77_841, 84_675, 0, 49_165], 420.0, 1.35),
    ];
    for (name, counts, seconds, highest_gb) in published {
        let (format, requests) = read_file(&folder.join(format!("{name}.csv.zst")));
        assert_eq!(format, "csv");
        let count_of = |op| requests.iter().filter(|r| r.op == op).count();
        let counts_read = [
            requests.len(),
            count_of(Op::Read),
            count_of(Op::Write),
            count_of(Op::Trim),
            count_of(Op::Flush),
        ];
        assert_eq!(counts_read, counts, "{name}");
        assert!((span_s(&requests) - seconds).abs() < 0.06, "{name}: {} s", span_s(&requests));
        let highest = requests.iter().map(Request::end).max().unwrap() as f64 * 512.0 / 1e9;
        assert!((highest - highest_gb).abs() < 0.006, "{name}: {highest} GB");
    }
}

#[test]
fn workstation_week_has_measured_statistics() {
    let Some(folder) = reference("SLEDLAB_REFERENCE", "reference") else { return };
    let (format, requests) = read_file(&folder.join("traces/ajw.1week.srt"));
    assert_eq!(format, "srt");
    assert_eq!(requests.len(), 44_519);
    assert!((share(&requests, |r| r.op == Op::Read) - 0.293).abs() < 0.0005);
    assert!((mean_bytes(&requests) / 1024.0 - 5.78).abs() < 0.005);
    assert!((span_s(&requests) / 3600.0 - 167.5).abs() < 0.05);
    assert!((share(&requests, |r| r.blocks == 16) - 0.60).abs() < 0.005);
    // Sections of the disks: swap2, swap, root, and the swap of the second disk.
    let section = |lbn: u64| [37_064, 85_880, 654_948].iter().filter(|start| lbn >= **start).count();
    let mut ends = [u64::MAX; 4];
    let sequential = share(&requests, |r| std::mem::replace(&mut ends[section(r.lbn)], r.end()) == r.lbn);
    assert!((sequential - 0.015).abs() < 0.0005, "{sequential}");
    let distinct: HashSet<u64> = requests.iter().flat_map(|r| r.lbn..r.end()).collect();
    assert_eq!((distinct.len() * 512).div_ceil(1 << 20), 26);
    let mut gaps: Vec<u64> = requests.windows(2).map(|p| p[1].arrival.since(p[0].arrival).as_ns()).collect();
    gaps.sort_unstable();
    assert_eq!(gaps[gaps.len() / 2] / 1_000_000, 23);
    assert_eq!((gaps.last().unwrap() + 500_000_000) / 1_000_000_000, 1_770);
}

#[test]
fn workstation_hour_equals_reference_trace() {
    let Some(folder) = reference("SLEDLAB_REFERENCE", "reference") else { return };
    let (_, week) = read_file(&folder.join("traces/ajw.1week.srt"));
    let (_, hour) = read_file(&folder.join("mems/traces/hp_ajw_x1.txt.gz"));
    let first = week
        .windows(hour.len())
        .position(|part| {
            part.iter().zip(&hour).all(|(a, b)| (a.lbn, a.blocks, a.op) == (b.lbn, b.blocks, b.op))
        })
        .expect("the hour is part of the week");
    for (a, b) in week[first..].iter().zip(&hour) {
        assert_eq!(a.arrival.since(week[first].arrival).as_ns(), b.arrival.as_ns());
    }
}

#[test]
fn every_reference_trace_is_read() {
    let Some(folder) = reference("SLEDLAB_REFERENCE", "reference") else { return };
    let mut count = 0;
    for entry in std::fs::read_dir(folder.join("mems/traces")).unwrap() {
        let path = entry.unwrap().path();
        let trace = open(&path, OpenOptions::default()).unwrap();
        assert_eq!(trace.format(), "disksim-ascii");
        assert!(!read_all(trace).unwrap().is_empty());
        count += 1;
    }
    assert!(count >= 40, "{count}");
}

#[test]
fn disk_validation_trace_matches_measured_statistics() {
    let Some(folder) = reference("SLEDLAB_REFERENCE", "reference") else { return };
    let (_, requests) = read_file(&folder.join("mems/traces/seagate_gap.txt.gz"));
    assert_eq!(requests.len(), 9_999);
    assert!((share(&requests, |r| r.op == Op::Read) - 0.668).abs() < 0.0005);
    assert!((mean_bytes(&requests) / 1024.0 - 8.20).abs() < 0.005);
    assert!((span_s(&requests) - 139.2).abs() < 0.05);
    let longest = requests.windows(2).map(|p| p[1].arrival.since(p[0].arrival).as_ns()).max().unwrap();
    assert!((longest as f64 / 1e6 - 35.88).abs() < 0.005);
}
