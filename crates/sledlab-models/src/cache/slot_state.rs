//! States of the slots of a cache or of the front of a hybrid.

/// The state of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotState {
    /// No data that a read could be served from.
    Free,
    /// Equal to the data on the device behind.
    Clean,
    /// Data newer than those of the device behind.
    Dirty,
    /// Data in transfer to the slot: being fetched for it, or written to it.
    Filling,
    /// Data newer than those of the device behind, which are being destaged.
    Destaging,
}

impl SlotState {
    /// All states, in the order of their numbers.
    pub const ALL: [SlotState; 5] =
        [SlotState::Free, SlotState::Clean, SlotState::Dirty, SlotState::Filling, SlotState::Destaging];

    /// Returns the state of a slot with data: `is_dirty` with dirty blocks, `is_destaging` while these are being
    /// destaged.
    pub(crate) fn with_data(is_dirty: bool, is_destaging: bool) -> SlotState {
        match (is_destaging, is_dirty) {
            (true, _) => SlotState::Destaging,
            (_, true) => SlotState::Dirty,
            _ => SlotState::Clean,
        }
    }
}
