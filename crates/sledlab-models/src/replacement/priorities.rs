//! Keys with priorities. The key with the lowest priority is evicted first; among equals, the one whose priority was
//! set longest ago.

use std::collections::BTreeMap;

use sledlab_core::hash::Map;

use super::MayEvict;

/// The priority and the uses of a key.
#[derive(Clone, Copy, Debug)]
pub struct KeyPriority<T> {
    pub priority: T,
    /// Number of uses; 0 of a key that was prefetched and not used yet.
    pub uses: u64,
    /// Number of the change that set the priority: breaks ties.
    change_number: u64,
}

/// Keys in order of priority.
#[derive(Clone, Debug)]
pub(super) struct Priorities<T> {
    keys: Map<u64, KeyPriority<T>>,
    order: BTreeMap<(T, u64), u64>,
    /// Changes of priorities so far.
    changes: u64,
}

impl<T: Copy + Ord> Priorities<T> {
    pub fn new() -> Self {
        Priorities { keys: Map::default(), order: BTreeMap::new(), changes: 0 }
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn get(&self, key: u64) -> Option<KeyPriority<T>> {
        self.keys.get(&key).copied()
    }

    /// Inserts a key, or changes it, with its priority and its number of uses.
    pub fn set(&mut self, key: u64, priority: T, uses: u64) {
        self.changes += 1;
        let new_priority = KeyPriority { priority, uses, change_number: self.changes };
        if let Some(previous) = self.keys.insert(key, new_priority) {
            self.order.remove(&(previous.priority, previous.change_number));
        }
        self.order.insert((priority, self.changes), key);
    }

    /// The key with the lowest priority among those for which `may_evict` is true.
    pub fn min_key(&self, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        self.order.values().copied().find(|key| may_evict(*key))
    }

    /// Removes the key with the lowest priority among those for which `may_evict` is true; returns priority and key.
    pub fn take_min(&mut self, may_evict: &mut MayEvict<'_>) -> Option<(T, u64)> {
        let (place, key) =
            self.order.iter().map(|(place, key)| (*place, *key)).find(|(_, key)| may_evict(*key))?;
        self.order.remove(&place);
        self.keys.remove(&key);
        Some((place.0, key))
    }
}
