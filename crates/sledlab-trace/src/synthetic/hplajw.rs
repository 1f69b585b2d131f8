//! A stand-in for one hour of hplajw, a workstation.

use rand::RngExt;
use rand_distr::Exp1;
use sledlab_core::seed::Stream;
use sledlab_core::{Error, Op, Request, Result, math};

use super::draw::{Ops, Places};
use super::files::{PIECE_BLOCKS, RankedFile, RankedFiles, mb_to_blocks};
use super::on_off::OnOffArrivals;
use super::sequential_share::SequentialShare;
use super::size_mix::{SizeMix, WeightedSize, mean_kb, split};
use super::{Generator, GeneratorSetting};

sledlab_core::params! {
    /// Bursts of one user, most of them several files read or written at once: calibrated on
    /// published statistics of hplajw.
    ///
    /// Hong 2006 and Wang 2005 publish the rate, the share of reads, the mean size, sequentiality and the
    /// data touched; `docs/calibration.md` compares. Values of *Open* parameters are not published but assumed. The two
    /// hours of Wang 2005 are `requests = 308788`, `rate_per_s = 42.9`.
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
        /// Size of the accessed data; 308,788 requests touch 376 MiB.
        data_mb: f64 = 450.0, "MiB", 0.1..1e6;
        /// Open: mean size of files.
        mean_file_kb: f64 = 64.0, "KB", 8.0..1e5;
        /// Open: exponent of the popularity of files by rank.
        zipf_exponent: f64 = 0.8, "", 0.0..10.0;
        /// Open: addresses over which files are scattered; a smaller device is filled.
        address_space_gb: f64 = 3.2, "GiB", 1e-3..1e6;
    }
}

/// Share of requests of 8 KB, those of runs included.
const SHARE_8_KB: f64 = 0.85;

/// Sizes below 8 KB.
const SMALL_SIZES: [WeightedSize; 3] = [(1.0, 0.6), (2.0, 0.25), (4.0, 0.15)];

/// Sizes above 8 KB.
const LARGE_SIZES: [WeightedSize; 3] = [(16.0, 0.8), (32.0, 0.15), (64.0, 0.05)];

/// The maximum number of files that are accessed at the same time: one and 1 to 4 others.
const MAX_SCANS: u64 = 5;

/// See [`HplajwParams`].
pub struct Hplajw {
    arrivals: OnOffArrivals,
    ops: Ops,
    sizes: SizeMix,
    files: RankedFiles,
    run_share: f64,
    sequential: SequentialShare,
    /// The files scanned in the present burst; empty in a burst without runs.
    scans: Vec<Scan>,
    /// The index in `scans` of the file that had the last request.
    active: usize,
    previous_end: u64,
    gap_blocks: u64,
    sizes_rng: Stream,
    kinds_rng: Stream,
    turns_rng: Stream,
    choices: Places,
}

/// A file that is read or written from its beginning to its end.
#[derive(Clone, Copy, Debug)]
struct Scan {
    file: RankedFile,
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

/// Lengths of files in blocks, from the first piece to the last: a geometric number of pieces.
fn file_lengths(params: &HplajwParams, gap_blocks: u64, mut rng: Stream) -> impl Iterator<Item = u32> {
    let mean_pieces = params.mean_file_kb * 1024.0 / (PIECE_BLOCKS * 512) as f64;
    // Rounded up, an exponential draw of this mean is geometric with the configured mean.
    let exponential_mean = -1.0 / math::ln_1p(-1.0 / mean_pieces);
    let mut remaining_pieces = mb_to_blocks(params.data_mb).div_ceil(PIECE_BLOCKS);
    std::iter::from_fn(move || {
        let pieces =
            ((exponential_mean * rng.sample::<f64, _>(Exp1)).ceil().max(1.0) as u64).min(remaining_pieces);
        remaining_pieces -= pieces;
        let length = pieces * (PIECE_BLOCKS + gap_blocks) - gap_blocks.min(pieces * gap_blocks);
        (pieces > 0).then_some(length.min(u64::from(u32::MAX)) as u32)
    })
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
        let lengths = file_lengths(params, gap_blocks, stream("lengths"));
        let layout = [stream("scatter"), stream("files"), stream("places")];
        let files = RankedFiles::new(lengths, gap_blocks, space_blocks, params.zipf_exponent, layout)?;
        Ok(Hplajw {
            arrivals: OnOffArrivals::new(
                params.rate_per_s,
                params.burst_requests,
                params.busy_share,
                stream("arrivals"),
                stream("bursts"),
            ),
            ops: Ops::new(params.read_share, stream("ops"))?,
            sizes: SizeMix::new(&random_sizes(params)?, u64::from(files.largest_blocks())),
            files,
            run_share: params.run_share,
            sequential: SequentialShare::new(params.sequential_share, chance_of_continuing(params)),
            scans: Vec::with_capacity(MAX_SCANS as usize),
            active: 0,
            previous_end: u64::MAX,
            gap_blocks,
            sizes_rng: stream("sizes"),
            kinds_rng: stream("kinds"),
            turns_rng: stream("turns"),
            choices: Places::new(stream("choices")),
        })
    }

    #[inline]
    fn next(&mut self) -> Request {
        let (arrival, begins_burst) = self.arrivals.next();
        // Drawn whether used or not, so that no choice shifts another.
        let (op, random_blocks) = (self.ops.next(), self.sizes.draw(&mut self.sizes_rng));
        if begins_burst {
            self.begin_burst();
        }
        let (lbn, blocks, op) = if self.scans.is_empty() {
            (self.files.place(random_blocks).1, random_blocks, op)
        } else {
            self.scan(op)
        };
        let gap_from_previous = lbn.wrapping_sub(self.previous_end);
        self.sequential.count(gap_from_previous == 0 || gap_from_previous == self.gap_blocks);
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
            let ended_scan = Scan { file: RankedFile { start: 0, blocks: 0 }, op: Op::Read, next: 0 };
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
        let mut scan = self.scans[self.active];
        if scan.next >= scan.file.end() {
            let file = self.files.pick();
            scan = Scan { file, op, next: file.start };
        }
        let blocks = PIECE_BLOCKS.min(scan.file.end() - scan.next) as u32;
        let lbn = scan.next;
        scan.next += self.files.stride();
        self.scans[self.active] = scan;
        (lbn, blocks, scan.op)
    }
}
