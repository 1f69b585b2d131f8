//! Which blocks a cache holds, in lines that a replacement policy evicts, and which of them are dirty.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use sledlab_core::Result;
use sledlab_core::hash::Map;

use super::{BlockRun, CacheParams, SlotState};
use crate::replacement::{Choice, SparingPolicy, Use};

/// A bit for every block of a line.
type Bits = u64;

/// Consecutive blocks that are inserted and evicted together.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// Blocks that the cache holds.
    valid: Bits,
    /// Dirty blocks: written, and their destage has not begun.
    dirty: Bits,
    /// Blocks that are being destaged. A block written meanwhile is dirty again.
    destaging: Bits,
    /// The rank of the line's last use, where the policy evicts by ranks.
    rank: u64,
}

impl Line {
    fn is_clean(&self) -> bool {
        self.dirty | self.destaging == 0
    }
}

/// The lines of a cache.
pub struct Lines {
    line_blocks: u64,
    capacity: usize,
    destage_blocks: u64,
    resident: Map<u64, Line>,
    /// Chooses the line to evict; its keys are the numbers of lines.
    policy: Box<dyn SparingPolicy>,
    /// Numbers of the clean lines, which may be evicted, and of the lines with dirty blocks, each by rank, where the
    /// policy evicts by ranks: a search through all lines would take long.
    clean_by_rank: BTreeMap<u64, u64>,
    dirty_by_rank: BTreeMap<u64, u64>,
    /// Numbers of all resident lines, in order of their blocks.
    resident_numbers: BTreeSet<u64>,
    /// Number of clean lines, which may be evicted.
    clean: usize,
    /// Numbers of lines with dirty blocks, in order of their blocks.
    dirty_numbers: BTreeSet<u64>,
}

impl Lines {
    /// An empty cache.
    ///
    /// # Errors
    /// An unknown replacement policy, one that requires knowledge of the future, and a plug-in, which cannot exclude
    /// dirty lines from eviction.
    pub fn new(params: &CacheParams) -> Result<Self> {
        let maximum = (params.capacity_blocks / params.line_blocks) as usize;
        Ok(Lines {
            line_blocks: params.line_blocks,
            capacity: maximum,
            destage_blocks: params.destage_blocks,
            resident: Map::default(),
            policy: Choice::parse(&params.replacement)?.make_sparing("cache.replacement", maximum)?,
            clean_by_rank: BTreeMap::new(),
            dirty_by_rank: BTreeMap::new(),
            resident_numbers: BTreeSet::new(),
            clean: 0,
            dirty_numbers: BTreeSet::new(),
        })
    }

    /// Whether any block is dirty.
    pub fn is_dirty(&self) -> bool {
        !self.dirty_numbers.is_empty()
    }

    /// Runs of the blocks of `run` that the cache does not hold, in order.
    pub fn missing_runs(&self, run: BlockRun) -> Vec<BlockRun> {
        let mut missing: Vec<BlockRun> = Vec::new();
        for block in run.first..run.end {
            if self.holds(block) {
                continue;
            }
            match missing.last_mut() {
                Some(last) if last.end == block => last.end += 1,
                _ => missing.push(BlockRun { first: block, end: block + 1 }),
            }
        }
        missing
    }

    /// Returns the first cached block from `first` on, or `limit` if none is before it.
    pub fn missing_end(&self, first: u64, limit: u64) -> u64 {
        (first..limit).find(|block| self.holds(*block)).unwrap_or(limit.max(first))
    }

    fn holds(&self, block: u64) -> bool {
        self.resident.get(&(block / self.line_blocks)).is_some_and(|line| line.valid & self.bit(block) != 0)
    }

    /// Whether a block is dirty and its destage has not begun.
    pub fn is_dirty_at(&self, block: u64) -> bool {
        self.resident.get(&(block / self.line_blocks)).is_some_and(|line| line.dirty & self.bit(block) != 0)
    }

    /// Whether the cache holds a newer version of a block than the devices: it is dirty or being destaged.
    pub fn is_unwritten(&self, block: u64) -> bool {
        let line = self.resident.get(&(block / self.line_blocks));
        line.is_some_and(|line| (line.dirty | line.destaging) & self.bit(block) != 0)
    }

    fn bit(&self, block: u64) -> Bits {
        1 << (block % self.line_blocks)
    }

