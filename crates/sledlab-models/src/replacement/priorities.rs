//! Keys with priorities. The key with the lowest priority is evicted first; among equals, the one whose priority was
//! set longest ago.

use std::collections::BTreeMap;

use sledlab_core::hash::Map;

/// The priority and the uses of a key.
#[derive(Clone, Copy, Debug)]
pub struct KeyPriority {
    pub priority: u64,
    pub uses: u64,
    /// Number of the change that set the priority: breaks ties.
    change_number: u64,
}

/// Keys in order of priority.
#[derive(Clone, Debug, Default)]
pub(super) struct Priorities {
    keys: Map<u64, KeyPriority>,
    order: BTreeMap<(u64, u64), u64>,
    /// Changes of priorities so far.
    sets: u64,
}

impl Priorities {
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn get(&self, key: u64) -> Option<KeyPriority> {
        self.keys.get(&key).copied()
    }

    /// Inserts a key, or changes it, with its priority and its number of uses.
    pub fn set(&mut self, key: u64, priority: u64, uses: u64) {
        self.sets += 1;
        let stored = KeyPriority { priority, uses, change_number: self.sets };
        if let Some(before) = self.keys.insert(key, stored) {
            self.order.remove(&(before.priority, before.change_number));
        }
        self.order.insert((priority, self.sets), key);
    }

    /// The key with the lowest priority among those for which `may` is true.
    pub fn min_key(&self, may: &mut dyn FnMut(u64) -> bool) -> Option<u64> {
        self.order.values().copied().find(|key| may(*key))
    }

    /// Removes a key; returns its priority.
    pub fn remove(&mut self, key: u64) -> Option<u64> {
        let stored = self.keys.remove(&key)?;
        self.order.remove(&(stored.priority, stored.change_number));
        Some(stored.priority)
    }

    /// Removes the key with the lowest priority; returns priority and key.
    pub fn pop_min(&mut self) -> Option<(u64, u64)> {
        let ((priority, _), key) = self.order.pop_first()?;
        self.keys.remove(&key);
        Some((priority, key))
    }
}
