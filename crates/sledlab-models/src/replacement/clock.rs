//! CLOCK, also called second chance: keys in a circle, and a hand that evicts the first key that was not used since the
//! hand passed it (Corbató 1969, "A paging experiment with the Multics system").
//!
//! A key is inserted behind the hand, with its bit clear: only a use after the insertion sets the bit.

use std::mem::take;

use sledlab_core::hash::Set;
use sledlab_core::params::NoParams;

use super::lists::Lists;
use super::{AccessResult, MayEvict, Model, SparingPolicy, Use};

/// CLOCK.
pub struct ClockPolicy {
    /// The circle, cut open at the hand: the hand is at the back.
    circle: Lists<1>,
    /// Keys that were used again since they were inserted or the hand passed them.
    used_keys: Set<u64>,
    /// Keys that were prefetched and not used yet.
    unused_keys: Set<u64>,
    capacity: usize,
}

impl Model for ClockPolicy {
    type Params = NoParams;
    const NAME: &'static str = "clock";
    const MEANING: &'static str =
        "second chance: a hand goes around and evicts the first entry that was not used since the last round";

    fn new(_: &NoParams, capacity: usize) -> Self {
        ClockPolicy { circle: Lists::new(), used_keys: Set::default(), unused_keys: Set::default(), capacity }
    }
}

impl ClockPolicy {
    fn insert(&mut self, key: u64, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let victim = self.victim_if_full(self.capacity, may_evict);
        if let Some(victim) = victim {
            self.evict(victim);
        }
        self.circle.insert_front(0, key);
        victim
    }

    /// Moves the hand to `key`, as a search for a victim would, and removes the key.
    fn evict(&mut self, key: u64) {
        if self.used_keys.contains(&key) {
            // The hand went around once and cleared all bits.
            take(&mut self.used_keys);
        }
        while let Some(passed) = self.circle.back(0).filter(|at_hand| *at_hand != key) {
            self.used_keys.remove(&passed);
            self.circle.push_front(0, passed);
        }
        self.circle.remove(key);
        self.unused_keys.remove(&key);
    }
}

impl SparingPolicy for ClockPolicy {
    fn access_sparing(&mut self, access: Use, may_evict: &mut MayEvict<'_>) -> AccessResult {
        if !self.is_resident(access.key) {
            return AccessResult::Miss { victim: self.insert(access.key, may_evict) };
        }
        if !self.unused_keys.remove(&access.key) {
            self.used_keys.insert(access.key);
        }
        AccessResult::Hit
    }

    fn prefetch_sparing(&mut self, key: u64, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        self.unused_keys.insert(key);
        self.insert(key, may_evict)
    }

    fn next_victim(&self, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let first_round = self.circle.last(0, &mut |key| !self.used_keys.contains(&key) && may_evict(key));
        // In the second round no bit is set.
        first_round.or_else(|| self.circle.last(0, may_evict))
    }

    fn is_resident(&self, key: u64) -> bool {
        self.circle.find(key).is_some()
    }

    fn resident_count(&self) -> usize {
        self.circle.len(0)
    }
}
