//! The reference simulator's closed form, "seek function 1".
//!
//! The closed form is the exact solution for springs half as stiff: the spring force reaches `spring_factor` of the
//! actuator force at the full travel instead of half of it, whatever the spring convention is. Times on a G2 are from
//! 28 % shorter (short seeks at the edges) to 11 % longer than exact seek times, on average 1.1 % longer. Turnarounds
//! and loops in place are those of `disksim-piecewise`. The form has no limit without a spring (the simulator yields 0
//! or not-a-number), so `spring_factor = 0` is refused.

use super::disksim_piecewise::turnaround_s;
use super::exact::bang_bang_s;
use super::{Axis, Kinematics, TurnaroundTime};

/// The reference simulator's closed form.
#[derive(Clone, Copy, Debug, Default)]
pub struct DisksimClosedForm;

impl Kinematics for DisksimClosedForm {
    fn base_seek_s(&self, axis: &Axis, from_m: f64, to_m: f64, speed_m_s: f64) -> f64 {
        let a = axis.acceleration_m_s2;
        let s = axis.spring_factor * a / axis.travel_m;
        bang_bang_s(a, s, || 1.0 / s.sqrt(), from_m, to_m, speed_m_s)
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
        true
    }
}
