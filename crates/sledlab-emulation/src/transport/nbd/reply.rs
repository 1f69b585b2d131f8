//! Replies, encoded as bytes.

use super::protocol::{Command, Errno, NbdRequest};
use super::wire::AppendField;
use crate::DataExtent;

/// Magic number before each reply to an option.
const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
/// Magic number before each simple reply.
const SIMPLE_MAGIC: u32 = 0x6744_6698;
/// Magic number before each chunk of a structured reply.
const CHUNK_MAGIC: u32 = 0x668e_33ef;

/// `NBD_REPLY_FLAG_DONE`: no chunk follows. Here every reply is a single chunk.
const DONE: u16 = 1;

/// Types of chunks, `NBD_REPLY_TYPE_...`.
mod chunk {
    pub const OFFSET_DATA: u16 = 1;
    pub const BLOCK_STATUS: u16 = 5;
    pub const ERROR: u16 = 0x8001;
}

/// `NBD_STATE_HOLE` and `NBD_STATE_ZERO`: the extent takes no room, and reads as zeroes.
const HOLE_AND_ZERO: u32 = 3;

/// The number of the metadata context `base:allocation`.
pub const ALLOCATION_CONTEXT: u32 = 0;

/// Maximum extents in one reply; clients request later extents separately.
const MAX_EXTENTS: usize = 1 << 16;

/// Encodes a reply to an option, whose data is passed in parts.
pub fn option_reply(out: &mut Vec<u8>, option: u32, kind: u32, data: &[&[u8]]) {
    out.put_u64(OPTION_REPLY_MAGIC);
    out.put_u32(option);
    out.put_u32(kind);
    out.put_u32(data.iter().map(|part| part.len()).sum::<usize>() as u32);
    for part in data {
        out.extend_from_slice(part);
    }
}

/// How replies of one connection are encoded: as simple replies, or in chunks if the client has requested them.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReplyEncoder {
    pub(super) structured: bool,
}

impl ReplyEncoder {
    /// Encodes what comes before the data of a read: exactly `request.length` bytes must follow. Once this was sent, an
    /// error can no longer be reported.
    pub fn encode_data(self, out: &mut Vec<u8>, request: &NbdRequest) {
        debug_assert_eq!(request.command, Command::Read);
        if self.structured {
            encode_chunk_header(out, request, chunk::OFFSET_DATA, 8 + request.length);
            out.put_u64(request.offset);
        } else {
            encode_simple(out, request, 0);
        }
    }

    /// Encodes the success of a request without data in its reply: neither a read nor a query of extents.
    pub fn encode_success(self, out: &mut Vec<u8>, request: &NbdRequest) {
        debug_assert!(!matches!(request.command, Command::Read | Command::BlockStatus));
        // Clients take a simple reply in the place of a chunk too, and it is shorter.
        encode_simple(out, request, 0);
    }

    /// Encodes an error. `why` is a text for users of at most 4,096 bytes; only structured replies contain it.
    pub fn encode_error(self, out: &mut Vec<u8>, request: &NbdRequest, errno: Errno, message: &str) {
        if self.structured {
            let message = &message.as_bytes()[..message.len().min(super::MAX_NAME_BYTES)];
            encode_chunk_header(out, request, chunk::ERROR, 6 + message.len() as u32);
            out.put_u32(errno as u32);
            out.put_u16(message.len() as u16);
            out.extend_from_slice(message);
        } else {
            encode_simple(out, request, errno as u32);
        }
    }

    /// Encodes which extents hold data: `extents` from the request's offset on, at least one. They are cut off at the
    /// end of the request, and may end before it.
    pub fn encode_extents(self, out: &mut Vec<u8>, request: &NbdRequest, extents: &[DataExtent]) {
        debug_assert!(self.structured && request.command == Command::BlockStatus);
        let max_extents = if request.single_extent { 1 } else { MAX_EXTENTS };
        let mut remaining_bytes = u64::from(request.length);
        let mut merged: Vec<(u32, bool)> = Vec::new();
        for extent in extents {
            let length = extent.length.min(remaining_bytes) as u32;
            remaining_bytes -= u64::from(length);
            let is_full = merged.len() == max_extents;
            match merged.last_mut() {
                _ if length == 0 => {}
                Some(last) if last.1 == extent.allocated => last.0 += length,
                _ if is_full => break,
                _ => merged.push((length, extent.allocated)),
            }
        }
        if merged.is_empty() {
            // Where nothing is known, data is a valid answer.
            merged.push((request.length, true));
        }
        encode_chunk_header(out, request, chunk::BLOCK_STATUS, 4 + 8 * merged.len() as u32);
        out.put_u32(ALLOCATION_CONTEXT);
        for (length, allocated) in merged {
            out.put_u32(length);
            out.put_u32(if allocated { 0 } else { HOLE_AND_ZERO });
        }
    }
}

fn encode_simple(out: &mut Vec<u8>, request: &NbdRequest, errno: u32) {
    out.put_u32(SIMPLE_MAGIC);
    out.put_u32(errno);
    out.put_u64(request.cookie);
}

fn encode_chunk_header(out: &mut Vec<u8>, request: &NbdRequest, kind: u16, length: u32) {
    out.put_u32(CHUNK_MAGIC);
    out.put_u16(DONE);
    out.put_u16(kind);
    out.put_u64(request.cookie);
    out.put_u32(length);
}
