//! Two lists: keys used once are evicted before keys used again, after Karedla, Love and Wherry 1994.

use sledlab_core::hash::Set;

use super::lists::Lists;
use super::{AccessResult, MayEvict, Model, SparingPolicy, Use};

sledlab_core::params! {
    /// How the cache is divided.
    pub struct SlruParams {
        /// Share of the cache for entries that were used again.
        protected_share: f64 = 0.5, "", 0.0..1.0;
    }
}

const PROBATION_LIST: usize = 0;
const PROTECTED_LIST: usize = 1;

/// Segmented least recently used.
pub struct Slru {
    keys: Lists<2>,
    /// Keys that were prefetched and not used yet; all are on probation.
    unused_keys: Set<u64>,
    capacity: usize,
    /// Most keys in the list of those that were used again.
    max_protected: usize,
}

impl Model for Slru {
    type Params = SlruParams;
    const NAME: &'static str = "slru";
    const MEANING: &'static str = "segmented lru: evicts entries used once before entries used again";

    fn new(params: &SlruParams, capacity: usize) -> Self {
        let max_protected = (params.protected_share * capacity as f64).round() as usize;
        // At least one place stays on probation, so that there is always a victim.
        Slru {
            keys: Lists::new(),
            unused_keys: Set::default(),
            capacity,
            max_protected: max_protected.min(capacity - 1),
        }
    }
}

impl Slru {
    /// Inserts a key on probation.
    fn insert(&mut self, key: u64, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let is_full = self.resident_count() == self.capacity;
        let victim = if is_full { self.next_victim(may_evict) } else { None };
        if let Some(victim) = victim {
            self.keys.remove(victim);
            self.unused_keys.remove(&victim);
        }
        self.keys.insert_front(PROBATION_LIST, key);
        victim
    }
}

impl SparingPolicy for Slru {
    fn access_sparing(&mut self, access: Use, may_evict: &mut MayEvict<'_>) -> AccessResult {
        if !self.is_resident(access.key) {
            return AccessResult::Miss { victim: self.insert(access.key, may_evict) };
        }
        if self.unused_keys.remove(&access.key) {
            self.keys.push_front(PROBATION_LIST, access.key);
            return AccessResult::Hit;
        }
        self.keys.push_front(PROTECTED_LIST, access.key);
        if self.keys.len(PROTECTED_LIST) > self.max_protected
            && let Some(demoted) = self.keys.back(PROTECTED_LIST)
        {
            self.keys.push_front(PROBATION_LIST, demoted);
        }
        AccessResult::Hit
    }

    fn prefetch_sparing(&mut self, key: u64, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        self.unused_keys.insert(key);
        self.insert(key, may_evict)
    }

    fn next_victim(&self, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        self.keys.last(PROBATION_LIST, may_evict).or_else(|| self.keys.last(PROTECTED_LIST, may_evict))
    }

    fn is_resident(&self, key: u64) -> bool {
        self.keys.find(key).is_some()
    }

    fn resident_count(&self) -> usize {
        self.keys.len(PROBATION_LIST) + self.keys.len(PROTECTED_LIST)
    }
}
