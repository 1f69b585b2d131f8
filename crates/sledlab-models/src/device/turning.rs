//! Where a request lies on its circle, on a device that turns.

use sledlab_core::Time;

/// A request on a circle that turns at a constant speed; angles in turns from the index mark, which is under the head
/// at time 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turning {
    /// How long a turn takes, in ns.
    pub turn_ns: f64,
    /// Where its first block begins: 0 or more, less than 1.
    pub begin: f64,
    /// How far its blocks reach from there, as far as they follow one another on the track.
    pub length: f64,
}

impl Turning {
    /// What is under the head at an instant; good to a millionth of a turn in a run of years.
    pub fn under_head(&self, at: Time) -> f64 {
        (at.as_ns() as f64 / self.turn_ns).fract()
    }
}
