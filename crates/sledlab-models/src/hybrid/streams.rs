//! Streams: reads that begin where an earlier read ended.

use std::collections::VecDeque;

use crate::device::QueuedRequest;

/// Most streams that are followed at a time.
const MAX_STREAMS: usize = 32;

/// A stream of reads: the block at which the next read would begin, and the blocks read so far.
#[derive(Clone, Copy, Debug)]
struct Stream {
    next: u64,
    blocks: u64,
}

/// The streams that were read most recently.
#[derive(Debug)]
pub(super) struct Streams {
    min_blocks: u64,
    latest: VecDeque<Stream>,
}

impl Streams {
    /// A read is part of a stream once `min_blocks` have been read before it; with 0, no read is.
    pub fn new(min_blocks: u64) -> Self {
        Streams { min_blocks, latest: VecDeque::new() }
    }

    /// Whether a read is part of a stream that is long enough.
    pub fn is_stream(&mut self, read: &QueuedRequest) -> bool {
        if self.min_blocks == 0 {
            return false;
        }
        let place = self.latest.iter().position(|stream| stream.next == read.lbn);
        let blocks_before =
            place.and_then(|place| self.latest.remove(place)).map_or(0, |stream| stream.blocks);
        let blocks = blocks_before + u64::from(read.blocks);
        self.latest.push_front(Stream { next: read.lbn + u64::from(read.blocks), blocks });
        self.latest.truncate(MAX_STREAMS);
        blocks_before >= self.min_blocks
    }
}
