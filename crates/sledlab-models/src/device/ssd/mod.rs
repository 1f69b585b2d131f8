//! Flash behind a controller (a solid-state drive): no moving parts, and many pages are served at once.
//!
//! `allocation` gives pages to dies, `pages` maps them to blocks and collects garbage. `lines` times the steps of each
//! page on dies, channels and the bus in order of arrival, `controller` in an order that it chooses; `drive` puts them
//! behind a queue of commands.

mod allocation;
mod controller;
mod drive;
mod lines;
mod pages;
mod params;
mod ranks;
mod steady;

use sledlab_core::Result;

pub use self::params::SsdParams;

use self::drive::Drive;
use super::{Device, Model, PositioningParts, States};

impl Model for SsdParams {
    const NAME: &'static str = "ssd";
    const MEANING: &'static str = "flash: dies on channels, a map of pages, garbage collection";
    const STATES: States = States {
        active: "Access: commands are in the device. Idle: none is, ready at once.",
        inactive_parameter: None,
        inactive: &[("inactive", "powered down, data retained; the next request waits for the start-up.")],
    };
    const POSITIONING: PositioningParts = PositioningParts::NONE;
    const REMEMBERS_WRITES: bool = true;
    const PRESETS: &'static [(&'static str, &'static str)] = &[
        ("ssd-tlc", include_str!("../../../presets/devices/ssd-tlc.toml")),
        ("nvme-tlc", include_str!("../../../presets/devices/nvme-tlc.toml")),
    ];

    fn device(&self) -> Result<Box<dyn Device>> {
        Ok(Box::new(Drive::new(self)?))
    }

    fn idle_timeout_ms(&self) -> f64 {
        self.idle_timeout_ms
    }
}

#[cfg(test)]
mod tests;
