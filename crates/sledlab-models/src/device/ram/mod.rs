//! Memory that keeps its contents: all blocks take equally long to reach.

use sledlab_core::{BLOCK_BYTES, Error, Result, Span};

use super::{
    Device, DeviceState, Model, PositioningParts, QueuedRequest, ServedRequest, SimpleAdapter, SimpleDevice,
    States, Timing,
};
use crate::power::PowerRates;

/// Bytes of a megabyte, in capacities and in rates.
const MB: u64 = 1_000_000;

sledlab_core::params! {
    /// Memory behind a bus.
    pub struct RamParams {
        /// Capacity, in 10^6 bytes.
        capacity_mb: u64 = 4096_u64, "MB", 1..1e9;
        /// Time of an access, whatever its size.
        access_us: f64 = 1.0, "us", 0.0..1e6;
        /// Rate at which the bus moves blocks, in 10^6 bytes per second.
        bus_mb_s: f64 = 133.0, "MB/s", 1e-3..1e6;
        /// Power while no request is served.
        idle_mw: f64 = 500.0, "mW", 0.0..1e6;
        /// Power while a request is served.
        active_mw: f64 = 1000.0, "mW", 0.0..1e6;
    }
}

impl Model for RamParams {
    const NAME: &'static str = "ram";
    const MEANING: &'static str = "memory behind a bus, without positioning";
    const STATES: States = States {
        active: "Access: a request is served. Idle: data is retained, ready at once.",
        inactive_parameter: None,
        inactive: &[("inactive", "the same as Idle: this device cannot park.")],
    };
    const POSITIONING: PositioningParts = PositioningParts::NONE;
    const PRESETS: &'static [(&'static str, &'static str)] =
        &[("ram", include_str!("../../../presets/devices/ram.toml"))];

    fn device(&self) -> Result<Box<dyn Device>> {
        Ok(Box::new(SimpleAdapter::new(Ram::new(self))))
    }

    /// A timeout longer than any idle period of a run, as memory cannot park.
    fn idle_timeout_ms(&self) -> f64 {
        1e9
    }
}

/// Memory that serves one request after another.
#[derive(Clone, Debug)]
pub struct Ram {
    capacity_blocks: u64,
    access: Span,
    block_ns: f64,
    idle_mw: f64,
    active_mw: f64,
}

impl Ram {
    /// Idle memory.
    pub fn new(params: &RamParams) -> Self {
        Ram {
            capacity_blocks: params.capacity_mb * MB / BLOCK_BYTES,
            access: Span::from_ms(params.access_us / 1e3),
            block_ns: BLOCK_BYTES as f64 * 1e3 / params.bus_mb_s,
            idle_mw: params.idle_mw,
            active_mw: params.active_mw,
        }
    }
}

impl SimpleDevice for Ram {
    fn capacity_blocks(&self) -> u64 {
        self.capacity_blocks
    }

    fn serve(&self, state: DeviceState, request: &QueuedRequest) -> (Timing, DeviceState) {
        let ns = (self.block_ns * f64::from(request.blocks)).round() as u64;
        (Timing { overhead: self.access, transfer: Span::from_ns(ns), ..Timing::default() }, state)
    }

    fn power_rates(&self) -> PowerRates {
        // Memory has nothing to stop: parked, it draws as much power as idle.
        PowerRates {
            active_mw: self.active_mw,
            startup_mw: self.active_mw,
            inactive_mw: self.idle_mw,
            startup: Span::ZERO,
            ..PowerRates::default()
        }
    }

    fn idle_mw(&self) -> f64 {
        self.idle_mw
    }

    fn on_completion(&mut self, _served: &ServedRequest) {}

    fn failure(&mut self) -> Option<Error> {
        None
    }
}

#[cfg(test)]
mod tests {
    use sledlab_core::Time;
    use sledlab_core::params::Params;

    use super::*;

    #[test]
    fn a_request_costs_an_access_and_its_transfer() {
        let params = RamParams { capacity_mb: 4, bus_mb_s: 256.0, active_mw: 1000.0, ..RamParams::default() };
        let mut ram = params.device().unwrap();
        assert_eq!(ram.mechanics().capacity_blocks(), 7812);
        let request = |lbn, blocks| QueuedRequest { lbn, blocks, ..QueuedRequest::default() };
        let (near, far) = (request(0, 1), request(7800, 8));
        assert_eq!(ram.mechanics().positioning(&far), Span::ZERO);
        let mut served = Vec::new();
        let busy = ram.issue(Time::from_ns(100), &[near, far], &mut served).unwrap();
        // A request takes 1 us and 2 us for each block, one request after the other.
        assert_eq!(served[0].completion, Time::from_ns(3100));
        assert_eq!((served[1].start, served[1].completion), (Time::from_ns(3100), Time::from_ns(20_100)));
        assert_eq!(served[1].timing, ram.probe(Time::ZERO, &far));
        assert_eq!((busy.until, busy.work.busy_time()), (served[1].completion, Span::from_ns(20_000)));
        assert!((served[1].energy.total_uj() - 17.0).abs() < 1e-9);
    }

    #[test]
    fn refuses_numbers_that_make_no_sense() {
        let message =
            |text: &str| RamParams::from_table("device", &text.parse().unwrap()).unwrap_err().to_string();
        assert!(message("capacity_mb = 0").contains("device.capacity_mb = 0 MB is out of range"));
        assert!(message("bus_mb_s = 0").contains("device.bus_mb_s = 0 MB/s is out of range"));
        assert!(message("acess_us = 1").contains("did you mean `device.access_us`?"));
    }
}
