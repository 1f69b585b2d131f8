//! A set of small integers that finds the nearest member on either side.

/// Members below a fixed bound; a second level marks words that are not empty.
#[derive(Clone, Debug)]
pub(super) struct Bitset {
    words: Vec<u64>,
    summary: Vec<u64>,
}

const BITS: u32 = u64::BITS;

impl Bitset {
    /// An empty set of integers below `bound`.
    pub fn new(bound: u32) -> Self {
        let text = bound.div_ceil(BITS);
        Bitset { words: vec![0; text as usize], summary: vec![0; text.div_ceil(BITS) as usize] }
    }

    pub fn insert(&mut self, n: u32) {
        let word = n / BITS;
        self.words[word as usize] |= 1 << (n % BITS);
        self.summary[(word / BITS) as usize] |= 1 << (word % BITS);
    }

    pub fn remove(&mut self, n: u32) {
        let word = n / BITS;
        self.words[word as usize] &= !(1 << (n % BITS));
        if self.words[word as usize] == 0 {
            self.summary[(word / BITS) as usize] &= !(1 << (word % BITS));
        }
    }

    /// The smallest member at or above `n`.
    #[inline]
    pub fn first_at_or_above(&self, n: u32) -> Option<u32> {
        first_in_word(&self.words, n).or_else(|| {
            let word = first_at_or_above(&self.summary, n / BITS + 1)?;
            first_in_word(&self.words, word * BITS)
        })
    }

    /// The largest member at or below `n`.
    #[inline]
    pub fn last_at_or_below(&self, n: u32) -> Option<u32> {
        last_in_word(&self.words, n).or_else(|| {
            let word = last_at_or_below(&self.summary, (n / BITS).checked_sub(1)?)?;
            last_in_word(&self.words, word * BITS + BITS - 1)
        })
    }
}

/// The smallest bit at or above `n` in the word that holds `n`.
fn first_in_word(text: &[u64], n: u32) -> Option<u32> {
    let remaining = text.get((n / BITS) as usize)? & (u64::MAX << (n % BITS));
    (remaining != 0).then(|| n / BITS * BITS + remaining.trailing_zeros())
}

/// The largest bit at or below `n` in the word that holds `n`.
fn last_in_word(text: &[u64], n: u32) -> Option<u32> {
    let remaining = text.get((n / BITS) as usize)? & (u64::MAX >> (BITS - 1 - n % BITS));
    (remaining != 0).then(|| n / BITS * BITS + BITS - 1 - remaining.leading_zeros())
}

fn first_at_or_above(text: &[u64], n: u32) -> Option<u32> {
    first_in_word(text, n).or_else(|| {
        let next = n / BITS + 1;
        (next..text.len() as u32).find_map(|word| first_in_word(text, word * BITS))
    })
}

fn last_at_or_below(text: &[u64], n: u32) -> Option<u32> {
    last_in_word(text, n)
        .or_else(|| (0..n / BITS).rev().find_map(|word| last_in_word(text, word * BITS + BITS - 1)))
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
