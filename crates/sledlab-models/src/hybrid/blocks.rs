//! Sets of blocks: which blocks of a segment are valid, dirty or being written.

use smallvec::SmallVec;

use crate::cache::BlockRun;

/// Runs of blocks of a segment: most segments have few.
pub(super) type Runs = SmallVec<[BlockRun; 2]>;

/// Bits of a word.
const BITS: u64 = 64;

/// A set of blocks for every slot of a cache; all sets have the same size.
#[derive(Clone, Debug)]
pub(super) struct BlockSets {
    words: Vec<u64>,
    per_set: usize,
}

impl BlockSets {
    /// `sets` empty sets, each of up to `blocks` blocks.
    pub fn new(sets: usize, blocks: u64) -> Self {
        let per_set = blocks.div_ceil(BITS) as usize;
        BlockSets { words: vec![0; sets * per_set], per_set }
    }

    fn words(&self, set: u32) -> &[u64] {
        let first = set as usize * self.per_set;
        &self.words[first..first + self.per_set]
    }

    fn words_mut(&mut self, set: u32) -> &mut [u64] {
        let first = set as usize * self.per_set;
        &mut self.words[first..first + self.per_set]
    }

    /// A copy of one set.
    pub fn get(&self, set: u32) -> Blocks {
        Blocks(self.words(set).into())
    }

    /// Whether a set has all blocks of `run`.
    #[inline]
    pub fn has_all(&self, set: u32, run: BlockRun) -> bool {
        let words = self.words(set);
        masks(run).all(|(word, mask)| words[word] & mask == mask)
    }

    /// Whether for each block of `run` the set has it here or in `others`.
    pub fn has_all_with(&self, others: &BlockSets, set: u32, run: BlockRun) -> bool {
        let (words, others) = (self.words(set), others.words(set));
        masks(run).all(|(word, mask)| (words[word] | others[word]) & mask == mask)
    }

    /// Whether a set has any block of `run`.
    pub fn has_any(&self, set: u32, run: BlockRun) -> bool {
        let words = self.words(set);
        masks(run).any(|(word, mask)| words[word] & mask != 0)
    }

    /// Whether a set is empty.
    pub fn is_empty(&self, set: u32) -> bool {
        self.words(set).iter().all(|word| *word == 0)
    }

    /// Adds blocks; returns how many of them the set did not have.
    #[inline]
    pub fn add(&mut self, set: u32, run: BlockRun) -> u64 {
        let words = self.words_mut(set);
        let mut added = 0;
        for (word, mask) in masks(run) {
            added += u64::from((mask & !words[word]).count_ones());
            words[word] |= mask;
        }
        added
    }

    /// Empties a set.
    pub fn clear(&mut self, set: u32) {
        self.words_mut(set).fill(0);
    }

    /// Blocks in all sets together.
    pub fn len(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

/// The words that a run touches, each with the bits of the run in it.
#[inline]
fn masks(run: BlockRun) -> impl Iterator<Item = (usize, u64)> {
    (run.first / BITS..run.end.div_ceil(BITS)).map(move |word| {
        let first = word * BITS;
        let (from, to) = (run.first.max(first) - first, run.end.min(first + BITS) - first);
        (word as usize, (u64::MAX >> (BITS - (to - from))) << from)
    })
}

/// A set of blocks by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Blocks(pub SmallVec<[u64; 2]>);

impl Blocks {
    /// Whether the set has a block.
    pub fn has(&self, block: u64) -> bool {
        self.0.get((block / BITS) as usize).is_some_and(|word| word >> (block % BITS) & 1 == 1)
    }

    /// Whether the set has all blocks of `run`.
    pub fn has_all(&self, run: BlockRun) -> bool {
        (run.first..run.end).all(|block| self.has(block))
    }

    /// Adds the blocks of `run`.
    pub fn insert(&mut self, run: BlockRun) {
        for block in run.first..run.end {
            self.0[(block / BITS) as usize] |= 1 << (block % BITS);
        }
    }

    /// Removes the blocks of `run`.
    pub fn remove(&mut self, run: BlockRun) {
        for block in run.first..run.end {
            self.0[(block / BITS) as usize] &= !(1 << (block % BITS));
        }
    }

    /// Number of blocks in the set.
    pub fn len(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Runs of the blocks below `end` that the set has. Two runs are joined where all blocks that separate them are in
    /// `between`.
    pub fn runs(&self, end: u64, between: Option<&Blocks>) -> Runs {
        let mut runs = Runs::new();
        let mut block = 0;
        while block < end {
            let word = self.0.get((block / BITS) as usize).map_or(0, |word| word >> (block % BITS));
            if word == 0 {
                block = (block / BITS + 1) * BITS;
                continue;
            }
            let (gap, blocks) = (word.trailing_zeros(), (word >> word.trailing_zeros()).trailing_ones());
            let first = block + u64::from(gap);
            block = end.min(first + u64::from(blocks));
            match runs.last_mut() {
                _ if first >= end => break,
                Some(run)
                    if run.end == first
                        || between
                            .is_some_and(|set| set.has_all(BlockRun { first: run.end, end: first })) =>
                {
                    run.end = block;
                }
                _ => runs.push(BlockRun { first, end: block }),
            }
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compared with a search block by block.
        #[test]
        fn runs_have_all_blocks(words in any::<[u64; 2]>(), mask in any::<[u64; 2]>(), end in 0_u64..=128) {
            let words = [words[0] & words[1].rotate_left(7), words[1] | mask[0]];
            let (set, between) = (Blocks(words.into()), Blocks(mask.map(|word| !word).into()));
            for between in [None, Some(&between)] {
                let mut expected: Vec<BlockRun> = Vec::new();
                for block in (0..end).filter(|block| set.has(*block)) {
                    match expected.last_mut() {
                        Some(run) if (run.end..block).all(|at| between.is_some_and(|set| set.has(at))) => {
                            run.end = block + 1;
                        }
                        _ => expected.push(BlockRun { first: block, end: block + 1 }),
                    }
                }
                prop_assert_eq!(&set.runs(end, between)[..], &expected[..]);
            }
        }
    }
}
