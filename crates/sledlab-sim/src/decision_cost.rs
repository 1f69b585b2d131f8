//! What scheduling costs in real time (MT-04).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use sledlab_core::{Error, Time};
use sledlab_models::device::{Mechanics, Queued};
use sledlab_models::scheduler::{Choice, Scheduler};

/// One call in so many is measured: reading the clock takes as long as a cheap decision.
const SAMPLE_EVERY: u64 = 16;

/// Times of sampled calls, added up over all queues of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct DecisionCost(Arc<Totals>);

#[derive(Debug, Default)]
struct Totals {
    push: Calls,
    pop: Calls,
}

#[derive(Debug, Default)]
struct Calls {
    made: AtomicU64,
    sampled: AtomicU64,
    spent_ns: AtomicU64,
}

impl Calls {
    fn measure<R>(&self, call: impl FnOnce() -> R) -> R {
        if !self.made.fetch_add(1, Ordering::Relaxed).is_multiple_of(SAMPLE_EVERY) {
            return call();
        }
        let begun = Instant::now();
        let result = call();
        self.spent_ns.fetch_add(begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
        self.sampled.fetch_add(1, Ordering::Relaxed);
        result
    }

    /// Estimated time of all calls, in ns.
    fn total_ns(&self) -> f64 {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
        read(&self.spent_ns) / read(&self.sampled).max(1.0) * read(&self.made)
    }
}

impl DecisionCost {
    /// `choice`, measured.
    pub fn of(&self, choice: &Choice) -> Choice {
        let (cost, inner) = (self.clone(), choice.clone());
        Choice::custom("", toml::Table::new(), move |mechanics| {
            Ok(Box::new(Measured { queue: inner.make(mechanics)?, cost: cost.clone() }))
        })
    }

    /// Mean time of a decision: choosing, and its share of queueing up. `None` without decisions.
    pub fn mean_ns(&self) -> Option<f64> {
        let decisions = self.0.pop.made.load(Ordering::Relaxed);
        let total_ns = self.0.push.total_ns() + self.0.pop.total_ns();
        (decisions > 0).then(|| total_ns / decisions as f64)
    }
}

struct Measured {
    queue: Box<dyn Scheduler>,
    cost: DecisionCost,
}

impl Scheduler for Measured {
    fn push(&mut self, request: Queued) {
        self.cost.0.push.measure(|| self.queue.push(request));
    }

    fn pop(&mut self, now: Time, mechanics: &dyn Mechanics, batch: &mut Vec<Queued>) {
        self.cost.0.pop.measure(|| self.queue.pop(now, mechanics, batch));
    }

    fn len(&self) -> usize {
        self.queue.len()
    }

    fn remove(&mut self, request: &Queued) -> bool {
        self.queue.remove(request)
    }

    fn failure(&mut self) -> Option<Error> {
        self.queue.failure()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Experiment, Hooks};

    /// The summary of an overload of adjacent reads, and how many requests were merged.
    fn run(scheduler: &str, merge: &str, time_decisions: bool) -> (String, u64) {
        let mut experiment = Experiment::new();
        experiment.set_device("mems-g2").unwrap();
        for (key, value) in [
            ("scheduler.kind", scheduler),
            ("merge.kind", merge),
            ("workload.kind", "directed-merge"),
            ("workload.mean_interarrival_ms", "1"),
            ("replay.limit", "900"),
        ] {
            experiment.set(key, value).unwrap();
        }
        let outcome = experiment.run(Hooks { time_decisions, ..Hooks::default() }).unwrap();
        assert_eq!(outcome.decision_ns.is_some(), time_decisions, "{scheduler}");
        let merged = outcome.summary.merged.requests;
        (serde_json::to_string(&outcome.summary).unwrap(), merged)
    }

    #[test]
    fn measuring_changes_no_result() {
        let alone = ["fcfs", "c-scan", "scan", "sstf", "sdf", "sptf", "zsptf", "mst"];
        let together = ["sstf:batch=same-position", "p-sptf"];
        for scheduler in alone.into_iter().chain(together) {
            for merge in ["none", "pairs", "chains:among=neighbours", "chains"] {
                let (plain, merged) = run(scheduler, merge, false);
                assert_eq!(merged > 0, merge != "none", "{scheduler}, {merge}");
                assert_eq!(run(scheduler, merge, true), (plain, merged), "{scheduler}, {merge}");
            }
        }
    }
}
