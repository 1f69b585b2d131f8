//! Requests that cross the ends of rows, tracks, cylinders and sleds.

use sledlab_core::{Request, Result};

use super::draw::{Arrivals, Gap, Ops, Places, clamp_blocks};
use super::{Generator, GeneratorSetting};

sledlab_core::params! {
    /// Requests that cross, cyclically, the end of a row, a track, a cylinder and a sled, and requests
    /// at the first and last block of the device. Boundaries that the device lacks are omitted.
    pub struct DirectedBoundariesParams {
        /// Number of requests; 0 never ends.
        requests: u64 = 10_000_u64;
        /// Mean time between arrivals; exponential.
        mean_interarrival_ms: f64 = 2.0, "ms", 1e-6..1e9;
        /// Size of every request.
        blocks: u64 = 8_u64, "blocks", 2..1e9;
        /// Blocks of one row; G2 has 20.
        blocks_per_row: u64 = 20_u64, "blocks", 1..1e15;
        /// Blocks of one track; G2 has 540.
        blocks_per_track: u64 = 540_u64, "blocks", 1..1e15;
        /// Blocks of one cylinder; G2 has 2700.
        blocks_per_cylinder: u64 = 2_700_u64, "blocks", 1..1e15;
        /// Blocks of one sled; G2 has 6,750,000.
        blocks_per_sled: u64 = 6_750_000_u64, "blocks", 1..1e15;
        /// Share of reads.
        read_share: f64 = 0.5, "", 0.0..1.0;
    }
}

/// See [`DirectedBoundariesParams`].
pub struct DirectedBoundaries {
    arrivals: Arrivals,
    places: Places,
    ops: Ops,
    /// The units or blocks that requests cross or touch, in turn.
    turns: Vec<Boundary>,
    turn: usize,
    blocks: u32,
    capacity_blocks: u64,
}

/// The boundary that a request crosses or touches.
#[derive(Clone, Copy, Debug)]
enum Boundary {
    /// The end of a unit of this many blocks.
    End(u64),
    /// The first block of the device.
    UnitStart,
    /// The last block of the device.
    Last,
}

impl Generator for DirectedBoundaries {
    type Params = DirectedBoundariesParams;
    const NAME: &'static str = "directed-boundaries";
    const MEANING: &'static str = "requests across the ends of rows, tracks, cylinders and sleds";

    fn requests(params: &Self::Params) -> u64 {
        params.requests
    }

    fn new(params: &Self::Params, setting: GeneratorSetting) -> Result<Self> {
        let capacity_blocks = setting.capacity_blocks;
        let units = [
            params.blocks_per_row,
            params.blocks_per_track,
            params.blocks_per_cylinder,
            params.blocks_per_sled,
        ];
        let ends = units.into_iter().filter(|unit| *unit < capacity_blocks).map(Boundary::End);
        let gap = Gap::Exponential { mean_ms: params.mean_interarrival_ms };
        Ok(DirectedBoundaries {
            arrivals: Arrivals::new(gap, setting.stream("directed-boundaries.arrivals")),
            places: Places::new(setting.stream("directed-boundaries.places")),
            ops: Ops::new(params.read_share, setting.stream("directed-boundaries.ops"))?,
            turns: ends.chain([Boundary::UnitStart, Boundary::Last]).collect(),
            turn: 0,
            blocks: clamp_blocks(params.blocks, capacity_blocks),
            capacity_blocks,
        })
    }

    fn next(&mut self) -> Request {
        let turn = self.turns[self.turn];
        self.turn = (self.turn + 1) % self.turns.len();
        let last_start = self.capacity_blocks - u64::from(self.blocks);
        let lbn = match turn {
            Boundary::End(unit) => self.crossing_start(unit).min(last_start),
            Boundary::UnitStart => 0,
            Boundary::Last => last_start,
        };
        Request {
            arrival: self.arrivals.next(),
            lbn,
            blocks: self.blocks,
            op: self.ops.next(),
            ..Request::default()
        }
    }
}

impl DirectedBoundaries {
    /// The first block of a request with at least one block on either side of the end of a `unit`.
    fn crossing_start(&mut self, unit: u64) -> u64 {
        let boundaries = (self.capacity_blocks - 1) / unit;
        let boundary = (1 + self.places.below(boundaries)) * unit;
        let blocks_before = 1 + self.places.below(u64::from(self.blocks) - 1);
        boundary.saturating_sub(blocks_before)
    }
}
