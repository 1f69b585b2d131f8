//! The reference simulator's iterative seek, "seek function 0", and its turnarounds.
//!
//! Each phase is eight chunks of constant acceleration; of eight places tried for the switch point, the one with the
//! best matching speeds counts. The seek is kept as it is, defects included:
//!
//! - in phase 2 each chunk is given the acceleration of the chunk before it, the first one that of
//!   the last chunk of phase 1;
//! - in phase 2 a chunk across the center has the spring helping where it should hinder and the opposite order;
//! - the switch point moves in fixed steps, so that speeds need not match in the end: times on a G2 are from 1.4 %
//!   shorter to 3.9 % longer than the exact ones (0.9 % longer in the mean), and not monotone in the distance;
//! - a turnaround has constant acceleration, that at its place, and at the end of a seek the spring has the wrong
//!   sign;
//! - while x seeks, a sled that must return to the same y in the same direction makes a loop if it heads upwards, as
//!   physics demands, but takes no time if it heads downwards.
//!
//! The spring force reaches `spring_factor` of the actuator force at half the travel, whatever the spring convention
//! is.

use std::cell::Cell;

use super::{Axis, Kinematics, TurnaroundTime};

const CHUNKS: u32 = 8;
const PLACES: u32 = 8;
const NM_PER_M: f64 = 1e9;

/// The reference simulator's iterative seek.
#[derive(Clone, Copy, Debug, Default)]
pub struct DisksimPiecewise;

impl Kinematics for DisksimPiecewise {
    fn base_seek_s(&self, axis: &Axis, from_m: f64, to_m: f64, speed_m_s: f64) -> f64 {
        let seek = Seek::new(axis, from_m, to_m, speed_m_s);
        if seek.to - seek.from == 0.0 {
            return 0.0;
        }
        RECENT.with(|recent| {
            // Lengths are multiples of 1/1024 nm, so their bits mix well enough for a hash.
            let hash = seek.from.to_bits() ^ seek.to.to_bits().rotate_left(17) ^ seek.speed.to_bits();
            let slot = &recent[(hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - RECENT_BITS)) as usize];
            let (cached_seek, time) = slot.get();
            if cached_seek == seek {
                return time;
            }
            let time = base_seek_s(&seek);
            slot.set((seek, time));
            time
        })
    }

    fn turnaround_s(
        &self,
        axis: &Axis,
        at_m: f64,
        speed_m_s: f64,
        direction: f64,
        turn: TurnaroundTime,
    ) -> f64 {
        turnaround_s(axis, at_m, speed_m_s, direction, turn)
    }

    fn loops(&self, direction: f64) -> bool {
        direction > 0.0
    }

    fn is_monotone(&self) -> bool {
        false
    }
}

const RECENT_BITS: u32 = 10;

thread_local! {
    /// Recently computed seeks with their times. The same seek is computed when a request is planned and when it
    /// ends, and again for other requests, and each computation takes 128 square roots.
    static RECENT: Box<[Cell<(Seek, f64)>]> = vec![Cell::new((Seek::NONE, 0.0)); 1 << RECENT_BITS].into();
}

fn base_seek_s(seek: &Seek) -> f64 {
    let distance = seek.to - seek.from;
    // Without a spring the switch point is exactly in the middle.
    let places = if seek.spring == 0.0 { 1 } else { PLACES };
    let mut switch = seek.from + distance / 2.0;
    let (mut best_time, mut best_mismatch) = (0.0, f64::INFINITY);
    for place in 1..=places {
        let (time, v1, v2) = seek_with_switch(seek, switch);
        let mismatch = (v1 / v2 - 1.0).abs();
        if mismatch < best_mismatch {
            (best_time, best_mismatch) = (time, mismatch);
        }
        let step = (0.05 - 0.01 / f64::from(9 - place)) * distance;
        switch += if v1 > v2 { -step } else { step };
    }
    best_time
}

/// Time of both phases, and the speed with which each reaches the switch point.
fn seek_with_switch(seek: &Seek, switch: f64) -> (f64, f64, f64) {
    let first_step = (switch - seek.from) / f64::from(CHUNKS);
    let second_step = (seek.to - switch) / f64::from(CHUNKS);
    // Accelerations of both phases, the second backwards from the end; the chunk before chunk i ends where chunk i
    // starts.
    let mut accelerations = [[0.0; 2]; CHUNKS as usize];
    for (i, [first, second]) in (0..CHUNKS).zip(&mut accelerations) {
        let start = seek.from + first_step * f64::from(i);
        *first = seek.chunk_acceleration(start, start + first_step, true);
        let start = seek.to - second_step * f64::from(i + 1);
        *second = seek.chunk_acceleration(start - second_step, start, false);
    }
    let last = CHUNKS as usize - 1;
    accelerations[last][1] = accelerations[last][0];
    // Both phases side by side: each square root waits for that of the chunk before it.
    let steps = [first_step.abs(), second_step.abs()];
    let (mut time, mut speed) = ([0.0; 2], [seek.speed; 2]);
    for acceleration in &accelerations {
        for phase in 0..2 {
            let v: f64 = speed[phase];
            speed[phase] = (v * v + 2.0 * acceleration[phase] * steps[phase]).sqrt();
            time[phase] += (speed[phase] - v) / acceleration[phase];
        }
    }
    (time[0] + time[1], speed[0], speed[1])
}

/// A base seek; lengths in nanometers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Seek {
    acceleration: f64,
    /// Spring force per nanometer, as a share of the actuator force.
    spring: f64,
    from: f64,
    to: f64,
    speed: f64,
}

impl Seek {
    const NONE: Seek = Seek { acceleration: 0.0, spring: 0.0, from: 0.0, to: 0.0, speed: 0.0 };

    fn new(axis: &Axis, from_m: f64, to_m: f64, speed_m_s: f64) -> Seek {
        Seek {
            acceleration: axis.acceleration_m_s2 * NM_PER_M,
            spring: axis.spring_factor / (axis.travel_m * NM_PER_M / 2.0),
            from: dyadic_nm(from_m),
            to: dyadic_nm(to_m),
            speed: speed_m_s * NM_PER_M,
        }
    }

    /// Acceleration of a chunk that goes from `first` to `second`: the mean of those at its ends, with the spring
    /// helping where the actuator pushes towards the center.
    fn chunk_acceleration(&self, first: f64, second: f64, speeds_up: bool) -> f64 {
        let inwards = first.abs() > second.abs();
        let across_center = first * second < 0.0;
        let spring_helps = if across_center { inwards } else { inwards == speeds_up };
        let share = self.spring * f64::midpoint(first.abs(), second.abs());
        self.acceleration * if spring_helps { 1.0 + share } else { 1.0 - share }
    }
}

/// Nanometers, rounded to a 1024th: the ends of chunks are then exact, so that an end at the center is not taken for
/// one beyond it.
fn dyadic_nm(position_m: f64) -> f64 {
    (position_m * NM_PER_M * 1024.0).round() / 1024.0
}

/// The reference simulator's turnaround: constant acceleration, and at the end of a seek the direction after the turn
/// instead of the direction before the turn.
pub(super) fn turnaround_s(
    axis: &Axis,
    at_m: f64,
    speed_m_s: f64,
    direction: f64,
    turn: TurnaroundTime,
) -> f64 {
    let heading = match turn {
        TurnaroundTime::Start => direction,
        TurnaroundTime::End => -direction,
    };
    let spring = axis.spring_factor * at_m / (axis.travel_m / 2.0) * heading;
    2.0 * speed_m_s / (axis.acceleration_m_s2 * (1.0 + spring))
}
