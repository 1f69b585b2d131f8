//! A stand-in for one hour of hplajw, a workstation.

use rand::RngExt;
use sledlab_core::seed::Stream;
use sledlab_core::{Error, Op, Request, Result};

use super::draw::Places;
use super::files::{PIECE_BLOCKS, mb_to_blocks};
use super::on_off::OnOffArrivals;
use super::reuse::{DataPlace, DataReuse, ReuseShape, ReuseStreams};
use super::share_control::ShareControl;
use super::size_mix::{SizeMix, WeightedSize, mean_kb, split};
use super::{Generator, GeneratorSetting};

sledlab_core::params! {
    /// Bursts of one user, most of them several files read or written at once: calibrated on
    /// published statistics of hplajw.
    ///
    /// Hong 2006 and Wang 2005 publish the rate, the share of reads, the mean size, sequentiality and the
    /// data touched; `docs/calibration.md` compares. Values of *Open* parameters are not published but assumed; *ajw*
    /// is a public week of the same workstation. The two hours of Wang 2005 are `requests = 308788`, `rate_per_s = 42.9`,
    /// `new_write_share = 0.0505`, `address_space_gb = 3.2`.
    pub struct HplajwParams {
        /// Number of requests; 0 never ends.
        requests: u64 = 75_240_u64;
        /// Mean requests per second.
        rate_per_s: f64 = 20.9, "/s", 1e-6..1e6;
        /// Open: mean number of requests of a burst.
        burst_requests: f64 = 60.0, "", 2.0..1e6;
        /// Open: share of the time that bursts last.
        busy_share: f64 = 0.2, "", 0.001..0.999;
        /// Share of reads.
        read_share: f64 = 0.603, "", 0.0..1.0;
        /// Mean size of a request.
        mean_size_kb: f64 = 7.6, "KB", 1.0..64.0;
        /// Open: share of requests that belong to files read or written from end to end; sweep 0.3 to 0.8.
        run_share: f64 = 0.65, "", 0.0..0.85;
        /// Share of requests that start where the previous request ended, or an interleave gap further.
        sequential_share: f64 = 0.143, "", 0.0..0.85;
        /// Open: gap between the blocks of a file, 0 or, in old file systems, 8 to 16.
        interleave_kb: u64 = 0_u64, "KB", 0..64;
        /// Open: mean size of files.
        mean_file_kb: f64 = 64.0, "KB", 8.0..1e5;
        /// Open: share of writes to data not written before; an hour touches 30 MB, as ajw does.
        new_write_share: f64 = 0.0115, "", 0.0..1.0;
        /// Open: share of reads of new data over the share of writes to such data; 4.1 in ajw.
        new_read_ratio: f64 = 4.0, "", 0.0..1e3;
        /// Open: share of the writes to data not written before that go to data that was read, as in ajw.
        write_after_read_share: f64 = 0.65, "", 0.0..1.0;
        /// Open: share of the reads of old data that go to data in the history of writes.
        read_after_write_share: f64 = 0.0, "", 0.0..1.0;
        /// Open: requests for which the cache of the host keeps data, so that no read goes to it.
        host_cache_requests: u64 = 300_u64, "requests", 0..1e6;
        /// Open: addresses over which files are scattered, as in ajw; a smaller device is filled.
        address_space_gb: f64 = 0.34, "GiB", 1e-3..1e6;
    }
}

/// Share of requests of 8 KB, those of runs included.
const SHARE_8_KB: f64 = 0.85;

/// Sizes below 8 KB.
const SMALL_SIZES: [WeightedSize; 3] = [(1.0, 0.6), (2.0, 0.25), (4.0, 0.15)];

/// Sizes above 8 KB.
const LARGE_SIZES: [WeightedSize; 3] = [(16.0, 0.8), (32.0, 0.15), (64.0, 0.05)];

/// Blocks that a new place of single requests takes: places apart from each other are not sequential by chance.
const SINGLE_BLOCKS: u32 = 64;

/// The maximum number of files that are accessed at the same time: one and 1 to 4 others.
const MAX_SCANS: u64 = 5;

