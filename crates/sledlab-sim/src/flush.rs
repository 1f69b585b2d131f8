//! Completion of flushes: a flush completes as soon as all writes that arrived before it are durable.

use std::collections::VecDeque;

use sledlab_core::Time;

/// Counts writes that are in flight, and determines the flushes whose earlier writes are all complete, and when they
/// are durable.
#[derive(Debug, Default)]
pub(crate) struct Flushes {
    /// Writes in flight that arrived after the last pending flush.
    later_writes: u64,
    /// When all completed requests are durable.
    all_durable: Time,
    /// Pending flushes in order of arrival, each with the writes in flight that arrived before it and after the
    /// previous flush.
    pending: VecDeque<PendingFlush>,
    /// The flushes that the last completed write completed.
    completed: Vec<CompletedFlush>,
}

/// A flush, and when it is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CompletedFlush {
    pub id: u64,
    pub time: Time,
}

#[derive(Clone, Copy, Debug)]
struct PendingFlush {
    id: u64,
    writes: u64,
    /// When the completed ones of the earlier writes are durable, not before the flush arrived.
    durable_time: Time,
}

impl Flushes {
    /// Records the arrival of `writes` (0 or 1) writes.
    #[inline]
    pub fn arrive(&mut self, writes: u64) {
        self.later_writes += writes;
    }

    /// Records that `writes` (0 or 1) writes of number `id` are complete, and durable at `durable_time`; returns the
    /// flushes that this completes, in order.
    #[inline]
    pub fn record_completion(&mut self, id: u64, writes: u64, durable_time: Time) -> &[CompletedFlush] {
        self.all_durable = self.all_durable.max(durable_time);
        if self.pending.is_empty() {
            self.later_writes -= writes;
            return &[];
        }
        if writes == 0 { &[] } else { self.complete_flushes(id, durable_time) }
    }

    fn complete_flushes(&mut self, id: u64, durable_time: Time) -> &[CompletedFlush] {
        let index = self.pending.partition_point(|flush| flush.id < id);
        match self.pending.get_mut(index) {
            Some(flush) => {
                (flush.writes, flush.durable_time) = (flush.writes - 1, flush.durable_time.max(durable_time));
            }
            None => self.later_writes -= 1,
        }
        self.completed.clear();
        while let Some(PendingFlush { id, writes: 0, durable_time: time }) = self.pending.front().copied() {
            self.pending.pop_front();
            self.completed.push(CompletedFlush { id, time });
            if let Some(next) = self.pending.front_mut() {
                next.durable_time = next.durable_time.max(time);
            }
        }
        &self.completed
    }

    /// Records the arrival of flush number `id` at `now`; returns when it is complete, if no write is in flight.
    pub fn flush(&mut self, id: u64, now: Time) -> Option<Time> {
        let (writes, durable_time) = (std::mem::take(&mut self.later_writes), self.all_durable.max(now));
        if writes == 0 && self.pending.is_empty() {
            return Some(durable_time);
        }
        self.pending.push_back(PendingFlush { id, writes, durable_time });
        None
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

    fn at(ns: u64) -> Time {
        Time::from_ns(ns)
    }

    #[test]
    fn flush_waits_for_earlier_writes_only() {
        let mut flushes = Flushes::default();
        assert_eq!(flushes.flush(0, at(0)), Some(at(0)));
        flushes.arrive(1);
        flushes.arrive(1);
        assert_eq!(flushes.flush(3, at(3)), None);
        flushes.arrive(1);
        assert!(flushes.record_completion(4, 1, at(90)).is_empty());
        assert!(flushes.record_completion(2, 1, at(20)).is_empty());
        assert_eq!(flushes.pending_count(), 1);
        assert_eq!(flushes.record_completion(1, 1, at(12)), [CompletedFlush { id: 3, time: at(20) }]);
        assert_eq!(flushes.flush(5, at(13)), Some(at(90)));
    }

    proptest! {
        /// Against the definition: a flush is complete when all writes that arrived before it are durable. Each step
        /// takes a nanosecond and has its number; a read may complete in any of them.
        #[test]
        fn flushes_agree_with_definition(
            steps in prop::collection::vec((0_u8..4, 0.0..1.0, prop_oneof![Just(0), 0_u64..40]), 1..80),
        ) {
            let mut flushes = Flushes::default();
            let (mut in_flight, mut pending): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
            // When each complete write is durable and each flush arrived, with its number.
            let mut times: Vec<(u64, u64)> = Vec::new();
            for (now, (step, pick, write_behind)) in (0..).zip(steps) {
                let completed_flush = |flush: &u64, times: &[(u64, u64)]| {
                    let earlier = times.iter().filter(|(id, _)| id <= flush).map(|(_, time)| *time);
                    CompletedFlush { id: *flush, time: at(earlier.max().unwrap_or_default()) }
                };
                match step {
                    0 => { flushes.arrive(1); in_flight.push(now); }
                    1 => {
                        times.push((now, now));
                        let expected = in_flight.is_empty().then(|| completed_flush(&now, &times).time);
                        prop_assert_eq!(flushes.flush(now, at(now)), expected);
                        if expected.is_none() { pending.push(now); }
                    }
                    2 => prop_assert!(flushes.record_completion(pick as u64, 0, at(now)).is_empty()),
                    _ if in_flight.is_empty() => {}
                    _ => {
                        let write = in_flight.remove((pick * in_flight.len() as f64) as usize);
                        times.push((write, now + write_behind));
                        let (incomplete, complete): (Vec<u64>, Vec<u64>) =
                            pending.iter().partition(|flush| in_flight.iter().any(|write| write < *flush));
                        pending = incomplete;
                        let expected: Vec<_> = complete.iter().map(|flush| completed_flush(flush, &times)).collect();
                        prop_assert_eq!(flushes.record_completion(write, 1, at(now + write_behind)), expected);
                    }
                }
            }
        }
    }
}
