//! Requests: operations of a host on a device.

use crate::time::Time;

/// Bytes in a logical block (LBN): 64 tip sectors of 8 bytes (Hong 2006, section 2).
pub const BLOCK_BYTES: u64 = 512;

/// Bytes of a word, the unit of partially requested blocks: the data of a tip sector (Lin, section 5.1).
pub const WORD_BYTES: u64 = 8;

/// The maximum number of unrequested words in the last block of a request: at least one word is requested.
pub const MAX_UNREQUESTED_WORDS: u8 = (BLOCK_BYTES / WORD_BYTES - 1) as u8;

/// Returns the number of words of the last block that a range of bytes does not touch. A partly touched word counts as
/// requested.
///
/// Returns 0 if the range begins within a block: [`Request::unrequested_words`] are at the end of a block.
#[inline]
pub const fn unrequested_words(offset: u64, length: u64) -> u8 {
    let unrequested_bytes = length.wrapping_neg() % BLOCK_BYTES;
    if offset.is_multiple_of(BLOCK_BYTES) { (unrequested_bytes / WORD_BYTES) as u8 } else { 0 }
}

/// The kind of a host operation.
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

    /// Returns whether the operation accesses the medium: reads and writes do.
    pub const fn is_media(self) -> bool {
        matches!(self, Op::Read | Op::Write)
    }
}

/// One request of a trace or generator, addressed in blocks of [`BLOCK_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The arrival time at the simulated device.
    pub arrival: Time,
    /// First block; 0 for a flush.
    pub lbn: u64,
    /// Number of blocks; 0 only for a flush.
    pub blocks: u32,
    /// Device number in the trace; 0 unless the trace has several devices.
    pub device: u16,
    /// The kind of operation.
    pub op: Op,
    /// Whether the request accesses metadata of the file system (inodes, directories), if known.
    pub metadata: bool,
    /// Unrequested words of [`WORD_BYTES`] at the end of the last block, at most [`MAX_UNREQUESTED_WORDS`]; 0 if
    /// unknown.
    pub unrequested_words: u8,
    /// Whether every block, not only the last, ends with `unrequested_words`.
    pub is_partial_throughout: bool,
}

impl Default for Request {
    /// A read of no blocks at time 0, for struct literals that set only some fields.
    fn default() -> Self {
        Request {
            arrival: Time::ZERO,
            lbn: 0,
            blocks: 0,
            device: 0,
            op: Op::Read,
            metadata: false,
            unrequested_words: 0,
            is_partial_throughout: false,
        }
    }
}

impl Request {
    /// Returns the number of bytes from the first requested one to the last; complete blocks if unknown.
    pub const fn length_bytes(&self) -> u64 {
        (self.blocks as u64 * BLOCK_BYTES).saturating_sub(self.unrequested_words as u64 * WORD_BYTES)
    }

    /// Returns the first block after the request.
    pub const fn end(&self) -> u64 {
        self.lbn + self.blocks as u64
    }
}
