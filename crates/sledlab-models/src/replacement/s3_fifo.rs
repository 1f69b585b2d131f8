//! S3-FIFO: a small queue for new keys, a main queue in which used keys go around, and the keys evicted from the small
//! queue, which are remembered without data (Yang et al., SOSP 2023, <https://doi.org/10.1145/3600006.3613147>).
//!
//! The paper evicts a key of the main queue as soon as a key of the small queue fills the main queue. Here one key is
//! evicted for one insertion: the main queue gives its key back with the next eviction, as the small queue is short of
//! keys then.

use sledlab_core::hash::Map;

use super::lists::Lists;
use super::{AccessResult, MayEvict, Model, SparingPolicy, Use};

sledlab_core::params! {
    /// How S3-FIFO divides the cache.
    pub struct S3FifoParams {
        /// Share of the cache for new entries; as many entries as the rest holds are remembered after their eviction.
        small_share: f64 = 0.1, "", 0.0..1.0;
    }
}

const SMALL: usize = 0;
const MAIN: usize = 1;
const GHOSTS: usize = 2;

/// Most uses that are counted.
const MAX_USES: u8 = 3;

/// S3-FIFO.
pub struct S3Fifo {
    keys: Lists<3>,
    /// Number of uses of each resident key since it was inserted in its queue, without those that main queue has spent;
    /// keys without such uses are left out.
    uses: Map<u64, u8>,
    /// Keys that were prefetched and not used yet, each with whether it was remembered. All are in [`SMALL`].
    unused_keys: Map<u64, bool>,
    capacity: usize,
    /// The small queue is the first to lose a key while it has at least this many.
    small_room: usize,
}

impl Model for S3Fifo {
    type Params = S3FifoParams;
    const NAME: &'static str = "s3-fifo";
    const MEANING: &'static str =
        "three queues: a small one for new entries, a main one for those used twice, and evicted ones";

    fn new(params: &S3FifoParams, capacity: usize) -> Self {
        S3Fifo {
            keys: Lists::new(),
            uses: Map::default(),
            unused_keys: Map::default(),
            capacity,
            small_room: ((params.small_share * capacity as f64) as usize).max(1),
        }
    }
}

impl S3Fifo {
    fn uses(&self, key: u64) -> u8 {
        self.uses.get(&key).copied().unwrap_or(0)
    }

    /// Whether the key moves to the main queue when it reaches the end of the small one.
    fn is_used_twice(&self, key: u64) -> bool {
        self.uses(key) > 1
    }

    fn is_small_full(&self) -> bool {
        self.keys.len(SMALL) >= self.small_room
    }

    /// Inserts a key in `list`; a full cache evicts a key first.
    fn insert(&mut self, list: usize, key: u64, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let victim = self.victim_if_full(self.capacity, may_evict);
        if let Some(victim) = victim {
            self.evict(victim);
        }
        self.keys.insert_front(list, key);
        victim
    }

    /// Moves the keys that the search for the victim passes, and removes the victim.
    fn evict(&mut self, victim: u64) {
        if self.is_small_full() {
            self.promote_before(victim);
        }
        if self.keys.find(victim) == Some(MAIN) {
            self.turn_main_queue(victim);
            self.keys.remove(victim);
        } else if self.unused_keys.remove(&victim).unwrap_or(true) {
            self.keys.push_front(GHOSTS, victim);
            if self.keys.len(GHOSTS) > self.capacity - self.small_room.min(self.capacity) {
                self.keys.pop_back(GHOSTS);
            }
        } else {
            self.keys.remove(victim);
        }
        self.uses.remove(&victim);
    }

    /// Moves keys that were used twice from the small queue to the main queue, up to the victim; the victim too if it
    /// was used twice.
    fn promote_before(&mut self, victim: u64) {
        while let Some(key) = self.keys.last(SMALL, &mut |key| key == victim || self.is_used_twice(key)) {
            if !self.is_used_twice(key) {
                break;
            }
            self.uses.remove(&key);
            self.keys.push_front(MAIN, key);
        }
    }

    /// Moves used keys from the back of the main queue to its front, each for one of its uses, until the victim is at
    /// the back and has none.
    fn turn_main_queue(&mut self, victim: u64) {
        while let Some(key) = self.keys.back(MAIN) {
            match self.uses(key) {
                0 if key == victim => break,
                0 | 1 => drop(self.uses.remove(&key)),
                uses => drop(self.uses.insert(key, uses - 1)),
            }
            self.keys.push_front(MAIN, key);
        }
    }
}

impl SparingPolicy for S3Fifo {
    fn access_sparing(&mut self, access: Use, may_evict: &mut MayEvict<'_>) -> AccessResult {
        let key = access.key;
        match self.keys.find(key) {
            None => return AccessResult::Miss { victim: self.insert(SMALL, key, may_evict) },
            Some(GHOSTS) => {
                self.keys.remove(key);
                return AccessResult::Miss { victim: self.insert(MAIN, key, may_evict) };
            }
            Some(_) => match self.unused_keys.remove(&key) {
                Some(true) => self.keys.push_front(MAIN, key),
                Some(false) => {}
                None => drop(self.uses.insert(key, MAX_USES.min(self.uses(key) + 1))),
            },
        }
        AccessResult::Hit
    }

    fn prefetch_sparing(&mut self, key: u64, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let was_remembered = self.keys.find(key).is_some();
        self.keys.remove(key);
        self.unused_keys.insert(key, was_remembered);
        self.insert(SMALL, key, may_evict)
    }

    fn next_victim(&self, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let is_small_full = self.is_small_full();
        if is_small_full {
            let victim = self.keys.last(SMALL, &mut |key| !self.is_used_twice(key) && may_evict(key));
            if victim.is_some() {
                return victim;
            }
        }
        // A used key of the main queue is spared once for each of its uses. Keys that move there have none.
        let in_main = (0..=MAX_USES).find_map(|uses| {
            let in_main = self.keys.last(MAIN, &mut |key| self.uses(key) == uses && may_evict(key));
            let is_moved = is_small_full && uses == 0;
            in_main.or_else(|| is_moved.then(|| self.keys.last(SMALL, may_evict)).flatten())
        });
        in_main.or_else(|| self.keys.last(SMALL, may_evict))
    }

    fn is_resident(&self, key: u64) -> bool {
        matches!(self.keys.find(key), Some(SMALL | MAIN))
    }

    fn resident_count(&self) -> usize {
        self.keys.len(SMALL) + self.keys.len(MAIN)
    }
}
