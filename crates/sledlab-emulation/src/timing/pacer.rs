//! Schedules the server's thread so that replies are sent on time.
//!
//! The pacer uses neither sockets nor a clock: callers pass the time. Replies wait in order of the wall-clock time at
//! which they are due to be passed to the kernel, their `target`. Passing a reply to the kernel takes a time, `send`,
//! which the pacer estimates: a little more after each reply that was late, a little less after each that was early, so
//! that the median of the lateness is zero. So work on a reply begins `send` before its target.
//!
//! Sleep ends late, by a time that depends on the machine and on other programs. Therefore the thread requests a sleep
//! that ends early by `spin`, which suffices for nine of ten sleeps, and polls the sockets and the clock until work on
//! a reply begins, as far as a [`Budget`](crate::timing::budget::Budget) allows. When nothing is due the thread does not poll,
//! but sleeps.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::timing::budget::Budget;

/// How early sleep is to end, in nanoseconds: the initial, minimum and maximum value.
const FIRST_SPIN_NS: u64 = 60_000;
const MIN_SPIN_NS: u64 = 20_000;
const MAX_SPIN_NS: u64 = 100_000;

/// Increase of `spin` after each sleep that ended later than `spin` allows for; after any other sleep, `spin` decreases
/// by a ninth of that.
const SPIN_STEP_NS: u64 = 900;

/// This close before work on a reply begins, only the clock is polled, since polling the sockets takes about as long;
/// in nanoseconds.
const CLOCK_POLL_NS: u64 = 2_000;

/// How much `send` changes after each reply, for the smallest replies, in nanoseconds.
const SEND_STEP_NS: i64 = 150;

/// `send` of the smallest replies: the initial and the maximum value, in nanoseconds.
const FIRST_SEND_NS: i64 = 8_000;
const MAX_SEND_NS: i64 = 100_000;

/// Replies have a `send` by their size: up to 4 KiB, 8 KiB ... 32 MiB.
const SIZE_CLASSES: usize = 14;

/// Next action of the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PaceStep {
    /// Nothing is due: wait for the sockets.
    Wait,
    /// Wait for the sockets, until this wall-clock time at the latest.
    Sleep(u64),
    /// Poll the sockets without waiting.
    Poll,
    /// Poll the clock.
    Spin,
    /// A reply or an event of the model is due.
    Act,
}

/// A reply that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DueReply {
    /// When the reply is due to be sent, in wall-clock time.
    pub target: u64,
    /// The key of its request.
    pub key: u32,
    size: u8,
}

/// Waiting replies, and the estimated times of sending and sleeping.
#[derive(Debug)]
pub(crate) struct Pacer {
    /// Ordered by when work on them begins, then by when they were added.
    queue: BinaryHeap<Reverse<(u64, u64, QueuedReply)>>,
    sequence: u64,
    send_ns_by_size: [i64; SIZE_CLASSES],
    spin_ns: u64,
    /// Wall-clock time in which the budget prevented polling, in nanoseconds; and since when the budget prevents
    /// polling.
    limited_ns: u64,
    limited_since: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct QueuedReply {
    target: u64,
    key: u32,
    size: u8,
}

/// The class of size of a reply with so many bytes of data.
fn size_class(bytes: u32) -> u8 {
    let pages = bytes.div_ceil(4096).max(1);
    (pages.next_power_of_two().trailing_zeros() as usize).min(SIZE_CLASSES - 1) as u8
}

impl Pacer {
    /// Returns a pacer without replies and with initial estimates.
    pub fn new() -> Self {
        // Copying takes about 0.1 us per KiB.
        let send_ns_by_size = std::array::from_fn(|size| (FIRST_SEND_NS + (400 << size)).min(MAX_SEND_NS));
        Pacer {
            queue: BinaryHeap::new(),
            sequence: 0,
            send_ns_by_size,
            spin_ns: FIRST_SPIN_NS,
            limited_ns: 0,
            limited_since: None,
        }
    }

    /// Returns a pacer without replies that keeps the estimates.
    pub fn with_empty_queue(self) -> Self {
        Pacer { send_ns_by_size: self.send_ns_by_size, spin_ns: self.spin_ns, ..Pacer::new() }
    }

