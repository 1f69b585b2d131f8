//! Caches in front of a system: what they hold, and what they have yet to write.

mod lines;
mod params;

pub use lines::Lines;
pub use params::{CacheKind, CacheParams, Destage};

use serde::Serialize;

/// Consecutive blocks `first..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRun {
    /// The first block.
    pub first: u64,
    /// The block after the last.
    pub end: u64,
}

impl BlockRun {
    /// Number of blocks.
    pub fn blocks(self) -> u32 {
        u32::try_from(self.end - self.first).unwrap_or(u32::MAX)
    }
}

/// What a cache has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CacheCounts {
    /// Reads that the cache answered alone.
    pub read_hits: u64,
    /// Reads that needed the devices.
    pub read_misses: u64,
    /// Writes that found room at once.
    pub write_hits: u64,
    /// Writes that waited for room.
    pub write_waits: u64,
    /// Blocks read from the devices.
    pub fetched_blocks: u64,
    /// Blocks of those that nobody had asked for.
    pub read_ahead_blocks: u64,
    /// Blocks written to the devices.
    pub destaged_blocks: u64,
    /// Accesses that wrote them.
    pub destages: u64,
    /// Energy of what the devices did for no single request: destages and reading ahead, in joules.
    pub background_j: f64,
}
