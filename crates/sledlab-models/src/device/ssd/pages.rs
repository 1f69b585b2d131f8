//! The map of pages, and greedy garbage collection (Van Houdt, "A mean field model for a class of garbage collection
//! algorithms in flash-based solid state drives", SIGMETRICS 2013).
//!
//! A page that is written goes to the next die in turn or stays on its die, into the die's open block. When a die is
//! down to its last erased blocks, the block with the fewest pages that hold data becomes the victim: its valid pages
//! are moved to the open block, a few with every page that the host writes, so that it is erased by the time the host
//! has written as many pages as the erasure frees. Or all its pages are moved at once, to another open block, and the
//! next victim follows until enough blocks are erased; the die serves nothing else meanwhile.

use std::collections::VecDeque;

use sledlab_core::Span;

use super::allocation::Allocation;
use super::params::{Costs, Shape};
use super::ranks::Ranks;
use super::steady::SteadyState;

/// Pages and blocks of a device, and the physical page that holds each page of the host.
///
/// Tables begin as zeros, which cost neither time nor memory until they are written: a device takes memory only for
/// pages that were written.
#[derive(Clone, Debug)]
pub(super) struct Pages {
    pub shape: Shape,
    allocation: Allocation,
    layout: Layout,
    /// For each page of the host: one more than the physical page it lies on; 0 if it has not moved since the start;
    /// or [`NO_PAGE`].
    places: Vec<u32>,
    /// For each physical page: one more than the page of the host that was last programmed into it; 0 if none was
    /// since the start.
    owners: Vec<u32>,
    dies: Vec<Die>,
    /// The die for the next page that is written, if pages go to dies in turn.
    turn: u32,
    /// Pages and blocks programmed, moved and erased since the start.
    pub counts: PageCounts,
}

/// Where the pages of the host lie at the start.
#[derive(Clone, Debug)]
enum Layout {
    /// In order, as after one write of each.
    Packed,
    /// Over all blocks of a die, in the steady state: the blocks with the most valid pages come first, and the pages of
    /// the host fill the first page of each block, then the second ones, up to the valid pages of each. For each die:
    /// the number of valid pages before the first pages, the second ones ... and after the last ones.
    Spread(Vec<Vec<u32>>),
}

/// Marks a page of the host whose old physical page is invalid and whose new one is not programmed yet.
const NO_PAGE: u32 = u32::MAX;

/// Counts of pages programmed and blocks erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PageCounts {
    /// Pages that the host has written.
    pub host_pages: u64,
    /// Pages moved by garbage collection.
    pub moved_pages: u64,
    /// Blocks erased.
    pub erased_blocks: u64,
}

/// Result of writing a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageWrite {
    /// The die of the previous version of the page; `None` if the page had no data.
    pub old_die: Option<u32>,
    /// The die of the page now.
    pub new_die: u32,
    /// The block of the page now, among those of the die.
    pub new_block: u32,
    /// Pages moved on that die to make room.
    pub moves: u32,
    /// Blocks erased on that die to make room.
    pub erases: u32,
}

impl PageWrite {
    /// Blocks that cross a channel from the old page, and to the new one, when `blocks` of the page are written: the
    /// other blocks of a page with data are read and written again with the new ones.
    pub fn channel_blocks(&self, shape: &Shape, blocks: u32) -> (u32, u32) {
        if self.old_die.is_some() { (shape.page_blocks - blocks, shape.page_blocks) } else { (0, blocks) }
    }

    /// Time for which a die is busy with programming the page, including the moves and erases before it that make room.
    pub fn program_time(&self, costs: &Costs) -> Span {
        costs.collection_time(u64::from(self.moves), u64::from(self.erases)) + costs.program
    }

    /// Energy of dies and channels for the page, including the moves and erases before it: the old page is read if it
    /// is rewritten in part, and `channel_blocks` cross a channel.
    pub fn energy(&self, costs: &Costs, is_rewritten: bool, channel_blocks: u32) -> u64 {
        (costs.read_energy + costs.program_energy) * u64::from(self.moves)
            + costs.erase_energy * u64::from(self.erases)
            + costs.program_energy
            + costs.read_energy * u64::from(is_rewritten)
            + costs.channel_energy(channel_blocks)
    }
}

