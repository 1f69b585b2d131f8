//! Uniform random requests of one size.

use sledlab_core::{Request, Result};

use super::draw::{Arrivals, Gap, Ops, Places, clamp_blocks};
use super::{Generator, GeneratorSetting};

sledlab_core::params! {
    /// Poisson arrivals of requests of one size, uniform over the device.
    ///
    /// For seek statistics, saturation and decision cost; a closed replay ignores the arrivals.
    pub struct UniformParams {
        /// Number of requests; 0 never ends.
        requests: u64 = 1_000_000_u64;
        /// Mean time between arrivals.
        mean_interarrival_ms: f64 = 1.0, "ms", 1e-6..1e9;
        /// Size of every request.
        blocks: u64 = 8_u64, "blocks", 1..1e9;
        /// Number of which every first block is a multiple.
        align_blocks: u64 = 1_u64, "blocks", 1..1e9;
        /// Share of reads.
        read_share: f64 = 0.5, "", 0.0..1.0;
    }
}

/// See [`UniformParams`].
pub struct Uniform {
    arrivals: Arrivals,
    places: Places,
    ops: Ops,
    blocks: u32,
    align_blocks: u64,
    capacity_blocks: u64,
}

impl Generator for Uniform {
    type Params = UniformParams;
    const NAME: &'static str = "uniform";
    const MEANING: &'static str = "Poisson arrivals of one size, uniform places (seeks, saturation)";

    fn requests(params: &Self::Params) -> u64 {
        params.requests
    }

    fn new(params: &Self::Params, setting: GeneratorSetting) -> Result<Self> {
        let gap = Gap::Exponential { mean_ms: params.mean_interarrival_ms };
        Ok(Uniform {
            arrivals: Arrivals::new(gap, setting.stream("uniform.arrivals")),
            places: Places::new(setting.stream("uniform.places")),
            ops: Ops::new(params.read_share, setting.stream("uniform.ops"))?,
            blocks: clamp_blocks(params.blocks, setting.capacity_blocks),
            align_blocks: params.align_blocks,
            capacity_blocks: setting.capacity_blocks,
        })
    }

    #[inline]
    fn next(&mut self) -> Request {
        Request {
            arrival: self.arrivals.next(),
            lbn: self.places.next(self.blocks, self.align_blocks, self.capacity_blocks),
            blocks: self.blocks,
            op: self.ops.next(),
            ..Request::default()
        }
    }
}
