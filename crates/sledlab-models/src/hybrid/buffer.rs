//! The speed-matching buffer between the devices (HY-09): memory that keeps its contents, in slots of a segment each.

use std::collections::VecDeque;

/// Slots, and who waits for one.
#[derive(Debug)]
pub(super) struct Buffer<W> {
    free: usize,
    /// Free slots that are kept for neighbours of what leaves, and how many of them there are in all.
    kept: usize,
    most_kept: usize,
    waiting: VecDeque<W>,
}

impl<W> Buffer<W> {
    /// So many free slots, `kept` of them for neighbours: who waits for a slot would never leave them one.
    pub fn new(slots: usize, kept: usize) -> Self {
        Buffer { free: slots - kept, kept, most_kept: kept, waiting: VecDeque::new() }
    }

    /// Takes a slot for `who`, or lets it wait in order of asking. Gives it back where it has its slot.
    pub fn take(&mut self, who: W) -> Option<W> {
        if self.free == 0 {
            self.waiting.push_back(who);
            return None;
        }
        self.free -= 1;
        Some(who)
    }

    /// Takes a slot if another stays free.
    pub fn take_spare(&mut self) -> bool {
        let has_spare = self.free > 1;
        self.free -= usize::from(has_spare);
        has_spare
    }

    /// Takes a slot for a neighbour, if there is one to spare.
    pub fn take_neighbour(&mut self) -> bool {
        let is_kept = self.kept > 0;
        self.kept -= usize::from(is_kept);
        is_kept || self.take_spare()
    }

    /// Gives a slot back; tells who has it now.
    pub fn release(&mut self) -> Option<W> {
        let next = self.waiting.pop_front();
        self.free += usize::from(next.is_none());
        next
    }

    /// Gives a slot of a neighbour back; tells who has it now.
    pub fn release_neighbour(&mut self) -> Option<W> {
        if self.kept < self.most_kept {
            self.kept += 1;
            return None;
        }
        self.release()
    }

    /// Who waits.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }
}
