//! The sequentiality of requests.

use sledlab_core::{BLOCK_BYTES, Op, Request};

use super::report::{DeviceCount, Sequentiality};
use super::{key, ratio};

/// Streams that are followed at the same time.
const STREAMS: usize = 32;

/// The gap that older file systems leave between the blocks of a file, in blocks.
const INTERLEAVE_BLOCKS: u64 = 16 * 1024 / BLOCK_BYTES;

/// Largest distance in blocks from the start of the previous request at which a request is local.
const LOCAL_BLOCKS: u64 = 10_000;

/// Counts of requests that follow an earlier one: in sequence, in a stream, after a gap, nearby, or mergeable.
#[derive(Clone, Debug, Default)]
pub struct SequentialityCollector {
    /// State of each device, by number.
    devices: Vec<Device>,
    streams: Streams,
    sequential: u64,
    in_stream: u64,
    interleaved: u64,
    local: u64,
    mergeable: u64,
}

/// The requests of one device.
#[derive(Clone, Copy, Debug, Default)]
struct Device {
    requests: u64,
    last: Option<Previous>,
}

#[derive(Clone, Copy, Debug)]
struct Previous {
    start: u64,
    end: u64,
    op: Op,
}

/// Ends of the streams that are followed.
#[derive(Clone, Debug)]
struct Streams {
    /// The most recently used stream is last.
    ends: Vec<u64>,
    /// Number of ends with each hash: most requests continue no stream, and need no search.
    counts: [u8; 256],
}

impl Default for Streams {
    fn default() -> Self {
        Streams { ends: Vec::with_capacity(STREAMS), counts: [0; 256] }
    }
}

impl Streams {
    /// Removes the stream that ends there, and returns whether there was one.
    #[inline]
    fn remove(&mut self, end: u64) -> bool {
        if self.counts[hash(end)] == 0 {
            return false;
        }
        let Some(index) = self.ends.iter().rposition(|other| *other == end) else { return false };
        self.ends.remove(index);
        self.counts[hash(end)] -= 1;
        true
    }

    /// Adds a stream in place of the least recently used one.
    #[inline]
    fn add(&mut self, end: u64) {
        if self.ends.len() == STREAMS {
            let oldest = self.ends.remove(0);
            self.counts[hash(oldest)] -= 1;
        }
        self.ends.push(end);
        self.counts[hash(end)] += 1;
    }
}

/// A hash of eight bits: the upper ones of a multiplication by the golden ratio.
fn hash(end: u64) -> usize {
    (end.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as usize
}

impl SequentialityCollector {
    pub fn record(&mut self, request: &Request) {
        self.follow_streams(request);
        let index = usize::from(request.device);
        if index >= self.devices.len() {
            self.devices.resize(index + 1, Device::default());
        }
        let device = &mut self.devices[index];
        device.requests += 1;
        let current = Previous { start: request.lbn, end: request.end(), op: request.op };
        let Some(last) = device.last.replace(current) else { return };
        let is_sequential = request.lbn == last.end;
        let is_interleaved = is_sequential || request.lbn.wrapping_sub(last.end) == INTERLEAVE_BLOCKS;
        let is_local = !is_sequential && request.lbn.abs_diff(last.start) <= LOCAL_BLOCKS;
        let are_reads = request.op == Op::Read && last.op == Op::Read;
        self.sequential += u64::from(is_sequential);
        self.interleaved += u64::from(is_interleaved);
        self.local += u64::from(is_local);
        self.mergeable += u64::from(is_sequential && are_reads);
    }

    fn follow_streams(&mut self, request: &Request) {
        let (start, end) = (key(request.device, request.lbn), key(request.device, request.end()));
        self.in_stream += u64::from(self.streams.remove(start));
        self.streams.remove(end);
        self.streams.add(end);
    }

    pub fn devices(&self) -> Vec<DeviceCount> {
        let numbered_devices = (0_u16..=u16::MAX).zip(&self.devices);
        let counts = numbered_devices.map(|(device, state)| DeviceCount { device, requests: state.requests });
        counts.filter(|count| count.requests > 0).collect()
    }

    /// The counts as shares of `requests`.
    pub fn summarize(&self, requests: u64) -> Sequentiality {
        Sequentiality {
            one_stream_share: ratio(self.sequential, requests),
            streams_32_share: ratio(self.in_stream, requests),
            with_16kb_gap_share: ratio(self.interleaved, requests),
            local_share: ratio(self.local, requests),
            mergeable_read_pairs_share: ratio(self.mergeable, requests),
        }
    }
}
