//! Requests in flight: from their arrival until their replies have been sent.

use std::ops::{Index, IndexMut};

use sledlab_core::{BLOCK_BYTES, Op, Request, Time, unrequested_words};

use crate::record::recording::{Record, op_code};
use crate::sockets::connection::Reply;
use crate::timing::lateness::Cause;
use crate::transport::nbd::{self, Command};

/// A request in flight.
#[derive(Debug)]
pub(crate) struct InFlightRequest {
    /// Slot of the client's connection, and that connection's number, since another one may have taken the slot.
    pub slot: usize,
    pub connection: u64,
    /// Number of power failures before the request arrived.
    pub starts: u16,
    pub request: nbd::NbdRequest,
    /// The operation last submitted to the model: for a write with force unit access, the write and then its flush.
    pub operation: Request,
    /// The model's number of that operation.
    pub id: u64,
    /// When the operation counts as arrived in the model, never 0 (0: not submitted yet); and when the request does, in
    /// the model's time.
    pub stamp: Time,
    pub arrival: Time,
    pub completion: Time,
    /// When the data of a write is durable, unless only a flush makes it durable.
    pub durable: Time,
    /// The reply, made when the request arrived.
    pub reply: Reply,
    /// The model's number of the complete write of force unit access whose flush is in flight, or complete too.
    pub flushed_write: Option<u64>,
    /// How much earlier than planned the reply is sent, to compensate for the host path, in nanoseconds of wall-clock
    /// time.
    pub host_ns: u32,
    /// When the reply is due to be sent, and when sending should begin, in nanoseconds of wall-clock time.
    pub target: u64,
    pub send_at: u64,
    /// Whether the completion was known before sending should begin, or as early as the model can report completions.
    pub is_on_time: bool,
}

impl InFlightRequest {
    /// Bytes of data in the reply.
    pub fn reply_bytes(&self) -> u32 {
        if self.request.command == Command::Read { self.request.length } else { 0 }
    }

    /// Bytes of data that are read or written with the request.
    pub fn data_bytes(&self) -> u32 {
        data_bytes(&self.request)
    }

    /// Whether a flush must complete before the request can be answered.
    pub fn needs_flush(&self) -> bool {
        self.request.fua
            && self.request.command.is_write()
            && self.flushed_write.is_none()
            && self.operation.op == Op::Write
    }

    /// Returns the record of the operation last submitted to the model; `sent_ns` is in the model's time.
    pub fn record(&self, sent_ns: u64, lateness_ns: i64, cause: Cause, is_silent: bool) -> Record {
        let is_aligned = |bytes: u64| bytes.is_multiple_of(BLOCK_BYTES);
        let is_unaligned = !is_aligned(self.request.offset) || !is_aligned(self.request.length.into());
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        Record {
            id: self.id,
            stamp_ns: self.stamp.as_ns(),
            planned_ns: self.completion.as_ns(),
            sent_ns,
            lbn: self.operation.lbn,
            blocks: self.operation.blocks,
            connection: self.connection as u16,
            op: op_code(self.operation.op),
            flags: flag(is_unaligned && self.operation.op != Op::Flush, Record::UNALIGNED)
                | flag(is_silent, Record::SILENT)
                | flag(self.flushed_write.is_some(), Record::FUA),
            unrequested_words: self.operation.unrequested_words,
            cause: cause as u8,
            starts: self.starts,
            host_ns: self.host_ns,
            lateness_ns,
        }
    }
}

/// Bytes of data that are read or written with a request.
pub(crate) fn data_bytes(request: &nbd::NbdRequest) -> u32 {
    if matches!(request.command, Command::Read | Command::Write) { request.length } else { 0 }
}

/// Returns the operation that the model must simulate for a request, if any. Ranges are rounded outwards to blocks, as
/// trace files are read.
pub(crate) fn operation(request: &nbd::NbdRequest) -> Option<Request> {
    let op = match request.command {
        Command::Read => Op::Read,
        // Sleds and disks have no faster way to write zeroes than to write data.
        Command::Write | Command::WriteZeroes => Op::Write,
        Command::Trim => Op::Trim,
        Command::Flush => return Some(flush_operation()),
        Command::Cache | Command::BlockStatus => return None,
    };
    let (offset, length) = (request.offset, u64::from(request.length));
    let lbn = offset / BLOCK_BYTES;
    let blocks = ((offset + length).div_ceil(BLOCK_BYTES) - lbn) as u32;
    let unrequested_words = if op.is_media() { unrequested_words(offset, length) } else { 0 };
    Some(Request { lbn, blocks, op, unrequested_words, ..Request::default() })
}

