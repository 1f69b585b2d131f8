//! Maps and sets with the same iteration order in every run.
//!
//! Maps of the standard library use a random order in each run, so a sum over a map, or a selection among equal
//! elements, would differ from run to run. `clippy.toml` forbids them where results depend on them. Code must not rely
//! on the order of these maps either, because it may differ between processors. Code that needs an order uses a
//! `BTreeMap` or sorts.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;

/// A hash map with the same order in every run.
#[allow(clippy::disallowed_types, reason = "the hasher is deterministic")]
pub type Map<K, V> = std::collections::HashMap<K, V, FixedState>;

/// A hash set with the same order in every run.
#[allow(clippy::disallowed_types, reason = "the hasher is deterministic")]
pub type Set<K> = std::collections::HashSet<K, FixedState>;

/// Returns the hash of a number, the same in every run.
#[inline]
pub fn hash(number: u64) -> u64 {
    FixedState::default().hash_one(number)
}

#[cfg(test)]
mod tests {
    use super::Map;

    #[test]
    fn equal_maps_iterate_in_same_order() {
        let build_map = || (0..1000_u64).map(|key| (key * 7919, key)).collect::<Map<_, _>>();
        assert!(build_map().into_iter().eq(build_map()));
    }
}
