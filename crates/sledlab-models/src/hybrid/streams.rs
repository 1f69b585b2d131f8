//! Reads that go on where others ended (HY-12, HY-14).

use std::collections::VecDeque;

use crate::device::Queued;

/// Streams that are followed at a time.
const STREAMS: usize = 32;

/// A stream of reads: where it goes on, and how many blocks it has had.
#[derive(Clone, Copy, Debug)]
struct Stream {
    next: u64,
    blocks: u64,
}

/// The streams read last.
#[derive(Debug)]
pub(super) struct Streams {
    least_blocks: u64,
    latest: VecDeque<Stream>,
}

impl Streams {
    /// Streams count from so many blocks on; never where that is 0.
    pub fn new(least_blocks: u64) -> Self {
        Streams { least_blocks, latest: VecDeque::new() }
    }

    /// Whether a read is part of a stream that is long enough.
    pub fn is_stream(&mut self, read: &Queued) -> bool {
        if self.least_blocks == 0 {
            return false;
        }
        let place = self.latest.iter().position(|stream| stream.next == read.lbn);
        let before = place.and_then(|place| self.latest.remove(place)).map_or(0, |stream| stream.blocks);
        let blocks = before + u64::from(read.blocks);
        self.latest.push_front(Stream { next: read.lbn + u64::from(read.blocks), blocks });
        self.latest.truncate(STREAMS);
        before >= self.least_blocks
    }
}
