//! Exponential gaps and sizes, uniform places: the workload of Lee 2009.

use sledlab_core::{BLOCK_BYTES, Request, Result};

use super::draw::{Arrivals, ExponentialSizes, Gap, Ops, Places};
use super::{Generator, GeneratorSetting};

sledlab_core::params! {
    /// Independent requests with exponential gaps and sizes (Lee 2009, section 4).
    ///
    /// The paper leaves open the base gap, the number of requests, the read share and whether the
    /// mean size is before rounding. The defaults put a speed-up of 10 near the saturation of SPTF on
    /// a G2 sled with the y-sequential layout; 21,000 requests are 1,000 to warm up and 20,000 to count.
    pub struct ExponentialParams {
        /// Number of requests; 0 never ends.
        requests: u64 = 21_000_u64;
        /// Mean time between arrivals.
        mean_interarrival_ms: f64 = 15.0, "ms", 1e-6..1e9;
        /// Mean size before rounding up to blocks.
        mean_size_kb: f64 = 4.0, "KB", 1e-3..1e6;
        /// Share of reads.
        read_share: f64 = 0.5, "", 0.0..1.0;
    }
}

/// See [`ExponentialParams`].
pub struct Exponential {
    arrivals: Arrivals,
    sizes: ExponentialSizes,
    places: Places,
    ops: Ops,
    capacity_blocks: u64,
}

impl Generator for Exponential {
    type Params = ExponentialParams;
    const NAME: &'static str = "exponential";
    const MEANING: &'static str = "exponential gaps and sizes, uniform places (parallel scheduling studies)";

    fn requests(params: &Self::Params) -> u64 {
        params.requests
    }

    fn new(params: &Self::Params, setting: GeneratorSetting) -> Result<Self> {
        let capacity_blocks = setting.capacity_blocks;
        let mean_blocks = params.mean_size_kb * 1024.0 / BLOCK_BYTES as f64;
        let gap = Gap::Exponential { mean_ms: params.mean_interarrival_ms };
        Ok(Exponential {
            arrivals: Arrivals::new(gap, setting.stream("exponential.arrivals")),
            sizes: ExponentialSizes::new(
                mean_blocks,
                1,
                capacity_blocks,
                setting.stream("exponential.sizes"),
            ),
            places: Places::new(setting.stream("exponential.places")),
            ops: Ops::new(params.read_share, setting.stream("exponential.ops"))?,
            capacity_blocks,
        })
    }

    #[inline]
    fn next(&mut self) -> Request {
        let blocks = self.sizes.next();
        Request {
            arrival: self.arrivals.next(),
            lbn: self.places.next(blocks, 1, self.capacity_blocks),
            blocks,
            op: self.ops.next(),
            ..Request::default()
        }
    }
}
