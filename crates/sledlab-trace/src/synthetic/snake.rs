//! A stand-in for a day of one disk of snake, a file server.

use rand::RngExt;
use sledlab_core::seed::Stream;
use sledlab_core::{BLOCK_BYTES, Error, Op, Request, Result, WORD_BYTES};

use super::clustered_arrivals::{Arrival, ClusterRates, ClusteredArrivals, UnitStart};
use super::draw::{Ops, Places};
use super::files::{PIECE_BLOCKS, RankedFile, RankedFiles, mb_to_blocks};
use super::share_control::ShareControl;
use super::size_mix::{SizeMix, WeightedSize, mean_kb, split};
use super::{Generator, GeneratorSetting};

sledlab_core::params! {
    /// Clusters of clumps of requests, sequential reads, rare copies: calibrated on published
    /// statistics of disk 6 of snake on 30 May 1992.
    ///
    /// Hong 2006 and Lin publish the mean size, the share of metadata, and results of a G3 sled that parks immediately,
    /// at speed-ups of 10 and 100: start-ups, response times, energies. `docs/calibration.md` compares. Values of
    /// *Open* parameters are not published but assumed. Lin's energies imply `mean_size_kb = 6.96`, with `max_size_kb =
    /// 8`.
    pub struct SnakeParams {
        /// Open: number of requests, fitted to the savings of subsector access; 0 never ends.
        requests: u64 = 87_000_u64;
        /// Open: mean requests per second, fitted to the energy of inactive times.
        rate_per_s: f64 = 2.047, "/s", 1e-6..1e6;
        /// Open: mean number of requests of a clump.
        clump_requests: f64 = 1.5, "", 1.0..1e6;
        /// Open: mean time between requests of a clump.
        clump_gap_ms: f64 = 0.5, "ms", 0.0..1e9;
        /// Open: mean number of clumps of a cluster.
        cluster_clumps: f64 = 19.0, "", 1.0..1e6;
        /// Open: mean time between clumps of a cluster.
        cluster_gap_ms: f64 = 59.2, "ms", 0.0..1e9;
        /// Open: number of requests of a copy, reads and writes; 0 disables copies.
        copy_requests: u64 = 5_650_u64, "", 0..1e9;
        /// Open: time between copies.
        copy_every_s: f64 = 10_600.0, "s", 1e-3..1e9;
        /// Open: mean number of consecutive reads or writes of a copy.
        copy_run: f64 = 8.0, "", 1.0..1e6;
        /// Open: mean time between the runs of a copy.
        copy_gap_ms: f64 = 50.0, "ms", 0.0..1e9;
        /// Open: share of reads.
        read_share: f64 = 0.45, "", 0.0..1.0;
        /// Open: share of reads that start where the previous read ended, over a day; smaller in runs without a copy.
        sequential_share: f64 = 0.6, "", 0.0..1.0;
        /// Mean size of a request.
        mean_size_kb: f64 = 8.0, "KB", 1.0..64.0;
        /// Open: largest size of a request; 16 or less limits requests to 8 KB, as nearly all of ajw are.
        max_size_kb: f64 = 32.0, "KB", 8.0..1024.0;
        /// Share of requests for metadata.
        metadata_share: f64 = 0.72, "", 0.0..1.0;
        /// Whether metadata requests shrink to one block, of which `metadata_bytes` are requested.
        trim_metadata: bool = false;
        /// Requested bytes of trimmed metadata; Hong 2006 uses 4 to 128.
        metadata_bytes: u64 = 128_u64, "bytes", 4..512;
        /// Open: size of the accessed data; copies use all addresses.
        data_mb: f64 = 300.0, "MiB", 0.1..1e6;
        /// Open: size of files.
        file_kb: f64 = 128.0, "KB", 1.0..1e5;
        /// Open: exponent of the popularity of files by rank.
        zipf_exponent: f64 = 0.8, "", 0.0..10.0;
        /// Open: addresses over which files are scattered; a smaller device is filled.
        address_space_gb: f64 = 1.3, "GiB", 1e-3..1e6;
    }
}

/// Open: share of requests of 8 KB; a choice that, with the shares below, gives the published mean size.
const SHARE_8_KB: f64 = 0.75;

/// Open: sizes below 8 KB, and the share of each among all requests.
const SMALL_SIZES: [WeightedSize; 3] = [(1.0, 0.05), (2.0, 0.05), (4.0, 0.05)];

/// Open: share of requests of 16 or 32 KB.
const LARGE_SHARE: f64 = 0.1;

