//! The reference simulator's iterative seek, "seek function 0", and its turnarounds.
//!
//! Eight chunks of constant acceleration per phase and at most eight moves of the switch point, of
//! which the one with the best matching speeds counts. Kept as it is, defects included:
//!
//! - in phase 2 each chunk is given the acceleration of the chunk before it in the order of
//!   computation, the first one that of the last chunk of phase 1;
//! - the switch point moves in fixed steps, so that speeds need not match in the end: times are
//!   1.5 % short to 3.6 % long of the exact ones, and not monotone in the distance;
//! - a turnaround takes the acceleration at its position for constant, and at the end of a seek
//!   the spring has the wrong sign.
//!
//! The spring force reaches `spring_factor` of the actuator force at half the travel, whatever the
//! spring convention says.

use super::{Axis, Kinematics, Turn};

const CHUNKS: u32 = 8;
const ITERATIONS: u32 = 8;

/// The reference simulator's iterative seek.
#[derive(Clone, Copy, Debug, Default)]
pub struct DisksimPiecewise;

impl Kinematics for DisksimPiecewise {
    fn base_seek_s(&self, axis: &Axis, from_m: f64, to_m: f64, speed_m_s: f64) -> f64 {
        if from_m == to_m {
            return 0.0;
        }
        let distance = to_m - from_m;
        let iterations = if axis.spring_factor == 0.0 { 1 } else { ITERATIONS };
        let mut switch = from_m + distance / 2.0;
        let (mut best_time, mut best_mismatch) = (0.0, f64::INFINITY);
        for j in 1..=iterations {
            let (time, v1, v2) = seek_with_switch(axis, from_m, switch, to_m, speed_m_s);
            let mismatch = (v1 / v2 - 1.0).abs();
            if mismatch < best_mismatch {
                (best_time, best_mismatch) = (time, mismatch);
            }
            let step = (0.05 - 0.01 / f64::from(9 - j)) * distance;
            switch += if v1 > v2 { -step } else { step };
        }
        best_time
    }

    fn turnaround_s(&self, axis: &Axis, at_m: f64, speed_m_s: f64, direction: f64, turn: Turn) -> f64 {
        turnaround_s(axis, at_m, speed_m_s, direction, turn)
    }

    fn is_monotone(&self) -> bool {
        false
    }
}

/// Time of both phases and the speeds with which they reach the switch point.
fn seek_with_switch(axis: &Axis, from: f64, switch: f64, to: f64, speed: f64) -> (f64, f64, f64) {
    let first_step = (switch - from) / f64::from(CHUNKS);
    let second_step = (to - switch) / f64::from(CHUNKS);
    let mut acceleration = 0.0;
    let (mut t1, mut v1) = (0.0, speed);
    for i in 0..CHUNKS {
        let start = from + first_step * f64::from(i);
        acceleration = chunk_acceleration(axis, start, start + first_step, true);
        let (time, v) = advance(first_step.abs(), v1, acceleration);
        (t1, v1) = (t1 + time, v);
    }
    let (mut t2, mut v2) = (0.0, speed);
    for i in 0..CHUNKS {
        // Backwards from the end; the value is used for the next chunk only.
        let (time, v) = advance(second_step.abs(), v2, acceleration);
        (t2, v2) = (t2 + time, v);
        let end = to - second_step * f64::from(i);
        acceleration = chunk_acceleration(axis, end - second_step, end, false);
    }
    (t1 + t2, v1, v2)
}

/// Time and final speed over `distance` with constant acceleration.
fn advance(distance: f64, v: f64, acceleration: f64) -> (f64, f64) {
    let v_next = (v * v + 2.0 * acceleration * distance).sqrt();
    ((v_next - v) / acceleration, v_next)
}

/// Acceleration of a chunk: the mean of its ends, with the spring helping where the actuator
/// pushes towards the centre. In travel order the chunk goes from `first` to `second`.
fn chunk_acceleration(axis: &Axis, first: f64, second: f64, accelerating: bool) -> f64 {
    let inwards = first.abs() > second.abs();
    let sign = if inwards == accelerating { 1.0 } else { -1.0 };
    let spring = axis.spring_factor / (axis.travel_m / 2.0);
    axis.acceleration_m_s2 * (1.0 + sign * spring * f64::midpoint(first.abs(), second.abs()))
}

/// The reference simulator's turnaround: constant acceleration, and at the end of a seek the
/// direction after the turn instead of that before it.
pub(super) fn turnaround_s(axis: &Axis, at_m: f64, speed_m_s: f64, direction: f64, turn: Turn) -> f64 {
    let heading = match turn {
        Turn::Start => direction,
        Turn::End => -direction,
    };
    let spring = axis.spring_factor * at_m / (axis.travel_m / 2.0) * heading;
    2.0 * speed_m_s / (axis.acceleration_m_s2 * (1.0 + spring))
}
