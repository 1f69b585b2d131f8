//! LFUDA as one sentence of paper 001 has it, read literally (CA-02): every use adds the cache's age plus one to the
//! key's priority.

use sledlab_core::Error;
use sledlab_core::params::NoParams;

use super::priorities::Priorities;
use super::{Found, Model, ReplacementPolicy, SparingPolicy, Use};

/// Least frequently used, where the cache's age is added again at every use.
pub struct LfudaLiteral {
    keys: Priorities,
    capacity: usize,
    age: u64,
}

impl Model for LfudaLiteral {
    type Params = NoParams;
    const NAME: &'static str = "lfuda-literal";
    const MEANING: &'static str = "lfuda as paper 001 words it: every use adds the cache's age and one";

    fn new(_: &NoParams, capacity: usize) -> Self {
        LfudaLiteral { keys: Priorities::default(), capacity, age: 0 }
    }
}

impl ReplacementPolicy for LfudaLiteral {
    fn access(&mut self, access: Use) -> Found {
        let more = self.age.saturating_add(1);
        if let Some(kept) = self.keys.get(access.key) {
            self.keys.set(access.key, kept.priority.saturating_add(more), kept.uses + 1);
            return Found::Hit;
        }
        let full = self.keys.len() == self.capacity;
        let victim = if full { self.keys.pop_least() } else { None };
        self.age = victim.map_or(self.age, |(priority, _)| priority);
        self.keys.set(access.key, self.age.saturating_add(1), 1);
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

impl SparingPolicy for LfudaLiteral {
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
