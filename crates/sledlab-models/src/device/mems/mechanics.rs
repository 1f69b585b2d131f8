//! What schedulers and power policies may know of a sled.

use sledlab_core::Span;

use super::position_index::{ScoreIndex, SledIndex};
use super::unit::SledUnit;
use crate::device::{Aim, DeviceState, Extent, Location, Mechanics, PositionIndex, Queued, Timing};
use crate::power::PowerRates;

impl Mechanics for SledUnit {
    fn capacity_blocks(&self) -> u64 {
        self.sled.capacity_blocks()
    }

    fn state(&self) -> DeviceState {
        DeviceState::Sled(self.at.state)
    }

    fn location(&self, lbn: u64) -> Location {
        let place = self.sled.place(lbn);
        Location {
            cylinder: place.cylinder,
            row: place.row,
            x_bit: self.sled.x_bit(place),
            up_bit: self.sled.geometry.start(place.row, 1),
            down_bit: self.sled.geometry.start(place.row, -1),
        }
    }

    fn extent(&self) -> Extent {
        let geometry = &self.sled.geometry;
        Extent {
            cylinders: geometry.cylinders,
            rows: geometry.rows,
            blocks_per_track: geometry.blocks_per_track.into(),
        }
    }

    fn blocks_at_once(&self) -> u32 {
        self.sled.widest_pass()
    }

    fn positioning_from(&self, state: DeviceState, request: &Queued) -> Span {
        self.sled.positioning(state.sled(), request.lbn)
    }

    fn positioning(&self, request: &Queued) -> Span {
        self.positioning_from(self.state(), request)
    }

    fn distance(&self, request: &Queued) -> u64 {
        let x_bit = self.sled.x_bit(self.sled.place(request.lbn));
        u64::from(x_bit.abs_diff(self.at.state.x_bit))
    }

    fn ties_to_lowest_lbn(&self) -> bool {
        self.sled.ties_to_lowest_lbn()
    }

    fn serve_from(&self, state: DeviceState, request: &Queued) -> (Timing, DeviceState) {
        let (timing, _, then) = self.serve_at(self.sled.spot(state.sled()), request);
        (timing, DeviceState::Sled(then.state))
    }

    fn joins(&self, batch: &[Queued], candidate: &Queued) -> bool {
        self.serves_together && self.sled.joins(batch, candidate)
    }

    fn position_index(&self, aim: &Aim) -> Option<Box<dyn PositionIndex>> {
        match aim {
            Aim::Time | Aim::Distance => {
                let index = SledIndex::new(&self.sled, matches!(aim, Aim::Distance))?;
                Some(Box::new(index))
            }
            Aim::Score(score) => Some(Box::new(ScoreIndex::new(&self.sled, score.clone())?)),
        }
    }

    fn snapshot(&self) -> Box<dyn Mechanics> {
        Box::new(self.clone())
    }

    fn power_rates(&self) -> PowerRates {
        self.rates()
    }

    fn idle_mw(&self) -> f64 {
        self.idle_power_mw()
    }
}