#[derive(Clone, Debug)]
struct Die {
    /// Number of pages with data of each block.
    valid: Vec<u32>,
    /// Number of pages with data of all blocks.
    valid_pages: u32,
    /// Erased blocks, in the order in which they will be used.
    free: VecDeque<u32>,
    /// The open block, into which pages are programmed.
    open: OpenBlock,
    /// The open block for pages that are moved, if blocks are collected as a whole.
    collector: Option<OpenBlock>,
    /// Full blocks whose pages are all programmed, except the victim.
    full: Ranks,
    victim: Option<Victim>,
    /// For each block: pages of the host that have a place there and are not programmed yet; empty if blocks are not
    /// collected as a whole.
    unprogrammed: Vec<u32>,
}

/// A block into which pages are programmed.
#[derive(Clone, Copy, Debug)]
struct OpenBlock {
    block: u32,
    /// The next page to be programmed.
    next: u32,
}

/// The block that garbage collection is emptying.
#[derive(Clone, Copy, Debug)]
struct Victim {
    block: u32,
    /// The first page that has not been examined yet.
    next: u32,
    /// Number of pages that the host may still write before the victim must be empty.
    writes_left: u32,
}

impl Pages {
    pub fn new(shape: Shape, allocation: Allocation) -> Self {
        let physical = shape.dies as usize * shape.blocks as usize * shape.pages as usize;
        let (layout, dies) = Layout::new(&shape, &allocation);
        Pages {
            shape,
            layout,
            dies,
            places: vec![0; shape.logical as usize],
            owners: vec![0; physical],
            allocation,
            turn: 0,
            counts: PageCounts::default(),
        }
    }

    /// The physical page that holds page `logical` of the host; `None` if that page holds no data.
    fn place(&self, logical: u32) -> Option<u32> {
        match self.places[logical as usize] {
            0 => (logical < self.shape.filled_pages).then(|| self.initial_page(logical)),
            NO_PAGE => None,
            place => Some(place - 1),
        }
    }

    fn initial_page(&self, logical: u32) -> u32 {
        let Shape { blocks, pages, .. } = self.shape;
        let (die, number) = (self.allocation.die(logical), self.allocation.number_on_die(logical));
        let page = match &self.layout {
            Layout::Packed => number,
            Layout::Spread(starts) => {
                let starts = &starts[die as usize];
                let row = starts.partition_point(|start| *start <= number) - 1;
                (number - starts[row]) * pages + row as u32
            }
        };
        die * (blocks * pages) + page
    }

    /// The page of the host that was last programmed into a physical page; of an invalid page any.
    fn owner(&self, page: u32) -> u32 {
        let Shape { blocks, pages, .. } = self.shape;
        match self.owners[page as usize] {
            0 => {
                let (die, page) = (page / (blocks * pages), page % (blocks * pages));
                let number = match &self.layout {
                    Layout::Packed => page,
                    // Of an invalid page another one, which lies elsewhere.
                    Layout::Spread(starts) => starts[die as usize][(page % pages) as usize] + page / pages,
                };
                self.allocation.page(die, number)
            }
            owner => owner - 1,
        }
    }

    /// Returns the die of page `logical`; for a page that was never written, its die in the initial layout.
    pub fn die(&self, logical: u32) -> u32 {
        match self.places[logical as usize] {
            0 | NO_PAGE => self.allocation.die(logical),
            place => (place - 1) / (self.shape.blocks * self.shape.pages),
        }
    }

    /// Pages programmed for each page that the host writes, in the steady state of uniform random writes to the pages
    /// that hold data now.
    pub fn steady_write_amplification(&self) -> f64 {
        let Shape { dies, pages, .. } = self.shape;
        let valid_pages: f64 = self.dies.iter().map(|die| f64::from(die.valid_pages)).sum();
        // Half of the open block is written.
        let in_full_blocks = valid_pages / f64::from(dies) - f64::from(pages) / 2.0;
        SteadyState::new(pages, in_full_blocks / f64::from(self.shape.full_blocks())).write_amplification()
    }

