//! Evicts a random key, all with the same probability. The difference to other policies shows the benefit of a choice.

use rand::RngExt;
use sledlab_core::hash::Map;
use sledlab_core::seed;

use sledlab_core::Error;

use super::{AccessResult, Model, ReplacementPolicy, SparingPolicy, Use};

sledlab_core::params! {
    /// How the victim is drawn.
    pub struct RandomParams {
        /// Seed of the draws.
        seed: u64 = 42_u64, "", 0..1e15;
    }
}

/// A random victim.
pub struct Random {
    keys: Vec<u64>,
    places: Map<u64, usize>,
    capacity: usize,
    rng: seed::Stream,
}

impl Model for Random {
    type Params = RandomParams;
    const NAME: &'static str = "random";
    const MEANING: &'static str = "evicts a random entry, all with the same probability";

    fn new(params: &RandomParams, capacity: usize) -> Self {
        let rng = seed::stream(params.seed, "replacement");
        Random { keys: Vec::new(), places: Map::default(), capacity, rng }
    }
}

impl ReplacementPolicy for Random {
    fn access(&mut self, access: Use) -> AccessResult {
        if self.holds(access.key) {
            return AccessResult::Hit;
        }
        if self.keys.len() < self.capacity {
            self.places.insert(access.key, self.keys.len());
            self.keys.push(access.key);
            return AccessResult::Miss { victim: None };
        }
        let place = self.rng.random_range(0..self.capacity);
        let victim = std::mem::replace(&mut self.keys[place], access.key);
        self.places.remove(&victim);
        self.places.insert(access.key, place);
        AccessResult::Miss { victim: Some(victim) }
    }

    fn holds(&self, key: u64) -> bool {
        self.places.contains_key(&key)
    }

    fn len(&self) -> usize {
        self.keys.len()
    }

    fn failure(&mut self) -> Option<Error> {
        None
    }
}

impl SparingPolicy for Random {
    fn next_victim(&self, may: &mut dyn FnMut(u64) -> bool) -> Option<u64> {
        let candidates: Vec<u64> = self.keys.iter().copied().filter(|key| may(*key)).collect();
        // The generator is cloned: all proposals use the same draw until an eviction moves the generator on.
        let place = (!candidates.is_empty()).then(|| self.rng.clone().random_range(0..candidates.len()));
        place.map(|place| candidates[place])
    }

    fn evict(&mut self, key: u64) {
        let Some(place) = self.places.remove(&key) else { return };
        let _: u64 = self.rng.random();
        self.keys.swap_remove(place);
        if let Some(moved) = self.keys.get(place) {
            self.places.insert(*moved, place);
        }
    }
}
