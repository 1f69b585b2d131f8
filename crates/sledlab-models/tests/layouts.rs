//! Every layout is a one-to-one map over the entire device, and its passes reach as far as a search block by block
//! finds.

use proptest::prelude::*;
use sledlab_core::params::Choices;
use sledlab_models::device::mems::MemsParams;
use sledlab_models::device::mems::geometry::Geometry;
use sledlab_models::device::mems::layout::{self, Layout, Place};
use sledlab_models::device::mems::params::{Direction, LayoutKind, MediumParts};
use sledlab_models::device::{Extent, Grid};

const LAYOUTS: &[LayoutKind] = LayoutKind::ALL;

/// The layout `kind` with the other parameters of a device.
fn build(kind: LayoutKind, params: &MemsParams, geometry: &Geometry) -> Box<dyn Layout> {
    layout::build(&MemsParams { layout: kind, ..params.clone() }, geometry)
}

/// The three generations, and a device whose counts are unrelated to one another.
fn devices() -> [(&'static str, MemsParams); 4] {
    let generation = |bit_nm, active_tips| MemsParams { bit_nm, active_tips, ..MemsParams::default() };
    let odd_params = MemsParams {
        travel_x_um: 90.0,
        travel_y_um: 110.0,
        tip_sector_bits: 96,
        servo_bits: 12,
        tips_per_block: 48,
        ..generation(45.0, 960)
    };
    [
        ("G1", generation(50.0, 640)),
        ("G2", generation(40.0, 1280)),
        ("G3", generation(30.0, 3200)),
        ("V1", odd_params),
    ]
}

/// Every block has a place within the geometry, `lbn` leads back from it, and no place is taken
/// twice. As there are as many places as blocks, each then has its block.
fn check_one_to_one(geometry: &Geometry, layout: &dyn Layout) {
    let mut taken_bits = vec![0_u64; usize::try_from(geometry.blocks.div_ceil(64)).unwrap()];
    for lbn in 0..geometry.blocks {
        let place = layout.place(lbn);
        let Place { cylinder, track, row, cell } = place;
        assert!(
            cylinder < geometry.cylinders
                && track < geometry.tracks
                && row < geometry.rows
                && cell < geometry.cells,
            "block {lbn} at {place:?}"
        );
        assert_eq!(layout.lbn(place), lbn, "{place:?}");
        let column = u64::from(cylinder) * u64::from(geometry.tracks) + u64::from(track);
        let index = (column * u64::from(geometry.rows) + u64::from(row)) * u64::from(geometry.cells)
            + u64::from(cell);
        let (word, bit) = (index as usize / 64, 1 << (index % 64));
        assert_eq!(taken_bits[word] & bit, 0, "{place:?} is taken twice");
        taken_bits[word] |= bit;
    }
}

/// How far a pass from `lbn` reaches, found block by block.
fn run_by_search(geometry: &Geometry, layout: &dyn Layout, lbn: u64, maximum: u32) -> u32 {
    let position = |lbn| {
        let place = layout.place(lbn);
        (place.cylinder, place.row)
    };
    let maximum = u64::from(maximum.min(geometry.cells)).min(geometry.blocks - lbn);
    (0..maximum).take_while(|ahead| position(lbn + ahead) == position(lbn)).count() as u32
}

fn check_runs(geometry: &Geometry, layout: &dyn Layout, blocks: impl Iterator<Item = u64>) {
    for lbn in blocks {
        for maximum in [0, 1, 2, 7, geometry.cells, geometry.cells + 1, u32::MAX] {
            let expected = run_by_search(geometry, layout, lbn, maximum);
            assert_eq!(layout.run_length(lbn, maximum), expected, "{layout:?} block {lbn} most {maximum}");
            assert_eq!(layout.place_and_run(lbn, maximum), (layout.place(lbn), expected));
        }
    }
}

#[test]
fn layouts_map_whole_devices_one_to_one() {
    for (name, params) in devices() {
        let geometry = Geometry::new(&params).unwrap();
        for &kind in LAYOUTS {
            eprintln!("{name} {kind:?}");
            check_one_to_one(&geometry, build(kind, &params, &geometry).as_ref());
        }
    }
}

#[test]
fn runs_agree_with_search() {
    for (_, params) in devices() {
        let geometry = Geometry::new(&params).unwrap();
        for &kind in LAYOUTS {
            let layout = build(kind, &params, &geometry);
            // Three cylinders at each end.
            let block_count = 3 * geometry.blocks_per_cylinder;
            check_runs(&geometry, layout.as_ref(), 0..block_count);
            check_runs(&geometry, layout.as_ref(), geometry.blocks - block_count..geometry.blocks);
        }
    }
}

/// A device with these counts.
fn params(cylinders: u64, rows: u64, tracks: u64, cells: u64, divided: &MemsParams) -> MemsParams {
    MemsParams {
        bit_nm: 10.0,
        travel_x_um: cylinders as f64 / 100.0,
        travel_y_um: (rows * 3 + 1) as f64 / 100.0,
        tip_sector_bits: 2,
        servo_bits: 1,
        tips_per_block: 3,
        active_tips: cells * 3 + 2,
        usable_tips: (cells * 3 + 2) * tracks,
        ..divided.clone()
    }
}

/// Parameters of layouts that need not divide the device.
fn divisions() -> impl Strategy<Value = MemsParams> {
    let grids = (1_u32..12, 1_u32..8).prop_map(|(columns, rows)| Grid::new(columns, rows));
    let parts = prop::sample::select(MediumParts::ALL);
    let directions = prop::sample::select(Direction::ALL);
    (grids, parts, 0.04..0.96, 1_u64..60, directions).prop_map(
        |(layout_grid, layout_parts, small_share, attributes, direction)| MemsParams {
            layout_grid,
            layout_parts,
            small_share,
            attributes,
            direction,
            ..MemsParams::default()
        },
    )
}

proptest! {
    #[test]
    fn small_devices_satisfy_layout_rules(
        cylinders in 1_u64..30, rows in 1_u64..7, tracks in 1_u64..7, cells in 1_u64..7, divided in divisions(),
    ) {
        let params = params(cylinders, rows, tracks, cells, &divided);
        let geometry = Geometry::new(&params).unwrap();
        let counts = [geometry.cylinders, geometry.rows, geometry.tracks, geometry.cells].map(u64::from);
        prop_assert_eq!(counts, [cylinders, rows, tracks, cells]);
        for &kind in LAYOUTS {
            let layout = build(kind, &params, &geometry);
            check_one_to_one(&geometry, layout.as_ref());
            check_runs(&geometry, layout.as_ref(), 0..geometry.blocks);
        }
    }

    #[test]
    fn devices_beyond_32_bits_satisfy_layout_rules(
        lbn in 0_u64.., rows in 1_u64..3000, tracks in 1_u64..3000, divided in divisions(),
    ) {
        let params = params(100_000, rows, tracks, 1234, &divided);
        let geometry = Geometry::new(&params).unwrap();
        let lbn = lbn % geometry.blocks;
        for &kind in LAYOUTS {
            let layout = build(kind, &params, &geometry);
            let place = layout.place(lbn);
            prop_assert!(place.cylinder < geometry.cylinders && place.track < geometry.tracks);
            prop_assert!(place.row < geometry.rows && place.cell < geometry.cells);
            prop_assert_eq!(layout.lbn(place), lbn);
        }
    }
}

#[test]
fn streaming_never_flies_back() {
    for (_, params) in devices() {
        let geometry = Geometry::new(&params).unwrap();
        let layout = build(LayoutKind::Streaming, &params, &geometry);
        for lbn in 1..4 * geometry.blocks_per_cylinder {
            let (previous, place) = (layout.place(lbn - 1), layout.place(lbn));
            let rows = previous.row.abs_diff(place.row);
            assert!(rows <= 1, "block {lbn} is {rows} rows away");
            let is_first_of_cylinder = lbn % geometry.blocks_per_cylinder == 0;
            assert_eq!(previous.cylinder != place.cylinder, is_first_of_cylinder, "block {lbn}");
        }
    }
}

#[test]
fn y_sequential_fills_groups_in_order() {
    let params = MemsParams::default();
    let geometry = Geometry::new(&params).unwrap();
    let layout = build(LayoutKind::YSequential, &params, &geometry);
    let place = |lbn| layout.place(lbn);
    // Up the first column, down the second, all with the tips of one block.
    assert_eq!(place(26), Place { cylinder: 0, track: 0, row: 26, cell: 0 });
    assert_eq!(place(27), Place { cylinder: 1, track: 0, row: 26, cell: 0 });
    assert_eq!(place(54), Place { cylinder: 2, track: 0, row: 0, cell: 0 });
    let group = 27 * 2500;
    assert_eq!(place(group), Place { cylinder: 0, track: 0, row: 0, cell: 1 });
    assert_eq!(place(20 * group), Place { cylinder: 0, track: 1, row: 0, cell: 0 });
}

#[test]
fn zones_are_filled_in_order() {
    let params = MemsParams::default();
    let geometry = Geometry::new(&params).unwrap();
    let layout = build(LayoutKind::ZoneClustered, &params, &geometry);
    let extent = Extent { cylinders: 2500, rows: 27, blocks_per_track: 540 };
    let zone = |place: Place| {
        let (x, y) = params.layout_grid.cell(&extent, place.cylinder, place.row);
        params.layout_grid.sweep_index(x, y, place.cylinder % 2 == 1)
    };
    let zones: Vec<u32> = (0..geometry.blocks).map(|lbn| zone(layout.place(lbn))).collect();
    assert!(zones.is_sorted());
    assert_eq!((zones[0], zones[6_749_999]), (0, 79));
    // Up the even columns and down the odd ones of 125, of which 63 are even.
    assert_eq!(layout.place(20), Place { cylinder: 0, track: 0, row: 1, cell: 0 });
    assert_eq!(layout.place(14 * 20), Place { cylinder: 0, track: 1, row: 0, cell: 0 });
    assert_eq!(layout.place(14 * 100), Place { cylinder: 2, track: 0, row: 0, cell: 0 });
    assert_eq!(layout.place(63 * 14 * 100), Place { cylinder: 0, track: 0, row: 14, cell: 0 });
    assert_eq!(layout.place(63 * 27 * 100), Place { cylinder: 1, track: 0, row: 26, cell: 0 });
    assert_eq!(layout.place(125 * 27 * 100), Place { cylinder: 126, track: 0, row: 0, cell: 0 });
}

#[test]
fn small_data_are_at_the_center() {
    let geometry = Geometry::new(&MemsParams::default()).unwrap();
    let layout_with = |layout_parts, small_share| {
        let params = MemsParams { layout_parts, small_share, ..MemsParams::default() };
        build(LayoutKind::Bipartite, &params, &geometry)
    };
    let fifth = geometry.blocks / 5;
    let columnar = layout_with(MediumParts::Columnar, 0.2);
    for lbn in 0..fifth {
        assert!((1000..1500).contains(&columnar.place(lbn).cylinder));
    }
    // The following blocks fill the left side and then the right side.
    let starts = [0, fifth, 3 * fifth].map(|lbn| columnar.place(lbn).cylinder);
    assert_eq!(starts, [1000, 0, 1500]);
    // Half of 25 columns are rounded up to 13.
    let half_columnar = layout_with(MediumParts::Columnar, 0.5);
    let edges = [0, 1300 * 2700 - 1, 1300 * 2700].map(|lbn| half_columnar.place(lbn).cylinder);
    assert_eq!(edges, [600, 1899, 0]);

    // The cell at the center and its four neighbors: 500 cylinders of 5 or 6 rows each.
    let subregioned = layout_with(MediumParts::Subregioned, 0.2);
    let five_cells = 500 * 100 * (5 + 5 + 6 + 6 + 5);
    for lbn in (0..five_cells).step_by(20) {
        let Place { cylinder, row, .. } = subregioned.place(lbn);
        let (x, y) = (cylinder / 500, row * 5 / 27);
        assert!(x == 2 && (1..=3).contains(&y) || y == 2 && (1..=3).contains(&x), "{x} {y}");
    }
    let mut distance = 0;
    for lbn in (0..geometry.blocks).step_by(100 * 2700) {
        let from_center = layout_with(MediumParts::OrganPipe, 0.2).place(lbn).cylinder.abs_diff(1200);
        assert!(from_center >= distance);
        distance = from_center;
    }
    assert_eq!(distance, 1200);
}

#[test]
fn two_classes_use_separate_parts() {
    let geometry = Geometry::new(&MemsParams::default()).unwrap();
    let layout_with = |small_share| {
        let params = MemsParams { small_share, ..MemsParams::default() };
        build(LayoutKind::TwoClass, &params, &geometry)
    };
    // A fiftieth: 50 of 2,500 columns, from 1225 on.
    let (layout, small_blocks) = (layout_with(0.02), 50 * 2700);
    for lbn in 0..small_blocks {
        assert!((1225..1275).contains(&layout.place(lbn).cylinder));
    }
    for lbn in (small_blocks..geometry.blocks).step_by(7) {
        assert!(!(1225..1275).contains(&layout.place(lbn).cylinder));
    }
    // A hundred blocks of small data at a position, up one column and down the next. A pass takes as many blocks as
    // there are tips for, of one track or two.
    assert_eq!(layout.place_and_run(15, 30), (Place { cylinder: 1225, track: 0, row: 0, cell: 15 }, 20));
    assert_eq!(layout.place_and_run(85, 30), (Place { cylinder: 1225, track: 4, row: 0, cell: 5 }, 15));
    assert_eq!(layout.place(100), Place { cylinder: 1225, track: 0, row: 1, cell: 0 });
    assert_eq!(layout.place(2700), Place { cylinder: 1226, track: 0, row: 26, cell: 0 });
    // The other blocks lie from the first column on, without the small data, every other track downwards.
    assert_eq!(
        layout.place_and_run(small_blocks, 30),
        (Place { cylinder: 0, track: 0, row: 0, cell: 0 }, 20)
    );
    let block_beyond = small_blocks + 1225 * 2700;
    assert_eq!(layout.place(block_beyond), Place { cylinder: 1275, track: 0, row: 26, cell: 0 });
    // Neither class of data is empty.
    assert_eq!(layout_with(0.0001).place(2700).cylinder, 0);
    assert_eq!(layout_with(0.9999).place(geometry.blocks - 1).cylinder, 2499);
}

#[test]
fn blocks_of_a_tuple_lie_at_one_position() {
    let geometry = Geometry::new(&MemsParams::default()).unwrap();
    for attributes in [1, 4, 5, 20, 100] {
        let layout =
            build(LayoutKind::Tabular, &MemsParams { attributes, ..MemsParams::default() }, &geometry);
        let region = geometry.blocks / attributes;
        for offset in (0..region).step_by(997) {
            let places = (0..attributes).map(|attribute| layout.place(attribute * region + offset));
            let mut positions: Vec<_> = places.map(|place| (place.cylinder, place.row)).collect();
            positions.dedup();
            assert_eq!(positions.len(), 1);
        }
        for lbn in 1..region.min(100_000) {
            let (previous, next) = (layout.place(lbn - 1), layout.place(lbn));
            let distance = previous.cylinder.abs_diff(next.cylinder) + previous.row.abs_diff(next.row);
            assert!(distance <= 1, "block {lbn}");
        }
    }
}
