//! Policies vote on which keys stay, and a policy whose own cache misses loses weight, after Ari, Amer,
//! Gramacy, Miller, Brandt and Long 2002.
//!
//! Each policy of the pool has its own cache of keys, as large as the real cache. A key has the votes of the policies
//! whose caches hold it, each vote counted with the policy's weight. The key with the fewest votes is evicted; among
//! keys with equal votes, the one whose votes changed longest ago. A policy whose own cache misses a key that is used
//! loses weight. Only abstracts are published, so the factors here are assumptions.

use super::arc::Arc;
use super::fifo::Fifo;
use super::lfuda::Lfuda;
use super::lists::Lists;
use super::lru::Lru;
use super::random::{Random, RandomParams};
use super::slru::{Slru, SlruParams};
use super::{AccessResult, MayEvict, Model, ReplacementPolicy, SparingPolicy, Use};
use sledlab_core::params::NoParams;

sledlab_core::params! {
    /// How the weights of the policies change.
    pub struct AcmeParams {
        /// Factor on the weight of a policy whose own cache has a miss.
        penalty: f64 = 0.95, "", 0.0..1.0;
        /// Share of all weight divided evenly after every access, so that no policy loses its vote for good.
        shared: f64 = 0.01, "", 0.0..1.0;
    }
}

/// Policies in the pool.
const POLICIES: usize = 6;
/// Sets of policies.
const POLICY_SETS: usize = 1 << POLICIES;

/// Adaptive caching by votes.
pub struct Acme {
    params: AcmeParams,
    pool: [Box<dyn ReplacementPolicy>; POLICIES],
    weights: [f64; POLICIES],
    /// Keys that the cache holds; the list of a key is the set of policies whose own caches hold it.
    keys: Lists<POLICY_SETS>,
    capacity: usize,
    len: usize,
}

impl Model for Acme {
    type Params = AcmeParams;
    const NAME: &'static str = "acme";
    const MEANING: &'static str =
        "lru, lfuda, slru, arc, fifo and random vote on residency; every miss costs a policy weight";

    fn new(params: &AcmeParams, capacity: usize) -> Self {
        let pool: [Box<dyn ReplacementPolicy>; POLICIES] = [
            Box::new(Lru::new(&NoParams, capacity)),
            Box::new(Lfuda::new(&NoParams, capacity)),
            Box::new(Slru::new(&SlruParams::default(), capacity)),
            Box::new(Arc::new(&NoParams, capacity)),
            Box::new(Fifo::new(&NoParams, capacity)),
            Box::new(Random::new(&RandomParams::default(), capacity)),
        ];
        let weights = [1.0 / POLICIES as f64; POLICIES];
        Acme { params: params.clone(), pool, weights, keys: Lists::new(), capacity, len: 0 }
    }
}

impl Acme {
    /// Every policy of the pool makes the access in its own cache. A policy that misses loses weight, and the key it
    /// evicts loses its vote.
    fn vote(&mut self, access: Use) {
        for number in 0..POLICIES {
            let AccessResult::Miss { victim } = self.pool[number].access(access) else { continue };
            self.weights[number] *= self.params.penalty;
            if let Some(victim) = victim {
                self.withdraw_vote(number, victim);
            }
        }
        let sum: f64 = self.weights.iter().sum();
        let equal_share = self.params.shared / POLICIES as f64;
        self.weights = self.weights.map(|weight| (1.0 - self.params.shared) * weight / sum + equal_share);
    }

    /// The own cache of policy `number` no longer holds `key`.
    fn withdraw_vote(&mut self, number: usize, key: u64) {
        if let Some(set) = self.keys.find(key) {
            self.keys.push_front(set & !(1 << number), key);
        }
    }

    /// Sum of the weights of a set of policies.
    fn votes(&self, set: usize) -> f64 {
        (0..POLICIES).filter(|number| set & (1 << number) != 0).map(|number| self.weights[number]).sum()
    }

    /// Inserts a key, which the own caches of all policies hold; a full cache evicts the key with the fewest votes.
    fn insert(&mut self, key: u64, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let victim = if self.len == self.capacity { self.next_victim(may_evict) } else { None };
        if let Some(victim) = victim {
            self.keys.remove(victim);
            self.len -= 1;
        }
        self.keys.insert_front(POLICY_SETS - 1, key);
        self.len += 1;
        victim
    }
}

impl SparingPolicy for Acme {
    fn access_sparing(&mut self, access: Use, may_evict: &mut MayEvict<'_>) -> AccessResult {
        self.vote(access);
        // The own caches of all policies hold the key now.
        if self.keys.bring_front(POLICY_SETS - 1, access.key) {
            return AccessResult::Hit;
        }
        AccessResult::Miss { victim: self.insert(access.key, may_evict) }
    }

    fn prefetch_sparing(&mut self, key: u64, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        for number in 0..POLICIES {
            if !self.pool[number].holds(key)
                && let Some(victim) = self.pool[number].prefetch(key)
            {
                self.withdraw_vote(number, victim);
            }
        }
        self.insert(key, may_evict)
    }

    fn next_victim(&self, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let last = |set| Some((self.votes(set), self.keys.last(set, may_evict)?));
        let fewest = (0..POLICY_SETS).filter_map(last).min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(fewest.1)
    }

    fn is_resident(&self, key: u64) -> bool {
        self.keys.find(key).is_some()
    }

    fn resident_count(&self) -> usize {
        self.len
    }
}
