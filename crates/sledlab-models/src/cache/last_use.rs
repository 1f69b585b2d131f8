//! A queue of the lines in one state, ordered by their last use.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Indices of lines, ordered by their last use.
///
/// A use of a line, and a change of its state, leave the entry of the line as it is: an entry is at most as late as the
/// last use of its line, and [`first`](LastUseQueue::first) corrects it once it comes first. So a use takes constant
/// time.
#[derive(Debug, Default)]
pub(super) struct LastUseQueue {
    entries: BinaryHeap<Reverse<(u64, u32)>>,
    /// Whether a line has an entry, by index.
    has_entry: Vec<bool>,
}

impl LastUseQueue {
    /// Enters a line that has taken the state of the queue, if the line has no entry.
    #[inline]
    pub fn insert(&mut self, index: u32, last_use: u64) {
        let slot = index as usize;
        if slot >= self.has_entry.len() {
            self.has_entry.resize(slot + 1, false);
        }
        if !self.has_entry[slot] {
            self.has_entry[slot] = true;
            self.entries.push(Reverse((last_use, index)));
        }
    }

    /// Returns the line whose last use is longest ago; `last_use` returns the last use of a line in the state of the
    /// queue, and `None` for other lines.
    pub fn first(&mut self, last_use: impl Fn(u32) -> Option<u64>) -> Option<u32> {
        while let Some(Reverse((recorded_use, index))) = self.entries.peek().copied() {
            match last_use(index) {
                Some(current) if current == recorded_use => return Some(index),
                Some(current) => {
                    if let Some(mut first) = self.entries.peek_mut() {
                        *first = Reverse((current, index));
                    }
                }
                None => {
                    self.entries.pop();
                    self.has_entry[index as usize] = false;
                }
            }
        }
        None
    }
}
