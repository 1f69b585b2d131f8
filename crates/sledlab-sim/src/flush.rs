//! Completion of flushes: a flush completes as soon as all writes that arrived before it are durable.

use std::collections::VecDeque;

/// Counts writes that are not durable yet, and determines the flushes whose earlier writes are all durable.
#[derive(Debug, Default)]
pub(crate) struct Flushes {
    /// Writes in flight that arrived after the last waiting flush.
    after: u64,
    /// Waiting flushes in order of arrival, each with the writes in flight that arrived before it and after the
    /// previous flush.
    waiting: VecDeque<Waiting>,
    /// Numbers of the flushes that the last durable write completed.
    complete: Vec<u64>,
}

#[derive(Debug)]
struct Waiting {
    id: u64,
    writes: u64,
}

impl Flushes {
    /// Records the arrival of `writes` (0 or 1) writes.
    #[inline]
    pub fn arrive(&mut self, writes: u64) {
        self.after += writes;
    }

    /// Records that `writes` (0 or 1) writes of number `id` have become durable; returns the numbers of the flushes
    /// that this completes, in order.
    #[inline]
    pub fn durable(&mut self, id: u64, writes: u64) -> &[u64] {
        if self.waiting.is_empty() {
            self.after -= writes;
            return &[];
        }
        self.durable_before(id, writes)
    }

    fn durable_before(&mut self, id: u64, writes: u64) -> &[u64] {
        let at = self.waiting.partition_point(|flush| flush.id < id);
        match self.waiting.get_mut(at) {
            Some(flush) => flush.writes -= writes,
            None => self.after -= writes,
        }
        let ready = self.waiting.iter().take_while(|flush| flush.writes == 0).count();
        self.complete.clear();
        self.complete.extend(self.waiting.drain(..ready).map(|flush| flush.id));
        &self.complete
    }

    /// Records the arrival of flush number `id`; returns whether it completes at once.
    pub fn flush(&mut self, id: u64) -> bool {
        let writes = std::mem::take(&mut self.after);
        let at_once = writes == 0 && self.waiting.is_empty();
        if !at_once {
            self.waiting.push_back(Waiting { id, writes });
        }
        at_once
    }

    /// Returns the number of waiting flushes.
    pub fn waiting(&self) -> u64 {
        self.waiting.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn waits_for_earlier_writes_only() {
        let mut flushes = Flushes::default();
        assert!(flushes.flush(0));
        flushes.arrive(1);
        flushes.arrive(1);
        assert!(!flushes.flush(3));
        flushes.arrive(1);
        assert!(flushes.durable(4, 1).is_empty());
        assert!(flushes.durable(2, 1).is_empty());
        assert_eq!(flushes.waiting(), 1);
        assert_eq!(flushes.durable(1, 1), [3]);
        assert!(flushes.flush(5));
    }

    proptest! {
        /// Against the definition: a flush waits while any write that arrived before it is in flight.
        #[test]
        fn agrees_with_the_definition(steps in prop::collection::vec((0_u8..3, 0.0..1.0), 1..80)) {
            let mut flushes = Flushes::default();
            let (mut in_flight, mut waiting): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
            for (id, (step, pick)) in steps.into_iter().enumerate() {
                let id = id as u64;
                match step {
                    0 => { flushes.arrive(1); in_flight.push(id); }
                    1 => {
                        let at_once = in_flight.is_empty();
                        prop_assert_eq!(flushes.flush(id), at_once);
                        if !at_once { waiting.push(id); }
                    }
                    _ if in_flight.is_empty() => {}
                    _ => {
                        let write = in_flight.remove((pick * in_flight.len() as f64) as usize);
                        let (still, complete): (Vec<u64>, Vec<u64>) =
                            waiting.iter().partition(|flush| in_flight.iter().any(|write| write < *flush));
                        waiting = still;
                        prop_assert_eq!(flushes.durable(write, 1), complete);
                    }
                }
            }
        }
    }
}
