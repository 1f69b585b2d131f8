//! A MEMS sled: a spring-mounted media sled moving in x and y under fixed probe tips.

mod address;
pub mod axis;
mod bus;
pub mod geometry;
pub mod import;
mod interleaved;
mod joint;
pub mod kinematics;
pub mod layout;
mod mechanics;
pub mod params;
mod position_index;
mod row_table;
mod serial;
mod sled;
mod unit;

use sledlab_core::{Result, Span};

pub use address::AddressMap;
pub use interleaved::Interleaved;
pub use params::MemsParams;
pub use serial::Serial;
pub use sled::SledState;

use self::params::Pipeline;
use super::Device;

/// The device that `params` describe: one sled, or several that move together.
pub fn build(params: &MemsParams) -> Result<Box<dyn Device>> {
    Ok(match params.pipeline {
        Pipeline::Serial => Box::new(Serial::new(params)?),
        Pipeline::Interleaved => Box::new(Interleaved::new(params)?),
    })
}

/// Positioning times from `state` to the row starts of every column, row by row (`row * cylinders + cylinder`).
///
/// # Errors
/// Parameters that make no sense together, and what `watch` returns, which is asked before every step.
pub fn positioning_times(
    params: &MemsParams,
    state: SledState,
    watch: &mut dyn FnMut() -> Result<()>,
) -> Result<Vec<Span>> {
    let sled = sled::Sled::new(params)?;
    let places = (0..sled.geometry.rows).flat_map(|row| (0..sled.geometry.cylinders).map(move |x| (row, x)));
    places.map(|(row, cylinder)| watch().map(|()| sled.positioning_at(state, row, cylinder))).collect()
}
