//! A stand-in for seven hours of TPC-D, on-line decision support.

use rand::RngExt;
use sledlab_core::seed::Stream;
use sledlab_core::{Error, Op, Request, Result};

use super::clustered_arrivals::{Arrival, ClusterRates, ClusteredArrivals, UnitStart};
use super::draw::Places;
use super::files::{PIECE_BLOCKS, RankedFile, RankedFiles, mb_to_blocks};
use super::size_mix::{SizeMix, WeightedSize, split};
use super::{Generator, GeneratorSetting};

sledlab_core::params! {
    /// Repeated scans of complete tables, several at a time: calibrated on published statistics
    /// of TPC-D.
    ///
    /// Wang 2005 publishes the rate, the mean size, sequentiality and the data touched, and that all
    /// requests are reads; `docs/calibration.md` compares. Values of *Open* parameters are not published but assumed.
    pub struct TpcdParams {
        /// Number of requests; 0 never ends.
        requests: u64 = 238_971_u64;
        /// Mean requests per second.
        rate_per_s: f64 = 9.48, "/s", 1e-6..1e6;
        /// Open: mean time between queries, during which nothing is read.
        think_s: f64 = 30.0, "s", 1e-3..1e6;
        /// Open: mean time between requests while queries run.
        query_gap_ms: f64 = 20.0, "ms", 0.0..1e9;
        /// Mean size of a request.
        mean_size_kb: f64 = 39.9, "KB", 8.0..64.0;
        /// Share of requests that start where the previous request ended.
        sequential_share: f64 = 0.727, "", 0.0..0.99;
        /// Open: share of look-ups by an index, 8 KB at a random place each.
        probe_share: f64 = 0.05, "", 0.0..0.99;
        /// Open: number of scans at a time.
        streams: u64 = 5_u64, "", 2..1e4;
        /// Open: number of tables, each of half to one and a half times the mean size.
        tables: u64 = 12_u64, "", 1..1e4;
        /// Size of all tables; 238,971 requests touch all of them.
        data_mb: f64 = 1242.0, "MiB", 0.1..1e6;
        /// Open: addresses over which tables are scattered; a smaller device is filled.
        address_space_gb: f64 = 3.2, "GiB", 1e-3..1e6;
    }
}

/// Sizes of the requests of a scan, in KB.
const SIZES_KB: [f64; 2] = [8.0, 64.0];

/// See [`TpcdParams`].
pub struct Tpcd {
    arrivals: ClusteredArrivals,
    sizes: SizeMix,
    tables: RankedFiles,
    scans: Vec<Scan>,
    /// The active scan, unless the turn is an index look-up.
    active: usize,
    /// The table to scan next, when one of the scans is over.
    next_table: usize,
    probe_share: f64,
    /// Whether the current turn searches an index.
    is_probing: bool,
    sizes_rng: Stream,
    probes_rng: Stream,
    choices: Places,
}

/// A table that is read from its beginning to its end.
#[derive(Clone, Copy, Debug)]
struct Scan {
    table: RankedFile,
    next: u64,
}

/// Sizes of the requests of scans, such that scans and probes together have the configured mean size.
fn scan_sizes(params: &TpcdParams) -> Result<[WeightedSize; 2]> {
    let [small_kb, large_kb] = SIZES_KB;
    let scan_share = 1.0 - params.probe_share;
    let large_share =
        split(params.mean_size_kb, params.probe_share * small_kb, scan_share, small_kb, large_kb)?;
    Ok([(small_kb, 1.0 - large_share), (large_kb, large_share)])
}

/// Mean number of requests of a turn: the first request of a scan's turn is not sequential, nor is any probe.
fn turn_requests(params: &TpcdParams) -> Result<f64> {
    let scan_share = 1.0 - params.probe_share;
    if params.sequential_share < scan_share {
        return Ok(scan_share / (scan_share - params.sequential_share));
    }
    Err(Error::user(format!(
        "workload.sequential_share = {} exceeds the limit of scans of any length with a probe_share of {}",
        params.sequential_share, params.probe_share
    ))
    .with_remedy(format!("take less than {scan_share:.2}, or a smaller workload.probe_share")))
}

/// Turns are clumps of requests and queries are clusters of turns. The number of turns in a query follows from the
/// configured think time.
fn rhythm(params: &TpcdParams) -> Result<ClusterRates> {
    let (rate_per_s, think_s, gap_s) = (params.rate_per_s, params.think_s, params.query_gap_ms / 1e3);
    let turn_requests = turn_requests(params)?;
    let idle_share = 1.0 - rate_per_s * gap_s;
    if idle_share <= 0.0 {
        return Err(Error::user(format!(
            "workload.query_gap_ms = {} leaves no time between queries at {rate_per_s} requests/s",
            params.query_gap_ms
        ))
        .with_remedy(format!("take less than {:.3} ms, or a lower workload.rate_per_s", 1e3 / rate_per_s)));
    }
    // Between two think times there is one gap fewer than there are requests.
    let query_turns = (think_s - gap_s) * rate_per_s / idle_share / turn_requests;
    if query_turns < 1.0 {
        let min_s = turn_requests * idle_share / rate_per_s + gap_s;
        return Err(Error::user(format!(
            "workload.think_s = {think_s} is too short: at {rate_per_s} requests/s, queries would not have a turn of \
             {turn_requests:.1} requests"
        ))
        .with_remedy(format!("take {min_s:.2} s or more, or a higher workload.rate_per_s")));
    }
    Ok(ClusterRates {
        rate_per_s,
        clump_requests: turn_requests,
        clump_gap_s: gap_s,
        cluster_clumps: query_turns,
        cluster_gap_s: gap_s,
        copy_requests: 0,
        copy_run: 1.0,
        copy_gap_s: 0.0,
        copy_every_s: f64::INFINITY,
    })
}

