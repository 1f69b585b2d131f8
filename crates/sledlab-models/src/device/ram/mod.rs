//! Memory that keeps its contents (DM-15): all blocks take equally long to reach.

use sledlab_core::{BLOCK_BYTES, Error, Result, Span, Time};

use super::{
    Aim, Busy, Device, DeviceState, Extent, FaultCounts, Location, MechanicalWork, Mechanics, Model,
    PositionIndex, Positioning, QueueOrder, Queued, Rest, Served, States, Timing,
};
use crate::power::PowerRates;

/// Bytes of a megabyte, in capacities and in rates.
const MB: u64 = 1_000_000;

sledlab_core::params! {
    /// Memory behind a bus (DM-15).
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
        awake: "Access: a request is served. Idle: contents are kept, ready at once.",
        rest: None,
        asleep: &[("inactive", "the same, for nothing can be parked.")],
    };
    const POSITIONING: Positioning = Positioning::NONE;
    const PRESETS: &'static [(&'static str, &'static str)] =
        &[("ram", include_str!("../../../presets/devices/ram.toml"))];

    fn device(&self) -> Result<Box<dyn Device>> {
        Ok(Box::new(Ram::new(self)))
    }

    /// A timeout longer than any rest of a run, as memory has nothing to park.
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

    fn transfer(&self, request: &Queued) -> Timing {
        let ns = (self.block_ns * f64::from(request.blocks)).round() as u64;
        Timing { transfer: Span::from_ns(ns), ..Timing::default() }
    }
}

impl Mechanics for Ram {
    fn capacity_blocks(&self) -> u64 {
        self.capacity_blocks
    }

    fn state(&self) -> DeviceState {
        DeviceState::STILL
    }

    fn location(&self, _lbn: u64) -> Location {
        Location::ONLY
    }

    fn extent(&self) -> Extent {
        Extent { cylinders: 1, rows: 1, blocks_per_track: self.capacity_blocks }
    }

    fn blocks_at_once(&self) -> u32 {
        u32::try_from(self.extent().blocks_per_track).unwrap_or(u32::MAX)
    }

    fn positioning_from(&self, _state: DeviceState, _request: &Queued) -> Span {
        Span::ZERO
    }

    fn positioning(&self, request: &Queued) -> Span {
        self.positioning_from(self.state(), request)
    }

    fn tie(&self, _request: &Queued) -> u64 {
        0
    }

    fn queue_order(&self) -> QueueOrder {
        QueueOrder::Arrival
    }

    fn distance_squared(&self, _from: (i32, i32), _lbn: u64) -> u64 {
        0
    }

    fn heeds_time(&self) -> bool {
        false
    }

    fn serve_from(&self, state: DeviceState, request: &Queued) -> (Timing, DeviceState) {
        (self.transfer(request), state)
    }

    fn joins(&self, _batch: &[Queued], _candidate: &Queued) -> bool {
        false
    }

    fn position_index(&self, _aim: &Aim) -> Option<Box<dyn PositionIndex>> {
        None
    }

    fn snapshot(&self) -> Box<dyn Mechanics> {
        Box::new(self.clone())
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
}

impl Device for Ram {
    fn mechanics(&self) -> &dyn Mechanics {
        self
    }

    fn probe(&self, _now: Time, request: &Queued) -> Timing {
        Timing { overhead: self.access, ..self.transfer(request) }
    }

    fn tell_time(&mut self, _now: Time) {}

    fn admit(&mut self, now: Time, _request: &Queued) -> Time {
        now
    }

    fn let_in(&mut self) -> Option<Queued> {
        None
    }

    fn issue(&mut self, now: Time, batch: &[Queued], served: &mut Vec<Served>) -> Option<Busy> {
        let mut busy = Busy { until: now, work: MechanicalWork::default() };
        for request in batch {
            let (start, timing) = (busy.until, self.probe(now, request));
            let work = MechanicalWork { access: timing.service(), ..MechanicalWork::default() };
            busy.work += work;
            busy.until = start + timing.service();
            let energy = self.power_rates().spent(&work);
            let completion = busy.until;
            served.push(Served { request: *request, start, completion, timing, energy, device: Some(0) });
        }
        Some(busy)
    }

    fn takes_more(&self) -> bool {
        false
    }

    fn has_own_work(&self) -> bool {
        false
    }

    fn next_wakeup(&self) -> Option<Time> {
        None
    }

    fn wake(&mut self, _now: Time, _served: &mut Vec<Served>) -> Option<MechanicalWork> {
        None
    }

    fn faults(&self) -> Option<FaultCounts> {
        None
    }

    fn forgo_energy(&mut self) {}

    fn rest(&mut self, _rest: Rest) {}

    fn failure(&mut self) -> Option<Error> {
        None
    }
}

#[cfg(test)]
mod tests {
    use sledlab_core::params::Params;

    use super::*;

    #[test]
    fn a_request_costs_an_access_and_its_transfer() {
        let params = RamParams { capacity_mb: 4, bus_mb_s: 256.0, active_mw: 1000.0, ..RamParams::default() };
        let mut ram = Ram::new(&params);
        assert_eq!(ram.mechanics().capacity_blocks(), 7812);
        let request = |lbn, blocks| Queued { lbn, blocks, ..Queued::default() };
        let (near, far) = (request(0, 1), request(7800, 8));
        assert_eq!(ram.mechanics().positioning(&far), Span::ZERO);
        let mut served = Vec::new();
        let busy = ram.issue(Time::from_ns(100), &[near, far], &mut served).unwrap();
        // A request takes 1 us and 2 us for each block, one request after the other.
        assert_eq!(served[0].completion, Time::from_ns(3100));
        assert_eq!((served[1].start, served[1].completion), (Time::from_ns(3100), Time::from_ns(20_100)));
        assert_eq!(served[1].timing, ram.probe(Time::ZERO, &far));
        assert_eq!((busy.until, busy.work.busy()), (served[1].completion, Span::from_ns(20_000)));
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
