//! Ranges of blocks that a request may have.

#![allow(clippy::inline_always, reason = "called for every line; inlining is a third faster")]

use sledlab_core::{BLOCK_BYTES, Error};

/// Most blocks whose byte addresses fit signed numbers of 64 bits, the type of addresses in tables and Parquet files.
pub(crate) const MAX_BLOCKS: u64 = i64::MAX as u64 / BLOCK_BYTES;

/// Why a range is refused.
#[derive(Debug)]
pub(crate) enum RangeFault {
    /// The range has a length of 0: recordings hold such requests, and readers omit them.
    Empty,
    /// The range is too long, or lies beyond the highest address.
    Invalid(Error),
}

/// Checks a range given in blocks: not empty, at most 2^32 - 1 blocks long, byte addresses below 2^63.
#[inline(always)]
pub(crate) fn from_blocks(lbn: u64, blocks: u64) -> Result<(u64, u32), RangeFault> {
    let count = blocks as u32;
    if blocks == 0 || u64::from(count) != blocks || lbn > MAX_BLOCKS - blocks {
        return Err(length_fault(blocks));
    }
    Ok((lbn, count))
}

/// Checks a range given in bytes and rounds it outwards to blocks.
#[inline(always)]
pub(crate) fn from_bytes(offset: u64, length: u64) -> Result<(u64, u32), RangeFault> {
    let lbn = offset / BLOCK_BYTES;
    match offset.checked_add(length) {
        Some(end) if length > 0 => from_blocks(lbn, end.div_ceil(BLOCK_BYTES) - lbn),
        Some(_) => Err(RangeFault::Empty),
        None => Err(RangeFault::Invalid(address_error())),
    }
}

#[cold]
fn length_fault(blocks: u64) -> RangeFault {
    if blocks == 0 {
        RangeFault::Empty
    } else if blocks > u64::from(u32::MAX) {
        let message = format!("a request of {blocks} blocks: the longest is {} (2 TiB)", u32::MAX);
        RangeFault::Invalid(Error::user(message))
    } else {
        RangeFault::Invalid(address_error())
    }
}

fn address_error() -> Error {
    Error::user("the request ends beyond the highest byte address, 2^63 - 1")
}
