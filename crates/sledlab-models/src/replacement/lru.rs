//! Evicts the key that was used longest ago (CA-01).

use sledlab_core::Error;
use sledlab_core::params::NoParams;

use super::lists::Lists;
use super::{Found, Model, ReplacementPolicy, SparingPolicy, Use};

/// Least recently used.
pub struct Lru {
    keys: Lists<1>,
    capacity: usize,
    uses: u64,
}

impl Model for Lru {
    type Params = NoParams;
    const NAME: &'static str = "lru";
    const MEANING: &'static str = "least recently used: evicts the entry whose last use is longest ago";

    fn new(_: &NoParams, capacity: usize) -> Self {
        Lru { keys: Lists::new(), capacity, uses: 0 }
    }
}

impl ReplacementPolicy for Lru {
    fn access(&mut self, access: Use) -> Found {
        self.uses += 1;
        if self.keys.bring_front(0, access.key) {
            return Found::Hit;
        }
        let full = self.keys.len(0) == self.capacity;
        let victim = if full { self.keys.pop_back(0) } else { None };
        self.keys.insert_front(0, access.key);
        Found::Miss { victim }
    }

    fn holds(&self, key: u64) -> bool {
        self.keys.find(key).is_some()
    }

    fn len(&self) -> usize {
        self.keys.len(0)
    }

    fn failure(&mut self) -> Option<Error> {
        None
    }
}

impl SparingPolicy for Lru {
    fn next_victim(&self, may: &mut dyn FnMut(u64) -> bool) -> Option<u64> {
        self.keys.last(0, may)
    }

    fn evict(&mut self, key: u64) {
        self.keys.remove(key);
    }

    fn rank(&self) -> Option<u64> {
        Some(self.uses)
    }
}
