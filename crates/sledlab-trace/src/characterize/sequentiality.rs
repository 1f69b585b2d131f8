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
    /// Ends of the streams; the most recently used is last.
    stream_ends: Vec<u64>,
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

impl SequentialityCollector {
    pub fn record(&mut self, request: &Request) {
        self.follow_streams(request);
        let index = usize::from(request.device);
        if index >= self.devices.len() {
            self.devices.resize(index + 1, Device::default());
        }
        let device = &mut self.devices[index];
        device.requests += 1;
        let this = Previous { start: request.lbn, end: request.end(), op: request.op };
        let Some(last) = device.last.replace(this) else { return };
        let sequential = request.lbn == last.end;
        let interleaved = sequential || request.lbn.wrapping_sub(last.end) == INTERLEAVE_BLOCKS;
        let local = !sequential && request.lbn.abs_diff(last.start) <= LOCAL_BLOCKS;
        let reads = request.op == Op::Read && last.op == Op::Read;
        self.sequential += u64::from(sequential);
        self.interleaved += u64::from(interleaved);
        self.local += u64::from(local);
        self.mergeable += u64::from(sequential && reads);
    }

    fn follow_streams(&mut self, request: &Request) {
        let ends = &mut self.stream_ends;
        let (start, end) = (key(request.device, request.lbn), key(request.device, request.end()));
        if let Some(stream) = ends.iter().rposition(|at| *at == start) {
            self.in_stream += 1;
            ends.remove(stream);
        }
        if let Some(stream) = ends.iter().rposition(|at| *at == end) {
            ends.remove(stream);
        }
        if ends.len() == STREAMS {
            ends.remove(0);
        }
        ends.push(end);
    }

    pub fn devices(&self) -> Vec<DeviceCount> {
        let numbered = (0_u16..=u16::MAX).zip(&self.devices);
        let counted = numbered.map(|(device, of)| DeviceCount { device, requests: of.requests });
        counted.filter(|count| count.requests > 0).collect()
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
