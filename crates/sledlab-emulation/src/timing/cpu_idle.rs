//! Prevents idle states of processors while programs wait for replies.
//!
//! An idle processor enters an idle state, and leaving that state takes time: microseconds on bare metal, up to
//! milliseconds in a virtual machine, whose host must schedule it first. A reply of a sled that is due after half a
//! millisecond would be late by that much. Therefore one thread for each processor, with the lowest priority
//! (`SCHED_IDLE`), spins while requests are in flight. Every other program that needs the processor runs first. With no
//! requests in flight the threads sleep.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use thread_priority::{
    NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy,
    thread_native_id,
};

/// How long the threads spin after the last request: the next request usually arrives sooner.
const HOLD_NS: u64 = 20_000_000;

/// Maximum number of processors: on larger machines, the spinning threads would cost more than they gain.
const MAX_PROCESSORS: usize = 8;

/// Prevents idle states of processors while requests are in flight.
#[derive(Debug)]
pub(crate) struct CpuIdleInhibitor {
    shared: Arc<InhibitorState>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct InhibitorState {
    start: Instant,
    active_until_ns: AtomicU64,
    is_sleeping: AtomicBool,
    has_ended: AtomicBool,
}

impl InhibitorState {
    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    fn is_active(&self) -> bool {
        self.now() < self.active_until_ns.load(Ordering::SeqCst)
    }
}

impl CpuIdleInhibitor {
    /// Starts threads that sleep until a request arrives; none on machines with more than [`MAX_PROCESSORS`]
    /// processors.
    pub fn start() -> Self {
        let shared = Arc::new(InhibitorState {
            start: Instant::now(),
            active_until_ns: AtomicU64::new(0),
            is_sleeping: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
        });
        let processors = thread::available_parallelism().map_or(0, usize::from);
        let thread_count = if processors > MAX_PROCESSORS { 0 } else { processors };
        let spawn_thread = |_| {
            let shared = Arc::clone(&shared);
            thread::Builder::new()
                .name("sledlab-cpuidle".to_owned())
                .spawn(move || spin_while_active(&shared))
                .ok()
        };
        let threads = (0..thread_count).filter_map(spawn_thread).collect();
        CpuIdleInhibitor { shared, threads }
    }

    /// Prevents idle states for the next [`HOLD_NS`]; must be called while a request is in flight.
    pub fn hold(&self) {
        self.shared.active_until_ns.store(self.shared.now() + HOLD_NS, Ordering::SeqCst);
        if self.shared.is_sleeping.swap(false, Ordering::SeqCst) {
            self.threads.iter().for_each(|thread| thread.thread().unpark());
        }
    }
}

impl Drop for CpuIdleInhibitor {
    fn drop(&mut self) {
        self.shared.has_ended.store(true, Ordering::SeqCst);
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            // A thread that has panicked has ended, too.
            let _ = thread.join();
        }
    }
}

fn spin_while_active(shared: &InhibitorState) {
    let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
    if set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, idle).is_err() {
        return; // at its own priority the thread would delay other programs
    }
    while !shared.has_ended.load(Ordering::Relaxed) {
        if shared.is_active() {
            // Spins without a pause instruction, on which hypervisors may schedule other machines.
            (0_u32..2_000).for_each(|turn| {
                black_box(turn);
            });
            continue;
        }
        shared.is_sleeping.store(true, Ordering::SeqCst);
        if !shared.is_active() && !shared.has_ended.load(Ordering::SeqCst) {
            thread::park();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn threads_sleep_without_requests_and_end() {
        let inhibitor = CpuIdleInhibitor::start();
        assert!(!inhibitor.shared.is_active());
        inhibitor.hold();
        assert!(inhibitor.shared.is_active());
        thread::sleep(Duration::from_nanos(HOLD_NS));
        assert!(!inhibitor.shared.is_active());
        inhibitor.hold();
        drop(inhibitor);
    }
}
