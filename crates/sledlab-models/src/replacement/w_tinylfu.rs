//! W-TinyLFU: new keys enter a small window, and a key that leaves the window enters the main cache only if it was used
//! more often of late than the key that it would replace there (Einziger, Friedman and Manes, ACM TOS 2017,
//! <https://arxiv.org/abs/1512.00727>).
//!
//! The window is an LRU, the main cache a segmented LRU, each with the shares of the paper. The paper estimates uses
//! with a sketch to save memory. Here they are counted, so results have no error of estimation; like in the paper,
//! a count ends at the ratio of sample and cache, and all counts are halved when the sample is complete.

use sledlab_core::hash::{Map, Set};

use super::lists::Lists;
use super::{AccessResult, MayEvict, Model, SparingPolicy, Use};

sledlab_core::params! {
    /// How W-TinyLFU divides the cache, and how long it remembers uses.
    pub struct WTinyLfuParams {
        /// Share of the cache for the window of new entries, at least one entry.
        window_share: f64 = 0.01, "", 0.0..1.0;
        /// Share of the rest for entries that were used again there.
        protected_share: f64 = 0.8, "", 0.0..1.0;
        /// Number of uses after which the counts of uses are halved, relative to the cache; also the largest count.
        sample: u64 = 10_u64, "", 1..1000;
    }
}

const WINDOW: usize = 0;
/// Keys of the main cache that were not used there yet.
const PROBATION: usize = 1;
/// Keys of the main cache that were used there.
const PROTECTED: usize = 2;

/// W-TinyLFU.
pub struct WTinyLfu {
    keys: Lists<3>,
    /// Keys that were prefetched and not used yet.
    unused_keys: Set<u64>,
    recent_uses: RecentUses,
    capacity: usize,
    window_room: usize,
    max_protected: usize,
}

/// Number of uses of each key of late.
struct RecentUses {
    counts: Map<u64, u64>,
    max_count: u64,
    /// Uses counted so far, halved with the counts.
    counted: usize,
    /// Number of counted uses at which all counts are halved.
    sample: usize,
}

impl RecentUses {
    fn add(&mut self, key: u64) {
        let count = self.counts.entry(key).or_default();
        *count = self.max_count.min(*count + 1);
        self.counted += 1;
        if self.counted >= self.sample {
            self.counted /= 2;
            self.counts.retain(|_, count| {
                *count /= 2;
                *count > 0
            });
        }
    }

    fn count(&self, key: u64) -> u64 {
        self.counts.get(&key).copied().unwrap_or(0)
    }
}

impl Model for WTinyLfu {
    type Params = WTinyLfuParams;
    const NAME: &'static str = "w-tinylfu";
    const MEANING: &'static str =
        "an lru window, and an slru that admits entries used more often of late than its victim";

    fn new(params: &WTinyLfuParams, capacity: usize) -> Self {
        let window_room = ((params.window_share * capacity as f64) as usize).max(1);
        let main_room = capacity.saturating_sub(window_room);
        WTinyLfu {
            keys: Lists::new(),
            unused_keys: Set::default(),
            recent_uses: RecentUses {
                counts: Map::default(),
                max_count: params.sample,
                counted: 0,
                sample: params.sample as usize * capacity,
            },
            capacity,
            window_room,
            max_protected: (params.protected_share * main_room as f64) as usize,
        }
    }
}

impl WTinyLfu {
    /// Inserts a key in the window. The key that leaves the window for it enters the main cache, or is evicted.
    fn insert(&mut self, key: u64, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let victim = self.victim_if_full(self.capacity, may_evict);
        if let Some(victim) = victim {
            self.keys.remove(victim);
            self.unused_keys.remove(&victim);
        }
        if self.keys.len(WINDOW) >= self.window_room
            && let Some(candidate) = self.keys.back(WINDOW)
        {
            self.keys.push_front(PROBATION, candidate);
        }
        self.keys.insert_front(WINDOW, key);
        victim
    }

    /// Uses a key of the main cache.
    fn protect(&mut self, key: u64) {
        self.keys.push_front(PROTECTED, key);
        if self.keys.len(PROTECTED) > self.max_protected
            && let Some(demoted) = self.keys.back(PROTECTED)
        {
            self.keys.push_front(PROBATION, demoted);
        }
    }

    fn last_of_main(&self, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        [PROBATION, PROTECTED].into_iter().find_map(|list| self.keys.last(list, may_evict))
    }
}

impl SparingPolicy for WTinyLfu {
    fn access_sparing(&mut self, access: Use, may_evict: &mut MayEvict<'_>) -> AccessResult {
        let key = access.key;
        self.recent_uses.add(key);
        let Some(list) = self.keys.find(key) else {
            return AccessResult::Miss { victim: self.insert(key, may_evict) };
        };
        if self.unused_keys.remove(&key) || list == WINDOW {
            self.keys.push_front(list, key);
        } else {
            self.protect(key);
        }
        AccessResult::Hit
    }

    fn prefetch_sparing(&mut self, key: u64, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        self.unused_keys.insert(key);
        self.insert(key, may_evict)
    }

    fn next_victim(&self, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let in_main = self.last_of_main(may_evict);
        let candidate = self.keys.back(WINDOW).filter(|candidate| may_evict(*candidate));
        match (candidate, in_main) {
            (Some(candidate), Some(main)) => {
                let is_admitted = self.recent_uses.count(candidate) > self.recent_uses.count(main);
                Some(if is_admitted { main } else { candidate })
            }
            _ => in_main.or_else(|| self.keys.last(WINDOW, may_evict)),
        }
    }

    fn is_resident(&self, key: u64) -> bool {
        self.keys.find(key).is_some()
    }

    fn resident_count(&self) -> usize {
        self.keys.len(WINDOW) + self.keys.len(PROBATION) + self.keys.len(PROTECTED)
    }
}
