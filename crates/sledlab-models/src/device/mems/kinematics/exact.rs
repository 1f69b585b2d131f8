//! The closed form (DM-03, DM-04): exact for an ideal actuator and a linear spring.
//!
//! With acceleration `a` and `s = omega^2` the sled moves by `x'' = a - s x` up to the switch point
//! and by `x'' = -a - s x` from there. Let `f = a - s x` and `u = omega v`. In phase 1
//! `f' = -omega u` and `u' = omega f`, so the point `(f, u)` turns at `omega` and
//!
//! ```text
//! tan(omega t1) = omega (f0 vm - v fm) / (f0 fm + s v vm) =: omega P1 / D1
//! ```
//!
//! where 0 is the start and m the switch. Energy gives `vm^2 - v^2 = d1 (f0 + fm)`, which turns the
//! difference into a sum: `P1 = d1 ((f0 + fm) f0 / (vm + v) + s v)`. Phase 2 is the same backwards in
//! time with `g = a + s x`. Equal energy of both phases at the switch puts it
//! `d1 = d/2 (1 + s m/a)` behind the start, `m` the middle. Adding the two angles costs one `atan2`:
//!
//! ```text
//! t = atan2(omega (P1 D2 + P2 D1), D1 D2 - s P1 P2) / omega
//! ```
//!
//! Nothing cancels (the `acos` form of DM-03 loses all digits of short moves and weak springs), and
//! the limit without spring is `P1/D1 + P2/D2`. From rest to rest all of it shrinks to
//! `atan2(2 a omega vm, fm gm - s vm^2) / omega`.

use super::{Axis, Kinematics, Turn};

/// Exact seeks and turnarounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exact;

impl Kinematics for Exact {
    #[inline]
    fn base_seek_s(&self, axis: &Axis, from_m: f64, to_m: f64, speed_m_s: f64) -> f64 {
        bang_bang_s(axis.acceleration_m_s2, axis.omega_squared, from_m, to_m, speed_m_s)
    }

    #[inline]
    fn turnaround_s(&self, axis: &Axis, at_m: f64, speed_m_s: f64, direction: f64, _turn: Turn) -> f64 {
        let (a, s) = (axis.acceleration_m_s2, axis.omega_squared);
        if s == 0.0 {
            return 2.0 * speed_m_s / a;
        }
        let omega = s.sqrt();
        2.0 * (speed_m_s * omega).atan2(a + s * at_m * direction) / omega
    }

    fn is_monotone(&self) -> bool {
        true
    }
}

/// The shortest time from `from_m` to `to_m` with actuator acceleration `a` (m/s^2), spring `s` (1/s^2) and
/// `speed_m_s` in the direction of travel at both ends.
#[inline]
pub(super) fn bang_bang_s(a: f64, s: f64, from_m: f64, to_m: f64, speed_m_s: f64) -> f64 {
    // Mirrored if need be, the move goes upwards from the middle less half the distance.
    let d = (to_m - from_m).abs();
    if d == 0.0 {
        return 0.0;
    }
    let m = 0.5 * (from_m + to_m) * (to_m - from_m).signum();
    let skew = s * m / a;
    let d1 = 0.5 * d * (1.0 + skew);
    // Relative to the start, f falls by s d1 and g grows by as much up to the switch point.
    let f0 = a - s * (m - 0.5 * d);
    let g1 = a + s * (m + 0.5 * d);
    let fm = f0 - s * d1;
    let gm = 2.0 * a - fm;
    if speed_m_s == 0.0 {
        let vm_squared = d1 * (f0 + fm);
        if s == 0.0 {
            return 2.0 * vm_squared.sqrt() / a;
        }
        let omega = s.sqrt();
        return (2.0 * a * (s * vm_squared).sqrt()).atan2(fm * gm - s * vm_squared) / omega;
    }
    let v = speed_m_s;
    let d2 = 0.5 * d * (1.0 - skew);
    let vm = (v * v + d1 * (f0 + fm)).sqrt();
    let (p1, q1) = (d1 * ((f0 + fm) * f0 / (vm + v) + v * s), f0 * fm + s * v * vm);
    let (p2, q2) = (d2 * ((g1 + gm) * g1 / (vm + v) + v * s), g1 * gm + s * v * vm);
    if s == 0.0 {
        return p1 / q1 + p2 / q2;
    }
    let omega = s.sqrt();
    (omega * (p1 * q2 + p2 * q1)).atan2(q1 * q2 - s * p1 * p2) / omega
}
