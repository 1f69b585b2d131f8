//! Clusters: nodes with a processor, memory, a store and a link, which replay the work of a work record (Chiu 2004).
//!
//! A record holds counts and bytes; the replay gives them times. Every nanosecond of every node is compute, store,
//! network or waiting.
//!
//! ```
//! use sledlab_sim::cluster::{ClusterExperiment, ClusterHooks};
//! use sledlab_trace::work::Work;
//!
//! // 1,000 pages of 8 KB on a memory that takes 10 us for an access and 512 bytes a us: 26 us each.
//! let record = r#"{"work": 1, "job": "scan", "nodes": 1, "files": {"data": 8192000}}
//! {"phase": "scan", "node": 0, "reads": [{"file": "data"}], "operations": {"tuple": 50000}}
//! "#;
//! let work = Work::parse("scan.work", record.as_bytes())?;
//! let mut experiment = ClusterExperiment::new();
//! experiment.set("device.preset", "ram")?;
//! experiment.set("device.access_us", "10.0")?;
//! experiment.set("device.bus_mb_s", "512.0")?;
//! // 50 tuples of 1,000 cycles a page are 100 us at 500 MHz.
//! let outcome = experiment.run(&work, ClusterHooks::default())?;
//! let node = outcome.phases[0].nodes[0];
//! assert_eq!((node.store_ns, node.compute_ns), (26_000_000, 100_000_000));
//! assert_eq!(outcome.elapsed_ns, 126_000_000);
//! # Ok::<(), sledlab_core::Error>(())
//! ```

mod config;
mod engine;
mod failure;
mod goal;
mod host_processing;
mod member;
mod messages;
mod messaging;
mod outcome;
mod overlap;
mod page_cache;
mod params;
mod sampling;
mod sequence;
mod sequential;
mod share;
mod size;
mod store;

pub use config::ClusterExperiment;
pub use engine::ProgressHook;
pub use failure::{CopyLayout, FailedNodes, Part, Redundancy};
pub use goal::goal;
pub use outcome::{
    ClusterEnergy, ClusterOutcome, FailureOutcome, NodeOutcome, PhaseOutcome, RebuildOutcome, WhatIf,
};
pub use params::{ClusterParams, JobPlacement};
pub use store::Dump;

use sledlab_core::{Error, Result, Span};
use sledlab_models::network::Port;
use sledlab_models::network::preset::NetworkFile;
use sledlab_models::node::Files;
use sledlab_models::power::Energy;
use sledlab_trace::work::{NodeStep, Work};

use crate::experiment::SystemSetup;
use config::{NodeKind, ResolvedExperiment};
use engine::Cluster;
use member::{Member, Rates, Skips};
use page_cache::PageCache;

use size::ReplaySize;
use store::{MAX_TIME_NS, Store};

/// Settings and callbacks of a replay that are not part of the experiment.
#[derive(Default)]
pub struct ClusterHooks<'a> {
    /// Maximum number of threads; 0: as many as the machine has processors.
    pub threads: usize,
    /// Whether to replay again with each component twice as fast, unless the experiment sets `what_if = false`.
    pub what_if: bool,
    /// Progress hook, called repeatedly with the completed share, 0 to 1, and the number of pages so far. False
    /// interrupts the replay.
    pub progress: Option<ProgressHook<'a>>,
    /// The number of a node, and the table that receives the requests of its store.
    pub dump: Option<(usize, &'a mut Dump)>,
}

impl ClusterExperiment {
    /// Checks all that `run` checks before it replays a record, but not the copies of files that redundancy adds.
    ///
    /// # Errors
    /// Settings that are invalid, alone or for the record; files that do not fit on their stores; and a replay that
    /// would be too large or too long.
    pub fn check(&self, work: &Work) -> Result<()> {
        let resolved = self.resolve(work)?;
        let host_work = resolved.move_to_host(work)?;
        prepare(&resolved, host_work.as_ref().unwrap_or(work), Rates::default(), None).map(|_| ())
    }

