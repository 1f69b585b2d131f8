//! Reads and writes of hosts in the slots.

use sledlab_core::Op;

use super::{CachingDisk, Job, Part, Phase, Slot};
use crate::cache::BlockRun;
use crate::hybrid::io::{Io, Tier};
use crate::system::Completion;

impl CachingDisk {
    /// Serves a part from its slot, unless it has to wait for what is on its way.
    #[inline]
    pub(super) fn serve(&mut self, io: &mut Io<Job>, slot: u32, part: Part) -> bool {
        let run = self.within(&part);
        if part.op == Op::Read {
            if !self.valid.has_all(slot, run) {
                return self.serve_from_buffer(io, slot, &part);
            }
        } else {
            if !self.may_write(slot, run) {
                return false;
            }
            let dirtied = self.dirty.add(slot, run);
            self.counts.superseded_blocks += u64::from(run.blocks()) - dirtied;
            if dirtied > 0 {
                self.note(io, slot);
            }
        }
        self.slots[slot as usize].users += 1;
        if part.op == Op::Read {
            self.stretch(io, slot, part);
        } else {
            io.serve(Tier::Front, self.data_at(slot) + run.first, &part, Job::Served { slot, part });
        }
        true
    }

    /// Whether blocks can be written though not all of them are there. While others are being filled in they must not:
    /// of two writes to one block the older might be the last.
    fn may_write(&self, slot: u32, run: BlockRun) -> bool {
        if self.valid.has_all(slot, run) {
            return true;
        }
        let Slot { phase, segment, .. } = self.slots[slot as usize];
        let is_whole = || run.end - run.first == self.blocks_of(segment);
        phase != Phase::Filling && (self.techniques.partial_write || is_whole())
    }

    /// An access for a part is done.
    pub(super) fn served(&mut self, io: &mut Io<Job>, slot: u32, part: &Part, access: &Completion) {
        io.pay(part, access);
        if part.op == Op::Read {
            let contents = io.contents(Tier::Front, access);
            io.deliver(part, contents);
        } else {
            let run = self.within(part);
            if self.valid.add(slot, run) > 0 {
                self.slots[slot as usize].is_changed = true;
                self.note(io, slot);
            }
            self.write_header(io, slot);
        }
        io.answer(part, access);
        self.leave_alone(slot);
    }

    /// An access to a slot is over.
    #[inline]
    pub(super) fn leave_alone(&mut self, slot: u32) {
        self.slots[slot as usize].users -= 1;
        if self.slots[slot as usize].is_wanted {
            self.ready.push(slot);
        }
    }
}