    /// Writes page `logical` of the host, and does the part of garbage collection that is due with it.
    pub fn write(&mut self, logical: u32) -> PageWrite {
        let old_die = self.invalidate_old(logical);
        let new_die = self.choose_die(logical);
        let (moves, erases) = self.make_room(new_die);
        let new_block = self.program(new_die, logical, false);
        self.counts.host_pages += 1;
        PageWrite { old_die, new_die, new_block, moves, erases }
    }

    /// Writes page `logical` of the host to a die that has room, where blocks are collected as a whole. The block
    /// cannot be collected until [`programmed`](Pages::programmed) is called.
    pub fn write_to(&mut self, new_die: u32, logical: u32) -> PageWrite {
        let old_die = self.invalidate_old(logical);
        let new_block = self.program(new_die, logical, false);
        self.dies[new_die as usize].unprogrammed[new_block as usize] += 1;
        self.counts.host_pages += 1;
        PageWrite { old_die, new_die, new_block, moves: 0, erases: 0 }
    }

    /// The die for page `logical` when it is written.
    pub fn choose_die(&mut self, logical: u32) -> u32 {
        if self.allocation.is_static { self.allocation.die(logical) } else { self.next_die() }
    }

    /// Makes the old version of page `logical` invalid, and returns its die.
    fn invalidate_old(&mut self, logical: u32) -> Option<u32> {
        let page = self.place(logical)?;
        self.invalidate(page);
        // Garbage collection that makes room for the new page must not move the old one.
        self.places[logical as usize] = NO_PAGE;
        Some(page / (self.shape.blocks * self.shape.pages))
    }

    /// Whether a page of the host can be written to a die: the last erased block is for pages that are moved.
    pub fn has_room(&self, die: u32) -> bool {
        let die = &self.dies[die as usize];
        die.open.next < self.shape.pages || die.free.len() > 1
    }

    /// Notes that a page that the host wrote to a block is programmed.
    pub fn programmed(&mut self, die: u32, block: u32) {
        let die = &mut self.dies[die as usize];
        die.unprogrammed[block as usize] -= 1;
        if die.is_listed(block) {
            die.full.insert(block, die.valid[block as usize]);
        }
    }

    /// If a die is down to its last erased blocks and no block is being collected, chooses a victim and gives its valid
    /// pages new places; returns their number.
    pub fn begin_collection(&mut self, die_number: u32) -> Option<u32> {
        let Shape { blocks, pages, threshold, .. } = self.shape;
        let die = &mut self.dies[die_number as usize];
        if die.victim.is_some() || die.free.len() > threshold as usize {
            return None;
        }
        let block = die.full.pop_lowest()?;
        let moves = die.valid[block as usize];
        if moves == pages {
            die.full.insert(block, moves);
            return None;
        }
        die.victim = Some(Victim { block, next: 0, writes_left: 0 });
        let first = (die_number * blocks + block) * pages;
        for page in first..first + pages {
            let owner = self.owner(page);
            if owner < self.shape.logical && self.place(owner) == Some(page) {
                self.dies[die_number as usize].lose(block);
                self.program(die_number, owner, true);
            }
        }
        self.counts.moved_pages += u64::from(moves);
        Some(moves)
    }

    /// Notes that the victim of a die is erased.
    pub fn end_collection(&mut self, die: u32) {
        let die = &mut self.dies[die as usize];
        if let Some(victim) = die.victim.take() {
            die.free.push_back(victim.block);
            self.counts.erased_blocks += 1;
        }
    }

    /// The next die in turn that has room for more data: where the host rewrites pages of some dies more often, other
    /// dies fill up.
    fn next_die(&mut self) -> u32 {
        loop {
            let die = self.turn;
            self.turn = if die + 1 == self.shape.dies { 0 } else { die + 1 };
            if self.dies[die as usize].valid_pages < self.shape.max_valid {
                return die;
            }
        }
    }

