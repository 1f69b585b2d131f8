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

    /// The smallest member above `n`.
    #[inline]
    pub fn first_above(&self, n: usize) -> Option<usize> {
        let (word, first) = (n / BITS as usize, |word: usize, bits: u64| {
            (bits != 0).then(|| word * BITS as usize + bits.trailing_zeros() as usize)
        });
        let above = self.words.get(word)? & (u64::MAX - 1) << (n % BITS as usize);
        first(word, above)
            .or_else(|| (word + 1..self.words.len()).find_map(|word| first(word, self.words[word])))
    }

    /// The largest member below `n`.
    #[inline]
    pub fn last_below(&self, n: usize) -> Option<usize> {
        let (word, last) = (n / BITS as usize, |word: usize, bits: u64| {
            bits.checked_ilog2().map(|bit| word * BITS as usize + bit as usize)
        });
        let below = self.words.get(word)? & !(u64::MAX << (n % BITS as usize));
        last(word, below).or_else(|| (0..word).rev().find_map(|word| last(word, self.words[word])))
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
                prop_assert_eq!(ours.first_above(at as usize), oracle.range(at + 1..).next().map(|n| *n as usize));
                prop_assert_eq!(ours.last_below(at as usize), oracle.range(..at).next_back().map(|n| *n as usize));
            }
        }
    }
}
