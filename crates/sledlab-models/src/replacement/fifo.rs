//! Evicts the key that was inserted longest ago. The distance to LRU shows what recency of use is worth.

use sledlab_core::Error;
use sledlab_core::params::NoParams;

use super::lists::Lists;
use super::{Found, Model, ReplacementPolicy, SparingPolicy, Use};

/// First in, first out.
pub struct Fifo {
    keys: Lists<1>,
    capacity: usize,
}

impl Model for Fifo {
    type Params = NoParams;
    const NAME: &'static str = "fifo";
    const MEANING: &'static str = "first in, first out: evicts the oldest entry, however often used";

    fn new(_: &NoParams, capacity: usize) -> Self {
        Fifo { keys: Lists::new(), capacity }
    }
}

impl ReplacementPolicy for Fifo {
    fn access(&mut self, access: Use) -> Found {
        if self.holds(access.key) {
            return Found::Hit;
        }
        let full = self.keys.len(0) == self.capacity;
        let victim = if full { self.keys.pop_back(0) } else { None };
        self.keys.push_front(0, access.key);
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

impl SparingPolicy for Fifo {
    fn next_victim(&self, may: &mut dyn FnMut(u64) -> bool) -> Option<u64> {
        self.keys.last(0, may)
    }

    fn evict(&mut self, key: u64) {
        self.keys.remove(key);
    }

    fn rank(&self) -> Option<u64> {
        None
    }
}
