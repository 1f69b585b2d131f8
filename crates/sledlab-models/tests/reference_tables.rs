//! Geometry, layouts, seeks and turnarounds compared with tables of the reference simulator.
//!
//! The tables are not part of the project: the tests read them from `$SLEDLAB_REFERENCE`, by default a directory next
//! to the project, and pass with a note if there are none.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::results::write_result;
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use sledlab_models::device::mems::MemsParams;
use sledlab_models::device::mems::axis::Axis;
use sledlab_models::device::mems::geometry::Geometry;
use sledlab_models::device::mems::kinematics::{self, Heading, Kinematics, TurnaroundTime, y_time};
use sledlab_models::device::mems::layout::{self, Place};
use sledlab_models::device::mems::params::{Direction, KinematicsKind, LayoutKind};

const DEVICES: [&str; 4] = ["G1", "G2", "G3", "V1"];

/// Tolerance of comparisons: the tables are printed to 1e-9 ms.
const TOLERANCE_MS: f64 = 1e-6;

/// The folder with the tables, or `None` after a remark.
fn reference() -> Option<PathBuf> {
    let root = std::env::var_os("SLEDLAB_REFERENCE").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference"),
        PathBuf::from,
    );
    let folder = root.join("mems");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no reference tables (set SLEDLAB_REFERENCE)");
    None
}

