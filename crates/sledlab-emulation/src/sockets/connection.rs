//! A client's connection: bytes that have arrived and are not parsed yet, and replies that are to be sent.

use std::collections::VecDeque;
use std::ops::Range;
use std::os::fd::OwnedFd;

use rustix::io::Errno as Failure;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use crate::DataStore;
use crate::transport::nbd::{
    ConnectionEnd, Errno, Event, Export, GREETING, NbdRequest, ReplyEncoder, Session,
};

/// Maximum bytes read from a socket at a time.
const INPUT_BYTES: usize = 128 << 10;

/// Data longer than this is read from the store and sent in pieces of this many bytes.
const PIECE_BYTES: usize = 128 << 10;

/// Memory for payloads of writes that a connection keeps between two writes.
const MAX_IDLE_PAYLOAD_BYTES: usize = 1 << 20;

/// Maximum pieces sent to a client before other clients are served.
const MAX_PIECES: usize = 8;

/// Maximum requests in flight, and their bytes; a client's socket is not read beyond either.
const MAX_IN_FLIGHT: u32 = 1_024;
const MAX_IN_FLIGHT_BYTES: u64 = 64 << 20;

/// Replies that are not due yet hold up to this many bytes of data in memory; data beyond that is read when it is sent.
const MAX_PREFETCHED_BYTES: u64 = 4 << 20;

/// Maximum waiting replies of a client to requests that are not simulated.
const MAX_UNSIMULATED_REPLIES: usize = 16;

/// Replies to several requests are sent together up to about this many bytes.
const MAX_COALESCED_BYTES: usize = 128 << 10;

/// A reply, or a piece of one.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    bytes: Vec<u8>,
    sent: usize,
    /// Bytes of the store that follow `bytes` and have not been read yet.
    remaining: Range<u64>,
    /// The key of the request, if the server must record when its reply was sent.
    key: Option<u32>,
}

impl Reply {
    /// A reply whose bytes are complete.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Reply { bytes, ..Reply::default() }
    }

    /// Whether the reply has no bytes: it has been taken to be sent.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Replaces the bytes that were sent by the next piece of the data; false if no data is left.
    fn refill(&mut self, store: &DataStore) -> std::io::Result<bool> {
        if self.remaining.is_empty() {
            return Ok(false);
        }
        let count = PIECE_BYTES.min((self.remaining.end - self.remaining.start) as usize);
        self.bytes.resize(count, 0);
        self.sent = 0;
        store.read_at(self.remaining.start, &mut self.bytes)?;
        self.remaining.start += count as u64;
        Ok(true)
    }
}

/// Appends a part of a payload, of which `remaining_bytes` bytes follow.
fn append_part(payload: &mut Vec<u8>, part: &[u8], remaining_bytes: u32) {
    // Memory doubles with the data that has arrived: a header that announces 32 MiB reserves none of it.
    if payload.capacity() < payload.len() + part.len() {
        let payload_bytes = part.len() + remaining_bytes as usize;
        payload.reserve_exact(payload_bytes.min(part.len().max(payload.len())));
    }
    payload.extend_from_slice(part);
}

/// How many of the `bytes` of a read are fetched from the store at a time.
fn first_piece_bytes(bytes: u32) -> usize {
    PIECE_BYTES.min(bytes as usize)
}

fn append_data(
    reply: &mut Reply,
    replies: ReplyEncoder,
    request: &NbdRequest,
    store: &DataStore,
) -> Result<(), Errno> {
    let old_len = reply.bytes.len();
    replies.encode_data(&mut reply.bytes, request);
    let data_begin = reply.bytes.len();
    let first_bytes = first_piece_bytes(request.length);
    reply.bytes.resize(data_begin + first_bytes, 0);
    if let Err(error) = store.read_at(request.offset, &mut reply.bytes[data_begin..]) {
        reply.bytes.truncate(old_len);
        return Err(Errno::from(&error));
    }
    reply.remaining = request.offset + first_bytes as u64..request.offset + u64::from(request.length);
    Ok(())
}

/// The result of reading a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReceiveResult {
    Bytes,
    Nothing,
    /// The client has closed the connection.
    Gone,
}

