//! Which blocks requests touch: the working set, and the share of overwritten data.

use sledlab_core::hash::Map;
use sledlab_core::{BLOCK_BYTES, Op, Request};

use super::report::WorkingSet;
use super::{BLOCKS_PER_4K, key, ratio};

/// Blocks of a page: 64 units of 4 KiB, one machine word for a bit each.
const PAGE_BLOCKS: u64 = 64 * BLOCKS_PER_4K;

/// A bit for every block read and every block written, kept only for pages with a block touched.
#[derive(Clone, Debug, Default)]
pub struct Footprint {
    index: Map<u64, u32>,
    pages: Vec<Page>,
    /// 4 KiB units written, and (`units_overwritten`) how many of them had been written before.
    units_written: u64,
    units_overwritten: u64,
}

#[derive(Clone, Debug, Default)]
struct Page {
    read: Bits,
    written: Bits,
}

/// The blocks of a page.
#[derive(Clone, Debug, Default)]
struct Bits {
    /// A bit for each 4 KiB unit in which a block is touched.
    units: u64,
    /// A bit for each block touched.
    blocks: [u64; 8],
}

impl Bits {
    /// Marks blocks `first..end` of the page, at least one; returns the units they lie in as bits.
    #[inline]
    fn mark(&mut self, first: u64, end: u64) -> u64 {
        let units = span(first / BLOCKS_PER_4K, (end - 1) / BLOCKS_PER_4K + 1);
        self.units |= units;
        for word in first / 64..=(end - 1) / 64 {
            let (from, to) = (first.max(word * 64), end.min(word * 64 + 64));
            self.blocks[word as usize] |= span(from - word * 64, to - word * 64);
        }
        units
    }

    fn count_blocks(&self) -> u64 {
        self.blocks.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

/// Bits `first..end` of a word; `first < end <= 64`.
fn span(first: u64, end: u64) -> u64 {
    (u64::MAX >> (64 - (end - first))) << first
}

impl Footprint {
    #[inline]
    pub fn record(&mut self, request: &Request) {
        let mut lbn = request.lbn;
        while lbn < request.end() {
            let number = lbn / PAGE_BLOCKS;
            let page_start = number * PAGE_BLOCKS;
            let end = request.end().min(page_start + PAGE_BLOCKS);
            self.mark(key(request.device, number), request.op, lbn - page_start, end - page_start);
            lbn = end;
        }
    }

    #[inline]
    fn mark(&mut self, page: u64, op: Op, first: u64, end: u64) {
        let slot = *self.index.entry(page).or_insert_with(|| {
            self.pages.push(Page::default());
            (self.pages.len() - 1) as u32
        });
        let page = &mut self.pages[slot as usize];
        if op == Op::Write {
            let before = page.written.units;
            let units = page.written.mark(first, end);
            self.units_written += u64::from(units.count_ones());
            self.units_overwritten += u64::from((units & before).count_ones());
        } else {
            page.read.mark(first, end);
        }
    }

    pub fn working_set(&self) -> WorkingSet {
        let mut set = WorkingSet::default();
        for Page { read, written } in &self.pages {
            let either = Bits {
                units: read.units | written.units,
                blocks: std::array::from_fn(|word| read.blocks[word] | written.blocks[word]),
            };
            set.read_4k_bytes += u64::from(read.units.count_ones()) * 4096;
            set.written_4k_bytes += u64::from(written.units.count_ones()) * 4096;
            set.all_4k_bytes += u64::from(either.units.count_ones()) * 4096;
            set.read_512_bytes += read.count_blocks() * BLOCK_BYTES;
            set.written_512_bytes += written.count_blocks() * BLOCK_BYTES;
            set.all_512_bytes += either.count_blocks() * BLOCK_BYTES;
        }
        set
    }

    /// Share of the 4 KiB units written that had been written before. A unit that two
    /// requests write in part counts for both.
    pub fn overwrite_ratio(&self) -> f64 {
        ratio(self.units_overwritten, self.units_written)
    }
}
