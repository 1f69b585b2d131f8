//! Failures in a run: tips of a sled, devices of an array.

use serde::Serialize;

/// Failures of a run and their consequences.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FaultCounts {
    /// Devices that have failed, in the order in which they failed.
    pub failed: Vec<FailedDevice>,
    /// Reads of which a part was recomputed from all other devices; each counts once.
    pub degraded_reads: u64,
    /// Requests that a device was serving when it failed, and that were restarted; each counts once.
    pub restarted_requests: u64,
    /// Bytes that were read to rebuild the contents of failed devices.
    pub rebuild_read_bytes: u64,
    /// Bytes that were rebuilt on spares.
    pub rebuild_written_bytes: u64,
    /// Blocks of the host that are lost.
    pub lost_blocks: u64,
    /// Reads of lost blocks, and writes of which some blocks are lost when they complete; each counts once, also if it
    /// is merged with others. Blocks that no working device holds take no time; blocks under failed tips take as long
    /// as before the failure.
    pub lost_requests: u64,
    /// Tips that have failed.
    pub bad_tips: u64,
    /// Failed tips that are remapped to spare tips.
    pub remapped_tips: u64,
    /// Energy of rebuilding, and of requests that a device was serving when it failed, in joules.
    pub background_j: f64,
}

/// A device that has failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FailedDevice {
    /// Number of the device, from 0.
    pub device: usize,
    /// When the device failed.
    pub at_s: f64,
    /// Time from the failure until the spare was rebuilt; `None` if the rebuild did not finish.
    pub rebuilt_after_s: Option<f64>,
}

impl std::ops::AddAssign for FaultCounts {
    /// Adds up the failures of several systems behind one address space.
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