/// The result of sending replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendResult {
    All,
    /// Some bytes are left: the client must read first, or other clients are served.
    Part,
    Gone,
}

/// The result of parsing a client's input.
#[derive(Debug)]
pub(crate) enum NextRequest {
    /// No request until more bytes arrive.
    More,
    /// A message of the handshake was answered, or a part of a write's payload was taken.
    Done,
    /// A request. For a write, the result of storing the payload; `Ok` for all other requests.
    Request(NbdRequest, Result<(), Errno>),
    Close(ConnectionEnd),
}

/// A client's connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub socket: OwnedFd,
    /// Number of the connection, from 0 in the order in which clients connect.
    pub number: u64,
    session: Session,
    input: Vec<u8>,
    /// The part of the input that has not been parsed.
    unparsed_range: Range<usize>,
    /// Whether the codec must be called again; it may have an event left even when all input has been parsed.
    has_unparsed_input: bool,
    /// Buffer for bytes that the codec sends.
    output: Vec<u8>,
    out: VecDeque<Reply>,
    in_flight: u32,
    in_flight_bytes: u64,
    prefetched_bytes: u64,
    /// The client has sent a disconnect: close the connection when all requests in flight have been answered.
    pub is_disconnecting: bool,
    /// Payload of the write that is arriving: at most [`MAX_BYTES`](crate::transport::nbd::MAX_BYTES), since the next
    /// request is parsed only after this write has been stored.
    payload: Vec<u8>,
    /// The error of storing the payload of the write that has just arrived.
    store_error: Option<Errno>,
}

impl Connection {
    /// A client that has just connected.
    pub fn new(socket: OwnedFd, number: u64, export: Export) -> Self {
        Connection {
            socket,
            number,
            session: Session::new(export),
            input: vec![0; INPUT_BYTES],
            unparsed_range: 0..0,
            has_unparsed_input: false,
            output: Vec::new(),
            out: VecDeque::from([Reply::from_bytes(GREETING.to_vec())]),
            in_flight: 0,
            in_flight_bytes: 0,
            prefetched_bytes: 0,
            is_disconnecting: false,
            payload: Vec::new(),
            store_error: None,
        }
    }