/// A table with named columns.
struct Table {
    header: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Table {
    fn read(path: &PathBuf) -> Table {
        let mut text = String::new();
        GzDecoder::new(File::open(path).unwrap()).read_to_string(&mut text).unwrap();
        let mut lines = text.lines();
        let header = lines.next().unwrap().split(',').map(str::to_owned).collect();
        let rows = lines.map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
        Table { header, rows }
    }

    fn column(&self, name: &str) -> usize {
        self.header.iter().position(|column| column == name).unwrap_or_else(|| panic!("no column {name}"))
    }
}

fn geometry_json(folder: &Path) -> serde_json::Value {
    serde_json::from_reader(File::open(folder.join("layout/geometry.json")).unwrap()).unwrap()
}

fn params(folder: &Path, device: &str) -> MemsParams {
    params_from_json(&geometry_json(folder)[device]["parameters"])
}

fn params_from_json(json: &serde_json::Value) -> MemsParams {
    let number = |name: &str| json[name].as_f64().unwrap();
    let is_closed = number("seek_function") > 0.0;
    MemsParams {
        kinematics: if is_closed { KinematicsKind::DisksimClosed } else { KinematicsKind::DisksimPiecewise },
        bit_nm: number("bit_nm"),
        travel_x_um: number("sled_x_nm") / 1e3,
        travel_y_um: number("sled_y_nm") / 1e3,
        tip_sector_bits: number("tip_sector_bits") as u64,
        servo_bits: number("servo_bits") as u64,
        tips_per_block: number("tips_per_lbn") as u64,
        usable_tips: number("usable_tips") as u64,
        active_tips: number("active_tips") as u64,
        layout: LayoutKind::Streaming,
        acceleration_x_m_s2: number("accel_x_m_s2"),
        acceleration_y_m_s2: number("accel_y_m_s2"),
        spring_factor: number("spring_factor"),
        tip_rate_kbit_s: number("access_speed_bit_s") / 1e3,
        resonant_hz: number("resonant_hz"),
        settle_constants: number("settle_constants"),
        direction: if number("bidirectional") > 0.0 { Direction::Free } else { Direction::Up },
        ..MemsParams::default()
    }
}

#[test]
fn geometry_is_equal() {
    let Some(folder) = reference() else { return };
    let json = geometry_json(&folder);
    for device in DEVICES {
        let geometry = Geometry::new(&params(&folder, device)).unwrap();
        let derived = &json[device]["derived"];
        let number = |name: &str| derived[name].as_f64().unwrap();
        let check_count =
            |name: &str, value: i64| assert_eq!(derived[name].as_i64(), Some(value), "{device} {name}");
        check_count("cylinders", geometry.cylinders.into());
        check_count("rows_per_column", geometry.rows.into());
        check_count("columns_per_cylinder", geometry.tracks.into());
        check_count("cells_per_row", geometry.cells.into());
        check_count("lbns_per_column", geometry.blocks_per_track.into());
        check_count("lbns_per_cylinder", geometry.blocks_per_cylinder as i64);
        check_count("lbns_per_device", geometry.blocks as i64);
        check_count("centre_lbn", geometry.center_block() as i64);
        check_count("x_min_bit", geometry.x_bit(0).into());
        check_count("x_max_bit", geometry.x_bit(geometry.cylinders - 1).into());
        check_count("y_shift_bit", geometry.y_shift_bits.into());
        check_count("row_pitch_bit", geometry.pitch_bits.into());
        check_count("capacity_bytes", geometry.capacity_bytes() as i64);
        let check_close = |name: &str, value: f64, tolerance: f64| {
            assert!((number(name) - value).abs() <= tolerance, "{device} {name} {value}");
        };
        check_close("access_velocity_nm_s", geometry.velocity_m_s * 1e9, 1e-3);
        check_close("settle_ms", geometry.settle().as_ms(), TOLERANCE_MS);
        check_close("servo_time_ms", geometry.servo_time().as_ms(), TOLERANCE_MS);
        let row_ms = number("servo_time_ms") + number("data_time_ms");
        assert!((geometry.row_time().as_ms() - row_ms).abs() <= TOLERANCE_MS);
    }
}

#[test]
fn layouts_are_equal() {
    let Some(folder) = reference() else { return };
    for device in DEVICES {
        for (name, kind) in [("streaming", LayoutKind::Streaming), ("simple", LayoutKind::RowFirst)] {
            let params = MemsParams { layout: kind, ..params(&folder, device) };
            let geometry = Geometry::new(&params).unwrap();
            let layout = layout::build(&params, &geometry);
            let table = Table::read(&folder.join(format!("layout/{device}_{name}.csv.gz")));
            assert_eq!(table.header.len(), 14);
            for row in &table.rows {
                let Place { cylinder, track, row: r, cell } = layout.place(row[0] as u64);
                let first_tip =
                    u64::from(cell) * params.tips_per_block + u64::from(track) * params.active_tips;
                let ours = [
                    layout.lbn(Place { cylinder, track, row: r, cell }) as f64,
                    f64::from(cylinder),
                    f64::from(track),
                    f64::from(r),
                    f64::from(cell),
                    f64::from(geometry.x_bit(cylinder)),
                    first_tip as f64,
                    (first_tip + params.tips_per_block - 1) as f64,
                    f64::from(geometry.up_start(r)),
                    f64::from(geometry.up_start(r) + geometry.servo_bits),
                    f64::from(geometry.up_end(r)),
                    f64::from(geometry.down_start(r)),
                    f64::from(geometry.down_start(r) - geometry.servo_bits),
                    f64::from(geometry.down_end(r)),
                ];
                assert_eq!(row, &ours, "{device} {name}");
            }
        }
    }
}

/// Largest difference, with the number of comparisons so that an empty test cannot pass.
#[derive(Default)]
struct Worst {
    difference_ms: f64,
    compared: usize,
}

impl Worst {
    fn compare(&mut self, quantity: &str, row: &[f64], theirs_ms: f64, ours_s: f64) {
        let difference = (theirs_ms - ours_s * 1e3).abs();
        assert!(difference <= TOLERANCE_MS, "{quantity} {row:?}: {} ms", ours_s * 1e3);
        self.difference_ms = self.difference_ms.max(difference);
        self.compared += 1;
    }

