//! The closed form: exact for an ideal actuator and a linear spring.
//!
//! With acceleration `a` and `s = omega^2` the sled moves by `x'' = a - s x` up to the switch point
//! and by `x'' = -a - s x` from there. Let `f = a - s x` and `u = omega v`. In phase 1
//! `f' = -omega u` and `u' = omega f`, so the point `(f, u)` turns at `omega` and
//!
//! ```text
//! tan(omega t1) = omega (f0 vm - v fm) / (f0 fm + s v vm) = omega P1 / D1
//! ```
//!
//! where 0 is the start and m the switch. Phase 2 is phase 1 backwards in time with `g = a + s x`. Let `d` be the
//! distance, `m` the middle of the move (mirrored to go upwards) and `k = s m / a`. Equal energy of both phases at
//! the switch puts it `d1 = d/2 (1 + k)` behind the start, with `vm^2 = v^2 + d (1 - k^2) (a + s d/4)` and
//! `f, g = a -+ k (a + s d/2)`. The differences become sums, `P1 = d1 ((f0 + fm) f0 / (vm + v) + s v)`, and adding
//! the two angles costs one `atan2`:
//!
//! ```text
//! t = atan2(omega (P1 D2 + P2 D1), D1 D2 - s P1 P2) / omega
//! ```
//!
//! From rest to rest the argument is the tangent of a doubled angle. With `e = s d / (4 a)`
//!
//! ```text
//! t = (2 / omega) atan(2 sqrt(e (1 + e) / (1 - k^2)))
//! ```
//!
//! which is the published `acos` form (Hong and Brandt) without its cancellation: `acos` loses all digits of short
//! moves and weak springs. Where a table covers the arctangent, the time is exact to 1e-14 relative; otherwise to
//! 1e-15. Without a spring the limits are `P1/D1 + P2/D2` and `2 sqrt(d/a)`.
//!
//! Seeks from rest to rest never get shorter with distance. In units of `a/s` the squared sine of
//! `omega t / 2` is `d (1 + d/4) / ((1 - x0) (1 + x1))`, and its logarithm grows with `x1` by
//! `1/d + 1/(4 + d) - 1/(1 + x1)`, which is positive because `d = x1 - x0 < x1 + 1`.

use super::angle::angle;
use super::root_angle::root_angle;
use super::{Axis, Kinematics, TurnaroundTime};

/// Exact seeks and turnarounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exact;

impl Kinematics for Exact {
    #[inline]
    fn base_seek_s(&self, axis: &Axis, from_m: f64, to_m: f64, speed_m_s: f64) -> f64 {
        let (a, s) = (axis.acceleration_m_s2, axis.omega_squared);
        bang_bang_s(a, s, || axis.s_per_radian, from_m, to_m, speed_m_s)
    }

    #[inline]
    fn turnaround_s(
        &self,
        axis: &Axis,
        at_m: f64,
        speed_m_s: f64,
        direction: f64,
        _turn: TurnaroundTime,
    ) -> f64 {
        let (a, s) = (axis.acceleration_m_s2, axis.omega_squared);
        if s == 0.0 {
            return 2.0 * speed_m_s / a;
        }
        let omega = s.sqrt();
        2.0 * angle(speed_m_s * omega, a + s * at_m * direction) / omega
    }

    fn is_monotone(&self) -> bool {
        true
    }

    fn loops(&self, _direction: f64) -> bool {
        true
    }
}

/// The shortest time from `from_m` to `to_m` with actuator acceleration `a` (m/s^2), spring `s` (1/s^2) and
/// `speed_m_s` in the direction of travel at both ends. `s_per_radian` gives 1/omega.
#[inline]
pub(super) fn bang_bang_s(
    a: f64,
    s: f64,
    s_per_radian: impl Fn() -> f64,
    from_m: f64,
    to_m: f64,
    speed_m_s: f64,
) -> f64 {
    let d = (to_m - from_m).abs();
    if d == 0.0 {
        return 0.0;
    }
    if speed_m_s != 0.0 {
        return flying_s(a, s, from_m, to_m, speed_m_s);
    }
    if s == 0.0 {
        return 2.0 * (d / a).sqrt();
    }
    // Numerator and denominator under the root, both times a^2.
    let pull = s * 0.5 * (from_m + to_m);
    let spring_part = 0.25 * s * d;
    let denominator = (a - pull) * (a + pull);
    let numerator = 4.0 * spring_part * (a + spring_part);
    let radians = root_angle(numerator / denominator)
        .unwrap_or_else(|| angle((numerator * denominator).sqrt(), denominator));
    2.0 * s_per_radian() * radians
}

/// [`bang_bang_s`] with a speed above 0 at both ends.
fn flying_s(a: f64, s: f64, from_m: f64, to_m: f64, v: f64) -> f64 {
    let d = (to_m - from_m).abs();
    let m = 0.5 * (from_m + to_m) * (to_m - from_m).signum();
    let k = s * m / a;
    let (f0, g1) = (a - s * (m - 0.5 * d), a + s * (m + 0.5 * d));
    let skew = k * (a + 0.5 * s * d);
    let (fm, gm) = (a - skew, a + skew);
    let vm = (v * v + d * (1.0 - k * k) * (a + 0.25 * s * d)).sqrt();
    let (d1, d2) = (0.5 * d * (1.0 + k), 0.5 * d * (1.0 - k));
    let (p1, q1) = (d1 * ((f0 + fm) * f0 / (vm + v) + v * s), f0 * fm + s * v * vm);
    let (p2, q2) = (d2 * ((g1 + gm) * g1 / (vm + v) + v * s), g1 * gm + s * v * vm);
    if s == 0.0 {
        return p1 / q1 + p2 / q2;
    }
    let omega = s.sqrt();
    angle(omega * (p1 * q2 + p2 * q1), q1 * q2 - s * p1 * p2) / omega
}
