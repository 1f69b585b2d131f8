//! A set of small integers that finds the nearest member on either side.

/// Members below a fixed bound.
#[derive(Clone, Debug)]
pub(super) struct Bitset {
    words: Vec<u64>,
}

const BITS: u32 = u64::BITS;

impl Bitset {
    /// An empty set of integers below `bound`.
    pub fn new(bound: u32) -> Self {
        Bitset { words: vec![0; bound.div_ceil(BITS) as usize] }
    }

    pub fn insert(&mut self, n: u32) {
        self.words[(n / BITS) as usize] |= 1 << (n % BITS);
    }

    pub fn remove(&mut self, n: u32) {
        self.words[(n / BITS) as usize] &= !(1 << (n % BITS));
    }

    /// The members in ascending order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            let mut bits = *word;
            std::iter::from_fn(move || {
                let lowest = (bits != 0).then(|| bits.trailing_zeros())?;
                bits &= bits - 1;
                Some(at * BITS as usize + lowest as usize)
            })
        })
    }

    /// The smallest member at or above `n`.
    #[inline]
    pub fn first_at_or_above(&self, n: u32) -> Option<u32> {
        let first = |word: u32, mask: u64| {
            let bits = self.words[word as usize] & mask;
            (bits != 0).then(|| word * BITS + bits.trailing_zeros())
        };
        let (word, count) = (n / BITS, self.words.len() as u32);
        let here = if word < count { first(word, u64::MAX << (n % BITS)) } else { None };
        here.or_else(|| (word + 1..count).find_map(|word| first(word, u64::MAX)))
    }

    /// The largest member at or below `n`.
    #[inline]
    pub fn last_at_or_below(&self, n: u32) -> Option<u32> {
        let last = |word: u32, mask: u64| {
            let bits = self.words[word as usize] & mask;
            (bits != 0).then(|| word * BITS + BITS - 1 - bits.leading_zeros())
        };
        let word = n / BITS;
        let here = last(word, u64::MAX >> (BITS - 1 - n % BITS));
        here.or_else(|| (0..word).rev().find_map(|word| last(word, u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn agrees_with_an_ordered_set(
            bound in 1_u32..20_000, steps in prop::collection::vec((any::<bool>(), 0.0..1.0), 1..60), probe in 0.0..1.0,
        ) {
            let (mut ours, mut oracle) = (Bitset::new(bound), BTreeSet::new());
            let scaled = |share: f64| (share * f64::from(bound)) as u32;
            for (add, share) in steps {
                let n = scaled(share);
                if add { ours.insert(n); oracle.insert(n); } else { ours.remove(n); oracle.remove(&n); }
                let at = scaled(probe);
                prop_assert_eq!(ours.first_at_or_above(at), oracle.range(at..).next().copied());
                prop_assert_eq!(ours.last_at_or_below(at), oracle.range(..=at).next_back().copied());
            }
        }
    }
}
