//! Time of one seek, one turnaround and one translation of a block address on a G2.
//!
//! Every sample computes 1024 random moves, so divide the printed times by 1024; the throughput column counts single
//! moves.

use divan::Bencher;
use divan::counter::ItemsCount;
use rand::RngExt;
use sledlab_core::params::Choices;
use sledlab_core::seed;
use sledlab_models::device::mems::MemsParams;
use sledlab_models::device::mems::axis::Axis;
use sledlab_models::device::mems::geometry::Geometry;
use sledlab_models::device::mems::kinematics::{self, TurnaroundTime};
use sledlab_models::device::mems::layout;
use sledlab_models::device::mems::params::{KinematicsKind, LayoutKind};

const MOVES: usize = 1024;

const KINDS: [KinematicsKind; 4] = [
    KinematicsKind::Exact,
    KinematicsKind::DisksimClosed,
    KinematicsKind::DisksimPiecewise,
    KinematicsKind::Piecewise,
];

const LAYOUTS: &[LayoutKind] = LayoutKind::ALL;

fn main() {
    divan::main();
}

/// Random pairs of places within the travel of a G2, in meters.
fn moves() -> Vec<(f64, f64)> {
    let mut rng = seed::stream(1, "moves");
    let mut place = || f64::from(rng.random_range(-1250..1250)) * 40e-9;
    (0..MOVES).map(|_| (place(), place())).collect()
}

fn seek(bencher: Bencher, kind: KinematicsKind, speed_m_s: f64) {
    let params = MemsParams::default();
    let kinematics = kinematics::build(kind, &params).unwrap();
    let (axis, moves) = (Axis::x(&params), moves());
    bencher.counter(ItemsCount::new(MOVES)).bench(|| {
        moves.iter().map(|(from, to)| kinematics.base_seek_s(&axis, *from, *to, speed_m_s)).sum::<f64>()
    });
}

#[divan::bench(args = KINDS)]
fn seek_x(bencher: Bencher, kind: KinematicsKind) {
    seek(bencher, kind, 0.0);
}

#[divan::bench(args = KINDS)]
fn seek_y(bencher: Bencher, kind: KinematicsKind) {
    seek(bencher, kind, 0.028);
}

#[divan::bench(args = KINDS)]
fn turnaround(bencher: Bencher, kind: KinematicsKind) {
    let params = MemsParams::default();
    let kinematics = kinematics::build(kind, &params).unwrap();
    let (axis, moves) = (Axis::y(&params), moves());
    bencher.counter(ItemsCount::new(MOVES)).bench(|| {
        moves
            .iter()
            .map(|(at, _)| kinematics.turnaround_s(&axis, *at, 0.028, 1.0, TurnaroundTime::Start))
            .sum::<f64>()
    });
}

#[divan::bench(args = LAYOUTS)]
fn place_and_run(bencher: Bencher, kind: LayoutKind) {
    let params = MemsParams { layout: kind, ..MemsParams::default() };
    let geometry = Geometry::new(&params).unwrap();
    let layout = layout::build(&params, &geometry);
    let mut rng = seed::stream(1, "blocks");
    let blocks: Vec<u64> = (0..MOVES).map(|_| rng.random_range(0..geometry.blocks)).collect();
    bencher
        .counter(ItemsCount::new(MOVES))
        .bench(|| blocks.iter().map(|lbn| layout.place(*lbn).row + layout.run_length(*lbn, 8)).sum::<u32>());
}
