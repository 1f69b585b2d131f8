//! Geometry, seek times and mechanics of thirteen drives against tables of the reference simulator.
//!
//! The tables are not part of the project: tests read them from `$SLEDLAB_REFERENCE`, by default a directory next to
//! the project, and pass with a note if there are none.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use sledlab_core::{Op, Time};

use super::drive::DiskState;
use super::geometry::{Geometry, Track};
use super::params::{DiskParams, SeekCurveKind};
use super::{Disk, import};
use crate::device::disksim::ParameterFile;
use crate::device::{Device, QueuedRequest};

/// Name of each drive's table, and of its parameter file.
const DRIVES: [(&str, &str); 13] = [
    ("atlas10k", "atlas10k"),
    ("atlas_III", "atlas_III"),
    ("barracuda", "barracuda"),
    ("cheetah4LP", "cheetah4LP"),
    ("cheetah9LP", "cheetah9LP"),
    ("dec_rz26", "dec_rz26"),
    ("hp_c2247a", "hp_c2247a"),
    ("hp_c2249a_generic", "hp_c2249a"),
    ("hp_c2490a", "hp_c2490a"),
    ("hp_c3323a", "hp_c3323a_validate"),
    ("hp_c3323a_generic", "hp_c3323a"),
    ("ibm18es", "ibm18es"),
    ("st41601n", "st41601n"),
];

/// The folder with the tables, or `None` after a remark.
fn reference() -> Option<PathBuf> {
    let root = std::env::var_os("SLEDLAB_REFERENCE").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference"),
        PathBuf::from,
    );
    let folder = root.join("disks");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no reference tables (set SLEDLAB_REFERENCE)");
    None
}

fn read_drive(folder: &Path, file: &str) -> DiskParams {
    let path = folder.join(format!("params/{file}.diskspecs"));
    let open = |path: &Path| std::fs::read(path);
    let file = ParameterFile::read(&open(&path).unwrap(), &path, &open).unwrap();
    import::import(&file, None).unwrap().params
}

/// Runs `check` with every drive and the rows of its table in the folder called `kind`.
fn for_each_drive(kind: &str, check: impl Fn(&str, &DiskParams, &[Vec<String>])) {
    let Some(folder) = reference() else { return };
    for (name, file) in DRIVES {
        let mut text = String::new();
        let table = File::open(folder.join(format!("{kind}/{name}.csv.gz"))).unwrap();
        GzDecoder::new(table).read_to_string(&mut text).unwrap();
        let rows: Vec<Vec<String>> =
            text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect();
        assert!(rows.len() >= 1000, "{name}: {} rows", rows.len());
        check(name, &read_drive(&folder, file), &rows);
    }
}

fn numbers<const N: usize>(row: &[String]) -> [f64; N] {
    std::array::from_fn(|column| row[column].parse().unwrap())
}

fn to_ns(us: f64) -> f64 {
    us * 1e3
}

#[test]
fn block_positions_equal_reference() {
    for_each_drive("lbnmap", |name, params, rows| {
        let geometry = Geometry::new(params).unwrap();
        for row in rows {
            let [lbn, cylinder, surface, sector, sectors, angle, first, last] = numbers(row);
            let place = geometry.place(lbn as u64);
            let track = Track { cylinder: cylinder as u32, head: surface as u32 };
            assert_eq!((place.track, place.sector), (track, sector as u64), "{name} {row:?}");
            assert_eq!(place.sectors, sectors as u64, "{name} {row:?}");
            assert_eq!(geometry.track_bounds(lbn as u64), (first as u64, last as u64), "{name} {row:?}");
            // The reference rounds angles to integer units, by at most 1e-7 rotations; an angle of a full rotation
            // equals 0.
            let difference = (place.slot as f64 / sectors - angle).rem_euclid(1.0);
            assert!(difference.min(1.0 - difference) < 1e-7, "{name} {row:?} {place:?}");
        }
    });
}

#[test]
fn seek_times_equal_reference_for_all_distances() {
    for_each_drive("seek", |name, params, rows| {
        let disk = Disk::new(params).unwrap();
        assert!(rows.len() as u64 >= params.cylinders() - 1, "{name}");
        for row in rows.iter().take(params.cylinders() as usize) {
            let [distance, read_us, write_us, read_other_us, write_other_us] = numbers(row);
            let to = |head| Track { cylinder: distance as u32, head };
            for (track, op, us) in [
                (to(0), Op::Read, read_us),
                (to(0), Op::Write, write_us),
                (to(1), Op::Read, read_other_us),
                (to(1), Op::Write, write_other_us),
            ] {
                let (seek, settle) = disk.drive.seek_and_settling(Track::default(), track, op);
                let difference_ns = (seek + settle).as_ns() as f64 - to_ns(us);
                // The reference computes square roots by iteration, to a relative precision of about 1e-6.
                let has_root = params.flat.seek_curve == SeekCurveKind::RootAndLine;
                assert!(
                    difference_ns.abs() <= if has_root { 6.0 } else { 1.0 },
                    "{name} {row:?} {op:?} {difference_ns}"
                );
            }
        }
    });
}

/// Slipped sectors between the blocks of a request on one track. They pass under the head like others, but the
/// reference counts no time for them. For a request on several tracks the wait for the next track absorbs that time.
fn slipped_sectors(geometry: &Geometry, request: &QueuedRequest) -> u64 {
    let last = request.lbn + u64::from(request.blocks) - 1;
    if last > geometry.track_bounds(request.lbn).1 {
        return 0;
    }
    geometry.place(last).sector - geometry.place(request.lbn).sector - (last - request.lbn)
}

#[test]
fn service_times_equal_reference() {
    for_each_drive("mech", |name, params, rows| {
        let disk = Disk::new(params).unwrap();
        let geometry = Geometry::new(params).unwrap();
        let period_ns = 60e9 / params.flat.rpm as f64;
        let mut across_slips = 0;
        for row in rows {
            let [cylinder, head, angle, lbn, blocks] = numbers(row);
            let track = Track { cylinder: cylinder as u32, head: head as u32 };
            let op = if row[5] == "W" { Op::Write } else { Op::Read };
            let request =
                QueuedRequest { lbn: lbn as u64, blocks: blocks as u32, op, ..QueuedRequest::default() };
            // A time on the eighth turn at which the platters are at that angle, to the nanosecond.
            let time = Time::from_ns((7.0 * period_ns + angle * period_ns).round() as u64);
            let state = DiskState::ready(track, time).into();
            let (timing, _) = disk.mechanics().serve_from(state, &request);
            let [seek_us, wait_us, _, total_us] = numbers(&row[9..]);
            let slipped = slipped_sectors(&geometry, &request);
            across_slips += slipped;
            let sectors = geometry.place(request.lbn).sectors;
            let total_us = total_us + slipped as f64 * period_ns / sectors as f64 / 1e3;
            let check = |quantity: &str, ours: f64, us: f64| {
                let difference_ns = ours - to_ns(us);
                assert!(difference_ns.abs() <= 50.0, "{name} {row:?} {quantity}: {difference_ns} ns");
            };
            check("seek", (timing.seek_x + timing.settle).as_ns() as f64, seek_us);
            check("rotation", timing.rotation.as_ns() as f64, wait_us);
            check("total", timing.service().as_ns() as f64, total_us);
        }
        assert!(across_slips <= 1, "{name}: {across_slips}");
    });
}
