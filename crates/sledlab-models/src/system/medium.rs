//! Contents of media, for tests of the placement of data and of crashes.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use sledlab_core::hash::Map;
use sledlab_core::{Op, Time};

use super::{Completion, Durable, System, SystemWrapper};
use crate::device::QueuedRequest;

/// The content of a block: a number that stands for its data, or the words of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Data; 0 where the block was never written.
    Data(u64),
    /// Words of 8 bytes, at most 64.
    Header(Arc<[u64]>),
}

impl Default for Content {
    fn default() -> Self {
        Content::Data(0)
    }
}

/// The contents of blocks, by block number. Blocks that are missing here were never written.
pub type Contents = Map<u64, Content>;

/// A system whose media keep the contents that are written.
///
/// A write is on the medium when it is durable. At a power failure, any blocks of other writes may have reached the
/// medium, in flight or complete in a volatile buffer.
pub struct Medium {
    system: Box<dyn System>,
    contents: Contents,
    /// Complete writes that are not on the medium, in the order in which they will be.
    buffered_writes: VecDeque<BufferedWrite>,
    /// Data of writes that have been handed over and have not arrived, by access.
    write_data: Map<u64, Vec<Content>>,
    /// First block and data of writes in flight, by access.
    writes_in_flight: BTreeMap<u64, (u64, Vec<Content>)>,
    /// Contents of completed reads, by access, until `read_contents` returns them.
    read_results: Map<u64, Vec<Content>>,
}

/// A complete write in the volatile buffer of a device.
struct BufferedWrite {
    durable_at: Time,
    lbn: u64,
    data: Vec<Content>,
}

impl BufferedWrite {
    fn content(&self, block: u64) -> Option<&Content> {
        self.data.get(usize::try_from(block.checked_sub(self.lbn)?).ok()?)
    }

    fn blocks(self) -> impl Iterator<Item = (u64, Content)> {
        (self.lbn..).zip(self.data)
    }
}

impl Medium {
    /// `system` with empty media.
    pub fn new(system: Box<dyn System>) -> Self {
        Medium {
            system,
            contents: Map::default(),
            buffered_writes: VecDeque::new(),
            write_data: Map::default(),
            writes_in_flight: BTreeMap::new(),
            read_results: Map::default(),
        }
    }

    /// Returns the content that a read finds in a block.
    fn content(&self, block: u64) -> Content {
        let buffered_content = self.buffered_writes.iter().rev().find_map(|write| write.content(block));
        buffered_content.or_else(|| self.contents.get(&block)).cloned().unwrap_or_default()
    }

    /// Records that a write is complete.
    fn buffer(&mut self, write: BufferedWrite) {
        let place = self.buffered_writes.partition_point(|other| other.durable_at <= write.durable_at);
        self.buffered_writes.insert(place, write);
    }

    /// Moves the buffered writes that are durable at `now` to the medium.
    fn settle(&mut self, now: Time) {
        let durable_writes = self.buffered_writes.partition_point(|write| write.durable_at <= now);
        self.contents.extend(self.buffered_writes.drain(..durable_writes).flat_map(BufferedWrite::blocks));
    }
}

impl SystemWrapper for Medium {
    fn inner(&self) -> &dyn System {
        self.system.as_ref()
    }

    fn inner_mut(&mut self) -> &mut dyn System {
        self.system.as_mut()
    }

    fn wrapped_arrive(&mut self, now: Time, request: QueuedRequest) {
        if request.op == Op::Write {
            let data = self.write_data.remove(&request.id).unwrap_or_default();
            self.writes_in_flight.insert(request.id, (request.lbn, data));
        }
        self.system.arrive(now, request);
    }

    fn wrapped_next_event(&self) -> Option<Time> {
        self.system.next_event()
    }

    fn wrapped_advance(&mut self, now: Time, completed: &mut Vec<Completion>) {
        let completed_before = completed.len();
        self.system.advance(now, completed);
        for completion in &completed[completed_before..] {
            let QueuedRequest { id, lbn, blocks, op, .. } = completion.request;
            if op == Op::Read {
                let contents = (lbn..lbn + u64::from(blocks)).map(|block| self.content(block)).collect();
                self.read_results.insert(id, contents);
            } else if let Some((lbn, data)) = self.writes_in_flight.remove(&id) {
                self.buffer(BufferedWrite { durable_at: completion.durable_time(), lbn, data });
            }
        }
        self.settle(now);
    }

    fn wrapped_open_ledgers(&mut self, now: Time) {
        self.inner_mut().open_ledgers(now);
    }

    fn wrapped_durable(&mut self) -> Option<&mut dyn Durable> {
        Some(self)
    }
}

impl Durable for Medium {
    fn supply_data(&mut self, access: u64, data: Vec<Content>) {
        self.write_data.insert(access, data);
    }

    fn read_contents(&mut self, access: u64) -> Vec<Content> {
        self.read_results.remove(&access).unwrap_or_default()
    }

    fn crash(&mut self, now: Time, survives: &mut dyn FnMut() -> bool) -> Contents {
        self.settle(now);
        let buffered_writes = self.buffered_writes.drain(..).flat_map(BufferedWrite::blocks);
        let writes_in_flight = std::mem::take(&mut self.writes_in_flight).into_values();
        let writes_in_flight = writes_in_flight.flat_map(|(lbn, data)| (lbn..).zip(data));
        self.contents.extend(buffered_writes.chain(writes_in_flight).filter(|_| survives()));
        std::mem::take(&mut self.contents)
    }
}