    fn invalidate(&mut self, page: u32) {
        let Shape { blocks, pages, .. } = self.shape;
        let (die, block) = (page / (blocks * pages), page / pages % blocks);
        self.dies[die as usize].lose(block);
    }

    /// Does the part of garbage collection on die `die_number` that is due with one page of the host; returns pages
    /// moved and blocks erased.
    fn make_room(&mut self, die_number: u32) -> (u32, u32) {
        let Shape { blocks, pages, threshold, .. } = self.shape;
        let die = &mut self.dies[die_number as usize];
        if die.victim.is_none() && die.free.len() <= threshold as usize {
            die.victim = die.full.pop_lowest().map(|block| {
                let writes_left = pages - die.valid[block as usize];
                Victim { block, next: 0, writes_left }
            });
        }
        let Some(mut victim) = die.victim else { return (0, 0) };
        let moves = die.valid[victim.block as usize].div_ceil(victim.writes_left.max(1));
        victim.writes_left = victim.writes_left.saturating_sub(1);
        let first = (die_number * blocks + victim.block) * pages;
        for _ in 0..moves {
            let logical = loop {
                let page = first + victim.next;
                victim.next += 1;
                let owner = self.owner(page);
                if owner < self.shape.logical && self.place(owner) == Some(page) {
                    break owner;
                }
            };
            self.dies[die_number as usize].lose(victim.block);
            self.program(die_number, logical, true);
        }
        self.counts.moved_pages += u64::from(moves);
        let die = &mut self.dies[die_number as usize];
        let is_empty = die.valid[victim.block as usize] == 0;
        die.victim = if is_empty { None } else { Some(victim) };
        if is_empty {
            die.free.push_back(victim.block);
            self.counts.erased_blocks += 1;
        }
        (moves, u32::from(is_empty))
    }

    /// Programs page `logical` of the host into an open block of a die, and returns the block.
    fn program(&mut self, die_number: u32, logical: u32, is_move: bool) -> u32 {
        let Shape { blocks, pages, .. } = self.shape;
        let die = &mut self.dies[die_number as usize];
        let (block, next) = die.allocate(pages, is_move);
        let page = (die_number * blocks + block) * pages + next;
        self.owners[page as usize] = logical + 1;
        self.places[logical as usize] = page + 1;
        block
    }
}

impl Layout {
    /// The layout at the start, and the dies.
    fn new(shape: &Shape, allocation: &Allocation) -> (Self, Vec<Die>) {
        let valid_pages = |die| allocation.count_on_die(die, shape.filled_pages);
        if !shape.is_steady {
            return (
                Layout::Packed,
                (0..shape.dies).map(|die| Die::packed(shape, valid_pages(die))).collect(),
            );
        }
        let dies: Vec<Die> =
            (0..shape.dies).map(|die| Die::steady(shape, valid_pages(die), f64::from(die))).collect();
        let starts = dies.iter().map(|die| {
            let mut start = 0;
            let blocks_above =
                (0..=shape.pages).map(|row| die.valid.partition_point(|valid| *valid > row) as u32);
            blocks_above
                .map(|blocks| {
                    start += blocks;
                    start - blocks
                })
                .collect()
        });
        (Layout::Spread(starts.collect()), dies)
    }
}

