//! An endless sequential stream with a few random requests in between.

use sledlab_core::{Op, Request, Result, Time};

use super::draw::{Arrivals, Gap, Places, clamp_blocks};
use super::{Generator, GeneratorSetting};

sledlab_core::params! {
    /// One sequential read stream over the entire device, and sparse random reads.
    ///
    /// A scheduler that serves a complete group before the next one stays with the stream
    /// (GSPTF); a scheduler with zones does not. At the end of the device the stream starts over.
    pub struct DirectedStreamParams {
        /// Number of requests; 0 never ends.
        requests: u64 = 20_000_u64;
        /// Time between requests of the stream; always the same.
        stream_interarrival_ms: f64 = 0.2, "ms", 1e-6..1e9;
        /// Size of the stream's requests.
        stream_blocks: u64 = 8_u64, "blocks", 1..1e9;
        /// Mean time between random requests; exponential.
        random_interarrival_ms: f64 = 20.0, "ms", 1e-6..1e9;
        /// Size of the random requests.
        random_blocks: u64 = 8_u64, "blocks", 1..1e9;
        /// Start of the stream, as a share of the device.
        start_share: f64 = 0.0, "", 0.0..1.0;
    }
}

/// See [`DirectedStreamParams`].
pub struct DirectedStream {
    stream: Arrivals,
    randoms: Arrivals,
    places: Places,
    /// The next arrivals of the stream and of the random requests.
    stream_at: Time,
    random_at: Time,
    stream_lbn: u64,
    stream_blocks: u32,
    random_blocks: u32,
    capacity_blocks: u64,
}

impl Generator for DirectedStream {
    type Params = DirectedStreamParams;
    const NAME: &'static str = "directed-stream";
    const MEANING: &'static str = "an endless sequential stream with sparse random requests";

    fn requests(params: &Self::Params) -> u64 {
        params.requests
    }

    fn new(params: &Self::Params, setting: GeneratorSetting) -> Result<Self> {
        let capacity_blocks = setting.capacity_blocks;
        let stream_blocks = clamp_blocks(params.stream_blocks, capacity_blocks);
        let constant_gap = Gap::Constant { ms: params.stream_interarrival_ms };
        let exponential_gap = Gap::Exponential { mean_ms: params.random_interarrival_ms };
        let mut stream = Arrivals::new(constant_gap, setting.stream("directed-stream.stream"));
        let mut randoms = Arrivals::new(exponential_gap, setting.stream("directed-stream.randoms"));
        let last_lbn = capacity_blocks - u64::from(stream_blocks);
        Ok(DirectedStream {
            stream_at: stream.next(),
            random_at: randoms.next(),
            stream,
            randoms,
            places: Places::new(setting.stream("directed-stream.places")),
            stream_lbn: ((params.start_share * capacity_blocks as f64) as u64).min(last_lbn),
            stream_blocks,
            random_blocks: clamp_blocks(params.random_blocks, capacity_blocks),
            capacity_blocks,
        })
    }

    fn next(&mut self) -> Request {
        if self.random_at < self.stream_at {
            let arrival = std::mem::replace(&mut self.random_at, self.randoms.next());
            let lbn = self.places.next(self.random_blocks, 1, self.capacity_blocks);
            return Request { arrival, lbn, blocks: self.random_blocks, op: Op::Read, ..Request::default() };
        }
        let arrival = std::mem::replace(&mut self.stream_at, self.stream.next());
        let request = Request {
            arrival,
            lbn: self.stream_lbn,
            blocks: self.stream_blocks,
            op: Op::Read,
            ..Request::default()
        };
        let has_room = request.end() + u64::from(self.stream_blocks) <= self.capacity_blocks;
        self.stream_lbn = if has_room { request.end() } else { 0 };
        request
    }
}
