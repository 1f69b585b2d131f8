//! A server without sockets or clocks: takes the bytes of a client and returns a transcript of the replies. Checks the
//! invariants of the codec.

use sledlab_emulation::DataExtent;
use sledlab_emulation::transport::nbd::{
    Command, ConnectionEnd, Event, Export, MAX_BYTES, NbdRequest, Session,
};

use crate::client::{Reply, parse_option_replies, parse_reply};

/// Size of the device that is served.
pub const BYTES: u64 = 64 << 10;

/// More memory than the codec may hold for a session, in bytes, whatever the client sends.
const MAX_BUFFERED_BYTES: usize = 16 << 10;

/// The outcome of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    pub handshake: Vec<u8>,
    /// Requests that were not refused, in the order of their arrival.
    pub requests: Vec<NbdRequest>,
    /// Replies after the handshake, one by one.
    pub replies: Vec<Vec<u8>>,
    pub connection_end: Option<ConnectionEnd>,
    pub disk: Vec<u8>,
}

/// A session with a device that answers at once.
pub struct Server {
    session: Session,
    transcript: Transcript,
    /// Payload of the write that is arriving.
    payload: Vec<u8>,
}

pub fn export() -> Export {
    Export::new("disk", "a disk for tests", BYTES).expect("an export")
}

/// Serves a session whose bytes arrive in pieces of `sizes`; the last size is repeated.
pub fn serve(export: Export, bytes: &[u8], sizes: &[usize]) -> Transcript {
    let mut server = Server::new(export);
    let mut unsent_bytes = bytes;
    let mut sizes = sizes.iter();
    let mut size = usize::MAX;
    while !unsent_bytes.is_empty() {
        size = *sizes.next().unwrap_or(&size);
        let (piece, later_bytes) = unsent_bytes.split_at(size.min(unsent_bytes.len()));
        server.receive(piece);
        unsent_bytes = later_bytes;
    }
    server.transcript
}

impl Server {
    pub fn new(export: Export) -> Self {
        let disk = vec![0; export.bytes() as usize];
        let transcript = Transcript { disk, ..Transcript::default() };
        Server { session: Session::new(export), transcript, payload: Vec::new() }
    }

    fn receive(&mut self, mut input: &[u8]) {
        loop {
            let was_open = self.session.is_open();
            let mut out = Vec::new();
            let (parsed_bytes, event) = self.session.feed(input, &mut out);
            assert!(out.len() < MAX_BUFFERED_BYTES, "a call adds little to what is to be sent");
            assert!(self.session.buffered_bytes() <= MAX_BUFFERED_BYTES, "memory is bounded");
            let needs_more = event == Event::More;
            assert!(
                !needs_more || (parsed_bytes == input.len() && out.is_empty()),
                "the codec needs more input and has used all of it"
            );
            self.record_output(was_open, out, &event);
            match event {
                Event::More | Event::Replied => {}
                Event::Data { offset, bytes, remaining_bytes } => {
                    self.receive_payload(offset, bytes, remaining_bytes);
                }
                Event::Request(request) => self.answer(request),
                Event::Close(ending) => self.transcript.connection_end = Some(ending),
            }
            input = &input[parsed_bytes..];
            if needs_more {
                return;
            }
        }
    }

    /// Collects the payload of a write, and changes the disk when the payload is complete.
    fn receive_payload(&mut self, offset: u64, bytes: &[u8], remaining_bytes: u32) {
        assert!(!bytes.is_empty());
        self.payload.extend_from_slice(bytes);
        if remaining_bytes == 0 {
            let payload = std::mem::take(&mut self.payload);
            let begin = offset + bytes.len() as u64 - payload.len() as u64;
            self.range(begin, payload.len()).copy_from_slice(&payload);
        }
    }

    fn record_output(&mut self, was_open: bool, out: Vec<u8>, event: &Event) {
        assert!(
            self.transcript.connection_end.is_none() || *event == Event::More,
            "nothing comes after the end"
        );
        if !was_open {
            self.transcript.handshake.extend_from_slice(&out);
        } else if out.is_empty() {
            assert_ne!(*event, Event::Replied);
        } else {
            assert_eq!(*event, Event::Replied);
            self.transcript.replies.push(out);
        }
    }

    fn range(&mut self, offset: u64, length: usize) -> &mut [u8] {
        assert!(length > 0);
        &mut self.transcript.disk[offset as usize..][..length]
    }

    fn answer(&mut self, request: NbdRequest) {
        assert!(request.length > 0 || (request.command == Command::Flush && request.offset == 0));
        assert!(request.offset + u64::from(request.length) <= BYTES);
        let replies = self.session.replies();
        let mut out = Vec::new();
        match request.command {
            Command::Read => {
                assert!(request.length <= MAX_BYTES);
                replies.encode_data(&mut out, &request);
                out.extend_from_slice(self.range(request.offset, request.length as usize));
            }
            Command::BlockStatus => replies.encode_extents(&mut out, &request, &self.extents(&request)),
            Command::Trim | Command::WriteZeroes => {
                self.range(request.offset, request.length as usize).fill(0);
                replies.encode_success(&mut out, &request);
            }
            Command::Write | Command::Flush | Command::Cache => replies.encode_success(&mut out, &request),
        }
        self.transcript.requests.push(request);
        self.transcript.replies.push(out);
    }

    /// One extent for each byte, which is more than any store returns.
    fn extents(&self, request: &NbdRequest) -> Vec<DataExtent> {
        let data = &self.transcript.disk[request.offset as usize..][..request.length as usize];
        data.iter().map(|byte| DataExtent { length: 1, allocated: *byte != 0 }).collect()
    }
}

impl Transcript {
    /// The replies, parsed as a client parses them.
    pub fn parsed_replies(&self) -> Vec<Reply> {
        let mut replies = parse_option_replies(&self.handshake);
        replies.extend(self.replies.iter().map(|bytes| parse_reply(bytes)));
        replies
    }

    /// Returns whether this transcript is a prefix of `complete`.
    pub fn is_prefix_of(&self, complete: &Transcript) -> bool {
        complete.handshake.starts_with(&self.handshake)
            && complete.requests.starts_with(&self.requests)
            && complete.replies.starts_with(&self.replies)
            && (self.connection_end.is_none() || self.connection_end == complete.connection_end)
    }
}
