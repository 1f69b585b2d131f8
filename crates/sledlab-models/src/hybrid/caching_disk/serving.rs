//! Reads and writes of the host in the slots.

use sledlab_core::Op;

use super::{CachingDisk, Job, Part, Phase, Slot};
use crate::cache::BlockRun;
use crate::hybrid::io::{Io, Tier};
use crate::system::Completion;

impl CachingDisk {
    /// Begins to serve a part from its slot; false where it must wait for a fetch or for the slot to be filled.
    #[inline]
    pub(super) fn serve(&mut self, io: &mut Io<Job>, slot: u32, part: Part) -> bool {
        let run = self.segment_run(self.slots[slot as usize].segment, &part);
        if part.op == Op::Read {
            if !self.valid.has_all(slot, run) {
                return self.serve_from_buffer(io, slot, &part);
            }
        } else {
            if !self.may_write(slot, run) {
                return false;
            }
            let newly_dirty = self.dirty.add(slot, run);
            self.counts.superseded_blocks += u64::from(run.blocks()) - newly_dirty;
            if newly_dirty > 0 {
                self.note(io, slot);
            }
        }
        self.slots[slot as usize].users += 1;
        if part.op == Op::Read {
            self.collect_adjacent(io, slot, part);
        } else {
            io.serve(Tier::Front, self.first_data_block(slot) + run.first, &part, Job::Served { slot, part });
        }
        true
    }

    /// Whether blocks can be written although the slot does not hold all of them. While the slot is being filled they
    /// cannot: of two writes to one block the older one might come last.
    fn may_write(&self, slot: u32, run: BlockRun) -> bool {
        if self.valid.has_all(slot, run) {
            return true;
        }
        let Slot { phase, segment, .. } = self.slots[slot as usize];
        let is_whole = || run.end - run.first == self.segment_len(segment);
        phase != Phase::Filling && (self.techniques.partial_write || is_whole())
    }

    /// An access for a part is complete.
    pub(super) fn complete_access(&mut self, io: &mut Io<Job>, slot: u32, part: &Part, access: &Completion) {
        io.charge_request(part, access);
        if part.op == Op::Read {
            let contents = io.contents(Tier::Front, access);
            io.deliver(part, contents);
        } else {
            let run = self.segment_run(self.slots[slot as usize].segment, part);
            if self.valid.add(slot, run) > 0 {
                self.slots[slot as usize].is_changed = true;
                self.note(io, slot);
            }
            self.write_header(io, slot);
        }
        io.complete_part(part, access);
        self.end_access(slot);
    }

    /// An access to a slot is over: the slot has one user less.
    #[inline]
    pub(super) fn end_access(&mut self, slot: u32) {
        self.slots[slot as usize].users -= 1;
        if self.slots[slot as usize].has_waiters {
            self.ready.push(slot);
        }
    }
}
