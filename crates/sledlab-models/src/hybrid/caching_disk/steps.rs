//! The steps of a slot: a segment takes it, parts are served from it, its segment is evicted.

use std::collections::VecDeque;

use super::moves::{EarlyFetch, SlotRequest};
use super::{CachingDisk, Job, Next, Part, Phase, Slot};
use crate::hybrid::io::Io;

impl CachingDisk {
    /// Steps all ready slots, then begins the reads and destages that have become possible.
    #[inline]
    pub(super) fn advance(&mut self, io: &mut Io<Job>) {
        while let Some(slot) = self.ready.pop() {
            self.step(io, slot);
        }
        if !self.collected_parts.is_empty() {
            self.read_collected(io);
        }
        self.write_behind(io);
    }

    /// Does all that is possible in a slot. Most events make no slot ready.
    #[inline(never)]
    pub(super) fn step(&mut self, io: &mut Io<Job>, slot: u32) {
        if self.slots[slot as usize].phase == Phase::Free {
            self.assign_next_segment(io, slot);
        }
        if !matches!(self.slots[slot as usize].phase, Phase::Free | Phase::Leaving) {
            if self.slots[slot as usize].is_changed {
                self.serve_waiting(io, slot);
            }
            let Slot { phase, users, is_missing, .. } = self.slots[slot as usize];
            if phase == Phase::Resident && is_missing {
                self.slots[slot as usize].phase = Phase::Fetching;
                self.request_buffer_slot(io, SlotRequest::Fetch { slot });
            } else if phase == Phase::Resident
                && users == 0
                && self.next.contains_key(&slot)
                && !self.waiting_parts.contains_key(&slot)
            {
                self.evict(io, slot);
            }
        }
        if self.fetches_early {
            self.fetch_early(io, slot);
        }
        let has_waiters = self.next.contains_key(&slot) || self.waiting_parts.contains_key(&slot);
        self.slots[slot as usize].has_waiters = has_waiters;
    }

    /// The next segment takes a free slot, unless an earlier stay of that segment has not ended yet.
    pub(super) fn assign_next_segment(&mut self, io: &mut Io<Job>, slot: u32) {
        let Some(queue) = self.next.get_mut(&slot) else { return };
        let Some(Next { segment, stay, .. }) = queue.front() else { return };
        if let Some(ending) = self.ending_stays.get(segment).and_then(VecDeque::front)
            && ending < stay
        {
            let segment = *segment;
            let blocked = self.blocked_slots.entry(segment).or_default();
            if !blocked.contains(&slot) {
                blocked.push(slot);
            }
            self.write_now(io, segment);
            return;
        }
        let Some(Next { segment, stay, parts, early, .. }) = queue.pop_front() else { return };
        if queue.is_empty() {
            self.next.remove(&slot);
        }
        let phase = if matches!(early, EarlyFetch::Reading) { Phase::Fetching } else { Phase::Resident };
        self.slots[slot as usize] =
            Slot { segment, stay, users: 0, phase, has_waiters: true, is_changed: true, is_missing: false };
        self.queued_parts -= parts.len();
        self.waiting_parts.insert(slot, parts);
        if let EarlyFetch::Ready(fetch) = early {
            self.fill(io, slot, fetch);
        }
    }

    /// Serves those of the waiting parts that can be served now.
    pub(super) fn serve_waiting(&mut self, io: &mut Io<Job>, slot: u32) {
        let mut is_missing = false;
        if let Some(mut parts) = self.waiting_parts.remove(&slot) {
            parts.retain(|part| {
                let is_waiting = !self.serve(io, slot, *part);
                is_missing |= is_waiting && self.misses(slot, part);
                is_waiting
            });
            if !parts.is_empty() {
                self.waiting_parts.insert(slot, parts);
            }
        }
        let state = &mut self.slots[slot as usize];
        (state.is_changed, state.is_missing) = (false, is_missing);
    }

    /// Whether the slot lacks blocks of a part: they are neither valid nor dirty. A dirty block that is not valid yet
    /// is being written.
    pub(super) fn misses(&self, slot: u32, part: &Part) -> bool {
        let run = self.segment_run(self.slots[slot as usize].segment, part);
        !self.valid.has_all_with(&self.dirty, slot, run)
    }
}