/// See [`HplajwParams`].
pub struct Hplajw {
    arrivals: OnOffArrivals,
    read_control: ShareControl,
    sizes: SizeMix,
    /// Files that are scanned, and data of single requests.
    files: DataReuse,
    singles: DataReuse,
    /// Number of pieces of the largest file, and of the gaps after each piece.
    max_pieces: f64,
    run_share: f64,
    sequential: ShareControl,
    /// The files scanned in the present burst; empty in a burst without runs.
    scans: Vec<Scan>,
    /// The index in `scans` of the file that had the last request.
    active: usize,
    previous_end: u64,
    gap_blocks: u64,
    space_blocks: u64,
    ops_rng: Stream,
    sizes_rng: Stream,
    lengths_rng: Stream,
    kinds_rng: Stream,
    turns_rng: Stream,
    choices: Places,
}

/// A file that is read or written from its beginning to its end.
#[derive(Clone, Copy, Debug)]
struct Scan {
    file: DataPlace,
    op: Op,
    next: u64,
}

/// Sizes of the requests outside runs, such that all requests have the configured mean size.
fn random_sizes(params: &HplajwParams) -> Result<Vec<WeightedSize>> {
    let (small_kb, large_kb) = (mean_kb(&SMALL_SIZES), mean_kb(&LARGE_SIZES));
    let share_of_other_sizes = 1.0 - SHARE_8_KB;
    let large_share = split(params.mean_size_kb, SHARE_8_KB * 8.0, share_of_other_sizes, small_kb, large_kb)?;
    let scale_weights = |sizes: [WeightedSize; 3], share: f64| sizes.map(|(kb, weight)| (kb, weight * share));
    let mut sizes = scale_weights(SMALL_SIZES, share_of_other_sizes * (1.0 - large_share)).to_vec();
    sizes.push((8.0, SHARE_8_KB - params.run_share));
    sizes.extend(scale_weights(LARGE_SIZES, share_of_other_sizes * large_share));
    Ok(sizes)
}

/// Returns the chance with which a file that is scanned continues: all its requests but the first are sequential then.
fn chance_of_continuing(params: &HplajwParams) -> f64 {
    let sequential_in_scans = params.run_share * (1.0 - 8.0 / params.mean_file_kb);
    if sequential_in_scans > 0.0 { params.sequential_share / sequential_in_scans } else { 0.0 }
}

/// Rejects more sequential requests than runs contain: the first of a file is not sequential, and the end of a burst
/// cuts files short.
fn check_sequential_share(params: &HplajwParams) -> Result<()> {
    let max_share = 0.9 * params.run_share * (1.0 - 8.0 / params.mean_file_kb);
    if params.sequential_share <= max_share {
        return Ok(());
    }
    Err(Error::user(format!(
        "workload.sequential_share = {} is impossible with a run_share of {} and files of {} KB",
        params.sequential_share, params.run_share, params.mean_file_kb
    ))
    .with_remedy(format!(
        "take at most {max_share:.2}, or a larger workload.run_share or workload.mean_file_kb"
    )))
}

fn arrivals(params: &HplajwParams, stream: impl Fn(&str) -> Stream) -> OnOffArrivals {
    OnOffArrivals::new(
        params.rate_per_s,
        params.burst_requests,
        params.busy_share,
        stream("arrivals"),
        stream("bursts"),
    )
}

/// Reuse by visits of which one comes every `visit_requests` requests.
fn reuse_shape(params: &HplajwParams, visit_requests: f64) -> ReuseShape {
    ReuseShape {
        new_write_share: params.new_write_share,
        new_read_ratio: params.new_read_ratio,
        write_after_read_share: params.write_after_read_share,
        read_after_write_share: params.read_after_write_share,
        min_read_lag: (params.host_cache_requests as f64 / visit_requests).round() as u64,
        // A file that is scanned is not scanned a second time at once.
        min_write_lag: MAX_SCANS,
    }
}

impl Generator for Hplajw {
    type Params = HplajwParams;
    const NAME: &'static str = "hplajw";
    const MEANING: &'static str = "stand-in for an hour of hplajw: a workstation, bursty, files end to end";

    fn requests(params: &Self::Params) -> u64 {
        params.requests
    }

