//! The footprint of a workload: the working set and the share of overwritten data.
//!
//! Pages that a short request touches have a bit for each block; pages that a long request covers completely are kept
//! as ranges. So memory grows with the number of requests, not with their lengths, and the counts are exact.

use std::collections::BTreeSet;
use std::ops::Range;

use rangemap::RangeSet;
use sledlab_core::hash::Map;
use sledlab_core::{BLOCK_BYTES, Op, Request};

use super::report::WorkingSet;
use super::reuse::{KnownPlaces, UNKNOWN_PLACES};
use super::{BLOCKS_PER_4K, key, ratio};

/// Units of 4 KiB in a page: one machine word for a bit each.
const PAGE_UNITS: u64 = 64;

/// Blocks of a page.
const PAGE_BLOCKS: u64 = PAGE_UNITS * BLOCKS_PER_4K;

/// Number of pages from which the complete pages of a request are kept as a range.
const MIN_RANGE_PAGES: u64 = 64;

/// The blocks that were read and written, and the pages with a bit set.
#[derive(Clone, Debug, Default)]
pub struct Footprint {
    index: Map<u64, u32>,
    pages: Vec<Page>,
    read: RangeSet<u64>,
    written: RangeSet<u64>,
    /// The keys of all pages outside `written`, in order; `None` until the first long request.
    ordered_keys: Option<BTreeSet<u64>>,
    /// 4 KiB units written, and (`units_overwritten`) how many of them had been written before.
    units_written: u64,
    units_overwritten: u64,
    /// 4 KiB units that reads touched first.
    units_first_read: u64,
}

#[derive(Clone, Debug)]
struct Page {
    key: u64,
    /// Where the units of the page are in [`super::reuse::Reuse`].
    places_in_reuse: KnownPlaces,
    read: Bits,
    written: Bits,
}

impl Page {
    fn new(key: u64) -> Self {
        Page { key, places_in_reuse: UNKNOWN_PLACES, read: Bits::default(), written: Bits::default() }
    }
}

/// The result of recording a request.
#[derive(Clone, Copy, Debug)]
pub struct Touched {
    /// Whether all blocks of the request were written before.
    pub is_written: bool,
    /// The page of a request that lies in one page.
    page: Option<u32>,
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
    /// Marks blocks `first..end` of the page, at least one.
    #[inline]
    fn mark(&mut self, first: u64, end: u64) {
        self.units |= units(first, end);
        for word in first / 64..=(end - 1) / 64 {
            let (from, to) = (first.max(word * 64), end.min(word * 64 + 64));
            self.blocks[word as usize] |= span(from - word * 64, to - word * 64);
        }
    }

    /// Whether blocks `first..end` of the page, at least one, are all marked.
    #[inline]
    fn covers(&self, first: u64, end: u64) -> bool {
        (first / 64..=(end - 1) / 64).all(|word| {
            let (from, to) = (first.max(word * 64), end.min(word * 64 + 64));
            let mask = span(from - word * 64, to - word * 64);
            self.blocks[word as usize] & mask == mask
        })
    }

    fn union(&self, other: &Bits) -> Bits {
        Bits {
            units: self.units | other.units,
            blocks: std::array::from_fn(|word| self.blocks[word] | other.blocks[word]),
        }
    }

    /// Bytes of the units and of the blocks.
    fn bytes(&self) -> TouchedBytes {
        let blocks: u64 = self.blocks.iter().map(|word| u64::from(word.count_ones())).sum();
        TouchedBytes { in_units: u64::from(self.units.count_ones()) * 4096, in_blocks: blocks * BLOCK_BYTES }
    }
}

/// Bytes touched, in units of 4 KiB and in blocks.
#[derive(Clone, Copy, Debug, Default)]
struct TouchedBytes {
    in_units: u64,
    in_blocks: u64,
}

impl TouchedBytes {
    fn from_pages(pages: &RangeSet<u64>) -> Self {
        let bytes = count_pages(pages) * PAGE_BLOCKS * BLOCK_BYTES;
        TouchedBytes { in_units: bytes, in_blocks: bytes }
    }

    fn add(&mut self, other: TouchedBytes) {
        self.in_units += other.in_units;
        self.in_blocks += other.in_blocks;
    }
}

