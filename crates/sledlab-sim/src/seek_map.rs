//! Seek-time map of a sled (AN-01): the positioning time from one place to all others.

use sledlab_core::{Error, Result, Span};
use sledlab_models::device::mems::geometry::Geometry;
use sledlab_models::device::mems::{SledState, positioning_times};
use sledlab_models::device::preset::{DeviceFile, DeviceParams};

/// Positioning times from one state of the sled to the start of every row of every column.
#[derive(Clone, Debug)]
pub struct SeekMap {
    /// x of each column, in bits from the centre.
    pub x_bit: Vec<i32>,
    /// y of the centre of each row, in bits from the centre.
    pub y_bit: Vec<i32>,
    /// Milliseconds, row by row: `ms[row * x_bit.len() + column]`.
    pub ms: Vec<f64>,
}

/// The map from `from`.
///
/// # Errors
/// A start outside the reach of the sled, or a device that is no sled; and what `watch` returns, which is asked
/// before every step.
pub fn seek_map(
    device: &DeviceFile,
    from: SledState,
    watch: &mut dyn FnMut() -> Result<()>,
) -> Result<SeekMap> {
    let DeviceParams::Mems(params) = &device.params else {
        let kind = device.params.kind();
        return Err(Error::user(format!("a seek map shows where a sled goes; this device is a {kind}"))
            .with_remedy("choose a device of kind `mems`: `sledlab device list` shows all"));
    };
    let geometry = Geometry::new(params)?;
    let x_bit: Vec<i32> = (0..geometry.cylinders).map(|cylinder| geometry.x_bit(cylinder)).collect();
    let half_y = (params.travel_y_um * 1e3 / params.bit_nm / 2.0).ceil() as i32;
    if !x_bit.contains(&from.x_bit) || from.y_bit.abs() > half_y || from.direction.abs() != 1 {
        return Err(Error::user(format!("the sled cannot be at x = {}, y = {}", from.x_bit, from.y_bit))
            .with_remedy(format!(
                "choose x from {} to {}, y from -{half_y} to {half_y}, direction 1 or -1",
                x_bit[0],
                x_bit[x_bit.len() - 1]
            )));
    }
    let y_bit = (0..geometry.rows)
        .map(|row| i32::midpoint(geometry.up_start(row), geometry.down_start(row)))
        .collect();
    let ms = positioning_times(params, from, watch)?.into_iter().map(Span::as_ms).collect();
    Ok(SeekMap { x_bit, y_bit, ms })
}
