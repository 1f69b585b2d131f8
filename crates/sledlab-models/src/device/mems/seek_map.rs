//! Seek-time maps of a sled.

use sledlab_core::{Error, Result};

use super::MemsParams;
use super::geometry::Geometry;
use super::params::Selection;
use super::sled::Sled;
use super::state::SledState;
use crate::device::{DeviceState, SeekMap};

/// The positioning times from a state to the start of every row of every column.
///
/// # Errors
/// A state outside the travel of the sled, parameters that contradict each other, and errors of `watch`, which is
/// called before every position.
pub fn seek_map(
    params: &MemsParams,
    from: DeviceState,
    watch: &mut dyn FnMut() -> Result<()>,
) -> Result<SeekMap> {
    let from = SledState::from(from);
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
    // The map shows the mechanics, not the estimates by which schedulers choose.
    let selection = match params.selection {
        Selection::Curve | Selection::Ratio => Selection::Exact,
        known => known,
    };
    let sled = Sled::new(&MemsParams { selection, ..params.clone() })?;
    let places = (0..geometry.rows).flat_map(|row| (0..geometry.cylinders).map(move |x| (row, x)));
    let ms = places
        .map(|(row, cylinder)| watch().map(|()| sled.positioning_at(from, row, cylinder).as_ms()))
        .collect::<Result<_>>()?;
    let (first, last) = (x_bit[0], x_bit[x_bit.len() - 1]);
    let next_column_ms = sled.x_time(0, last.min(1)).as_ms();
    let full_stroke_ms = sled.x_time(first, last).as_ms();
    Ok(SeekMap { x_bit, y_bit, ms, next_column_ms, full_stroke_ms })
}
