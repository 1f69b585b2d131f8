//! The lookup table of Wang 2005, section 4.1: where in the logs the newest versions of blocks are.

use std::collections::BTreeMap;

use smallvec::{SmallVec, smallvec};

use crate::cache::BlockRun;

/// Pieces of a request, in order: most requests have few.
pub(super) type Pieces = SmallVec<[Piece; 4]>;

/// Consecutive blocks of the host that are consecutive in a log too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub run: BlockRun,
    /// The first block on the front device.
    pub front_block: u64,
}

impl Piece {
    /// The part of the piece within `run`, if there is any.
    fn intersection(self, run: BlockRun) -> Option<Piece> {
        let (first, end) = (self.run.first.max(run.first), self.run.end.min(run.end));
        (first < end).then(|| Piece {
            run: BlockRun { first, end },
            front_block: self.front_block + (first - self.run.first),
        })
    }
}

/// Pieces by their first block. They do not overlap.
#[derive(Debug, Default)]
pub(super) struct Lookup {
    pieces: BTreeMap<u64, (u64, u64)>,
    blocks: u64,
}

impl Lookup {
    /// Number of blocks in the logs.
    pub fn len(&self) -> u64 {
        self.blocks
    }

    /// The pieces of the blocks `run` that are in the logs, in order.
    pub fn find(&self, run: BlockRun) -> Pieces {
        // Pieces do not overlap: if one has no block of `run`, those before it have none either.
        let backwards = self.pieces.range(..run.end).rev();
        let mut pieces: Pieces = backwards
            .map_while(|(first, (end, at))| {
                Piece { run: BlockRun { first: *first, end: *end }, front_block: *at }.intersection(run)
            })
            .collect();
        pieces.reverse();
        pieces
    }

    /// Removes those pieces of the blocks `run` for whose first block on the front device `is_meant` is true.
    pub fn remove(&mut self, run: BlockRun, is_meant: impl Fn(u64) -> bool) {
        let mut pieces = self.find(run);
        pieces.retain(|piece| is_meant(piece.front_block));
        self.cut(&pieces);
    }

    /// Removes the piece that consists of the blocks `run`.
    pub fn remove_piece(&mut self, run: BlockRun) {
        let removed = self.pieces.remove(&run.first);
        debug_assert!(removed.is_some_and(|(end, _)| end == run.end));
        self.blocks -= run.end - run.first;
    }

    /// Removes parts of pieces, as `find` returns them.
    fn cut(&mut self, parts: &[Piece]) {
        for Piece { run, front_block: at } in parts {
            let Some((first, (piece_end, _))) = self.pieces.range_mut(..=run.first).next_back() else {
                continue;
            };
            let (first, end) = (*first, *piece_end);
            if first < run.first {
                *piece_end = run.first;
            } else {
                self.pieces.remove(&first);
            }
            if run.end < end {
                self.pieces.insert(run.end, (end, at + (run.end - run.first)));
            }
            self.blocks -= run.end - run.first;
        }
    }

    /// Enters a new place for the blocks `piece.run`; returns the pieces that it replaces.
    pub fn insert(&mut self, piece: Piece) -> Pieces {
        let before = self.find(piece.run);
        if let [only] = before[..]
            && only.run == piece.run
            && let Some((end, at)) = self.pieces.get_mut(&piece.run.first)
            && *end == piece.run.end
        {
            *at = piece.front_block;
            return smallvec![only];
        }
        self.cut(&before);
        self.pieces.insert(piece.run.first, (piece.run.end, piece.front_block));
        self.blocks += piece.run.end - piece.run.first;
        before
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compared with a table of single blocks.
        #[test]
        fn knows_every_block(steps in prop::collection::vec((0_u64..60, 1_u64..20, 0_u8..4), 1..100)) {
            let (mut lookup, mut places) = (Lookup::default(), BTreeMap::new());
            for (number, (first, blocks, step)) in steps.into_iter().enumerate() {
                let run = BlockRun { first, end: first + blocks };
                let at = number as u64 * 1000;
                let known: u64 = match step {
                    0 => {
                        places.retain(|block, at| !(run.first..run.end).contains(block) || *at % 2000 >= 1000);
                        lookup.remove(run, |at| at % 2000 < 1000);
                        continue;
                    }
                    1 => {
                        let result = lookup.find(run);
                        for Piece { run, front_block: at } in &result {
                            for block in run.first..run.end {
                                prop_assert_eq!(places.get(&block), Some(&(at + block - run.first)));
                            }
                        }
                        result.iter().map(|piece| piece.run.end - piece.run.first).sum()
                    }
                    _ => {
                        let replaced = lookup.insert(Piece { run, front_block: at });
                        replaced.iter().map(|piece| piece.run.end - piece.run.first).sum()
                    }
                };
                prop_assert_eq!(known, places.range(run.first..run.end).count() as u64);
                if step > 1 {
                    places.extend((run.first..run.end).map(|block| (block, at + block - run.first)));
                }
                prop_assert_eq!(lookup.len(), places.len() as u64);
            }
        }
    }
}
