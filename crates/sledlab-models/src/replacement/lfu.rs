//! Evicts the key with the fewest uses since it was inserted; among equals, the one whose last use is longest ago.
//!
//! Uses are counted while a key is in the cache. A key that is inserted again starts with one use.

use sledlab_core::params::NoParams;

use super::priorities::KeyPriority;
use super::priority_policy::{PriorityPolicy, PriorityRule};
use super::{Model, Use};

/// Least frequently used.
pub type Lfu = PriorityPolicy<UsesOnly>;

/// The number of uses.
#[derive(Default)]
pub struct UsesOnly;

impl Model for Lfu {
    type Params = NoParams;
    const NAME: &'static str = "lfu";
    const MEANING: &'static str =
        "least frequently used: evicts the entry with the fewest uses since it was inserted";

    fn new(_: &NoParams, capacity: usize) -> Self {
        PriorityPolicy::with_capacity(capacity)
    }
}

impl PriorityRule for UsesOnly {
    type Priority = u64;

    fn compute(&self, _access: Use, previous: Option<KeyPriority<u64>>) -> u64 {
        previous.map_or(0, |priority| priority.uses) + 1
    }

    fn unused_priority(&self) -> u64 {
        0
    }

    fn on_eviction(&mut self, _priority: u64) {}
}
