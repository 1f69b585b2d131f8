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

/// Blocks within a segment that a later write has made outdated.
#[derive(Clone, Copy, Debug)]
struct OutdatedBlocks {
    segment: usize,
    first: u64,
    end: u64,
}

/// All segments of a drive.
#[derive(Clone, Debug)]
pub(super) struct Segments {
    all: Vec<Segment>,
    /// Outdated blocks that have current ones before and behind them; others are removed from their segment.
    outdated: Vec<OutdatedBlocks>,
    sectors: u64,
    /// Number of segments at the front that reads do not use: one if writes have a separate segment.
    only_writes: usize,
    reads_hit_writes: bool,
    writes_empty_whole: bool,
    uses: u64,
}

impl Segments {
    pub fn new(disk: &DiskNumbers) -> Self {
        let count = disk.cache_segments as usize;
        Segments {
            all: vec![Segment::default(); count],
            outdated: Vec::new(),
            sectors: disk.segment_sectors,
            only_writes: usize::from(disk.dedicated_write_segment && count > 1),
            reads_hit_writes: disk.reads_hit_writes,
            writes_empty_whole: disk.writes_empty_segments,
            uses: 0,
        }
    }

    pub fn get(&self, segment: usize) -> Segment {
        self.all[segment]
    }

    /// A segment that holds block `lbn`: preferably one that holds all blocks up to `end`, and of several such segments
    /// the one that read-ahead is filling (`streaming`).
    pub fn find(&self, lbn: u64, end: u64, streaming: Option<usize>) -> Option<usize> {
        let holds = |(at, segment): &(usize, &Segment)| {
            segment.contains(lbn)
                && (self.reads_hit_writes || !segment.filled_by_write)
                && self.stored_end(*at, lbn) > lbn
        };
        let holding = (self.only_writes..).zip(&self.all[self.only_writes..]).filter(holds);
        // Most reads hit no segment.
        holding.clone().next()?;
        holding.map(|(at, _)| at).min_by_key(|at| (self.stored_end(*at, lbn) < end, Some(*at) != streaming))
    }

    /// The block after the last of the consecutive current blocks that a segment holds from block `lbn` on.
    pub fn stored_end(&self, at: usize, lbn: u64) -> u64 {
        let outdated = self.outdated.iter().filter(|outdated| outdated.segment == at && lbn < outdated.end);
        outdated.map(|outdated| outdated.first.max(lbn)).min().unwrap_or(self.all[at].end)
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
        if !self.outdated.is_empty() {
            self.outdated.retain(|outdated| outdated.segment != at);
        }
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

    /// Drops the blocks before `lbn` from a segment. All of them are in the buffer by then, although read-ahead may not
    /// have entered them yet.
    pub fn drop_before(&mut self, at: usize, lbn: u64) {
        let segment = &mut self.all[at];
        segment.first = segment.first.max(lbn);
        segment.end = segment.end.max(lbn);
    }

    /// Drops the blocks from `end` on from a segment.
    pub fn truncate(&mut self, at: usize, end: u64) {
        self.all[at].end = end;
        self.outdated.retain_mut(|outdated| {
            if outdated.segment == at {
                outdated.end = outdated.end.min(end);
            }
            outdated.first < outdated.end
        });
    }

    fn trim(&mut self, at: usize) {
        let segment = &mut self.all[at];
        segment.first = segment.first.max(segment.end.saturating_sub(self.sectors));
    }

    /// Enters written blocks `lbn..end`: with `append` into a segment filled by writes that ends at `lbn`, if there is
    /// one, otherwise into a segment taken for them. In other segments these blocks are outdated.
    pub fn write(&mut self, lbn: u64, end: u64, append: bool) {
        let is_continued =
            |segment: &Segment| segment.filled_by_write && !segment.is_empty() && segment.end == lbn;
        let appended = append.then(|| self.all.iter().position(is_continued)).flatten();
        if self.all.iter().any(|segment| segment.overlaps(lbn, end)) {
            self.mark_outdated(lbn, end, appended);
        }
        if let Some(at) = appended {
            self.extend(at, end);
            self.touch(at);
        } else if let Some(taken) = if self.only_writes > 0 { Some(0) } else { self.pick() } {
            self.fill(taken, lbn, end, true);
        }
    }

    /// Removes blocks `lbn..end` from all segments but `appended`, or empties the segments that hold one of them.
    #[cold]
    fn mark_outdated(&mut self, lbn: u64, end: u64, appended: Option<usize>) {
        for at in 0..self.all.len() {
            if self.all[at].overlaps(lbn, end) && Some(at) != appended {
                self.mark_outdated_in(at, lbn, end);
            }
        }
    }

    /// Removes blocks `lbn..end`, some of which a segment holds, from the segment, or all its blocks.
    fn mark_outdated_in(&mut self, at: usize, lbn: u64, end: u64) {
        let Segment { first: stored_first, end: stored_end, .. } = self.all[at];
        if self.writes_empty_whole || lbn <= stored_first && stored_end <= end {
            self.all[at] = Segment::default();
        } else if lbn <= stored_first {
            self.all[at].first = end;
        } else if stored_end <= end {
            self.truncate(at, lbn);
        } else {
            // Ranges that have left the segment, or lie within this one, are not needed any more.
            self.outdated.retain(|old| {
                old.segment != at || old.end > stored_first && (old.first < lbn || end < old.end)
            });
            self.outdated.push(OutdatedBlocks { segment: at, first: lbn, end });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// One segment, filled by reads, against a set of blocks.
        #[test]
        fn writes_outdate_only_their_blocks(
            writes in prop::collection::vec((0_u64..60, 1_u64..20, 0_u64..10), 1..12),
        ) {
            let mut segments = Segments::new(&DiskNumbers {
                cache_segments: 2,
                segment_sectors: 40,
                dedicated_write_segment: true,
                ..DiskNumbers::default()
            });
            let (read, mut end) = (segments.take_for_read(10).unwrap(), 30);
            segments.extend(read, end);
            let mut current: BTreeSet<u64> = (10..end).collect();
            for (lbn, blocks, more) in writes {
                segments.write(lbn, lbn + blocks, false);
                current.retain(|block| !(lbn..lbn + blocks).contains(block));
                // Read-ahead continues behind the last block that is left.
                end = segments.get(read).end;
                if segments.get(read).is_empty() {
                    break;
                }
                segments.extend(read, end + more);
                current.extend(end..end + more);
                current.retain(|block| *block + 40 >= end + more);
                let found: BTreeSet<u64> =
                    (0..200).filter(|block| segments.find(*block, block + 1, None) == Some(read)).collect();
                prop_assert_eq!(&found, &current);
                for block in &found {
                    let until = (*block..=end + more).find(|next| !current.contains(next)).unwrap();
                    prop_assert_eq!(segments.stored_end(read, *block), until);
                }
            }
        }

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
