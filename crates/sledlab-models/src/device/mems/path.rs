//! The path of a sled while it serves a request.
//!
//! x and y move at once. The axis that needs less time waits: x after its move, y before its move, as a sled cannot
//! wait at speed. Moves have the closed form of [`exact`](super::kinematics::Exact) kinematics; under other
//! kinematics they are stretched to the time that those give.

use sledlab_core::math;

use super::axis::Axis;
use super::kinematics::{Exact, Kinematics, TurnaroundTime};
use super::sled::{Pass, Sled};
use super::state::SledState;
use super::unit::SledUnit;
use crate::device::{Leg, Motion, MotionPath, QueuedRequest};

/// Steps of the bisection for the time at which the force is reversed: each step finds another bit.
const HALVINGS: u32 = 60;

/// A base seek with `speed_m_s` in the direction of travel at both ends: full force in one direction, then in the
/// opposite one.
///
/// The seek takes `lasts_s` seconds; over no distance it takes no time.
pub fn seek(axis: &Axis, from_m: f64, to_m: f64, speed_m_s: f64, lasts_s: f64) -> [Leg; 2] {
    let (a, s) = (axis.acceleration_m_s2, axis.omega_squared);
    let onward = if to_m < from_m { -1.0 } else { 1.0 };
    let natural_s = Exact.base_seek_s(axis, from_m, to_m, speed_m_s);
    let speed_after = |t: f64, at_m: f64, force_m_s2: f64| {
        let (sine, cosine) = if s == 0.0 {
            (t, 1.0)
        } else {
            let omega = s.sqrt();
            (math::sin(omega * t) / omega, math::cos(omega * t))
        };
        speed_m_s * cosine + (force_m_s2 - s * at_m) * sine
    };
    // Mirrored to go upwards. The later the reversal, the larger the speed reached from the start, and the smaller
    // the speed from which the end is reached: at one time the two are equal.
    let (x0, x1) = (onward * from_m, onward * to_m);
    let (mut early, mut late) = (0.0, natural_s);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (early + late);
        let end_speed_m_s = speed_after(natural_s - middle, -x1, a);
        if speed_after(middle, x0, a) < end_speed_m_s { early = middle } else { late = middle }
    }
    let stretch = if natural_s > 0.0 { lasts_s / natural_s } else { 0.0 };
    let leg = |at_m, natural_s, speed_m_s, force_m_s2, is_backwards| Leg {
        position_m: at_m,
        natural_s,
        lasts_s: natural_s * stretch,
        motion: Motion::Driven { speed_m_s, force_m_s2, omega_squared: s, is_backwards },
    };
    [
        leg(from_m, early, onward * speed_m_s, onward * a, false),
        leg(to_m, natural_s - early, -onward * speed_m_s, -onward * a, true),
    ]
}

/// A turnaround of `lasts_s` seconds at `at_m`, of a sled that moves in `direction`, +1 or -1, at `speed_m_s`.
pub fn turnaround(axis: &Axis, at_m: f64, speed_m_s: f64, direction: f64, lasts_s: f64) -> Leg {
    Leg {
        position_m: at_m,
        natural_s: Exact.turnaround_s(axis, at_m, speed_m_s, direction, TurnaroundTime::Start),
        lasts_s,
        motion: Motion::Driven {
            speed_m_s: direction * speed_m_s,
            force_m_s2: -direction * axis.acceleration_m_s2,
            omega_squared: axis.omega_squared,
            is_backwards: false,
        },
    }
}

impl SledUnit {
    /// The path through all passes of a request, from state `from`.
    pub(super) fn request_path(&self, from: SledState, request: &QueuedRequest) -> MotionPath {
        let mut path = MotionPath { unit_m: self.sled.geometry.bit_m, ..MotionPath::default() };
        let (mut spot, mut done_blocks) = (self.sled.spot(from), 0);
        while done_blocks < request.blocks {
            let (lbn, remaining_blocks) =
                (request.lbn + u64::from(done_blocks), request.blocks - done_blocks);
            let pass = self.sled.plan(spot, lbn, remaining_blocks, u32::MAX);
            self.sled.add_pass(&mut path, spot.state, &pass);
            spot = self.sled.end_spot(&pass);
            done_blocks += pass.blocks;
        }
        path
    }
}

impl Sled {
    /// Adds a pass to the path: positioning, then the access of the row.
    fn add_pass(&self, path: &mut MotionPath, from: SledState, pass: &Pass) {
        let meters = |bit: i32| f64::from(bit) * self.geometry.bit_m;
        let (x0, x1) = (meters(from.x_bit), meters(pass.x_bit));
        let (seek_s, row_s) = (pass.seek_x.as_seconds(), self.row_time.as_seconds());
        let positioning_s = pass.positioning().as_seconds();
        path.x.extend(seek(&self.axis_x, x0, x1, 0.0, seek_s));
        path.x.push(Leg::rest(x1, positioning_s - seek_s + row_s));
        let y0 = meters(from.y_bit);
        path.y.push(Leg::rest(y0, positioning_s - pass.y.total().as_seconds()));
        self.add_y(path, from, pass);
        let start_m = meters(self.geometry.start(pass.row, pass.direction));
        let end_m = meters(self.geometry.end(pass.row, pass.direction));
        let motion = Motion::Steady { speed_m_s: (end_m - start_m) / row_s };
        path.y.push(Leg { position_m: start_m, natural_s: row_s, lasts_s: row_s, motion });
    }

    /// Adds the move in y to the start of a row, with the turnarounds before and after it that `pass.y` includes.
    fn add_y(&self, path: &mut MotionPath, from: SledState, pass: &Pass) {
        let (axis, speed_m_s) = (&self.axis_y, self.geometry.velocity_m_s);
        let start_bit = self.geometry.start(pass.row, pass.direction);
        let meters = |bit: i32| f64::from(bit) * self.geometry.bit_m;
        let (y0, y1) = (meters(from.y_bit), meters(start_bit));
        let (start_direction, end_direction) = (f64::from(from.direction), f64::from(pass.direction));
        let in_place = from.y_bit == start_bit && from.direction == pass.direction;
        let travel = match start_bit > from.y_bit {
            _ if in_place => -start_direction,
            true => 1.0,
            false => -1.0,
        };
        let turns: Vec<(f64, f64)> = [
            (y0, start_direction, start_direction * travel < 0.0),
            (y1, travel, end_direction * travel < 0.0),
        ]
        .into_iter()
        .filter_map(|(at_m, direction, turns)| turns.then_some((at_m, direction)))
        .collect();
        let natural =
            |&(at_m, direction): &(f64, f64)| turnaround(axis, at_m, speed_m_s, direction, 0.0).natural_s;
        let total_s: f64 = turns.iter().map(natural).sum();
        let share = if total_s > 0.0 { pass.y.turnaround().as_seconds() / total_s } else { 0.0 };
        let turn = |at_m, direction| {
            turnaround(axis, at_m, speed_m_s, direction, natural(&(at_m, direction)) * share)
        };
        if start_direction * travel < 0.0 {
            path.y.push(turn(y0, start_direction));
        }
        path.y.extend(seek(axis, y0, y1, speed_m_s, pass.y.seek().as_seconds()));
        if end_direction * travel < 0.0 {
            path.y.push(turn(y1, travel));
        }
    }
}
