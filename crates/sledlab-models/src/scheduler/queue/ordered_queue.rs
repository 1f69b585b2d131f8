//! A queue in order of place, the number of a block or a track: the base of schedulers that use block numbers.

use std::collections::BTreeMap;

use crate::device::QueuedRequest;

/// Place, rank within the place, number of the request.
pub(in crate::scheduler) type Key = (u64, u64, u64);

/// Requests by place, in a balanced tree: every operation takes time that grows with the logarithm of the queue's
/// length.
#[derive(Debug, Default)]
pub(in crate::scheduler) struct OrderedQueue {
    tree: BTreeMap<Key, QueuedRequest>,
}

impl OrderedQueue {
    /// Adds a request.
    pub fn insert(&mut self, key: Key, request: QueuedRequest) {
        self.tree.insert(key, request);
    }

    /// Key of the first request at the lowest place.
    pub fn first(&self) -> Option<Key> {
        self.tree.first_key_value().map(|(key, _)| *key)
    }

    /// Key of the first request at the lowest place from `place` on.
    pub fn first_at_or_above(&self, place: u64) -> Option<Key> {
        self.tree.range((place, 0, 0)..).next().map(|(key, _)| *key)
    }

    /// Key of the first request at the highest place below `place`.
    pub fn first_below(&self, place: u64) -> Option<Key> {
        let ((highest, ..), _) = self.tree.range(..(place, 0, 0)).next_back()?;
        self.first_at_or_above(*highest)
    }

    /// The request with `key`.
    pub fn get(&self, key: Key) -> Option<QueuedRequest> {
        self.tree.get(&key).copied()
    }

    /// Removes and returns the request with `key`.
    pub fn take(&mut self, key: Key) -> Option<QueuedRequest> {
        self.tree.remove(&key)
    }

    pub fn len(&self) -> usize {
        self.tree.len()
    }
}
