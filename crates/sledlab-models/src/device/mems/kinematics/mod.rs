//! How long the sled takes to move along one axis.

mod angle;
mod disksim_closed_form;
mod disksim_piecewise;
mod exact;
mod piecewise;
mod root_angle;

use sledlab_core::{Error, Result};

pub use disksim_closed_form::DisksimClosedForm;
pub use disksim_piecewise::DisksimPiecewise;
pub use exact::Exact;
pub use piecewise::Piecewise;

use super::axis::Axis;
use super::params::{KinematicsKind, MemsParams};

/// When a turnaround happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnaroundTime {
    /// Before the base seek.
    Start,
    /// After the base seek.
    End,
}

/// Seek and turnaround times along one axis.
///
/// Positions are meters from the rest position, within half the travel. Times are seconds, finite
/// and not negative.
pub trait Kinematics: Send + Sync + std::fmt::Debug {
    /// Base seek from `from_m` to `to_m` with `speed_m_s` >= 0 at both ends, in the direction of travel; without
    /// settling and turnarounds. Zero over no distance.
    fn base_seek_s(&self, axis: &Axis, from_m: f64, to_m: f64, speed_m_s: f64) -> f64;

    /// Time to reverse the velocity at `at_m`; `direction` (+1 or -1) is the direction before the turn.
    fn turnaround_s(
        &self,
        axis: &Axis,
        at_m: f64,
        speed_m_s: f64,
        direction: f64,
        turn: TurnaroundTime,
    ) -> f64;

    /// Whether the sled takes two turnarounds to come back to the same y in the same `direction` (+1 or -1) while x
    /// seeks. A real sled has to, as it cannot wait at speed.
    fn loops(&self, direction: f64) -> bool;

    /// Whether the base seek from rest to rest never gets shorter with distance on either side of
    /// the start, also in rounded nanoseconds. The position index relies on it.
    fn is_monotone(&self) -> bool;
}

/// The kinematics called `kind`. The chunks of `piecewise` are the only parameter used.
///
/// `disksim-closed` without a spring is an error of the user: its form has no limit there.
pub fn build(kind: KinematicsKind, params: &MemsParams) -> Result<Box<dyn Kinematics>> {
    Ok(match kind {
        KinematicsKind::Exact => Box::new(Exact),
        KinematicsKind::Piecewise => {
            Box::new(Piecewise::new(u32::try_from(params.piecewise_chunks).unwrap_or(u32::MAX)))
        }
        KinematicsKind::DisksimPiecewise => Box::new(DisksimPiecewise),
        KinematicsKind::DisksimClosed if params.spring_factor == 0.0 => {
            return Err(Error::user("kinematics `disksim-closed` is not defined for spring_factor = 0")
                .with_remedy("choose `exact` or `disksim-piecewise`, or a spring_factor above 0"));
        }
        KinematicsKind::DisksimClosed => Box::new(DisksimClosedForm),
    })
}

/// A place along y and the direction of motion there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heading {
    /// Position in meters from the center.
    pub position_m: f64,
    /// +1 upwards, -1 downwards.
    pub direction: f64,
}

/// The parts of a move in y.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct YTime {
    /// Base seek.
    pub base_s: f64,
    /// All turnarounds.
    pub turnaround_s: f64,
    /// Number of turnarounds.
    pub turns: u32,
}

impl YTime {
    /// Returns the entire move.
    pub fn total_s(&self) -> f64 {
        self.base_s + self.turnaround_s
    }
}

/// Time of a move in y that starts and ends at `speed_m_s` with the given directions.
///
/// The sled turns before the move if it heads away from the target, and after the move if it must head in the opposite
/// direction at the target. A target at the same y counts as below. At the same y and in the same direction the move
/// takes no time, unless `x_changes`: then the sled passes the place while x seeks and must [loop](Kinematics::loops)
/// to come back.
pub fn y_time(
    kinematics: &dyn Kinematics,
    axis: &Axis,
    speed_m_s: f64,
    from: Heading,
    to: Heading,
    x_changes: bool,
) -> YTime {
    let in_place = from == to;
    if in_place && !(x_changes && kinematics.loops(from.direction)) {
        return YTime::default();
    }
    let travel = match to.position_m > from.position_m {
        _ if in_place => -from.direction,
        true => 1.0,
        false => -1.0,
    };
    let mut time = YTime {
        base_s: kinematics.base_seek_s(axis, from.position_m, to.position_m, speed_m_s),
        ..YTime::default()
    };
    if from.direction * travel < 0.0 {
        time.turnaround_s +=
            kinematics.turnaround_s(axis, from.position_m, speed_m_s, from.direction, TurnaroundTime::Start);
        time.turns += 1;
    }
    if to.direction * travel < 0.0 {
        time.turnaround_s +=
            kinematics.turnaround_s(axis, to.position_m, speed_m_s, travel, TurnaroundTime::End);
        time.turns += 1;
    }
    time
}
