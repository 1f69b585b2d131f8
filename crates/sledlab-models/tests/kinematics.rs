//! The closed form compared with numerical integration of the equations of motion, and rules for every kinematics.

use crate::results::write_result;
use proptest::prelude::*;
use rand::{Rng, RngExt};
use serde_json::json;
use sledlab_core::{Span, seed};
use sledlab_models::device::mems::MemsParams;
use sledlab_models::device::mems::axis::Axis;
use sledlab_models::device::mems::geometry::Geometry;
use sledlab_models::device::mems::kinematics::{
    DisksimClosedForm, DisksimPiecewise, Exact, Heading, Kinematics, Piecewise, TurnaroundTime, y_time,
};
use sledlab_models::device::mems::params::SpringConvention;

/// Steps of an integration. The error of the fourth-order rule falls below 1e-11 with it.
const STEPS: u32 = 400;

/// Displacement and speed after `time` under `x'' = f - s x`, from 0 with speed `v`: Runge and Kutta's rule.
fn integrate(f: f64, s: f64, v: f64, time: f64) -> (f64, f64) {
    let h = time / f64::from(STEPS);
    let slope = |(x, v): (f64, f64)| (v, f - s * x);
    let ahead = |(x, v): (f64, f64), (dx, dv): (f64, f64), h: f64| (x + h * dx, v + h * dv);
    let mut state = (0.0, v);
    for _ in 0..STEPS {
        let k1 = slope(state);
        let k2 = slope(ahead(state, k1, h / 2.0));
        let k3 = slope(ahead(state, k2, h / 2.0));
        let k4 = slope(ahead(state, k3, h));
        let mean = |a: f64, b: f64, c: f64, d: f64| (a + 2.0 * b + 2.0 * c + d) / 6.0;
        state = ahead(state, (mean(k1.0, k2.0, k3.0, k4.0), mean(k1.1, k2.1, k3.1, k4.1)), h);
    }
    state
}

/// Time of a base seek by integration: both phases, the second backwards in time, must meet at the
/// switch point with one speed. Newton's rule finds the two durations.
fn integrated_seek_s(a: f64, s: f64, from: f64, to: f64, v: f64) -> f64 {
    let d = (to - from).abs();
    let (x0, x1) = if to > from { (from, to) } else { (-from, -to) };
    let (f, g) = (a - s * x0, a + s * x1);
    // The first guess, from the energy of both phases, only has to be near.
    let d1 = d / 2.0 * (1.0 + s * f64::midpoint(x0, x1) / a);
    let vm = (v * v + d1 * (2.0 * f - s * d1)).sqrt();
    let (mut t1, mut t2) = (2.0 * d1 / (v + vm), 2.0 * (d - d1) / (v + vm));
    for _ in 0..100 {
        let ((xa, va), (xb, vb)) = (integrate(f, s, v, t1), integrate(g, s, v, t2));
        let (place_gap, speed_gap) = (xa + xb - d, va - vb);
        let (fa, fb) = (f - s * xa, g - s * xb);
        // Jacobian of (place_gap, speed_gap): ((va, vb), (fa, -fb)).
        let determinant = -va * fb - vb * fa;
        let step1 = (place_gap * -fb - vb * speed_gap) / determinant;
        let step2 = (va * speed_gap - fa * place_gap) / determinant;
        t1 = (t1 - step1).max(t1 / 4.0);
        t2 = (t2 - step2).max(t2 / 4.0);
        // The division of the time between the phases need not be as exact as their sum, which hardly depends on it.
        let (sum, difference) = (step1 + step2, step1 - step2);
        if sum.abs() <= 1e-12 * (t1 + t2) && difference.abs() <= 1e-4 * (t1 + t2) {
            return t1 + t2;
        }
    }
    panic!("no switch point: a {a} s {s} from {from} to {to} v {v}");
}

/// Time of a turnaround by integration: until the speed is that of the start, in the other direction.
fn integrated_turnaround_s(a: f64, s: f64, place: f64, v: f64, direction: f64) -> f64 {
    let f = a + s * place * direction;
    // Along the direction of motion x'' = -(f + s x): half the turnaround ends at rest.
    let mut half = v / f.max(v * s.sqrt());
    for _ in 0..100 {
        let (x, speed) = integrate(-f, s, v, half);
        let step = speed / (-f - s * x);
        half = (half - step).max(half / 4.0);
        if step.abs() <= 1e-12 * half {
            return 2.0 * half;
        }
    }
    panic!("no turn: a {a} s {s} at {place} v {v}");
}

