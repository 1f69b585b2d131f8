//! Devices of several units that move each on their own behind one address space: each gets a queue of its own.

use super::Description;

/// The units of a device.
pub struct Units {
    /// What one of them is.
    pub each: Box<dyn Description>,
    /// How many there are, at least 2.
    pub count: usize,
    /// What several of them are called, for messages.
    pub called: &'static str,
    /// What to do to have one of them, or all moving as one, for messages.
    pub remedy: &'static str,
    /// Where they keep the blocks of their host.
    pub map: Box<dyn UnitMap>,
}

/// Consecutive blocks on a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitRun {
    /// The unit, from 0.
    pub unit: usize,
    /// The first of them there.
    pub lbn: u64,
    /// How many, at least 1.
    pub blocks: u32,
}

/// Which unit holds which blocks: every block of the host is one block of one unit.
pub trait UnitMap: Send {
    /// Blocks on all units together.
    fn capacity_blocks(&self) -> u64;

    /// The unit that holds block `lbn`, and its number there.
    fn locate(&self, lbn: u64) -> (usize, u64);

    /// `blocks` blocks from `lbn` in as few runs as their places allow, in order of the first block of each.
    fn split(&self, lbn: u64, blocks: u32) -> Vec<UnitRun>;
}