    /// Drops the replies that wait.
    pub fn clear(&mut self) {
        self.queue.clear();
    }

    /// Adds a reply of so many bytes that should be handed over at `target`.
    pub fn push(&mut self, target: u64, bytes: u32, key: u32) {
        let size = size_class(bytes);
        let send_at = target.saturating_sub(self.class_send_ns(size));
        self.sequence += 1;
        self.queue.push(Reverse((send_at, self.sequence, QueuedReply { target, key, size })));
    }

    /// Returns the estimated time to send a reply of `bytes` bytes, in nanoseconds.
    pub fn send_ns(&self, bytes: u32) -> u64 {
        self.class_send_ns(size_class(bytes))
    }

    fn class_send_ns(&self, size: u8) -> u64 {
        self.send_ns_by_size[usize::from(size)].max(0).cast_unsigned()
    }

    /// Removes and returns the first reply, if work on it should begin.
    pub fn take_due(&mut self, now: u64) -> Option<DueReply> {
        let Reverse((send_at, ..)) = self.queue.peek()?;
        if *send_at > now {
            return None;
        }
        let Reverse((_, _, QueuedReply { target, key, size })) = self.queue.pop()?;
        Some(DueReply { target, key, size })
    }

    /// Whether no reply waits.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Learns from a reply that could be on time, and was handed over at `at`.
    pub fn learn_send(&mut self, due: DueReply, sent_at: u64) {
        let send_ns = &mut self.send_ns_by_size[usize::from(due.size)];
        let step = SEND_STEP_NS << (due.size / 4);
        *send_ns += (sent_at.cast_signed() - due.target.cast_signed()).signum() * step;
        *send_ns = (*send_ns).clamp(0, MAX_SEND_NS << (due.size / 4));
    }

    /// Learns from a sleep that ended `late_ns` nanoseconds late.
    pub fn learn_sleep(&mut self, late_ns: u64) {
        let spin_ns = if late_ns > self.spin_ns {
            self.spin_ns + SPIN_STEP_NS
        } else {
            self.spin_ns - SPIN_STEP_NS / 9
        };
        self.spin_ns = spin_ns.clamp(MIN_SPIN_NS, MAX_SPIN_NS);
    }

    /// How early sleep ends now, in nanoseconds.
    pub fn spin(&self) -> u64 {
        self.spin_ns
    }

    /// Returns the next action at `now`; `event` is when the next event of the model is due, if there is one.
    pub fn step(&mut self, now: u64, event: Option<u64>, budget: &Budget) -> PaceStep {
        let reply_work_at = self.queue.peek().map(|Reverse((send_at, ..))| *send_at);
        let Some(next_due) = reply_work_at.into_iter().chain(event).min() else {
            self.record_limit(now, false);
            return PaceStep::Wait;
        };
        if next_due <= now {
            self.record_limit(now, false);
            return PaceStep::Act;
        }
        let spin_ns = budget.allowed_spin(self.spin_ns);
        let wake = next_due - spin_ns.min(next_due);
        self.record_limit(now, now + self.spin_ns >= next_due && now < wake);
        if now < wake {
            PaceStep::Sleep(wake)
        } else if next_due - now > CLOCK_POLL_NS {
            PaceStep::Poll
        } else {
            PaceStep::Spin
        }
    }

    /// Adds up the wall-clock time in which the budget prevented polling.
    fn record_limit(&mut self, now: u64, limited: bool) {
        match (self.limited_since, limited) {
            (None, true) => self.limited_since = Some(now),
            (Some(since), false) => {
                self.limited_ns += now.saturating_sub(since);
                self.limited_since = None;
            }
            _ => {}
        }
    }