/// A random axis: any acceleration, travel and spring, one in five without a spring, one in five with a very weak
/// spring.
fn random_axis(rng: &mut impl Rng) -> Axis {
    let a = 10_f64.powf(rng.random_range(0.0..5.0));
    let travel_m = 10_f64.powf(rng.random_range(-6.0..-2.0));
    let spring = match rng.random_range(0..5) {
        0 => 0.0,
        1 => 10_f64.powf(rng.random_range(-14.0..-3.0)),
        _ => rng.random_range(0.0..0.999),
    };
    let convention = if rng.random() { SpringConvention::Edge } else { SpringConvention::Travel };
    Axis::new(a, travel_m, spring, convention)
}

/// A random move within the travel; some start or end at an edge or the center, some are tiny.
fn random_move(rng: &mut impl Rng, axis: &Axis) -> (f64, f64) {
    let edge = axis.travel_m / 2.0;
    let mut random_place = || match rng.random_range(0..8) {
        0 => edge,
        1 => -edge,
        2 => 0.0,
        _ => rng.random_range(-edge..edge),
    };
    let (from, to) = (random_place(), random_place());
    if (to - from).abs() < 1e-9 * edge || rng.random_range(0..4) == 0 {
        let tiny = edge * 10_f64.powf(rng.random_range(-7.0..-1.0));
        return (from, if from > 0.0 { from - tiny } else { from + tiny });
    }
    (from, to)
}

/// Speed 0 in half of all cases, otherwise up to ten times the speed that the actuator reaches within the travel.
fn random_speed(rng: &mut impl Rng, axis: &Axis) -> f64 {
    if rng.random() {
        return 0.0;
    }
    (axis.acceleration_m_s2 * axis.travel_m).sqrt() * 10_f64.powf(rng.random_range(-4.0..1.0))
}

#[test]
fn closed_form_agrees_with_integration() {
    let mut rng = seed::stream(1, "moves");
    let (mut worst_seek, mut worst_turnaround) = (0.0_f64, 0.0_f64);
    for _ in 0..10_000 {
        let axis = random_axis(&mut rng);
        let (a, s) = (axis.acceleration_m_s2, axis.omega_squared);
        let (from, to) = random_move(&mut rng, &axis);
        let v = random_speed(&mut rng, &axis);
        let error = Exact.base_seek_s(&axis, from, to, v) / integrated_seek_s(a, s, from, to, v) - 1.0;
        assert!(error.abs() < 1e-9, "{axis:?} from {from} to {to} at {v}: {error:e}");
        worst_seek = worst_seek.max(error.abs());
        if v > 0.0 {
            let direction = if rng.random() { 1.0 } else { -1.0 };
            let ours = Exact.turnaround_s(&axis, from, v, direction, TurnaroundTime::Start);
            let error = ours / integrated_turnaround_s(a, s, from, v, direction) - 1.0;
            assert!(error.abs() < 1e-9, "{axis:?} turn at {from} with {v} {direction}: {error:e}");
            worst_turnaround = worst_turnaround.max(error.abs());
        }
    }
    let result = json!({ "seek": worst_seek, "turnaround": worst_turnaround });
    write_result("closed_form_agrees_with_integration", &result);
}

/// The published form of the upward seek from rest to rest (Hong and Brandt), which loses digits of short moves.
struct PublishedSeek {
    /// Where the actuator is reversed.
    turning_point_m: f64,
    /// Durations up to the turning point, and from there on.
    phases_s: [f64; 2],
}

impl PublishedSeek {
    fn new(a: f64, s: f64, x0: f64, x1: f64) -> Self {
        let c = a / s;
        let xm = f64::midpoint(x0, x1) + (x1 * x1 - x0 * x0) / (4.0 * c);
        let phases_s = [((c - xm) / (c - x0)).acos() / s.sqrt(), ((c + xm) / (c + x1)).acos() / s.sqrt()];
        Self { turning_point_m: xm, phases_s }
    }
}

#[test]
fn integrated_phases_meet_at_published_turning_point() {
    let axis = Axis::x(&MemsParams::default());
    let (a, s) = (axis.acceleration_m_s2, axis.omega_squared);
    let mut rng = seed::stream(1, "turning points");
    for _ in 0..1_000 {
        let (from, to) = random_move(&mut rng, &axis);
        let (x0, x1) = if to > from { (from, to) } else { (-from, -to) };
        if x1 - x0 < 1e-3 * axis.travel_m {
            continue; // `acos` has lost too many digits
        }
        let published = PublishedSeek::new(a, s, x0, x1);
        // The second phase runs backwards in time, from rest at the end of the move.
        let (first_m, first_m_s) = integrate(a - s * x0, s, 0.0, published.phases_s[0]);
        let (second_m, second_m_s) = integrate(a + s * x1, s, 0.0, published.phases_s[1]);
        let places_m = [x0 + first_m, x1 - second_m];
        for place_m in places_m {
            assert!((place_m - published.turning_point_m).abs() < 1e-9 * (x1 - x0), "{x0} to {x1}");
        }
        assert!((first_m_s / second_m_s - 1.0).abs() < 1e-9, "{x0} to {x1}");
    }
}

