//! A node at work: its store, its files, and the cost of its operations.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use sledlab_core::request::BLOCK_BYTES;
use sledlab_core::{Error, Result, Span, Time};
use sledlab_models::node::{Files, Node};
use sledlab_models::power::Energy;
use sledlab_trace::work::{NodeStep, Work};

use super::sequence::{Sequence, SequencePlace};
use super::store::{Store, Traffic};

/// How many times as fast as described processor, store and network are: 1, or 2 in a what-if replay.
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

/// The time of a node in a phase by component, to the nanosecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MemberParts {
    /// The processor works on data.
    pub compute: Span,
    /// Pages are missing, or on their way to the store.
    pub store: Span,
    /// Messages are packed, sent, on their way, or taken in.
    pub network: Span,
    /// The node waits for other nodes.
    pub waiting: Span,
}

impl MemberParts {
    /// The sum of all components.
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

/// The work of a step, in time of the processor.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Charge {
    pub compute_ns: u64,
    pub network_ns: u64,
}

/// Counts pages, and tells loops to end when the user interrupts.
#[derive(Debug, Default)]
pub(super) struct Watch {
    pub pages: AtomicU64,
    pub stop: AtomicBool,
}

impl Watch {
    /// Pages between two checks for an interrupt.
    pub const EVERY: u64 = 2048;

    /// Counts `pages` more pages as done.
    ///
    /// # Errors
    /// The user has interrupted the work.
    pub fn note(&self, pages: u64) -> Result<()> {
        self.pages.fetch_add(pages, Ordering::Relaxed);
        if self.stop.load(Ordering::Relaxed) { Err(Error::interrupted()) } else { Ok(()) }
    }
}

/// A node of the cluster.
pub(super) struct Member {
    pub index: usize,
    pub node: Node,
    /// The store; a host has none, as its data come over the network.
    pub store: Option<Store>,
    pub files: Files,
    pub rates: Rates,
    /// Whether every pass of a nested loop is simulated.
    pub exact: bool,
    pub seed: u64,
    /// Time in which the processor was busy, over all phases.
    pub processor_busy: Span,
    /// Pages that were simulated.
    pub simulated: u64,
    /// Pages of passes that were skipped.
    pub skipped: u64,
}

impl Member {
    /// The processor time of a step's operations.
    ///
    /// # Errors
    /// A kind of operation that the node does not know.
    pub fn charge(&self, work: &Work, step: &NodeStep) -> Result<Charge> {
        let (mut compute, mut network) = (0.0, 0.0);
        for (kind, count) in &step.operations {
            let (cycles, is_network) = self.node.cycles(&work.kinds[*kind])?;
            *(if is_network { &mut network } else { &mut compute }) += cycles * *count as f64;
        }
        let ns = |cycles: f64, rate: u64| (cycles / self.node.cycles_per_ns() / rate as f64 + 0.5) as u64;
        Ok(Charge {
            compute_ns: ns(compute, self.rates.processor),
            network_ns: ns(network, self.rates.network),
        })
    }

    /// Processor time for messages of so many bytes, the same at either end, in ns.
    pub fn message_ns(&self, messages: u64, bytes: u64) -> u64 {
        let params = &self.node.params;
        let cycles = params.message_cycles * messages as f64 + params.byte_cycles * bytes as f64;
        (cycles / self.node.cycles_per_ns() / self.rates.network as f64 + 0.5) as u64
    }

    /// Most bytes of a message of a step.
    pub fn message_bytes(&self, step: &NodeStep) -> u64 {
        step.message_bytes.unwrap_or(self.node.params.message_kb * sledlab_models::node::KB).max(1)
    }

    /// Time of software before each request; it counts as time of the store and keeps the processor free.
    pub fn request(&self) -> Span {
        Span::from_seconds(self.node.params.request_us * 1e-6 / self.rates.store as f64)
    }

    /// The pages that a step reads or writes, in order.
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

    /// The store of the node.
    ///
    /// # Errors
    /// A host that is asked for pages, which is a defect.
    pub fn store(&mut self) -> Result<&mut Store> {
        self.store.as_mut().ok_or_else(|| Error::internal("a host has no store"))
    }

    /// Energy of the store so far.
    pub fn energy(&self) -> Energy {
        self.store.as_ref().map_or_else(Energy::default, Store::energy)
    }

    /// Skips passes that last `span`: `read` and `written` are their pages and blocks, `energy` that of the store.
    pub fn skip(&mut self, span: Span, read: (u64, u64), written: (u64, u64), energy: Energy) -> Result<()> {
        self.skipped += read.0 + written.0;
        let traffic = Traffic {
            requests: read.0 + written.0,
            read: read.1 * BLOCK_BYTES,
            written: written.1 * BLOCK_BYTES,
        };
        self.store()?.skip(span, traffic, energy);
        Ok(())
    }

    /// Traffic and energy of the store so far.
    pub fn spent(&self) -> (Traffic, Energy) {
        self.store.as_ref().map_or_else(Default::default, |store| (store.traffic(), store.energy()))
    }
}

/// Finds out when successive passes of a nested loop last the same, so that later passes can be skipped.
#[derive(Debug, Default)]
pub(super) struct Passes {
    /// At the end of each pass: the time, the node's time by component so far, and the energy of the store so far.
    ends: Vec<(Time, MemberParts, Energy)>,
}

impl Passes {
    /// Passes in a row that must last the same before later passes count as like them.
    const SAME: usize = 2;
    /// Passes whose lengths differ by less than this share count as the same. The mean of two passes is nearer to the
    /// later ones than either is: the first begins at another position, and passes on disks always differ by about as
    /// much.
    const ALIKE: f64 = 2e-3;

    /// Notes the end of the `ended`th pass, or the beginning of the first. Where the last passes lasted the same: time
    /// and energy of `times` more passes like them.
    pub fn end(
        &mut self,
        ended: u64,
        now: Time,
        parts: MemberParts,
        energy: Energy,
        times: u64,
    ) -> Option<(MemberParts, Energy)> {
        if ended == 0 {
            self.ends.clear();
        }
        self.ends.push((now, parts, energy));
        let last = &self.ends[self.ends.len().saturating_sub(Self::SAME + 1)..];
        if times == 0 || last.len() <= Self::SAME || !are_alike(last) {
            return None;
        }
        let (_, first, then) = last[0];
        let mean =
            |now: u64, then: u64| (u128::from(now - then) * u128::from(times) / Self::SAME as u128) as u64;
        let span = |now: Span, then: Span| Span::from_ns(mean(now.as_ns(), then.as_ns()));
        let left_out = MemberParts {
            compute: span(parts.compute, first.compute),
            store: span(parts.store, first.store),
            network: span(parts.network, first.network),
            waiting: span(parts.waiting, first.waiting),
        };
        let share = times as f64 / Self::SAME as f64;
        Some((left_out, super::store::scaled(super::store::since(energy, then), share)))
    }
}

/// Whether the passes between these ends lasted the same.
fn are_alike(ends: &[(Time, MemberParts, Energy)]) -> bool {
    let lengths = ends.windows(2).map(|two| two[1].0.since(two[0].0).as_ns() as f64);
    let (least, most) =
        lengths.fold((f64::MAX, 0.0_f64), |(least, most), length| (least.min(length), most.max(length)));
    most - least <= Passes::ALIKE * most
}