    /// Replays a record.
    ///
    /// # Errors
    /// Settings that are invalid, alone or for the record; files that do not fit on their stores; an interrupt by the
    /// user; and lost requests or messages, which are a defect.
    pub fn run(&self, work: &Work, hooks: ClusterHooks) -> Result<ClusterOutcome> {
        let resolved = self.resolve(work)?;
        let ClusterHooks { threads, what_if, mut progress, dump } = hooks;
        let what_if = what_if && resolved.params.what_if;
        let processors = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = if threads == 0 { processors() } else { threads };
        let host_work = resolved.move_to_host(work)?;
        let work = host_work.as_ref().unwrap_or(work);
        let replays = failure::replay_count(&resolved.params) as f64;
        let runs = if what_if { 4.0 * replays } else { replays };
        let mut completed_replays = 0.0;
        let mut is_continuing = true;
        let mut run = |rates: Rates, mut dump: Option<(usize, &mut Dump)>| {
            let end = completed_replays + replays;
            let outcome = failure::replay_with_failures(&resolved, work, &mut |resolved, work| {
                let mut progress_of_all = |share: f64, pages: u64| {
                    // A progress hook that has interrupted is not called again.
                    is_continuing = is_continuing
                        && progress
                            .as_mut()
                            .is_none_or(|progress| progress((completed_replays + share) / runs, pages));
                    is_continuing
                };
                let dump = dump.as_mut().map(|(node, dump)| (*node, &mut **dump));
                let outcome = replay_work(resolved, work, rates, threads, Some(&mut progress_of_all), dump);
                completed_replays += 1.0;
                outcome
            });
            completed_replays = end;
            outcome
        };
        let mut outcome = run(Rates::default(), dump)?;
        outcome.config = serde_json::to_value(self.complete_table(&resolved)?)
            .map_err(|error| Error::internal(format!("cannot describe the experiment: {error}")))?;
        if what_if {
            let normal_rates = Rates::default();
            let faster = [
                ("compute", Rates { processor: 2, ..normal_rates }),
                ("store", Rates { store: 2, ..normal_rates }),
                ("network", Rates { network: 2, ..normal_rates }),
            ];
            for (component, rates) in faster {
                let elapsed_ns = run(rates, None)?.elapsed_ns;
                let saved_share = 1.0 - elapsed_ns as f64 / outcome.elapsed_ns.max(1) as f64;
                outcome.what_if.push(WhatIf { what: component, elapsed_ns, saved: saved_share });
            }
        }
        Ok(outcome)
    }
}

impl ResolvedExperiment {
    /// Returns the record of the same job at the host, where the experiment runs it there.
    fn move_to_host(&self, work: &Work) -> Result<Option<Work>> {
        let is_at_host = self.params.at == JobPlacement::Host;
        is_at_host
            .then(|| host_processing::move_to_host(work, &self.host, &self.page_bytes_of_nodes()))
            .transpose()
    }
}