/// See [`SnakeParams`].
pub struct Snake {
    arrivals: ClusteredArrivals,
    /// Draws an operation for each clump or run.
    ops: Ops,
    op: Op,
    sizes: SizeMix,
    files: RankedFiles,
    /// The share of sequential requests among reads outside copies.
    sequential: ShareControl,
    /// The file that is read, and its next block; `None` where the last request was not a read of the present cluster.
    reading: Option<(RankedFile, u64)>,
    /// The next blocks of the present copy, on its reading and on its writing side.
    copy: Copy,
    space_blocks: u64,
    metadata_share: f64,
    /// The unrequested words of metadata requests if they are trimmed to a block.
    trimmed_unrequested_words: Option<u8>,
    sizes_rng: Stream,
    sequential_rng: Stream,
    metadata_rng: Stream,
    copy_places: Places,
}

/// Source and destination of a copy.
#[derive(Clone, Copy, Debug, Default)]
struct Copy {
    read_next: u64,
    write_next: u64,
}

/// The sizes, with the share of the largest that gives the mean. Without sizes above 8 KB, requests that are not small
/// have 2 or 8 KB.
fn sizes(params: &SnakeParams) -> Result<Vec<WeightedSize>> {
    let small_share: f64 = SMALL_SIZES.iter().map(|(_, weight)| weight).sum();
    let small_kb = small_share * mean_kb(&SMALL_SIZES);
    let mut sizes = SMALL_SIZES.to_vec();
    if params.max_size_kb <= 16.0 {
        let share = 1.0 - small_share;
        let share_of_8_kb = split(params.mean_size_kb, small_kb, share, 2.0, 8.0)?;
        sizes.extend([(2.0, share - share_of_8_kb * share), (8.0, share * share_of_8_kb)]);
        return Ok(sizes);
    }
    let rest_kb = small_kb + SHARE_8_KB * 8.0;
    let largest_share = split(params.mean_size_kb, rest_kb, LARGE_SHARE, 16.0, params.max_size_kb)?;
    let large =
        [(16.0, LARGE_SHARE * (1.0 - largest_share)), (params.max_size_kb, LARGE_SHARE * largest_share)];
    sizes.push((8.0, SHARE_8_KB));
    sizes.extend(large);
    Ok(sizes)
}

/// Returns the control of the share of sequential reads outside copies. In copies, all reads but the first are
/// sequential.
fn sequential_outside_copies(params: &SnakeParams, rhythm: &ClusterRates) -> Result<ShareControl> {
    let copy_share = rhythm.copy_share();
    let follow_share = params.read_share;
    let reads_of_copy = (params.copy_requests as f64 * params.read_share).max(1.0);
    let sequential_in_copies = copy_share * (1.0 - 1.0 / reads_of_copy);
    // A clump that follows one of writes, or begins a cluster, begins in another file; and files end.
    let share_of_first_requests =
        (1.0 - follow_share * (1.0 - 1.0 / params.cluster_clumps)) / params.clump_requests;
    let max_outside = (1.0 - share_of_first_requests) * (1.0 - 8.0 / params.file_kb.max(8.0));
    let possible = max_outside;
    let [minimum, max_outside] =
        [0.0, max_outside].map(|share_outside| sequential_in_copies + share_outside * (1.0 - copy_share));
    let target_share = params.sequential_share;
    if (minimum..=max_outside).contains(&target_share) || params.read_share == 0.0 {
        let share_outside = (target_share - sequential_in_copies) / (1.0 - copy_share);
        return Ok(ShareControl::new(share_outside, share_outside / possible));
    }
    Err(Error::user(format!(
        "workload.sequential_share = {target_share} is impossible with clumps of {} requests over files of {} KB, and \
         copies that are sequential",
        params.clump_requests, params.file_kb
    ))
    .with_remedy(format!(
        "take {:.2} to {:.2}",
        (100.0 * minimum).ceil() / 100.0,
        (100.0 * max_outside).floor() / 100.0
    )))
}

impl Generator for Snake {
    type Params = SnakeParams;
    const NAME: &'static str = "snake";
    const MEANING: &'static str =
        "stand-in for a day of snake: a file server, clusters and copies, metadata flagged";

    fn requests(params: &Self::Params) -> u64 {
        params.requests
    }

