//! Every layout is a one-to-one map over the whole device, and knows how far a pass reaches.

use proptest::prelude::*;
use sledlab_models::device::mems::MemsParams;
use sledlab_models::device::mems::geometry::Geometry;
use sledlab_models::device::mems::layout::{self, Layout, Place};
use sledlab_models::device::mems::params::LayoutKind;

const LAYOUTS: [LayoutKind; 3] = [LayoutKind::RowFirst, LayoutKind::Streaming, LayoutKind::YSequential];

/// The three generations and a device whose counts have nothing to do with each other.
fn devices() -> [(&'static str, MemsParams); 4] {
    let generation = |bit_nm, active_tips| MemsParams { bit_nm, active_tips, ..MemsParams::default() };
    let odd = MemsParams {
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
        ("V1", odd),
    ]
}

/// Every block has a place within the geometry, `lbn` leads back from it, and no place is taken
/// twice. As there are as many places as blocks, each then has its block.
fn check_one_to_one(geometry: &Geometry, layout: &dyn Layout) {
    let mut taken = vec![0_u64; usize::try_from(geometry.blocks.div_ceil(64)).unwrap()];
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
        assert_eq!(taken[word] & bit, 0, "{place:?} is taken twice");
        taken[word] |= bit;
    }
}

/// How far a pass from `lbn` reaches, found block by block.
fn run_by_search(geometry: &Geometry, layout: &dyn Layout, lbn: u64, most: u32) -> u32 {
    let position = |lbn| {
        let place = layout.place(lbn);
        (place.cylinder, place.row)
    };
    let most = u64::from(most.min(geometry.cells)).min(geometry.blocks - lbn);
    (0..most).take_while(|ahead| position(lbn + ahead) == position(lbn)).count() as u32
}

fn check_runs(geometry: &Geometry, layout: &dyn Layout, blocks: impl Iterator<Item = u64>) {
    for lbn in blocks {
        for most in [0, 1, 2, 7, geometry.cells, geometry.cells + 1, u32::MAX] {
            let expected = run_by_search(geometry, layout, lbn, most);
            assert_eq!(layout.run(lbn, most), expected, "{layout:?} block {lbn} most {most}");
        }
    }
}

#[test]
fn one_to_one_over_the_whole_device() {
    for (name, params) in devices() {
        let geometry = Geometry::new(&params).unwrap();
        for kind in LAYOUTS {
            eprintln!("{name} {kind:?}");
            check_one_to_one(&geometry, layout::build(kind, &geometry).as_ref());
        }
    }
}

#[test]
fn runs_agree_with_search() {
    for (_, params) in devices() {
        let geometry = Geometry::new(&params).unwrap();
        for kind in LAYOUTS {
            let layout = layout::build(kind, &geometry);
            // Three cylinders' worth at each end.
            let some = 3 * geometry.blocks_per_cylinder;
            check_runs(&geometry, layout.as_ref(), 0..some);
            check_runs(&geometry, layout.as_ref(), geometry.blocks - some..geometry.blocks);
        }
    }
}

/// A device with the given counts.
fn params(cylinders: u64, rows: u64, tracks: u64, cells: u64) -> MemsParams {
    MemsParams {
        bit_nm: 10.0,
        travel_x_um: cylinders as f64 / 100.0,
        travel_y_um: (rows * 3 + 1) as f64 / 100.0,
        tip_sector_bits: 2,
        servo_bits: 1,
        tips_per_block: 3,
        active_tips: cells * 3 + 2,
        usable_tips: (cells * 3 + 2) * tracks,
        ..MemsParams::default()
    }
}

proptest! {
    #[test]
    fn holds_for_any_small_device(cylinders in 1_u64..9, rows in 1_u64..7, tracks in 1_u64..7, cells in 1_u64..7) {
        let geometry = Geometry::new(&params(cylinders, rows, tracks, cells)).unwrap();
        let counts = [geometry.cylinders, geometry.rows, geometry.tracks, geometry.cells].map(u64::from);
        prop_assert_eq!(counts, [cylinders, rows, tracks, cells]);
        for kind in LAYOUTS {
            let layout = layout::build(kind, &geometry);
            check_one_to_one(&geometry, layout.as_ref());
            check_runs(&geometry, layout.as_ref(), 0..geometry.blocks);
        }
    }

    #[test]
    fn holds_for_devices_beyond_32_bits(lbn in 0_u64.., rows in 1_u64..3000, tracks in 1_u64..3000) {
        let geometry = Geometry::new(&params(100_000, rows, tracks, 1234)).unwrap();
        let lbn = lbn % geometry.blocks;
        for kind in LAYOUTS {
            let layout = layout::build(kind, &geometry);
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
        let layout = layout::build(LayoutKind::Streaming, &geometry);
        for lbn in 1..4 * geometry.blocks_per_cylinder {
            let rows = layout.place(lbn - 1).row.abs_diff(layout.place(lbn).row);
            assert!(rows <= 1, "block {lbn} is {rows} rows away");
        }
    }
}

#[test]
fn y_sequential_fills_one_group_after_the_other() {
    let geometry = Geometry::new(&MemsParams::default()).unwrap();
    let layout = layout::build(LayoutKind::YSequential, &geometry);
    let place = |lbn| layout.place(lbn);
    // Up the first column, down the second, all with the tips of one block.
    assert_eq!(place(26), Place { cylinder: 0, track: 0, row: 26, cell: 0 });
    assert_eq!(place(27), Place { cylinder: 1, track: 0, row: 26, cell: 0 });
    assert_eq!(place(54), Place { cylinder: 2, track: 0, row: 0, cell: 0 });
    let group = 27 * 2500;
    assert_eq!(place(group), Place { cylinder: 0, track: 0, row: 0, cell: 1 });
    assert_eq!(place(20 * group), Place { cylinder: 0, track: 1, row: 0, cell: 0 });
}
