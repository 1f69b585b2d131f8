//! Requests of the transmission phase: parsed, and refused at once where they are invalid.

use super::protocol::{Command, Errno, NbdRequest, NegotiatedOptions, WRITE};
use super::reply::ReplyEncoder;
use super::wire::{Fields, PartialMessage};
use super::{ConnectionEnd, Event, Export, MAX_BYTES};

/// Magic number before each request.
const REQUEST_MAGIC: u32 = 0x2560_9513;
/// Bytes of a request: magic number, flags, command, cookie, offset, length.
const REQUEST_BYTES: usize = 28;

/// `NBD_CMD_DISC`, the only command without a reply.
const DISCONNECT: u16 = 2;

/// Flags of commands, `NBD_CMD_FLAG_...`.
mod flag {
    pub const FUA: u16 = 1 << 0;
    pub const NO_HOLE: u16 = 1 << 1;
    pub const DF: u16 = 1 << 2;
    pub const REQ_ONE: u16 = 1 << 3;
}

/// The reason for refusing a request.
#[derive(Clone, Copy, Debug)]
struct Refusal(Errno, &'static str);

/// The state of parsing the requests of a connection.
#[derive(Debug)]
pub struct Requests {
    options: NegotiatedOptions,
    stage: Stage,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    Header,
    /// Passes on the data of a write, of which so many bytes are still to come.
    Data {
        request: NbdRequest,
        remaining_bytes: u32,
    },
    /// Drops the data of a write that was refused.
    Skip {
        request: NbdRequest,
        refusal: Refusal,
        remaining_bytes: u32,
    },
}

impl Requests {
    pub fn new(options: NegotiatedOptions) -> Self {
        Requests { options, stage: Stage::Header }
    }

    fn replies(&self) -> ReplyEncoder {
        ReplyEncoder { structured: self.options.structured }
    }

    /// Parses bytes of the client, up to the end of a request or of a piece of data.
    pub fn feed<'a>(
        &mut self,
        export: &Export,
        front: &mut PartialMessage,
        input: &'a [u8],
        replies: &mut Vec<u8>,
    ) -> (usize, Event<'a>) {
        let mut parsed_bytes = 0;
        if let Stage::Header = self.stage {
            let (header_bytes, header) = front.gather(REQUEST_BYTES, input);
            parsed_bytes = header_bytes;
            let Some(header) = header else { return (parsed_bytes, Event::More) };
            if let Some(event) = self.header(export, &header, replies) {
                return (parsed_bytes, event);
            }
        }
        let (data_bytes, event) = self.data(&input[parsed_bytes..], replies);
        (parsed_bytes + data_bytes, event)
    }

    /// Takes the head of a request; `None` where the data of a write must come next.
    fn header(&mut self, export: &Export, header: &[u8], replies: &mut Vec<u8>) -> Option<Event<'static>> {
        let mut fields = Fields(header);
        if fields.u32()? != REQUEST_MAGIC {
            return Some(Event::Close(ConnectionEnd::Violation("a request without the magic number")));
        }
        let (flags, number, cookie) = (fields.u16()?, fields.u16()?, fields.u64()?);
        let (offset, length) = (fields.u64()?, fields.u32()?);
        if number == DISCONNECT {
            return Some(Event::Close(ConnectionEnd::Requested));
        }
        let command = Command::from_number(number);
        let request = NbdRequest {
            cookie,
            // An unknown command is refused below, and its reply is encoded like that of any command.
            command: command.unwrap_or(Command::Flush),
            offset,
            length,
            fua: flags & flag::FUA != 0,
            no_hole: flags & flag::NO_HOLE != 0,
            single_extent: flags & flag::REQ_ONE != 0,
        };
        let result = match command {
            Some(_) => check_request(export, self.options, flags, &request),
            None => Err(Refusal(Errno::Inval, "unsupported command")),
        };
        match result {
            Ok(()) if number == WRITE => self.stage = Stage::Data { request, remaining_bytes: length },
            Ok(()) => return Some(Event::Request(request)),
            Err(refusal) if number == WRITE => {
                self.stage = Stage::Skip { request, refusal, remaining_bytes: length }
            }
            Err(Refusal(errno, why)) => {
                self.replies().encode_error(replies, &request, errno, why);
                return Some(Event::Replied);
            }
        }
        None
    }

    /// Passes on the data of a write, or drops it.
    fn data<'a>(&mut self, input: &'a [u8], replies: &mut Vec<u8>) -> (usize, Event<'a>) {
        match self.stage {
            Stage::Header => (0, Event::More),
            Stage::Data { request, remaining_bytes: 0 } => {
                self.stage = Stage::Header;
                (0, Event::Request(request))
            }
            Stage::Data { .. } if input.is_empty() => (0, Event::More),
            Stage::Data { request, remaining_bytes } => {
                let bytes = &input[..input.len().min(remaining_bytes as usize)];
                let offset = request.offset + u64::from(request.length - remaining_bytes);
                let remaining_bytes = remaining_bytes - bytes.len() as u32;
                self.stage = Stage::Data { request, remaining_bytes };
                (bytes.len(), Event::Data { offset, bytes, remaining_bytes })
            }
            Stage::Skip { request, refusal, remaining_bytes } => {
                let skipped_bytes = input.len().min(remaining_bytes as usize);
                let remaining_bytes = remaining_bytes - skipped_bytes as u32;
                self.stage = Stage::Skip { request, refusal, remaining_bytes };
                if remaining_bytes > 0 {
                    return (skipped_bytes, Event::More);
                }
                self.stage = Stage::Header;
                self.replies().encode_error(replies, &request, refusal.0, refusal.1);
                (skipped_bytes, Event::Replied)
            }
        }
    }
}

/// Checks whether a request can be served at all.
fn check_request(
    export: &Export,
    options: NegotiatedOptions,
    flags: u16,
    request: &NbdRequest,
) -> Result<(), Refusal> {
    let command = request.command;
    let allowed_flags = flag::FUA
        | match command {
            Command::WriteZeroes => flag::NO_HOLE,
            Command::Read if options.structured => flag::DF,
            Command::BlockStatus => flag::REQ_ONE,
            _ => 0,
        };
    if flags & !allowed_flags != 0 {
        return Err(Refusal(Errno::Inval, "this command does not support the flag"));
    }
    if command == Command::BlockStatus && !options.allocation {
        return Err(Refusal(Errno::Inval, "no metadata context was chosen"));
    }
    if command == Command::Flush {
        let has_no_range = request.offset == 0 && request.length == 0;
        return if has_no_range {
            Ok(())
        } else {
            Err(Refusal(Errno::Inval, "a flush has neither offset nor length"))
        };
    }
    if command.is_write() && export.read_only {
        return Err(Refusal(Errno::Perm, "this device is read-only"));
    }
    if request.length == 0 {
        return Err(Refusal(Errno::Inval, "a request of length 0"));
    }
    if request.length > MAX_BYTES && matches!(command, Command::Read | Command::Write) {
        return Err(Refusal(Errno::Inval, "more than 32 MiB at once"));
    }
    let end = request.offset.checked_add(u64::from(request.length));
    if end.is_none_or(|end| end > export.bytes) {
        let writes_data = matches!(command, Command::Write | Command::WriteZeroes);
        let errno = if writes_data { Errno::NoSpc } else { Errno::Inval };
        return Err(Refusal(errno, "past the end of the device"));
    }
    Ok(())
}