/// Replays a record once at the given rates.
fn replay_work<'a>(
    resolved: &ResolvedExperiment,
    work: &'a Work,
    rates: Rates,
    threads: usize,
    progress: Option<ProgressHook<'a>>,
    mut dump: Option<(usize, &mut Dump)>,
) -> Result<ClusterOutcome> {
    let dumped_node = dump.as_ref().map(|(node, _)| *node);
    if dumped_node.is_some_and(|node| node >= resolved.kind_indices.len()) {
        return Err(Error::user(format!("there is no node {}", dumped_node.unwrap_or_default()))
            .with_remedy(format!("nodes are 0 to {}", resolved.kind_indices.len() - 1)));
    }
    let (members, network) = prepare(resolved, work, rates, dumped_node)?;
    // The client has the last port.
    let simulated_network = network.make(work.nodes + 1)?;
    let mut cluster =
        Cluster::new(work, members, simulated_network, network.packet_bytes(), threads, progress);
    let startup = |member: &Member| match resolved.phases_before_failure(member.index) {
        Some(0) => Span::ZERO,
        _ => Span::from_ms(member.node.params.startup_ms / member.rates.processor as f64),
    };
    let replayed_phases = cluster.run(startup)?;
    let end = replayed_phases.last().map_or(sledlab_core::Time::ZERO, |phase| phase.end);
    // A start-up phase without messages may precede the phases of the record.
    let startup = replayed_phases.len() - work.phases.len();
    let off_at = |index: usize| match resolved.phases_before_failure(index) {
        None => end,
        Some(0) => sledlab_core::Time::ZERO,
        Some(phases) => replayed_phases[startup + phases - 1].end,
    };
    let off_s: f64 = (0..work.nodes).map(|index| end.since(off_at(index)).as_seconds()).sum();
    let mut energy = ClusterEnergy {
        network_j: network.port_w() * (work.nodes + 1) as f64 * end.as_seconds() - network.port_w() * off_s,
        ..Default::default()
    };
    let mut closing_energy = Vec::with_capacity(work.nodes);
    let (mut simulated_pages, mut skipped_pages) = (0, 0);
    for member in &mut cluster.members {
        let energy_before = member.usage().1;
        let off_at = off_at(member.index);
        let store = member.store.as_mut().map_or(Ok(Energy::default()), |store| store.close(off_at))?;
        closing_energy.push(store::energy_difference(store, energy_before).total);
        energy.store_states += store;
        let (processor, memory) =
            outcome::node_energy(&member.node, off_at.as_seconds(), member.processor_busy.as_seconds());
        energy.processor_j += processor;
        energy.memory_j += memory;
        simulated_pages += member.simulated_pages;
        skipped_pages += member.skipped_pages;
        if let (Some(store), Some((_, dump))) =
            (&mut member.store, dump.as_mut().filter(|(node, _)| *node == member.index))
        {
            **dump = store.take_dump();
        }
    }
    energy.store_j = energy.store_states.total;
    energy.total_j = energy.store_j + energy.processor_j + energy.memory_j + energy.network_j;
    let phases = phase_outcomes(work, &replayed_phases, closing_energy);
    let pages = simulated_pages + skipped_pages;
    let mut outcome = ClusterOutcome {
        job: work.job.clone(),
        nodes: work.nodes,
        elapsed_ns: end.as_ns(),
        phases,
        energy,
        pages,
        simulated_share: if pages == 0 { 1.0 } else { simulated_pages as f64 / pages as f64 },
        skipped_passes: cluster.members.iter().map(|member| member.skipped_passes).sum(),
        sampling_error: sampling_error_ns(&replayed_phases) as f64 / end.as_ns().max(1) as f64,
        largest: "store",
        what_if: Vec::new(),
        failure: None,
        config: serde_json::Value::Null,
    };
    outcome.largest = outcome::largest_component(outcome.components());
    let cached_bytes = cluster.members.iter().filter_map(|member| member.page_cache.as_ref());
    check_conservation(work, &outcome, cached_bytes.map(|cache| cache.read_bytes).sum())?;
    Ok(outcome)
}

/// Returns the nodes, with files on their stores, and the network before a replay, checked; `dumped` is the node whose
/// requests are kept.
fn prepare(
    resolved: &ResolvedExperiment,
    work: &Work,
    rates: Rates,
    dumped_node: Option<usize>,
) -> Result<(Vec<Member>, NetworkFile)> {
    let members = (0..work.nodes)
        .map(|index| member(resolved, work, index, rates, dumped_node == Some(index)))
        .collect::<Result<Vec<_>>>()?;
    let network =
        if rates.network == 2 { resolved.network.double_speed()? } else { resolved.network.clone() };
    check(work, &members, &network)?;
    Ok((members, network))
}

