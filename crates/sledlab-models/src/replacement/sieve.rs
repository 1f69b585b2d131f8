//! SIEVE: one queue in order of insertion, and a hand that walks from its tail to its head and evicts the first key
//! that was not used since the hand passed it (Zhang et al., NSDI 2024,
//! <https://junchengyang.com/publication/nsdi24-SIEVE.pdf>).
//!
//! A hit only sets a bit. SIEVE is made for web caches and is not scan-resistant, which block workloads often need.

use std::mem::take;

use sledlab_core::hash::Set;
use sledlab_core::params::NoParams;

use super::lists::Lists;
use super::{AccessResult, MayEvict, Model, SparingPolicy, Use};

/// SIEVE.
pub struct Sieve {
    /// The queue in two parts: one from the hand to the head, the other from the tail to the hand.
    queue: Lists<2>,
    /// The part from the hand to the head: its last key is at the hand. It is empty only if the queue is.
    ahead: usize,
    /// Keys that were used again since they were inserted or the hand passed them.
    visited_keys: Set<u64>,
    /// Keys that were prefetched and not used yet.
    unused_keys: Set<u64>,
    capacity: usize,
}

impl Model for Sieve {
    type Params = NoParams;
    const NAME: &'static str = "sieve";
    const MEANING: &'static str = "evicts the oldest entry that was not used since the last round";

    fn new(_: &NoParams, capacity: usize) -> Self {
        Sieve {
            queue: Lists::new(),
            ahead: 0,
            visited_keys: Set::default(),
            unused_keys: Set::default(),
            capacity,
        }
    }
}

impl Sieve {
    fn tail_side(&self) -> usize {
        1 - self.ahead
    }

    /// At the head, the hand returns to the tail.
    fn wrap(&mut self) {
        if self.queue.len(self.ahead) == 0 {
            self.ahead = self.tail_side();
        }
    }

    /// Moves the hand past the key at the hand.
    fn advance_hand(&mut self) {
        if let Some(key) = self.queue.back(self.ahead) {
            self.visited_keys.remove(&key);
            self.queue.push_front(self.tail_side(), key);
            self.wrap();
        }
    }

    fn insert(&mut self, key: u64, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let victim = self.victim_if_full(self.capacity, may_evict);
        if let Some(victim) = victim {
            self.evict(victim);
        }
        self.queue.insert_front(self.ahead, key);
        victim
    }

    /// Walks the hand to `key`, as a search for a victim would, and removes the key.
    fn evict(&mut self, key: u64) {
        if self.visited_keys.contains(&key) {
            take(&mut self.visited_keys);
        }
        while self.queue.back(self.ahead).is_some_and(|at| at != key) {
            self.advance_hand();
        }
        self.queue.remove(key);
        self.unused_keys.remove(&key);
        self.wrap();
    }
}

impl SparingPolicy for Sieve {
    fn access_sparing(&mut self, access: Use, may_evict: &mut MayEvict<'_>) -> AccessResult {
        if !self.is_resident(access.key) {
            return AccessResult::Miss { victim: self.insert(access.key, may_evict) };
        }
        if !self.unused_keys.remove(&access.key) {
            self.visited_keys.insert(access.key);
        }
        AccessResult::Hit
    }

    fn prefetch_sparing(&mut self, key: u64, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        self.unused_keys.insert(key);
        self.insert(key, may_evict)
    }

    fn next_victim(&self, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let parts = [self.ahead, self.tail_side()];
        let unvisited =
            |key: u64, may_evict: &mut MayEvict<'_>| !self.visited_keys.contains(&key) && may_evict(key);
        let first_round =
            parts.iter().find_map(|part| self.queue.last(*part, &mut |key| unvisited(key, may_evict)));
        // In the second round no bit is set.
        first_round.or_else(|| parts.iter().find_map(|part| self.queue.last(*part, may_evict)))
    }

    fn is_resident(&self, key: u64) -> bool {
        self.queue.find(key).is_some()
    }

    fn resident_count(&self) -> usize {
        self.queue.len(0) + self.queue.len(1)
    }
}

#[cfg(test)]
mod tests {
    use sledlab_core::params::NoParams;

    use super::{AccessResult, Model, Sieve, Use};
    use crate::replacement::ReplacementPolicy;

    /// A key that was used since the hand passed it survives one round of the hand.
    #[test]
    fn used_keys_survive_one_round() {
        let mut cache = Sieve::new(&NoParams {}, 3);
        let mut access = |key| cache.access(Use { key, next: Use::NO_NEXT });
        for key in [1, 2, 3] {
            assert_eq!(access(key), AccessResult::Miss { victim: None });
        }
        assert_eq!(access(1), AccessResult::Hit);
        // The hand passes 1 and evicts 2; 4 is inserted at the head.
        assert_eq!(access(4), AccessResult::Miss { victim: Some(2) });
        assert_eq!(access(5), AccessResult::Miss { victim: Some(3) });
        assert_eq!(access(4), AccessResult::Hit);
        // The hand passes 4, evicts 5 at the head, and returns to the tail.
        assert_eq!(access(6), AccessResult::Miss { victim: Some(5) });
        assert_eq!(access(7), AccessResult::Miss { victim: Some(1) });
    }
}
