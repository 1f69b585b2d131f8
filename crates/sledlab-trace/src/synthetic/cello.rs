//! A stand-in for one hour of cello, a news server.

use rand::RngExt;
use sledlab_core::seed::Stream;
use sledlab_core::{Error, Op, Request, Result};

use super::draw::{Ops, Places};
use super::files::{RankedFile, RankedFiles, mb_to_blocks};
use super::modulated_arrivals::{ModulatedArrivals, Shape};
use super::sequential_share::SequentialShare;
use super::size_mix::{SizeMix, WeightedSize, mean_kb, split};
use super::{Generator, GeneratorSetting};

sledlab_core::params! {
    /// Bursty, write-dominated, mostly random: calibrated on published statistics of cello.
    ///
    /// Hong 2006 and Wang 2005 publish the rate, the share of reads, the mean size, the share of writes below 8 KB,
    /// sequentiality and the data touched; `docs/calibration.md` compares. Values of *Open* parameters are not
    /// published but assumed. Twelve hours as in Wang 2005 are `requests = 1088407`, `rate_per_s = 25.2`.
    pub struct CelloParams {
        /// Number of requests; 0 never ends.
        requests: u64 = 118_800_u64;
        /// Mean requests per second.
        rate_per_s: f64 = 33.0, "/s", 1e-6..1e6;
        /// Open: index of dispersion of the arrivals in windows of 1 s; 1 is Poisson.
        dispersion: f64 = 20.0, "", 1.0..1e6;
        /// Open: mean length of a burst.
        burst_s: f64 = 2.0, "s", 1e-3..1e5;
        /// Open: share of the time that bursts last.
        burst_share: f64 = 0.2, "", 0.001..0.999;
        /// Share of reads.
        read_share: f64 = 0.287, "", 0.0..1.0;
        /// Mean size of a request.
        mean_size_kb: f64 = 7.2, "KB", 1.0..64.0;
        /// Share of writes below 8 KB.
        small_write_share: f64 = 0.52, "", 0.0..1.0;
        /// Share of requests that start where the previous request ended.
        sequential_share: f64 = 0.074, "", 0.0..1.0;
        /// Open: number of extents that are accessed sequentially at the same time.
        streams: u64 = 8_u64, "", 1..1e4;
        /// Open: mean number of consecutive requests to one stream.
        stream_turn: f64 = 4.0, "", 1.5..1e4;
        /// Open: share of the non-sequential writes that overwrite one of the last 1,024 writes.
        overwrite_share: f64 = 0.3, "", 0.0..1.0;
        /// Size of the accessed data; 1,088,407 requests touch 775 MiB.
        data_mb: f64 = 880.0, "MiB", 0.1..1e6;
        /// Open: exponent of the popularity of extents of 64 KB by rank.
        zipf_exponent: f64 = 0.9, "", 0.0..10.0;
        /// Open: addresses over which extents are scattered; a smaller device is filled.
        address_space_gb: f64 = 3.2, "GiB", 1e-3..1e6;
    }
}

/// Blocks of an extent: 64 KB, the size of the largest request.
const EXTENT_BLOCKS: u32 = 128;

/// Number of recent writes that may be overwritten.
const RECENT_WRITES: usize = 1024;

/// Sizes of reads in KB.
const READ_SIZES: [WeightedSize; 4] = [(2.0, 0.1 / 3.0), (4.0, 0.1 / 3.0), (6.0, 0.1 / 3.0), (8.0, 0.9)];

/// Sizes of writes below 8 KB, in KB.
const SMALL_WRITES: [WeightedSize; 3] = [(1.0, 20.0), (2.0, 16.0), (4.0, 16.0)];

/// Of the writes of 8 KB or more, the share that are larger than 8 KB.
const LARGE_SHARE: f64 = 7.0 / 48.0;

/// See [`CelloParams`].
pub struct Cello {
    arrivals: ModulatedArrivals,
    ops: Ops,
    reads: SizeMix,
    writes: SizeMix,
    files: RankedFiles,
    sequential: SequentialShare,
    streams: Vec<Place>,
    /// The active stream and the operation of its requests.
    turn: Option<(usize, Op)>,
    stream_turn: f64,
    overwrite_share: f64,
    recent: Vec<Place>,
    /// Index in `recent` at which the next write is kept.
    oldest_index: usize,
    previous_end: u64,
    sizes_rng: Stream,
    turns_rng: Stream,
    overwrites_rng: Stream,
    choices: Places,
}

/// A block of a file.
#[derive(Clone, Copy, Debug)]
struct Place {
    file: RankedFile,
    lbn: u64,
}

impl Place {
    fn can_hold(self, blocks: u32) -> bool {
        self.lbn + u64::from(blocks) <= self.file.end()
    }
}

/// Returns the chance with which turns begin. A turn of n requests has n - 1 sequential ones, and 1 / chance requests
/// follow until the next turn.
fn chance_of_turn(params: &CelloParams) -> f64 {
    let (share, turn) = (params.sequential_share, params.stream_turn);
    share / (turn - 1.0 - share * turn)
}

