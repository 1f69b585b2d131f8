//! A stand-in for two and a half hours of TPC-C, on-line transaction processing.

use sledlab_core::{Request, Result};

use super::draw::Ops;
use super::files::{PIECE_BLOCKS, mb_to_blocks};
use super::modulated_arrivals::{ModulatedArrivals, Shape};
use super::reuse::{DataReuse, ReuseShape, ReuseStreams};
use super::{Generator, GeneratorSetting};

sledlab_core::params! {
    /// Pages of 8 KB at random, below the buffer pool of a database: calibrated on published statistics of TPC-C.
    ///
    /// Wang 2005 publishes the rate, the share of reads, the size, the data touched and that nothing is sequential;
    /// `docs/calibration.md` compares. Values of *Open* parameters are not published but assumed; *ajw* is a public
    /// week of a workstation.
    pub struct TpccParams {
        /// Number of requests; 0 never ends.
        requests: u64 = 1_246_763_u64;
        /// Mean requests per second.
        rate_per_s: f64 = 138.5, "/s", 1e-6..1e6;
        /// Open: index of dispersion of the arrivals in windows of 1 s; 1 is Poisson.
        dispersion_1s: f64 = 4.0, "", 1.0..1e6;
        /// Open: index of dispersion of the arrivals in windows of 10 s; 1 is Poisson.
        dispersion_10s: f64 = 10.4, "", 1.0..1e6;
        /// Open: share of the time that bursts last.
        burst_share: f64 = 0.3, "", 0.001..0.999;
        /// Share of reads.
        read_share: f64 = 0.521, "", 0.0..1.0;
        /// Share of writes to pages not written before; 1,246,763 requests touch 1,006 MiB.
        new_write_share: f64 = 0.0428, "", 0.0..1.0;
        /// Open: share of reads of new data over the share of writes to such data; 4.1 in ajw.
        new_read_ratio: f64 = 4.0, "", 0.0..1e3;
        /// Open: share of the writes to data not written before that go to data that was read, as in ajw.
        write_after_read_share: f64 = 0.65, "", 0.0..1.0;
        /// Open: share of the reads of old data that go to data in the history of writes.
        read_after_write_share: f64 = 0.0, "", 0.0..1.0;
        /// Open: requests for which the buffer pool keeps a page that is neither read nor written again.
        host_cache_requests: u64 = 6_300_u64, "requests", 0..1e6;
        /// Open: addresses over which pages are scattered; a smaller device is filled.
        address_space_gb: f64 = 3.2, "GiB", 1e-3..1e6;
    }
}

/// See [`TpccParams`].
pub struct Tpcc {
    arrivals: ModulatedArrivals,
    ops: Ops,
    pages: DataReuse,
    page_blocks: u32,
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
        let arrivals = Shape {
            rate_per_s: params.rate_per_s,
            dispersion_1s: params.dispersion_1s,
            dispersion_10s: params.dispersion_10s,
            burst_share: params.burst_share,
        };
        let reuse = ReuseShape {
            new_write_share: params.new_write_share,
            new_read_ratio: params.new_read_ratio,
            write_after_read_share: params.write_after_read_share,
            read_after_write_share: params.read_after_write_share,
            min_read_lag: params.host_cache_requests,
            min_write_lag: params.host_cache_requests,
        };
        let space_blocks = setting.capacity_blocks.min(mb_to_blocks(params.address_space_gb * 1024.0));
        Ok(Tpcc {
            arrivals: ModulatedArrivals::new(arrivals, stream("arrivals"), stream("bursts"))?,
            ops: Ops::new(params.read_share, stream("ops"))?,
            pages: DataReuse::new(reuse, space_blocks, PIECE_BLOCKS, ReuseStreams::new(stream)),
            page_blocks: space_blocks.min(PIECE_BLOCKS) as u32,
        })
    }

    #[inline]
    fn next(&mut self) -> Request {
        let (arrival, op) = (self.arrivals.next(), self.ops.next());
        let page = self.pages.next(op, self.page_blocks);
        Request { arrival, lbn: page.lbn, blocks: page.blocks, op, ..Request::default() }
    }
}
