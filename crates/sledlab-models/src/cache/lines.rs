//! Which blocks a cache holds, in lines that a replacement policy evicts, and which of them are dirty.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use slab::Slab;
use sledlab_core::Result;
use sledlab_core::hash::Map;
use smallvec::SmallVec;

use super::last_use::LastUseQueue;
use super::{BlockRun, CacheParams, SlotState};
use crate::replacement::{AccessResult, Choice, SparingPolicy, Use};

/// A bit for every block of a line.
type Bits = u64;

/// Consecutive blocks that are inserted and evicted together.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// Number of the line: its first block is `number` times the blocks of a line.
    number: u64,
    /// Blocks that the cache holds.
    valid: Bits,
    /// Dirty blocks: written, and their destage has not begun.
    dirty: Bits,
    /// Blocks that are being destaged. A block written meanwhile is dirty again.
    destaging: Bits,
    /// Number of the last use of the line, where lines are evicted in this order.
    last_use: u64,
}

impl Line {
    fn is_clean(&self) -> bool {
        self.dirty | self.destaging == 0
    }

    /// The blocks to destage: none while some blocks of the line are being destaged, because of two writes to one block
    /// the older must not come last.
    fn blocks_to_write(&self) -> Bits {
        if self.destaging == 0 { self.dirty } else { 0 }
    }

    fn is_to_write(&self) -> bool {
        self.blocks_to_write() != 0
    }

    /// The number of the last use, if `has_state` is true for the line.
    fn use_if(&self, has_state: impl Fn(&Line) -> bool) -> Option<u64> {
        has_state(self).then_some(self.last_use)
    }
}

/// The order in which lines are evicted.
enum Order {
    /// The order of a policy, whose keys are the numbers of lines.
    Policy(Box<dyn SparingPolicy>),
    /// The line whose last use is longest ago comes first. A search through all lines would take long, so the clean
    /// lines and the lines to destage are in a queue each.
    LastUse { uses: u64, clean: LastUseQueue, to_write: LastUseQueue },
}

/// Why a line is inserted.
#[derive(Clone, Copy)]
enum Insertion {
    /// A request uses the line.
    Use,
    /// The line is read ahead.
    Prefetch,
}

/// The lines of a cache.
///
/// A read uses each of its lines once, when it arrives; a write uses each of its lines once, when its blocks enter the
/// cache. Nothing else is a use: neither the fetch of missing blocks, nor read-ahead, nor a destage.
pub struct Lines {
    line_blocks: u64,
    capacity: usize,
    destage_blocks: u64,
    /// Key in `entries` of each resident line, by its number.
    resident: Map<u64, u32>,
    entries: Slab<Line>,
    order: Order,
    /// Number of clean lines, which may be evicted.
    clean: usize,
    /// Numbers of lines with dirty blocks, in order of their blocks.
    dirty_numbers: BTreeSet<u64>,
    /// Lines of reads that wait for a clean line to evict: their numbers in order, and the blocks fetched so far.
    late_numbers: VecDeque<u64>,
    late_blocks: Map<u64, Bits>,
}

impl Lines {
    /// An empty cache.
    ///
    /// # Errors
    /// An unknown replacement policy, one that requires knowledge of the future, and a plug-in, which cannot exclude
    /// dirty lines from eviction.
    pub fn new(params: &CacheParams) -> Result<Self> {
        let capacity = (params.capacity_blocks / params.line_blocks) as usize;
        let choice = Choice::parse(&params.replacement)?;
        let policy = choice.make_sparing("cache.replacement", capacity)?;
        let order = if choice.evicts_by_last_use() {
            Order::LastUse { uses: 0, clean: LastUseQueue::default(), to_write: LastUseQueue::default() }
        } else {
            Order::Policy(policy)
        };
        Ok(Lines {
            line_blocks: params.line_blocks,
            capacity,
            destage_blocks: params.destage_blocks,
            resident: Map::default(),
            entries: Slab::new(),
            order,
            clean: 0,
            dirty_numbers: BTreeSet::new(),
            late_numbers: VecDeque::new(),
            late_blocks: Map::default(),
        })
    }

    /// Whether any block is dirty.
    pub fn is_dirty(&self) -> bool {
        !self.dirty_numbers.is_empty()
    }

