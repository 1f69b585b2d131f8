//! The order in which an access touches the pages of a file.

use std::ops::Range;

use rand::seq::SliceRandom;
use sledlab_core::request::BLOCK_BYTES;
use sledlab_core::seed;

/// The order of an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccessOrder {
    /// From the first page on.
    #[default]
    Sequential,
    /// Pages drawn from the entire file, none twice.
    Random,
    /// This number of parts of the file in turn, one page of each: runs that are merged, or buckets that are filled.
    Interleaved(u64),
}

/// The pages that an access touches, in order.
#[derive(Clone, Debug)]
pub struct Pages {
    order: AccessOrder,
    /// Number of pages.
    count: u64,
    page_bytes: u64,
    /// Bytes of the last page in the file that the access touches.
    last_bytes: u64,
    drawn_pages: Vec<u32>,
}

impl Pages {
    /// Returns an access to `bytes` bytes of a file of `file_pages` pages, which has at least that many bytes. A random
    /// access draws its pages from the stream `name` of `seed`.
    pub fn new(
        order: AccessOrder,
        bytes: u64,
        page_bytes: u64,
        file_pages: u64,
        seed: u64,
        name: &str,
    ) -> Self {
        let count = bytes.div_ceil(page_bytes);
        let mut drawn_pages = Vec::new();
        if order == AccessOrder::Random {
            let mut pages: Vec<u32> = (0..file_pages.max(count) as u32).collect();
            let (chosen, _) = pages.partial_shuffle(&mut seed::stream(seed, name), count as usize);
            drawn_pages = chosen.to_vec();
        }
        let last_bytes = bytes - count.saturating_sub(1) * page_bytes;
        Pages { order, count, page_bytes, last_bytes, drawn_pages }
    }

    /// Number of pages touched.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Number of blocks touched.
    pub fn blocks(&self) -> u64 {
        self.blocks_of_turns(0..self.count)
    }

    /// Number of blocks touched in these turns.
    pub fn blocks_of_turns(&self, turns: Range<u64>) -> u64 {
        let last_turn = match self.order {
            AccessOrder::Sequential | AccessOrder::Random => self.count.saturating_sub(1),
            AccessOrder::Interleaved(parts) => {
                let parts = parts.clamp(1, self.count.max(1));
                (self.count / parts * parts).saturating_sub(1)
            }
        };
        let missing = self.page_blocks() - self.last_bytes.div_ceil(BLOCK_BYTES);
        let full_blocks = turns.end.saturating_sub(turns.start) * self.page_blocks();
        if turns.contains(&last_turn) { full_blocks - missing } else { full_blocks }
    }

    /// Returns the number of blocks of a page.
    pub fn page_blocks(&self) -> u64 {
        self.page_bytes / BLOCK_BYTES
    }

    /// Whether no page is touched.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The page of the file that is touched as number `turn`, and the number of its blocks that are touched.
    #[inline]
    pub fn page(&self, turn: u64) -> (u64, u32) {
        let page = match self.order {
            AccessOrder::Sequential => turn,
            AccessOrder::Random => u64::from(self.drawn_pages[turn as usize]),
            AccessOrder::Interleaved(parts) => self.interleaved_page(turn, parts.clamp(1, self.count)),
        };
        // The access may end inside a page: the last one in order of the file, or the last one touched of a random
        // access.
        let is_last = if self.order == AccessOrder::Random { turn } else { page } + 1 == self.count;
        let bytes = if is_last { self.last_bytes } else { self.page_bytes };
        (page, bytes.div_ceil(BLOCK_BYTES) as u32)
    }

    /// The lengths of the parts differ by one page at most, and the longer parts come first.
    fn interleaved_page(&self, turn: u64, parts: u64) -> u64 {
        let (part, in_part) = (turn % parts, turn / parts);
        part * (self.count / parts) + part.min(self.count % parts) + in_part
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parts_are_interleaved() {
        let pages = Pages::new(AccessOrder::Interleaved(3), 8 * 8192, 8192, 8, 1, "");
        let order: Vec<u64> = (0..8).map(|turn| pages.page(turn).0).collect();
        assert_eq!(order, [0, 3, 6, 1, 4, 7, 2, 5]);
    }

    proptest! {
        #[test]
        fn every_page_is_touched_once_and_every_byte(
            bytes in 1_u64..2_000_000,
            parts in 1_u64..50,
            more in 0_u64..100,
            kind in 0..3,
        ) {
            let order = [AccessOrder::Sequential, AccessOrder::Random, AccessOrder::Interleaved(parts)][kind as usize];
            let file_pages = bytes.div_ceil(8192) + more;
            let pages = Pages::new(order, bytes, 8192, file_pages, 3, "a");
            let mut touched: Vec<(u64, u32)> = (0..pages.len()).map(|turn| pages.page(turn)).collect();
            let blocks: u64 = touched.iter().map(|(_, blocks)| u64::from(*blocks)).sum();
            prop_assert_eq!(blocks, (bytes / 8192) * 16 + (bytes % 8192).div_ceil(512));
            for (turn, (_, blocks)) in (0..).zip(&touched) {
                prop_assert_eq!(pages.blocks_of_turns(turn..turn + 1), u64::from(*blocks));
            }
            touched.sort_unstable();
            touched.dedup_by_key(|(page, _)| *page);
            prop_assert_eq!(touched.len() as u64, bytes.div_ceil(8192));
            prop_assert!(touched.iter().all(|(page, _)| *page < file_pages));
        }
    }
}
