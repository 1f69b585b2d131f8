//! Residency: what a cache or the front of a hybrid holds at a moment, for whoever looks on.
//!
//! It is worked out of what they keep anyway when somebody asks, so that it costs nothing where nobody does.

use sledlab_core::Time;

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotState {
    /// Nothing that anybody may ask for.
    Free,
    /// What is behind it, too.
    Clean,
    /// Something newer than what is behind it.
    Dirty,
    /// Something that is on its way into it.
    Filling,
    /// Something newer than what is behind it, on its way there.
    Destaging,
}

impl SlotState {
    /// All of them, in order of their numbers.
    pub const ALL: [SlotState; 5] =
        [SlotState::Free, SlotState::Clean, SlotState::Dirty, SlotState::Filling, SlotState::Destaging];

    /// Of a slot that is dirty or not, and whether what is dirty is on its way.
    pub(crate) fn held(is_dirty: bool, is_destaging: bool) -> SlotState {
        match (is_destaging, is_dirty) {
            (true, _) => SlotState::Destaging,
            (_, true) => SlotState::Dirty,
            _ => SlotState::Clean,
        }
    }
}

/// What a cache or the front of a hybrid holds at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Residency {
    /// What its slots hold, in the field's word: segment, log or line.
    pub unit: &'static str,
    /// Blocks of a slot.
    pub slot_blocks: u64,
    /// Whether a slot is a place. Otherwise what is there is told in order of its blocks, and free slots come last.
    pub has_places: bool,
    /// Since when all of this has been so.
    pub since: Time,
    /// Every slot, in order of their places.
    pub slots: Vec<SlotState>,
    /// Write-behind: writes to what is behind that are ready, with their data in no slot any more or in a buffer too.
    pub waiting: usize,
    /// Those that are under way.
    pub writing: usize,
}
