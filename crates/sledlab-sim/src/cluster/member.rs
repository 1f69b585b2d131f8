//! A node of the cluster: its store, its files, and the cost of its operations.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use sledlab_core::{Error, Op, Result, Span, seed};
use sledlab_models::network::Port;
use sledlab_models::node::{Files, Node};
use sledlab_models::power::Energy;
use sledlab_trace::work::{NodeStep, Work};

use super::page_cache::PageCache;
use super::sampling::{Sampling, State};
use super::sequence::{Sequence, SequencePlace, extent};
use super::store::{Store, Traffic};

/// Speed factors of processor, store and network: 1, or 2 in a what-if replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rates {
    pub processor: u64,
    pub store: u64,
    pub network: u64,
}

impl Default for Rates {
    fn default() -> Self {
        Rates { processor: 1, store: 1, network: 1 }
    }
}

/// The time of a node in a phase by component, exact to the nanosecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MemberParts {
    /// The processor works on data.
    pub compute: Span,
    /// Pages are being read or written.
    pub store: Span,
    /// Messages are packed, transferred or received.
    pub network: Span,
    /// The node waits for other nodes.
    pub waiting: Span,
}

impl MemberParts {
    /// Returns the sum of all components.
    pub fn total(&self) -> Span {
        self.compute + self.store + self.network + self.waiting
    }
}

impl std::ops::AddAssign for MemberParts {
    fn add_assign(&mut self, other: MemberParts) {
        self.compute += other.compute;
        self.store += other.store;
        self.network += other.network;
        self.waiting += other.waiting;
    }
}

/// The work of a step, in processor time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Charge {
    pub compute_ns: u64,
    pub network_ns: u64,
}

/// Counts pages, and stops loops when the user interrupts.
#[derive(Debug, Default)]
pub(super) struct InterruptCheck {
    pub pages: AtomicU64,
    pub stop: AtomicBool,
}

impl InterruptCheck {
    /// Pages between two checks for an interrupt.
    pub const INTERVAL: u64 = 2048;

    /// Adds `pages` completed pages.
    ///
    /// # Errors
    /// An interrupt by the user.
    pub fn check(&self, pages: u64) -> Result<()> {
        self.pages.fetch_add(pages, Ordering::Relaxed);
        if self.stop.load(Ordering::Relaxed) { Err(Error::interrupted()) } else { Ok(()) }
    }
}

/// Whether passes of nested loops may be skipped. They may not if every pass is to be simulated, or if the time of a
/// request depends on requests of skipped passes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Skips {
    /// In steps that only read.
    pub read_only_steps: bool,
    /// In steps that write.
    pub writing_steps: bool,
}

/// A node of the cluster.
pub(super) struct Member {
    pub index: usize,
    pub node: Node,
    /// The store; a host has none, because its data arrive over the network.
    pub store: Option<Store>,
    pub files: Files,
    pub page_cache: Option<PageCache>,
    pub rates: Rates,
    pub skips: Skips,
    /// Size of a page of each node, for a host, which sends pages to nodes; empty for nodes.
    pub page_bytes_of_nodes: Vec<u64>,
    pub seed: u64,
    /// Time in which the processor was busy, over all phases.
    pub processor_busy: Span,
    /// Pages that were simulated.
    pub simulated_pages: u64,
    /// Pages of passes that were skipped.
    pub skipped_pages: u64,
    /// Passes that were skipped.
    pub skipped_passes: u64,
    /// Maximum error of the node's time due to skipped passes.
    pub sampling_error: Span,
}

impl Member {
    /// Returns the processor time of a step's operations.
    ///
    /// # Errors
    /// A kind of operation that the node has no cycles for.
    pub fn charge(&self, work: &Work, step: &NodeStep) -> Result<Charge> {
        let (mut compute, mut network) = (0.0, 0.0);
        for (kind, count) in &step.operations {
            let (cycles, is_network) = self.node.cycles(&work.kinds[*kind])?;
            *(if is_network { &mut network } else { &mut compute }) += cycles * *count as f64;
        }
        network *= self.packing_ratio(step);
        let ns = |cycles: f64, rate: u64| (cycles / self.node.cycles_per_ns() / rate as f64 + 0.5) as u64;
        Ok(Charge {
            compute_ns: ns(compute, self.rates.processor),
            network_ns: ns(network, self.rates.network),
        })
    }