    /// The bits of `run` in line `number`.
    fn bits(&self, number: u64, run: BlockRun) -> Bits {
        let first = number * self.line_blocks;
        let (from, to) = (run.first.max(first) - first, run.end.min(first + self.line_blocks) - first);
        (Bits::MAX >> (64 - (to - from))) << from
    }

    /// Numbers of the lines that `run` touches.
    fn numbers(&self, run: BlockRun) -> std::ops::Range<u64> {
        run.first / self.line_blocks..run.end.div_ceil(self.line_blocks)
    }

    /// Counts a use of the blocks `run`. Only resident lines of the run take time, because all blocks of a large write
    /// are touched with every piece.
    pub fn touch(&mut self, run: BlockRun) {
        let touched: Vec<u64> = self.resident_numbers.range(self.numbers(run)).copied().collect();
        for number in touched {
            self.change(number, |_| {});
        }
    }

    /// Inserts the blocks `run`, which have been read from the devices, as far as there are free or clean lines.
    pub fn fill(&mut self, run: BlockRun) {
        for number in self.numbers(run) {
            if self.make_room(number) {
                let bits = self.bits(number, run);
                self.change(number, |line| line.valid |= bits);
            }
        }
    }

    /// Writes the blocks `run` into the cache; returns the first block without space, or the end of the run. If there
    /// is no space for the entire run, nothing is written, so that its blocks are destaged together later; a run of
    /// more than half the cache's lines is written piece by piece.
    pub fn write(&mut self, run: BlockRun) -> u64 {
        if self.numbers(run).count() <= self.capacity / 2 && !self.has_room(run) {
            return run.first;
        }
        // Resident lines of the run must not be evicted for its other lines.
        self.touch(run);
        for number in self.numbers(run) {
            if !self.make_room(number) {
                return run.first.max(number * self.line_blocks);
            }
            let bits = self.bits(number, run);
            self.change(number, |line| {
                line.valid |= bits;
                line.dirty |= bits;
            });
        }
        run.end
    }

    /// Whether the cache has room for all lines of `run` at once.
    fn has_room(&self, run: BlockRun) -> bool {
        let stored: Vec<_> = self.numbers(run).filter_map(|number| self.resident.get(&number)).collect();
        let (new, own) =
            (self.numbers(run).count() - stored.len(), stored.iter().filter(|line| line.is_clean()).count());
        new <= self.capacity - self.resident.len() + self.clean - own
    }

    /// Returns whether line `number` is resident or has room; a full cache evicts a clean line for it.
    fn make_room(&mut self, number: u64) -> bool {
        if self.resident.contains_key(&number) || self.resident.len() < self.capacity {
            return true;
        }
        if self.clean == 0 {
            return false;
        }
        let mut is_clean = |number| self.resident.get(&number).is_some_and(Line::is_clean);
        let first = self.clean_by_rank.pop_first().map(|(_, number)| number);
        let Some(victim) = first.or_else(|| self.policy.next_victim(&mut is_clean)) else { return false };
        self.policy.evict(victim);
        self.resident.remove(&victim);
        self.resident_numbers.remove(&victim);
        self.clean -= 1;
        true
    }

    /// Changes a line, or inserts it, and counts a use of it; the caller has made room.
    fn change(&mut self, number: u64, change: impl FnOnce(&mut Line)) {
        self.policy.access(Use { key: number, next: Use::NO_NEXT });
        let rank = self.policy.rank().unwrap_or_default();
        self.update_line(number, |line| {
            change(line);
            line.rank = rank;
        });
    }

    /// Changes a line, or inserts it, and updates the lists of clean and dirty lines; counts no use.
    fn update_line(&mut self, number: u64, change: impl FnOnce(&mut Line)) {
        let line = match self.resident.entry(number) {
            Entry::Occupied(line) => line.into_mut(),
            Entry::Vacant(room) => {
                self.resident_numbers.insert(number);
                self.clean += 1;
                room.insert(Line::default())
            }
        };
        let before = *line;
        change(line);
        let line = *line;
        self.clean = self.clean + usize::from(line.is_clean()) - usize::from(before.is_clean());
        if line.rank > 0 {
            self.keep_ranks(number, before, line);
        }
        match (before.dirty != 0, line.dirty != 0) {
            (false, true) => drop(self.dirty_numbers.insert(number)),
            (true, false) => drop(self.dirty_numbers.remove(&number)),
            _ => {}
        }
    }

