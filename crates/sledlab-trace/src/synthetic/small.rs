//! Small requests of some bytes at strided places.

use rand::RngExt;
use rand_distr::Exp1;
use sledlab_core::seed::Stream;
use sledlab_core::{BLOCK_BYTES, Request, Result, unrequested_words};

use super::draw::{Arrivals, Gap, Ops};
use super::{Generator, GeneratorSetting};

sledlab_core::choices! {
    /// Distribution of sizes.
    pub enum ByteSizes {
        /// Exponential, rounded up to integer bytes.
        Exponential = "exponential",
        /// 4 to 512 bytes, all equally likely.
        Uniform = "uniform",
    }
}

sledlab_core::params! {
    /// Requests of parallel file systems and mobile devices, most of them smaller than a block.
    ///
    /// Hong 2006 and Lin name such workloads, with a mean size of about 200 bytes, as those for which
    /// accesses to parts of a block matter; they publish no other properties.
    pub struct SmallParams {
        /// Number of requests; 0 never ends.
        requests: u64 = 100_000_u64;
        /// Mean time between arrivals.
        mean_interarrival_ms: f64 = 2.0, "ms", 1e-6..1e9;
        /// Distribution of sizes.
        sizes: ByteSizes = ByteSizes::Exponential;
        /// Mean of exponential sizes.
        mean_bytes: f64 = 200.0, "bytes", 1.0..1e9;
        /// Distance from one request to the next, in records of 512 bytes.
        stride_records: u64 = 16_u64, "records", 1..1e9;
        /// Share of reads.
        read_share: f64 = 0.8, "", 0.0..1.0;
    }
}

/// Smallest and largest of uniform sizes, in bytes.
const UNIFORM_BYTES: [u64; 2] = [4, 512];

/// See [`SmallParams`].
pub struct Small {
    arrivals: Arrivals,
    ops: Ops,
    sizes: ByteSizes,
    mean_bytes: f64,
    sizes_rng: Stream,
    stride: u64,
    /// First block of the present pass over the device.
    pass_start: u64,
    next_lbn: u64,
    capacity_blocks: u64,
}

impl Generator for Small {
    type Params = SmallParams;
    const NAME: &'static str = "small";
    const MEANING: &'static str =
        "requests of some 200 bytes at strided places (accesses to parts of a block)";

    fn requests(params: &Self::Params) -> u64 {
        params.requests
    }

    fn new(params: &Self::Params, setting: GeneratorSetting) -> Result<Self> {
        let gap = Gap::Exponential { mean_ms: params.mean_interarrival_ms };
        Ok(Small {
            arrivals: Arrivals::new(gap, setting.stream("small.arrivals")),
            ops: Ops::new(params.read_share, setting.stream("small.ops"))?,
            sizes: params.sizes,
            mean_bytes: params.mean_bytes,
            sizes_rng: setting.stream("small.sizes"),
            stride: params.stride_records,
            pass_start: 0,
            next_lbn: 0,
            capacity_blocks: setting.capacity_blocks,
        })
    }

    #[inline]
    fn next(&mut self) -> Request {
        let bytes = self.bytes();
        let blocks = bytes.div_ceil(BLOCK_BYTES) as u32;
        Request {
            arrival: self.arrivals.next(),
            lbn: self.place(u64::from(blocks)),
            blocks,
            op: self.ops.next(),
            unrequested_words: unrequested_words(0, bytes),
            ..Request::default()
        }
    }
}

impl Small {
    fn bytes(&mut self) -> u64 {
        let [min_bytes, max_bytes] = UNIFORM_BYTES;
        let bytes = match self.sizes {
            ByteSizes::Exponential => {
                (self.mean_bytes * self.sizes_rng.sample::<f64, _>(Exp1)).ceil().max(1.0) as u64
            }
            ByteSizes::Uniform => self.sizes_rng.random_range(min_bytes..=max_bytes),
        };
        bytes.min(self.capacity_blocks.min(u64::from(u32::MAX)) * BLOCK_BYTES)
    }

    /// The next place from which `blocks` fit; each pass begins one record after the start of the one before.
    fn place(&mut self, blocks: u64) -> u64 {
        let last = self.capacity_blocks - blocks;
        if self.next_lbn > last {
            self.pass_start = (self.pass_start + 1) % self.stride;
            self.next_lbn = if self.pass_start <= last { self.pass_start } else { 0 };
        }
        let place = self.next_lbn;
        self.next_lbn += self.stride;
        place
    }
}