/// Returns the maximum error of the job's time due to skipped passes: the sum over phases of the largest error of a
/// node.
fn sampling_error_ns(phases: &[engine::ReplayedPhase]) -> u64 {
    let largest =
        |phase: &engine::ReplayedPhase| phase.nodes.iter().map(|node| node.sampling_error.as_ns()).max();
    phases.iter().filter_map(largest).sum()
}

/// Returns the results of the phases of a record, and of a start-up phase if there was one; `closing_energy` has the
/// energy of each store after the last phase.
fn phase_outcomes(
    work: &Work,
    replayed_phases: &[engine::ReplayedPhase],
    closing_energy: Vec<f64>,
) -> Vec<PhaseOutcome> {
    let (startup_phases, job_phases) = replayed_phases.split_at(replayed_phases.len() - work.phases.len());
    let mut phases: Vec<PhaseOutcome> =
        startup_phases.iter().map(|phase| outcome::phase_outcome(phase, &[], &[])).collect();
    for (replayed_phase, phase) in job_phases.iter().zip(&work.phases) {
        let sent_bytes: Vec<u64> = phase.bytes_sent().collect();
        phases.push(outcome::phase_outcome(replayed_phase, &sent_bytes, &phase.bytes_received()));
    }
    // The last phase includes the energy that stores use after it.
    if let Some(last) = phases.last_mut() {
        last.nodes
            .iter_mut()
            .zip(closing_energy)
            .for_each(|(node, closing_energy)| node.store_j += closing_energy);
    }
    phases
}

/// Returns a node with its store and files before the job. The host, the last node of a host-based record, has no
/// store.
fn member(
    resolved: &ResolvedExperiment,
    work: &Work,
    index: usize,
    rates: Rates,
    is_dumped: bool,
) -> Result<Member> {
    let kind = resolved.kind_indices.get(index).map(|kind| &resolved.kinds[*kind]);
    let node = kind.map_or(&resolved.host, |kind| &kind.node);
    let build = |kind: &NodeKind| Ok(Store::new(kind.store.build()?, rates.store, is_dumped));
    let store = kind.map(build).transpose()?;
    let page_bytes_of_nodes = if kind.is_none() { resolved.page_bytes_of_nodes() } else { Vec::new() };
    let capacity = store.as_ref().map_or(u64::MAX, Store::capacity_blocks);
    let bytes: Vec<u64> = work.files.iter().map(|file| file.bytes[index]).collect();
    let files = Files::place(node, &bytes, capacity, resolved.seed, &format!("node {index}"))?;
    let page_cache = PageCache::new(node)?;
    let skips = |has_memory: fn(&SystemSetup) -> bool| {
        !resolved.params.exact && page_cache.is_none() && kind.is_some_and(|kind| !has_memory(&kind.store))
    };
    // Flash reports its energy when its command queue is empty. With several commands in flight, the energy of a pass
    // is unknown.
    let enters_store_late = node.params.prefetch_pages > 0 && !skips(SystemSetup::remembers_writes);
    let skips = Skips {
        read_only_steps: skips(SystemSetup::remembers_accesses) && !enters_store_late,
        writing_steps: skips(SystemSetup::remembers_writes),
    };
    Ok(Member {
        index,
        node: node.clone(),
        store,
        files,
        page_cache,
        rates,
        skips,
        page_bytes_of_nodes,
        seed: resolved.seed,
        processor_busy: Span::ZERO,
        simulated_pages: 0,
        skipped_pages: 0,
        skipped_passes: 0,
        sampling_error: Span::ZERO,
    })
}

