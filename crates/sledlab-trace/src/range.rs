//! Ranges of blocks that a request may have.

#![allow(clippy::inline_always, reason = "called for every line; inlining is a third faster")]

use sledlab_core::{BLOCK_BYTES, Error};

/// Most blocks whose byte addresses fit signed numbers of 64 bits, the type of addresses in tables and Parquet files.
pub(crate) const MAX_BLOCKS: u64 = i64::MAX as u64 / BLOCK_BYTES;

/// Checks a range given in blocks: not empty, at most 2^32 - 1 blocks long, byte addresses below 2^63.
#[inline(always)]
pub(crate) fn from_blocks(lbn: u64, blocks: u64) -> Result<(u64, u32), Error> {
    let count = blocks as u32;
    if blocks == 0 || u64::from(count) != blocks || lbn > MAX_BLOCKS - blocks {
        return Err(length_error(blocks));
    }
    Ok((lbn, count))
}

/// Checks a range given in bytes and rounds it outwards to blocks.
#[inline(always)]
pub(crate) fn from_bytes(offset: u64, length: u64) -> Result<(u64, u32), Error> {
    let lbn = offset / BLOCK_BYTES;
    match offset.checked_add(length) {
        Some(end) if length > 0 => from_blocks(lbn, end.div_ceil(BLOCK_BYTES) - lbn),
        Some(_) => Err(length_error(0)),
        None => Err(address_error()),
    }
}

#[cold]
fn length_error(blocks: u64) -> Error {
    if blocks == 0 {
        Error::user("a request of length 0").with_remedy("remove it from the trace")
    } else if blocks > u64::from(u32::MAX) {
        Error::user(format!("a request of {blocks} blocks: the longest is {} (2 TiB)", u32::MAX))
    } else {
        address_error()
    }
}

fn address_error() -> Error {
    Error::user("the request ends beyond the highest byte address, 2^63 - 1")
}
