//! A stand-in for one hour of cello, a news server.

use rand::RngExt;
use rand_distr::{Bernoulli, Distribution};
use sledlab_core::seed::Stream;
use sledlab_core::{Error, Op, Request, Result};

use super::files::{PIECE_BLOCKS, mb_to_blocks};
use super::modulated_arrivals::{ModulatedArrivals, Shape};
use super::reuse::{DataReuse, ReuseShape, ReuseStreams};
use super::share_control::ShareControl;
use super::size_mix::{SizeMix, WeightedSize, mean_kb, split};
use super::{Generator, GeneratorSetting};

sledlab_core::params! {
    /// Bursty, write-dominated, mostly random: calibrated on published statistics of cello.
    ///
    /// Hong 2006 and Wang 2005 publish the rate, the share of reads, the mean size, the share of writes below 8 KB,
    /// sequentiality and the data touched; `docs/calibration.md` compares. Values of *Open* parameters are not
    /// published but assumed; *ajw* is a public week of a workstation. Twelve hours as in Wang 2005 are `requests =
    /// 1088407`, `rate_per_s = 25.2`.
    pub struct CelloParams {
        /// Number of requests; 0 never ends.
        requests: u64 = 118_800_u64;
        /// Mean requests per second.
        rate_per_s: f64 = 33.0, "/s", 1e-6..1e6;
        /// Open: index of dispersion of the arrivals in windows of 1 s, as in ajw; 1 is Poisson.
        dispersion_1s: f64 = 20.0, "", 1.0..1e6;
        /// Open: index of dispersion of the arrivals in windows of 10 s, as in ajw; 1 is Poisson.
        dispersion_10s: f64 = 63.0, "", 1.0..1e6;
        /// Open: share of the time that bursts last.
        burst_share: f64 = 0.2, "", 0.001..0.999;
        /// Share of reads.
        read_share: f64 = 0.287, "", 0.0..1.0;
        /// Mean size of a request.
        mean_size_kb: f64 = 7.2, "KB", 1.0..64.0;
        /// Share of writes below 8 KB.
        small_write_share: f64 = 0.52, "", 0.0..1.0;
        /// Share of requests that start where the previous request ended.
        sequential_share: f64 = 0.074, "", 0.0..0.5;
        /// Share of writes to data not written before; 1,088,407 requests touch 775 MiB.
        new_write_share: f64 = 0.0519, "", 0.0..1.0;
        /// Open: share of reads of new data over the share of writes to such data; 4.1 in ajw.
        new_read_ratio: f64 = 4.0, "", 0.0..1e3;
        /// Open: share of the writes to data not written before that go to data that was read, as in ajw.
        write_after_read_share: f64 = 0.65, "", 0.0..1.0;
        /// Open: share of the reads of old data that go to data in the history of writes.
        read_after_write_share: f64 = 0.0, "", 0.0..1.0;
        /// Open: requests for which the cache of the host keeps data, so that no read goes to it.
        host_cache_requests: u64 = 11_500_u64, "requests", 0..1e6;
        /// Open: addresses over which data is scattered; a smaller device is filled.
        address_space_gb: f64 = 3.2, "GiB", 1e-3..1e6;
    }
}

/// Sizes of reads in KB.
const READ_SIZES: [WeightedSize; 4] = [(2.0, 0.1 / 3.0), (4.0, 0.1 / 3.0), (6.0, 0.1 / 3.0), (8.0, 0.9)];

/// Sizes of writes below 8 KB, in KB.
const SMALL_WRITES: [WeightedSize; 3] = [(1.0, 20.0), (2.0, 16.0), (4.0, 16.0)];

/// Of the writes of 8 KB or more, the share that are larger than 8 KB.
const LARGE_SHARE: f64 = 7.0 / 48.0;

/// Blocks of a place whose requests may be continued; other places have one piece.
const RUN_BLOCKS: u32 = 512;

/// Chance that a request of a run is followed by another one, which makes a run of two requests on average.
const RUN_CHANCE: f64 = 0.5;

/// See [`CelloParams`].
pub struct Cello {
    arrivals: ModulatedArrivals,
    read_control: ShareControl,
    reads: SizeMix,
    writes: SizeMix,
    /// Places of requests of up to a piece, and of larger requests.
    places: [DataReuse; 2],
    /// Whether a new place may be continued.
    runs: Bernoulli,
    sequential: ShareControl,
    /// Operation and end of the previous request.
    previous: (Op, u64),
    /// The end of the run that the previous request belongs to; 0 without a run.
    run_end: u64,
    space_blocks: u64,
    ops_rng: Stream,
    sizes_rng: Stream,
    runs_rng: Stream,
    turns_rng: Stream,
}

/// Places that may be continued: as many as, with runs of two requests, give the share of sequential requests.
fn run_share(params: &CelloParams) -> Result<Bernoulli> {
    let share = params.sequential_share;
    let runs = share / (1.0 - share) * (1.0 - RUN_CHANCE) / RUN_CHANCE;
    Bernoulli::new(runs.min(1.0)).map_err(|error| Error::user(format!("a share of runs of {runs}: {error}")))
}

