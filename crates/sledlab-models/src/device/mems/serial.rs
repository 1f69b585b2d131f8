//! The plain pipeline: command overhead, then the mechanism, one request after another.

use sledlab_core::{Result, Span, Time};

use super::params::MemsParams;
use super::unit::{Service, SledUnit};
use crate::device::{BusyPeriod, Device, IdleOutcome, Mechanics, QueuedRequest, ServedRequest, Timing};
use crate::power::{MechanicalWork, RequestEnergy};

/// A sled whose commands and data wait for the mechanism only, never for a bus.
#[derive(Debug)]
pub struct Serial {
    unit: SledUnit,
    overhead: Span,
    charges_energy: bool,
}

impl Serial {
    /// A sled inactive at its center.
    pub fn new(params: &MemsParams) -> Result<Self> {
        let overhead = Span::from_ms(params.command_overhead_ms);
        Ok(Serial { unit: SledUnit::new(params)?, overhead, charges_energy: true })
    }
}

impl Device for Serial {
    fn mechanics(&self) -> &dyn Mechanics {
        &self.unit
    }

    fn probe(&self, _now: Time, request: &QueuedRequest) -> Timing {
        Timing { overhead: self.overhead, ..self.unit.serve(request).timing }
    }

    fn issue(
        &mut self,
        now: Time,
        batch: &[QueuedRequest],
        served: &mut Vec<ServedRequest>,
    ) -> Option<BusyPeriod> {
        if batch.len() > 1 {
            return Some(self.unit.serve_batch(now, self.overhead, batch, served));
        }
        let Some(request) = batch.first() else {
            return Some(BusyPeriod { until: now, work: MechanicalWork::default() });
        };
        let Service { timing, mut work, end, max_tips } = self.unit.serve(request);
        let timing = Timing { overhead: self.overhead, ..timing };
        self.unit.spot = end;
        self.unit.max_tips = max_tips;
        // The sled is powered while it waits for the command.
        work.seek += self.overhead;
        let completion = now + timing.service();
        let energy =
            if self.charges_energy { self.unit.rates().energy(&work) } else { RequestEnergy::default() };
        served.push(ServedRequest {
            request: *request,
            start: now,
            completion,
            write_behind: Span::ZERO,
            timing,
            energy,
            device: Some(0),
        });
        Some(BusyPeriod { until: completion, work })
    }

    fn disable_energy(&mut self) {
        self.charges_energy = false;
    }

    fn end_idle_period(&mut self, outcome: IdleOutcome) {
        self.unit.end_idle_period(outcome);
    }
}

#[cfg(test)]
mod tests {
    use sledlab_core::Op;

    use super::*;
    use crate::device::mems::params::{DirectionTie, IdlePower};

    fn request(lbn: u64, blocks: u32) -> QueuedRequest {
        QueuedRequest {
            id: 0,
            arrival: Time::ZERO,
            queue_time: Time::ZERO,
            lbn,
            blocks,
            op: Op::Read,
            ..QueuedRequest::default()
        }
    }

    #[test]
    fn idle_sled_draws_power_of_its_model() {
        let idle_mw = |idle_power| {
            let mut device = Serial::new(&MemsParams { idle_power, ..MemsParams::default() }).unwrap();
            // 16 blocks need 1024 tips, as many as the mean request of the trace in Lin.
            device.issue(Time::ZERO, &[request(3_376_360, 16)], &mut Vec::new());
            device.mechanics().idle_mw()
        };
        assert!((150.0..170.0).contains(&idle_mw(IdlePower::ServoLoop)));
        assert!((idle_mw(IdlePower::SledOnly) - 100.0).abs() < 1e-9);
        assert!((idle_mw(IdlePower::Full) - 1124.0).abs() < 1e-9);
    }

    #[test]
    fn tips_that_write_may_take_more_power() {
        let energy_and_time = |op, tip_write_factor| {
            let mut device = Serial::new(&MemsParams { tip_write_factor, ..MemsParams::default() }).unwrap();
            let mut served = Vec::new();
            let busy =
                device.issue(Time::ZERO, &[QueuedRequest { op, ..request(77, 3) }], &mut served).unwrap();
            (served[0].energy.access_uj, busy.work.access.as_ns() as f64 * 1e-6)
        };
        // 3 blocks: 192 tips of 1 mW, and 100 mW of the sled. Of the 90 bits of a row 10 are servo bits, which are
        // read.
        let writing_mw = 100.0 + 192.0 * (10.0 + 5.0 * 80.0) / 90.0;
        for (op, factor, mw) in
            [(Op::Read, 5.0, 292.0), (Op::Write, 1.0, 292.0), (Op::Write, 5.0, writing_mw)]
        {
            let (access_uj, access_ms) = energy_and_time(op, factor);
            assert!((access_uj - mw * access_ms).abs() < 1e-3, "{op:?}, {factor}");
        }
    }

    #[test]
    fn ties_prefer_current_direction_or_down() {
        let reposition = |direction_tie| {
            let device = Serial::new(&MemsParams { direction_tie, ..MemsParams::default() }).unwrap();
            // Two complete rows of a far column, so that x takes longer than y in both directions.
            device.probe(Time::ZERO, &request(13 * 20, 40)).reposition
        };
        assert_eq!(reposition(DirectionTie::Onward), Span::ZERO);
        assert!(reposition(DirectionTie::Down) > Span::ZERO);
    }
}