fn count_pages(pages: &RangeSet<u64>) -> u64 {
    pages.iter().map(|range| range.end - range.start).sum()
}

/// Bits `first..end` of a word; `first < end <= 64`.
fn span(first: u64, end: u64) -> u64 {
    (u64::MAX >> (64 - (end - first))) << first
}

/// The keys of pages in order, which are collected where they are `None`.
fn ordered_keys<'a>(keys: &'a mut Option<BTreeSet<u64>>, pages: &[Page]) -> &'a mut BTreeSet<u64> {
    keys.get_or_insert_with(|| pages.iter().map(|page| page.key).collect())
}

/// The units in which blocks `first..end` of a page lie, as bits.
fn units(first: u64, end: u64) -> u64 {
    span(first / BLOCKS_PER_4K, (end - 1) / BLOCKS_PER_4K + 1)
}

impl Footprint {
    /// Records a request.
    #[inline]
    pub fn record(&mut self, request: &Request) -> Touched {
        let number = request.lbn / PAGE_BLOCKS;
        let start = number * PAGE_BLOCKS;
        if request.end() <= start + PAGE_BLOCKS && request.blocks > 0 {
            let (slot, is_written) = self.mark(
                key(request.device, number),
                request.op,
                request.lbn - start,
                request.end() - start,
            );
            return Touched { is_written, page: Some(slot) };
        }
        Touched { is_written: self.record_pages_of(request), page: None }
    }

    /// The places in [`super::reuse::Reuse`] of the page of a request that lies in one page.
    #[inline]
    pub fn places_in_reuse(&mut self, touched: Touched) -> Option<&mut KnownPlaces> {
        touched.page.map(|slot| &mut self.pages[slot as usize].places_in_reuse)
    }

    /// Records a request to several pages, and returns whether all its blocks were written before.
    fn record_pages_of(&mut self, request: &Request) -> bool {
        let (first, end) = (request.lbn.div_ceil(PAGE_BLOCKS), request.end() / PAGE_BLOCKS);
        if end < first + MIN_RANGE_PAGES {
            return self.record_short(request, request.lbn, request.end());
        }
        let pages = key(request.device, first)..key(request.device, first) + (end - first);
        let parts = [
            self.record_short(request, request.lbn, first * PAGE_BLOCKS),
            self.record_pages(request.op, pages),
            self.record_short(request, end * PAGE_BLOCKS, request.end()),
        ];
        parts == [true; 3]
    }

    /// Records blocks `lbn..end` of a request page by page, and returns whether all of them were written before.
    #[inline]
    fn record_short(&mut self, request: &Request, mut lbn: u64, end: u64) -> bool {
        let mut is_written = true;
        while lbn < end {
            let number = lbn / PAGE_BLOCKS;
            let page_start = number * PAGE_BLOCKS;
            let page_end = end.min(page_start + PAGE_BLOCKS);
            let (first, end) = (lbn - page_start, page_end - page_start);
            is_written &= self.mark(key(request.device, number), request.op, first, end).1;
            lbn = page_end;
        }
        is_written
    }

    /// Marks blocks of a page, and returns its slot and whether all of them were written before.
    #[inline]
    fn mark(&mut self, key: u64, op: Op, first: u64, end: u64) -> (u32, bool) {
        let slot = *self.index.entry(key).or_insert_with(|| {
            self.pages.push(Page::new(key));
            if let Some(ordered_keys) = &mut self.ordered_keys {
                ordered_keys.insert(key);
            }
            (self.pages.len() - 1) as u32
        });
        let page = &mut self.pages[slot as usize];
        let is_in_written_range = self.written.contains(&key);
        let is_written = is_in_written_range || page.written.covers(first, end);
        let units = units(first, end);
        if op == Op::Write {
            let units_before = if is_in_written_range { u64::MAX } else { page.written.units };
            page.written.mark(first, end);
            self.units_written += u64::from(units.count_ones());
            self.units_overwritten += u64::from((units & units_before).count_ones());
        } else {
            if !is_in_written_range && !self.read.contains(&key) {
                let units_before = page.read.units | page.written.units;
                self.units_first_read += u64::from((units & !units_before).count_ones());
            }
            page.read.mark(first, end);
        }
        (slot, is_written)
    }

