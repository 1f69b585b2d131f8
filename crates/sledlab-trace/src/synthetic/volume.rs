//! One volume of a cloud: a daily rise and fall of the rate, bursts, hot extents, some sequential runs.
//!
//! Its parameters are the properties that Li and others (IISWC 2020) found to differ between the volumes of a cloud:
//! rate, bursts, reads, sizes, hot blocks, randomness. `sledlab.traces.cloud` draws the parameters of any number
//! of volumes.

use rand::RngExt;
use rand_distr::{Distribution, Zipf};
use sledlab_core::seed::Stream;
use sledlab_core::{BLOCK_BYTES, Error, Op, Request, Result, math};

use super::day::Day;
use super::draw::{Ops, Places};
use super::files::mb_to_blocks;
use super::modulated_arrivals::{Bursts, ModulatedArrivals};
use super::share_control::ShareControl;
use super::size_mix::{SizeMix, WeightedSize};
use super::{Generator, GeneratorSetting};

sledlab_core::params! {
    /// One volume of a cloud. For a fleet, `cloud:volumes=N` generates N volumes with different parameters.
    pub struct VolumeParams {
        /// Number of requests; 0 never ends.
        requests: u64 = 1_000_000_u64;
        /// Mean requests per second over a day.
        rate_per_s: f64 = 10.0, "1/s", 1e-6..1e6;
        /// Rise of the rate above its daily mean, and fall below the mean, as a share; 0 is flat.
        day_amplitude: f64 = 0.5, "", 0.0..1.0;
        /// Time from the start to the highest rate of a day.
        peak_h: f64 = 12.0, "h", 0.0..1e3;
        /// Length of a day.
        day_h: f64 = 24.0, "h", 1e-3..1e3;
        /// Rate in bursts over the mean rate; 1 is Poisson.
        burst_ratio: f64 = 10.0, "", 1.0..1e5;
        /// Share of the time that bursts last.
        burst_share: f64 = 0.03, "", 1e-6..0.999;
        /// Mean length of a burst.
        burst_s: f64 = 60.0, "s", 1e-3..1e6;
        /// Whether the trace lasts `requests / rate_per_s` seconds of the mean rate; otherwise, bursts decide.
        exact_length: bool = false;
        /// Share of reads.
        read_share: f64 = 0.25, "", 0.0..1.0;
        /// Mean size of reads of 4, 8, 16 ... 512 KB; with 57, three quarters are up to 32 KB.
        read_kb: f64 = 57.0, "KB", 4.0..512.0;
        /// Mean size of writes of 4, 8, 16 ... 512 KB; with 34, three quarters are up to 16 KB.
        write_kb: f64 = 34.0, "KB", 4.0..512.0;
        /// Share of requests that begin where the last request of the same operation ended.
        sequential_share: f64 = 0.3, "", 0.0..0.9;
        /// Zipf exponent of reads over extents of 64 KB.
        read_zipf: f64 = 0.7, "", 0.0..10.0;
        /// Zipf exponent of writes over extents of 64 KB, which differ from the hot extents of reads.
        write_zipf: f64 = 0.9, "", 0.0..10.0;
        /// Size of the part of the device that requests go to, from the first block; at most all.
        footprint_mb: f64 = 1000.0, "MB", 0.001..1e9;
    }
}

/// Sizes and places are multiples of 4 KB, except at the end of a footprint that is none.
const UNIT_BLOCKS: u64 = 8;

/// Units of an extent of 64 KB, which is entirely hot or cold.
const EXTENT_UNITS: u64 = 16;

/// Number of sizes: 4 KB times the powers of two, from 1 on.
const DOUBLINGS: i32 = 8;

/// Sizes whose shares fall, or rise, by the same factor from each size to the next, so that their mean is `mean_kb`.
fn sizes(mean_kb: f64) -> Vec<WeightedSize> {
    let weights_for = |log_factor: f64| -> Vec<WeightedSize> {
        let max_exponent = (log_factor * f64::from(DOUBLINGS - 1)).max(0.0);
        (0..DOUBLINGS)
            .map(|i| (4.0 * f64::from(1 << i), math::exp(log_factor * f64::from(i) - max_exponent)))
            .collect()
    };
    let (mut low, mut high) = (-50.0, 50.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if super::size_mix::mean_kb(&weights_for(middle)) < mean_kb { low = middle } else { high = middle }
    }
    weights_for(high)
}

/// Extents by rank, scattered over the volume without a table of them.
struct Extents {
    ranks: Zipf<f64>,
    count: u64,
    factor: u64,
    first: u64,
    rng: Stream,
}

