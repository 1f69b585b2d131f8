//! A sled as schedulers and power policies see it.

use sledlab_core::Span;

use super::position_index::{ByDistance, ByScore, ByTime, SledIndex};
use super::unit::{Service, SledUnit};
use crate::device::{
    Aim, DeviceState, Extent, Location, Mechanics, MotionPath, PositionIndex, QueueOrder, QueuedRequest,
    Timing,
};
use crate::power::PowerRates;

impl Mechanics for SledUnit {
    fn capacity_blocks(&self) -> u64 {
        self.sled.capacity_blocks()
    }

    fn state(&self) -> DeviceState {
        self.spot.state.into()
    }

    fn location(&self, lbn: u64) -> Location {
        let place = self.sled.place(lbn);
        let starts = [1, -1].map(|direction| self.sled.geometry.start(place.row, direction));
        Location {
            cylinder: place.cylinder,
            row: place.row,
            x: self.sled.x_bit(place),
            y: i32::midpoint(starts[0], starts[1]),
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

    fn parallel_blocks(&self) -> u32 {
        self.sled.widest_pass()
    }

    fn positioning_from(&self, state: DeviceState, request: &QueuedRequest) -> Span {
        self.sled.positioning(state.into(), request.lbn)
    }

    /// The distance in x; the block number where the device's queue is in order of blocks.
    fn tie_rank(&self, request: &QueuedRequest) -> u64 {
        match self.queue_order() {
            QueueOrder::Arrival => {
                let x_bit = self.sled.x_bit(self.sled.place(request.lbn));
                u64::from(x_bit.abs_diff(self.spot.state.x_bit))
            }
            order @ QueueOrder::Blocks => order.rank(request),
        }
    }

    fn queue_order(&self) -> QueueOrder {
        self.sled.queue_order()
    }

    /// The distance in y is that to the nearer start of the row.
    fn distance_squared(&self, (x, y): (i32, i32), lbn: u64) -> u64 {
        let place = self.sled.place(lbn);
        let to_x = self.sled.x_bit(place).abs_diff(x);
        u64::from(to_x).pow(2) + u64::from(self.sled.geometry.distance_y(y, place.row)).pow(2)
    }

    fn serve_from(&self, state: DeviceState, request: &QueuedRequest) -> (Timing, DeviceState) {
        let Service { timing, end, .. } = self.serve_from_spot(self.sled.spot(state.into()), request);
        (timing, end.state.into())
    }

    fn motion_path(&self, state: DeviceState, request: &QueuedRequest) -> MotionPath {
        self.request_path(state.into(), request)
    }

    fn can_join(&self, batch: &[QueuedRequest], candidate: &QueuedRequest) -> bool {
        self.sled.can_join(batch, candidate)
    }

    fn position_index(&self, aim: &Aim) -> Option<Box<dyn PositionIndex>> {
        Some(match aim {
            Aim::Time => Box::new(SledIndex::new(&self.sled, ByTime)?),
            Aim::Distance => Box::new(SledIndex::new(&self.sled, ByDistance)?),
            Aim::Score(score) => Box::new(SledIndex::new(&self.sled, ByScore::new(score.clone()))?),
        })
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
