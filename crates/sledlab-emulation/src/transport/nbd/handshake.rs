//! The handshake: options, by which a client and a server agree on an export and on the form of replies.

use super::protocol::NegotiatedOptions;
use super::reply::{ALLOCATION_CONTEXT, option_reply};
use super::wire::{AppendField, Fields, PartialMessage};
use super::{ConnectionEnd, Export, MAX_BYTES, MAX_NAME_BYTES};

/// `NBD_FLAG_C_FIXED_NEWSTYLE`
const FIXED_NEWSTYLE: u32 = 1;
/// `NBD_FLAG_C_NO_ZEROES`
const NO_ZEROES: u32 = 2;
/// Zeroes that end the reply to `EXPORT_NAME`, unless the client has disabled them.
const ZEROES: [u8; 124] = [0; 124];

/// Magic number before each option.
const OPTION_MAGIC: &[u8] = b"IHAVEOPT";
/// Bytes before the data of an option: magic number, option, length of the data.
const OPTION_BYTES: usize = 16;
/// Maximum data of an option, in bytes; longer options are refused without parsing their data.
const MAX_OPTION_BYTES: u32 = 16 << 10;

/// The announced minimum block size, in bytes; smaller requests at any byte are served nevertheless.
const MIN_BLOCK: u32 = 512;
/// The announced preferred block size, in bytes: most file systems use this size.
const PREFERRED_BLOCK: u32 = 4096;

/// The metadata context of allocation: which extents hold data.
const ALLOCATION: &[u8] = b"base:allocation";

/// Options, `NBD_OPT_...`.
mod option {
    pub const EXPORT_NAME: u32 = 1;
    pub const ABORT: u32 = 2;
    pub const LIST: u32 = 3;
    pub const INFO: u32 = 6;
    pub const GO: u32 = 7;
    pub const STRUCTURED_REPLY: u32 = 8;
    pub const LIST_META_CONTEXT: u32 = 9;
    pub const SET_META_CONTEXT: u32 = 10;
}

/// Kinds of replies to options, `NBD_REP_...`.
mod rep {
    pub const ACK: u32 = 1;
    pub const SERVER: u32 = 2;
    pub const INFO: u32 = 3;
    pub const META_CONTEXT: u32 = 4;
    pub const ERR_UNSUP: u32 = 0x8000_0001;
    pub const ERR_INVALID: u32 = 0x8000_0003;
    pub const ERR_UNKNOWN: u32 = 0x8000_0006;
    pub const ERR_TOO_BIG: u32 = 0x8000_0009;
}

/// Kinds of information about an export, `NBD_INFO_...`.
mod info {
    pub const EXPORT: u16 = 0;
    pub const NAME: u16 = 1;
    pub const DESCRIPTION: u16 = 2;
    pub const BLOCK_SIZE: u16 = 3;
}

/// Transmission flags, `NBD_FLAG_...`.
mod flag {
    pub const HAS_FLAGS: u16 = 1 << 0;
    pub const READ_ONLY: u16 = 1 << 1;
    pub const SEND_FLUSH: u16 = 1 << 2;
    pub const SEND_FUA: u16 = 1 << 3;
    pub const ROTATIONAL: u16 = 1 << 4;
    pub const SEND_TRIM: u16 = 1 << 5;
    pub const SEND_WRITE_ZEROES: u16 = 1 << 6;
    pub const SEND_DF: u16 = 1 << 7;
    pub const CAN_MULTI_CONN: u16 = 1 << 8;
    pub const SEND_CACHE: u16 = 1 << 10;
}

/// An outcome of parsing bytes of the handshake.
pub enum HandshakeProgress {
    More,
    Replied,
    Transmission(NegotiatedOptions),
    Close(ConnectionEnd),
}

