//! Pairs of requests at one (x, y) under different tip groups.

use sledlab_core::{Error, Request, Result, Time};

use super::draw::{Arrivals, Gap, Ops, Places};
use super::{Generator, GeneratorSetting};

sledlab_core::params! {
    /// Pairs of simultaneous requests at one sled position, each for another group of tips.
    ///
    /// Blocks stride_blocks apart lie at the same (x, y). The defaults are G2's row-first layout: tracks
    /// of 540 blocks, 5 tip groups, rows of 20. The streaming layout reverses every other track, so there
    /// the stride is 1080 with 2 groups. For the y-sequential layout use stride 67500, 100 groups and rows of 1.
    pub struct DirectedSamePositionParams {
        /// Number of requests, two for each pair; 0 never ends.
        requests: u64 = 10_000_u64;
        /// Mean time between pairs; exponential.
        mean_interarrival_ms: f64 = 2.0, "ms", 1e-6..1e9;
        /// Size of every request; at most a row.
        blocks: u64 = 8_u64, "blocks", 1..1e9;
        /// Blocks of one row under one tip group.
        blocks_per_row: u64 = 20_u64, "blocks", 1..1e9;
        /// Distance of blocks at the same position under neighboring tip groups.
        stride_blocks: u64 = 540_u64, "blocks", 1..1e12;
        /// Number of tip groups.
        groups: u64 = 5_u64, "", 2..1e6;
        /// Blocks after which the tip groups start over, a cylinder; 0 takes groups times stride.
        cylinder_blocks: u64 = 2_700_u64, "blocks", 0..1e15;
        /// Share of reads.
        read_share: f64 = 0.5, "", 0.0..1.0;
    }
}

/// See [`DirectedSamePositionParams`].
pub struct DirectedSamePosition {
    arrivals: Arrivals,
    places: Places,
    groups_drawn: Places,
    ops: Ops,
    blocks: u32,
    blocks_per_row: u64,
    stride_blocks: u64,
    groups: u64,
    cylinder_blocks: u64,
    cylinders: u64,
    /// The second request of a pair, until it is returned: its arrival and first block.
    second_request: Option<(Time, u64)>,
}

impl Generator for DirectedSamePosition {
    type Params = DirectedSamePositionParams;
    const NAME: &'static str = "directed-same-position";
    const MEANING: &'static str = "pairs of requests at one (x, y) under different tip groups";

    fn requests(params: &Self::Params) -> u64 {
        params.requests
    }

    fn new(params: &Self::Params, setting: GeneratorSetting) -> Result<Self> {
        let DirectedSamePositionParams { blocks, blocks_per_row, stride_blocks, groups, .. } = *params;
        if blocks > blocks_per_row {
            return Err(Error::user(format!(
                "a request of {blocks} blocks does not fit a row of {blocks_per_row}"
            ))
            .with_remedy("lower workload.blocks, or raise workload.blocks_per_row"));
        }
        if stride_blocks < blocks_per_row {
            return Err(Error::user(format!(
                "tip groups {stride_blocks} blocks apart overlap: a row has {blocks_per_row}"
            ))
            .with_remedy("raise workload.stride_blocks, or lower workload.blocks_per_row"));
        }
        let all_groups_blocks = stride_blocks.saturating_mul(groups);
        let cylinder_blocks =
            if params.cylinder_blocks == 0 { all_groups_blocks } else { params.cylinder_blocks };
        let cylinders = setting.capacity_blocks / cylinder_blocks.max(all_groups_blocks);
        if cylinders == 0 {
            return Err(Error::user(format!(
                "{groups} tip groups of {stride_blocks} blocks do not fit a device of {} blocks",
                setting.capacity_blocks
            ))
            .with_remedy(
                "set workload.stride_blocks, groups and cylinder_blocks as the device's layout has them",
            ));
        }
        let gap = Gap::Exponential { mean_ms: params.mean_interarrival_ms };
        Ok(DirectedSamePosition {
            arrivals: Arrivals::new(gap, setting.stream("directed-same-position.arrivals")),
            places: Places::new(setting.stream("directed-same-position.places")),
            groups_drawn: Places::new(setting.stream("directed-same-position.groups")),
            ops: Ops::new(params.read_share, setting.stream("directed-same-position.ops"))?,
            blocks: blocks as u32,
            blocks_per_row,
            stride_blocks,
            groups,
            cylinder_blocks,
            cylinders,
            second_request: None,
        })
    }

    fn next(&mut self) -> Request {
        let (arrival, lbn) = self.second_request.take().unwrap_or_else(|| self.start_pair());
        Request { arrival, lbn, blocks: self.blocks, op: self.ops.next(), ..Request::default() }
    }
}

impl DirectedSamePosition {
    /// Draws a pair; returns the first request and keeps the second.
    fn start_pair(&mut self) -> (Time, u64) {
        let arrival = self.arrivals.next();
        let cylinder = self.places.below(self.cylinders) * self.cylinder_blocks;
        let row = self.places.below(self.stride_blocks / self.blocks_per_row) * self.blocks_per_row;
        let cell = self.places.below(self.blocks_per_row - u64::from(self.blocks) + 1);
        let first_group = self.groups_drawn.below(self.groups);
        let second_group = (first_group + 1 + self.groups_drawn.below(self.groups - 1)) % self.groups;
        let lbn_of_group = |group: u64| cylinder + group * self.stride_blocks + row + cell;
        self.second_request = Some((arrival, lbn_of_group(second_group)));
        (arrival, lbn_of_group(first_group))
    }
}