/// Lengths in blocks of tables that sum to `pages` of 8 KB.
fn table_lengths(tables: u64, pages: u64, mut rng: Stream) -> impl Iterator<Item = u32> {
    let sizes: Vec<f64> = (0..tables).map(|_| 0.5 + rng.random::<f64>()).collect();
    let total: f64 = sizes.iter().sum();
    let (mut cumulated, mut begin) = (0.0, 0);
    sizes.into_iter().filter_map(move |size| {
        cumulated += size / total;
        let end = (cumulated * pages as f64).round() as u64;
        let length = (end - begin) * PIECE_BLOCKS;
        begin = end;
        // With more tables than pages, some tables have no page and are omitted.
        (length > 0).then_some(length.min(u64::from(u32::MAX)) as u32)
    })
}

impl Generator for Tpcd {
    type Params = TpcdParams;
    const NAME: &'static str = "tpcd";
    const MEANING: &'static str =
        "stand-in for TPC-D: decision support, tables read end to end, several at a time";

    fn requests(params: &Self::Params) -> u64 {
        params.requests
    }

    fn new(params: &Self::Params, setting: GeneratorSetting) -> Result<Self> {
        let stream = |purpose: &str| setting.stream(&format!("tpcd.{purpose}"));
        let space_blocks = setting.capacity_blocks.min(mb_to_blocks(params.address_space_gb * 1024.0));
        let pages = mb_to_blocks(params.data_mb).div_ceil(PIECE_BLOCKS).min(space_blocks / PIECE_BLOCKS);
        let lengths = table_lengths(params.tables, pages, stream("lengths"));
        let layout = [stream("scatter"), stream("tables"), stream("places")];
        // Look-ups by an index choose all tables equally often.
        let tables = RankedFiles::new(lengths, space_blocks, 0.0, layout)?;
        let count = tables.count();
        let scans =
            (0..params.streams as usize).map(|scan| Scan::new(tables.file_at_rank(scan % count))).collect();
        Ok(Tpcd {
            arrivals: ClusteredArrivals::new(rhythm(params)?, ["arrivals", "queries", "copies"].map(stream))?,
            sizes: SizeMix::new(&scan_sizes(params)?, u64::from(tables.largest_blocks())),
            next_table: params.streams as usize % count,
            tables,
            scans,
            active: 0,
            probe_share: params.probe_share,
            is_probing: false,
            sizes_rng: stream("sizes"),
            probes_rng: stream("probes"),
            choices: Places::new(stream("choices")),
        })
    }

    #[inline]
    fn next(&mut self) -> Request {
        let Arrival { at: arrival, first, .. } = self.arrivals.next();
        if first != UnitStart::Nothing {
            self.begin_turn();
        }
        // Drawn whether used or not, so that no choice shifts another.
        let blocks = self.sizes.draw(&mut self.sizes_rng);
        let (lbn, blocks) = if self.is_probing { self.probe() } else { self.scan(blocks) };
        Request { arrival, lbn, blocks, op: Op::Read, ..Request::default() }
    }
}

impl Scan {
    fn new(table: RankedFile) -> Self {
        Scan { table, next: table.start }
    }
}

impl Tpcd {
    /// Decides whether the turn searches an index or continues another scan.
    fn begin_turn(&mut self) {
        let count = self.scans.len();
        let other = 1 + self.choices.below(count as u64 - 1) as usize;
        self.is_probing = self.probes_rng.random::<f64>() < self.probe_share;
        if !self.is_probing {
            self.active = (self.active + other) % count;
        }
    }

    /// A random page of any table.
    fn probe(&mut self) -> (u64, u32) {
        let blocks = self.tables.largest_blocks().min(PIECE_BLOCKS as u32);
        (self.tables.place(blocks).1, blocks)
    }

    /// The next blocks of the scan, up to the end of its table.
    ///
    /// Tables are scanned in turn, each again after all others: so a page is read again after nearly all other data,
    /// and a cache too small for all data has evicted it by then.
    fn scan(&mut self, blocks: u32) -> (u64, u32) {
        let mut scan = self.scans[self.active];
        if scan.next >= scan.table.end() {
            scan = Scan::new(self.tables.file_at_rank(self.next_table));
            self.next_table = (self.next_table + 1) % self.tables.count();
        }
        let (lbn, remaining_blocks) = (scan.next, scan.table.end() - scan.next);
        let blocks = u64::from(blocks).min(remaining_blocks);
        self.scans[self.active] = Scan { next: lbn + blocks, ..scan };
        (lbn, blocks as u32)
    }
}