/// Returns the operation of a flush.
pub(crate) fn flush_operation() -> Request {
    Request { op: Op::Flush, ..Request::default() }
}

/// Requests in flight by key; keys of answered requests are reused.
#[derive(Debug)]
pub(crate) struct InFlightRequests {
    slots: Vec<Option<InFlightRequest>>,
    free_keys: Vec<u32>,
    count: usize,
    /// By size of the reply, in powers of two: how many requests wait for the model.
    waiting_by_size: [u32; 33],
}

impl Default for InFlightRequests {
    fn default() -> Self {
        InFlightRequests { slots: Vec::new(), free_keys: Vec::new(), count: 0, waiting_by_size: [0; 33] }
    }
}

impl InFlightRequests {
    /// Adds a request and returns its key.
    pub fn insert(&mut self, request: InFlightRequest) -> u32 {
        self.count += 1;
        if let Some(key) = self.free_keys.pop() {
            self.slots[key as usize] = Some(request);
            return key;
        }
        self.slots.push(Some(request));
        self.slots.len() as u32 - 1
    }

    /// Removes a request that is no longer in flight.
    pub fn remove(&mut self, key: u32) -> Option<InFlightRequest> {
        let request = self.slots.get_mut(key as usize)?.take()?;
        self.free_keys.push(key);
        self.count -= 1;
        Some(request)
    }

    /// Returns the number of requests in flight.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns the keys of all requests in flight.
    pub fn keys(&self) -> Vec<u32> {
        let occupied_slots = self.slots.iter().enumerate().filter(|(_, request)| request.is_some());
        occupied_slots.map(|(key, _)| key as u32).collect()
    }

    /// Records that a request with a reply of so many bytes waits for the model.
    pub fn add_waiting(&mut self, bytes: u32) {
        self.waiting_by_size[size_class(bytes)] += 1;
    }

    /// Records that the model has answered a request with a reply of so many bytes.
    pub fn remove_waiting(&mut self, bytes: u32) {
        self.waiting_by_size[size_class(bytes)] -= 1;
    }

    /// The size of the largest reply that waits for the model, rounded up.
    pub fn largest_waiting_bytes(&self) -> u32 {
        let largest = self.waiting_by_size.iter().rposition(|count| *count > 0).unwrap_or(0);
        1_u32.checked_shl(largest as u32).unwrap_or(u32::MAX)
    }
}

fn size_class(bytes: u32) -> usize {
    32 - bytes.saturating_sub(1).leading_zeros() as usize
}

impl Index<u32> for InFlightRequests {
    type Output = InFlightRequest;
    fn index(&self, key: u32) -> &InFlightRequest {
        self.slots[key as usize].as_ref().expect("keys belong to requests in flight")
    }
}

impl IndexMut<u32> for InFlightRequests {
    fn index_mut(&mut self, key: u32) -> &mut InFlightRequest {
        self.slots[key as usize].as_mut().expect("keys belong to requests in flight")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(command: Command, offset: u64, length: u32) -> nbd::NbdRequest {
        nbd::NbdRequest {
            cookie: 0,
            command,
            offset,
            length,
            fua: false,
            no_hole: false,
            single_extent: false,
        }
    }

    #[test]
    fn ranges_are_rounded_outwards() {
        let blocks = |offset, length| {
            let read = operation(&request(Command::Read, offset, length)).expect("a simulated operation");
            (read.lbn, read.blocks, read.unrequested_words)
        };
        assert_eq!(blocks(0, 4096), (0, 8, 0));
        assert_eq!(blocks(511, 2), (0, 2, 0));
        assert_eq!(blocks(1024, 1), (2, 1, 63));
        assert_eq!(blocks(1024, 520), (2, 2, 63));
        let zeroes = operation(&request(Command::WriteZeroes, 0, u32::MAX)).expect("a simulated operation");
        assert_eq!((zeroes.op, zeroes.blocks), (Op::Write, 8_388_608));
        assert_eq!(operation(&request(Command::Cache, 0, 512)), None);
    }

    #[test]
    fn largest_waiting_size_is_rounded_up() {
        let mut flights = InFlightRequests::default();
        assert_eq!(flights.largest_waiting_bytes(), 1);
        for (bytes, largest) in [(0, 1), (4096, 4096), (4097, 8192), (32 << 20, 32 << 20)] {
            flights.add_waiting(bytes);
            assert_eq!(flights.largest_waiting_bytes(), largest);
        }
        flights.remove_waiting(32 << 20);
        assert_eq!(flights.largest_waiting_bytes(), 8192);
    }
}
