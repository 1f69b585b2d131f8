//! Server side of the NBD protocol, as a codec: parses the bytes of a client into requests, and encodes replies.
//!
//! The protocol is that of `doc/proto.md` in <https://github.com/NetworkBlockDevice/nbd>, as of May 2026; names like
//! `NBD_OPT_GO` are those of that document. Spoken are the fixed newstyle handshake with the options `EXPORT_NAME`,
//! `ABORT`, `LIST`, `INFO`, `GO`, `STRUCTURED_REPLY`, `LIST_META_CONTEXT` and `SET_META_CONTEXT`, and the commands
//! `READ`, `WRITE`, `DISC`, `FLUSH`, `TRIM`, `CACHE`, `WRITE_ZEROES` and `BLOCK_STATUS` (`base:allocation`). There is
//! no TLS, and no oldstyle handshake.
//!
//! # A connection
//! 1. Send [`GREETING`]; make a [`Session`].
//! 2. Give it the bytes that arrive, in pieces of any size, until it returns [`Event::More`]; send what it puts into
//!    `replies`.
//! 3. Collect the parts of [`Event::Data`], and change the store when the last part has arrived. [`Event::Request`] is
//!    for the model. The codec has checked both: a request lies within the device, and invalid requests were answered.
//! 4. When a request is due, encode its reply with [`Session::replies`] and send it, in any order.
//!
//! ```
//! use sledlab_emulation::transport::nbd::{Event, Export, GREETING, Session};
//!
//! let export = Export::new("disk", "a G2 sled", 1 << 20)?;
//! let mut session = Session::new(export);
//! let mut to_send = GREETING.to_vec();
//! let arrived = [0, 0, 0, 3]; // the client's flags: fixed newstyle, no zeroes
//! let mut input = &arrived[..];
//! loop {
//!     let (parsed_bytes, event) = session.feed(input, &mut to_send);
//!     input = &input[parsed_bytes..];
//!     match event {
//!         Event::More => break, // read the socket again
//!         Event::Replied => {}
//!         Event::Data { offset, bytes, remaining_bytes } => {
//!             println!("{} bytes for {offset}, {remaining_bytes} follow", bytes.len());
//!         }
//!         Event::Request(request) => println!("submit {request:?}"),
//!         Event::Close(ending) => println!("{ending:?}"),
//!     }
//! }
//! assert!(!session.is_open(), "no export is chosen yet");
//! # Ok::<(), sledlab_core::Error>(())
//! ```

mod handshake;
mod protocol;
mod reply;
mod request;
mod wire;

use sledlab_core::{BLOCK_BYTES, Error, Result};

pub use protocol::{Command, Errno, NbdRequest};
pub use reply::ReplyEncoder;

use handshake::{Handshake, HandshakeProgress};
use request::Requests;
use wire::PartialMessage;

/// First message of a server: the server supports fixed newstyle negotiation and can omit the zeroes after
/// `EXPORT_NAME`.
pub const GREETING: [u8; 18] = *b"NBDMAGICIHAVEOPT\x00\x03";

/// Maximum bytes that one request reads or writes: the default of the protocol.
pub const MAX_BYTES: u32 = 32 << 20;

/// The longest text of the protocol, in bytes.
const MAX_NAME_BYTES: usize = 4096;

/// The served export: one device under one name.
#[derive(Clone, Debug)]
pub struct Export {
    name: String,
    description: String,
    bytes: u64,
    rotational: bool,
    read_only: bool,
}

impl Export {
    /// Returns the export of a device of `bytes` bytes. Clients select the export by its name or by the empty name;
    /// `description` is a text for users.
    ///
    /// # Errors
    /// A name or description that has more than 4,096 bytes or contains NUL; a size that is not a multiple of 512
    /// bytes.
    pub fn new(name: &str, description: &str, bytes: u64) -> Result<Self> {
        for (what, text) in [("name", name), ("description", description)] {
            if text.len() > MAX_NAME_BYTES || text.contains('\0') {
                return Err(Error::user(format!("the {what} of the export is too long, or contains NUL"))
                    .with_remedy(format!("use at most {MAX_NAME_BYTES} bytes without NUL")));
            }
        }
        if bytes == 0 || !bytes.is_multiple_of(BLOCK_BYTES) {
            return Err(Error::user(format!("cannot serve a device of {bytes} bytes"))
                .with_remedy(format!("the size must be a multiple of {BLOCK_BYTES} bytes, and not 0")));
        }
        let (name, description) = (name.to_owned(), description.to_owned());
        Ok(Export { name, description, bytes, rotational: false, read_only: false })
    }

