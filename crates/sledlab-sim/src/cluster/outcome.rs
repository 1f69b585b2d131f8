//! What a replay gives: where the time of every node went, phase by phase, and what that took.

use serde::Serialize;
use serde_json::Value;
use sledlab_models::node::Node;
use sledlab_models::power::Energy;

use super::engine::{Ran, Spent};
use super::failure::FailureOutcome;

/// Of a replay.
#[derive(Clone, Debug, Serialize)]
pub struct ClusterOutcome {
    /// The job that was recorded.
    pub job: String,
    /// Nodes, a host counted.
    pub nodes: usize,
    /// From the beginning to the end of the last phase, in ns.
    pub elapsed_ns: u64,
    /// Phases in order.
    pub phases: Vec<PhaseOutcome>,
    /// Energy of all nodes.
    pub energy: ClusterEnergy,
    /// Pages that were read and written by nodes, and the share of them that was simulated; the others are passes of nested
    /// loops that are like those before them.
    pub pages: u64,
    /// See `pages`.
    pub simulated_share: f64,
    /// The component that takes most time of all nodes together: `compute`, `store` or `network` (MT-14).
    pub largest: &'static str,
    /// The same replay with one of them twice as fast; empty unless asked for.
    pub what_if: Vec<WhatIf>,
    /// Where nodes hold copies: what that costs, and what failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureOutcome>,
    /// The complete experiment.
    pub config: Value,
}

/// Of a phase.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseOutcome {
    /// Its name.
    pub name: String,
    /// When it begins, in ns.
    pub start_ns: u64,
    /// When it ends.
    pub end_ns: u64,
    /// Every node.
    pub nodes: Vec<NodeOutcome>,
}

/// Of a node in a phase: compute + store + network + waiting = the length of the phase.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct NodeOutcome {
    /// The processor works on data, in ns.
    pub compute_ns: u64,
    /// Pages are missing, or being written.
    pub store_ns: u64,
    /// Messages are packed, under way, or taken in.
    pub network_ns: u64,
    /// For other nodes.
    pub waiting_ns: u64,
    /// Time of the processor, for data and messages.
    pub processor_ns: u64,
    /// Requests to the store.
    pub requests: u64,
    /// Bytes read from the store.
    pub read_bytes: u64,
    /// Bytes written there.
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
    /// All of it: the sum of the others.
    pub total_j: f64,
    /// Stores.
    pub store_j: f64,
    /// Stores by state.
    pub store_states: Energy,
    /// Processors.
    pub processor_j: f64,
    /// Memories.
    pub memory_j: f64,
    /// Ports of the network.
    pub network_j: f64,
}

/// A replay with something twice as fast.
#[derive(Clone, Debug, Serialize)]
pub struct WhatIf {
    /// What: `compute`, `store` or `network`.
    pub what: &'static str,
    /// How long it takes then, in ns.
    pub elapsed_ns: u64,
    /// The share of the time that is saved.
    pub saved: f64,
}

impl ClusterOutcome {
    /// The component whose doubled speed saves most, where that was asked for.
    pub fn bottleneck(&self) -> Option<&WhatIf> {
        self.what_if.iter().max_by(|a, b| a.saved.total_cmp(&b.saved))
    }

    /// Time of all nodes in each component: compute, store, network and waiting, in ns.
    pub fn components(&self) -> [u128; 4] {
        let mut sums = [0; 4];
        for node in self.phases.iter().flat_map(|phase| &phase.nodes) {
            let parts = [node.compute_ns, node.store_ns, node.network_ns, node.waiting_ns];
            sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += u128::from(part));
        }
        sums
    }
}

/// The largest component but waiting.
pub(super) fn largest(components: [u128; 4]) -> &'static str {
    let [compute, store, network, _] = components;
    let named = [("store", store), ("network", network), ("compute", compute)];
    named.into_iter().max_by_key(|(_, ns)| *ns).map_or("store", |(name, _)| name)
}

pub(super) fn phase(ran: &Ran, sent: &[u64], received: &[u64]) -> PhaseOutcome {
    let node = |(index, spent): (usize, &Spent)| NodeOutcome {
        compute_ns: spent.parts.compute.as_ns(),
        store_ns: spent.parts.store.as_ns(),
        network_ns: spent.parts.network.as_ns(),
        waiting_ns: spent.parts.waiting.as_ns(),
        processor_ns: spent.busy.as_ns(),
        requests: spent.traffic.requests,
        read_bytes: spent.traffic.read,
        written_bytes: spent.traffic.written,
        sent_bytes: sent.get(index).copied().unwrap_or_default(),
        received_bytes: received.get(index).copied().unwrap_or_default(),
        store_j: spent.store.total,
    };
    PhaseOutcome {
        name: ran.name.clone(),
        start_ns: ran.start.as_ns(),
        end_ns: ran.end.as_ns(),
        nodes: ran.nodes.iter().enumerate().map(node).collect(),
    }
}

/// What processor and memory of a node take in `elapsed_s`.
pub(super) fn node_energy(node: &Node, elapsed_s: f64, busy_s: f64) -> (f64, f64) {
    let params = &node.params;
    let idle_s = (elapsed_s - busy_s).max(0.0);
    (params.processor_active_w * busy_s + params.processor_idle_w * idle_s, params.memory_w * elapsed_s)
}
