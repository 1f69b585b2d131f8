//! A policy with all keys in one list, which evicts from the back.

use super::lists::Lists;
use super::{AccessResult, MayEvict, SparingPolicy, Use};

/// Keys in one list; a hit moves its key to the front if `MOVES_HITS`.
pub struct SingleList<const MOVES_HITS: bool> {
    keys: Lists<1>,
    capacity: usize,
}

impl<const MOVES_HITS: bool> SingleList<MOVES_HITS> {
    /// An empty cache with room for `capacity` keys.
    pub(super) fn with_capacity(capacity: usize) -> Self {
        SingleList { keys: Lists::new(), capacity }
    }
}

impl<const MOVES_HITS: bool> SparingPolicy for SingleList<MOVES_HITS> {
    fn access_sparing(&mut self, access: Use, may_evict: &mut MayEvict<'_>) -> AccessResult {
        let is_hit =
            if MOVES_HITS { self.keys.bring_front(0, access.key) } else { self.is_resident(access.key) };
        if is_hit {
            return AccessResult::Hit;
        }
        AccessResult::Miss { victim: self.prefetch_sparing(access.key, may_evict) }
    }

    fn prefetch_sparing(&mut self, key: u64, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let is_full = self.keys.len(0) == self.capacity;
        let victim = if is_full { self.keys.take_last(0, may_evict) } else { None };
        self.keys.insert_front(0, key);
        victim
    }

    fn next_victim(&self, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        self.keys.last(0, may_evict)
    }

    fn is_resident(&self, key: u64) -> bool {
        self.keys.find(key).is_some()
    }

    fn resident_count(&self) -> usize {
        self.keys.len(0)
    }
}
