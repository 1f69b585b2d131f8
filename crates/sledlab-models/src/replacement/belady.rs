//! Evicts the key whose next use is farthest away (Belady 1966). No policy misses less often, and no device can use
//! this one, as it needs the future.

use sledlab_core::Error;
use sledlab_core::params::NoParams;

use super::priorities::Priorities;
use super::{Found, Model, ReplacementPolicy, SparingPolicy, Use};

/// The offline optimum.
pub struct Belady {
    /// Keys in order of their next use; the key whose next use is farthest away has the lowest priority.
    keys: Priorities,
    capacity: usize,
}

impl Model for Belady {
    type Params = NoParams;
    const NAME: &'static str = "belady";
    const MEANING: &'static str = "knows the future: evicts the entry whose next use is farthest away";
    const NEEDS_FUTURE: bool = true;

    fn new(_: &NoParams, capacity: usize) -> Self {
        Belady { keys: Priorities::default(), capacity }
    }
}

impl ReplacementPolicy for Belady {
    fn access(&mut self, access: Use) -> Found {
        let hit = self.holds(access.key);
        let full = self.keys.len() == self.capacity;
        let victim = if !hit && full { self.keys.pop_least() } else { None };
        self.keys.set(access.key, Use::NEVER - access.next, 1);
        if hit { Found::Hit } else { Found::Miss { victim: victim.map(|(_, key)| key) } }
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

impl SparingPolicy for Belady {
    fn next_victim(&self, may: &mut dyn FnMut(u64) -> bool) -> Option<u64> {
        self.keys.least(may)
    }

    fn evict(&mut self, key: u64) {
        self.keys.remove(key);
    }

    fn rank(&self) -> Option<u64> {
        None
    }
}
