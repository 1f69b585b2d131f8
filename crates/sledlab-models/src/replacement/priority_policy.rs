//! A policy that evicts the key with the lowest priority.

use super::priorities::{KeyPriority, Priorities};
use super::{AccessResult, MayEvict, SparingPolicy, Use};

/// Computes the priorities of keys.
pub trait PriorityRule: Default + Send {
    /// A priority.
    type Priority: Copy + Ord + Send;

    /// The priority that the key of `access` has from this use on; `previous` is its entry if the cache holds the key
    /// and the key was used before.
    fn compute(&self, access: Use, previous: Option<KeyPriority<Self::Priority>>) -> Self::Priority;

    /// The priority of a key that is prefetched, until its first use.
    fn unused_priority(&self) -> Self::Priority;

    /// Called when the cache evicts a key with this priority.
    fn on_eviction(&mut self, priority: Self::Priority);
}

/// Keys in order of the priorities that `P` computes.
pub struct PriorityPolicy<P: PriorityRule> {
    keys: Priorities<P::Priority>,
    capacity: usize,
    priority: P,
}

impl<P: PriorityRule> PriorityPolicy<P> {
    /// An empty cache with room for `capacity` keys.
    pub(super) fn with_capacity(capacity: usize) -> Self {
        PriorityPolicy { keys: Priorities::new(), capacity, priority: P::default() }
    }

    /// Evicts a key where the cache is full.
    fn make_room(&mut self, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let is_full = self.keys.len() == self.capacity;
        let (priority, victim) = is_full.then(|| self.keys.take_min(may_evict)).flatten()?;
        self.priority.on_eviction(priority);
        Some(victim)
    }
}

impl<P: PriorityRule + 'static> SparingPolicy for PriorityPolicy<P> {
    fn access_sparing(&mut self, access: Use, may_evict: &mut MayEvict<'_>) -> AccessResult {
        let resident = self.keys.get(access.key);
        let result = match resident {
            Some(_) => AccessResult::Hit,
            None => AccessResult::Miss { victim: self.make_room(may_evict) },
        };
        let previous = resident.filter(|resident| resident.uses > 0);
        let uses = previous.map_or(0, |previous| previous.uses) + 1;
        self.keys.set(access.key, self.priority.compute(access, previous), uses);
        result
    }

    fn prefetch_sparing(&mut self, key: u64, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let victim = self.make_room(may_evict);
        self.keys.set(key, self.priority.unused_priority(), 0);
        victim
    }

    fn next_victim(&self, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        self.keys.min_key(may_evict)
    }

    fn is_resident(&self, key: u64) -> bool {
        self.keys.get(key).is_some()
    }

    fn resident_count(&self) -> usize {
        self.keys.len()
    }
}
