//! Adjacent reads that together fill the tip limit exactly, or miss it by one.

use sledlab_core::{Error, Op, Request, Result, Time};

use super::draw::{Arrivals, Gap, Places};
use super::{Generator, GeneratorSetting};

sledlab_core::params! {
    /// Bursts of adjacent reads whose total is, cyclically, one block below, at and above the tip limit.
    ///
    /// All requests of a burst arrive at once. Its first request is elsewhere and keeps the device busy, so that the
    /// adjacent requests meet in the queue, in the order of their blocks.
    pub struct DirectedMergeParams {
        /// Number of requests; 0 never ends.
        requests: u64 = 10_000_u64;
        /// Mean time between bursts; exponential.
        mean_interarrival_ms: f64 = 10.0, "ms", 1e-6..1e9;
        /// Size of the adjacent reads; the last of a burst may be smaller.
        blocks: u64 = 4_u64, "blocks", 1..1e9;
        /// Blocks that the active tips access at once; 1280 tips access 20, 3200 tips 50.
        limit_blocks: u64 = 20_u64, "blocks", 2..1e9;
    }
}

/// See [`DirectedMergeParams`].
pub struct DirectedMerge {
    arrivals: Arrivals,
    places: Places,
    blocks: u64,
    limit_blocks: u64,
    capacity_blocks: u64,
    now: Time,
    /// The remaining part of the burst: next block, and block after the last.
    next_lbn: u64,
    end_lbn: u64,
    bursts: u64,
}

impl Generator for DirectedMerge {
    type Params = DirectedMergeParams;
    const NAME: &'static str = "directed-merge";
    const MEANING: &'static str =
        "adjacent reads that together fill the tip limit exactly, or miss it by one";

    fn requests(params: &Self::Params) -> u64 {
        params.requests
    }

    fn new(params: &Self::Params, setting: GeneratorSetting) -> Result<Self> {
        if setting.capacity_blocks <= params.limit_blocks {
            return Err(Error::user(format!(
                "a burst of {} blocks does not fit a device of {} blocks",
                params.limit_blocks + 1,
                setting.capacity_blocks
            ))
            .with_remedy("lower workload.limit_blocks, or take a larger device"));
        }
        let gap = Gap::Exponential { mean_ms: params.mean_interarrival_ms };
        Ok(DirectedMerge {
            arrivals: Arrivals::new(gap, setting.stream("directed-merge.arrivals")),
            places: Places::new(setting.stream("directed-merge.places")),
            blocks: params.blocks,
            limit_blocks: params.limit_blocks,
            capacity_blocks: setting.capacity_blocks,
            now: Time::ZERO,
            next_lbn: 0,
            end_lbn: 0,
            bursts: 0,
        })
    }

    fn next(&mut self) -> Request {
        if self.next_lbn == self.end_lbn {
            return self.start_burst();
        }
        let blocks = self.blocks.min(self.end_lbn - self.next_lbn) as u32;
        let lbn = self.next_lbn;
        self.next_lbn += u64::from(blocks);
        Request { arrival: self.now, lbn, blocks, op: Op::Read, ..Request::default() }
    }
}

impl DirectedMerge {
    /// Draws a burst and returns the request that keeps the device busy.
    fn start_burst(&mut self) -> Request {
        self.now = self.arrivals.next();
        let total = self.limit_blocks - 1 + self.bursts % 3;
        self.bursts += 1;
        // Begins at the start of a row, so that the tip limit is the end of that row.
        let start = self.places.next(total as u32, self.limit_blocks, self.capacity_blocks);
        (self.next_lbn, self.end_lbn) = (start, start + total);
        let lbn = self.places.below(self.capacity_blocks);
        Request { arrival: self.now, lbn, blocks: 1, op: Op::Read, ..Request::default() }
    }
}
