//! A policy that evicts the key with the lowest priority.

use sledlab_core::Error;

use super::priorities::{KeyPriority, Priorities};
use super::{AccessResult, ReplacementPolicy, SparingPolicy, Use};

/// Computes the priorities of keys.
pub trait PriorityRule: Default + Send {
    /// The priority that the key of `access` has from this use on; `before` is its entry if the cache holds the key.
    fn compute(&self, access: Use, before: Option<KeyPriority>) -> u64;

    /// Called when the cache evicts a key with this priority.
    fn on_eviction(&mut self, priority: u64);
}

/// Keys in order of the priorities that `P` computes.
pub struct PriorityPolicy<P> {
    keys: Priorities,
    capacity: usize,
    priority: P,
}

impl<P: PriorityRule> PriorityPolicy<P> {
    /// An empty cache with room for `capacity` keys.
    pub(super) fn with_capacity(capacity: usize) -> Self {
        PriorityPolicy { keys: Priorities::default(), capacity, priority: P::default() }
    }
}

impl<P: PriorityRule> ReplacementPolicy for PriorityPolicy<P> {
    fn access(&mut self, access: Use) -> AccessResult {
        let before = self.keys.get(access.key);
        let full = self.keys.len() == self.capacity;
        let victim = if before.is_none() && full { self.keys.pop_min() } else { None };
        if let Some((priority, _)) = victim {
            self.priority.on_eviction(priority);
        }
        let uses = before.map_or(0, |stored| stored.uses) + 1;
        self.keys.set(access.key, self.priority.compute(access, before), uses);
        if before.is_some() {
            AccessResult::Hit
        } else {
            AccessResult::Miss { victim: victim.map(|(_, key)| key) }
        }
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

impl<P: PriorityRule> SparingPolicy for PriorityPolicy<P> {
    fn next_victim(&self, may: &mut dyn FnMut(u64) -> bool) -> Option<u64> {
        self.keys.min_key(may)
    }

    fn evict(&mut self, key: u64) {
        if let Some(priority) = self.keys.remove(key) {
            self.priority.on_eviction(priority);
        }
    }
}
