//! Divides the cache between keys used once and keys used again, and adapts the division when an evicted key is used
//! (CA-04), after Megiddo and Modha 2003.

use sledlab_core::Error;
use sledlab_core::params::NoParams;

use super::lists::Lists;
use super::{AccessResult, Model, ReplacementPolicy, SparingPolicy, Use};

/// The lists: keys used once, keys used again, and the keys evicted from each of the two, which are remembered without
/// data.
const RECENT: usize = 0;
const FREQUENT: usize = 1;
const RECENT_GHOSTS: usize = 2;
const FREQUENT_GHOSTS: usize = 3;

/// Adaptive replacement.
pub struct Arc {
    keys: Lists<4>,
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
        Arc { keys: Lists::new(), capacity, target: 0.0 }
    }
}

impl Arc {
    /// A key that `list` remembers is used again: the list that it was evicted from should have had more room.
    fn learn(&mut self, list: usize) {
        let (once, again) = (self.keys.len(RECENT_GHOSTS) as f64, self.keys.len(FREQUENT_GHOSTS) as f64);
        let change = if list == RECENT_GHOSTS { (again / once).max(1.0) } else { -(once / again).max(1.0) };
        self.target = (self.target + change).clamp(0.0, self.capacity as f64);
    }

    /// Evicts a key where the cache is full; `again` where the new key was once evicted from the keys used again.
    fn make_room(&mut self, again: bool) -> Option<u64> {
        if self.len() < self.capacity {
            return None;
        }
        let victim = self.keys.back(self.victim_list(again))?;
        self.evict_and_remember(victim);
        Some(victim)
    }

    /// The list to evict from; `again` where the new key was once evicted from the keys used again.
    fn victim_list(&self, again: bool) -> usize {
        let once = self.keys.len(RECENT) as f64;
        let from_once = once >= 1.0 && (once > self.target || (again && once >= self.target));
        if from_once || self.keys.len(FREQUENT) == 0 { RECENT } else { FREQUENT }
    }

    /// Evicts a key that the cache holds, and remembers the key.
    fn evict_and_remember(&mut self, key: u64) {
        match self.keys.find(key) {
            Some(RECENT) => self.keys.push_front(RECENT_GHOSTS, key),
            Some(FREQUENT) => self.keys.push_front(FREQUENT_GHOSTS, key),
            _ => {}
        }
    }

    /// Makes room for a key that is neither resident nor remembered, and for remembering it when it is evicted.
    fn make_room_for_new(&mut self) -> Option<u64> {
        if self.keys.len(RECENT) + self.keys.len(RECENT_GHOSTS) >= self.capacity {
            if self.keys.len(RECENT) == self.capacity {
                return self.keys.pop_back(RECENT);
            }
            self.keys.pop_back(RECENT_GHOSTS);
        } else if self.len() + self.keys.len(RECENT_GHOSTS) + self.keys.len(FREQUENT_GHOSTS)
            >= 2 * self.capacity
        {
            self.keys.pop_back(FREQUENT_GHOSTS);
        }
        self.make_room(false)
    }
}

impl ReplacementPolicy for Arc {
    fn access(&mut self, access: Use) -> AccessResult {
        let (victim, list) = match self.keys.find(access.key) {
            Some(RECENT | FREQUENT) => {
                self.keys.push_front(FREQUENT, access.key);
                return AccessResult::Hit;
            }
            Some(evicted_from) => {
                self.learn(evicted_from);
                (self.make_room(evicted_from == FREQUENT_GHOSTS), FREQUENT)
            }
            None => (self.make_room_for_new(), RECENT),
        };
        self.keys.push_front(list, access.key);
        AccessResult::Miss { victim }
    }

    fn holds(&self, key: u64) -> bool {
        matches!(self.keys.find(key), Some(RECENT | FREQUENT))
    }

    fn len(&self) -> usize {
        self.keys.len(RECENT) + self.keys.len(FREQUENT)
    }

    fn failure(&mut self) -> Option<Error> {
        None
    }
}

impl SparingPolicy for Arc {
    fn next_victim(&self, may: &mut dyn FnMut(u64) -> bool) -> Option<u64> {
        let first = self.victim_list(false);
        let other = if first == RECENT { FREQUENT } else { RECENT };
        self.keys.last(first, may).or_else(|| self.keys.last(other, may))
    }

    fn evict(&mut self, key: u64) {
        self.evict_and_remember(key);
    }
}
