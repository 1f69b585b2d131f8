//! Evicts the key with the fewest uses, where the cache's age counts as uses, after Arlitt, Friedrich and Jin
//! 1999.
//!
//! At each use, the priority of the key becomes the number of its uses plus the cache's age. The age is the priority of
//! the last victim, so keys that were used often long ago are evicted in the end.

use sledlab_core::params::NoParams;

use super::priorities::KeyPriority;
use super::priority_policy::{PriorityPolicy, PriorityRule};
use super::{Model, Use};

/// Least frequently used with dynamic aging.
pub type Lfuda = PriorityPolicy<UsesAndAge>;

/// The number of uses plus the age of the cache.
#[derive(Default)]
pub struct UsesAndAge {
    age: u64,
}

impl Model for Lfuda {
    type Params = NoParams;
    const NAME: &'static str = "lfuda";
    const MEANING: &'static str =
        "least frequently used, dynamic aging: evicts the entry with the fewest uses plus the cache's age";

    fn new(_: &NoParams, capacity: usize) -> Self {
        PriorityPolicy::with_capacity(capacity)
    }
}

impl PriorityRule for UsesAndAge {
    type Priority = u64;

    fn compute(&self, _access: Use, previous: Option<KeyPriority<u64>>) -> u64 {
        previous.map_or(0, |priority| priority.uses) + 1 + self.age
    }

    fn unused_priority(&self) -> u64 {
        self.age
    }

    fn on_eviction(&mut self, priority: u64) {
        self.age = priority;
    }
}
