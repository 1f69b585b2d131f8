//! Evicts a random key, all with the same probability. The difference to other policies shows the benefit of a choice.

use rand::RngExt;
use sledlab_core::hash::Map;
use sledlab_core::seed;

use super::{AccessResult, MayEvict, Model, SparingPolicy, Use};

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

impl Random {
    /// Draws the place of a key that may be evicted, all with the same probability: most often by one draw.
    fn draw_place(&mut self, may_evict: &mut MayEvict<'_>) -> Option<usize> {
        let place = self.rng.random_range(0..self.keys.len());
        if may_evict(self.keys[place]) {
            return Some(place);
        }
        let places: Vec<usize> = (0..self.keys.len()).filter(|place| may_evict(self.keys[*place])).collect();
        (!places.is_empty()).then(|| places[self.rng.random_range(0..places.len())])
    }
}

impl SparingPolicy for Random {
    fn access_sparing(&mut self, access: Use, may_evict: &mut MayEvict<'_>) -> AccessResult {
        if self.is_resident(access.key) {
            return AccessResult::Hit;
        }
        AccessResult::Miss { victim: self.prefetch_sparing(access.key, may_evict) }
    }

    fn prefetch_sparing(&mut self, key: u64, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let is_full = self.keys.len() == self.capacity;
        let Some(place) = is_full.then(|| self.draw_place(may_evict)).flatten() else {
            self.places.insert(key, self.keys.len());
            self.keys.push(key);
            return None;
        };
        let victim = std::mem::replace(&mut self.keys[place], key);
        self.places.remove(&victim);
        self.places.insert(key, place);
        Some(victim)
    }

    fn next_victim(&self, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let candidates: Vec<u64> = self.keys.iter().copied().filter(|key| may_evict(*key)).collect();
        // The generator is cloned: all proposals use the same draw until an eviction moves the generator on.
        let place = (!candidates.is_empty()).then(|| self.rng.clone().random_range(0..candidates.len()));
        place.map(|place| candidates[place])
    }

    fn is_resident(&self, key: u64) -> bool {
        self.places.contains_key(&key)
    }

    fn resident_count(&self) -> usize {
        self.keys.len()
    }
}
