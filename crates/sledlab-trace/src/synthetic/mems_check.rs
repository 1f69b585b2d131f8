//! The check workload that the reference simulator ships for MEMS devices.

use sledlab_core::{Request, Result};

use super::draw::{Arrivals, ExponentialSizes, Gap, Ops, Places};
use super::{Generator, GeneratorSetting};

sledlab_core::params! {
    /// The reference simulator's check workload for MEMS devices.
    ///
    /// 10,000 requests, exponential gaps of mean 50 ms, 66 % reads, exponential sizes of mean 8 blocks
    /// rounded up to multiples of 8 (12.66 blocks after rounding), uniform over the device, aligned to 8.
    pub struct MemsCheckParams {
        /// Number of requests; 0 never ends.
        requests: u64 = 10_000_u64;
        /// Mean time between arrivals.
        mean_interarrival_ms: f64 = 50.0, "ms", 1e-6..1e9;
        /// Mean size before rounding up to a multiple of unit_blocks.
        mean_blocks: f64 = 8.0, "blocks", 1e-3..1e9;
        /// Number of blocks of which sizes and places are multiples.
        unit_blocks: u64 = 8_u64, "blocks", 1..1e9;
        /// Share of reads.
        read_share: f64 = 0.66, "", 0.0..1.0;
    }
}

/// See [`MemsCheckParams`].
pub struct MemsCheck {
    arrivals: Arrivals,
    sizes: ExponentialSizes,
    places: Places,
    ops: Ops,
    unit_blocks: u64,
    capacity_blocks: u64,
}

impl Generator for MemsCheck {
    type Params = MemsCheckParams;
    const NAME: &'static str = "mems-check";
    const MEANING: &'static str = "the reference simulator's check workload for MEMS devices";

    fn requests(params: &Self::Params) -> u64 {
        params.requests
    }

    fn new(params: &Self::Params, setting: GeneratorSetting) -> Result<Self> {
        let (unit_blocks, capacity_blocks) = (params.unit_blocks, setting.capacity_blocks);
        let gap = Gap::Exponential { mean_ms: params.mean_interarrival_ms };
        let sizes = setting.stream("mems-check.sizes");
        Ok(MemsCheck {
            arrivals: Arrivals::new(gap, setting.stream("mems-check.arrivals")),
            sizes: ExponentialSizes::new(params.mean_blocks, unit_blocks, capacity_blocks, sizes),
            places: Places::new(setting.stream("mems-check.places")),
            ops: Ops::new(params.read_share, setting.stream("mems-check.ops"))?,
            unit_blocks,
            capacity_blocks,
        })
    }

    #[inline]
    fn next(&mut self) -> Request {
        let blocks = self.sizes.next();
        Request {
            arrival: self.arrivals.next(),
            lbn: self.places.next(blocks, self.unit_blocks, self.capacity_blocks),
            blocks,
            op: self.ops.next(),
            ..Request::default()
        }
    }
}
