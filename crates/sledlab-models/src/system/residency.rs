//! Residency: the contents of each slot of a cache or of the front of a hybrid at a time.
//!
//! It is derived from the state of the cache or hybrid on request, so runs that do not use it have no cost.

use sledlab_core::Time;

use crate::cache::SlotState;

/// The states of all slots of a cache or of the front of a hybrid at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Residency {
    /// The usual term for the contents of a slot: segment, log or line.
    pub unit: &'static str,
    /// Blocks of a slot.
    pub slot_blocks: u64,
    /// Whether a slot is a fixed place on the device. Otherwise the slots are in order of their blocks, and free slots
    /// come last.
    pub has_places: bool,
    /// The time since when the slots have been in these states.
    pub since: Time,
    /// The state of every slot, in order of their places.
    pub slots: Vec<SlotState>,
    /// Write-behind: destages that wait to be written to the device behind, with their data in a buffer; slots may hold
    /// these data too, or may be free already.
    pub waiting: usize,
    /// Destages that are being written to the device behind.
    pub writing: usize,
}
