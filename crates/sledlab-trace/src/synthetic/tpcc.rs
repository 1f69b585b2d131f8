//! A stand-in for two and a half hours of TPC-C, on-line transaction processing.

use rand::RngExt;
use rand_distr::{Distribution, Zipf};
use sledlab_core::seed::Stream;
use sledlab_core::{Error, Op, Request, Result};

use super::draw::Places;
use super::files::{PIECE_BLOCKS, RankedFiles, mb_to_blocks};
use super::modulated_arrivals::{ModulatedArrivals, Shape};
use super::{Generator, GeneratorSetting};

sledlab_core::params! {
    /// Pages of 8 KB at random, most of them read, changed and written back: calibrated on published
    /// statistics of TPC-C.
    ///
    /// Wang 2005 publishes the rate, the share of reads, the size, the data touched and that nothing
    /// is sequential; `docs/calibration.md` compares. Values of *Open* parameters are not published but assumed.
    pub struct TpccParams {
        /// Number of requests; 0 never ends.
        requests: u64 = 1_246_763_u64;
        /// Mean requests per second.
        rate_per_s: f64 = 138.5, "/s", 1e-6..1e6;
        /// Open: index of dispersion of the arrivals in windows of 1 s; 1 is Poisson.
        dispersion: f64 = 4.0, "", 1.0..1e6;
        /// Open: mean length of a burst.
        burst_s: f64 = 2.0, "s", 1e-3..1e5;
        /// Open: share of the time that bursts last.
        burst_share: f64 = 0.3, "", 0.001..0.999;
        /// Share of reads; a page is written only after it was read, and at most once.
        read_share: f64 = 0.521, "", 0.5..1.0;
        /// Open: mean time from reading a page to writing it back.
        write_lag_s: f64 = 60.0, "s", 0.0..1e4;
        /// Size of the accessed data; 1,246,763 requests touch 1,006 MiB.
        data_mb: f64 = 2040.0, "MiB", 0.1..1e6;
        /// Open: share of the pages that are hot.
        hot_share: f64 = 0.05, "", 0.001..0.999;
        /// Open: share of the reads that go to hot pages, all of them equally popular.
        hot_read_share: f64 = 0.75, "", 0.0..1.0;
        /// Open: exponent of the popularity of the other pages by rank.
        zipf_exponent: f64 = 0.3, "", 0.0..10.0;
        /// Open: addresses over which pages are scattered; a smaller device is filled.
        address_space_gb: f64 = 3.2, "GiB", 1e-3..1e6;
    }
}

/// See [`TpccParams`].
pub struct Tpcc {
    arrivals: ModulatedArrivals,
    /// The pages of the database: each is a file of one page.
    pages: RankedFiles,
    popularity: Popularity,
    dirty_pages: DirtyPages,
}

/// Draws the pages to read: their ranks, the hot pages first.
struct Popularity {
    pages: u64,
    hot_pages: u64,
    hot_read_share: f64,
    cold_ranks: Zipf<f64>,
    kinds_rng: Stream,
    hot_choices: Places,
    cold_rng: Stream,
}

impl Popularity {
    fn new(params: &TpccParams, pages: usize, streams: [Stream; 3]) -> Result<Self> {
        let [kinds_rng, hot, cold_rng] = streams;
        let pages = pages as u64;
        let hot_pages = ((pages as f64 * params.hot_share).round() as u64).clamp(1, pages);
        let exponent = params.zipf_exponent;
        let cold_ranks = Zipf::new((pages - hot_pages).max(1) as f64, exponent)
            .map_err(|error| Error::user(format!("a Zipf exponent of {exponent}: {error}")))?;
        let hot_choices = Places::new(hot);
        let hot_read_share = params.hot_read_share;
        Ok(Popularity { pages, hot_pages, hot_read_share, cold_ranks, kinds_rng, hot_choices, cold_rng })
    }

    #[inline]
    fn draw(&mut self) -> u32 {
        let rank = if self.kinds_rng.random::<f64>() < self.hot_read_share {
            self.hot_choices.below(self.hot_pages)
        } else {
            self.hot_pages + self.cold_ranks.sample(&mut self.cold_rng) as u64 - 1
        };
        rank.min(self.pages - 1) as u32
    }
}