#[test]
fn closed_form_agrees_with_published_form() {
    let axis = Axis::x(&MemsParams::default());
    let mut worst = 0.0_f64;
    for x0 in (-1250..=1250).step_by(50) {
        for x1 in (-1250..=1250).step_by(7).filter(|x1| *x1 != x0) {
            let (x0, x1) = (f64::from(x0) * 40e-9, f64::from(x1) * 40e-9);
            let ours = Exact.base_seek_s(&axis, x0, x1, 0.0);
            let (low, high) = if x1 > x0 { (x0, x1) } else { (-x0, -x1) };
            let published = PublishedSeek::new(axis.acceleration_m_s2, axis.omega_squared, low, high);
            worst = worst.max((ours / published.phases_s.iter().sum::<f64>() - 1.0).abs());
        }
    }
    write_result("closed_form_agrees_with_published_form", &json!({ "worst": worst }));
    assert!(worst < 1e-10);
}

#[test]
fn g2_seek_times_match_published() {
    // Mean random and longest seek of Chiu 2004, Table 1: 0.55 and 0.81 ms, settling included.
    let params = MemsParams::default();
    let (geometry, axis) = (Geometry::new(&params).unwrap(), Axis::x(&params));
    let (mut sum, mut longest, mut count) = (0.0, 0.0_f64, 0_u32);
    for from in (0..geometry.cylinders).step_by(3) {
        for to in (0..geometry.cylinders).step_by(3).filter(|to| *to != from) {
            let place = |cylinder| f64::from(geometry.x_bit(cylinder)) * geometry.bit_m;
            let ms = Exact.base_seek_s(&axis, place(from), place(to), 0.0) * 1e3 + geometry.settle().as_ms();
            (sum, longest, count) = (sum + ms, longest.max(ms), count + 1);
        }
    }
    let mean = sum / f64::from(count);
    write_result("g2_seek_times_match_published", &json!({ "mean_ms": mean, "longest_ms": longest }));
    assert!((mean / 0.55 - 1.0).abs() < 0.06);
    assert!((longest / 0.81 - 1.0).abs() < 0.06);
}

#[test]
fn piecewise_converges_to_the_closed_form() {
    let axis = Axis::x(&MemsParams::default());
    let mut rng = seed::stream(1, "convergence");
    let moves: Vec<_> = (0..200).map(|_| random_move(&mut rng, &axis)).collect();
    let worst_error = |chunks: u32, v: f64| {
        moves.iter().fold(0.0_f64, |worst, (from, to)| {
            let exact = Exact.base_seek_s(&axis, *from, *to, v);
            worst.max((Piecewise::new(chunks).base_seek_s(&axis, *from, *to, v) / exact - 1.0).abs())
        })
    };
    let chunks = [1, 4, 16, 64, 256, 1000];
    let mut result = Vec::new();
    for v in [0.0, 0.028] {
        let errors = chunks.map(|chunks| worst_error(chunks, v));
        assert!(errors.windows(2).all(|pair| pair[1] < pair[0] / 3.0));
        assert!(errors[5] < 1e-5);
        result.push(json!({ "speed_m_s": v, "chunks": chunks, "errors": errors }));
    }
    write_result("piecewise_converges_to_the_closed_form", &json!(result));
    let without_spring = Axis { omega_squared: 0.0, s_per_radian: 0.0, spring_factor: 0.0, ..axis };
    let single_chunk_s = Piecewise::new(1).base_seek_s(&without_spring, -1e-5, 4e-5, 0.0);
    assert!((single_chunk_s / Exact.base_seek_s(&without_spring, -1e-5, 4e-5, 0.0) - 1.0).abs() < 1e-6);
}

fn axes() -> impl Strategy<Value = (Axis, f64, f64, f64)> {
    (0.0..5.0_f64, -6.0..-2.0_f64, 0.0..0.999_f64, -0.5..=0.5_f64, -0.5..=0.5_f64, 0.0..3.0_f64).prop_map(
        |(a, travel_exponent, spring, from, to, v)| {
            let travel_m = 10_f64.powf(travel_exponent);
            let axis = Axis::new(10_f64.powf(a), travel_m, spring, SpringConvention::Edge);
            (axis, from * travel_m, to * travel_m, v * (axis.acceleration_m_s2 * travel_m).sqrt())
        },
    )
}

