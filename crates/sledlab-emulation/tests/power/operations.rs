//! Random operations of a client.

use rand::RngExt;

use super::BLOCKS;

/// Kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    WriteZeroes,
    Trim,
    Flush,
}

impl Kind {
    pub fn is_write(self) -> bool {
        matches!(self, Kind::Write | Kind::WriteZeroes)
    }

    /// Whether the operation changes its blocks.
    pub fn is_change(self) -> bool {
        matches!(self, Kind::Write | Kind::WriteZeroes | Kind::Trim)
    }
}

/// An operation on the blocks `first..end`.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    pub kind: Kind,
    pub first: u64,
    pub end: u64,
}

impl Operation {
    pub const FLUSH: Operation = Operation { kind: Kind::Flush, first: 0, end: 0 };

    /// Draws an operation; `write_share` is the share of writes among reads and writes.
    pub fn draw(rng: &mut impl RngExt, write_share: f64, has_flushes: bool) -> Operation {
        // Half of the operations go to a small range, so that blocks are written again.
        let range = if rng.random_bool(0.5) { 60 } else { BLOCKS };
        let blocks = if rng.random_bool(0.2) { rng.random_range(1..40) } else { rng.random_range(1..9) };
        let first = rng.random_range(0..range - 40);
        let kind = match rng.random::<f64>() {
            chance if chance < 0.08 => Kind::Flush,
            chance if chance < 0.12 => Kind::Trim,
            chance if chance < 0.16 => Kind::WriteZeroes,
            chance if chance < 0.16 + 0.84 * write_share => Kind::Write,
            _ => Kind::Read,
        };
        match kind {
            Kind::Flush if has_flushes => Operation::FLUSH,
            Kind::Flush => Operation { kind: Kind::Read, first, end: first + blocks },
            _ => Operation { kind, first, end: first + blocks },
        }
    }
}
