//! Seek-time maps (AN-01): the positioning time from one state of a mechanism to all of its places.

use sledlab_core::Result;

use super::DeviceState;

/// Positioning times from one state to the start of every row of every column.
#[derive(Clone, Debug)]
pub struct SeekMap {
    /// x of each column, in bits from the centre.
    pub x_bit: Vec<i32>,
    /// y of the centre of each row, in bits from the centre.
    pub y_bit: Vec<i32>,
    /// Milliseconds, row by row: `ms[row * x_bit.len() + column]`.
    pub ms: Vec<f64>,
    /// From a column to the next at the centre, in x alone, settled, in ms (AN-03).
    pub next_column_ms: f64,
    /// From the first column to the last, in x alone, settled, in ms (AN-03).
    pub full_stroke_ms: f64,
}

/// The map from a state of a device with these parameters.
///
/// # Errors
/// A state that the mechanism cannot be in, parameters that make no sense together, and what the last argument returns,
/// which is asked before every step.
pub type Mapping<Params> = fn(&Params, DeviceState, &mut dyn FnMut() -> Result<()>) -> Result<SeekMap>;
