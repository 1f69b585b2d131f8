//! A policy with all keys in one list, which evicts from the back.

use sledlab_core::Error;

use super::lists::Lists;
use super::{AccessResult, ReplacementPolicy, SparingPolicy, Use};

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

impl<const MOVES_HITS: bool> ReplacementPolicy for SingleList<MOVES_HITS> {
    fn access(&mut self, access: Use) -> AccessResult {
        let hit = if MOVES_HITS { self.keys.bring_front(0, access.key) } else { self.holds(access.key) };
        if hit {
            return AccessResult::Hit;
        }
        let full = self.keys.len(0) == self.capacity;
        let victim = if full { self.keys.pop_back(0) } else { None };
        self.keys.insert_front(0, access.key);
        AccessResult::Miss { victim }
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

impl<const MOVES_HITS: bool> SparingPolicy for SingleList<MOVES_HITS> {
    fn next_victim(&self, may: &mut dyn FnMut(u64) -> bool) -> Option<u64> {
        self.keys.last(0, may)
    }

    fn evict(&mut self, key: u64) {
        self.keys.remove(key);
    }
}