    /// Records complete pages, and returns whether all their blocks were written before.
    #[cold]
    fn record_pages(&mut self, op: Op, pages: Range<u64>) -> bool {
        let is_written = self.are_written(&pages);
        if op == Op::Write {
            self.units_written += (pages.end - pages.start) * PAGE_UNITS;
            self.units_overwritten += self.count_written_units(&pages);
            self.written.insert(pages);
        } else {
            self.units_first_read += self.count_untouched_units(&pages);
            self.read.insert(pages);
        }
        is_written
    }

    /// Whether all blocks of complete pages were written before. The time is bounded by the pages with bits.
    fn are_written(&self, pages: &Range<u64>) -> bool {
        let has_all_bits = |key: &u64| {
            let page = self.index.get(key).map(|slot| &self.pages[*slot as usize]);
            page.is_some_and(|page| page.written.covers(0, PAGE_BLOCKS))
        };
        self.written.gaps(pages).flatten().all(|key| has_all_bits(&key))
    }

    /// Returns the number of units that were written before in complete pages that the caller turns into a range.
    fn count_written_units(&mut self, pages: &Range<u64>) -> u64 {
        let covered_pages = self.written.overlapping(pages);
        let covered_pages: u64 =
            covered_pages.map(|range| range.end.min(pages.end) - range.start.max(pages.start)).sum();
        let ordered_keys = ordered_keys(&mut self.ordered_keys, &self.pages);
        let pages_with_bits: Vec<u64> = ordered_keys.range(pages.clone()).copied().collect();
        let mut units = covered_pages * PAGE_UNITS;
        for key in pages_with_bits {
            ordered_keys.remove(&key);
            if let Some(slot) = self.index.get(&key)
                && !self.written.contains(&key)
            {
                units += u64::from(self.pages[*slot as usize].written.units.count_ones());
            }
        }
        units
    }

    /// Returns the number of units that were not touched before in complete pages.
    fn count_untouched_units(&mut self, pages: &Range<u64>) -> u64 {
        let ordered_keys = ordered_keys(&mut self.ordered_keys, &self.pages);
        let touched_units = |key: &u64| {
            let page = self.index.get(key).map(|slot| &self.pages[*slot as usize]);
            page.map_or(0, |page| u64::from((page.read.units | page.written.units).count_ones()))
        };
        let mut units = 0;
        for unread in self.read.gaps(pages) {
            for untouched in self.written.gaps(&unread) {
                units += (untouched.end - untouched.start) * PAGE_UNITS;
                units -= ordered_keys.range(untouched).map(touched_units).sum::<u64>();
            }
        }
        units
    }

    /// 4 KiB units that reads touched first, before any write.
    pub fn units_first_read(&self) -> u64 {
        self.units_first_read
    }

    pub fn working_set(&self) -> WorkingSet {
        let mut read_or_written = self.read.clone();
        read_or_written.extend(self.written.iter().cloned());
        let [mut read, mut written, mut all] =
            [&self.read, &self.written, &read_or_written].map(TouchedBytes::from_pages);
        for page in &self.pages {
            let bits = |ranges: &RangeSet<u64>, bits: &Bits| {
                // Of a page within a range, all bytes are counted already.
                if ranges.contains(&page.key) { TouchedBytes::default() } else { bits.bytes() }
            };
            read.add(bits(&self.read, &page.read));
            written.add(bits(&self.written, &page.written));
            all.add(bits(&read_or_written, &page.read.union(&page.written)));
        }
        WorkingSet {
            read_4k_bytes: read.in_units,
            written_4k_bytes: written.in_units,
            all_4k_bytes: all.in_units,
            read_512_bytes: read.in_blocks,
            written_512_bytes: written.in_blocks,
            all_512_bytes: all.in_blocks,
        }
    }

    /// Share of the 4 KiB units written that had been written before; `None` without writes. A unit that two
    /// requests write in part counts for both.
    pub fn overwrite_ratio(&self) -> Option<f64> {
        ratio(self.units_overwritten, self.units_written)
    }
}
