//! Things under way: what comes first, and of what comes at once, what was sent first.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

use sledlab_core::Time;

/// Things by the time when they are due, and by their number where several are due at once.
///
/// What comes over one link mostly comes in order: it waits in a lane, of which only the first stands in the heap. So
/// the heap is no larger than there are links, however much waits in front of a slow one.
#[derive(Debug)]
pub(super) struct Queue<T> {
    lanes: Vec<VecDeque<Due<T>>>,
    /// Keys of what is, or was when it came, first in its lane.
    heads: BinaryHeap<Reverse<(Key, usize)>>,
    numbers: u64,
}

/// Nanoseconds, then the number, in one word, which is compared in two steps.
type Key = u128;

#[derive(Debug)]
struct Due<T> {
    key: Key,
    /// Whether it stands in the heap.
    headed: bool,
    thing: T,
}

fn time(key: Key) -> Time {
    Time::from_ns((key >> 64) as u64)
}

impl<T> Queue<T> {
    pub(super) fn new(lanes: usize) -> Self {
        let lanes = std::iter::repeat_with(VecDeque::new).take(lanes).collect();
        Queue { lanes, heads: BinaryHeap::new(), numbers: 0 }
    }

    /// The number of the next thing sent.
    #[inline]
    pub(super) fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// A thing comes into a lane, after what is due before it.
    #[inline]
    pub(super) fn push(&mut self, lane: usize, due: Time, number: u64, thing: T) {
        let key = u128::from(due.as_ns()) << 64 | u128::from(number);
        let queue = &mut self.lanes[lane];
        let before = |queue: &VecDeque<Due<T>>, place: usize| place > 0 && queue[place - 1].key > key;
        let mut place = queue.len();
        while before(queue, place) {
            place -= 1;
        }
        let headed = place == 0;
        if headed {
            self.heads.push(Reverse((key, lane)));
        }
        if place == queue.len() {
            queue.push_back(Due { key, headed, thing });
        } else {
            queue.insert(place, Due { key, headed, thing });
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
        // The first of the lane is in the heap, so nothing of the lane comes before it: this is it.
        let queue = &mut self.lanes[lane];
        let first = queue.pop_front()?;
        debug_assert_eq!(first.key, key);
        match queue.front_mut() {
            Some(second) if !second.headed => {
                second.headed = true;
                *head = Reverse((second.key, lane));
            }
            _ => {
                PeekMut::pop(head);
            }
        }
        Some((time(key), key as u64, first.thing))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// As if everything stood in one list that is sorted.
        #[test]
        fn comes_in_order_whatever_the_lane(
            pushes in prop::collection::vec((0_usize..4, 0_u64..9, any::<bool>()), 0..200),
            advance in prop::collection::vec(0_u64..3, 200),
        ) {
            let (mut queue, mut sorted, mut now) = (Queue::new(4), Vec::new(), 0);
            for ((lane, later, back), advance) in pushes.into_iter().zip(advance) {
                // Numbers go back too: what was sent first may come over the longer way.
                let number = queue.number();
                let number = if back { 1_000 - number } else { number };
                queue.push(lane, Time::from_ns(now + later), number, lane);
                sorted.push((Time::from_ns(now + later), number, lane));
                now += advance;
                sorted.sort_unstable();
                prop_assert_eq!(queue.next(), sorted.first().map(|first| first.0));
                while let Some(popped) = queue.pop(Time::from_ns(now)) {
                    prop_assert_eq!(popped, sorted.remove(0));
                }
                prop_assert!(sorted.first().is_none_or(|first| first.0 > Time::from_ns(now)));
            }
        }
    }
}
