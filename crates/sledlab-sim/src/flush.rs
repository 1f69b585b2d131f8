//! When flushes complete: as soon as all writes that arrived before them are durable.

use std::collections::VecDeque;

/// Counts writes in order of arrival and tells which flushes have nothing left to wait for.
#[derive(Debug, Default)]
pub(crate) struct Flushes {
    /// Writes that arrived, and how many of the first of them are all durable.
    arrived: u64,
    durable: u64,
    /// Each write from `durable` on, and whether it is durable; ids rise, so they can be searched.
    window: VecDeque<(u64, bool)>,
    /// For each waiting flush, the number of writes that must be durable.
    waiting: VecDeque<u64>,
}

impl Flushes {
    /// A write arrives.
    #[inline]
    pub fn write(&mut self, id: u64) {
        self.arrived += 1;
        self.window.push_back((id, false));
    }

    /// A write has become durable; returns how many flushes complete with it.
    #[inline]
    pub fn durable(&mut self, id: u64) -> u64 {
        if let Ok(at) = self.window.binary_search_by_key(&id, |(id, _)| *id) {
            self.window[at].1 = true;
        }
        while let Some((_, true)) = self.window.front() {
            self.window.pop_front();
            self.durable += 1;
        }
        let ready = self.waiting.iter().take_while(|needed| **needed <= self.durable).count();
        self.waiting.drain(..ready);
        ready as u64
    }

    /// A flush arrives; returns whether it completes at once.
    pub fn flush(&mut self) -> bool {
        let at_once = self.durable == self.arrived;
        if !at_once {
            self.waiting.push_back(self.arrived);
        }
        at_once
    }

    /// Flushes that still wait.
    pub fn waiting(&self) -> u64 {
        self.waiting.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_for_earlier_writes_only() {
        let mut flushes = Flushes::default();
        assert!(flushes.flush());
        flushes.write(1);
        flushes.write(2);
        assert!(!flushes.flush());
        flushes.write(4);
        assert_eq!(flushes.durable(4), 0);
        assert_eq!(flushes.durable(2), 0);
        assert_eq!(flushes.waiting(), 1);
        assert_eq!(flushes.durable(1), 1);
        assert!(flushes.flush());
    }
}
