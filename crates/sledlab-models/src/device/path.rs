//! The path of a mechanism while it serves a request: its motion along x and y, leg by leg.
//!
//! With actuator force per mass `f` and spring `s = omega^2` a mass moves by `x'' = f - s x`. From `x0` with speed `v`
//!
//! ```text
//! x(t) = x0 + v sin(omega t) / omega + (f - s x0) 2 sin^2(omega t / 2) / s
//! ```
//!
//! in which no digits cancel however weak the spring is; without a spring it is `x0 + v t + f t^2 / 2`. Braking to a
//! known end is the same motion backwards in time.

use sledlab_core::{Span, math};

/// How a mechanism moves along one axis during a leg, in meters and seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    /// The mechanism stays where it is.
    Rest,
    /// Moves at a constant speed.
    Steady {
        /// The speed, in m/s.
        speed_m_s: f64,
    },
    /// Driven by a constant force, against a spring that pulls towards 0.
    Driven {
        /// Speed at the beginning or, if `is_backwards`, minus the speed at the end, in m/s.
        speed_m_s: f64,
        /// Force over mass, in m/s^2.
        force_m_s2: f64,
        /// Stiffness over mass, in 1/s^2.
        omega_squared: f64,
        /// Whether the leg's place and speed are those of its end.
        is_backwards: bool,
    },
}

/// A part of the motion along one axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leg {
    /// Where the leg begins, or where it ends if the motion is `is_backwards`, in meters.
    pub position_m: f64,
    /// Time of the leg by its equation of motion, in seconds.
    pub natural_s: f64,
    /// Time that the leg takes, to which the motion is stretched, in seconds.
    pub lasts_s: f64,
    /// The motion of the leg.
    pub motion: Motion,
}

impl Leg {
    /// Returns a leg without motion at `at_m` for `lasts_s` seconds.
    pub fn rest(at_m: f64, lasts_s: f64) -> Leg {
        Leg { position_m: at_m, natural_s: lasts_s, lasts_s, motion: Motion::Rest }
    }

    /// Place in meters `after_s` seconds after the leg began; after its end, the place of its end.
    pub fn position(&self, after_s: f64) -> f64 {
        let natural_s = after_s.min(self.lasts_s) * self.natural_s / self.lasts_s.max(f64::MIN_POSITIVE);
        match self.motion {
            Motion::Rest => self.position_m,
            Motion::Steady { speed_m_s } => self.position_m + speed_m_s * natural_s,
            Motion::Driven { speed_m_s, force_m_s2, omega_squared, is_backwards } => {
                let t = if is_backwards { self.natural_s - natural_s } else { natural_s };
                self.position_m
                    + driven_m(t, speed_m_s, force_m_s2 - omega_squared * self.position_m, omega_squared)
            }
        }
    }
}

/// Displacement after `t` seconds of a mass that begins with this speed and acceleration.
fn driven_m(t: f64, speed_m_s: f64, acceleration_m_s2: f64, omega_squared: f64) -> f64 {
    if omega_squared == 0.0 {
        return speed_m_s * t + 0.5 * acceleration_m_s2 * t * t;
    }
    let omega = omega_squared.sqrt();
    let half = math::sin(0.5 * omega * t);
    speed_m_s * math::sin(omega * t) / omega + acceleration_m_s2 * 2.0 * half * half / omega_squared
}

/// The path of a mechanism through one access or several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MotionPath {
    /// Length in meters of the unit in which the mechanism counts places.
    pub unit_m: f64,
    /// Legs along x, one after another.
    pub x: Vec<Leg>,
    /// Legs along y, one after another.
    pub y: Vec<Leg>,
}

impl MotionPath {
    /// A path in a straight line at constant speed, `from` and `to` in units of the mechanism; the mechanism then
    /// stays at `to`.
    pub fn straight(from: (i32, i32), to: (i32, i32), lasts: Span) -> MotionPath {
        let lasts_s = lasts.as_seconds();
        let leg = |from: i32, to: i32| {
            let speed_m_s = if lasts_s > 0.0 { f64::from(to - from) / lasts_s } else { 0.0 };
            let at_m = if lasts_s > 0.0 { from } else { to };
            let motion = Motion::Steady { speed_m_s };
            vec![Leg { position_m: f64::from(at_m), natural_s: lasts_s, lasts_s, motion }]
        };
        MotionPath { unit_m: 1.0, x: leg(from.0, to.0), y: leg(from.1, to.1) }
    }

    /// Place of the mechanism at `after` from its start, in its units; after the end of the path, the place of the
    /// end.
    pub fn position(&self, after: Span) -> (f64, f64) {
        let after_s = after.as_seconds();
        (position_after(&self.x, after_s) / self.unit_m, position_after(&self.y, after_s) / self.unit_m)
    }
}

fn position_after(legs: &[Leg], mut after_s: f64) -> f64 {
    let Some((last, earlier_legs)) = legs.split_last() else { return 0.0 };
    for leg in earlier_legs {
        if after_s < leg.lasts_s {
            return leg.position(after_s);
        }
        after_s -= leg.lasts_s;
    }
    last.position(after_s)
}
