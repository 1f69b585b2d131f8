//! What a run tells of what has failed: tips of a sled, devices of an array.

use serde::Serialize;

/// What failed, and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FaultCounts {
    /// Devices that have failed, in that order.
    pub failed: Vec<FailedDevice>,
    /// Reads of which a part was recomputed from all other devices.
    pub degraded_reads: u64,
    /// Requests that were under way on a device when it failed, and began anew.
    pub restarted_requests: u64,
    /// Bytes that were read to rebuild what failed devices held.
    pub rebuild_read_bytes: u64,
    /// Bytes that were rebuilt on spares.
    pub rebuild_written_bytes: u64,
    /// Blocks of the host that are lost.
    pub lost_blocks: u64,
    /// Requests for such blocks. What of them is on no device takes no time; what is under tips that have failed takes
    /// as long as ever.
    pub lost_requests: u64,
    /// Tips that have failed.
    pub bad_tips: u64,
    /// Tips of those whose places others have taken.
    pub remapped_tips: u64,
    /// Energy of rebuilding, and of what was under way on a device when it failed, in joules.
    pub background_j: f64,
}

/// A device that has failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FailedDevice {
    /// Which, from 0.
    pub device: usize,
    /// When it failed.
    pub at_s: f64,
    /// Time from then until its spare held all; nothing where it never did.
    pub rebuilt_after_s: Option<f64>,
}

impl std::ops::AddAssign for FaultCounts {
    /// Of several systems behind one address space.
    fn add_assign(&mut self, other: FaultCounts) {
        self.failed.extend(other.failed);
        self.degraded_reads += other.degraded_reads;
        self.restarted_requests += other.restarted_requests;
        self.rebuild_read_bytes += other.rebuild_read_bytes;
        self.rebuild_written_bytes += other.rebuild_written_bytes;
        self.lost_blocks += other.lost_blocks;
        self.lost_requests += other.lost_requests;
        self.bad_tips += other.bad_tips;
        self.remapped_tips += other.remapped_tips;
        self.background_j += other.background_j;
    }
}
