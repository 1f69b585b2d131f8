//! Things under way: what comes first, and of what comes at once, what was sent first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use sledlab_core::Time;

/// Things by the time when they are due, and by their number where several are due at once.
#[derive(Debug)]
pub(super) struct Queue<T> {
    heap: BinaryHeap<Due<T>>,
    numbers: u64,
}

/// A thing with its key: nanoseconds, then the number, in one word, which is compared in two steps.
#[derive(Debug)]
struct Due<T> {
    key: u128,
    thing: T,
}

impl<T> Due<T> {
    fn time(&self) -> Time {
        Time::from_ns((self.key >> 64) as u64)
    }
}

impl<T> Ord for Due<T> {
    /// The earliest is the greatest, for the heap.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}

impl<T> PartialOrd for Due<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Due<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<T> Eq for Due<T> {}

impl<T> Queue<T> {
    pub(super) fn new() -> Self {
        Queue { heap: BinaryHeap::new(), numbers: 0 }
    }

    /// The number of the next thing sent.
    #[inline]
    pub(super) fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    #[inline]
    pub(super) fn push(&mut self, due: Time, number: u64, thing: T) {
        self.heap.push(Due { key: u128::from(due.as_ns()) << 64 | u128::from(number), thing });
    }

    /// When the next thing is due.
    #[inline]
    pub(super) fn next(&self) -> Option<Time> {
        self.heap.peek().map(Due::time)
    }

    /// The next thing that is due at `now`, with its time and number.
    #[inline]
    pub(super) fn pop(&mut self, now: Time) -> Option<(Time, u64, T)> {
        if self.next()? > now {
            return None;
        }
        self.heap.pop().map(|due| (due.time(), due.key as u64, due.thing))
    }
}
