//! Buffered blocks on their way to the medium.

use std::collections::VecDeque;

use sledlab_core::{Span, Time};

use crate::device::disk::params::{AppendedWrites, DiskNumbers};

/// So much too late for the next sector.
const JUST_MISSED: Span = Span::from_ns(1000);

/// A write that goes on behind its completion, and those that go on where it ends.
#[derive(Clone, Debug)]
pub(super) struct Writing {
    appended: AppendedWrites,
    segment_sectors: u64,
    /// Writes not yet on the medium, in order: the first block of each, and when its last will be there.
    writes: VecDeque<(u64, Time)>,
    /// The block after the last.
    end: u64,
    /// When all is on the medium, and the arm is free.
    pub until: Time,
}

impl Writing {
    pub fn new(disk: &DiskNumbers) -> Self {
        Writing {
            appended: disk.appended_writes,
            segment_sectors: disk.segment_sectors,
            writes: VecDeque::new(),
            end: 0,
            until: Time::ZERO,
        }
    }

    /// When the arm can set out for blocks `lbn..end` that come at `now`, if they go on in what is being written:
    /// where that ends, and as far as its segment has room.
    pub fn append(&mut self, now: Time, lbn: u64, end: u64) -> Option<Time> {
        self.forget_written(now);
        let (first, _) = *self.writes.front()?;
        if lbn != self.end || end - first > self.segment_sectors {
            return None;
        }
        match self.appended {
            AppendedWrites::None => None,
            AppendedWrites::Joined => Some(self.until),
            AppendedWrites::Separate => (self.writes.len() == 1).then(|| self.until + JUST_MISSED),
        }
    }

    fn forget_written(&mut self, now: Time) {
        while self.writes.front().is_some_and(|(_, until)| *until <= now) {
            self.writes.pop_front();
        }
    }

    /// Blocks `lbn..end` that came at `now` will be on the medium at `until`.
    pub fn add(&mut self, now: Time, lbn: u64, end: u64, until: Time) {
        self.forget_written(now);
        self.writes.push_back((lbn, until));
        (self.end, self.until) = (end, until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks 100 to 110, on the medium at 50 us, and then some, at 60 us.
    fn writing(appended_writes: AppendedWrites, further: u64) -> Writing {
        let mut writing =
            Writing::new(&DiskNumbers { appended_writes, segment_sectors: 30, ..DiskNumbers::default() });
        writing.add(us(0), 100, 110, us(50));
        if further > 0 {
            writing.add(us(0), 110, 110 + further, us(60));
        }
        writing
    }

    fn us(us: u64) -> Time {
        Time::from_ns(us * 1000)
    }

    #[test]
    fn writes_join_while_the_segment_has_room() {
        let joined = |further, at, blocks| {
            let lbn = 110 + further;
            writing(AppendedWrites::Joined, further).append(us(at), lbn, lbn + blocks)
        };
        assert_eq!(joined(0, 49, 20), Some(us(50)));
        assert_eq!(joined(0, 49, 21), None);
        assert_eq!(joined(0, 50, 1), None, "nothing is being written");
        assert_eq!(joined(10, 49, 10), Some(us(60)));
        assert_eq!(joined(10, 49, 11), None);
        assert_eq!(joined(10, 50, 20), Some(us(60)), "the first ten have left the segment");
        assert_eq!(writing(AppendedWrites::Joined, 0).append(us(1), 111, 112), None);
        assert_eq!(writing(AppendedWrites::None, 0).append(us(1), 110, 112), None);
    }

    #[test]
    fn separate_writes_follow_one_at_a_time_and_miss_a_turn() {
        let append = |further, at| {
            let lbn = 110 + further;
            writing(AppendedWrites::Separate, further).append(us(at), lbn, lbn + 1)
        };
        assert_eq!(append(0, 49), Some(us(51)));
        assert_eq!(append(1, 49), None, "one waits already");
        assert_eq!(append(1, 50), Some(us(61)), "that is being written");
    }
}
