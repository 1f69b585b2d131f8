//! Completion of flushes: a flush completes as soon as all writes that arrived before it are durable.

use std::collections::VecDeque;

/// Counts writes that are not durable yet, and determines the flushes whose earlier writes are all durable.
#[derive(Debug, Default)]
pub(crate) struct Flushes {
    /// Writes in flight that arrived after the last pending flush.
    later_writes: u64,
    /// Pending flushes in order of arrival, each with the writes in flight that arrived before it and after the
    /// previous flush.
    pending: VecDeque<PendingFlush>,
    /// Numbers of the flushes that the last durable write completed.
    completed: Vec<u64>,
}

#[derive(Debug)]
struct PendingFlush {
    id: u64,
    writes: u64,
}

impl Flushes {
    /// Records the arrival of `writes` (0 or 1) writes.
    #[inline]
    pub fn arrive(&mut self, writes: u64) {
        self.later_writes += writes;
    }

    /// Records that `writes` (0 or 1) writes of number `id` have become durable; returns the numbers of the flushes
    /// that this completes, in order.
    #[inline]
    pub fn record_durable(&mut self, id: u64, writes: u64) -> &[u64] {
        if self.pending.is_empty() {
            self.later_writes -= writes;
            return &[];
        }
        self.complete_flushes(id, writes)
    }

    fn complete_flushes(&mut self, id: u64, writes: u64) -> &[u64] {
        let at = self.pending.partition_point(|flush| flush.id < id);
        match self.pending.get_mut(at) {
            Some(flush) => flush.writes -= writes,
            None => self.later_writes -= writes,
        }
        let ready = self.pending.iter().take_while(|flush| flush.writes == 0).count();
        self.completed.clear();
        self.completed.extend(self.pending.drain(..ready).map(|flush| flush.id));
        &self.completed
    }

    /// Records the arrival of flush number `id`; returns whether it completes at once.
    pub fn flush(&mut self, id: u64) -> bool {
        let writes = std::mem::take(&mut self.later_writes);
        let at_once = writes == 0 && self.pending.is_empty();
        if !at_once {
            self.pending.push_back(PendingFlush { id, writes });
        }
        at_once
    }

    /// Returns the number of pending flushes.
    pub fn pending_count(&self) -> u64 {
        self.pending.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn flush_waits_for_earlier_writes_only() {
        let mut flushes = Flushes::default();
        assert!(flushes.flush(0));
        flushes.arrive(1);
        flushes.arrive(1);
        assert!(!flushes.flush(3));
        flushes.arrive(1);
        assert!(flushes.record_durable(4, 1).is_empty());
        assert!(flushes.record_durable(2, 1).is_empty());
        assert_eq!(flushes.pending_count(), 1);
        assert_eq!(flushes.record_durable(1, 1), [3]);
        assert!(flushes.flush(5));
    }

    proptest! {
        /// Against the definition: a flush waits while any write that arrived before it is in flight.
        #[test]
        fn flushes_agree_with_definition(steps in prop::collection::vec((0_u8..3, 0.0..1.0), 1..80)) {
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
                        prop_assert_eq!(flushes.record_durable(write, 1), complete);
                    }
                }
            }
        }
    }
}
