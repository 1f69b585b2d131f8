//! Residency of a caching disk: the contents of its slots at a time.

use sledlab_core::Time;

use super::destaging::Step;
use super::{CachingDisk, Phase};
use crate::cache::SlotState;
use crate::system::Residency;

impl CachingDisk {
    /// Returns the contents of every slot, and the number of victims in the buffer that wait for their write-behind or
    /// are being written.
    pub(super) fn residency_now(&self) -> Residency {
        let steps = self.destages.iter().flatten().map(|destage| destage.step);
        Residency {
            unit: "segment",
            slot_blocks: self.sizes.segment_blocks,
            has_places: true,
            since: Time::ZERO,
            slots: (0..self.sizes.slots).map(|slot| self.state(slot)).collect(),
            waiting: steps.clone().filter(|step| *step == Step::Collected).count(),
            writing: steps.filter(|step| matches!(step, Step::Joining | Step::Writing)).count(),
        }
    }

    fn state(&self, slot: u32) -> SlotState {
        match self.slots[slot as usize].phase {
            Phase::Free => SlotState::Free,
            // Its dirty blocks may be destaged with a neighboring victim; the segment itself stays.
            Phase::Resident => {
                SlotState::with_data(!self.dirty.is_empty(slot), self.cleaned_blocks.contains_key(&slot))
            }
            Phase::Fetching | Phase::Filling => SlotState::Filling,
            Phase::Leaving => SlotState::Destaging,
        }
    }
}
