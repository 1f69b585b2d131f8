//! Completions that a device has announced for a later time.

use sledlab_core::Time;

use crate::device::ServedRequest;

/// Completions in order of their times.
///
/// A vector rather than a deque, so that a device can append to it: almost always all completions are taken before it
/// announces the next ones, and none is moved.
#[derive(Debug, Default)]
pub(super) struct CompletionQueue {
    entries: Vec<ServedRequest>,
    /// Number of entries at the front that have been taken.
    taken: usize,
}

impl CompletionQueue {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Time of the first completion.
    #[inline]
    pub fn first(&self) -> Option<Time> {
        self.entries.get(self.taken).map(|first| first.completion)
    }

    /// The vector for the completions that a device reports in order; only where the queue is empty.
    #[inline]
    pub fn empty_vector(&mut self) -> &mut Vec<ServedRequest> {
        debug_assert!(self.is_empty());
        &mut self.entries
    }

    /// The completions that have not been taken.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut ServedRequest> {
        self.entries[self.taken..].iter_mut()
    }

    /// Inserts a completion behind those of the same time.
    pub fn insert(&mut self, served: ServedRequest) {
        if self.taken > self.entries.len() / 2 {
            self.entries.drain(..self.taken);
            self.taken = 0;
        }
        let waiting = &self.entries[self.taken..];
        if waiting.last().is_none_or(|last| last.completion <= served.completion) {
            self.entries.push(served);
        } else {
            let place = waiting.partition_point(|other| other.completion <= served.completion);
            self.entries.insert(self.taken + place, served);
        }
    }

    /// Moves the completions until `now` to `completed`; returns whether there were any.
    #[inline]
    pub fn take_due(&mut self, now: Time, completed: &mut Vec<ServedRequest>) -> bool {
        if self.first().is_none_or(|at| at > now) {
            return false;
        }
        // Almost always all completions are due. A system behind another one then takes them without a copy.
        if completed.is_empty()
            && self.taken == 0
            && self.entries.last().is_some_and(|last| last.completion <= now)
        {
            std::mem::swap(completed, &mut self.entries);
        } else {
            self.append_due(now, completed);
        }
        true
    }

    fn append_due(&mut self, now: Time, completed: &mut Vec<ServedRequest>) {
        let waiting = &self.entries[self.taken..];
        let due = waiting.iter().take_while(|served| served.completion <= now).count();
        completed.extend_from_slice(&waiting[..due]);
        self.taken += due;
        if self.taken == self.entries.len() {
            self.entries.clear();
            self.taken = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::device::QueuedRequest;

    proptest! {
        /// Compared with a stable sort of all completions.
        #[test]
        fn completions_are_taken_in_order(steps in prop::collection::vec((0_u64..20, 0_u8..3), 1..200)) {
            let (mut queue, mut oracle) = (CompletionQueue::default(), Vec::new());
            for (id, (ns, step)) in steps.into_iter().enumerate() {
                let time = Time::from_ns(ns);
                if step == 0 {
                    let mut taken = Vec::new();
                    let has_due = queue.take_due(time, &mut taken);
                    prop_assert_eq!(has_due, !taken.is_empty());
                    oracle.sort_by_key(|(at, _)| *at);
                    let due = oracle.iter().take_while(|(at, _)| *at <= time).count();
                    let expected: Vec<(Time, u64)> = oracle.drain(..due).collect();
                    let taken: Vec<(Time, u64)> =
                        taken.iter().map(|served| (served.completion, served.request.id)).collect();
                    prop_assert_eq!(taken, expected);
                } else {
                    let request = QueuedRequest { id: id as u64, ..QueuedRequest::default() };
                    queue.insert(ServedRequest::immediate(request, time));
                    oracle.push((time, id as u64));
                }
                prop_assert_eq!(queue.first(), oracle.iter().map(|(at, _)| *at).min());
                prop_assert_eq!(queue.is_empty(), oracle.is_empty());
            }
        }
    }
}
