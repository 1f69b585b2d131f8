//! Which keys each policy holds after a few accesses.

use std::collections::HashMap;

use super::*;

/// Accesses to `keys` in order, each with the number of the next access to the same key.
fn accesses(keys: &[u64]) -> Vec<Use> {
    let mut next = HashMap::new();
    let mut uses: Vec<Use> = Vec::new();
    for (number, key) in keys.iter().enumerate().rev() {
        uses.push(Use { key: *key, next: next.insert(*key, number as u64).unwrap_or(Use::NO_NEXT) });
    }
    uses.reverse();
    uses
}

fn make(word: &str, capacity: usize) -> Box<dyn ReplacementPolicy> {
    Choice::parse(word).unwrap().make(capacity).unwrap()
}

fn hits(word: &str, capacity: usize, keys: &[u64]) -> usize {
    let mut policy = make(word, capacity);
    accesses(keys).into_iter().filter(|access| policy.access(*access) == AccessResult::Hit).count()
}

/// The keys that the cache holds after accesses to `keys`, in ascending order.
fn contents(word: &str, capacity: usize, keys: &[u64]) -> Vec<u64> {
    let mut policy = make(word, capacity);
    for access in accesses(keys) {
        policy.access(access);
    }
    let mut resident_keys: Vec<u64> = keys.iter().copied().filter(|key| policy.holds(*key)).collect();
    resident_keys.sort_unstable();
    resident_keys.dedup();
    resident_keys
}

#[test]
fn each_policy_evicts_expected_keys() {
    let keys = [1, 2, 3, 1, 4];
    assert_eq!(contents("lru", 3, &keys), [1, 3, 4]);
    assert_eq!(contents("fifo", 3, &keys), [2, 3, 4]);
    assert_eq!(contents("slru:protected_share=0.4", 3, &[1, 1, 2, 3, 4, 5]), [1, 4, 5]);
    assert_eq!(contents("lfuda", 2, &[1, 1, 1, 2, 3]), [1, 3]);
    assert_eq!(contents("belady", 2, &[1, 2, 3, 1]), [1, 3]);
}

/// Half of the keys are dirty at a time: each policy evicts one of the others, and stays consistent.
#[test]
fn policies_evict_only_keys_that_may_be_evicted() {
    for entry in LIST.entries.iter().filter(|entry| !entry.facts.needs_future) {
        let mut policy = (entry.make)(&Table::new(), 8).unwrap();
        let (mut resident_keys, mut state) = (std::collections::BTreeSet::new(), 1_u64);
        for round in 0..3_000_u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let key = if state >> 63 == 0 { (state >> 32) % 8 } else { (state >> 32) % 40 };
            let mut may_evict = |key: u64| (key + round / 7).is_multiple_of(2);
            if resident_keys.len() == 8 && !resident_keys.iter().any(|key| may_evict(*key)) {
                continue;
            }
            let proposal = policy.next_victim(&mut may_evict);
            assert_eq!(proposal.is_some(), resident_keys.iter().any(|key| may_evict(*key)), "{}", entry.name);
            let access = Use { key, next: Use::NO_NEXT };
            let victim = match policy.access_sparing(access, &mut may_evict) {
                AccessResult::Hit => None,
                AccessResult::Miss { victim } => victim,
            };
            for evicted in proposal.into_iter().chain(victim) {
                assert!(may_evict(evicted) && resident_keys.contains(&evicted), "{}", entry.name);
            }
            resident_keys.insert(key);
            victim.map(|victim| resident_keys.remove(&victim));
            assert_eq!(policy.resident_count(), resident_keys.len(), "{}", entry.name);
            assert!(resident_keys.iter().all(|key| policy.is_resident(*key)), "{}", entry.name);
        }
    }
}

#[test]
fn lfuda_forgets_old_favorites() {
    // Five uses of key 1 long ago; the other keys follow in turn, and each pair of misses raises the cache's age by
    // one.
    let favorites = [1, 1, 1, 1, 1];
    let others: Vec<u64> = (0..10).flat_map(|n| [10 + n, 20 + n]).collect();
    assert!(contents("lfuda", 2, &[&favorites[..], &others[..2]].concat()).contains(&1));
    assert!(!contents("lfuda", 2, &[&favorites[..], &others[..]].concat()).contains(&1));
}

#[test]
fn arc_keeps_reused_keys_during_a_scan() {
    let frequent_keys: Vec<u64> = (0..50).flat_map(|_| [1, 2, 3]).collect();
    let scan: Vec<u64> = (100..160).collect();
    let keys = [frequent_keys, scan].concat();
    assert_eq!(contents("arc", 8, &keys).iter().filter(|key| **key < 4).count(), 3);
    assert!(contents("lru", 8, &keys).iter().all(|key| *key > 99));
}

#[test]
fn acme_follows_best_policy() {
    // A loop over one key more than the cache holds: lru and fifo never hit, random and arc do.
    let keys: Vec<u64> = (0..6_000).map(|n| n % 21).collect();
    assert_eq!(hits("lru", 20, &keys), 0);
    assert!(hits("acme", 20, &keys) > 2_000);
    assert!(hits("acme:penalty=1", 20, &keys) != hits("acme", 20, &keys), "weights matter");
    assert!(hits("acme:shared=1", 20, &keys) != hits("acme", 20, &keys), "and may be evened out");
}

#[test]
fn random_policy_depends_on_seed() {
    let keys: Vec<u64> = (0..3_000).map(|n| n * n % 97).collect();
    assert_eq!(hits("random", 20, &keys), hits("random:seed=42", 20, &keys));
    assert_ne!(contents("random", 20, &keys), contents("random:seed=7", 20, &keys));
}

#[test]
fn invalid_policies_are_errors() {
    let message = |word| Choice::parse(word).unwrap_err().to_string();
    assert!(message("lruu").contains("did you mean `lru`?"));
    assert!(message("slru:share=1").contains("unknown key `replacement.share`"));
    assert!(message("slru:protected_share=2").contains("out of range"));
    let error = Choice::parse("lru").unwrap().make(0).err().unwrap();
    assert!(error.to_string().contains("no room for an entry"));
}

#[test]
fn unlisted_models_are_known_by_name() {
    let plug_in = CustomPolicy::new("mine:Any", |params, capacity| {
        assert_eq!(params["depth"].as_integer(), Some(3));
        Choice::parse("fifo")?.make(capacity)
    });
    let plug_ins = [plug_in];
    let chosen = Choice::parse_among("mine:Any:depth=3", &plug_ins).unwrap();
    assert!(chosen.is_custom() && !chosen.needs_future());
    assert_eq!(chosen.name(), "mine:Any");
    assert_eq!(chosen.make(2).unwrap().len(), 0);
    assert!(chosen.make(0).is_err());
    assert!(Choice::parse("mine:Any:depth=3").is_err());
    let choice = Choice::parse_among("belady", &plug_ins).unwrap();
    assert!(!choice.is_custom() && choice.needs_future());
}