impl Die {
    /// A die in the steady state, which the dies reached at different times.
    fn steady(shape: &Shape, valid_pages: u32, number: f64) -> Self {
        let Shape { blocks, pages, collects_blocks, .. } = *shape;
        let phase = (number + 0.5) / f64::from(shape.dies);
        let erased = shape.threshold + u32::from(collects_blocks);
        let full_blocks = shape.full_blocks();
        let steady = |left: u32| SteadyState::new(pages, f64::from(left) / f64::from(full_blocks));
        let mut open_pages = vec![((phase * f64::from(pages)) as u32).min(valid_pages)];
        let mut left = valid_pages - open_pages[0];
        if collects_blocks {
            // Collection ends when the pages of the last victim fit into the block for pages that are moved.
            let victim_pages = steady(left.saturating_sub(pages)).victim_pages();
            let phase = (phase + number * 0.618).fract();
            let next = (victim_pages + phase * (f64::from(pages) - victim_pages)) as u32;
            open_pages.push(next.min(left));
            left -= next.min(left);
        }
        let steady = steady(left);
        let mut blocks_by_valid: Vec<(u32, Option<usize>)> =
            steady.valid_pages(full_blocks, left).into_iter().map(|valid| (valid, None)).collect();
        blocks_by_valid.extend(open_pages.iter().enumerate().map(|(number, valid)| (*valid, Some(number))));
        blocks_by_valid.sort_by_key(|(valid, _)| std::cmp::Reverse(*valid));
        let mut full = Ranks::new(blocks, pages);
        let mut open = vec![OpenBlock { block: 0, next: 0 }; open_pages.len()];
        for (block, (valid, open_number)) in (0..).zip(&blocks_by_valid) {
            match open_number {
                Some(number) => open[*number] = OpenBlock { block, next: *valid },
                None => full.insert(block, *valid),
            }
        }
        let mut valid: Vec<u32> = blocks_by_valid.into_iter().map(|(valid, _)| valid).collect();
        valid.resize(blocks as usize, 0);
        Die {
            valid,
            valid_pages,
            free: (blocks - erased..blocks).collect(),
            open: open[0],
            collector: open.get(1).copied(),
            full,
            victim: None,
            unprogrammed: shape.no_pages_by_block(),
        }
    }

    /// A die whose pages were written once, in order.
    fn packed(shape: &Shape, valid_pages: u32) -> Self {
        let Shape { blocks, pages, .. } = *shape;
        let open = valid_pages / pages;
        let valid: Vec<u32> =
            (0..blocks).map(|block| valid_pages.saturating_sub(block * pages).min(pages)).collect();
        let mut full = Ranks::new(blocks, pages);
        for block in 0..open {
            full.insert(block, pages);
        }
        let mut free: VecDeque<u32> = (open + 1..blocks).collect();
        let collector = if shape.collects_blocks { free.pop_front() } else { None };
        Die {
            valid,
            valid_pages,
            free,
            open: OpenBlock { block: open, next: valid_pages % pages },
            collector: collector.map(|block| OpenBlock { block, next: 0 }),
            full,
            victim: None,
            unprogrammed: shape.no_pages_by_block(),
        }
    }

    /// Whether a block is in the list of full blocks.
    fn is_listed(&self, block: u32) -> bool {
        block != self.open.block
            && self.victim.is_none_or(|victim| victim.block != block)
            && self.collector.is_none_or(|collector| collector.block != block)
            && self.unprogrammed.get(block as usize).is_none_or(|pages| *pages == 0)
    }

    /// Records that a page of `block` no longer holds data.
    fn lose(&mut self, block: u32) {
        self.valid[block as usize] -= 1;
        self.valid_pages -= 1;
        if self.is_listed(block) {
            self.full.lower(block, self.valid[block as usize]);
        }
    }

    /// Takes the next page of an open block for data: its block and its number there.
    fn allocate(&mut self, pages: u32, is_move: bool) -> (u32, u32) {
        let open = match &mut self.collector {
            Some(collector) if is_move => collector,
            _ => &mut self.open,
        };
        if open.next == pages
            && let Some(erased) = self.free.pop_front()
        {
            let filled = open.block;
            *open = OpenBlock { block: erased, next: 0 };
            if self.unprogrammed.get(filled as usize).is_none_or(|pages| *pages == 0) {
                self.full.insert(filled, self.valid[filled as usize]);
            }
        }
        let place = (open.block, open.next);
        open.next += 1;
        self.valid[place.0 as usize] += 1;
        self.valid_pages += 1;
        place
    }
}

#[cfg(test)]
#[path = "pages_tests.rs"]
mod tests;
