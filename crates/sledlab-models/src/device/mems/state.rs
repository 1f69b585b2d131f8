//! Where a sled is, and in which direction it moves.

use crate::device::DeviceState;

/// Position and direction of a sled, at rest between accesses or moving at access velocity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SledState {
    /// Displacement in x, in bits from the center.
    pub x_bit: i32,
    /// Displacement in y, in bits from the center.
    pub y_bit: i32,
    /// Direction of motion in y: +1 or -1.
    pub direction: i8,
}

impl From<SledState> for DeviceState {
    #[inline]
    fn from(SledState { x_bit, y_bit, direction }: SledState) -> Self {
        DeviceState { x: x_bit, y: y_bit, direction, ..DeviceState::ORIGIN }
    }
}

impl From<DeviceState> for SledState {
    #[inline]
    fn from(DeviceState { x, y, direction, .. }: DeviceState) -> Self {
        SledState { x_bit: x, y_bit: y, direction }
    }
}
