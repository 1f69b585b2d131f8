//! Write-behind: buffered blocks that are being written to the medium.

use std::collections::VecDeque;

use sledlab_core::{Span, Time};

use crate::device::disk::params::{AppendedWrites, DiskNumbers};

/// Delay of a separate write behind the one before, by which it is too late for the next sector.
const SEPARATE_WRITE_DELAY: Span = Span::from_ns(1000);

/// Write-behind: a completed write that is being transferred to the medium, and the writes appended to it.
#[derive(Clone, Debug)]
pub(super) struct WriteBehind {
    append_mode: AppendedWrites,
    segment_sectors: u64,
    /// Writes not yet on the medium, in order: the first block of each, and when its last block will be on the
    /// medium.
    writes: VecDeque<(u64, Time)>,
    /// The block after the last of the latest write.
    end: u64,
    /// When all writes are on the medium, and the arm is free.
    pub until: Time,
}

impl WriteBehind {
    pub fn new(disk: &DiskNumbers) -> Self {
        WriteBehind {
            append_mode: disk.appended_writes,
            segment_sectors: disk.segment_sectors,
            writes: VecDeque::new(),
            end: 0,
            until: Time::ZERO,
        }
    }

    /// When the arm can start for blocks `lbn..end` that come at `now` if they are appended to the writes in
    /// progress; `None` if no write is in progress, if they do not start where those end, if the segment has no room
    /// for them, or if the drive appends no writes, or no further one.
    pub fn append(&mut self, now: Time, lbn: u64, end: u64) -> Option<Time> {
        self.discard_written(now);
        let (first, _) = *self.writes.front()?;
        if lbn != self.end || end - first > self.segment_sectors {
            return None;
        }
        match self.append_mode {
            AppendedWrites::None => None,
            AppendedWrites::Joined => Some(self.until),
            AppendedWrites::Separate => (self.writes.len() == 1).then(|| self.until + SEPARATE_WRITE_DELAY),
        }
    }

    fn discard_written(&mut self, now: Time) {
        while self.writes.front().is_some_and(|(_, until)| *until <= now) {
            self.writes.pop_front();
        }
    }

    /// Adds a write of blocks `lbn..end` that came at `now` and will be on the medium at `until`.
    pub fn add(&mut self, now: Time, lbn: u64, end: u64, until: Time) {
        self.discard_written(now);
        self.writes.push_back((lbn, until));
        (self.end, self.until) = (end, until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes of blocks 100 to 110, on the medium at 50 us, and of `further` blocks behind them, on the medium at 60
    /// us.
    fn active_writes(appended_writes: AppendedWrites, further: u64) -> WriteBehind {
        let mut write_behind =
            WriteBehind::new(&DiskNumbers { appended_writes, segment_sectors: 30, ..DiskNumbers::default() });
        write_behind.add(us(0), 100, 110, us(50));
        if further > 0 {
            write_behind.add(us(0), 110, 110 + further, us(60));
        }
        write_behind
    }

    fn us(us: u64) -> Time {
        Time::from_ns(us * 1000)
    }

    #[test]
    fn writes_join_while_the_segment_has_room() {
        let append = |further, at, blocks| {
            let lbn = 110 + further;
            active_writes(AppendedWrites::Joined, further).append(us(at), lbn, lbn + blocks)
        };
        assert_eq!(append(0, 49, 20), Some(us(50)));
        assert_eq!(append(0, 49, 21), None);
        assert_eq!(append(0, 50, 1), None, "nothing is being written");
        assert_eq!(append(10, 49, 10), Some(us(60)));
        assert_eq!(append(10, 49, 11), None);
        assert_eq!(append(10, 50, 20), Some(us(60)), "the first ten have left the segment");
        assert_eq!(active_writes(AppendedWrites::Joined, 0).append(us(1), 111, 112), None);
        assert_eq!(active_writes(AppendedWrites::None, 0).append(us(1), 110, 112), None);
    }

    #[test]
    fn each_separate_write_misses_a_rotation() {
        let append = |further, at| {
            let lbn = 110 + further;
            active_writes(AppendedWrites::Separate, further).append(us(at), lbn, lbn + 1)
        };
        assert_eq!(append(0, 49), Some(us(51)));
        assert_eq!(append(1, 49), None, "one waits already");
        assert_eq!(append(1, 50), Some(us(61)), "that is being written");
    }
}
