//! The path of a sled between two places: the closed form compared with integration of the equations of motion.

use rand::RngExt;
use sledlab_core::{Op, Span, seed};
use sledlab_models::device::mems::axis::Axis;
use sledlab_models::device::mems::geometry::Geometry;
use sledlab_models::device::mems::kinematics::{Exact, Kinematics, TurnaroundTime};
use sledlab_models::device::mems::path::{seek, turnaround};
use sledlab_models::device::mems::{self, MemsParams};
use sledlab_models::device::{Leg, MotionPath, QueuedRequest, disk};

/// Steps of the integration of a move.
const STEPS: usize = 2_000;

/// Place and speed of a mass driven by `force(t, x, v)`, at all steps: Runge and Kutta's rule.
fn integrate(start: (f64, f64), duration_s: f64, force: impl Fn(f64) -> f64, s: f64) -> Vec<(f64, f64)> {
    let h = duration_s / STEPS as f64;
    let mut state = start;
    let mut states = vec![state];
    for step in 0..STEPS {
        // Within a step the force does not change: switches lie on steps.
        let step_force = force((step as f64 + 0.5) * h);
        let slope = |(x, v): (f64, f64)| (v, step_force - s * x);
        let ahead = |(x, v): (f64, f64), (dx, dv): (f64, f64), h: f64| (x + h * dx, v + h * dv);
        let k1 = slope(state);
        let k2 = slope(ahead(state, k1, h / 2.0));
        let k3 = slope(ahead(state, k2, h / 2.0));
        let k4 = slope(ahead(state, k3, h));
        let mean = |a: f64, b: f64, c: f64, d: f64| (a + 2.0 * b + 2.0 * c + d) / 6.0;
        state = ahead(state, (mean(k1.0, k2.0, k3.0, k4.0), mean(k1.1, k2.1, k3.1, k4.1)), h);
        states.push(state);
    }
    states
}

fn position_after(legs: &[Leg], mut after_s: f64) -> f64 {
    let (last, earlier_legs) = legs.split_last().unwrap();
    for leg in earlier_legs {
        if after_s < leg.lasts_s {
            return leg.position(after_s);
        }
        after_s -= leg.lasts_s;
    }
    last.position(after_s)
}

/// Returns the maximum distance between a path and its integration at random times, and the number of times.
fn max_deviation(legs: &[Leg], speed_m_s: f64, force_m_s2: f64, s: f64, instants: usize) -> (f64, f64) {
    let mut rng = seed::stream(legs.len() as u64 ^ speed_m_s.to_bits() ^ force_m_s2.to_bits(), "instants");
    let mut state = (position_after(legs, 0.0), speed_m_s);
    let (mut worst, mut elapsed_s) = (0.0_f64, 0.0);
    for (number, leg) in legs.iter().enumerate() {
        let leg_force = if number == 0 { force_m_s2 } else { -force_m_s2 };
        let states = integrate(state, leg.lasts_s, |_| leg_force, s);
        for _ in 0..instants {
            let step = rng.random_range(0..=STEPS);
            let at_s = elapsed_s + leg.lasts_s * step as f64 / STEPS as f64;
            worst = worst.max((position_after(legs, at_s) - states[step].0).abs());
        }
        state = states[STEPS];
        elapsed_s += leg.lasts_s;
    }
    (worst, state.1)
}

