//! Parameters of a caching disk in an experiment.

use sledlab_core::{Error, Result};

use super::managers::Managers;
use crate::hybrid::{KB_BLOCKS, front_capacity};
use crate::replacement::{Choice, CustomPolicy};

sledlab_core::choices! {
    /// When a victim in the buffer is destaged to the back device, where Immediate Report has freed its slot.
    pub enum DestageTime {
        /// While no read of the back device is in flight.
        BehindReads = "behind-reads",
        /// In order of arrival, among the reads of the back device.
        InOrder = "in-order",
    }
}

sledlab_core::params! {
    /// A MEMS caching disk (Wang 2005, section 4.2): the front device is a write-back cache of the back device, in
    /// segments.
    pub struct CachingDiskParams {
        /// Space used on the front device, headers included; 0 uses the entire device.
        front_mb: f64 = 256.0, "MiB", 0.0..1e9;
        /// Size of a segment, in 1024 bytes.
        segment_kb: u64 = 8_u64, "KB", 4..256;
        /// Size of the groups in which missing segments are fetched; 0 fetches one segment at a time.
        fetch_kb: u64 = 0_u64, "KB", 0..256;
        /// Size of the reads that fetch a segment, each copied to the front device during the next; 0: one read.
        copy_kb: u64 = 0_u64, "KB", 0..256;
        /// Whether virtual segment managers choose the size of groups, up to `fetch_kb`.
        virtual_managers: bool = false;
        /// Non-volatile buffer between the devices, in 1024 bytes; as many segments as fit move at a time.
        buffer_kb: u64 = 2048_u64, "KB", 4..1e6;
        /// Whether requests are answered from the buffer, before the front device has the segment.
        shortcut: bool = true;
        /// Whether, with Shortcut, a segment is fetched while the victim in its slot is still destaged.
        early_fetch: bool = false;
        /// Whether a slot of the front device is free as soon as the buffer has its dirty blocks.
        immediate_report: bool = true;
        /// Write-behind with Immediate Report: victims are destaged `behind-reads` of the disk or `in-order`.
        destage: DestageTime = DestageTime::BehindReads;
        /// Largest write that destages a victim with its dirty neighbors; 0 destages the victim alone.
        destage_kb: u64 = 0_u64, "KB", 0..256;
        /// Whether parts of a segment are written without fetching the other parts first.
        partial_write: bool = true;
        /// Replacement policy that chooses victims, such as `lru` or `slru:protected_share=0.5`.
        replacement: String = "lru";
        /// Blocks of a header on the front device; 0 keeps all headers in non-volatile memory.
        header_blocks: u64 = 1_u64, "blocks", 0..1;
        /// Length from which a sequential run of reads bypasses the front device; 0 bypasses none.
        bypass_kb: u64 = 0_u64, "KB", 0..1e6;
    }
}

/// Sizes in blocks and slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub segment_blocks: u64,
    pub header_blocks: u64,
    pub slots: u32,
    pub buffer_slots: usize,
    /// Most segments that are fetched with one access.
    pub fetch_segments: u64,
    /// Blocks of the reads that fetch a segment; 0 for one read.
    pub copy_blocks: u64,
    /// Most segments that are destaged with one access.
    pub destage_segments: u64,
}

impl Sizes {
    /// Slots of the buffer that are reserved for neighbors of victims: a quarter, where neighbors are destaged at
    /// all.
    pub fn reserved_slots(self) -> usize {
        if self.destage_segments > 1 { self.buffer_slots / 4 } else { 0 }
    }
}

impl CachingDiskParams {
    /// The sizes that follow for a front device of `front_blocks`.
    ///
    /// # Errors
    /// A front device or buffer with no room for a segment, more room than the front device has, too many slots, and
    /// managers without a choice.
    pub(super) fn sizes(&self, front_blocks: u64) -> Result<Sizes> {
        let segment_blocks = self.segment_kb * KB_BLOCKS;
        let capacity_blocks = front_capacity(self.front_mb, front_blocks)?;
        let slots = capacity_blocks / (segment_blocks + self.header_blocks);
        let buffer_slots = (self.buffer_kb / self.segment_kb) as usize;
        if slots == 0 {
            return Err(Error::user(format!(
                "hybrid.front_mb = {} has no room for a segment of {} KB",
                self.front_mb, self.segment_kb
            ))
            .with_remedy("make the room larger, or hybrid.segment_kb smaller"));
        }
        if buffer_slots == 0 {
            return Err(Error::user(format!(
                "hybrid.buffer_kb = {} is less than a segment of {} KB",
                self.buffer_kb, self.segment_kb
            ))
            .with_remedy("make the buffer larger, or hybrid.segment_kb smaller"));
        }
        let slots = u32::try_from(slots).map_err(|_| {
            Error::user("the front device has too many segments")
                .with_remedy("make hybrid.segment_kb larger or hybrid.front_mb smaller")
        })?;
        let fetch_segments = (self.fetch_kb / self.segment_kb).max(1);
        self.check_managers(fetch_segments)?;
        Ok(Sizes {
            segment_blocks,
            header_blocks: self.header_blocks,
            slots,
            buffer_slots,
            fetch_segments,
            copy_blocks: self.copy_kb * KB_BLOCKS,
            destage_segments: (self.destage_kb / self.segment_kb).max(1),
        })
    }

    /// Checks what the virtual segment managers need: a choice, and the times of undivided fetches.
    fn check_managers(&self, fetch_segments: u64) -> Result<()> {
        if self.virtual_managers && fetch_segments == 1 {
            return Err(Error::user(format!(
                "hybrid.virtual_managers: no group size to choose from, because hybrid.fetch_kb = {} is one segment",
                self.fetch_kb
            ))
            .with_remedy("set hybrid.fetch_kb to the largest group, for example 256"));
        }
        if self.virtual_managers && self.copy_kb > 0 {
            return Err(Error::user(format!(
                "hybrid.virtual_managers: the managers learn from undivided fetches, but hybrid.copy_kb = {}",
                self.copy_kb
            ))
            .with_remedy("set hybrid.copy_kb to 0"));
        }
        Ok(())
    }

    /// The policy that decides which segment is evicted: a listed one or one of the plug-ins `custom`.
    ///
    /// # Errors
    /// An unknown policy, and a policy that requires knowledge of the future.
    pub(super) fn policy(&self, custom: &[CustomPolicy]) -> Result<Choice> {
        let choice = Choice::parse_among(&self.replacement, custom)?;
        if choice.needs_future() {
            return Err(choice.unknown_future_error("hybrid.replacement"));
        }
        Ok(choice)
    }

    /// The virtual segment managers, where these choose how many segments to fetch.
    pub(super) fn managers(&self, sizes: Sizes, policy: &Choice) -> Result<Option<Managers>> {
        let Sizes { slots, segment_blocks, fetch_segments, .. } = sizes;
        let new = || Managers::new(policy, slots, segment_blocks, fetch_segments);
        self.virtual_managers.then(new).transpose()
    }
}
