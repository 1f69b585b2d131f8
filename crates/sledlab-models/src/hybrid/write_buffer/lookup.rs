//! The lookup table of Wang 2005, section 4.1: where in the logs the newest versions of blocks are.

use std::ops::Range;

use sledlab_core::hash::Map;
use smallvec::SmallVec;

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

/// Blocks of the host whose pieces are in one list.
const GROUP_BLOCKS: u64 = 128;

/// A piece, or the part of a piece within a group of blocks.
#[derive(Clone, Copy, Debug)]
struct Entry {
    front_block: u64,
    /// The blocks, from the first block of the group on.
    first: u16,
    end: u16,
}

impl Entry {
    fn new(group: u64, piece: Piece) -> Self {
        let first = group * GROUP_BLOCKS;
        let Piece { run, front_block } = piece;
        Entry { front_block, first: (run.first - first) as u16, end: (run.end - first) as u16 }
    }

    /// The part of the piece within `run`, which has some of its blocks.
    fn intersection(self, group: u64, run: BlockRun) -> Piece {
        let group_start = group * GROUP_BLOCKS;
        let (first, end) = (group_start + u64::from(self.first), group_start + u64::from(self.end));
        let run = BlockRun { first: first.max(run.first), end: end.min(run.end) };
        Piece { run, front_block: self.front_block + (run.first - first) }
    }
}

/// The pieces of the blocks in the logs, which do not overlap.
///
/// The lists are short, so a look-up reads little memory. A piece is in one list or, where its blocks are in several
/// groups, in several; adjacent pieces are never consecutive in a log, because of the header between their records.
#[derive(Debug, Default)]
pub(super) struct Lookup {
    /// The pieces of each group of blocks that has some, in order.
    groups: Map<u64, Vec<Entry>>,
    blocks: u64,
}

/// Adds a piece, which is joined with the one before if that continues in it.
fn push(pieces: &mut Pieces, piece: Piece) {
    match pieces.last_mut() {
        Some(Piece { run, front_block })
            if run.end == piece.run.first && *front_block + (run.end - run.first) == piece.front_block =>
        {
            run.end = piece.run.end;
        }
        _ => pieces.push(piece),
    }
}

/// The groups of `run`, each with the blocks of `run` in it.
fn group_runs(run: BlockRun) -> impl Iterator<Item = (u64, BlockRun)> {
    (run.first / GROUP_BLOCKS..run.end.div_ceil(GROUP_BLOCKS)).map(move |group| {
        let first = group * GROUP_BLOCKS;
        (group, BlockRun { first: run.first.max(first), end: run.end.min(first + GROUP_BLOCKS) })
    })
}

/// The indices of the entries that have blocks of `run`.
fn overlap(entries: &[Entry], run: Entry) -> Range<usize> {
    let first = entries.partition_point(|entry| entry.end <= run.first);
    let count = entries[first..].iter().take_while(|entry| entry.first < run.end).count();
    first..first + count
}

impl Lookup {
    /// Number of blocks in the logs.
    pub fn len(&self) -> u64 {
        self.blocks
    }

    /// The pieces of the blocks `run` that are in the logs, in order.
    pub fn find(&self, run: BlockRun) -> Pieces {
        let mut pieces = Pieces::new();
        for (group, run) in group_runs(run) {
            let Some(entries) = self.groups.get(&group) else { continue };
            let run_entry = Entry::new(group, Piece { run, front_block: 0 });
            for entry in &entries[overlap(entries, run_entry)] {
                push(&mut pieces, entry.intersection(group, run));
            }
        }
        pieces
    }

    /// Removes those pieces of the blocks `run` for whose first block on the front device `should_remove` is true.
    pub fn remove(&mut self, run: BlockRun, should_remove: impl Fn(u64) -> bool) {
        for piece in self.find(run).into_iter().filter(|piece| should_remove(piece.front_block)) {
            self.remove_piece(piece.run);
        }
    }

