//! 2Q in its full version: a queue of new keys, a list of keys that were used again after they left that queue, and
//! the keys that left it, which are remembered without data (Johnson and Shasha, VLDB 1994,
//! <https://www.vldb.org/conf/1994/P439.PDF>).
//!
//! Uses of a key in the queue of new keys change nothing: they are correlated with its first use.

use sledlab_core::hash::Map;

use super::lists::Lists;
use super::{AccessResult, MayEvict, Model, SparingPolicy, Use};

sledlab_core::params! {
    /// How 2Q divides the cache.
    pub struct TwoQParams {
        /// Share of the cache for new entries (Kin).
        in_share: f64 = 0.25, "", 0.0..1.0;
        /// Number of entries that are remembered after they leave the queue of new ones, relative to the cache (Kout).
        out_share: f64 = 0.5, "", 0.0..100.0;
    }
}

/// The queue of new keys (A1in), the list of keys that were used again (Am), and the keys that left the queue (A1out).
const NEW: usize = 0;
const FREQUENT: usize = 1;
const GHOSTS: usize = 2;

/// 2Q.
pub struct TwoQ {
    keys: Lists<3>,
    /// Keys that were prefetched and not used yet, each with whether it was remembered. All are in [`NEW`].
    unused_keys: Map<u64, bool>,
    capacity: usize,
    /// The queue of new keys is the first to lose a key while it is longer than this.
    new_room: usize,
    /// Most keys that are remembered.
    max_ghosts: usize,
}

impl Model for TwoQ {
    type Params = TwoQParams;
    const NAME: &'static str = "2q";
    const MEANING: &'static str =
        "a queue of new entries, and an lru of those used again soon after they left the queue";

    fn new(params: &TwoQParams, capacity: usize) -> Self {
        let share = |share: f64| (share * capacity as f64) as usize;
        TwoQ {
            keys: Lists::new(),
            unused_keys: Map::default(),
            capacity,
            new_room: share(params.in_share),
            max_ghosts: share(params.out_share),
        }
    }
}

impl TwoQ {
    /// Inserts a key in `list`; a full cache evicts a key first.
    fn insert(&mut self, list: usize, key: u64, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let victim = self.victim_if_full(self.capacity, may_evict);
        if let Some(victim) = victim {
            self.evict(victim);
        }
        self.keys.insert_front(list, key);
        victim
    }

    /// Evicts a key, and remembers a new key that was used: an unused one as before it was prefetched.
    fn evict(&mut self, key: u64) {
        let was_new = self.keys.find(key) == Some(NEW);
        if was_new && self.unused_keys.remove(&key).unwrap_or(true) {
            self.keys.push_front(GHOSTS, key);
        } else {
            self.keys.remove(key);
        }
        if self.keys.len(GHOSTS) > self.max_ghosts {
            self.keys.pop_back(GHOSTS);
        }
    }
}

impl SparingPolicy for TwoQ {
    fn access_sparing(&mut self, access: Use, may_evict: &mut MayEvict<'_>) -> AccessResult {
        let key = access.key;
        match self.keys.find(key) {
            Some(FREQUENT) => self.keys.push_front(FREQUENT, key),
            Some(NEW) => match self.unused_keys.remove(&key) {
                Some(true) => self.keys.push_front(FREQUENT, key),
                Some(false) => self.keys.push_front(NEW, key),
                None => {}
            },
            Some(_) => {
                self.keys.remove(key);
                return AccessResult::Miss { victim: self.insert(FREQUENT, key, may_evict) };
            }
            None => return AccessResult::Miss { victim: self.insert(NEW, key, may_evict) },
        }
        AccessResult::Hit
    }

    fn prefetch_sparing(&mut self, key: u64, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let was_remembered = self.keys.find(key).is_some();
        self.keys.remove(key);
        self.unused_keys.insert(key, was_remembered);
        self.insert(NEW, key, may_evict)
    }

    fn next_victim(&self, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let lists = if self.keys.len(NEW) > self.new_room { [NEW, FREQUENT] } else { [FREQUENT, NEW] };
        lists.into_iter().find_map(|list| self.keys.last(list, may_evict))
    }

    fn is_resident(&self, key: u64) -> bool {
        matches!(self.keys.find(key), Some(NEW | FREQUENT))
    }

    fn resident_count(&self) -> usize {
        self.keys.len(NEW) + self.keys.len(FREQUENT)
    }
}