/// Whether two times are equal except for rounding.
fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

proptest! {
    #[test]
    fn reversed_and_mirrored_seeks_take_equally_long((axis, from, to, v) in axes()) {
        let seek = |from, to, v| Exact.base_seek_s(&axis, from, to, v);
        prop_assert_eq!(seek(from, to, 0.0).to_bits(), seek(to, from, 0.0).to_bits());
        prop_assert_eq!(seek(from, to, 0.0).to_bits(), seek(-from, -to, 0.0).to_bits());
        prop_assert!(is_close(seek(from, to, v), seek(to, from, v)));
        prop_assert_eq!(seek(from, to, v).to_bits(), seek(-from, -to, v).to_bits());
        let turn = |at, direction| Exact.turnaround_s(&axis, at, v, direction, TurnaroundTime::Start);
        prop_assert_eq!(turn(from, 1.0).to_bits(), turn(-from, -1.0).to_bits());
    }

    #[test]
    fn every_kinematics_satisfies_the_interface((axis, from, to, v) in axes()) {
        let models: [&dyn Kinematics; 4] = [&Exact, &Piecewise::new(20), &DisksimPiecewise, &DisksimClosedForm];
        for kinematics in models {
            prop_assert!(kinematics.base_seek_s(&axis, from, from, v) <= 0.0);
            let seek = kinematics.base_seek_s(&axis, from, to, v);
            prop_assert!(seek.is_finite() && seek >= 0.0, "{:?} {}", kinematics, seek);
            // An oblique flight is never slower than one from rest to rest.
            let at_rest = Exact.base_seek_s(&axis, from, to, 0.0);
            prop_assert!(Exact.base_seek_s(&axis, from, to, v) <= at_rest * (1.0 + 1e-12));
            let turns = [TurnaroundTime::Start, TurnaroundTime::End];
            for (direction, turn) in turns.into_iter().flat_map(|turn| [(1.0, turn), (-1.0, turn)]) {
                let turnaround = kinematics.turnaround_s(&axis, from, v, direction, turn);
                prop_assert!(turnaround.is_finite() && turnaround >= 0.0, "{:?} {}", kinematics, turnaround);
            }
        }
    }

    #[test]
    fn weak_springs_approach_no_spring((axis, from, to, v) in axes(), exponent in -300.0..-11.0_f64) {
        let factor = 10_f64.powf(exponent);
        let weak = Axis::new(axis.acceleration_m_s2, axis.travel_m, factor, SpringConvention::Edge);
        let no_spring = Axis { omega_squared: 0.0, s_per_radian: 0.0, spring_factor: 0.0, ..axis };
        let seek = |axis: &Axis, v| Exact.base_seek_s(axis, from, to, v);
        prop_assert!(is_close(seek(&weak, v), seek(&no_spring, v)));
        prop_assert!(is_close(seek(&weak, 0.0), seek(&no_spring, 0.0)));
        let turn = |axis: &Axis| Exact.turnaround_s(axis, from, v, 1.0, TurnaroundTime::Start);
        prop_assert!(is_close(turn(&weak), turn(&no_spring)));
    }
}

/// Returns the number of starts on an axis of `bits` positions from which some longer seek takes fewer nanoseconds than
/// a shorter one on the same side.
fn count_non_monotone_starts(kinematics: &dyn Kinematics, params: &MemsParams, step: usize) -> usize {
    let (geometry, axis) = (Geometry::new(params).unwrap(), Axis::x(params));
    let place = |cylinder| f64::from(geometry.x_bit(cylinder)) * geometry.bit_m;
    let time = |from, to| Span::from_seconds(kinematics.base_seek_s(&axis, place(from), place(to), 0.0));
    (0..geometry.cylinders)
        .step_by(step)
        .filter(|from| {
            let is_rising =
                |targets: &mut dyn Iterator<Item = u32>| targets.map(|to| time(*from, to)).is_sorted();
            !is_rising(&mut (*from..geometry.cylinders)) || !is_rising(&mut (0..=*from).rev())
        })
        .count()
}

