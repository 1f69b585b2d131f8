//! Requests that are chosen and served block by block.

use std::collections::BTreeMap;

use sledlab_core::Time;

use super::{Completion, Durable, System, SystemWrapper};
use crate::device::QueuedRequest;
use crate::power::RequestEnergy;
use crate::scheduler::{self, QueueEntries};

/// A request whose blocks are not all served.
#[derive(Clone, Copy, Debug)]
struct OpenRequest {
    request: QueuedRequest,
    unfinished_blocks: u32,
    /// Energy of the blocks served so far.
    energy: RequestEnergy,
    /// When the blocks served so far are durable.
    durable_at: Time,
}

/// A system that receives every request as requests for one block each, which arrive together. The schedulers of its
/// stations choose among blocks; a request is complete with the last of its blocks. Queues count blocks.
pub struct BlockByBlock {
    system: Box<dyn System>,
    /// Open requests by the number of their first block. Blocks are numbered in order of arrival.
    open: BTreeMap<u64, OpenRequest>,
    next_block: u64,
    served_blocks: Vec<Completion>,
}

impl BlockByBlock {
    /// Returns `system`, which receives blocks if the queue of `scheduler` holds blocks.
    pub fn wrap(system: Box<dyn System>, scheduler: &scheduler::Choice) -> Box<dyn System> {
        if scheduler.entries() == QueueEntries::Requests {
            return system;
        }
        let open = BTreeMap::new();
        Box::new(BlockByBlock { system, open, next_block: 0, served_blocks: Vec::new() })
    }

    /// Notes a served block; returns the request if this was its last block. Other times of the service than those of
    /// the last block are part of the request's queue time.
    fn finish(&mut self, block: &Completion) -> Option<Completion> {
        let (first_block, open) = self.open.range_mut(..=block.request.id).next_back()?;
        let first_block = *first_block;
        open.unfinished_blocks -= 1;
        open.energy += block.energy;
        open.durable_at = open.durable_at.max(block.durable_time());
        if open.unfinished_blocks > 0 {
            return None;
        }
        let OpenRequest { request, energy, durable_at, .. } = self.open.remove(&first_block)?;
        Some(Completion { request, write_behind: durable_at.since(block.completion), energy, ..*block })
    }
}

impl SystemWrapper for BlockByBlock {
    fn inner(&self) -> &dyn System {
        self.system.as_ref()
    }

    fn inner_mut(&mut self) -> &mut dyn System {
        self.system.as_mut()
    }

    fn wrapped_arrive(&mut self, now: Time, request: QueuedRequest) {
        let open = OpenRequest {
            request,
            unfinished_blocks: request.blocks,
            energy: RequestEnergy::default(),
            durable_at: Time::ZERO,
        };
        self.open.insert(self.next_block, open);
        for block in 0..request.blocks {
            let block_request = QueuedRequest {
                id: self.next_block,
                lbn: request.lbn + u64::from(block),
                blocks: 1,
                partial: request.partial.in_part(1, block + 1 == request.blocks),
                ..request
            };
            self.next_block += 1;
            self.system.arrive(now, block_request);
        }
    }

    fn wrapped_next_event(&self) -> Option<Time> {
        self.system.next_event()
    }

    fn wrapped_advance(&mut self, now: Time, completed: &mut Vec<Completion>) {
        let mut served_blocks = std::mem::take(&mut self.served_blocks);
        self.system.advance(now, &mut served_blocks);
        completed.extend(served_blocks.drain(..).filter_map(|block| self.finish(&block)));
        self.served_blocks = served_blocks;
    }

    fn wrapped_open_ledgers(&mut self, now: Time) {
        self.system.open_ledgers(now);
        // The devices have served these blocks before.
        self.open.values_mut().for_each(|open| open.energy = RequestEnergy::default());
    }

    fn wrapped_durable(&mut self) -> Option<&mut dyn Durable> {
        self.system.durable()
    }
}
