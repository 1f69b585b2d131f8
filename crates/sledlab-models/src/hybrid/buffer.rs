//! The speed-matching buffer between the devices (Wang 2005): non-volatile memory in slots of one segment each.

use std::collections::VecDeque;

/// The slots of the buffer, and the users `W` that wait for one.
#[derive(Debug)]
pub(super) struct Buffer<W> {
    free: usize,
    /// Free slots that are reserved for neighbors of victims, and how many slots are reserved in all.
    reserved: usize,
    max_reserved: usize,
    waiting_users: VecDeque<W>,
}

impl<W> Buffer<W> {
    /// `slots` free slots, `reserved` of them for neighbors: other users would never leave a free one for them.
    pub fn new(slots: usize, reserved: usize) -> Self {
        Buffer { free: slots - reserved, reserved, max_reserved: reserved, waiting_users: VecDeque::new() }
    }

    /// Takes a slot for `user`; without a free slot, `user` waits in order of arrival. Returns `user` where it has a
    /// slot.
    pub fn take(&mut self, user: W) -> Option<W> {
        if self.free == 0 {
            self.waiting_users.push_back(user);
            return None;
        }
        self.free -= 1;
        Some(user)
    }

    /// Takes a slot if another one stays free; false where not.
    pub fn take_spare(&mut self) -> bool {
        let has_spare = self.free > 1;
        self.free -= usize::from(has_spare);
        has_spare
    }

    /// Takes a slot for a neighbor, a reserved one or one that [`take_spare`](Buffer::take_spare) yields.
    pub fn take_neighbor(&mut self) -> bool {
        let has_reserved = self.reserved > 0;
        self.reserved -= usize::from(has_reserved);
        has_reserved || self.take_spare()
    }

    /// Releases a slot; returns the waiting user that has it now.
    pub fn release(&mut self) -> Option<W> {
        let next = self.waiting_users.pop_front();
        self.free += usize::from(next.is_none());
        next
    }

    /// Releases a neighbor's slot; returns the waiting user that has it now.
    pub fn release_neighbor(&mut self) -> Option<W> {
        if self.reserved < self.max_reserved {
            self.reserved += 1;
            return None;
        }
        self.release()
    }

    /// Number of users that wait for a slot.
    pub fn waiting_users(&self) -> usize {
        self.waiting_users.len()
    }
}