    /// Uses the lines of the blocks `run` for a read, each once, and returns the runs of blocks that the cache does not
    /// hold, in order. Lines that are not resident are used after the others: they are inserted without blocks where
    /// there are free or clean lines, and [`fill`](Lines::fill) supplies the blocks.
    pub fn read(&mut self, run: BlockRun) -> Vec<BlockRun> {
        let mut missing: Vec<BlockRun> = Vec::new();
        let mut absent_blocks: SmallVec<[u64; 8]> = SmallVec::new();
        for number in self.numbers(run) {
            self.append_missing(number, run, &mut missing);
            if self.resident.contains_key(&number) {
                self.use_line(number, &(0..0));
            } else {
                absent_blocks.push(number);
            }
        }
        for number in absent_blocks {
            if let Some(index) = self.use_line(number, &(0..0)) {
                // A line without blocks is neither clean nor dirty in the lists, which now learn of those fetched.
                self.update_line(index, |_| {});
            }
        }
        missing
    }

    /// Appends the runs of those blocks of `run` in line `number` that the cache does not hold.
    fn append_missing(&self, number: u64, run: BlockRun, missing: &mut Vec<BlockRun>) {
        let valid = self.line(number).map_or(0, |line| line.valid);
        let mut bits = self.bits(number, run) & !valid;
        while bits != 0 {
            let (from, blocks) = (bits.trailing_zeros(), (bits >> bits.trailing_zeros()).trailing_ones());
            bits &= !(Bits::MAX >> (Bits::BITS - blocks) << from);
            let first = number * self.line_blocks + u64::from(from);
            let end = first + u64::from(blocks);
            match missing.last_mut() {
                Some(last) if last.end == first => last.end = end,
                _ => missing.push(BlockRun { first, end }),
            }
        }
    }

    /// Returns the first cached block from `first` on, or `limit` if none is before it.
    pub fn missing_end(&self, first: u64, limit: u64) -> u64 {
        (first..limit).find(|block| self.holds(*block)).unwrap_or(limit.max(first))
    }

    /// The resident line `number`.
    fn line(&self, number: u64) -> Option<&Line> {
        self.resident.get(&number).map(|index| &self.entries[*index as usize])
    }

    /// The line of a block.
    fn line_at(&self, block: u64) -> Option<&Line> {
        self.line(block / self.line_blocks)
    }

    fn holds(&self, block: u64) -> bool {
        self.line_at(block).is_some_and(|line| line.valid & self.bit(block) != 0)
    }

    /// Whether a block is dirty and its destage has not begun.
    pub fn is_dirty_at(&self, block: u64) -> bool {
        self.line_at(block).is_some_and(|line| line.dirty & self.bit(block) != 0)
    }

