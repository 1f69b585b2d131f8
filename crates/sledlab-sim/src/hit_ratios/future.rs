//! The next use of every segment, for policies that know the future.

use rangemap::RangeMap;
use sledlab_core::Result;
use sledlab_models::replacement::Use;

use super::Uses;

/// For every use, the number of the next use of the same segment.
#[derive(Debug, Default)]
pub(super) struct Future {
    /// Parts of the runs, the last run first.
    parts: Vec<Part>,
    /// For each run, the first of its parts.
    part_offsets: Vec<usize>,
}

/// Segments of a run whose next uses follow each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) end: u64,
    /// Number of the next use of the first segment; [`Use::NO_NEXT`] for parts whose segments are not used again.
    pub(super) next: u64,
}

impl Future {
    /// The parts of a run.
    pub(super) fn parts(&self, run: usize) -> &[Part] {
        let end = run.checked_sub(1).map_or(self.parts.len(), |previous| self.part_offsets[previous]);
        &self.parts[self.part_offsets[run]..end]
    }

    #[cfg(test)]
    pub(super) fn part_count(&self) -> usize {
        self.parts.len()
    }
}

impl Uses {
    /// Returns the next uses of all uses, computed from the last run to the first.
    pub(super) fn future(&self, watch: &mut dyn FnMut() -> Result<()>) -> Result<Future> {
        let mut future = Future { parts: Vec::new(), part_offsets: Vec::with_capacity(self.runs.len()) };
        // By segment: the number of its next use minus the number of the segment, which is the same for all segments of
        // a run.
        let mut next: RangeMap<u64, u64> = RangeMap::new();
        let mut number = self.count();
        for run in self.runs.iter().rev() {
            watch()?;
            let keys = run.keys(self.segment_blocks);
            number -= keys.end - keys.start;
            future.part_offsets.push(future.parts.len());
            let mut at = keys.start;
            for (range, offset) in next.overlapping(&keys) {
                if range.start > at {
                    future.parts.push(Part { end: range.start, next: Use::NO_NEXT });
                }
                at = at.max(range.start);
                let end = range.end.min(keys.end);
                future.parts.push(Part { end, next: at.wrapping_add(*offset) });
                at = end;
            }
            if at < keys.end {
                future.parts.push(Part { end: keys.end, next: Use::NO_NEXT });
            }
            let offset = number.wrapping_sub(keys.start);
            next.insert(keys, offset);
        }
        future.part_offsets.reverse();
        Ok(future)
    }
}