fn reuse_shape(params: &CelloParams) -> ReuseShape {
    ReuseShape {
        new_write_share: params.new_write_share,
        new_read_ratio: params.new_read_ratio,
        write_after_read_share: params.write_after_read_share,
        read_after_write_share: params.read_after_write_share,
        min_read_lag: params.host_cache_requests,
        min_write_lag: 0,
    }
}

/// Sizes of writes: the division of the largest between 16 and 64 KB gives the mean.
fn write_sizes(params: &CelloParams) -> Result<Vec<WeightedSize>> {
    let (writes, small_share) = (1.0 - params.read_share, params.small_write_share);
    let total: f64 = SMALL_WRITES.iter().map(|(_, weight)| weight).sum();
    let mut sizes: Vec<WeightedSize> =
        SMALL_WRITES.iter().map(|(kb, weight)| (*kb, small_share * weight / total)).collect();
    let large_share = (1.0 - small_share) * LARGE_SHARE;
    let share_of_8_kb = (1.0 - small_share) - large_share;
    let rest_kb = params.read_share * mean_kb(&READ_SIZES)
        + writes * (small_share * mean_kb(&SMALL_WRITES) + share_of_8_kb * 8.0);
    let share_of_64_kb = if writes * large_share > 0.0 {
        split(params.mean_size_kb, rest_kb, writes * large_share, 16.0, 64.0)?
    } else {
        0.0
    };
    sizes.extend([
        (8.0, share_of_8_kb),
        (16.0, large_share * (1.0 - share_of_64_kb)),
        (64.0, large_share * share_of_64_kb),
    ]);
    Ok(sizes)
}

impl Generator for Cello {
    type Params = CelloParams;
    const NAME: &'static str = "cello";
    const MEANING: &'static str = "stand-in for an hour of cello: a news server, random, two thirds writes";

    fn requests(params: &Self::Params) -> u64 {
        params.requests
    }

    fn new(params: &Self::Params, setting: GeneratorSetting) -> Result<Self> {
        let stream = |purpose: &str| setting.stream(&format!("cello.{purpose}"));
        let shape = Shape {
            rate_per_s: params.rate_per_s,
            dispersion_1s: params.dispersion_1s,
            dispersion_10s: params.dispersion_10s,
            burst_share: params.burst_share,
        };
        let space_blocks = setting.capacity_blocks.min(mb_to_blocks(params.address_space_gb * 1024.0));
        let places = ["small", "large"].map(|size| {
            let streams = ReuseStreams::new(|purpose| stream(&format!("{size}.{purpose}")));
            DataReuse::new(reuse_shape(params), space_blocks, PIECE_BLOCKS, streams)
        });
        Ok(Cello {
            arrivals: ModulatedArrivals::new(shape, stream("arrivals"), stream("bursts"))?,
            read_control: ShareControl::new(params.read_share, params.read_share),
            reads: SizeMix::new(&READ_SIZES, space_blocks),
            writes: SizeMix::new(&write_sizes(params)?, space_blocks),
            places,
            runs: run_share(params)?,
            sequential: ShareControl::new(params.sequential_share, RUN_CHANCE),
            previous: (Op::Read, 0),
            run_end: 0,
            space_blocks,
            ops_rng: stream("ops"),
            sizes_rng: stream("sizes"),
            runs_rng: stream("runs"),
            turns_rng: stream("turns"),
        })
    }

    #[inline]
    fn next(&mut self) -> Request {
        let arrival = self.arrivals.next();
        // Drawn whether used or not, so that no choice shifts another.
        let drawn_op =
            if self.ops_rng.random::<f64>() < self.read_control.chance() { Op::Read } else { Op::Write };
        let continues = self.turns_rng.random::<f64>() < self.sequential.chance();
        let run = self.runs.sample(&mut self.runs_rng);
        let (last_op, last_end) = self.previous;
        let op = if continues && last_end < self.run_end { last_op } else { drawn_op };
        let mix = if op == Op::Read { &self.reads } else { &self.writes };
        let blocks = mix.draw(&mut self.sizes_rng);
        let continues = continues && last_end + u64::from(blocks) <= self.run_end;
        let lbn = if continues { last_end } else { self.begin(op, blocks, run) };
        self.sequential.count(continues);
        self.read_control.count(op == Op::Read);
        self.previous = (op, lbn + u64::from(blocks));
        Request { arrival, lbn, blocks, op, ..Request::default() }
    }
}

impl Cello {
    /// The first block of a visit to a place; if the place is new, `run` states whether requests may continue there.
    fn begin(&mut self, op: Op, blocks: u32, run: bool) -> u64 {
        let is_large = u64::from(blocks) > PIECE_BLOCKS;
        let new_blocks = if run { RUN_BLOCKS } else { PIECE_BLOCKS as u32 };
        let place = self.places[usize::from(is_large)].next(op, new_blocks);
        self.run_end = if place.blocks == RUN_BLOCKS { place.end().min(self.space_blocks) } else { 0 };
        place.lbn.min(self.space_blocks - u64::from(blocks))
    }
}
