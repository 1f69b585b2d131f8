//! Constant spring force per chunk: the model for which seek times were first published.
//!
//! Each phase is cut into equal chunks; in a chunk the spring force is the mean of the forces at its ends. The switch
//! point is found by bisection. An error of the switch point changes the time only in second order, so a relative
//! 1e-6 of the distance is ample; the remaining error falls with the number of chunks to the power -1.5.

use super::exact::Exact;
use super::{Axis, Kinematics, TurnaroundTime};

/// Precision of the bisection of the switch point, as a share of the distance.
const TOLERANCE: f64 = 1e-6;

/// Seeks in chunks of constant force, exact turnarounds.
#[derive(Clone, Copy, Debug)]
pub struct Piecewise {
    chunks: u32,
}

impl Piecewise {
    /// Kinematics with `chunks` chunks per phase, at least one.
    pub fn new(chunks: u32) -> Self {
        Piecewise { chunks: chunks.max(1) }
    }

    /// Time and squared final speed of a phase that starts at `x` with squared speed `v_squared` and moves upwards by
    /// `length`, accelerated by `a - s x`.
    fn phase(self, a: f64, s: f64, x: f64, length: f64, mut v_squared: f64) -> (f64, f64) {
        let chunk = length / f64::from(self.chunks);
        let (mut time, mut v) = (0.0, v_squared.sqrt());
        for i in 0..self.chunks {
            let middle = x + chunk * (f64::from(i) + 0.5);
            v_squared += 2.0 * chunk * (a - s * middle);
            let v_next = v_squared.sqrt();
            time += 2.0 * chunk / (v + v_next);
            v = v_next;
        }
        (time, v_squared)
    }
}

impl Kinematics for Piecewise {
    fn base_seek_s(&self, axis: &Axis, from_m: f64, to_m: f64, speed_m_s: f64) -> f64 {
        let (a, s) = (axis.acceleration_m_s2, axis.omega_squared);
        let distance = (to_m - from_m).abs();
        if distance == 0.0 {
            return 0.0;
        }
        let (from, to) = if to_m > from_m { (from_m, to_m) } else { (-from_m, -to_m) };
        let v_squared = speed_m_s * speed_m_s;
        // Phase 2, backwards in time and mirrored, is computed like phase 1.
        let phases = |share: f64| {
            let first = self.phase(a, s, from, share * distance, v_squared);
            let second = self.phase(a, s, -to, (1.0 - share) * distance, v_squared);
            (first, second)
        };
        let (mut low, mut high) = (0.0, 1.0);
        while high - low > TOLERANCE {
            let middle = f64::midpoint(low, high);
            let (first, second) = phases(middle);
            if first.1 < second.1 { low = middle } else { high = middle }
        }
        let (first, second) = phases(f64::midpoint(low, high));
        first.0 + second.0
    }

    fn turnaround_s(
        &self,
        axis: &Axis,
        at_m: f64,
        speed_m_s: f64,
        direction: f64,
        turn: TurnaroundTime,
    ) -> f64 {
        Exact.turnaround_s(axis, at_m, speed_m_s, direction, turn)
    }

    /// That times are monotone is not proven, though measured for 1 to 50 chunks on the three generations.
    fn is_monotone(&self) -> bool {
        false
    }

    fn loops(&self, _direction: f64) -> bool {
        true
    }
}