    fn new(params: &Self::Params, setting: GeneratorSetting) -> Result<Self> {
        check_sequential_share(params)?;
        let stream = |purpose: &str| setting.stream(&format!("hplajw.{purpose}"));
        let gap_blocks = params.interleave_kb * 2;
        let space_blocks = setting.capacity_blocks.min(mb_to_blocks(params.address_space_gb * 1024.0));
        // Files have any number of pieces up to twice the mean, all equally likely.
        let mean_pieces = params.mean_file_kb * 1024.0 / (PIECE_BLOCKS * 512) as f64;
        let max_pieces = 2.0 * mean_pieces - 1.0;
        let cluster_blocks = max_pieces.ceil() as u64 * (PIECE_BLOCKS + gap_blocks);
        let reuse = |name: &str, visit_requests: f64| {
            let streams = ReuseStreams::new(|purpose| stream(&format!("{name}.{purpose}")));
            DataReuse::new(reuse_shape(params, visit_requests), space_blocks, cluster_blocks, streams)
        };
        Ok(Hplajw {
            arrivals: arrivals(params, stream),
            read_control: ShareControl::new(params.read_share, params.read_share),
            sizes: SizeMix::new(&random_sizes(params)?, space_blocks),
            files: reuse("files", mean_pieces / params.run_share.max(1e-3)),
            singles: reuse("singles", 1.0 / (1.0 - params.run_share)),
            max_pieces,
            run_share: params.run_share,
            sequential: ShareControl::new(params.sequential_share, chance_of_continuing(params)),
            scans: Vec::with_capacity(MAX_SCANS as usize),
            active: 0,
            previous_end: u64::MAX,
            gap_blocks,
            space_blocks,
            ops_rng: stream("ops"),
            sizes_rng: stream("sizes"),
            lengths_rng: stream("lengths"),
            kinds_rng: stream("kinds"),
            turns_rng: stream("turns"),
            choices: Places::new(stream("choices")),
        })
    }

    #[inline]
    fn next(&mut self) -> Request {
        let (arrival, begins_burst) = self.arrivals.next();
        // Drawn whether used or not, so that no choice shifts another.
        let op = if self.ops_rng.random::<f64>() < self.read_control.chance() { Op::Read } else { Op::Write };
        let random_blocks = self.sizes.draw(&mut self.sizes_rng);
        if begins_burst {
            self.begin_burst();
        }
        let (lbn, blocks, op) = if self.scans.is_empty() {
            let place = self.singles.next(op, SINGLE_BLOCKS.max(random_blocks));
            (place.lbn.min(self.space_blocks - u64::from(random_blocks)), random_blocks, op)
        } else {
            self.scan(op)
        };
        let gap_from_previous = lbn.wrapping_sub(self.previous_end);
        self.sequential.count(gap_from_previous == 0 || gap_from_previous == self.gap_blocks);
        self.read_control.count(op == Op::Read);
        self.previous_end = lbn + u64::from(blocks);
        Request { arrival, lbn, blocks, op, ..Request::default() }
    }
}

impl Hplajw {
    /// Decides whether the burst scans several files from end to end, or consists of single requests.
    fn begin_burst(&mut self) {
        self.scans.clear();
        self.active = 0;
        let scans = 2 + self.choices.below(MAX_SCANS - 1);
        if self.kinds_rng.random::<f64>() < self.run_share {
            let ended_scan = Scan { file: DataPlace { lbn: 0, blocks: 0 }, op: Op::Read, next: 0 };
            self.scans.resize(scans as usize, ended_scan);
        }
    }

    /// The next request of the active file or another; a file that replaces one scanned to its end gets operation `op`.
    fn scan(&mut self, op: Op) -> (u64, u32, Op) {
        let count = self.scans.len();
        let other = 1 + self.choices.below(count as u64 - 1) as usize;
        if self.turns_rng.random::<f64>() >= self.sequential.chance() {
            self.active = (self.active + other) % count;
        }
        // Drawn whether used or not, so that no choice shifts another.
        let pieces = 1 + (self.lengths_rng.random::<f64>() * self.max_pieces) as u64;
        let stride = PIECE_BLOCKS + self.gap_blocks;
        let mut scan = self.scans[self.active];
        if scan.next >= scan.file.end() {
            let blocks = (pieces * stride - self.gap_blocks).min(self.space_blocks);
            let mut file = self.files.next(op, blocks as u32);
            file.lbn = file.lbn.min(self.space_blocks - u64::from(file.blocks));
            scan = Scan { file, op, next: file.lbn };
        }
        let blocks = PIECE_BLOCKS.min(scan.file.end() - scan.next) as u32;
        let lbn = scan.next;
        scan.next += stride;
        self.scans[self.active] = scan;
        (lbn, blocks, scan.op)
    }
}
