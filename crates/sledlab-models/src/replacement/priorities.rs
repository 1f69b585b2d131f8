//! Keys with priorities, of which the least goes first, and of equals the one set longest ago.

use std::collections::BTreeMap;

use sledlab_core::hash::Map;

/// What is known of a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    pub priority: u64,
    pub uses: u64,
    set: u64,
}

/// Keys by priority.
#[derive(Clone, Debug, Default)]
pub(super) struct Priorities {
    keys: Map<u64, Kept>,
    order: BTreeMap<(u64, u64), u64>,
    sets: u64,
}

impl Priorities {
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn get(&self, key: u64) -> Option<Kept> {
        self.keys.get(&key).copied()
    }

    /// Gives a key a priority.
    pub fn set(&mut self, key: u64, priority: u64, uses: u64) {
        self.sets += 1;
        let kept = Kept { priority, uses, set: self.sets };
        if let Some(before) = self.keys.insert(key, kept) {
            self.order.remove(&(before.priority, before.set));
        }
        self.order.insert((priority, self.sets), key);
    }

    /// The key with the least priority of those that `may`.
    pub fn least(&self, may: &mut dyn FnMut(u64) -> bool) -> Option<u64> {
        self.order.values().copied().find(|key| may(*key))
    }

    /// Takes a key out, and tells its priority.
    pub fn remove(&mut self, key: u64) -> Option<u64> {
        let kept = self.keys.remove(&key)?;
        self.order.remove(&(kept.priority, kept.set));
        Some(kept.priority)
    }

    /// Takes out the key with the least priority; tells both.
    pub fn pop_least(&mut self) -> Option<(u64, u64)> {
        let ((priority, _), key) = self.order.pop_first()?;
        self.keys.remove(&key);
        Some((priority, key))
    }
}
