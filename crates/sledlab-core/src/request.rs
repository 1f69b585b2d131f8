//! What a host asks of a device.

use crate::time::Time;

/// Bytes in a logical block (LBN): 64 tip sectors of 8 bytes (paper 000, section 2).
pub const BLOCK_BYTES: u64 = 512;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Read blocks.
    Read,
    /// Write blocks.
    Write,
    /// Declare blocks unused; completes at once.
    Trim,
    /// Complete when all writes that arrived before are durable.
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
    /// When it reaches the device under test.
    pub arrival: Time,
    /// First block; 0 for a flush.
    pub lbn: u64,
    /// Number of blocks; 0 only for a flush.
    pub blocks: u32,
    /// Device number in the trace (0 unless the trace holds several).
    pub device: u16,
    /// What is asked for.
    pub op: Op,
}

impl Request {
    /// The first block after the request.
    pub const fn end(&self) -> u64 {
        self.lbn + self.blocks as u64
    }
}