    /// Removes the blocks `run`, all of which are in the logs.
    pub fn remove_piece(&mut self, run: BlockRun) {
        for (group, run) in group_runs(run) {
            let Some(entries) = self.groups.get_mut(&group) else { continue };
            let removed_entry = Entry::new(group, Piece { run, front_block: 0 });
            replace(entries, overlap(entries, removed_entry), removed_entry, false);
            if entries.is_empty() {
                self.groups.remove(&group);
            }
        }
        self.blocks -= run.end - run.first;
    }

    /// Enters a new place for the blocks `piece.run`; calls `on_replaced` for each piece that it replaces, within a
    /// group.
    pub fn insert(&mut self, piece: Piece, mut on_replaced: impl FnMut(Piece)) {
        for (group, run) in group_runs(piece.run) {
            let entries = self.groups.entry(group).or_default();
            let front_block = piece.front_block + (run.first - piece.run.first);
            let new = Entry::new(group, Piece { run, front_block });
            let old_range = overlap(entries, new);
            for entry in &entries[old_range.clone()] {
                let piece = entry.intersection(group, run);
                self.blocks -= piece.run.end - piece.run.first;
                on_replaced(piece);
            }
            replace(entries, old_range, new, true);
        }
        self.blocks += piece.run.end - piece.run.first;
    }
}

/// Removes the blocks of `new` from the entries `old_range`, and enters `new` in their place where `is_entered`.
fn replace(entries: &mut Vec<Entry>, old_range: Range<usize>, new: Entry, is_entered: bool) {
    let (first, last) = (entries[old_range.clone()].first(), entries[old_range.clone()].last());
    let left_rest =
        first.filter(|entry| entry.first < new.first).map(|entry| Entry { end: new.first, ..*entry });
    let right_rest = last.filter(|entry| entry.end > new.end).map(|entry| Entry {
        front_block: entry.front_block + u64::from(new.end - entry.first),
        first: new.end,
        ..*entry
    });
    match (old_range.len(), is_entered) {
        (0, true) => entries.insert(old_range.start, new),
        (1, true) if left_rest.is_none() && right_rest.is_none() => entries[old_range.start] = new,
        (1, false) if left_rest.is_none() && right_rest.is_none() => drop(entries.remove(old_range.start)),
        _ => drop(
            entries
                .splice(old_range, left_rest.into_iter().chain(is_entered.then_some(new)).chain(right_rest)),
        ),
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
        fn knows_every_block(steps in prop::collection::vec((100_u64..160, 1_u64..200, 0_u8..4), 1..100)) {
            let (mut lookup, mut places) = (Lookup::default(), BTreeMap::new());
            for (number, (first, blocks, step)) in steps.into_iter().enumerate() {
                let run = BlockRun { first, end: first + blocks };
                let front_block = number as u64 * 1000;
                let known_blocks: u64 = match step {
                    0 => {
                        places.retain(|block, front_block| {
                            !(run.first..run.end).contains(block) || *front_block % 2000 >= 1000
                        });
                        lookup.remove(run, |front_block| front_block % 2000 < 1000);
                        continue;
                    }
                    1 => {
                        let pieces = lookup.find(run);
                        for Piece { run, front_block } in &pieces {
                            for block in run.first..run.end {
                                prop_assert_eq!(places.get(&block), Some(&(front_block + block - run.first)));
                            }
                        }
                        pieces.iter().map(|piece| piece.run.end - piece.run.first).sum()
                    }
                    _ => {
                        let mut replaced = 0;
                        lookup.insert(Piece { run, front_block }, |piece| {
                            replaced += piece.run.end - piece.run.first;
                        });
                        replaced
                    }
                };
                prop_assert_eq!(known_blocks, places.range(run.first..run.end).count() as u64);
                if step > 1 {
                    places.extend((run.first..run.end).map(|block| (block, front_block + block - run.first)));
                }
                prop_assert_eq!(lookup.len(), places.len() as u64);
            }
        }
    }
}
