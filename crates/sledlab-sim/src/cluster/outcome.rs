//! Results of a replay: the time of every node by component, phase by phase, and the energy.

use serde::Serialize;
use serde_json::Value;
use sledlab_models::node::Node;
use sledlab_models::power::Energy;

use super::engine::{PhaseCost, ReplayedPhase};

/// Results of a replay.
#[derive(Clone, Debug, Serialize)]
pub struct ClusterOutcome {
    /// Name of the recorded job.
    pub job: String,
    /// Number of nodes, including a host.
    pub nodes: usize,
    /// Duration from the beginning to the end of the last phase, in ns.
    pub elapsed_ns: u64,
    /// Phases in order.
    pub phases: Vec<PhaseOutcome>,
    /// Energy of all nodes.
    pub energy: ClusterEnergy,
    /// Pages that nodes read and wrote, including skipped passes of nested loops.
    pub pages: u64,
    /// The share of `pages` that was simulated. The other pages belong to skipped passes of nested loops, whose time
    /// and energy are estimated from a sample of passes.
    pub simulated_share: f64,
    /// Skipped passes of nested loops, over all nodes.
    pub skipped_passes: u64,
    /// Maximum relative error of `elapsed_ns` due to skipped passes, with a confidence of 99.9 %; 0 if all passes were
    /// simulated.
    pub sampling_error: f64,
    /// The component with the largest total time over all nodes: `compute`, `store` or `network`.
    pub largest: &'static str,
    /// Replays with one component twice as fast; empty unless requested.
    pub what_if: Vec<WhatIf>,
    /// Results of redundancy, if nodes have redundant copies: the copied bytes, the failed nodes, and the rebuild.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureOutcome>,
    /// The complete experiment of the replay.
    pub config: Value,
}

/// Results of a replay with redundant copies or failures.
#[derive(Clone, Debug, Serialize)]
pub struct FailureOutcome {
    /// The placement of copies: `mirror` or `chained`.
    pub redundancy: &'static str,
    /// Nodes that failed while the job ran.
    pub failed: Vec<usize>,
    /// The phase of the record in which, or before which, the nodes fail.
    pub phase: Option<String>,
    /// When the other nodes detect the failure, in ns.
    pub detected_ns: Option<u64>,
    /// Bytes written as redundant copies.
    pub copied_bytes: u64,
    /// Nodes that replace failed nodes, numbered after all others.
    pub spares: usize,
    /// The rebuild on the spares.
    pub rebuild: Option<RebuildOutcome>,
    /// Bytes that each node sends to each other node and, in the last column, to the client; empty for more than 1,024
    /// nodes, spares included.
    pub traffic: Vec<Vec<u64>>,
}

/// Results of a rebuild.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RebuildOutcome {
    /// Bytes of the failed nodes, all of which are rebuilt.
    pub bytes: u64,
    /// Bytes that were rebuilt before the job ended.
    pub job_bytes: u64,
    /// When the last byte was rebuilt, in ns; extrapolated at the configured rate if that is after the end of the job.
    pub finished_ns: u64,
}

/// Results of a phase.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseOutcome {
    /// Name of the phase.
    pub name: String,
    /// When the phase begins, in ns.
    pub start_ns: u64,
    /// When the phase ends, in ns.
    pub end_ns: u64,
    /// Results of every node in the phase.
    pub nodes: Vec<NodeOutcome>,
}

/// Results of a node in a phase: compute + store + network + waiting = the length of the phase.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct NodeOutcome {
    /// Time in which the processor works on data, in ns.
    pub compute_ns: u64,
    /// Time in which pages are missing, or being written, in ns.
    pub store_ns: u64,
    /// Time in which messages are packed, transferred or received, in ns.
    pub network_ns: u64,
    /// Time in which the node waits for other nodes, in ns.
    pub waiting_ns: u64,
    /// Time in which the processor is busy, for data and messages, in ns.
    pub processor_ns: u64,
    /// Requests to the store.
    pub requests: u64,
    /// Bytes read from the store.
    pub read_bytes: u64,
    /// Bytes written to the store.
    pub written_bytes: u64,
    /// Bytes sent to other nodes and to the client.
    pub sent_bytes: u64,
    /// Bytes received from other nodes.
    pub received_bytes: u64,
    /// Energy of the store, in J.
    pub store_j: f64,
}

/// Energy in J.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ClusterEnergy {
    /// Energy of all components: the sum of the others.
    pub total_j: f64,
    /// Energy of stores.
    pub store_j: f64,
    /// Energy of stores by state.
    pub store_states: Energy,
    /// Energy of processors.
    pub processor_j: f64,
    /// Energy of memories.
    pub memory_j: f64,
    /// Energy of the ports of the network.
    pub network_j: f64,
}

/// Results of a replay with one component twice as fast.
#[derive(Clone, Debug, Serialize)]
pub struct WhatIf {
    /// The component: `compute`, `store` or `network`.
    pub what: &'static str,
    /// Duration of the replay with the faster component, in ns.
    pub elapsed_ns: u64,
    /// The share of the elapsed time that is saved.
    pub saved: f64,
}

impl ClusterOutcome {
    /// Returns the component whose doubled speed saves most, if such replays were requested.
    pub fn bottleneck(&self) -> Option<&WhatIf> {
        self.what_if.iter().max_by(|a, b| a.saved.total_cmp(&b.saved))
    }

    /// Returns the time of all nodes in each component: compute, store, network and waiting, in ns.
    pub fn components(&self) -> [u128; 4] {
        let mut sums = [0; 4];
        for node in self.phases.iter().flat_map(|phase| &phase.nodes) {
            let parts = [node.compute_ns, node.store_ns, node.network_ns, node.waiting_ns];
            sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += u128::from(part));
        }
        sums
    }
}

/// Returns the largest component except waiting.
pub(super) fn largest_component(components: [u128; 4]) -> &'static str {
    let [compute, store, network, _] = components;
    let ns_by_name = [("store", store), ("network", network), ("compute", compute)];
    ns_by_name.into_iter().max_by_key(|(_, ns)| *ns).map_or("store", |(name, _)| name)
}

pub(super) fn phase_outcome(
    phase: &ReplayedPhase,
    sent_bytes: &[u64],
    received_bytes: &[u64],
) -> PhaseOutcome {
    let node = |(index, cost): (usize, &PhaseCost)| NodeOutcome {
        compute_ns: cost.parts.compute.as_ns(),
        store_ns: cost.parts.store.as_ns(),
        network_ns: cost.parts.network.as_ns(),
        waiting_ns: cost.parts.waiting.as_ns(),
        processor_ns: cost.busy.as_ns(),
        requests: cost.traffic.requests,
        read_bytes: cost.traffic.read_bytes,
        written_bytes: cost.traffic.written_bytes,
        sent_bytes: sent_bytes.get(index).copied().unwrap_or_default(),
        received_bytes: received_bytes.get(index).copied().unwrap_or_default(),
        store_j: cost.store.total,
    };
    PhaseOutcome {
        name: phase.name.clone(),
        start_ns: phase.start.as_ns(),
        end_ns: phase.end.as_ns(),
        nodes: phase.nodes.iter().enumerate().map(node).collect(),
    }
}

/// Returns the energy of the processor and of the memory of a node in `elapsed_s`, in J.
pub(super) fn node_energy(node: &Node, elapsed_s: f64, busy_s: f64) -> (f64, f64) {
    let params = &node.params;
    let idle_s = (elapsed_s - busy_s).max(0.0);
    (params.processor_active_w * busy_s + params.processor_idle_w * idle_s, params.memory_w * elapsed_s)
}
