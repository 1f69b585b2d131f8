//! Power failures of emulated devices: random operations, a cut of the power, and a check of every block.
//!
//! [`live`] drives the model directly, in simulated time. [`wire`] drives a server through its socket; the example
//! `power` and `validation/benches/power.py` do that thousands of times. Both use the systems of [`systems`], the
//! operations of [`operations`], and the check of [`history`].

pub mod history;
pub mod live;
pub mod operations;
pub mod systems;
pub mod wire;

/// Number of blocks that operations touch: more than a cache or the front of a hybrid holds.
pub const BLOCKS: u64 = 400;

/// Counts over power failures.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub failures: u64,
    /// Failures with operations in flight.
    pub interrupted: u64,
    /// Failures after which a block had an older version than the last one written.
    pub restored: u64,
    /// Failures that lost an acknowledged write.
    pub lost: u64,
    /// Blocks that were read back and compared.
    pub blocks: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.failures += other.failures;
        self.interrupted += other.interrupted;
        self.restored += other.restored;
        self.lost += other.lost;
        self.blocks += other.blocks;
    }
}
