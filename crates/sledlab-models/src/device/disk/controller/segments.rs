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
    last_use: u64,
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
    segments: Vec<Segment>,
    /// Outdated blocks that have current ones before and behind them; others are removed from their segment.
    outdated: Vec<OutdatedBlocks>,
    sectors: u64,
    /// Number of segments at the front that reads do not use: one if writes have a separate segment.
    write_segments: usize,
    reads_hit_writes: bool,
    writes_empty_segments: bool,
    uses: u64,
}

impl Segments {
    pub fn new(disk: &DiskNumbers) -> Self {
        let count = disk.cache_segments as usize;
        Segments {
            segments: vec![Segment::default(); count],
            outdated: Vec::new(),
            sectors: disk.segment_sectors,
            write_segments: usize::from(disk.dedicated_write_segment && count > 1),
            reads_hit_writes: disk.reads_hit_writes,
            writes_empty_segments: disk.writes_empty_segments,
            uses: 0,
        }
    }

    pub fn get(&self, segment: usize) -> Segment {
        self.segments[segment]
    }

    /// A segment that holds block `lbn`: preferably one that holds all blocks up to `end`, and of several such segments
    /// the one that read-ahead is filling (`streaming`).
    pub fn find(&self, lbn: u64, end: u64, streaming: Option<usize>) -> Option<usize> {
        let holds_block = |(place, segment): &(usize, &Segment)| {
            segment.contains(lbn)
                && (self.reads_hit_writes || !segment.filled_by_write)
                && self.stored_end(*place, lbn) > lbn
        };
        let holders = (self.write_segments..).zip(&self.segments[self.write_segments..]).filter(holds_block);
        // Most reads hit no segment.
        holders.clone().next()?;
        holders
            .map(|(place, _)| place)
            .min_by_key(|place| (self.stored_end(*place, lbn) < end, Some(*place) != streaming))
    }

    /// The block after the last of the consecutive current blocks that a segment holds from block `lbn` on.
    pub fn stored_end(&self, segment: usize, lbn: u64) -> u64 {
        let outdated =
            self.outdated.iter().filter(|outdated| outdated.segment == segment && lbn < outdated.end);
        outdated.map(|outdated| outdated.first.max(lbn)).min().unwrap_or(self.segments[segment].end)
    }

    /// Takes a segment for a read from `lbn` on: an empty one, else the least recently used, which is evicted.
    pub fn take_for_read(&mut self, lbn: u64) -> Option<usize> {
        let segment = self.pick()?;
        self.fill(segment, lbn, lbn, false);
        Some(segment)
    }

    fn pick(&self) -> Option<usize> {
        let rank = |segment: &Segment| {
            if segment.is_empty() { segment.last_use } else { segment.last_use | NOT_EMPTY }
        };
        (self.write_segments..self.segments.len()).min_by_key(|at| rank(&self.segments[*at]))
    }

    fn fill(&mut self, place: usize, first: u64, end: u64, is_write: bool) {
        self.uses += 1;
        self.segments[place] = Segment { first, end, filled_by_write: is_write, last_use: self.uses };
        if !self.outdated.is_empty() {
            self.outdated.retain(|outdated| outdated.segment != place);
        }
        self.trim(place);
    }

    /// Sets the first block of a segment that is being filled.
    pub fn set_first_block(&mut self, place: usize, first: u64) {
        self.segments[place].first = first;
        self.trim(place);
    }

    /// Makes a segment the most recently used.
    pub fn touch(&mut self, place: usize) {
        self.uses += 1;
        self.segments[place].last_use = self.uses;
    }

    /// Adds the blocks up to `end` to a segment; its oldest blocks are evicted where it is full.
    pub fn extend(&mut self, place: usize, end: u64) {
        let segment = &mut self.segments[place];
        segment.end = segment.end.max(end);
        self.trim(place);
    }

