//! The plain pipeline: command overhead, then the mechanism, one request after another.

use sledlab_core::{Result, Span, Time};

use super::params::MemsParams;
use super::unit::SledUnit;
use crate::device::{Busy, Device, DeviceState, PositionIndex, Queued, Rest, Served, Timing, Work};
use crate::power::PowerRates;

/// A sled whose commands and data wait for nothing but the mechanism.
#[derive(Debug)]
pub struct Serial {
    unit: SledUnit,
    overhead: Span,
}

impl Serial {
    /// A sled inactive at its centre.
    pub fn new(params: &MemsParams) -> Result<Self> {
        Ok(Serial { unit: SledUnit::new(params)?, overhead: Span::from_ms(params.command_overhead_ms) })
    }
}

impl Device for Serial {
    fn capacity_blocks(&self) -> u64 {
        self.unit.sled.capacity_blocks()
    }

    fn positioning(&self, request: &Queued) -> Span {
        self.unit.positioning(request)
    }

    fn distance(&self, request: &Queued) -> u64 {
        self.unit.distance(request)
    }

    fn ties_to_lowest_lbn(&self) -> bool {
        self.unit.sled.ties_to_lowest_lbn()
    }

    fn probe(&self, request: &Queued) -> Timing {
        Timing { overhead: self.overhead, ..self.unit.serve(request).0 }
    }

    fn issue(&mut self, now: Time, batch: &[Queued], served: &mut Vec<Served>) -> Option<Busy> {
        let mut busy = Busy { until: now, work: Work::default() };
        for request in batch {
            let (timing, work, then) = self.unit.serve(request);
            let timing = Timing { overhead: self.overhead, ..timing };
            self.unit.at = then;
            self.unit.note_tips(request);
            busy.work += work;
            // The sled is powered while it waits for the command.
            busy.work.seek += self.overhead;
            let start = busy.until;
            busy.until += timing.service();
            served.push(Served { request: *request, start, completion: busy.until, timing });
        }
        Some(busy)
    }

    fn rest(&mut self, rest: Rest) {
        self.unit.rest(rest);
    }

    fn power_rates(&self) -> PowerRates {
        self.unit.rates()
    }

    fn idle_mw(&self) -> f64 {
        self.unit.idle_mw()
    }

    fn state(&self) -> DeviceState {
        DeviceState::Sled(self.unit.at.state)
    }

    fn position_index(&self) -> Option<Box<dyn PositionIndex>> {
        self.unit.position_index()
    }
}
