//! Clusters for tests.

pub mod random;

use sledlab_sim::cluster::{ClusterExperiment, ClusterHooks, ClusterOutcome, NodeOutcome};
use sledlab_trace::work::Work;

/// The nodes, stores and network of a test.
pub struct Machine {
    pub experiment: ClusterExperiment,
}

impl Machine {
    /// Returns a cluster with these keys set.
    pub fn new(settings: &[(&str, &str)]) -> Self {
        let mut experiment = ClusterExperiment::new();
        for (key, value) in settings {
            experiment.set(key, value).unwrap();
        }
        Machine { experiment }
    }

    pub fn run(&self, work: &Work) -> ClusterOutcome {
        self.experiment.run(work, ClusterHooks { threads: 1, ..ClusterHooks::default() }).unwrap()
    }

    pub fn what_if(&self, work: &Work) -> ClusterOutcome {
        self.experiment.run(work, ClusterHooks { what_if: true, ..ClusterHooks::default() }).unwrap()
    }
}

/// A record written by hand.
pub fn record(text: &str) -> Work {
    Work::parse("test.work", std::io::Cursor::new(text.to_owned())).unwrap()
}

/// The sum of one component of time over all nodes and phases, in ns.
pub fn ns(outcome: &ClusterOutcome, part: impl Fn(&NodeOutcome) -> u64) -> u64 {
    outcome.phases.iter().flat_map(|phase| &phase.nodes).map(part).sum()
}
