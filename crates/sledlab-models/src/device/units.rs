//! Devices of several units that move independently behind one address space: each unit has its own queue.

use super::Description;

/// The units of a device.
pub struct Units {
    /// Description of one unit.
    pub unit: Box<dyn Description>,
    /// Number of units, at least 2.
    pub count: usize,
    /// Plural name of the units, for messages.
    pub plural: &'static str,
    /// How to configure one unit, or units that move together, for messages.
    pub remedy: &'static str,
    /// The map from the host's blocks to the blocks of the units.
    pub map: Box<dyn UnitMap>,
}

/// Consecutive blocks on a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitRun {
    /// The unit, from 0.
    pub unit: usize,
    /// First block, numbered within the unit.
    pub lbn: u64,
    /// Number of blocks, at least 1.
    pub blocks: u32,
}

/// Which unit holds which blocks: every block of the host is one block of one unit.
pub trait UnitMap: Send {
    /// Number of blocks on all units together.
    fn capacity_blocks(&self) -> u64;

    /// The unit that holds block `lbn`, and the block's number there.
    fn locate(&self, lbn: u64) -> (usize, u64);

    /// `blocks` blocks from `lbn` in as few runs as their places allow, in order of the first block of each.
    fn split(&self, lbn: u64, blocks: u32) -> Vec<UnitRun>;
}
