//! Where a mechanism is while it serves a request: its motion along x and y, piece by piece.
//!
//! With actuator force per mass `f` and spring `s = omega^2` a mass moves by `x'' = f - s x`. From `x0` with speed `v`
//!
//! ```text
//! x(t) = x0 + v sin(omega t) / omega + (f - s x0) 2 sin^2(omega t / 2) / s
//! ```
//!
//! in which nothing cancels however weak the spring is; without one it is `x0 + v t + f t^2 / 2`. What brakes to an end
//! that is known is the same backwards in time.

use sledlab_core::{Span, math};

/// How something moves along one axis, in metres and seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    /// Not at all.
    Rest,
    /// At this speed.
    Steady {
        /// In m/s.
        speed_m_s: f64,
    },
    /// Driven by a constant force, against a spring that pulls towards 0.
    Driven {
        /// Speed at the beginning or, backwards, minus that at the end, in m/s.
        speed_m_s: f64,
        /// Force over mass, in m/s^2.
        force_m_s2: f64,
        /// Stiffness over mass, in 1/s^2.
        omega_squared: f64,
        /// Whether the place and the speed are those of the end.
        backwards: bool,
    },
}

/// A piece of motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leg {
    /// Where it begins; where it ends if it is told backwards.
    pub at_m: f64,
    /// How long it takes by its own equation of motion.
    pub natural_s: f64,
    /// How long it takes.
    pub lasts_s: f64,
    /// How it moves.
    pub motion: Motion,
}

impl Leg {
    /// Stays there.
    pub fn rest(at_m: f64, lasts_s: f64) -> Leg {
        Leg { at_m, natural_s: lasts_s, lasts_s, motion: Motion::Rest }
    }

    /// Where it is after so many seconds, at most those that it takes.
    pub fn at(&self, after_s: f64) -> f64 {
        let natural_s = after_s.min(self.lasts_s) * self.natural_s / self.lasts_s.max(f64::MIN_POSITIVE);
        match self.motion {
            Motion::Rest => self.at_m,
            Motion::Steady { speed_m_s } => self.at_m + speed_m_s * natural_s,
            Motion::Driven { speed_m_s, force_m_s2, omega_squared, backwards } => {
                let t = if backwards { self.natural_s - natural_s } else { natural_s };
                self.at_m + driven_m(t, speed_m_s, force_m_s2 - omega_squared * self.at_m, omega_squared)
            }
        }
    }
}

/// Displacement after `t` seconds of what begins with that speed and acceleration.
fn driven_m(t: f64, speed_m_s: f64, acceleration_m_s2: f64, omega_squared: f64) -> f64 {
    if omega_squared == 0.0 {
        return speed_m_s * t + 0.5 * acceleration_m_s2 * t * t;
    }
    let omega = omega_squared.sqrt();
    let half = math::sin(0.5 * omega * t);
    speed_m_s * math::sin(omega * t) / omega + acceleration_m_s2 * 2.0 * half * half / omega_squared
}

/// The way of a mechanism through one access or several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Way {
    /// Metres of one unit of the mechanism's places.
    pub unit_m: f64,
    /// Along x, one after another.
    pub x: Vec<Leg>,
    /// Along y.
    pub y: Vec<Leg>,
}

impl Way {
    /// From place to place in a straight line at one speed, both in units of the mechanism, and then stays there.
    pub fn straight(from: (i32, i32), to: (i32, i32), lasts: Span) -> Way {
        let lasts_s = lasts.as_seconds();
        let leg = |from: i32, to: i32| {
            let speed_m_s = if lasts_s > 0.0 { f64::from(to - from) / lasts_s } else { 0.0 };
            let at_m = if lasts_s > 0.0 { from } else { to };
            let motion = Motion::Steady { speed_m_s };
            vec![Leg { at_m: f64::from(at_m), natural_s: lasts_s, lasts_s, motion }]
        };
        Way { unit_m: 1.0, x: leg(from.0, to.0), y: leg(from.1, to.1) }
    }

    /// Where it is so long after it has set out, in units of the mechanism; at the end it stays.
    pub fn at(&self, after: Span) -> (f64, f64) {
        let after_s = after.as_seconds();
        (along(&self.x, after_s) / self.unit_m, along(&self.y, after_s) / self.unit_m)
    }
}

fn along(legs: &[Leg], mut after_s: f64) -> f64 {
    let Some((last, before)) = legs.split_last() else { return 0.0 };
    for leg in before {
        if after_s < leg.lasts_s {
            return leg.at(after_s);
        }
        after_s -= leg.lasts_s;
    }
    last.at(after_s)
}