    /// Takes the payload of the write that has arrived, where [`Connection::next`] has not stored it.
    pub fn take_payload(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.payload)
    }

    /// How requests are replied to.
    pub fn replies(&self) -> ReplyEncoder {
        self.session.replies()
    }

    /// Whether more requests can be accepted.
    fn has_capacity(&self) -> bool {
        let has_room = self.in_flight < MAX_IN_FLIGHT && self.in_flight_bytes < MAX_IN_FLIGHT_BYTES;
        has_room && self.out.len() < self.in_flight as usize + MAX_UNSIMULATED_REPLIES
    }

    /// Whether the socket is to be read.
    pub fn wants_input(&self) -> bool {
        !self.is_disconnecting && !self.has_unparsed_input && self.has_capacity()
    }

    /// Whether there is input that can be parsed.
    pub fn has_input(&self) -> bool {
        !self.is_disconnecting && self.has_unparsed_input && self.has_capacity()
    }

    /// Whether replies wait to be sent.
    pub fn has_replies(&self) -> bool {
        !self.out.is_empty()
    }

    /// Whether the client has sent a disconnect and no request or reply is left.
    pub fn is_finished(&self) -> bool {
        self.is_disconnecting && self.is_idle()
    }

    /// Whether no request is in flight and no reply waits.
    pub fn is_idle(&self) -> bool {
        self.in_flight == 0 && self.out.is_empty()
    }

    /// The keys of the replies that have not left.
    pub fn unsent_keys(&self) -> Vec<u32> {
        self.out.iter().filter_map(|reply| reply.key).collect()
    }

    /// Counts a request of `bytes` bytes as in flight.
    pub fn begin_request(&mut self, bytes: u32) {
        self.in_flight += 1;
        self.in_flight_bytes += u64::from(bytes);
        self.prefetched_bytes += first_piece_bytes(bytes) as u64;
    }

    /// Counts a request of `bytes` bytes as answered.
    pub fn end_request(&mut self, bytes: u32) {
        self.in_flight -= 1;
        self.in_flight_bytes -= u64::from(bytes);
        self.prefetched_bytes -= first_piece_bytes(bytes) as u64;
    }

    /// Reads the socket once.
    pub fn receive(&mut self) -> ReceiveResult {
        debug_assert!(!self.has_unparsed_input && self.unparsed_range.is_empty());
        loop {
            match recv(&self.socket, self.input.as_mut_slice(), RecvFlags::DONTWAIT) {
                Ok((0, _)) => return ReceiveResult::Gone,
                Ok((count, _)) => {
                    self.unparsed_range = 0..count;
                    self.has_unparsed_input = true;
                    return ReceiveResult::Bytes;
                }
                Err(Failure::INTR) => {}
                Err(Failure::WOULDBLOCK) => return ReceiveResult::Nothing,
                Err(_) => return ReceiveResult::Gone,
            }
        }
    }

    /// Parses the input up to the next event of the codec. The payload of a write is stored as soon as it is complete,
    /// unless the caller stores it (`keep_payload`, see [`Connection::take_payload`]).
    pub fn next(&mut self, store: &DataStore, keep_payload: bool) -> NextRequest {
        let (parsed_bytes, event) =
            self.session.feed(&self.input[self.unparsed_range.clone()], &mut self.output);
        self.unparsed_range.start += parsed_bytes;
        let next = match event {
            Event::More => {
                self.has_unparsed_input = false;
                NextRequest::More
            }
            Event::Replied => NextRequest::Done,
            Event::Data { offset, bytes, remaining_bytes } => {
                let is_whole = remaining_bytes == 0 && self.payload.is_empty();
                if !is_whole || keep_payload {
                    append_part(&mut self.payload, bytes, remaining_bytes);
                }
                if remaining_bytes == 0 && !keep_payload {
                    // Most payloads are completely in the input buffer, and are stored from there.
                    let payload = if is_whole { bytes } else { &self.payload[..] };
                    let begin = offset + bytes.len() as u64 - payload.len() as u64;
                    self.store_error = store.write_at(begin, payload).err().map(|error| Errno::from(&error));
                    self.payload.clear();
                    self.payload.shrink_to(MAX_IDLE_PAYLOAD_BYTES);
                }
                NextRequest::Done
            }
            Event::Request(request) => {
                NextRequest::Request(request, self.store_error.take().map_or(Ok(()), Err))
            }
            Event::Close(ending) => NextRequest::Close(ending),
        };
        if !self.output.is_empty() {
            let output = std::mem::take(&mut self.output);
            self.tail().bytes.extend_from_slice(&output);
            self.output = output;
            self.output.clear();
        }
        next
    }

    /// The reply to a read, to be sent later. Holds the first piece of the data, or none where replies hold
    /// [`MAX_PREFETCHED_BYTES`].
    ///
    /// # Errors
    /// Data that cannot be read.
    pub fn prepare_data(&self, request: &NbdRequest, store: &DataStore) -> Result<Reply, Errno> {
        let mut reply = Reply::default();
        if self.prefetched_bytes >= MAX_PREFETCHED_BYTES {
            self.replies().encode_data(&mut reply.bytes, request);
            reply.remaining = request.offset..request.offset + u64::from(request.length);
        } else {
            append_data(&mut reply, self.replies(), request, store)?;
        }
        Ok(reply)
    }

    /// Queues a reply behind those that wait.
    pub fn push(&mut self, mut reply: Reply, key: u32) {
        reply.key = Some(key);
        self.out.push_back(reply);
    }

    /// Queues the reply to a request without a key, so that it is sent together with others.
    pub fn answer(&mut self, write: impl FnOnce(ReplyEncoder, &mut Vec<u8>)) {
        let replies = self.replies();
        write(replies, &mut self.tail().bytes);
    }

    /// Queues the reply to a read without a key, so that it is sent together with others.
    ///
    /// # Errors
    /// Data that cannot be read.
    pub fn answer_data(&mut self, request: &NbdRequest, store: &DataStore) -> Result<(), Errno> {
        let replies = self.replies();
        append_data(self.tail(), replies, request, store)
    }

    /// The last reply of the queue, if others can be sent together with it, or a new one.
    fn tail(&mut self) -> &mut Reply {
        let can_append = |last: &Reply| {
            last.key.is_none() && last.remaining.is_empty() && last.bytes.len() < MAX_COALESCED_BYTES
        };
        if !self.out.back().is_some_and(can_append) {
            self.out.push_back(Reply::default());
        }
        let last = self.out.len() - 1;
        &mut self.out[last]
    }

    /// Sends replies as far as the client takes them; adds the keys of replies that have left to `answered`.
    pub fn send(&mut self, store: &DataStore, completed: &mut Vec<u32>) -> SendResult {
        let mut pieces = 0;
        while let Some(reply) = self.out.front_mut() {
            if reply.sent == reply.bytes.len() {
                match reply.refill(store) {
                    Ok(true) => pieces += 1,
                    Ok(false) => {
                        completed.extend(reply.key);
                        self.out.pop_front();
                        continue;
                    }
                    // The header of the reply has announced the data, so the connection must be closed.
                    Err(_) => return SendResult::Gone,
                }
            }
            if pieces > MAX_PIECES {
                return SendResult::Part;
            }
            match send(&self.socket, &reply.bytes[reply.sent..], SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Ok(count) => reply.sent += count,
                Err(Failure::INTR) => {}
                Err(Failure::WOULDBLOCK) => return SendResult::Part,
                Err(_) => return SendResult::Gone,
            }
        }
        SendResult::All
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::transport::nbd::MAX_BYTES;

    /// A client that has chosen the export, and the server's side of its connection.
    fn connect(bytes: u64) -> (UnixStream, Connection) {
        let (mut client, server) = UnixStream::pair().expect("sockets");
        let export = Export::new("disk", "", bytes).expect("an export");
        client.write_all(b"\0\0\0\x03IHAVEOPT\0\0\0\x01\0\0\0\0").expect("room");
        (client, Connection::new(server.into(), 0, export))
    }

    fn write_header(offset: u64, length: u32) -> Vec<u8> {
        let mut header = b"\x25\x60\x95\x13\0\0\0\x01\0\0\0\0\0\0\0\0".to_vec();
        header.extend(offset.to_be_bytes());
        header.extend(length.to_be_bytes());
        header
    }

    /// Parses all bytes that have arrived; returns the number of complete requests.
    fn parse(connection: &mut Connection, store: &DataStore) -> usize {
        let mut requests = 0;
        while connection.receive() == ReceiveResult::Bytes {
            loop {
                match connection.next(store, false) {
                    NextRequest::More => break,
                    NextRequest::Done => {}
                    NextRequest::Request(_, store_result) => {
                        assert_eq!(store_result, Ok(()));
                        requests += 1;
                    }
                    NextRequest::Close(ending) => panic!("{ending:?}"),
                }
            }
        }
        requests
    }

    #[test]
    fn announced_payload_reserves_no_memory() {
        let store = DataStore::in_memory(64 << 20).expect("memory");
        let (mut client, mut connection) = connect(store.bytes());
        client.write_all(&write_header(0, MAX_BYTES)).expect("room");
        client.write_all(&[1; 1_000]).expect("room");
        assert_eq!(parse(&mut connection, &store), 0);
        assert!((1_000..=2 * INPUT_BYTES).contains(&connection.payload.capacity()));
    }

    #[test]
    fn payload_memory_is_bounded_by_the_longest_write() {
        let store = DataStore::in_memory(64 << 20).expect("memory");
        let (mut client, mut connection) = connect(store.bytes());
        let mut bytes = write_header(0, MAX_BYTES);
        bytes.resize(bytes.len() + MAX_BYTES as usize, 7);
        bytes.extend(write_header(u64::from(MAX_BYTES), 3 << 20));
        bytes.resize(bytes.len() + (3 << 20), 8);
        let mut requests = 0;
        for piece in bytes.chunks(64 << 10) {
            client.write_all(piece).expect("room");
            requests += parse(&mut connection, &store);
            assert!(connection.payload.capacity() <= MAX_BYTES as usize);
        }
        assert_eq!(requests, 2);
        assert!(connection.payload.capacity() <= MAX_IDLE_PAYLOAD_BYTES);
        let mut last = [0; 2];
        store.read_at(u64::from(MAX_BYTES) - 1, &mut last).expect("data");
        assert_eq!(last, [7, 8]);
    }
}
