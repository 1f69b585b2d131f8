//! Reads that span adjacent slots are served with one access, including the headers between the slots.

use super::{CachingDisk, Job};
use crate::cache::BlockRun;
use crate::hybrid::io::{Io, Part, Tier, without_startup};
use crate::system::Completion;

impl CachingDisk {
    /// Adds a part of a read to the collected parts if it continues them; otherwise reads those and begins a new
    /// collection.
    pub(super) fn collect_adjacent(&mut self, io: &mut Io<Job>, slot: u32, part: Part) {
        let is_adjacent = self.collected_parts.last().is_some_and(|(last, last_part)| {
            slot == last + 1 && part.request == last_part.request && part.run.first == last_part.run.end
        });
        if !is_adjacent {
            self.read_collected(io);
        }
        self.collected_parts.push((slot, part));
    }

    /// Where a part begins on the front device.
    fn front_block(&self, slot: u32, part: &Part) -> u64 {
        self.first_data_block(slot) + self.segment_run(self.slots[slot as usize].segment, part).first
    }

    /// Reads the collected parts with one access.
    pub(super) fn read_collected(&mut self, io: &mut Io<Job>) {
        match self.collected_parts[..] {
            [] => return,
            [(slot, part)] => {
                io.serve(Tier::Front, self.front_block(slot, &part), &part, Job::Served { slot, part });
            }
            [(first, part), .., (last, last_part)] => {
                let front_first = self.front_block(first, &part);
                let blocks =
                    self.front_block(last, &last_part) + u64::from(last_part.run.blocks()) - front_first;
                let run = BlockRun { first: part.run.first, end: part.run.first + blocks };
                let parts = self.collected_parts.clone();
                io.serve(Tier::Front, front_first, &Part { run, ..part }, Job::Stretch { parts });
            }
        }
        self.collected_parts.clear();
    }

    /// Parts of a read in adjacent slots have been read. The energy of the access counts for the first part.
    pub(super) fn complete_collected_read(
        &mut self,
        io: &mut Io<Job>,
        parts: &[(u32, Part)],
        access: &Completion,
    ) {
        let contents = io.contents(Tier::Front, access);
        let mut part_access = *access;
        for (number, (slot, part)) in parts.iter().enumerate() {
            if number == 0 {
                io.charge_request(part, access);
            }
            let offset = (self.front_block(*slot, part) - access.request.lbn) as usize;
            let part_contents = contents.get(offset..offset + part.run.blocks() as usize);
            io.deliver(part, part_contents.map(<[_]>::to_vec).unwrap_or_default());
            io.complete_part(part, &part_access);
            part_access = without_startup(&part_access);
            self.end_access(*slot);
        }
    }
}
