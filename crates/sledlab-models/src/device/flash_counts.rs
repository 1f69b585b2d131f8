//! Garbage collection of flash in a run.

use sledlab_core::Span;

/// Counts of garbage collection of a flash device, and its steady state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlashCounts {
    /// Pages that the host has written.
    pub written_pages: u64,
    /// Pages moved by garbage collection.
    pub moved_pages: u64,
    /// Blocks erased.
    pub erased_blocks: u64,
    /// Time for which dies moved pages and erased blocks, summed over the dies.
    pub collection_time: Span,
    /// Dies of the device.
    pub dies: u32,
    /// Pages programmed for each page that the host writes, in the steady state of uniform random writes to the data
    /// that the device holds now.
    pub steady_write_amplification: f64,
}

impl FlashCounts {
    /// The counts since `before`.
    #[must_use]
    pub fn since(self, before: &FlashCounts) -> Self {
        FlashCounts {
            written_pages: self.written_pages - before.written_pages,
            moved_pages: self.moved_pages - before.moved_pages,
            erased_blocks: self.erased_blocks - before.erased_blocks,
            collection_time: self.collection_time - before.collection_time,
            ..self
        }
    }
}