    /// Returns the wall-clock time in which the budget prevented polling the clock, in nanoseconds.
    pub fn limited_ns(&self) -> u64 {
        self.limited_ns
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unlimited_budget() -> Budget {
        Budget::new(false, 0, 0)
    }

    /// A budget that allows no polling of the clock.
    fn exhausted_budget() -> Budget {
        let mut budget = Budget::new(true, 0, 0);
        budget.charge(0, 90_000_000);
        budget
    }

    #[test]
    fn steps_follow_the_time_to_the_target() {
        let mut pacer = Pacer::new();
        assert_eq!(pacer.step(0, None, &unlimited_budget()), PaceStep::Wait);
        pacer.push(1_000_000, 4096, 7);
        let send_at = 1_000_000 - pacer.send_ns(4096);
        assert_eq!(pacer.step(0, None, &unlimited_budget()), PaceStep::Sleep(send_at - FIRST_SPIN_NS));
        assert_eq!(pacer.step(send_at - FIRST_SPIN_NS, None, &unlimited_budget()), PaceStep::Poll);
        assert_eq!(pacer.step(send_at - 1_000, None, &unlimited_budget()), PaceStep::Spin);
        assert_eq!(pacer.take_due(send_at - 1), None);
        assert_eq!(pacer.step(send_at, None, &unlimited_budget()), PaceStep::Act);
        assert_eq!(pacer.take_due(send_at).map(|due| (due.target, due.key)), Some((1_000_000, 7)));
        // An event of the model counts as a reply does.
        assert_eq!(
            pacer.step(0, Some(500_000), &unlimited_budget()),
            PaceStep::Sleep(500_000 - FIRST_SPIN_NS)
        );
    }

    #[test]
    fn exhausted_budget_forces_sleep() {
        let mut pacer = Pacer::new();
        pacer.push(1_000_000, 0, 0);
        let send_at = 1_000_000 - pacer.send_ns(0);
        assert_eq!(pacer.step(send_at - 40_000, None, &exhausted_budget()), PaceStep::Sleep(send_at));
        assert_eq!(pacer.step(send_at, None, &exhausted_budget()), PaceStep::Act);
        assert_eq!(pacer.limited_ns(), 40_000);
    }

    #[test]
    fn spin_adapts_to_late_wakeups() {
        let mut pacer = Pacer::new();
        for sleep in 0..5_000_u64 {
            // Evenly spread up to 50 us: nine in ten are below 45 us.
            pacer.learn_sleep(sleep * 7_919 % 50_000);
        }
        assert!(pacer.spin().abs_diff(45_000) < 4_000, "{}", pacer.spin());
        (0..500).for_each(|_| pacer.learn_sleep(1_000_000));
        assert_eq!(pacer.spin(), MAX_SPIN_NS);
    }

    #[test]
    fn send_time_adapts_to_lateness() {
        let mut pacer = Pacer::new();
        for reply in 0..1_000_u64 {
            let target = (reply + 1) * 1_000_000;
            pacer.push(target, 4096, 0);
            let send_at = target - pacer.send_ns(4096);
            let due = pacer.take_due(send_at).expect("a due reply");
            // Mostly 20 us, rarely much longer: the estimate is the median.
            let send_duration_ns = if reply % 10 == 0 { 5_000_000 } else { 20_000 };
            pacer.learn_send(due, send_at + send_duration_ns);
        }
        assert!(pacer.send_ns(4096).abs_diff(20_000) < 1_500, "{}", pacer.send_ns(4096));
        assert!(pacer.send_ns(1 << 20) > pacer.send_ns(0));
    }

    proptest! {
        /// Replies are sent in order of their target, then in the order in which they were added, and never early.
        #[test]
        fn replies_leave_in_target_order(
            targets in prop::collection::vec(0_u64..50, 1..60),
            steps in prop::collection::vec(0_u64..20, 60),
        ) {
            let mut pacer = Pacer::new();
            let first_target = 1_000_000;
            for (key, target) in targets.iter().enumerate() {
                pacer.push(first_target + target, 0, key as u32);
            }
            let (mut now, mut sent_replies) = (first_target - pacer.send_ns(0), Vec::new());
            for step in steps {
                while let Some(reply) = pacer.take_due(now) {
                    prop_assert!(reply.target <= now + pacer.send_ns(0));
                    sent_replies.push((reply.target, reply.key));
                }
                now += step;
                let is_due = pacer.step(now, None, &unlimited_budget()) == PaceStep::Act;
                prop_assert_eq!(is_due, !pacer.is_empty() && pacer.queue.peek().unwrap().0.0 <= now);
            }
            while let Some(reply) = pacer.take_due(u64::MAX) {
                sent_replies.push((reply.target, reply.key));
            }
            prop_assert_eq!(sent_replies.len(), targets.len());
            prop_assert!(sent_replies.is_sorted());
        }
    }
}