    /// Whether the cache holds a newer version of a block than the devices: it is dirty or being destaged.
    pub fn is_unwritten(&self, block: u64) -> bool {
        self.line_at(block).is_some_and(|line| (line.dirty | line.destaging) & self.bit(block) != 0)
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
    fn numbers(&self, run: BlockRun) -> Range<u64> {
        run.first / self.line_blocks..run.end.div_ceil(self.line_blocks)
    }

    /// Inserts the lines of the blocks `run`, which are read ahead, as far as there are free or clean lines; this is no
    /// use of them. [`fill`](Lines::fill) supplies the blocks.
    pub fn prefetch(&mut self, run: BlockRun) {
        for number in self.numbers(run) {
            if !self.resident.contains_key(&number)
                && let Some(index) = self.insert_line(number, Insertion::Prefetch, &(0..0))
            {
                // A line without blocks is neither clean nor dirty in the lists, which now learn of those fetched.
                self.update_line(index, |_| {});
            }
        }
    }

    /// Inserts the blocks `run`, which have been read from the devices, where their lines are still resident.
    pub fn fill(&mut self, run: BlockRun) {
        for number in self.numbers(run) {
            let bits = self.bits(number, run);
            if let Some(index) = self.resident.get(&number).copied() {
                self.update_line(index, |line| line.valid |= bits);
            } else if let Some(blocks) = self.late_blocks.get_mut(&number) {
                *blocks |= bits;
            }
        }
    }

    /// Lets the lines of the blocks `run` that are not resident wait for clean lines to evict; returns how many of them
    /// did not wait before. At most as many lines wait as the cache has: the first of them gives up.
    pub fn insert_late(&mut self, run: BlockRun) -> usize {
        let mut inserted = 0;
        for number in self.numbers(run) {
            if !self.resident.contains_key(&number) && !self.late_blocks.contains_key(&number) {
                self.late_numbers.push_back(number);
                self.late_blocks.insert(number, 0);
                inserted += 1;
            }
        }
        while self.late_numbers.len() > self.capacity {
            if let Some(number) = self.late_numbers.pop_front() {
                self.late_blocks.remove(&number);
            }
        }
        inserted
    }

    /// Inserts lines that wait for clean lines, with the blocks fetched for them, as far as there are clean lines.
    pub fn insert_waiting(&mut self) {
        while let Some(number) = self.late_numbers.front().copied() {
            // A line that a later request has inserted does not wait any more.
            if self.late_blocks.contains_key(&number) {
                let Some(index) = self.insert_line(number, Insertion::Use, &(0..0)) else { return };
                // A line without blocks is neither clean nor dirty in the lists, which now learn of those fetched.
                self.update_line(index, |_| {});
            }
            self.late_numbers.pop_front();
        }
    }

    /// Writes the blocks `run` into the cache; returns the first block without space, or the end of the run. Each line
    /// is used once. If there is no space for the entire run, nothing is written, so that its blocks are destaged
    /// together later; a run of more than half the cache's lines is written piece by piece.
    pub fn write(&mut self, run: BlockRun) -> u64 {
        let lines = self.numbers(run).count();
        let spared = self.spared_lines(run);
        if lines > 1 && lines <= self.capacity / 2 && spared.is_empty() {
            return run.first;
        }
        for number in self.numbers(run) {
            let Some(index) = self.use_line(number, &spared) else {
                return run.first.max(number * self.line_blocks);
            };
            let bits = self.bits(number, run);
            self.update_line(index, |line| {
                line.valid |= bits;
                line.dirty |= bits;
            });
        }
        run.end
    }

    /// Returns the lines that must not be evicted for other lines of `run`: its own lines, where these are several and
    /// the cache has room for all of them.
    fn spared_lines(&mut self, run: BlockRun) -> Range<u64> {
        let numbers = self.numbers(run);
        if numbers.end - numbers.start == 1 || !self.has_room(run) {
            return 0..0;
        }
        if let Order::LastUse { uses, .. } = &mut self.order {
            // Lines that were used last are evicted last.
            for number in numbers.clone() {
                if let Some(index) = self.resident.get(&number) {
                    *uses += 1;
                    self.entries[*index as usize].last_use = *uses;
                }
            }
        }
        numbers
    }

    /// Whether all lines of `run` are resident.
    pub fn has_lines(&self, run: BlockRun) -> bool {
        self.numbers(run).all(|number| self.resident.contains_key(&number))
    }

    /// Whether the cache can have all lines of `run` at once, once no line is dirty.
    pub fn can_hold(&self, run: BlockRun) -> bool {
        self.numbers(run).count() <= self.capacity
    }

    /// Whether the cache has room for all lines of `run` at once.
    pub fn has_room(&self, run: BlockRun) -> bool {
        let numbers = self.numbers(run);
        if numbers.end - numbers.start > self.capacity as u64 {
            return false;
        }
        let (mut new_lines, mut own_clean_lines) = (0, 0);
        for number in numbers {
            match self.line(number) {
                None => new_lines += 1,
                Some(line) => own_clean_lines += usize::from(line.is_clean()),
            }
        }
        new_lines <= self.capacity - self.resident.len() + self.clean - own_clean_lines
    }

    /// Uses line `number` and returns its index. A line that is not resident is inserted: a full cache evicts a clean
    /// line for it, but no line of `spared`. `None` if there is no clean line.
    fn use_line(&mut self, number: u64, spared: &Range<u64>) -> Option<u32> {
        let Some(index) = self.resident.get(&number).copied() else {
            return self.insert_line(number, Insertion::Use, spared);
        };
        match &mut self.order {
            Order::Policy(policy) => {
                policy.access(Use { key: number, next: Use::NO_NEXT });
            }
            Order::LastUse { uses, .. } => {
                *uses += 1;
                self.entries[index as usize].last_use = *uses;
            }
        }
        Some(index)
    }

    /// Inserts line `number`, which is not resident: see [`use_line`](Lines::use_line). [`Lines::update_line`] must
    /// follow.
    fn insert_line(&mut self, number: u64, insertion: Insertion, spared: &Range<u64>) -> Option<u32> {
        let is_full = self.resident.len() >= self.capacity;
        if is_full && self.clean == 0 {
            return None;
        }
        let Lines { resident, entries, order, .. } = self;
        let (victim, last_use) = match order {
            Order::LastUse { uses, clean, .. } => {
                let victim =
                    is_full.then(|| clean.first(|index| entries.get(index as usize)?.use_if(Line::is_clean)));
                *uses += 1;
                (victim.flatten().map(|index| entries[index as usize].number), *uses)
            }
            Order::Policy(policy) => {
                let mut may_evict = |key| {
                    let index = resident.get(&key).filter(|_| !spared.contains(&key));
                    index.is_some_and(|index| entries[*index as usize].is_clean())
                };
                let victim = match insertion {
                    Insertion::Prefetch => policy.prefetch_sparing(number, &mut may_evict),
                    Insertion::Use => {
                        let line = Use { key: number, next: Use::NO_NEXT };
                        match policy.access_sparing(line, &mut may_evict) {
                            AccessResult::Miss { victim } => victim,
                            AccessResult::Hit => None,
                        }
                    }
                };
                (victim, 0)
            }
        };
        if let Some(index) = victim.and_then(|victim| self.resident.remove(&victim)) {
            self.entries.remove(index as usize);
            self.clean -= 1;
        }
        let valid = self.late_blocks.remove(&number).unwrap_or(0);
        let index = self.entries.insert(Line { number, valid, last_use, ..Line::default() }) as u32;
        self.resident.insert(number, index);
        self.clean += 1;
        Some(index)
    }

    /// Changes a line, and updates the lists of clean and dirty lines; counts no use.
    fn update_line(&mut self, index: u32, change: impl FnOnce(&mut Line)) {
        let line = &mut self.entries[index as usize];
        let old_line = *line;
        change(line);
        let line = *line;
        self.clean = self.clean + usize::from(line.is_clean()) - usize::from(old_line.is_clean());
        if let Order::LastUse { clean, to_write, .. } = &mut self.order {
            if line.is_clean() {
                clean.insert(index, line.last_use);
            } else if line.is_to_write() {
                to_write.insert(index, line.last_use);
            }
        }
        match (old_line.dirty != 0, line.dirty != 0) {
            (false, true) => drop(self.dirty_numbers.insert(line.number)),
            (true, false) => drop(self.dirty_numbers.remove(&line.number)),
            _ => {}
        }
    }

    /// The dirty blocks to destage next so that their line becomes clean and can be evicted: those of the dirty line
    /// that the policy would evict first.
    pub fn first_dirty(&mut self) -> Option<BlockRun> {
        if !self.is_dirty() {
            return None;
        }
        let Lines { resident, entries, order, .. } = self;
        let number = match order {
            Order::LastUse { to_write, .. } => {
                entries
                    [to_write.first(|index| entries.get(index as usize)?.use_if(Line::is_to_write))? as usize]
                    .number
            }
            Order::Policy(policy) => {
                let mut is_to_write = |number| {
                    resident.get(&number).is_some_and(|index| entries[*index as usize].is_to_write())
                };
                policy.next_victim(&mut is_to_write)?
            }
        };
        self.dirty_run(number)
    }

    /// The dirty blocks to destage next in ascending order from `first_block`, and from the lowest block on when there
    /// are none above.
    pub fn next_dirty(&self, first_block: u64) -> Option<BlockRun> {
        let line_number = first_block / self.line_blocks;
        let run_above = self.dirty_numbers.range(line_number..).find_map(|number| self.dirty_run(*number));
        run_above
            .or_else(|| self.dirty_numbers.range(..line_number).find_map(|number| self.dirty_run(*number)))
    }

    /// The first dirty blocks of line `number` and the dirty blocks next to them, unless some blocks of the line are
    /// being destaged.
    fn dirty_run(&self, number: u64) -> Option<BlockRun> {
        let line = self.line(number).filter(|line| line.is_to_write())?;
        let clean_blocks = u64::from(line.dirty.trailing_zeros());
        let dirty_blocks = u64::from((line.dirty >> clean_blocks).trailing_ones());
        let (mut first, max_blocks) = (number * self.line_blocks + clean_blocks, self.destage_blocks);
        let mut end = first + dirty_blocks.min(max_blocks);
        // Other lines are searched only where the run reaches an end of its line.
        if clean_blocks + dirty_blocks == self.line_blocks {
            end = self.dirty_end(end, first + max_blocks);
        }
        if clean_blocks == 0 {
            first = self.dirty_begin(first, end.saturating_sub(max_blocks));
        }
        Some(BlockRun { first, end })
    }

    /// The end, at most `limit`, of the blocks to destage from `block` on.
    fn dirty_end(&self, mut block: u64, limit: u64) -> u64 {
        while block < limit {
            let (number, offset) = (block / self.line_blocks, block % self.line_blocks);
            let bits = self.line(number).map_or(0, Line::blocks_to_write) >> offset;
            let blocks_to_line_end = self.line_blocks - offset;
            let blocks = u64::from(bits.trailing_ones()).min(limit - block);
            block += blocks;
            if blocks < blocks_to_line_end {
                break;
            }
        }
        block
    }

    /// The first, at least `limit`, of the blocks to destage before `block`.
    fn dirty_begin(&self, mut block: u64, limit: u64) -> u64 {
        while block > limit {
            let (number, blocks_from_line_start) =
                ((block - 1) / self.line_blocks, (block - 1) % self.line_blocks + 1);
            let bits = self.line(number).map_or(0, Line::blocks_to_write)
                << (u64::from(Bits::BITS) - blocks_from_line_start);
            let blocks = u64::from(bits.leading_ones()).min(block - limit);
            block -= blocks;
            if blocks < blocks_from_line_start {
                break;
            }
        }
        block
    }

    fn is_to_write(&self, block: u64) -> bool {
        self.line_at(block).is_some_and(|line| line.blocks_to_write() & self.bit(block) != 0)
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
        let (mut dirty_blocks, mut in_flight) = (BTreeSet::new(), BTreeSet::new());
        for line in self.resident.values().map(|index| &self.entries[*index as usize]) {
            for bit in 0..self.line_blocks {
                let block = line.number * self.line_blocks + bit;
                if line.dirty >> bit & 1 == 1 {
                    dirty_blocks.insert(block);
                } else if line.destaging >> bit & 1 == 1 {
                    in_flight.insert(block);
                }
            }
        }
        (dirty_blocks, in_flight)
    }

    /// All blocks of which the devices do not have the newest version, dirty or being destaged, as runs of one block
    /// each.
    pub fn unwritten(&self) -> Vec<BlockRun> {
        let (dirty_blocks, in_flight) = self.undestaged_blocks();
        dirty_blocks
            .into_iter()
            .chain(in_flight)
            .map(|block| BlockRun { first: block, end: block + 1 })
            .collect()
    }

    /// The state of every line, in order of their blocks; lines without blocks come last.
    pub fn slots(&self) -> Vec<SlotState> {
        let entries = self.resident.values().map(|index| &self.entries[*index as usize]);
        let mut lines: Vec<&Line> = entries.filter(|line| line.valid != 0).collect();
        lines.sort_unstable_by_key(|line| line.number);
        let mut slots: Vec<SlotState> = lines
            .into_iter()
            .map(|line| SlotState::with_data(line.dirty != 0, line.destaging != 0))
            .collect();
        slots.resize(self.capacity, SlotState::Free);
        slots
    }

    /// The destage of the blocks `run` begins.
    pub fn begin_destage(&mut self, run: BlockRun) {
        for number in self.numbers(run) {
            let bits = self.bits(number, run);
            if let Some(index) = self.resident.get(&number).copied() {
                self.update_line(index, |line| {
                    line.dirty &= !bits;
                    line.destaging |= bits;
                });
            }
        }
    }

    /// The blocks `run` have been destaged.
    pub fn end_destage(&mut self, run: BlockRun) {
        for number in self.numbers(run) {
            let bits = self.bits(number, run);
            if let Some(index) = self.resident.get(&number).copied() {
                self.update_line(index, |line| line.destaging &= !bits);
            }
        }
    }
}

#[cfg(test)]
mod tests;
