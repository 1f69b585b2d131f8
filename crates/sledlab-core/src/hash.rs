//! Maps and sets whose order is the same in every run.
//!
//! Maps of the standard library draw a new order in each run: a sum over one, or a choice among equals, would differ
//! from run to run. `clippy.toml` refuses them where results depend on them. Code must not rely on the order of the
//! maps here either, as another processor may have another: code that needs an order takes a `BTreeMap`, or sorts.

use foldhash::fast::FixedState;

/// A hash map with the same order in every run.
#[allow(clippy::disallowed_types, reason = "it has a hasher of its own")]
pub type Map<K, V> = std::collections::HashMap<K, V, FixedState>;

/// A hash set with the same order in every run.
#[allow(clippy::disallowed_types, reason = "it has a hasher of its own")]
pub type Set<K> = std::collections::HashSet<K, FixedState>;

#[cfg(test)]
mod tests {
    use super::Map;

    #[test]
    fn equal_maps_iterate_in_same_order() {
        let filled = || (0..1000_u64).map(|key| (key * 7919, key)).collect::<Map<_, _>>();
        assert!(filled().into_iter().eq(filled()));
    }
}