    /// Drops the blocks before `lbn` from a segment. All of them are in the buffer by then, although read-ahead may not
    /// have entered them yet.
    pub fn drop_before(&mut self, place: usize, lbn: u64) {
        let segment = &mut self.segments[place];
        segment.first = segment.first.max(lbn);
        segment.end = segment.end.max(lbn);
    }

    /// Drops the blocks from `end` on from a segment.
    pub fn truncate(&mut self, place: usize, end: u64) {
        self.segments[place].end = end;
        self.outdated.retain_mut(|outdated| {
            if outdated.segment == place {
                outdated.end = outdated.end.min(end);
            }
            outdated.first < outdated.end
        });
    }

    fn trim(&mut self, place: usize) {
        let segment = &mut self.segments[place];
        segment.first = segment.first.max(segment.end.saturating_sub(self.sectors));
    }

    /// Enters written blocks `lbn..end`: with `append` into a segment filled by writes that ends at `lbn`, if there is
    /// one, otherwise into a segment taken for them. In other segments these blocks are outdated.
    pub fn write(&mut self, lbn: u64, end: u64, append: bool) {
        let is_continued =
            |segment: &Segment| segment.filled_by_write && !segment.is_empty() && segment.end == lbn;
        let appended = append.then(|| self.segments.iter().position(is_continued)).flatten();
        if self.segments.iter().any(|segment| segment.overlaps(lbn, end)) {
            self.mark_outdated(lbn, end, appended);
        }
        if let Some(place) = appended {
            self.extend(place, end);
            self.touch(place);
        } else if let Some(segment) = if self.write_segments > 0 { Some(0) } else { self.pick() } {
            self.fill(segment, lbn, end, true);
        }
    }

    /// Removes blocks `lbn..end` from all segments but `appended`, or empties the segments that hold one of them.
    #[cold]
    fn mark_outdated(&mut self, lbn: u64, end: u64, appended: Option<usize>) {
        for place in 0..self.segments.len() {
            if self.segments[place].overlaps(lbn, end) && Some(place) != appended {
                self.mark_outdated_in(place, lbn, end);
            }
        }
    }

    /// Removes blocks `lbn..end`, some of which a segment holds, from the segment, or all its blocks.
    fn mark_outdated_in(&mut self, place: usize, lbn: u64, end: u64) {
        let Segment { first: stored_first, end: stored_end, .. } = self.segments[place];
        if self.writes_empty_segments || lbn <= stored_first && stored_end <= end {
            self.segments[place] = Segment::default();
        } else if lbn <= stored_first {
            self.segments[place].first = end;
        } else if stored_end <= end {
            self.truncate(place, lbn);
        } else {
            // Ranges that have left the segment, or lie within this one, are not needed any more.
            self.outdated.retain(|old| {
                old.segment != place || old.end > stored_first && (old.first < lbn || end < old.end)
            });
            self.outdated.push(OutdatedBlocks { segment: place, first: lbn, end });
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
            let (segment, mut end) = (segments.take_for_read(10).unwrap(), 30);
            segments.extend(segment, end);
            let mut current: BTreeSet<u64> = (10..end).collect();
            for (lbn, blocks, further_blocks) in writes {
                segments.write(lbn, lbn + blocks, false);
                current.retain(|block| !(lbn..lbn + blocks).contains(block));
                // Read-ahead continues behind the last block that is left.
                end = segments.get(segment).end;
                if segments.get(segment).is_empty() {
                    break;
                }
                segments.extend(segment, end + further_blocks);
                current.extend(end..end + further_blocks);
                current.retain(|block| *block + 40 >= end + further_blocks);
                let found_blocks: BTreeSet<u64> =
                    (0..200).filter(|block| segments.find(*block, block + 1, None) == Some(segment)).collect();
                prop_assert_eq!(&found_blocks, &current);
                for block in &found_blocks {
                    let current_end = (*block..=end + further_blocks).find(|next| !current.contains(next)).unwrap();
                    prop_assert_eq!(segments.stored_end(segment, *block), current_end);
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