impl Extents {
    fn new(extents: u64, exponent: f64, mut scatter: Stream, rng: Stream) -> Result<Self> {
        let ranks = Zipf::new(extents as f64, exponent)
            .map_err(|error| Error::user(format!("a Zipf exponent of {exponent}: {error}")))?;
        // Multiplying ranks by a factor prime to the number of extents gives each extent once.
        let mut factor = scatter.random_range(0..extents).max(1);
        while greatest_common_divisor(factor, extents) != 1 {
            factor = factor % extents + 1;
        }
        Ok(Extents { ranks, count: extents, factor, first: scatter.random_range(0..extents), rng })
    }

    #[inline]
    fn next(&mut self) -> u64 {
        let rank = (self.ranks.sample(&mut self.rng) as u64 - 1).min(self.count - 1);
        let scattered_rank = u128::from(rank) * u128::from(self.factor) + u128::from(self.first);
        (scattered_rank % u128::from(self.count)) as u64
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// The parts of a volume that reads and writes have separately.
struct Kind {
    sizes: SizeMix,
    extents: Extents,
    /// The block after the last request of this operation.
    end: u64,
}

fn arrivals(params: &VolumeParams, gaps: Stream, states: Stream) -> Result<ModulatedArrivals> {
    let bursts = Bursts {
        rate_per_s: params.rate_per_s,
        ratio: params.burst_ratio,
        burst_s: params.burst_s,
        burst_share: params.burst_share,
    };
    let arrivals = ModulatedArrivals::with_bursts(bursts, gaps, states)?;
    match (params.exact_length, params.requests) {
        (false, _) => Ok(arrivals),
        (true, 0) => Err(Error::user("workload.exact_length needs a number of requests")
            .with_remedy("set workload.requests, or omit workload.exact_length")),
        (true, requests) => Ok(arrivals.with_exact_length(requests, params.rate_per_s)),
    }
}

/// See [`VolumeParams`].
pub struct Volume {
    arrivals: ModulatedArrivals,
    day: Day,
    ops: Ops,
    /// Reads, writes.
    kinds: [Kind; 2],
    sequential: ShareControl,
    space_blocks: u64,
    sizes_rng: Stream,
    runs_rng: Stream,
    places: Places,
}

impl Generator for Volume {
    type Params = VolumeParams;
    const NAME: &'static str = "volume";
    const MEANING: &'static str = "one volume of a cloud: days, bursts, hot extents, sequential runs";

    fn requests(params: &Self::Params) -> u64 {
        params.requests
    }

    fn new(params: &Self::Params, setting: GeneratorSetting) -> Result<Self> {
        let stream = |purpose: &str| setting.stream(&format!("volume.{purpose}"));
        let space_blocks = setting.capacity_blocks.min(mb_to_blocks(params.footprint_mb));
        let max_blocks = space_blocks.min(u64::from(u32::MAX));
        let extents = (space_blocks / UNIT_BLOCKS).div_ceil(EXTENT_UNITS).max(1);
        let kind = |name: &str, mean_kb: f64, exponent: f64| -> Result<Kind> {
            let streams = [stream(&format!("{name}.scatter")), stream(&format!("{name}.extents"))];
            let [scatter, ranks] = streams;
            Ok(Kind {
                sizes: SizeMix::new(&sizes(mean_kb), max_blocks),
                extents: Extents::new(extents, exponent, scatter, ranks)?,
                end: u64::MAX,
            })
        };
        Ok(Volume {
            arrivals: arrivals(params, stream("arrivals"), stream("bursts"))?,
            day: Day::new(params.day_h, params.day_amplitude, params.peak_h),
            ops: Ops::new(params.read_share, stream("ops"))?,
            kinds: [
                kind("reads", params.read_kb, params.read_zipf)?,
                kind("writes", params.write_kb, params.write_zipf)?,
            ],
            sequential: ShareControl::new(params.sequential_share, params.sequential_share),
            space_blocks,
            sizes_rng: stream("sizes"),
            runs_rng: stream("runs"),
            places: Places::new(stream("places")),
        })
    }

    #[inline]
    fn next(&mut self) -> Request {
        let arrival = self.day.warp(self.arrivals.next());
        let op = self.ops.next();
        let kind = &mut self.kinds[usize::from(op == Op::Write)];
        let blocks = kind.sizes.draw(&mut self.sizes_rng);
        let last_lbn = self.space_blocks - u64::from(blocks);
        let is_continued = self.runs_rng.random::<f64>() < self.sequential.chance() && kind.end <= last_lbn;
        let lbn = if is_continued {
            kind.end
        } else {
            let unit = kind.extents.next() * EXTENT_UNITS + self.places.below(EXTENT_UNITS);
            (unit * UNIT_BLOCKS).min(last_lbn)
        };
        self.sequential.count(lbn == kind.end);
        kind.end = lbn + u64::from(blocks);
        Request { arrival, lbn, blocks, op, ..Request::default() }
    }
}

const _: () = assert!(UNIT_BLOCKS * BLOCK_BYTES == 4096);
