//! The speed-matching buffer between the devices (HY-09): memory that keeps its contents, in slots of a segment each.

use std::collections::VecDeque;

/// Slots, and who waits for one.
#[derive(Debug)]
pub(super) struct Buffer<W> {
    free: usize,
    waiting: VecDeque<W>,
}

impl<W> Buffer<W> {
    /// So many free slots.
    pub fn new(slots: usize) -> Self {
        Buffer { free: slots, waiting: VecDeque::new() }
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

    /// Gives a slot back; tells who has it now.
    pub fn release(&mut self) -> Option<W> {
        let next = self.waiting.pop_front();
        self.free += usize::from(next.is_none());
        next
    }

    /// Who waits.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }
}