#[test]
fn moves_satisfy_equations_of_motion() {
    let mut rng = seed::stream(5, "moves");
    let (mut samples, mut worst_bits) = (0, 0.0_f64);
    for number in 0..600 {
        let spring_factor = if number % 5 == 0 { 0.0 } else { rng.random_range(1e-9..0.95) };
        let params = MemsParams { spring_factor, ..MemsParams::default() };
        let geometry = Geometry::new(&params).unwrap();
        let axis = if number % 2 == 0 { Axis::x(&params) } else { Axis::y(&params) };
        let edge = axis.travel_m / 2.0;
        let mut random_place = || rng.random_range(-edge..edge);
        let (from, to) = (random_place(), random_place());
        let speed = if number % 2 == 0 { 0.0 } else { geometry.velocity_m_s };
        let direction = (to - from).signum();
        let duration_s = Exact.base_seek_s(&axis, from, to, speed);
        let legs = seek(&axis, from, to, speed, duration_s);
        assert!((legs[0].lasts_s + legs[1].lasts_s - duration_s).abs() < 1e-12 * duration_s);
        let (deviation_m, end_speed) = max_deviation(
            &legs,
            direction * speed,
            direction * axis.acceleration_m_s2,
            axis.omega_squared,
            8,
        );
        assert!((end_speed - direction * speed).abs() < 1e-6, "{end_speed}");
        assert!((position_after(&legs, duration_s) - to).abs() < 1e-15);
        worst_bits = worst_bits.max(deviation_m / geometry.bit_m);
        samples += 16;
        if speed > 0.0 {
            let turn = turnaround(
                &axis,
                from,
                speed,
                direction,
                Exact.turnaround_s(&axis, from, speed, direction, TurnaroundTime::Start),
            );
            let (deviation_m, end_speed) = max_deviation(
                &[turn],
                direction * speed,
                -direction * axis.acceleration_m_s2,
                axis.omega_squared,
                8,
            );
            assert!((end_speed + direction * speed).abs() < 1e-6, "{end_speed}");
            worst_bits = worst_bits.max(deviation_m / geometry.bit_m);
            samples += 8;
        }
    }
    assert!(samples >= 10_000, "{samples}");
    assert!(worst_bits < 1e-3, "{worst_bits} bits");
}

/// A path begins at the sled's old place, ends at its new place, and never jumps.
#[test]
fn path_is_continuous_between_states() {
    let params = MemsParams::default();
    let device = mems::build(&params).unwrap();
    let mechanics = device.mechanics();
    let mut rng = seed::stream(6, "requests");
    let mut state = mechanics.state();
    for id in 0..200 {
        let blocks = rng.random_range(1..200);
        let lbn = rng.random_range(0..mechanics.capacity_blocks() - 200);
        let request = QueuedRequest { id, lbn, blocks, op: Op::Read, ..QueuedRequest::default() };
        let path = mechanics.motion_path(state, &request);
        let (timing, next_state) = mechanics.serve_from(state, &request);
        let duration = timing.positioning() + timing.transfer;
        let assert_near = |(x, y): (f64, f64), (a, b): (i32, i32), bits: f64| {
            assert!((x - f64::from(a)).abs() < bits && (y - f64::from(b)).abs() < bits, "{x} {a}, {y} {b}");
        };
        assert_near(path.position(Span::ZERO), (state.x, state.y), 0.01);
        // Each part was rounded to a nanosecond, in which a sled moves by less than a thousandth of a bit.
        assert_near(path.position(duration), (next_state.x, next_state.y), 0.1);
        let start_place = path.position(timing.positioning());
        let place = mechanics.location(lbn);
        assert!((start_place.0 - f64::from(place.x)).abs() < 0.01, "{start_place:?} {place:?}");
        let steps = 2_000;
        let step_ns = duration.as_ns() as f64 / f64::from(steps);
        // No sled gets faster than full force makes it over half the travel.
        let max_step_m =
            (params.acceleration_x_m_s2 * 1.75 * params.travel_x_um * 1e-6).sqrt() * 1e-9 * step_ns;
        let max_bits = 2.0 * max_step_m / (params.bit_nm * 1e-9) + 0.1;
        let mut previous = path.position(Span::ZERO);
        for step in 1..=steps {
            let current = path.position(Span::from_ns((step_ns * f64::from(step)) as u64));
            assert!(
                (current.0 - previous.0).abs() < max_bits && (current.1 - previous.1).abs() < max_bits,
                "{previous:?} {current:?}"
            );
            previous = current;
        }
        state = next_state;
    }
}

#[test]
fn an_arm_moves_in_a_straight_line() {
    let drive = sledlab_models::device::Model::device(&disk::DiskParams::default()).unwrap();
    let mechanics = drive.mechanics();
    let state = mechanics.state();
    let request = QueuedRequest {
        lbn: mechanics.capacity_blocks() - 1,
        blocks: 1,
        op: Op::Read,
        ..QueuedRequest::default()
    };
    let path: MotionPath = mechanics.motion_path(state, &request);
    let target = mechanics.location(request.lbn);
    let is_near = |at: Span, x: i32| (path.position(at).0 - f64::from(x)).abs() < 1e-9;
    assert!(is_near(Span::ZERO, state.x) && is_near(Span::from_ms(100.0), target.x));
    let (timing, _) = mechanics.serve_from(state, &request);
    let halfway_x = path.position(Span::from_ns(timing.seek_x.as_ns() / 2)).0;
    assert!(halfway_x > f64::from(state.x) && halfway_x < f64::from(target.x), "{halfway_x}");
}
