//! Measures the wall-clock time of scheduling decisions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use sledlab_core::{Error, Time};
use sledlab_models::device::{Mechanics, QueuedRequest};
use sledlab_models::scheduler::{Choice, Scheduler};

/// Only one call in this number is measured, because reading the clock takes as long as a cheap decision.
const SAMPLE_INTERVAL: u64 = 16;

/// Times of sampled calls, summed over all queues of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct DecisionCost(Arc<Totals>);

#[derive(Debug, Default)]
struct Totals {
    push: Calls,
    pop: Calls,
}

#[derive(Debug, Default)]
struct Calls {
    count: AtomicU64,
    sampled_count: AtomicU64,
    spent_ns: AtomicU64,
}

impl Calls {
    fn measure<R>(&self, call: impl FnOnce() -> R) -> R {
        if !self.count.fetch_add(1, Ordering::Relaxed).is_multiple_of(SAMPLE_INTERVAL) {
            return call();
        }
        let start = Instant::now();
        let result = call();
        self.spent_ns.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        self.sampled_count.fetch_add(1, Ordering::Relaxed);
        result
    }

    /// Returns the estimated time of all calls, in ns.
    fn total_ns(&self) -> f64 {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
        read(&self.spent_ns) / read(&self.sampled_count).max(1.0) * read(&self.count)
    }
}

impl DecisionCost {
    /// Returns `choice` with measurement of the calls of its schedulers.
    pub fn wrap(&self, choice: &Choice) -> Choice {
        let cost = self.clone();
        choice.wrap_queues(move |queue| Box::new(MeasuredScheduler { queue, cost: cost.clone() }))
    }

    /// Returns the mean time per decision in ns, for queueing requests and selecting among them; `None` without
    /// decisions.
    pub fn mean_ns(&self) -> Option<f64> {
        let decisions = self.0.pop.count.load(Ordering::Relaxed);
        let total_ns = self.0.push.total_ns() + self.0.pop.total_ns();
        (decisions > 0).then(|| total_ns / decisions as f64)
    }
}

struct MeasuredScheduler {
    queue: Box<dyn Scheduler>,
    cost: DecisionCost,
}

#[deny(clippy::missing_trait_methods)]
impl Scheduler for MeasuredScheduler {
    fn push(&mut self, request: QueuedRequest) {
        self.cost.0.push.measure(|| self.queue.push(request));
    }

    fn pop(&mut self, now: Time, mechanics: &dyn Mechanics, batch: &mut Vec<QueuedRequest>) {
        self.cost.0.pop.measure(|| self.queue.pop(now, mechanics, batch));
    }

    fn len(&self) -> usize {
        self.queue.len()
    }

    fn remove(&mut self, request: &QueuedRequest, mechanics: &dyn Mechanics) -> bool {
        self.queue.remove(request, mechanics)
    }

    fn failure(&mut self) -> Option<Error> {
        self.queue.failure()
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use sledlab_core::source::MemorySource;
    use sledlab_core::{Op, Request, seed};

    use super::*;
    use crate::{Experiment, Hooks, Summary};

    /// Many requests on few tracks: some write blocks that others read, and many begin where the previous one ended.
    fn requests() -> Vec<Request> {
        let mut rng = seed::stream(1, "crowd");
        let mut end = 0;
        let request = |number: u64| {
            let lbn = if rng.random_bool(0.3) { end } else { rng.random_range(0..20_000) };
            let blocks = rng.random_range(1..=12);
            end = lbn + u64::from(blocks);
            let op = if rng.random_bool(0.7) { Op::Read } else { Op::Write };
            Request { arrival: Time::from_ns(10_000 * number), lbn, blocks, op, ..Request::default() }
        };
        (0..900).map(request).collect()
    }

    fn experiment(scheduler: &str, merge: &str) -> Experiment {
        let mut experiment = Experiment::new();
        experiment.set_device("mems-g2").unwrap();
        experiment.set("scheduler.kind", scheduler).unwrap();
        experiment.set("merge.kind", merge).unwrap();
        experiment
    }

    fn run(experiment: &Experiment, time_decisions: bool) -> Summary {
        let source = Some(Box::new(MemorySource::new(requests())) as Box<dyn sledlab_core::Source>);
        let outcome = experiment.run(Hooks { source, time_decisions, ..Hooks::default() }).unwrap();
        assert_eq!(outcome.decision_ns.is_some(), time_decisions);
        outcome.summary
    }

    #[test]
    fn measuring_changes_no_result() {
        let to_json = |summary: &Summary| serde_json::to_string(summary).unwrap();
        let single_choice =
            ["fcfs", "c-scan", "scan", "sstf", "sstf:distance=blocks", "sdf", "sptf", "zsptf", "mst"];
        let batch_choice =
            ["sstf:batch=same-position", "p-sptf", "p-sptf:entries=blocks", "fcfs:entries=blocks"];
        for scheduler in single_choice.into_iter().chain(batch_choice) {
            for merge in ["none", "pairs", "chains:among=neighbors", "chains"] {
                let experiment = experiment(scheduler, merge);
                let (untimed, timed) = (run(&experiment, false), run(&experiment, true));
                assert_eq!(untimed.merged.requests > 0, merge != "none", "{scheduler}, {merge}");
                assert_eq!(to_json(&timed), to_json(&untimed), "{scheduler}, {merge}");
            }
        }
    }

    /// A wrapper of a scheduler that does not forward one method: `remove` removes no request.
    struct IncompleteWrapper(Box<dyn Scheduler>);

    impl Scheduler for IncompleteWrapper {
        fn push(&mut self, request: QueuedRequest) {
            self.0.push(request);
        }

        fn pop(&mut self, now: Time, mechanics: &dyn Mechanics, batch: &mut Vec<QueuedRequest>) {
            self.0.pop(now, mechanics, batch);
        }

        fn len(&self) -> usize {
            self.0.len()
        }

        fn remove(&mut self, _request: &QueuedRequest, _mechanics: &dyn Mechanics) -> bool {
            false
        }

        fn failure(&mut self) -> Option<Error> {
            self.0.failure()
        }
    }

    #[test]
    fn wrapper_without_remove_changes_results() {
        let mut experiment = experiment("sstf:distance=blocks", "chains");
        let complete = run(&experiment, false);
        let params = "distance = \"blocks\"".parse().unwrap();
        let sstf = Choice::new("sstf", &params).unwrap();
        experiment.set_scheduler(Choice::custom("incomplete", params, move |mechanics| {
            Ok(Box::new(IncompleteWrapper(sstf.make(mechanics)?)))
        }));
        let incomplete = run(&experiment, false);
        assert_ne!(incomplete.service_time_ms, complete.service_time_ms);
    }
}