/// Validates the replay before it starts: cycles of all operations, memory, duration of the job, and size of the
/// replay.
fn check(work: &Work, members: &[Member], network: &NetworkFile) -> Result<()> {
    let mut job_ns = 0.0;
    let mut size = ReplaySize::default();
    for phase in &work.phases {
        size.add(work, members, phase, network.packet_bytes())?;
        job_ns += (size.phase_bytes_sent * 8) as f64 * 1e3 / network.slowest_mbit_s();
        let received = phase.bytes_received();
        let mut longest_ns = 0.0_f64;
        for (member, step) in members.iter().zip(&phase.steps) {
            if step.memory > member.node.memory_bytes() {
                return Err(Error::user(format!(
                    "phase `{}` needs {} bytes of memory on node {}, which has {}",
                    phase.name,
                    step.memory,
                    member.index,
                    member.node.memory_bytes()
                ))
                .with_remedy("increase it: --set node.memory_mb=..."));
            }
            let charge = member.charge(work, step)?;
            let sends = || step.remote_sends(member.index);
            let sent_bytes: u64 = sends().map(|(_, bytes)| bytes).sum();
            let bytes = sent_bytes.saturating_add(received[member.index]);
            let smallest = sends().map(|(to, _)| member.message_bytes(step, to)).min();
            let smallest = smallest.unwrap_or_else(|| member.message_bytes(step, member.index as Port));
            let messages = bytes.div_ceil(smallest) + members.len() as u64;
            let own_ns = charge.compute_ns as f64
                + charge.network_ns as f64
                + member.message_ns(messages, bytes) as f64
                + requests_ns(work, member, &phase.name, step);
            longest_ns = longest_ns.max(own_ns);
        }
        job_ns += longest_ns;
        if job_ns > MAX_TIME_NS as f64 {
            return Err(Error::user(format!(
                "by the end of phase `{}` processors, software and network would have worked for more than 30 years",
                phase.name
            ))
            .with_remedy(
                "check node.mhz, node.cycles, node.request_us, the bandwidth of the network, and the operations and \
                 bytes of the record",
            ));
        }
    }
    Ok(())
}

/// Returns the time of software before the requests of a step, in ns.
fn requests_ns(work: &Work, member: &Member, phase: &str, step: &NodeStep) -> f64 {
    let request_overhead = member.request_overhead(phase);
    if request_overhead == Span::ZERO {
        return 0.0;
    }
    let pages = |accesses| member.extent(work, accesses, false).0 as f64;
    request_overhead.as_ns() as f64 * (pages(&step.reads) + pages(&step.writes))
}

/// Checks that all pages of the record have been read and written, and that energies are consistent; a violation is a
/// defect. Page caches served `cached_bytes` bytes of the reads.
fn check_conservation(work: &Work, outcome: &ClusterOutcome, cached_bytes: u64) -> Result<()> {
    let access_bytes = |access: &sledlab_trace::work::FileAccess| access.bytes;
    let (mut min_read, mut min_written) = (0_u128, 0_u128);
    for step in work.phases.iter().flat_map(|phase| &phase.steps) {
        min_read += step.reads.iter().map(|access| u128::from(access_bytes(access))).sum::<u128>();
        min_written += step.writes.iter().map(|access| u128::from(access_bytes(access))).sum::<u128>();
    }
    let nodes = || outcome.phases.iter().flat_map(|phase| &phase.nodes);
    let stores_read: u128 = nodes().map(|node| u128::from(node.read_bytes)).sum();
    let read = stores_read + u128::from(cached_bytes);
    let written: u128 = nodes().map(|node| u128::from(node.written_bytes)).sum();
    let stores: f64 = nodes().map(|node| node.store_j).sum();
    let requests: u64 = nodes().map(|node| node.requests).sum();
    let is_same = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-9);
    if read < min_read || written < min_written || requests != outcome.pages {
        return Err(Error::internal(format!(
            "the record reads {min_read} and writes {min_written} bytes, but {requests} requests of {} read {read} and \
             wrote {written}",
            outcome.pages
        )));
    }
    if !is_same(stores, outcome.energy.store_j) {
        return Err(Error::internal(format!(
            "the phases of all nodes use {stores} J, but their stores use {} J",
            outcome.energy.store_j
        )));
    }
    Ok(())
}
