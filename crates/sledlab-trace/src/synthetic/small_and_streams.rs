//! Small requests to a part of the data, streams through the other part: the workload that bipartite layouts serve.

use rand::RngExt;
use sledlab_core::seed::Stream;
use sledlab_core::{Op, Request, Result};

use super::draw::{Arrivals, Gap, Ops, Places};
use super::{Generator, GeneratorSetting};

sledlab_core::params! {
    /// Poisson arrivals of small requests to small data, and of streams through large data.
    ///
    /// Griffin et al. (2000) mix accesses of 4 KB with much larger ones; the defaults are ours.
    pub struct SmallAndStreamsParams {
        /// Number of requests; 0 never ends.
        requests: u64 = 100_000_u64;
        /// Mean time between arrivals.
        mean_interarrival_ms: f64 = 2.0, "ms", 1e-6..1e9;
        /// Share of reads, among small requests and among streams.
        read_share: f64 = 0.8, "", 0.0..1.0;
        /// Size of a small request; places are uniform over the small data.
        small_blocks: u64 = 8_u64, "blocks", 1..1e6;
        /// Share of requests that belong to streams.
        stream_share: f64 = 0.2, "", 0.0..1.0;
        /// Size of a request of a stream.
        stream_blocks: u64 = 128_u64, "blocks", 1..1e6;
        /// Mean number of requests of a stream.
        stream_requests: f64 = 16.0, "", 1.0..1e9;
        /// Number of streams at a time.
        streams: u64 = 2_u64, "", 1..1000;
        /// Share of the addresses that hold small data.
        small_data_share: f64 = 0.2, "", 0.0..1.0;
        /// Equal groups of addresses, each with its small data first; 1 has all small data first.
        groups: u64 = 1_u64, "", 1..1e6;
    }
}

/// A range of blocks, the same in every group.
#[derive(Clone, Copy, Debug)]
struct Part {
    first: u64,
    length: u64,
}

/// A stream, at its next request.
#[derive(Clone, Copy, Debug)]
struct StreamCursor {
    next: u64,
    end: u64,
    op: Op,
}

/// See [`SmallAndStreamsParams`].
pub struct SmallAndStreams {
    arrivals: Arrivals,
    ops: Ops,
    small_blocks: u64,
    stream_share: f64,
    stream_blocks: u64,
    ends_chance: f64,
    group_blocks: u64,
    groups: u64,
    small: Part,
    large: Part,
    runs: Vec<StreamCursor>,
    kinds_rng: Stream,
    ends_rng: Stream,
    turns: Places,
    places: Places,
}

impl Generator for SmallAndStreams {
    type Params = SmallAndStreamsParams;
    const NAME: &'static str = "small-and-streams";
    const MEANING: &'static str = "small requests to a part of the addresses, streams through the other part";

    fn requests(params: &Self::Params) -> u64 {
        params.requests
    }

    fn new(params: &Self::Params, setting: GeneratorSetting) -> Result<Self> {
        let stream = |purpose: &str| setting.stream(&format!("small-and-streams.{purpose}"));
        let groups = params.groups.min(setting.capacity_blocks);
        let group_blocks = setting.capacity_blocks / groups;
        // Neither part is empty; on a single block both parts are that block.
        let small = ((params.small_data_share * group_blocks as f64) as u64).clamp(1, group_blocks);
        let first = small.min(group_blocks - 1);
        let (small, large) = (Part { first: 0, length: small }, Part { first, length: group_blocks - first });
        let gap = Gap::Exponential { mean_ms: params.mean_interarrival_ms };
        Ok(SmallAndStreams {
            arrivals: Arrivals::new(gap, stream("arrivals")),
            ops: Ops::new(params.read_share, stream("ops"))?,
            small_blocks: params.small_blocks.min(small.length),
            stream_share: params.stream_share,
            stream_blocks: params.stream_blocks.min(large.length),
            ends_chance: 1.0 / params.stream_requests,
            group_blocks,
            groups,
            small,
            large,
            runs: vec![StreamCursor { next: 0, end: 0, op: Op::Read }; params.streams as usize],
            kinds_rng: stream("kinds"),
            ends_rng: stream("ends"),
            turns: Places::new(stream("turns")),
            places: Places::new(stream("places")),
        })
    }

    #[inline]
    fn next(&mut self) -> Request {
        let arrival = self.arrivals.next();
        // Drawn whether used or not, so that no choice shifts another.
        let (is_stream, op) = (self.kinds_rng.random::<f64>() < self.stream_share, self.ops.next());
        let (lbn, blocks, op) = if is_stream {
            self.stream(op)
        } else {
            (self.place(self.small, self.small_blocks).0, self.small_blocks, op)
        };
        Request { arrival, lbn, blocks: blocks as u32, op, ..Request::default() }
    }
}

impl SmallAndStreams {
    /// A place for `blocks` in a part of a random group, and the end of that part.
    fn place(&mut self, part: Part, blocks: u64) -> (u64, u64) {
        let places = (part.length - blocks) / blocks + 1;
        let place = self.places.below(self.groups * places);
        let first = place / places * self.group_blocks + part.first;
        (first + place % places * blocks, first + part.length)
    }

    /// The next request of one of the streams; a stream that begins gets operation `op`.
    fn stream(&mut self, op: Op) -> (u64, u64, Op) {
        let turn = self.turns.below(self.runs.len() as u64) as usize;
        let ends_stream = self.ends_rng.random::<f64>() < self.ends_chance;
        let mut cursor = self.runs[turn];
        if ends_stream || cursor.next + self.stream_blocks > cursor.end {
            let (next, end) = self.place(self.large, self.stream_blocks);
            cursor = StreamCursor { next, end, op };
        }
        let lbn = cursor.next;
        cursor.next += self.stream_blocks;
        self.runs[turn] = cursor;
        (lbn, self.stream_blocks, cursor.op)
    }
}
