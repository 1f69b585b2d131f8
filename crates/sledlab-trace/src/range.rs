//! Ranges of blocks that a request may have.

#![allow(clippy::inline_always, reason = "on the path of every line: measured, a third faster")]

use sledlab_core::{BLOCK_BYTES, Error};

/// Most blocks whose byte addresses fit 64 bits.
const MOST_BLOCKS: u64 = u64::MAX / BLOCK_BYTES;

/// Checks a range given in blocks: not empty, at most 2^32 - 1 blocks long, byte addresses within 64 bits.
#[inline(always)]
pub(crate) fn of_blocks(lbn: u64, blocks: u64) -> Result<(u64, u32), Error> {
    let count = blocks as u32;
    if blocks == 0 || u64::from(count) != blocks || lbn > MOST_BLOCKS - blocks {
        return Err(impossible(lbn, blocks));
    }
    Ok((lbn, count))
}

/// Checks a range given in bytes and rounds it outwards to whole blocks.
#[inline(always)]
pub(crate) fn of_bytes(offset: u64, length: u64) -> Result<(u64, u32), Error> {
    let lbn = offset / BLOCK_BYTES;
    match offset.checked_add(length) {
        Some(end) if length > 0 => of_blocks(lbn, end.div_ceil(BLOCK_BYTES) - lbn),
        Some(_) => Err(impossible(lbn, 0)),
        None => Err(Error::user("offset and length together do not fit 64 bits")),
    }
}

#[cold]
fn impossible(lbn: u64, blocks: u64) -> Error {
    if blocks == 0 {
        Error::user("a request of length zero").with_remedy("remove it from the trace")
    } else if blocks > u64::from(u32::MAX) {
        Error::user(format!("a request of {blocks} blocks: the longest is {} (2 TiB)", u32::MAX))
    } else {
        Error::user(format!("a request at block {lbn}: byte addresses there do not fit 64 bits"))
    }
}