    /// The result of the comparisons, as an entry of the page on validation.
    fn report(&self, quantity: &str, kinematics: &str) -> Value {
        assert!(self.compared > 0);
        json!({
            "what": quantity,
            "kinematics": kinematics,
            "values": self.compared,
            "largest_difference_ms": self.difference_ms,
        })
    }
}

/// The kinematics in the tables, each with its name there.
fn kinds() -> [(&'static str, KinematicsKind); 3] {
    [
        ("piecewise", KinematicsKind::DisksimPiecewise),
        ("hong", KinematicsKind::DisksimClosed),
        ("exact", KinematicsKind::Exact),
    ]
}

/// Every kinematics with the parameters and the spring factor of a table column. The closed form is refused without a
/// spring, and its column is empty too.
fn for_each_kinematics(
    folder: &Path,
    device: &str,
    mut check: impl FnMut(&str, f64, &MemsParams, &dyn Kinematics),
) {
    let device_params = params(folder, device);
    // All tables, including those of V1, have columns for these two spring factors.
    for spring_factor in [0.75, 0.0] {
        let params = MemsParams { spring_factor, ..device_params.clone() };
        for (name, kind) in kinds() {
            match kinematics::build(kind, &params) {
                Ok(kinematics) => check(name, spring_factor, &params, kinematics.as_ref()),
                Err(error) => {
                    assert_eq!((name, spring_factor), ("hong", 0.0));
                    assert!(error.to_string().contains("not defined for spring_factor = 0"));
                }
            }
        }
    }
}

#[test]
fn seeks_in_x_are_equal() {
    let Some(folder) = reference() else { return };
    let mut result = Vec::new();
    for device in DEVICES {
        let table = Table::read(&folder.join(format!("seek/{device}_x_seek.csv.gz")));
        for_each_kinematics(&folder, device, |name, factor, params, kinematics| {
            let geometry = Geometry::new(params).unwrap();
            let (axis, bit_m) = (Axis::x(params), geometry.bit_m);
            let column = table.column(&format!("{name}_k{factor:?}_ms"));
            let settle_column = table.column("settle_ms");
            let mut worst = Worst::default();
            for row in &table.rows {
                let ours = kinematics.base_seek_s(&axis, row[0] * bit_m, row[1] * bit_m, 0.0);
                worst.compare(name, row, row[column], ours);
                worst.compare("settle", row, row[settle_column], geometry.settle().as_seconds());
            }
            result.push(worst.report(&format!("{device}, spring {factor}"), name));
        });
    }
    write_result("seeks_in_x_are_equal", &json!(result));
}

#[test]
fn seeks_in_y_are_equal() {
    let Some(folder) = reference() else { return };
    let mut result = Vec::new();
    for device in DEVICES {
        let table = Table::read(&folder.join(format!("seek/{device}_y_seek.csv.gz")));
        let (turns, v0, v1) = (table.column("turns"), table.column("v0_sign"), table.column("v1_sign"));
        let (y0, y1) = (table.column("y0_bit"), table.column("y1_bit"));
        for_each_kinematics(&folder, device, |name, factor, params, kinematics| {
            let geometry = Geometry::new(params).unwrap();
            let axis = Axis::y(params);
            let base_column = table.column(&format!("{name}_k{factor:?}_ms"));
            let turnaround_column = table.column(&format!("turnaround_k{factor:?}_ms"));
            let mut worst = Worst::default();
            for row in &table.rows {
                let heading =
                    |y: usize, v: usize| Heading { position_m: row[y] * geometry.bit_m, direction: row[v] };
                let ours =
                    y_time(kinematics, &axis, geometry.velocity_m_s, heading(y0, v0), heading(y1, v1), false);
                worst.compare(name, row, row[base_column], ours.base_s);
                assert_eq!(ours.turns, row[turns] as u32);
                // The tables hold no exact turnarounds.
                if name != "exact" {
                    worst.compare("turnaround", row, row[turnaround_column], ours.turnaround_s);
                    let total_column = table.column(&format!("total_y_{name}_k{factor:?}_ms"));
                    worst.compare("total", row, row[total_column], ours.total_s());
                }
            }
            result.push(worst.report(&format!("{device}, spring {factor}"), name));
        });
    }
    write_result("seeks_in_y_are_equal", &json!(result));
}

#[test]
fn turnarounds_are_equal() {
    let Some(folder) = reference() else { return };
    let mut result = Vec::new();
    for device in DEVICES {
        let table = Table::read(&folder.join(format!("seek/{device}_turnaround.csv.gz")));
        for_each_kinematics(&folder, device, |name, factor, params, kinematics| {
            if name == "exact" {
                return;
            }
            let geometry = Geometry::new(params).unwrap();
            let axis = Axis::y(params);
            let column = table.column(&format!("turnaround_k{factor:?}_ms"));
            let mut worst = Worst::default();
            for row in &table.rows {
                let at_m = row[0] * geometry.bit_m;
                let ours = kinematics.turnaround_s(
                    &axis,
                    at_m,
                    geometry.velocity_m_s,
                    row[1],
                    TurnaroundTime::Start,
                );
                worst.compare(name, row, row[column], ours);
                // At the end of a seek the simulator takes the direction after the turn.
                let end =
                    kinematics.turnaround_s(&axis, at_m, geometry.velocity_m_s, -row[1], TurnaroundTime::End);
                assert_eq!(end.to_bits(), ours.to_bits());
            }
            result.push(worst.report(&format!("{device}, spring {factor}"), name));
        });
    }
    write_result("turnarounds_are_equal", &json!(result));
}

/// Positioning of every recorded pass of the sled, continued, wasted and looping ones included.
#[test]
fn pass_times_equal_reference() {
    let Some(folder) = reference() else { return };
    let mut result = Vec::new();
    let mut paths: Vec<_> =
        folder.join("access").read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let run_name = path.file_name().unwrap().to_str().unwrap().trim_end_matches(".csv.gz").to_owned();
        let json: serde_json::Value =
            serde_json::from_reader(File::open(folder.join(format!("runs/{run_name}.json"))).unwrap())
                .unwrap();
        let params = params_from_json(&json["device_parameters"]);
        let geometry = Geometry::new(&params).unwrap();
        let kinematics = kinematics::build(params.kinematics, &params).unwrap();
        let (axis_x, axis_y) = (Axis::x(&params), Axis::y(&params));
        let table = Table::read(&path);
        let column = |name| table.column(name);
        let (x0, x1) = (column("x0_bit"), column("x1_bit"));
        let (y0, v0, y1, v1) = (column("y0_bit"), column("v0_sign"), column("y1_bit"), column("v1_sign"));
        let (x_ms, y_ms, turn_ms, turns) =
            (column("x_ms"), column("y_ms"), column("turn_ms"), column("turns"));
        let mut worst = Worst::default();
        for row in &table.rows {
            let place_m = |bit: usize| row[bit] * geometry.bit_m;
            let x = kinematics.base_seek_s(&axis_x, place_m(x0), place_m(x1), 0.0);
            let settle = if x > 0.0 { geometry.settle().as_seconds() } else { 0.0 };
            worst.compare("x", row, row[x_ms], x + settle);
            let (from, to) = (
                Heading { position_m: place_m(y0), direction: row[v0] },
                Heading { position_m: place_m(y1), direction: row[v1] },
            );
            let y = y_time(kinematics.as_ref(), &axis_y, geometry.velocity_m_s, from, to, x > 0.0);
            worst.compare("y", row, row[y_ms], y.total_s());
            worst.compare("turnarounds", row, row[turn_ms], y.turnaround_s);
            assert_eq!(y.turns, row[turns] as u32, "{row:?}");
        }
        result.push(worst.report(&run_name, ""));
    }
    write_result("pass_times_equal_reference", &json!(result));
}