    fn keep_ranks(&mut self, number: u64, before: Line, line: Line) {
        let lists = [
            (&mut self.clean_by_rank, before.is_clean(), line.is_clean()),
            (&mut self.dirty_by_rank, before.dirty != 0, line.dirty != 0),
        ];
        for (list, was_in, is_in) in lists {
            if was_in && !(is_in && line.rank == before.rank) {
                list.remove(&before.rank);
            }
            if is_in {
                list.insert(line.rank, number);
            }
        }
    }

    /// The dirty blocks to destage next so that their line becomes clean and can be evicted: those of the dirty line
    /// that the policy would evict first.
    pub fn first_dirty(&self) -> Option<BlockRun> {
        if !self.is_dirty() {
            return None;
        }
        let mut is_to_write =
            |number| self.resident.get(&number).is_some_and(|line| line.dirty != 0 && line.destaging == 0);
        let first = if self.dirty_by_rank.is_empty() {
            self.policy.next_victim(&mut is_to_write)
        } else {
            self.dirty_by_rank.values().copied().find(|number| is_to_write(*number))
        };
        first.and_then(|number| self.dirty_run(number))
    }

    /// The dirty blocks to destage next in ascending order from block `from`, and from the lowest block on when there
    /// are none above.
    pub fn next_dirty(&self, from: u64) -> Option<BlockRun> {
        let at = from / self.line_blocks;
        let mut onwards = self.dirty_numbers.range(at..).chain(self.dirty_numbers.range(..at));
        onwards.find_map(|number| self.dirty_run(*number))
    }

    /// The first dirty blocks of line `number` and the dirty blocks next to them, unless some blocks of the line are
    /// being destaged: of two writes to one block the older must not come last.
    fn dirty_run(&self, number: u64) -> Option<BlockRun> {
        let line = self.resident.get(&number).filter(|line| line.destaging == 0)?;
        let mut first = number * self.line_blocks + u64::from(line.dirty.trailing_zeros());
        let mut end = first + 1;
        while end - first < self.destage_blocks && self.is_to_write(end) {
            end += 1;
        }
        while end - first < self.destage_blocks && first > 0 && self.is_to_write(first - 1) {
            first -= 1;
        }
        Some(BlockRun { first, end })
    }

    fn is_to_write(&self, block: u64) -> bool {
        let line = self.resident.get(&(block / self.line_blocks));
        line.is_some_and(|line| line.destaging == 0 && line.dirty & self.bit(block) != 0)
    }

    /// The dirty blocks around `block` to destage, unless some blocks of its line are being destaged.
    pub fn dirty_run_at(&self, block: u64) -> Option<BlockRun> {
        let run = self.dirty_run(block / self.line_blocks).filter(|_| self.is_to_write(block))?;
        if (run.first..run.end).contains(&block) {
            return Some(run);
        }
        Some(BlockRun { first: block, end: block + 1 })
    }

    /// Dirty blocks, and the other blocks that are being destaged.
    pub fn undestaged_blocks(&self) -> (BTreeSet<u64>, BTreeSet<u64>) {
        let (mut dirty, mut in_flight) = (BTreeSet::new(), BTreeSet::new());
        for (number, line) in &self.resident {
            for bit in 0..self.line_blocks {
                let block = number * self.line_blocks + bit;
                if line.dirty >> bit & 1 == 1 {
                    dirty.insert(block);
                } else if line.destaging >> bit & 1 == 1 {
                    in_flight.insert(block);
                }
            }
        }
        (dirty, in_flight)
    }

    /// All blocks of which the devices do not have the newest version, dirty or being destaged, as runs of one block
    /// each.
    pub fn unwritten(&self) -> Vec<BlockRun> {
        let (dirty, in_flight) = self.undestaged_blocks();
        dirty.into_iter().chain(in_flight).map(|block| BlockRun { first: block, end: block + 1 }).collect()
    }

    /// The state of every line, in order of their blocks; free lines come last.
    pub fn slots(&self) -> Vec<SlotState> {
        let lines = self.resident_numbers.iter().map(|number| &self.resident[number]);
        let mut slots: Vec<SlotState> =
            lines.map(|line| SlotState::with_data(line.dirty != 0, line.destaging != 0)).collect();
        slots.resize(self.capacity, SlotState::Free);
        slots
    }