/// Dirty pages that wait to be written back.
///
/// Each request writes any one of them with the same small probability, so that a page waits for a geometric number of
/// requests: nearly an exponential time, without a clock for each page. In the long run as many pages are written as
/// are changed.
struct DirtyPages {
    pages: Vec<u32>,
    /// Probability that a page that is read is also changed.
    change_chance: f64,
    /// Probability that a request writes a given page of those that wait.
    write_chance: f64,
    changes_rng: Stream,
    ops_rng: Stream,
    choices: Places,
}

impl DirtyPages {
    /// Begins with as many waiting pages as there are on average, so that the first requests are like all others.
    fn new(params: &TpccParams, popularity: &mut Popularity, streams: [Stream; 3]) -> Self {
        let [changes_rng, ops_rng, choices] = streams;
        let write_share = 1.0 - params.read_share;
        let mean_waiting =
            (params.rate_per_s * write_share * params.write_lag_s).clamp(1.0, popularity.pages as f64);
        DirtyPages {
            pages: (0..mean_waiting as u64).map(|_| popularity.draw()).collect(),
            change_chance: write_share / params.read_share,
            write_chance: write_share / mean_waiting,
            changes_rng,
            ops_rng,
            choices: Places::new(choices),
        }
    }

    /// The page that the next request writes, or `None` if it reads.
    #[inline]
    fn next_write(&mut self) -> Option<u32> {
        let is_write = self.ops_rng.random::<f64>() < self.pages.len() as f64 * self.write_chance;
        is_write.then(|| {
            let index = self.choices.below(self.pages.len() as u64) as usize;
            self.pages.swap_remove(index)
        })
    }

    #[inline]
    fn note_read(&mut self, page: u32) {
        if self.changes_rng.random::<f64>() < self.change_chance {
            self.pages.push(page);
        }
    }
}

impl Generator for Tpcc {
    type Params = TpccParams;
    const NAME: &'static str = "tpcc";
    const MEANING: &'static str =
        "stand-in for TPC-C: transactions, pages of 8 KB at random, half of them writes";

    fn requests(params: &Self::Params) -> u64 {
        params.requests
    }

    fn new(params: &Self::Params, setting: GeneratorSetting) -> Result<Self> {
        let stream = |purpose: &str| setting.stream(&format!("tpcc.{purpose}"));
        let shape = Shape {
            rate_per_s: params.rate_per_s,
            dispersion: params.dispersion,
            burst_s: params.burst_s,
            burst_share: params.burst_share,
        };
        let space_blocks = setting.capacity_blocks.min(mb_to_blocks(params.address_space_gb * 1024.0));
        let lengths = (0..mb_to_blocks(params.data_mb).div_ceil(PIECE_BLOCKS)).map(|_| PIECE_BLOCKS as u32);
        // Ranks and places are drawn here, by popularity, so that the files draw no separate popularity.
        let layout = [stream("scatter"), stream("files"), stream("places")];
        let pages = RankedFiles::new(lengths, 0, space_blocks, 0.0, layout)?;
        let choices = ["kinds", "hot", "cold"].map(stream);
        let mut popularity = Popularity::new(params, pages.count(), choices)?;
        let dirty_pages = DirtyPages::new(params, &mut popularity, ["changes", "ops", "writes"].map(stream));
        let arrivals = ModulatedArrivals::new(shape, stream("arrivals"), stream("bursts"))?;
        Ok(Tpcc { arrivals, pages, popularity, dirty_pages })
    }

    #[inline]
    fn next(&mut self) -> Request {
        let arrival = self.arrivals.next();
        let written_page = self.dirty_pages.next_write();
        let page = written_page.unwrap_or_else(|| self.popularity.draw());
        let op = if written_page.is_some() { Op::Write } else { Op::Read };
        if op == Op::Read {
            self.dirty_pages.note_read(page);
        }
        let place = self.pages.file_at_rank(page as usize);
        Request { arrival, lbn: place.start, blocks: place.blocks, op, ..Request::default() }
    }
}
