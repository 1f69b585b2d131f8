//! The arc of a request on a rotating platter.

use sledlab_core::Time;

/// The arc of a request on a platter that turns at a constant speed; angles are in turns from the index mark, which
/// is under the head at time 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RotationalArc {
    /// Time of a turn, in ns.
    pub turn_ns: f64,
    /// Angle at which the request's first block begins: 0 or more, less than 1.
    pub begin: f64,
    /// Angle that its blocks cover from there, as far as they follow one another on the track.
    pub length: f64,
}

impl RotationalArc {
    /// The angle that is under the head at an instant; exact to a millionth of a turn in a run of years.
    pub fn head_angle(&self, at: Time) -> f64 {
        (at.as_ns() as f64 / self.turn_ns).fract()
    }
}