/// The reason for refusing an option: kind of the reply, and a message for people.
struct OptionRefusal(u32, &'static str);

/// The state of the handshake.
#[derive(Debug, Default)]
pub struct Handshake {
    stage: Stage,
    is_fixed_newstyle: bool,
    omits_zeroes: bool,
    options: NegotiatedOptions,
}

#[derive(Clone, Copy, Debug, Default)]
enum Stage {
    /// Waits for the client's flags, which come first.
    #[default]
    Flags,
    Option,
    Data {
        option: u32,
        length: u32,
    },
    /// Skips data that is not parsed.
    Skip {
        option: u32,
        remaining_bytes: u32,
    },
}

fn violation(what: &'static str) -> HandshakeProgress {
    HandshakeProgress::Close(ConnectionEnd::Violation(what))
}

impl Handshake {
    /// Takes bytes of the client, up to the end of a message.
    pub fn feed(
        &mut self,
        export: &Export,
        front: &mut PartialMessage,
        input: &[u8],
        replies: &mut Vec<u8>,
    ) -> (usize, HandshakeProgress) {
        let mut parsed_bytes = 0;
        loop {
            let unparsed_input = &input[parsed_bytes..];
            if let Stage::Skip { option, remaining_bytes } = self.stage {
                let skipped_bytes = unparsed_input.len().min(remaining_bytes as usize);
                parsed_bytes += skipped_bytes;
                let remaining_bytes = remaining_bytes - skipped_bytes as u32;
                self.stage = Stage::Skip { option, remaining_bytes };
                if remaining_bytes > 0 {
                    return (parsed_bytes, HandshakeProgress::More);
                }
                self.stage = Stage::Option;
                return (parsed_bytes, answer_skipped_option(option, replies));
            }
            let count = match self.stage {
                Stage::Flags => 4,
                Stage::Data { length, .. } => length as usize,
                Stage::Option | Stage::Skip { .. } => OPTION_BYTES,
            };
            let (message_bytes, message) = front.gather(count, unparsed_input);
            parsed_bytes += message_bytes;
            let Some(message) = message else { return (parsed_bytes, HandshakeProgress::More) };
            let next = match self.stage {
                Stage::Flags => self.flags(&message),
                Stage::Data { option, .. } => {
                    self.stage = Stage::Option;
                    Some(self.answer(export, option, &message, replies))
                }
                Stage::Option | Stage::Skip { .. } => self.option(&message),
            };
            if let Some(next) = next {
                return (parsed_bytes, next);
            }
        }
    }

    /// Takes the client's flags; with `None`, options follow.
    fn flags(&mut self, message: &[u8]) -> Option<HandshakeProgress> {
        let flags = Fields(message).u32()?;
        if flags & !(FIXED_NEWSTYLE | NO_ZEROES) != 0 {
            return Some(violation("the client sent flags that the server did not offer"));
        }
        self.is_fixed_newstyle = flags & FIXED_NEWSTYLE != 0;
        self.omits_zeroes = flags & NO_ZEROES != 0;
        self.stage = Stage::Option;
        None
    }

    /// Takes the head of an option; with `None`, its data follows.
    fn option(&mut self, message: &[u8]) -> Option<HandshakeProgress> {
        let mut fields = Fields(message);
        if fields.bytes(OPTION_MAGIC.len())? != OPTION_MAGIC {
            return Some(violation("an option without the magic number"));
        }
        let (option, length) = (fields.u32()?, fields.u32()?);
        if option == option::EXPORT_NAME && length as usize > MAX_NAME_BYTES {
            return Some(violation("the name of an export is too long"));
        }
        if option != option::EXPORT_NAME && !self.is_fixed_newstyle {
            return Some(violation("an option from a client without fixed newstyle negotiation"));
        }
        let is_parsed = is_known(option) && option != option::ABORT && length <= MAX_OPTION_BYTES;
        self.stage = if is_parsed {
            Stage::Data { option, length }
        } else {
            Stage::Skip { option, remaining_bytes: length }
        };
        None
    }

    fn answer(
        &mut self,
        export: &Export,
        option: u32,
        data: &[u8],
        replies: &mut Vec<u8>,
    ) -> HandshakeProgress {
        if option == option::EXPORT_NAME {
            return self.export_name(export, data, replies);
        }
        let result = match option {
            option::LIST => list(export, data, replies),
            option::INFO | option::GO => self.send_info(export, option, data, replies),
            option::STRUCTURED_REPLY => self.structured_reply(data),
            _ => self.contexts(export, option, data, replies),
        };
        match result {
            Ok(()) => option_reply(replies, option, rep::ACK, &[]),
            Err(OptionRefusal(kind, message)) => option_reply(replies, option, kind, &[message.as_bytes()]),
        }
        if option == option::GO && result.is_ok() {
            return HandshakeProgress::Transmission(self.options);
        }
        HandshakeProgress::Replied
    }

    fn export_name(&self, export: &Export, name: &[u8], replies: &mut Vec<u8>) -> HandshakeProgress {
        if !export.matches_name(name) {
            return violation("there is no export of that name");
        }
        replies.extend_from_slice(&self.size_and_flags(export));
        if !self.omits_zeroes {
            replies.extend_from_slice(&ZEROES);
        }
        HandshakeProgress::Transmission(self.options)
    }

    fn structured_reply(&mut self, data: &[u8]) -> Result<(), OptionRefusal> {
        if !data.is_empty() {
            return Err(OptionRefusal(rep::ERR_INVALID, "this option takes no data"));
        }
        self.options.structured = true;
        Ok(())
    }

    /// Answers `INFO` and `GO`: sends the information about an export.
    fn send_info(
        &self,
        export: &Export,
        option: u32,
        data: &[u8],
        replies: &mut Vec<u8>,
    ) -> Result<(), OptionRefusal> {
        let (name, info_kinds) =
            info_requests(data).ok_or(OptionRefusal(rep::ERR_INVALID, "inconsistent lengths"))?;
        check_export_name(export, name)?;
        let mut send_kind = |kind: u16, data: &[u8]| {
            option_reply(replies, option, rep::INFO, &[&kind.to_be_bytes(), data]);
        };
        send_kind(info::EXPORT, &self.size_and_flags(export));
        if info_kinds.contains(&info::NAME) {
            send_kind(info::NAME, export.name.as_bytes());
        }
        if info_kinds.contains(&info::DESCRIPTION) {
            send_kind(info::DESCRIPTION, export.description.as_bytes());
        }
        if info_kinds.contains(&info::BLOCK_SIZE) {
            let sizes = [MIN_BLOCK, PREFERRED_BLOCK, MAX_BYTES].map(u32::to_be_bytes);
            send_kind(info::BLOCK_SIZE, sizes.as_flattened());
        }
        Ok(())
    }

    /// Answers `LIST_META_CONTEXT` and `SET_META_CONTEXT`; the only context has number 0.
    fn contexts(
        &mut self,
        export: &Export,
        option: u32,
        data: &[u8],
        replies: &mut Vec<u8>,
    ) -> Result<(), OptionRefusal> {
        let is_set = option == option::SET_META_CONTEXT;
        if is_set {
            // An earlier choice of contexts is dropped, even where this option fails.
            self.options.allocation = false;
        }
        if !self.options.structured {
            return Err(OptionRefusal(rep::ERR_INVALID, "structured replies must be negotiated first"));
        }
        let (name, queries) = queries(data).ok_or(OptionRefusal(rep::ERR_INVALID, "inconsistent lengths"))?;
        check_export_name(export, name)?;
        // In a list request, no query means all contexts, and `base:` means all contexts of that namespace.
        let matches_allocation = |query: &&[u8]| *query == ALLOCATION || (!is_set && *query == b"base:");
        if queries.iter().any(matches_allocation) || (!is_set && queries.is_empty()) {
            self.options.allocation |= is_set;
            let number = ALLOCATION_CONTEXT.to_be_bytes();
            option_reply(replies, option, rep::META_CONTEXT, &[&number, ALLOCATION]);
        }
        Ok(())
    }

    /// Size and transmission flags of an export: every client gets them, whichever option it uses.
    fn size_and_flags(&self, export: &Export) -> Vec<u8> {
        let mut fields = Vec::new();
        fields.put_u64(export.bytes);
        fields.put_u16(self.transmission_flags(export));
        fields
    }

    fn transmission_flags(&self, export: &Export) -> u16 {
        let mut flags = flag::HAS_FLAGS
            | flag::SEND_FLUSH
            | flag::SEND_FUA
            | flag::SEND_CACHE
            // A flush covers writes that arrived on any connection.
            | flag::CAN_MULTI_CONN;
        flags |= if export.read_only { flag::READ_ONLY } else { flag::SEND_TRIM | flag::SEND_WRITE_ZEROES };
        if export.rotational {
            flags |= flag::ROTATIONAL;
        }
        if self.options.structured {
            flags |= flag::SEND_DF;
        }
        flags
    }
}

fn is_known(option: u32) -> bool {
    use option::{ABORT, EXPORT_NAME, GO, INFO, LIST, LIST_META_CONTEXT, SET_META_CONTEXT, STRUCTURED_REPLY};
    let known_options =
        [EXPORT_NAME, ABORT, LIST, INFO, GO, STRUCTURED_REPLY, LIST_META_CONTEXT, SET_META_CONTEXT];
    known_options.contains(&option)
}

/// Answers an option whose data was skipped.
fn answer_skipped_option(option: u32, replies: &mut Vec<u8>) -> HandshakeProgress {
    if option == option::ABORT {
        option_reply(replies, option, rep::ACK, &[]);
        return HandshakeProgress::Close(ConnectionEnd::Requested);
    }
    let (kind, message) = if is_known(option) {
        (rep::ERR_TOO_BIG, "the data of this option is too long")
    } else {
        (rep::ERR_UNSUP, "unsupported option")
    };
    option_reply(replies, option, kind, &[message.as_bytes()]);
    HandshakeProgress::Replied
}

fn list(export: &Export, data: &[u8], replies: &mut Vec<u8>) -> Result<(), OptionRefusal> {
    if !data.is_empty() {
        return Err(OptionRefusal(rep::ERR_INVALID, "this option takes no data"));
    }
    let length = (export.name.len() as u32).to_be_bytes();
    let parts = [&length, export.name.as_bytes(), export.description.as_bytes()];
    option_reply(replies, option::LIST, rep::SERVER, &parts);
    Ok(())
}

fn check_export_name(export: &Export, name: &[u8]) -> Result<(), OptionRefusal> {
    if export.matches_name(name) {
        Ok(())
    } else {
        Err(OptionRefusal(rep::ERR_UNKNOWN, "there is no export of that name"))
    }
}

/// Parses the name and the kinds of information that `INFO` and `GO` request; `None` if lengths are inconsistent.
fn info_requests(data: &[u8]) -> Option<(&[u8], Vec<u16>)> {
    let mut fields = Fields(data);
    let name = fields.string()?;
    let count = fields.u16()?;
    let kinds = (0..count).map(|_| fields.u16()).collect::<Option<_>>()?;
    (fields.0.is_empty() && name.len() <= MAX_NAME_BYTES).then_some((name, kinds))
}

/// Parses the name and the queries of options about metadata contexts; `None` where lengths do not fit.
fn queries(data: &[u8]) -> Option<(&[u8], Vec<&[u8]>)> {
    let mut fields = Fields(data);
    let name = fields.string()?;
    let count = fields.u32()?;
    let mut queries = Vec::new();
    for _ in 0..count {
        queries.push(fields.string()?);
    }
    let max_length = queries.iter().map(|query| query.len()).chain([name.len()]).max();
    (fields.0.is_empty() && max_length <= Some(MAX_NAME_BYTES)).then_some((name, queries))
}
