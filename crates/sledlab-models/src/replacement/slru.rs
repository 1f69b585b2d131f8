//! Segmented LRU: keys used once are evicted before keys used again, after Karedla, Love and Wherry 1994. The paper has
//! two segments; with more, a key moves up by one segment with each use.

use sledlab_core::hash::Set;

use super::lists::Lists;
use super::{AccessResult, MayEvict, Model, SparingPolicy, Use};

sledlab_core::params! {
    /// How the cache is divided.
    pub struct SlruParams {
        /// Share of the cache for entries that were used again.
        protected_share: f64 = 0.5, "", 0.0..1.0;
        /// Number of segments: those above the first divide the protected share evenly.
        segments: u64 = 2_u64, "", 2..16;
    }
}

/// The segment of keys that were used once.
const PROBATION: usize = 0;
const MAX_SEGMENTS: usize = 16;

/// Segmented least recently used.
pub struct Slru {
    segments: Lists<MAX_SEGMENTS>,
    /// Keys that were prefetched and not used yet; all are on probation.
    unused_keys: Set<u64>,
    capacity: usize,
    /// The highest segment.
    top: usize,
    /// Most keys in each segment of keys that were used again.
    max_protected: usize,
}

impl Model for Slru {
    type Params = SlruParams;
    const NAME: &'static str = "slru";
    const MEANING: &'static str = "segmented lru: evicts entries used once before entries used again";

    fn new(params: &SlruParams, capacity: usize) -> Self {
        let top = params.segments as usize - 1;
        let max_protected = (params.protected_share * capacity as f64 / top as f64).round() as usize;
        // At least one place stays on probation, so that there is always a victim.
        Slru {
            segments: Lists::new(),
            unused_keys: Set::default(),
            capacity,
            top,
            max_protected: max_protected.min((capacity - 1) / top),
        }
    }
}

impl Slru {
    /// Inserts a key on probation.
    fn insert(&mut self, key: u64, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let victim = self.victim_if_full(self.capacity, may_evict);
        if let Some(victim) = victim {
            self.segments.remove(victim);
            self.unused_keys.remove(&victim);
        }
        self.segments.insert_front(PROBATION, key);
        victim
    }

    /// Moves a key to the segment above; each full segment moves its last key to the segment below.
    fn promote(&mut self, key: u64, segment: usize) {
        let above = self.top.min(segment + 1);
        self.segments.push_front(above, key);
        for segment in (1..=above).rev() {
            if self.segments.len(segment) > self.max_protected
                && let Some(demoted) = self.segments.back(segment)
            {
                self.segments.push_front(segment - 1, demoted);
            }
        }
    }
}

impl SparingPolicy for Slru {
    fn access_sparing(&mut self, access: Use, may_evict: &mut MayEvict<'_>) -> AccessResult {
        let Some(segment) = self.segments.find(access.key) else {
            return AccessResult::Miss { victim: self.insert(access.key, may_evict) };
        };
        if self.unused_keys.remove(&access.key) {
            self.segments.push_front(PROBATION, access.key);
        } else {
            self.promote(access.key, segment);
        }
        AccessResult::Hit
    }

    fn prefetch_sparing(&mut self, key: u64, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        self.unused_keys.insert(key);
        self.insert(key, may_evict)
    }

    fn next_victim(&self, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        (PROBATION..=self.top).find_map(|segment| self.segments.last(segment, may_evict))
    }

    fn is_resident(&self, key: u64) -> bool {
        self.segments.find(key).is_some()
    }

    fn resident_count(&self) -> usize {
        (PROBATION..=self.top).map(|segment| self.segments.len(segment)).sum()
    }
}
