//! Residency: what each slot of a cache or of the front of a hybrid holds at a moment.
//!
//! It is derived from the state of the cache or hybrid on request, so runs in which it is not asked for pay nothing.

use sledlab_core::Time;

/// The state of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotState {
    /// No data that a read could be served from.
    Free,
    /// The same data as the device behind.
    Clean,
    /// Data newer than those of the device behind.
    Dirty,
    /// Data on their way into the slot: being fetched for it, or written to it.
    Filling,
    /// Data newer than those of the device behind, which are being destaged.
    Destaging,
}

impl SlotState {
    /// All states, in the order of their numbers.
    pub const ALL: [SlotState; 5] =
        [SlotState::Free, SlotState::Clean, SlotState::Dirty, SlotState::Filling, SlotState::Destaging];

    /// The state of a slot that holds data: `is_dirty` with dirty blocks, `is_destaging` while these are being
    /// destaged.
    pub(crate) fn held(is_dirty: bool, is_destaging: bool) -> SlotState {
        match (is_destaging, is_dirty) {
            (true, _) => SlotState::Destaging,
            (_, true) => SlotState::Dirty,
            _ => SlotState::Clean,
        }
    }
}

/// The states of all slots of a cache or of the front of a hybrid at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Residency {
    /// The field's word for what a slot holds: segment, log or line.
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
