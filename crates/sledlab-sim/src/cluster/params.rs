//! How a work record is replayed on a cluster.

use sledlab_core::{Error, Result};

use super::failure::{CopyLayout, FailedNodes, Redundancy};

sledlab_core::choices! {
    /// Location of the computation.
    pub enum JobPlacement {
        /// On the nodes, next to the data.
        Nodes = "nodes",
        /// On a host that receives all pages over the network.
        Host = "host",
    }
}

sledlab_core::params! {
    /// How a record is replayed.
    pub struct ClusterParams {
        /// Location of the computation: the nodes, or a host that receives all pages over the network.
        at: JobPlacement = JobPlacement::Nodes;
        /// Whether every pass of a nested loop is simulated; otherwise long loops are sampled.
        exact: bool = false;
        /// Whether the record is replayed again with processor, store and network each twice as fast.
        what_if: bool = true;
        /// Whether stores never park and start up in no time, unless [power] or device.startup_ms is set.
        ready: bool = true;
        /// Nodes that hold copies of a node's files: none, its mirror, or the next node (chained).
        redundancy: Redundancy = Redundancy::None;
        /// Nodes that fail: none, a number or a list of numbers.
        failed: FailedNodes = FailedNodes::default();
        /// Time at which the `failed` nodes fail; 0 is before the job.
        failed_at_s: f64 = 0.0, "s", 0.0..1e9;
        /// Rate at which files of failed nodes are rebuilt on a spare, in 10^6 bytes/s; 0 rebuilds none.
        rebuild_mb_s: f64 = 0.0, "MB/s", 0.0..1e6;
    }
}

impl ClusterParams {
    /// Checks the settings of failure against the number of nodes.
    ///
    /// # Errors
    /// Rejects settings that contradict each other, and failures that lose data.
    pub(super) fn check(&self, nodes: usize) -> Result<()> {
        let has_failures = !self.failed.0.is_empty();
        if self.at == JobPlacement::Host && (has_failures || self.redundancy != Redundancy::None) {
            return Err(Error::user("cluster.redundancy and cluster.failed require cluster.at = \"nodes\"")
                .with_remedy("omit cluster.redundancy and cluster.failed, or cluster.at = \"host\""));
        }
        for (key, value) in [("failed_at_s", self.failed_at_s), ("rebuild_mb_s", self.rebuild_mb_s)] {
            if value > 0.0 && !has_failures {
                return Err(Error::user(format!("cluster.{key} is set, but no node fails"))
                    .with_remedy("name the nodes: cluster.failed"));
            }
        }
        CopyLayout::new(self.redundancy, nodes, &self.failed.0).map(|_| ())
    }
}
