//! Times in x from the current column of the sled, each computed at most once in a decision.

use super::super::sled::Sled;

/// Times that are known for the present decision.
#[derive(Debug, Default)]
pub(super) struct XTimes {
    decision: u32,
    from_bit: i32,
    home: u32,
    /// Time to the nearer neighbor of the column where the sled is.
    next_door: u64,
    /// By cylinder: the decision for which its time was computed, and the time in ns, which must fit 32 bits.
    known: Vec<(u32, u32)>,
}

impl XTimes {
    pub fn new(cylinders: u32) -> Self {
        XTimes { decision: 0, from_bit: 0, home: 0, next_door: 0, known: vec![(0, 0); cylinders as usize] }
    }

    /// Begins a decision and forgets all times: the sled is at column `home` now, at bit `from_bit`.
    pub fn start(&mut self, sled: &Sled, from_bit: i32, home: u32) {
        (self.from_bit, self.home) = (from_bit, home);
        self.decision = self.decision.wrapping_add(1);
        if self.decision == 0 {
            self.known.fill((0, 0));
            self.decision = 1;
        }
        let neighbors = [home.checked_sub(1), Some(home + 1).filter(|n| (*n as usize) < self.known.len())];
        let times = neighbors.into_iter().flatten().map(|cylinder| self.time(sled, cylinder));
        self.next_door = times.min().unwrap_or(0);
    }

    /// Least time in x, with settling, to one of the columns from `first` to `last`; among several the sled's own
    /// column does not count.
    #[inline]
    pub fn nearest(&mut self, sled: &Sled, first: u32, last: u32) -> u64 {
        if last < self.home {
            self.time(sled, last)
        } else if first > self.home || first == last {
            self.time(sled, first)
        } else {
            self.next_door
        }
    }

    /// Upper bound of the time in x, with settling, to any of the columns from `first` to `last`. For several columns
    /// it is the time to where the next tile begins, `step` beyond the farthest of them, which mostly is known already
    /// or will be needed.
    #[inline]
    pub fn farthest(&mut self, sled: &Sled, first: u32, last: u32, step: u32) -> u64 {
        if first == last {
            return self.time(sled, first);
        }
        let end = self.known.len() as u32 - 1;
        let left = if first < self.home { self.time(sled, first.saturating_sub(step)) } else { 0 };
        let right = if last > self.home { self.time(sled, (last + step).min(end)) } else { 0 };
        left.max(right)
    }

    /// Time in x to a cylinder, with settling, in ns.
    #[inline]
    pub fn time(&mut self, sled: &Sled, cylinder: u32) -> u64 {
        let known = &mut self.known[cylinder as usize];
        if known.0 != self.decision {
            let to_bit = sled.geometry.x_bit(cylinder);
            *known = (self.decision, sled.estimated_x_time(self.from_bit, to_bit).as_ns() as u32);
        }
        known.1.into()
    }
}
