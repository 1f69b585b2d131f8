//! Seek-time maps: the positioning times from one state of a mechanism to all of its positions.

use sledlab_core::Result;

use super::DeviceState;

/// Positioning times from one state to the start of every row of every column.
#[derive(Clone, Debug)]
pub struct SeekMap {
    /// x of each column, in bits from the center.
    pub x_bit: Vec<i32>,
    /// y of the center of each row, in bits from the center.
    pub y_bit: Vec<i32>,
    /// Positioning times in ms, row by row: `ms[row * x_bit.len() + column]`.
    pub ms: Vec<f64>,
    /// Time from a column at the center to the next, in x alone, with settling, in ms.
    pub next_column_ms: f64,
    /// Time from the first column to the last, in x alone, with settling, in ms.
    pub full_stroke_ms: f64,
}

/// The map from a state of a device with these parameters.
///
/// # Errors
/// A state that the mechanism cannot be in, parameters that contradict each other, and errors of the last argument,
/// which is called before every position.
pub type Mapping<Params> = fn(&Params, DeviceState, &mut dyn FnMut() -> Result<()>) -> Result<SeekMap>;