/// Rejects a share of sequential requests that turns cannot reach.
///
/// A turn of n requests has n - 1 sequential ones and one other request after it; ends of extents cost some more.
fn check_sequential_share(params: &CelloParams) -> Result<()> {
    let max_share = 0.8 * (params.stream_turn - 1.0) / (params.stream_turn + 1.0);
    if params.sequential_share <= max_share {
        return Ok(());
    }
    Err(Error::user(format!(
        "workload.sequential_share = {} is impossible with turns of {} requests",
        params.sequential_share, params.stream_turn
    ))
    .with_remedy(format!("take at most {max_share:.2}, or a larger workload.stream_turn")))
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
        check_sequential_share(params)?;
        let stream = |purpose: &str| setting.stream(&format!("cello.{purpose}"));
        let shape = Shape {
            rate_per_s: params.rate_per_s,
            dispersion: params.dispersion,
            burst_s: params.burst_s,
            burst_share: params.burst_share,
        };
        let space_blocks = setting.capacity_blocks.min(mb_to_blocks(params.address_space_gb * 1024.0));
        let extents = mb_to_blocks(params.data_mb).div_ceil(u64::from(EXTENT_BLOCKS));
        let lengths = (0..extents).map(|_| EXTENT_BLOCKS);
        let layout = [stream("scatter"), stream("extents"), stream("places")];
        let files = RankedFiles::new(lengths, 0, space_blocks, params.zipf_exponent, layout)?;
        let max_blocks = u64::from(files.largest_blocks());
        let nowhere = Place { file: RankedFile { start: 0, blocks: 0 }, lbn: 0 };
        Ok(Cello {
            arrivals: ModulatedArrivals::new(shape, stream("arrivals"), stream("bursts"))?,
            ops: Ops::new(params.read_share, stream("ops"))?,
            reads: SizeMix::new(&READ_SIZES, max_blocks),
            writes: SizeMix::new(&write_sizes(params)?, max_blocks),
            files,
            sequential: SequentialShare::new(params.sequential_share, chance_of_turn(params)),
            streams: vec![nowhere; params.streams as usize],
            turn: None,
            stream_turn: params.stream_turn,
            overwrite_share: params.overwrite_share,
            recent: Vec::with_capacity(RECENT_WRITES),
            oldest_index: 0,
            previous_end: u64::MAX,
            sizes_rng: stream("sizes"),
            turns_rng: stream("turns"),
            overwrites_rng: stream("overwrites"),
            choices: Places::new(stream("choices")),
        })
    }

    #[inline]
    fn next(&mut self) -> Request {
        let arrival = self.arrivals.next();
        let drawn_op = self.ops.next();
        self.switch_turn(drawn_op);
        // Drawn whether used or not, so that no choice shifts another.
        let is_overwrite = self.overwrites_rng.random::<f64>() < self.overwrite_share;
        let (op, stream) = self.turn.map_or((drawn_op, None), |(stream, op)| (op, Some(stream)));
        let mix = if op == Op::Read { &self.reads } else { &self.writes };
        let blocks = mix.draw(&mut self.sizes_rng);
        let place = match stream {
            Some(stream) => self.follow(stream, blocks),
            None if op == Op::Write && is_overwrite => self.pick_recent_write(blocks),
            None => self.random_place(blocks),
        };
        if op == Op::Write {
            self.remember(place);
        }
        self.sequential.count(place.lbn == self.previous_end);
        self.previous_end = place.lbn + u64::from(blocks);
        Request { arrival, lbn: place.lbn, blocks, op, ..Request::default() }
    }
}

impl Cello {
    /// Ends the turn of a stream, or begins one, with operation `op`.
    fn switch_turn(&mut self, op: Op) {
        let chance: f64 = self.turns_rng.random();
        if self.turn.is_some() {
            if chance * self.stream_turn < 1.0 {
                self.turn = None;
            }
        } else if chance < self.sequential.chance() {
            self.turn = Some((self.choices.below(self.streams.len() as u64) as usize, op));
        }
    }

    /// The next place of the stream: in its extent or, if too few blocks are left there, at the beginning of another.
    fn follow(&mut self, stream: usize, blocks: u32) -> Place {
        let mut place = self.streams[stream];
        if !place.can_hold(blocks) {
            let file = self.files.pick();
            place = Place { file, lbn: file.start };
        }
        self.streams[stream] = Place { lbn: place.lbn + u64::from(blocks), ..place };
        place
    }

    /// The place of one of the last writes, moved back where too few blocks are left to the end of its extent.
    fn pick_recent_write(&mut self, blocks: u32) -> Place {
        if self.recent.is_empty() {
            return self.random_place(blocks);
        }
        let place = self.recent[self.choices.below(self.recent.len() as u64) as usize];
        Place { lbn: place.lbn.min(place.file.end() - u64::from(blocks)), ..place }
    }

    fn random_place(&mut self, blocks: u32) -> Place {
        let (file, lbn) = self.files.place(blocks);
        Place { file, lbn }
    }

    fn remember(&mut self, place: Place) {
        if self.recent.len() < RECENT_WRITES {
            self.recent.push(place);
        } else {
            self.recent[self.oldest_index] = place;
            self.oldest_index = (self.oldest_index + 1) % RECENT_WRITES;
        }
    }
}
