//! A MEMS sled: a spring-mounted media sled moving in x and y under fixed probe tips.

mod address;
pub mod axis;
mod bus;
mod costs;
mod estimate;
mod faulty_sled;
pub mod geometry;
pub mod import;
mod interleaved_sled;
pub mod kinematics;
pub mod layout;
mod mechanics;
pub mod params;
pub mod path;
mod position_index;
mod presets;
mod row_table;
mod seek_map;
mod serial;
mod shared_pass;
mod shared_sled;
mod sled;
mod state;
mod tips;
mod unit;
mod units;

use sledlab_core::Result;

pub use address::AddressMap;
pub use interleaved_sled::InterleavedSled;
pub use params::MemsParams;
pub use serial::Serial;
pub use state::SledState;

use self::faulty_sled::FaultySled;
use self::params::Pipeline;
use self::shared_sled::SharedSled;
use self::tips::Tips;
use super::disksim::{Importer, file_name};
use super::{Device, Mapping, Model, PositioningParts, States, Units};

/// The device that `params` describe: one sled, or several that move together.
pub fn build(params: &MemsParams) -> Result<Box<dyn Device>> {
    let device: Box<dyn Device> = match params.pipeline {
        Pipeline::Serial => Box::new(Serial::new(params)?),
        Pipeline::Interleaved => Box::new(InterleavedSled::new(params)?),
    };
    Ok(match Tips::new(params)? {
        None => device,
        Some(tips) => Box::new(FaultySled::new(device, SharedSled::from_cache(params)?, tips)),
    })
}

impl Model for MemsParams {
    const NAME: &'static str = "mems";
    const MEANING: &'static str = "a media sled that moves in x and y under fixed probe tips";
    const STATES: States = States {
        active: "Seek: the sled moves, tips off. Access: tips read or write. Idle: keeps moving, ready at once.",
        inactive_parameter: None,
        inactive: &[("inactive", "parked; the next request waits for the start-up.")],
    };
    const POSITIONING: PositioningParts = PositioningParts {
        meaning: "within positioning: x and y move at once, the slower counts",
        parts: &[
            ("seek in x", "seek_x"),
            ("settle", "settle"),
            ("seek in y", "seek_y"),
            ("turnarounds", "turnaround"),
        ],
    };
    const PRESETS: &'static [(&'static str, &'static str)] = presets::PRESETS;
    const IMPORTER: Option<Importer> = Some(Importer {
        block: import::BLOCK,
        import: |file, name| {
            let sled = import::import(file, name)?;
            Ok((sled.to_toml(&file_name(file.path())), sled.remarks))
        },
    });
    const SEEK_MAP: Option<Mapping<Self>> = Some(seek_map::seek_map);

    fn device(&self) -> Result<Box<dyn Device>> {
        build(self)
    }

    fn idle_timeout_ms(&self) -> f64 {
        self.idle_timeout_ms
    }

    fn units(&self) -> Result<Option<Units>> {
        units::units(self)
    }
}