    fn new(params: &Self::Params, setting: GeneratorSetting) -> Result<Self> {
        let stream = |purpose: &str| setting.stream(&format!("snake.{purpose}"));
        let rates = ClusterRates {
            rate_per_s: params.rate_per_s,
            clump_requests: params.clump_requests,
            clump_gap_s: params.clump_gap_ms / 1e3,
            cluster_clumps: params.cluster_clumps,
            cluster_gap_s: params.cluster_gap_ms / 1e3,
            copy_requests: params.copy_requests,
            copy_run: params.copy_run,
            copy_gap_s: params.copy_gap_ms / 1e3,
            copy_every_s: params.copy_every_s,
        };
        let space_blocks = setting.capacity_blocks.min(mb_to_blocks(params.address_space_gb * 1024.0));
        let file_blocks = mb_to_blocks(params.file_kb / 1024.0);
        let lengths = (0..mb_to_blocks(params.data_mb).div_ceil(file_blocks)).map(|_| file_blocks as u32);
        let layout = [stream("scatter"), stream("files"), stream("places")];
        let files = RankedFiles::new(lengths, space_blocks, params.zipf_exponent, layout)?;
        let requested_words = params.metadata_bytes.div_ceil(WORD_BYTES);
        let unrequested_words = (BLOCK_BYTES / WORD_BYTES - requested_words) as u8;
        let time_streams = ["arrivals", "clusters", "copies"].map(stream);
        Ok(Snake {
            arrivals: ClusteredArrivals::new(rates, time_streams)?,
            ops: Ops::new(params.read_share, stream("ops"))?,
            op: Op::Read,
            sizes: SizeMix::new(&sizes(params)?, u64::from(files.largest_blocks())),
            files,
            sequential: sequential_outside_copies(params, &rates)?,
            reading: None,
            copy: Copy::default(),
            space_blocks,
            metadata_share: params.metadata_share,
            trimmed_unrequested_words: params.trim_metadata.then_some(unrequested_words),
            sizes_rng: stream("sizes"),
            sequential_rng: stream("sequential"),
            metadata_rng: stream("metadata"),
            copy_places: Places::new(stream("copy places")),
        })
    }

    #[inline]
    fn next(&mut self) -> Request {
        let Arrival { at: arrival, first, is_copying } = self.arrivals.next();
        if first != UnitStart::Nothing {
            self.op = self.ops.next();
        }
        // Drawn whether used or not, so that no choice shifts another.
        let blocks = self.sizes.draw(&mut self.sizes_rng);
        let continues_file = self.sequential_rng.random::<f64>() < self.sequential.chance();
        let is_metadata = self.metadata_rng.random::<f64>() < self.metadata_share;
        if matches!(first, UnitStart::Cluster | UnitStart::Copy) {
            self.reading = None;
        }
        let lbn = if is_copying {
            self.continue_copy(first == UnitStart::Copy, blocks)
        } else {
            self.next_cluster_block(continues_file, blocks)
        };
        let request =
            Request { arrival, lbn, blocks, op: self.op, metadata: is_metadata, ..Request::default() };
        match self.trimmed_unrequested_words {
            Some(unrequested_words) if is_metadata => Request { blocks: 1, unrequested_words, ..request },
            _ => request,
        }
    }
}

impl Snake {
    /// The first block of the next request of a copy.
    fn continue_copy(&mut self, is_first: bool, blocks: u32) -> u64 {
        let pieces = self.space_blocks.div_ceil(PIECE_BLOCKS);
        let mut random_piece = || self.copy_places.below(pieces) * PIECE_BLOCKS;
        if is_first {
            self.copy = Copy { read_next: random_piece(), write_next: random_piece() };
        }
        let next_block =
            if self.op == Op::Read { &mut self.copy.read_next } else { &mut self.copy.write_next };
        if *next_block + u64::from(blocks) > self.space_blocks {
            *next_block = 0;
        }
        let lbn = *next_block;
        *next_block += u64::from(blocks);
        lbn
    }

    /// The first block of a request of a cluster; a read continues the file of the previous read if `continues` is
    /// true.
    fn next_cluster_block(&mut self, continues: bool, blocks: u32) -> u64 {
        if self.op == Op::Write {
            self.reading = None;
            return self.files.place(blocks).1;
        }
        let continued =
            self.reading.filter(|(file, next)| continues && next + u64::from(blocks) <= file.end());
        let (file, lbn) = continued.unwrap_or_else(|| self.files.place(blocks));
        self.sequential.count(continued.is_some());
        self.reading = Some((file, lbn + u64::from(blocks)));
        lbn
    }
}
