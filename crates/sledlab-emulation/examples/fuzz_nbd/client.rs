//! The client's side of the protocol: sessions that clients send, and replies as clients understand them.

/// The bytes that a client sends, built message by message.
#[derive(Clone)]
pub struct Client(pub Vec<u8>);

impl Client {
    /// Flags 1: fixed newstyle; 2: no zeroes.
    pub fn new(flags: u32) -> Self {
        Client(flags.to_be_bytes().to_vec())
    }

    pub fn option(mut self, option: u32, data: &[u8]) -> Self {
        self.0.extend_from_slice(b"IHAVEOPT");
        self.0.extend_from_slice(&option.to_be_bytes());
        self.0.extend_from_slice(&(data.len() as u32).to_be_bytes());
        self.0.extend_from_slice(data);
        self
    }

    /// Adds the option `INFO` (6) or `GO` (7).
    pub fn info(self, option: u32, name: &str, info_kinds: &[u16]) -> Self {
        let mut data = encode_string(name);
        data.extend_from_slice(&(info_kinds.len() as u16).to_be_bytes());
        data.extend(info_kinds.iter().flat_map(|kind| kind.to_be_bytes()));
        self.option(option, &data)
    }

    /// Adds the option `LIST_META_CONTEXT` (9) or `SET_META_CONTEXT` (10).
    pub fn contexts(self, option: u32, name: &str, queries: &[&str]) -> Self {
        let mut data = encode_string(name);
        data.extend_from_slice(&(queries.len() as u32).to_be_bytes());
        data.extend(queries.iter().flat_map(|query| encode_string(query)));
        self.option(option, &data)
    }

    /// Returns a client that has requested structured replies and extents.
    pub fn with_structured_replies() -> Self {
        Client::new(3).option(8, &[]).contexts(10, "disk", &["base:allocation"]).info(7, "disk", &[3])
    }

    pub fn request(mut self, flags: u16, command: u16, cookie: u64, offset: u64, length: u32) -> Self {
        self.0.extend_from_slice(&0x2560_9513_u32.to_be_bytes());
        self.0.extend_from_slice(&flags.to_be_bytes());
        self.0.extend_from_slice(&command.to_be_bytes());
        self.0.extend_from_slice(&cookie.to_be_bytes());
        self.0.extend_from_slice(&offset.to_be_bytes());
        self.0.extend_from_slice(&length.to_be_bytes());
        self
    }

    pub fn write(self, flags: u16, cookie: u64, offset: u64, data: &[u8]) -> Self {
        let mut client = self.request(flags, 1, cookie, offset, data.len() as u32);
        client.0.extend_from_slice(data);
        client
    }
}

fn encode_string(text: &str) -> Vec<u8> {
    let length = (text.len() as u32).to_be_bytes();
    [&length, text.as_bytes()].concat()
}

/// A reply, parsed as a client parses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    Option { option: u32, kind: u32, data: Vec<u8> },
    ExportName { bytes: u64, flags: u16, zeroes: usize },
    Simple { errno: u32, cookie: u64, data: Vec<u8> },
    Data { cookie: u64, offset: u64, data: Vec<u8> },
    Extents { cookie: u64, extents: Vec<(u32, u32)> },
    Error { cookie: u64, errno: u32, message: String },
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) << 16 | u32::from(u16_at(bytes, at + 2))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) << 32 | u64::from(u32_at(bytes, at + 4))
}

/// Parses the replies of the handshake; panics where bytes are no reply.
pub fn parse_option_replies(mut bytes: &[u8]) -> Vec<Reply> {
    let mut replies = Vec::new();
    while !bytes.is_empty() {
        if u64_at(bytes, 0) != 0x0003_e889_0455_65a9 {
            let zeroes = bytes[10..].len();
            assert!((zeroes == 0 || zeroes == 124) && bytes[10..].iter().all(|byte| *byte == 0));
            replies.push(Reply::ExportName { bytes: u64_at(bytes, 0), flags: u16_at(bytes, 8), zeroes });
            break;
        }
        let (option, kind, length) = (u32_at(bytes, 8), u32_at(bytes, 12), u32_at(bytes, 16) as usize);
        replies.push(Reply::Option { option, kind, data: bytes[20..20 + length].to_vec() });
        bytes = &bytes[20 + length..];
    }
    replies
}

/// Parses one reply of the transmission phase; panics where the bytes are no reply.
pub fn parse_reply(bytes: &[u8]) -> Reply {
    if u32_at(bytes, 0) == 0x6744_6698 {
        return Reply::Simple {
            errno: u32_at(bytes, 4),
            cookie: u64_at(bytes, 8),
            data: bytes[16..].to_vec(),
        };
    }
    assert_eq!(u32_at(bytes, 0), 0x668e_33ef, "neither a simple reply nor a chunk");
    assert_eq!(u16_at(bytes, 4), 1, "every chunk is the last of its reply");
    let (kind, cookie, payload) = (u16_at(bytes, 6), u64_at(bytes, 8), &bytes[20..]);
    assert_eq!(u32_at(bytes, 16) as usize, payload.len());
    match kind {
        1 => Reply::Data { cookie, offset: u64_at(payload, 0), data: payload[8..].to_vec() },
        5 => {
            assert_eq!(u32_at(payload, 0), 0, "the announced context");
            let extents = payload[4..].chunks(8).map(|extent| (u32_at(extent, 0), u32_at(extent, 4)));
            Reply::Extents { cookie, extents: extents.collect() }
        }
        0x8001 => {
            assert_eq!(usize::from(u16_at(payload, 4)), payload[6..].len());
            let message = String::from_utf8(payload[6..].to_vec()).expect("a sentence");
            Reply::Error { cookie, errno: u32_at(payload, 0), message }
        }
        _ => panic!("chunk of unknown type {kind}"),
    }
}