    /// Returns the ratio of the tuples that are packed in a step to those that leave the node.
    fn packing_ratio(&self, step: &NodeStep) -> f64 {
        let bytes = |is_own: bool| {
            let sends = step.sends.iter().filter(|(to, _)| (*to as usize == self.index) == is_own);
            sends.map(|(_, bytes)| *bytes as f64).sum::<f64>()
        };
        let (own, sent) = (bytes(true), bytes(false));
        if self.node.params.packs_own_tuples && sent > 0.0 { (own + sent) / sent } else { 1.0 }
    }

    /// Returns the processor time for messages of `bytes`, the same at either end, in ns.
    pub fn message_ns(&self, messages: u64, bytes: u64) -> u64 {
        let params = &self.node.params;
        let cycles = params.message_cycles * messages as f64 + params.byte_cycles * bytes as f64;
        (cycles / self.node.cycles_per_ns() / self.rates.network as f64 + 0.5) as u64
    }

    /// Returns the maximum size in bytes of the messages of a step to a port.
    pub fn message_bytes(&self, step: &NodeStep, to: Port) -> u64 {
        let page_bytes = self.page_bytes_of_nodes.get(to as usize).copied();
        let default = self.node.params.message_kb * sledlab_models::node::KB;
        page_bytes.or(step.message_bytes).unwrap_or(default).max(1)
    }

    /// Returns the time of software before each request of a phase; it counts as store time and does not occupy the
    /// processor.
    pub fn request_overhead(&self, phase: &str) -> Span {
        Span::from_seconds(self.node.request_us(phase) * 1e-6 / self.rates.store as f64)
    }

    /// Returns the pages that a step reads or writes, in order.
    pub fn sequence(
        &self,
        work: &Work,
        phase: &str,
        accesses: &[sledlab_trace::work::FileAccess],
    ) -> Sequence {
        let name = format!("{phase}, node {}", self.index);
        let place = SequencePlace { node: &self.node, files: &self.files, seed: self.seed, name: &name };
        Sequence::new(&place, accesses, |file| work.files[file].bytes[self.index])
    }

    /// Returns the pages and bytes of the accesses of a step, with all passes of nested loops, or with `once` only the
    /// first.
    pub fn extent(
        &self,
        work: &Work,
        accesses: &[sledlab_trace::work::FileAccess],
        once: bool,
    ) -> (u128, u128) {
        extent(&self.node, accesses, |file| work.files[file].bytes[self.index], once)
    }

    /// Returns whether the page cache serves a request to the store, and notes the use of the page.
    #[inline]
    pub fn is_cached(&mut self, op: Op, lbn: u64, blocks: u32) -> bool {
        self.page_cache.as_mut().is_some_and(|cache| cache.serve(op, lbn, blocks))
    }

    /// Returns the store of the node.
    ///
    /// # Errors
    /// The member is a host, which has no store: a defect of sledlab.
    pub fn store(&mut self) -> Result<&mut Store> {
        self.store.as_mut().ok_or_else(|| Error::internal("a host has no store"))
    }

    /// Returns the energy of the store so far.
    pub fn energy(&self) -> Energy {
        self.store.as_ref().map_or_else(Energy::default, Store::energy)
    }

    /// Samples the nested loops of a step, unless every pass has to be simulated.
    pub fn sampling(&self, reads: &Sequence, writes: &Sequence, phase: &str) -> Sampling {
        let skips = if writes.len() > 0 { self.skips.writing_steps } else { self.skips.read_only_steps };
        let loops = if skips { reads.loops() } else { Vec::new() };
        let random = seed::stream(self.seed, &format!("{phase}, node {}, passes", self.index));
        Sampling::new(loops, self.node.params.prefetch_pages, random)
    }

    /// The state of a step in which the node has spent `parts`.
    pub fn state(&mut self, parts: MemberParts) -> State {
        let longest_gap = self.store.as_mut().map_or(Span::ZERO, Store::take_longest_gap);
        State { parts, energy: self.energy(), longest_gap }
    }

    /// Counts the passes that were skipped in a step.
    pub fn note_sampling(&mut self, sampling: &Sampling) {
        self.skipped_passes += sampling.skipped_passes;
        self.sampling_error += sampling.error;
    }

    /// Skips passes, or parts of their time, that last `span`.
    ///
    /// # Errors
    /// Passes that last longer than the clock can count.
    pub fn skip(&mut self, span: Span, traffic: Traffic, energy: Energy) -> Result<()> {
        self.skipped_pages += traffic.requests;
        self.store()?.skip(span, traffic, energy)
    }

    /// Traffic and energy of the store so far.
    pub fn usage(&self) -> (Traffic, Energy) {
        self.store.as_ref().map_or_else(Default::default, |store| (store.traffic(), store.energy()))
    }
}
