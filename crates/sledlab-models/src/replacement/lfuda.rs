//! Evicts the key with the fewest uses, where the cache's age counts as uses (CA-02), after Arlitt, Friedrich and Jin
//! 1999.
//!
//! At each use, the priority of the key becomes the number of its uses plus the cache's age. The age is the priority of
//! the last victim, so keys that were used often long ago are evicted in the end.

use sledlab_core::Error;
use sledlab_core::params::NoParams;

use super::priorities::Priorities;
use super::{Found, Model, ReplacementPolicy, SparingPolicy, Use};

/// Least frequently used with dynamic aging.
pub struct Lfuda {
    keys: Priorities,
    capacity: usize,
    age: u64,
}

impl Model for Lfuda {
    type Params = NoParams;
    const NAME: &'static str = "lfuda";
    const MEANING: &'static str =
        "least frequently used, dynamic aging: evicts the entry with the fewest uses plus the cache's age";

    fn new(_: &NoParams, capacity: usize) -> Self {
        Lfuda { keys: Priorities::default(), capacity, age: 0 }
    }
}

impl ReplacementPolicy for Lfuda {
    fn access(&mut self, access: Use) -> Found {
        if let Some(kept) = self.keys.get(access.key) {
            self.keys.set(access.key, kept.uses + 1 + self.age, kept.uses + 1);
            return Found::Hit;
        }
        let full = self.keys.len() == self.capacity;
        let victim = if full { self.keys.pop_least() } else { None };
        self.age = victim.map_or(self.age, |(priority, _)| priority);
        self.keys.set(access.key, 1 + self.age, 1);
        Found::Miss { victim: victim.map(|(_, key)| key) }
    }

    fn holds(&self, key: u64) -> bool {
        self.keys.get(key).is_some()
    }

    fn len(&self) -> usize {
        self.keys.len()
    }

    fn failure(&mut self) -> Option<Error> {
        None
    }
}

impl SparingPolicy for Lfuda {
    fn next_victim(&self, may: &mut dyn FnMut(u64) -> bool) -> Option<u64> {
        self.keys.least(may)
    }

    fn evict(&mut self, key: u64) {
        self.age = self.keys.remove(key).unwrap_or(self.age);
    }

    fn rank(&self) -> Option<u64> {
        None
    }
}