    /// Sets whether the export is announced as rotational: neighboring blocks are cheaper to reach, as on a disk.
    #[must_use]
    pub fn rotational(mut self, rotational: bool) -> Self {
        self.rotational = rotational;
        self
    }

    /// Sets whether requests that would change data are refused.
    #[must_use]
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// The size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether a client means this export by `name`: the empty name stands for the only one.
    fn matches_name(&self, name: &[u8]) -> bool {
        name.is_empty() || name == self.name.as_bytes()
    }
}

/// An event of a client's input, one at a time.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// All input has been parsed: more must arrive.
    More,
    /// Bytes to send were added to `replies`.
    Replied,
    /// A part of the payload of a write. The [`Event::Request`] of the write follows the last part, with no other event
    /// in between. The store must not change before the last part: a client may disconnect in the middle of a payload.
    Data {
        /// Offset of this part on the device, in bytes.
        offset: u64,
        /// The data: a piece of the input; not empty.
        bytes: &'a [u8],
        /// Number of payload bytes that follow this part; 0 for the last one.
        remaining_bytes: u32,
    },
    /// A request has arrived completely; it waits for its reply.
    Request(NbdRequest),
    /// The connection ends; input after this event is dropped.
    Close(ConnectionEnd),
}

/// The reason for which a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionEnd {
    /// The client has sent a disconnect: close when every request in flight has been answered.
    Requested,
    /// The client violated the protocol, or requested an export that does not exist: close the connection at once.
    Violation(&'static str),
}

/// A connection: what client and server have agreed on, and the message that is arriving.
///
/// Allocates memory only for the start of a message that has not arrived completely: an option of at most 16 KiB or the
/// 28 bytes of a request. Payloads of writes are passed on as they arrive.
#[derive(Debug)]
pub struct Session {
    export: Export,
    front: PartialMessage,
    phase: Phase,
    replies: ReplyEncoder,
}

#[derive(Debug)]
enum Phase {
    Handshake(Handshake),
    Transmission(Requests),
    Closed,
}

impl Session {
    /// A connection that has just been accepted.
    pub fn new(export: Export) -> Self {
        let phase = Phase::Handshake(Handshake::default());
        Session { export, front: PartialMessage::default(), phase, replies: ReplyEncoder::default() }
    }

    /// Parses the next bytes of the client: returns how many were used, and the event that they mean. Bytes to send are
    /// added to `replies`, less than 16 KiB a call.
    ///
    /// To be called again with the bytes that are left, even if none are, until the event is [`Event::More`]: then all
    /// bytes were used. Input after [`Event::Close`] is dropped.
    pub fn feed<'a>(&mut self, input: &'a [u8], replies: &mut Vec<u8>) -> (usize, Event<'a>) {
        let (parsed_bytes, event) = match &mut self.phase {
            Phase::Handshake(handshake) => {
                let (parsed_bytes, next) = handshake.feed(&self.export, &mut self.front, input, replies);
                let event = match next {
                    HandshakeProgress::More => Event::More,
                    HandshakeProgress::Replied => Event::Replied,
                    HandshakeProgress::Close(ending) => Event::Close(ending),
                    HandshakeProgress::Transmission(options) => {
                        self.replies = ReplyEncoder { structured: options.structured };
                        self.phase = Phase::Transmission(Requests::new(options));
                        Event::Replied
                    }
                };
                (parsed_bytes, event)
            }
            Phase::Transmission(requests) => requests.feed(&self.export, &mut self.front, input, replies),
            Phase::Closed => (input.len(), Event::More),
        };
        if let Event::Close(_) = event {
            (self.phase, self.front) = (Phase::Closed, PartialMessage::default());
        }
        (parsed_bytes, event)
    }

    /// Whether the client has chosen the export and may send requests.
    pub fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Transmission(_))
    }

    /// How replies of this connection are encoded, once requests can arrive.
    pub fn replies(&self) -> ReplyEncoder {
        self.replies
    }

    /// Bytes of memory that the codec holds for this connection.
    pub fn buffered_bytes(&self) -> usize {
        self.front.capacity()
    }
}
