//! Caches in front of a system: which blocks they hold, and which of these are dirty.

mod last_use;
mod lines;
mod params;
mod slot_state;

pub use lines::Lines;
pub use params::{CacheKind, CacheParams, Destage, ReadDestage};
pub use slot_state::SlotState;

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

/// Counts of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CacheCounts {
    /// Reads that the cache answered without the devices.
    pub read_hits: u64,
    /// Reads that needed the devices.
    pub read_misses: u64,
    /// Writes that found room in the cache on arrival.
    pub write_hits: u64,
    /// Writes that waited for room, until lines had been destaged.
    pub write_waits: u64,
    /// Accesses that read blocks from the devices, those that read ahead included.
    pub fetches: u64,
    /// Blocks that these accesses read.
    pub fetched_blocks: u64,
    /// Those of the fetched blocks that were read ahead, which no request had required.
    pub read_ahead_blocks: u64,
    /// Blocks destaged: written to the devices.
    pub destaged_blocks: u64,
    /// Accesses that destaged these blocks.
    pub destages: u64,
    /// Energy that the devices spent for no single request, that is for destages and reading ahead, in joules.
    pub background_j: f64,
}
