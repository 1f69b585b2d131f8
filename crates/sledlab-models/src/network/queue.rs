//! A queue of events: the earliest first, and among equals the one with the smallest number, which was sent first.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

use sledlab_core::Time;

/// Things in order of the time when they are due, and of their numbers where several are due at once.
///
/// Packets over one link mostly come in order: they wait in a lane, of which only the first is in the heap. So the heap
/// has about as many entries as there are links, however many packets wait for a slow one.
#[derive(Debug)]
pub(super) struct Queue<T> {
    lanes: Vec<VecDeque<Due<T>>>,
    /// Keys of the things that are first in their lane, or were when they were pushed.
    heads: BinaryHeap<Reverse<(Key, usize)>>,
    numbers: u64,
}

/// Nanoseconds in the upper half, the number in the lower, compared as one word.
type Key = u128;

#[derive(Debug)]
struct Due<T> {
    key: Key,
    /// Whether the heap has the key of this thing.
    is_in_heap: bool,
    item: T,
}

fn time(key: Key) -> Time {
    Time::from_ns((key >> 64) as u64)
}

impl<T> Queue<T> {
    pub(super) fn new(lanes: usize) -> Self {
        let lanes = std::iter::repeat_with(VecDeque::new).take(lanes).collect();
        Queue { lanes, heads: BinaryHeap::new(), numbers: 0 }
    }

    /// Returns the number for the next thing sent.
    #[inline]
    pub(super) fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Inserts a thing into a lane, behind those that are due earlier.
    #[inline]
    pub(super) fn push(&mut self, lane: usize, due: Time, number: u64, item: T) {
        let key = u128::from(due.as_ns()) << 64 | u128::from(number);
        let queue = &mut self.lanes[lane];
        let is_earlier = |queue: &VecDeque<Due<T>>, place: usize| place > 0 && queue[place - 1].key > key;
        let mut place = queue.len();
        while is_earlier(queue, place) {
            place -= 1;
        }
        let is_in_heap = place == 0;
        if is_in_heap {
            self.heads.push(Reverse((key, lane)));
        }
        if place == queue.len() {
            queue.push_back(Due { key, is_in_heap, item });
        } else {
            queue.insert(place, Due { key, is_in_heap, item });
        }
    }

    /// When the next thing is due.
    #[inline]
    pub(super) fn next(&self) -> Option<Time> {
        self.heads.peek().map(|Reverse((key, _))| time(*key))
    }

    /// The next thing that is due at `now`, with its time and number.
    #[inline]
    pub(super) fn pop(&mut self, now: Time) -> Option<(Time, u64, T)> {
        let mut head = self.heads.peek_mut()?;
        let Reverse((key, lane)) = *head;
        if time(key) > now {
            return None;
        }
        // The key of a lane's first item is always in the heap, so the smallest key belongs to the first item of its
        // lane.
        let queue = &mut self.lanes[lane];
        let first = queue.pop_front()?;
        debug_assert_eq!(first.key, key);
        match queue.front_mut() {
            Some(second) if !second.is_in_heap => {
                second.is_in_heap = true;
                *head = Reverse((second.key, lane));
            }
            _ => {
                PeekMut::pop(head);
            }
        }
        Some((time(key), key as u64, first.item))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compared with one sorted list of all things.
        #[test]
        fn order_is_independent_of_lanes(
            pushes in prop::collection::vec((0_usize..4, 0_u64..9, any::<bool>()), 0..200),
            advance in prop::collection::vec(0_u64..3, 200),
        ) {
            let (mut queue, mut expected, mut now) = (Queue::new(4), Vec::new(), 0);
            for ((lane, later, back), advance) in pushes.into_iter().zip(advance) {
                // Numbers may decrease, because a packet sent earlier may have a longer path.
                let number = queue.number();
                let number = if back { 1_000 - number } else { number };
                queue.push(lane, Time::from_ns(now + later), number, lane);
                expected.push((Time::from_ns(now + later), number, lane));
                now += advance;
                expected.sort_unstable();
                prop_assert_eq!(queue.next(), expected.first().map(|first| first.0));
                while let Some(item) = queue.pop(Time::from_ns(now)) {
                    prop_assert_eq!(item, expected.remove(0));
                }
                prop_assert!(expected.first().is_none_or(|first| first.0 > Time::from_ns(now)));
            }
        }
    }
}