    /// The destage of the blocks `run` begins.
    pub fn begin_destage(&mut self, run: BlockRun) {
        for number in self.numbers(run) {
            let bits = self.bits(number, run);
            self.update_line(number, |line| {
                line.dirty &= !bits;
                line.destaging |= bits;
            });
        }
    }

    /// The blocks `run` have been destaged.
    pub fn end_destage(&mut self, run: BlockRun) {
        for number in self.numbers(run) {
            let bits = self.bits(number, run);
            self.update_line(number, |line| line.destaging &= !bits);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::replacement::LIST;

    fn lines(capacity_blocks: u64, line_blocks: u64) -> Lines {
        lines_with_policy("lru", capacity_blocks, line_blocks)
    }

    fn lines_with_policy(policy: &str, capacity_blocks: u64, line_blocks: u64) -> Lines {
        let replacement = policy.to_owned();
        let params = CacheParams {
            capacity_blocks,
            line_blocks,
            destage_blocks: 6,
            replacement,
            ..CacheParams::default()
        };
        Lines::new(&params).unwrap()
    }

    fn block_run(first: u64, blocks: u64) -> BlockRun {
        BlockRun { first, end: first + blocks }
    }

    #[test]
    fn least_recently_used_line_is_evicted() {
        let mut lines = lines(12, 4);
        lines.fill(block_run(0, 12));
        lines.touch(block_run(1, 1));
        lines.fill(block_run(20, 2));
        assert_eq!(lines.missing_runs(block_run(0, 12)), [block_run(4, 4)]);
        assert_eq!(lines.missing_runs(block_run(20, 4)), [block_run(22, 2)]);
    }

    #[test]
    fn dirty_lines_stay_until_destaged() {
        let mut lines = lines(8, 4);
        assert_eq!(lines.write(block_run(2, 4)), 6);
        assert_eq!(lines.write(block_run(10, 2)), 10, "no room");
        lines.fill(block_run(12, 4));
        assert_eq!(lines.missing_runs(block_run(12, 4)), [block_run(12, 4)]);
        assert_eq!(lines.first_dirty(), Some(block_run(2, 4)));
        lines.begin_destage(block_run(2, 4));
        assert_eq!((lines.first_dirty(), lines.next_dirty(0)), (None, None));
        assert_eq!(lines.write(block_run(10, 2)), 10, "a line in flight is not resident");
        assert_eq!(lines.write(block_run(3, 1)), 4, "written again meanwhile");
        assert_eq!(lines.next_dirty(0), None, "one write of a block at a time");
        lines.end_destage(block_run(2, 4));
        assert_eq!(lines.next_dirty(0), Some(block_run(3, 1)));
        assert_eq!(lines.write(block_run(10, 2)), 12);
        assert_eq!(lines.missing_runs(block_run(0, 12)), [block_run(0, 2), block_run(4, 6)]);
    }

    #[test]
    fn destages_ascend_and_wrap_around() {
        let mut lines = lines(400, 4);
        for first in [40, 8, 100] {
            lines.write(block_run(first, 10));
        }
        assert_eq!(lines.next_dirty(30), Some(block_run(40, 6)), "at most so many at once");
        assert_eq!(lines.next_dirty(104), Some(block_run(104, 6)));
        assert_eq!(lines.next_dirty(108), Some(block_run(104, 6)), "with what lies before");
        assert_eq!(lines.next_dirty(112), Some(block_run(8, 6)));
        assert_eq!(lines.first_dirty(), Some(block_run(40, 6)));
    }

    #[test]
    fn write_waits_for_room_for_all_blocks() {
        let mut lines = lines(16, 4);
        lines.write(block_run(0, 12));
        assert_eq!(lines.write(block_run(20, 8)), 20, "two lines, and one is left");
        lines.fill(block_run(20, 4));
        assert_eq!(lines.write(block_run(20, 8)), 20, "resident blocks make no space for the others");
        assert_eq!(lines.write(block_run(20, 12)), 24, "more than half the cache goes piece by piece");
    }

    /// Counts a use of each resident line of `run`; tries every number.
    fn touch_every_line(lines: &mut Lines, run: BlockRun) {
        for number in lines.numbers(run) {
            if lines.resident.contains_key(&number) {
                lines.change(number, |_| {});
            }
        }
    }

    /// Numbers of the lines, in the order in which the policy would evict them.
    fn eviction_order(lines: &Lines) -> Vec<u64> {
        let mut order = Vec::new();
        while let Some(next) = lines.policy.next_victim(&mut |number| !order.contains(&number)) {
            order.push(next);
        }
        order
    }

    /// 2^21 blocks in pieces of 6: looking at all the remaining blocks with each piece would be 10^11 steps.
    #[test]
    fn a_large_write_takes_time_in_proportion() {
        let mut lines = lines(64, 4);
        let (all, mut next, mut pieces) = (block_run(2, 1 << 21), 2, 0);
        while next < all.end {
            next = lines.write(BlockRun { first: next, end: all.end });
            if let Some(out) = lines.first_dirty() {
                lines.begin_destage(out);
                lines.end_destage(out);
                pieces += 1;
            }
        }
        assert!(pieces >= ((1 << 21) - 64) / 6);
    }

    proptest! {
        /// For any resident lines, and runs of any length.
        #[test]
        fn touch_equals_touching_every_line(
            fills in prop::collection::vec((0_u64..200, 1_u64..20, any::<bool>()), 1..40),
            touches in prop::collection::vec((0_u64..200, 1_u64..400), 1..10),
            line_blocks in 1_u64..=64,
        ) {
            let [mut lines, mut oracle] = [0, 1].map(|_| {
                let mut lines = lines(96, line_blocks);
                for (first, blocks, is_written) in &fills {
                    if *is_written {
                        lines.write(block_run(*first, *blocks));
                    } else {
                        lines.fill(block_run(*first, *blocks));
                    }
                }
                lines
            });
            for (first, blocks) in touches {
                lines.touch(block_run(first, blocks));
                touch_every_line(&mut oracle, block_run(first, blocks));
            }
            prop_assert_eq!((lines.clean, &lines.dirty_numbers), (oracle.clean, &oracle.dirty_numbers));
            prop_assert!(lines.resident.keys().copied().collect::<BTreeSet<_>>() == lines.resident_numbers);
            prop_assert_eq!(eviction_order(&lines), eviction_order(&oracle));
        }

        /// Compared with sets of blocks: no written block is lost, and the cache never holds more lines than it has
        /// room for.
        #[test]
        fn dirty_blocks_are_never_lost(
            steps in prop::collection::vec((0_u8..5, 0_u64..120, 1_u64..20), 1..200), line_blocks in 1_u64..=48,
            policy in 0..LIST.len(),
        ) {
            prop_assume!(!LIST[policy].facts.needs_future);
            let mut lines = lines_with_policy(LIST[policy].name, 48, line_blocks);
            let mut dirty = BTreeSet::new();
            let mut on_their_way: Vec<BlockRun> = Vec::new();
            for (step, first, blocks) in steps {
                let all = block_run(first, blocks);
                match step {
                    0 => lines.fill(all),
                    1 => lines.touch(all),
                    2 => dirty.extend(first..lines.write(all)),
                    3 => {
                        if let Some(out) = lines.next_dirty(first) {
                            prop_assert!((out.first..out.end).all(|block| dirty.remove(&block)));
                            lines.begin_destage(out);
                            on_their_way.push(out);
                        }
                    }
                    _ if on_their_way.is_empty() => {}
                    _ => lines.end_destage(on_their_way.swap_remove(first as usize % on_their_way.len())),
                }
                let stored = dirty.iter().copied().chain(on_their_way.iter().flat_map(|out| out.first..out.end));
                for block in stored {
                    prop_assert!(lines.holds(block), "{block}");
                }
                prop_assert!(lines.resident.len() <= lines.capacity);
                prop_assert_eq!(lines.policy.len(), lines.resident.len());
                prop_assert_eq!(lines.resident.values().filter(|line| line.is_clean()).count(), lines.clean);
                prop_assert_eq!(lines.is_dirty(), !dirty.is_empty());
                let out = lines.first_dirty().map(|run| run.first);
                prop_assert!(out.is_none_or(|block| dirty.contains(&block)));
            }
        }
    }
}
