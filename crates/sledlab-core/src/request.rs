//! Requests: the operations that a host asks of a device.

use crate::time::Time;

/// Bytes in a logical block (LBN): 64 tip sectors of 8 bytes (Hong 2006, section 2).
pub const BLOCK_BYTES: u64 = 512;

/// Bytes of a word, the unit in which hosts want or do not want data: those of a tip sector (Lin, section 5.1).
pub const WORD_BYTES: u64 = 8;

/// Most words of its last block that a request may leave unwanted: it wants at least one.
pub const MAX_UNREQUESTED: u8 = (BLOCK_BYTES / WORD_BYTES - 1) as u8;

/// Words of the last block that a range of bytes does not want: a word counts as wanted if any byte of it is.
///
/// 0 where the range begins within a block: `unrequested_words` can say nothing of a first block.
#[inline]
pub const fn unrequested_words(offset: u64, length: u64) -> u8 {
    let beyond = length.wrapping_neg() % BLOCK_BYTES;
    if offset.is_multiple_of(BLOCK_BYTES) { (beyond / WORD_BYTES) as u8 } else { 0 }
}

/// The kind of operation that the host asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Read blocks.
    Read,
    /// Write blocks.
    Write,
    /// Declare blocks unused; completes at once.
    Trim,
    /// Complete when all writes that arrived before the flush are durable.
    Flush,
}

impl Op {
    /// The letter used in the project's own traces and tables.
    pub const fn letter(self) -> char {
        match self {
            Op::Read => 'R',
            Op::Write => 'W',
            Op::Trim => 'T',
            Op::Flush => 'F',
        }
    }

    /// Whether the operation moves the medium: reads and writes do.
    pub const fn is_media(self) -> bool {
        matches!(self, Op::Read | Op::Write)
    }
}

/// One request of a trace or generator, addressed in blocks of [`BLOCK_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When the request reaches the device under test.
    pub arrival: Time,
    /// First block; 0 for a flush.
    pub lbn: u64,
    /// Number of blocks; 0 only for a flush.
    pub blocks: u32,
    /// Device number in the trace (0 unless the trace holds several).
    pub device: u16,
    /// The kind of operation.
    pub op: Op,
    /// Whether the request is for the file system's own data (inodes, directories), where that is known.
    pub metadata: bool,
    /// Words of [`WORD_BYTES`] of the request's last block that the host has no use for, at most [`MAX_UNREQUESTED`]; 0
    /// where nothing is known.
    pub unrequested_words: u8,
}

impl Default for Request {
    /// A read of no blocks at time 0: the values of fields that a literal leaves out.
    fn default() -> Self {
        Request {
            arrival: Time::ZERO,
            lbn: 0,
            blocks: 0,
            device: 0,
            op: Op::Read,
            metadata: false,
            unrequested_words: 0,
        }
    }
}

impl Request {
    /// Bytes of the request's blocks that the host wants, as far as that is known.
    pub const fn requested_bytes(&self) -> u64 {
        (self.blocks as u64 * BLOCK_BYTES).saturating_sub(self.unrequested_words as u64 * WORD_BYTES)
    }

    /// The first block after the request.
    pub const fn end(&self) -> u64 {
        self.lbn + self.blocks as u64
    }
}
