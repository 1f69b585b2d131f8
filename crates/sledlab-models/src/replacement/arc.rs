//! Divides the cache between keys used once and keys used again, and adapts the division when an evicted key is used
//! (Megiddo and Modha 2003).

use sledlab_core::hash::Map;
use sledlab_core::params::NoParams;

use super::lists::Lists;
use super::{AccessResult, MayEvict, Model, SparingPolicy, Use};

/// The lists: keys used once, keys used again, and the keys evicted from each of the two, which are remembered without
/// data.
const RECENT: usize = 0;
const FREQUENT: usize = 1;
const RECENT_GHOSTS: usize = 2;
const FREQUENT_GHOSTS: usize = 3;

/// Adaptive replacement.
pub struct Arc {
    keys: Lists<4>,
    /// Keys that were prefetched and not used yet, each with the list that remembered it. All are in [`RECENT`].
    unused_places: Map<u64, Option<usize>>,
    capacity: usize,
    /// Target number of places for keys used once; adapted by [`learn`](Arc::learn).
    target: f64,
}

impl Model for Arc {
    type Params = NoParams;
    const NAME: &'static str = "arc";
    const MEANING: &'static str =
        "adaptive: learns from misses how to divide the cache between entries used once and used again";

    fn new(_: &NoParams, capacity: usize) -> Self {
        Arc { keys: Lists::new(), unused_places: Map::default(), capacity, target: 0.0 }
    }
}

impl Arc {
    /// A key that `list` remembers is used again: the list that it was evicted from should have had more room.
    fn learn(&mut self, list: usize) {
        let list_length = |list| (self.keys.len(list) as f64).max(1.0);
        let (recent_ghosts, frequent_ghosts) = (list_length(RECENT_GHOSTS), list_length(FREQUENT_GHOSTS));
        let change = if list == RECENT_GHOSTS {
            (frequent_ghosts / recent_ghosts).max(1.0)
        } else {
            -(recent_ghosts / frequent_ghosts).max(1.0)
        };
        self.target = (self.target + change).clamp(0.0, self.capacity as f64);
    }

    /// Evicts a key where the cache is full; `was_frequent` where the new key was once evicted from the keys used
    /// again.
    fn make_room(&mut self, was_frequent: bool, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        if self.resident_count() < self.capacity {
            return None;
        }
        let victim = self.victim(was_frequent, may_evict)?;
        self.evict_and_remember(victim);
        Some(victim)
    }

    /// The key to evict; `was_frequent` where the new key was once evicted from the keys used again.
    fn victim(&self, was_frequent: bool, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let first = self.victim_list(was_frequent);
        let other = if first == RECENT { FREQUENT } else { RECENT };
        self.keys.last(first, may_evict).or_else(|| self.keys.last(other, may_evict))
    }

    /// The list to evict from; `was_frequent` where the new key was once evicted from the keys used again.
    fn victim_list(&self, was_frequent: bool) -> usize {
        let recent_length = self.keys.len(RECENT) as f64;
        let takes_recent = recent_length >= 1.0
            && (recent_length > self.target || (was_frequent && recent_length >= self.target));
        if takes_recent || self.keys.len(FREQUENT) == 0 { RECENT } else { FREQUENT }
    }

    /// Evicts a key that the cache holds, and remembers the key: an unused key as before it was prefetched.
    fn evict_and_remember(&mut self, key: u64) {
        let ghosts = match self.unused_places.remove(&key) {
            Some(remembered_in) => remembered_in,
            None if self.keys.find(key) == Some(RECENT) => Some(RECENT_GHOSTS),
            None => Some(FREQUENT_GHOSTS),
        };
        match ghosts {
            Some(list) => self.keys.push_front(list, key),
            None => self.keys.remove(key),
        }
    }

    /// Makes room for a key that is neither resident nor remembered, and for remembering it when it is evicted.
    fn make_room_for_new(&mut self, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        if self.keys.len(RECENT) + self.keys.len(RECENT_GHOSTS) >= self.capacity {
            if self.keys.len(RECENT) == self.capacity {
                let victim = self.keys.take_last(RECENT, may_evict)?;
                self.unused_places.remove(&victim);
                return Some(victim);
            }
            self.keys.pop_back(RECENT_GHOSTS);
        } else if self.resident_count() + self.keys.len(RECENT_GHOSTS) + self.keys.len(FREQUENT_GHOSTS)
            >= 2 * self.capacity
        {
            self.keys.pop_back(FREQUENT_GHOSTS);
        }
        self.make_room(false, may_evict)
    }

    /// Uses a resident key: its first use leaves it among the keys used once, unless it was remembered.
    fn hit(&mut self, key: u64) {
        let list = match self.unused_places.remove(&key) {
            Some(None) => RECENT,
            Some(Some(remembered_in)) => {
                self.learn(remembered_in);
                FREQUENT
            }
            None => FREQUENT,
        };
        self.keys.push_front(list, key);
    }
}

impl SparingPolicy for Arc {
    fn access_sparing(&mut self, access: Use, may_evict: &mut MayEvict<'_>) -> AccessResult {
        let (victim, list) = match self.keys.find(access.key) {
            Some(RECENT | FREQUENT) => {
                self.hit(access.key);
                return AccessResult::Hit;
            }
            Some(evicted_from) => {
                self.learn(evicted_from);
                (self.make_room(evicted_from == FREQUENT_GHOSTS, may_evict), FREQUENT)
            }
            None => (self.make_room_for_new(may_evict), RECENT),
        };
        self.keys.push_front(list, access.key);
        AccessResult::Miss { victim }
    }

    fn prefetch_sparing(&mut self, key: u64, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let remembered_in = self.keys.find(key);
        self.keys.remove(key);
        let victim = self.make_room_for_new(may_evict);
        self.keys.insert_front(RECENT, key);
        self.unused_places.insert(key, remembered_in);
        victim
    }

    fn next_victim(&self, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        self.victim(false, may_evict)
    }

    fn is_resident(&self, key: u64) -> bool {
        matches!(self.keys.find(key), Some(RECENT | FREQUENT))
    }

    fn resident_count(&self) -> usize {
        self.keys.len(RECENT) + self.keys.len(FREQUENT)
    }
}
