//! The buffer of a drive: segments that hold consecutive blocks.

use crate::device::disk::params::DiskNumbers;

/// Added to the number of the last use of a segment that is not empty: empty segments are taken first.
const NOT_EMPTY: u64 = 1 << 63;

/// A segment and the blocks it holds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Segment {
    /// First block of the segment, and the block after the last; equal when the segment is empty.
    pub first: u64,
    pub end: u64,
    /// Whether the segment was filled by a write.
    pub filled_by_write: bool,
    used: u64,
}

impl Segment {
    fn is_empty(&self) -> bool {
        self.first == self.end
    }

    /// Whether the segment holds block `lbn`: one comparison, as processors cannot predict either of two.
    fn contains(&self, lbn: u64) -> bool {
        lbn.wrapping_sub(self.first) < self.end - self.first
    }

    /// Whether one of blocks `lbn..end` lies within the segment: one comparison, as in [`contains`](Self::contains).
    fn overlaps(&self, lbn: u64, end: u64) -> bool {
        (end - 1).wrapping_sub(self.first) < self.end - self.first + (end - 1 - lbn)
    }
}

/// All segments of a drive.
#[derive(Clone, Debug)]
pub(super) struct Segments {
    all: Vec<Segment>,
    sectors: u64,
    /// Number of segments at the front that reads do not use: one if writes have a separate segment.
    only_writes: usize,
    reads_hit_writes: bool,
    uses: u64,
}

impl Segments {
    pub fn new(disk: &DiskNumbers) -> Self {
        let count = disk.cache_segments as usize;
        Segments {
            all: vec![Segment::default(); count],
            sectors: disk.segment_sectors,
            only_writes: usize::from(disk.dedicated_write_segment && count > 1),
            reads_hit_writes: disk.reads_hit_writes,
            uses: 0,
        }
    }

    pub fn get(&self, segment: usize) -> Segment {
        self.all[segment]
    }

    /// A segment that holds block `lbn`, preferably one that holds all blocks up to `end`.
    pub fn find(&self, lbn: u64, end: u64) -> Option<usize> {
        let holds = |(_, segment): &(usize, &Segment)| {
            segment.contains(lbn) && (self.reads_hit_writes || !segment.filled_by_write)
        };
        let mut holding = self.all.iter().enumerate().skip(self.only_writes).filter(holds);
        let (first, _) = holding.clone().next()?;
        Some(holding.find(|(_, segment)| segment.end >= end).map_or(first, |(at, _)| at))
    }

    /// Takes a segment for a read from `lbn` on: an empty one, else the least recently used, which is evicted.
    pub fn take_for_read(&mut self, lbn: u64) -> Option<usize> {
        let taken = self.pick()?;
        self.fill(taken, lbn, lbn, false);
        Some(taken)
    }

    fn pick(&self) -> Option<usize> {
        let rank =
            |segment: &Segment| if segment.is_empty() { segment.used } else { segment.used | NOT_EMPTY };
        (self.only_writes..self.all.len()).min_by_key(|at| rank(&self.all[*at]))
    }

    fn fill(&mut self, at: usize, first: u64, end: u64, written: bool) {
        self.uses += 1;
        self.all[at] = Segment { first, end, filled_by_write: written, used: self.uses };
        self.trim(at);
    }

    /// Sets the first block of a segment that is being filled.
    pub fn set_first_block(&mut self, at: usize, first: u64) {
        self.all[at].first = first;
        self.trim(at);
    }

    /// Makes a segment the most recently used.
    pub fn touch(&mut self, at: usize) {
        self.uses += 1;
        self.all[at].used = self.uses;
    }

    /// Adds the blocks up to `end` to a segment; its oldest blocks are evicted where it is full.
    pub fn extend(&mut self, at: usize, end: u64) {
        let segment = &mut self.all[at];
        segment.end = segment.end.max(end);
        self.trim(at);
    }

    /// Drops the blocks before `lbn` from a segment.
    pub fn drop_before(&mut self, at: usize, lbn: u64) {
        let segment = &mut self.all[at];
        segment.first = segment.first.max(lbn).min(segment.end);
    }

    fn trim(&mut self, at: usize) {
        let segment = &mut self.all[at];
        segment.first = segment.first.max(segment.end.saturating_sub(self.sectors));
    }

    /// Enters written blocks `lbn..end`: with `append` into a segment filled by writes that ends at `lbn`, if there is
    /// one, otherwise into a segment taken for them. Other segments that overlap these blocks are emptied, as their
    /// data is outdated.
    pub fn write(&mut self, lbn: u64, end: u64, append: bool) {
        let is_continued =
            |segment: &Segment| segment.filled_by_write && !segment.is_empty() && segment.end == lbn;
        let appended = append.then(|| self.all.iter().position(is_continued)).flatten();
        for (at, segment) in self.all.iter_mut().enumerate() {
            if segment.overlaps(lbn, end) && Some(at) != appended {
                *segment = Segment::default();
            }
        }
        if let Some(at) = appended {
            self.extend(at, end);
            self.touch(at);
        } else if let Some(taken) = if self.only_writes > 0 { Some(0) } else { self.pick() } {
            self.fill(taken, lbn, end, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn contains_and_overlaps_agree_with_comparisons(
            first in 0_u64..20, stored in 0_u64..10, lbn in 0_u64..40, blocks in 1_u64..10,
        ) {
            let segment = Segment { first, end: first + stored, ..Segment::default() };
            prop_assert_eq!(segment.contains(lbn), first <= lbn && lbn < segment.end);
            let end = lbn + blocks;
            prop_assert_eq!(segment.overlaps(lbn, end), first < end && lbn < segment.end);
        }
    }
}