proptest! {
    #[test]
    fn longer_seeks_never_take_less_time((axis, from, to, _) in axes(), bits in 10_u32..3000) {
        let bit = axis.travel_m / f64::from(bits);
        let time = |to| Span::from_seconds(Exact.base_seek_s(&axis, from, to, 0.0));
        for (nearer, farther) in [(to, to + bit), (to, to - bit)] {
            let is_same_side = (nearer >= from) == (farther >= from);
            if is_same_side && farther.abs() <= axis.travel_m / 2.0 {
                let mut places = [nearer, farther];
                places.sort_by(|a, b| (a - from).abs().total_cmp(&(b - from).abs()));
                prop_assert!(time(places[0]) <= time(places[1]));
            }
        }
    }
}

/// The x axes of the three generations.
fn generations() -> [MemsParams; 3] {
    [(50.0, 688.8), (40.0, 803.6), (30.0, 1033.2)].map(|(bit_nm, acceleration_x_m_s2)| MemsParams {
        bit_nm,
        acceleration_x_m_s2,
        ..MemsParams::default()
    })
}

#[test]
fn is_monotone_equals_measurement() {
    for params in generations() {
        for kinematics in [&Exact as &dyn Kinematics, &DisksimClosedForm] {
            assert!(kinematics.is_monotone());
            assert_eq!(count_non_monotone_starts(kinematics, &params, 1), 0, "{kinematics:?}");
        }
        assert!(!DisksimPiecewise.is_monotone());
        assert!(count_non_monotone_starts(&DisksimPiecewise, &params, 100) > 0);
    }
}

#[test]
fn moves_in_y_have_the_minimum_turnarounds() {
    let params = MemsParams::default();
    let axis = Axis::y(&params);
    let heading = |at_bit: f64, direction: f64| Heading { position_m: at_bit * 40e-9, direction };
    let turns = |y0, d0, y1, d1, x_changes| {
        y_time(&Exact, &axis, 0.028, heading(y0, d0), heading(y1, d1), x_changes).turns
    };
    let (up, down) = (1.0, -1.0);
    for (d0, d1, turns_below, turns_above) in
        [(up, up, 2, 0), (up, down, 1, 1), (down, up, 1, 1), (down, down, 0, 2)]
    {
        assert_eq!(turns(100.0, d0, -50.0, d1, false), turns_below);
        assert_eq!(turns(100.0, d0, 150.0, d1, false), turns_above);
    }
    for direction in [up, down] {
        assert_eq!(turns(100.0, direction, 100.0, direction, false), 0);
        assert_eq!(turns(100.0, direction, 100.0, -direction, false), 1);
        // The sled loops while x moves.
        assert_eq!(turns(100.0, direction, 100.0, direction, true), 2);
        let place_heading = heading(100.0, direction);
        let loop_time = y_time(&Exact, &axis, 0.028, place_heading, place_heading, true);
        let turn = |d| Exact.turnaround_s(&axis, place_heading.position_m, 0.028, d, TurnaroundTime::Start);
        assert!(is_close(loop_time.total_s(), turn(up) + turn(down)));
        assert!(loop_time.base_s <= 0.0);
    }
}

/// Least and greatest relative deviation from the closed form over moves of a G2 that start at multiples of
/// `step` bits, and the mean.
fn deviation(kinematics: &dyn Kinematics, speed_m_s: f64) -> (f64, f64, f64) {
    let axis = Axis::x(&MemsParams::default());
    let (mut minimum, mut maximum, mut sum, mut count) = (f64::INFINITY, f64::NEG_INFINITY, 0.0, 0);
    for from in (-1250..1250).step_by(10) {
        for to in (-1250..1250).step_by(7).filter(|to| *to != from) {
            let (from, to) = (f64::from(from) * 40e-9, f64::from(to) * 40e-9);
            let ratio = kinematics.base_seek_s(&axis, from, to, speed_m_s)
                / Exact.base_seek_s(&axis, from, to, speed_m_s);
            (minimum, maximum, sum, count) = (minimum.min(ratio), maximum.max(ratio), sum + ratio, count + 1);
        }
    }
    (minimum - 1.0, maximum - 1.0, sum / f64::from(count) - 1.0)
}

#[test]
fn reference_simulator_deviates_as_documented() {
    let mut result = Vec::new();
    for (kinematics, lowest, highest) in
        [(&DisksimPiecewise as &dyn Kinematics, -0.015, 0.040), (&DisksimClosedForm, -0.29, 0.12)]
    {
        for speed_m_s in [0.0, 0.028] {
            let (minimum, maximum, mean) = deviation(kinematics, speed_m_s);
            assert!(minimum >= lowest && maximum <= highest);
            result.push(json!({
                "kinematics": format!("{kinematics:?}"),
                "speed_m_s": speed_m_s,
                "least": minimum,
                "most": maximum,
                "mean": mean,
            }));
        }
    }
    write_result("reference_simulator_deviates_as_documented", &json!(result));
}
