//! Counts of hybrids: a front device and a back device that act as one.

use serde::Serialize;

/// Accesses to one of the devices of a hybrid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Number of reads.
    pub reads: u64,
    /// Blocks read.
    pub read_blocks: u64,
    /// Number of writes.
    pub writes: u64,
    /// Blocks written.
    pub written_blocks: u64,
}

/// Counts of a hybrid. In `reads`, `read_hits`, `writes` and `write_hits` of a caching disk, a request counts once for
/// every segment that it touches; in those of other hybrids, once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct HybridCounts {
    /// Number of reads, including those in `bypassed`.
    pub reads: u64,
    /// Reads of which all blocks were on the front device.
    pub read_hits: u64,
    /// Number of writes.
    pub writes: u64,
    /// Writes that found room at once: in a caching disk, writes whose segment had a slot.
    pub write_hits: u64,
    /// Blocks that the host wrote.
    pub written_blocks: u64,
    /// Blocks that the host wrote while they were dirty: the older version is never destaged.
    pub superseded_blocks: u64,
    /// Dirty blocks that have been destaged to the back device.
    pub destaged_blocks: u64,
    /// Blocks that are dirty now.
    pub dirty_blocks: u64,
    /// Share of the room on the front device that holds data a read can be served from.
    pub live_share: f64,
    /// Read requests that the back device served without the front device, because they were long or part of a stream.
    pub bypassed: u64,
    /// Accesses to the front device.
    pub front: Traffic,
    /// Accesses to the back device.
    pub back: Traffic,
    /// Energy that the devices spent for no single request, such as for destages, in joules.
    pub background_j: f64,
}

impl std::ops::AddAssign for HybridCounts {
    /// Adds the counts of another hybrid of the same kind. The live share, which is no count, stays.
    fn add_assign(&mut self, other: HybridCounts) {
        self.reads += other.reads;
        self.read_hits += other.read_hits;
        self.writes += other.writes;
        self.write_hits += other.write_hits;
        self.written_blocks += other.written_blocks;
        self.superseded_blocks += other.superseded_blocks;
        self.destaged_blocks += other.destaged_blocks;
        self.dirty_blocks += other.dirty_blocks;
        self.bypassed += other.bypassed;
        self.front += other.front;
        self.back += other.back;
        self.background_j += other.background_j;
    }
}

impl std::ops::AddAssign for Traffic {
    fn add_assign(&mut self, other: Traffic) {
        self.reads += other.reads;
        self.read_blocks += other.read_blocks;
        self.writes += other.writes;
        self.written_blocks += other.written_blocks;
    }
}
