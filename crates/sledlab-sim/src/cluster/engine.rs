//! Replay of a work record on a cluster, phase by phase. All nodes begin a phase together.
//!
//! 1. Every node runs its step. Without overlap, a node first reads and computes ([`alone`]); then messages are
//!    exchanged ([`exchange_messages`]); then result pages are written. With overlap of reading, computing, writing and
//!    messages ([`overlap`]), one event loop advances the nodes and the network together. Nodes without messages
//!    between them run in parallel on all processors of the machine.
//! 2. The collectives of the phase follow, one after the other.
//! 3. The phase ends when the last node and the last message are done. Nodes that finish earlier wait.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use sledlab_core::{Error, Result, Span, Time};
use sledlab_models::network::{Network, Port, collective};
use sledlab_models::power::Energy;
use sledlab_trace::work::{Collective, CollectiveKind, NodeStep, Phase, Work};

use super::member::{InterruptCheck, Member, MemberParts};
use super::messages::sends_in_turn;
use super::messaging::{self, MessagingNode, OutgoingTransfer};
use super::overlap::{IncomingMessages, Overlap};
use super::sequential::{self, Half, Task};
use super::store::{Traffic, energy_difference};
use crate::stopwatch::Stopwatch;

/// Progress hook of a replay. Its arguments are the completed share of the record, 0 to 1, and the number of pages so
/// far; it returns false to interrupt.
pub type ProgressHook<'a> = &'a mut (dyn FnMut(f64, u64) -> bool + Send);

/// Wall-clock time between two calls of the progress hook while nodes run on several threads.
const POLL_PERIOD: Duration = Duration::from_millis(20);

/// Resources that a node used in a phase: its time by component, traffic and energy.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PhaseCost {
    pub parts: MemberParts,
    pub traffic: Traffic,
    /// Energy of the store, including its state at the end of the phase.
    pub store: Energy,
    /// Time in which the processor was busy.
    pub busy: Span,
    /// Maximum error of the time due to skipped passes.
    pub sampling_error: Span,
}

/// A phase that has been replayed, with the resources that each node used.
#[derive(Debug)]
pub(super) struct ReplayedPhase {
    pub name: String,
    pub start: Time,
    pub end: Time,
    pub nodes: Vec<PhaseCost>,
}

/// The nodes and the network of a replay.
pub(super) struct Cluster<'a> {
    pub work: &'a Work,
    pub members: Vec<Member>,
    pub network: Box<dyn Network>,
    pub packet_bytes: u64,
    pub threads: usize,
    pub watch: InterruptCheck,
    pub progress: Option<ProgressHook<'a>>,
    now: Time,
    phase: usize,
    /// Pages before the phase, and pages of the phase; passes of nested loops, which may be skipped, count once.
    pages_before: u64,
    phase_pages: u64,
    /// Whether the phase is too short for threads to pay off.
    is_short: bool,
    last_poll: Stopwatch,
}

impl<'a> Cluster<'a> {
    pub fn new(
        work: &'a Work,
        members: Vec<Member>,
        network: Box<dyn Network>,
        packet_bytes: u64,
        threads: usize,
        progress: Option<ProgressHook<'a>>,
    ) -> Self {
        let watch = InterruptCheck::default();
        Cluster {
            work,
            members,
            network,
            packet_bytes,
            threads,
            watch,
            progress,
            now: Time::ZERO,
            phase: 0,
            pages_before: 0,
            phase_pages: 0,
            is_short: false,
            last_poll: Stopwatch::start(),
        }
    }

    /// Runs all phases.
    ///
    /// # Errors
    /// Kinds of operation without cycles, an error of a scheduler or power policy, an interrupt by the user, and lost
    /// requests or messages, which are a defect.
    pub fn run(&mut self, startup: impl Fn(&Member) -> Span) -> Result<Vec<ReplayedPhase>> {
        let mut replayed = Vec::with_capacity(self.work.phases.len() + 1);
        let startups: Vec<Span> = self.members.iter().map(startup).collect();
        if let Some(longest) = startups.iter().max().filter(|longest| **longest > Span::ZERO) {
            let end = self.now + *longest;
            let parts = |startup: &Span| MemberParts {
                compute: *startup,
                waiting: *longest - *startup,
                ..MemberParts::default()
            };
            let nodes = startups.iter().map(|startup| PhaseCost {
                parts: parts(startup),
                busy: *startup,
                ..PhaseCost::default()
            });
            replayed.push(ReplayedPhase {
                name: "start-up".into(),
                start: self.now,
                end,
                nodes: nodes.collect(),
            });
            self.now = end;
            for (member, startup) in self.members.iter_mut().zip(startups) {
                member.processor_busy += startup;
            }
        }
        for index in 0..self.work.phases.len() {
            self.phase = index;
            self.pages_before = self.watch.pages.load(Ordering::Relaxed);
            self.phase_pages = self.page_count(&self.work.phases[index]);
            self.is_short = self.is_short(&self.work.phases[index]);
            replayed.push(self.phase(&self.work.phases[index])?);
            // Handles an interrupt that arrived too late to end the phase.
            self.watch.check(0)?;
            self.poll_progress()?;
        }
        Ok(replayed)
    }

    /// Calls the progress hook after a short phase, which does not call the hook itself, if enough time has passed.
    fn poll_progress(&mut self) -> Result<()> {
        if !self.is_short || self.last_poll.elapsed_s() < POLL_PERIOD.as_secs_f64() {
            return Ok(());
        }
        self.last_poll = Stopwatch::start();
        let pages = self.watch.pages.load(Ordering::Relaxed);
        let share = self.share()(pages);
        let is_continued = self.progress.as_mut().is_none_or(|progress| progress(share, pages));
        if is_continued { Ok(()) } else { Err(Error::interrupted()) }
    }

    fn is_short(&self, phase: &Phase) -> bool {
        let mut reads = phase.steps.iter().flat_map(|step| &step.reads);
        self.phase_pages < InterruptCheck::INTERVAL && reads.all(|access| access.per_block_of.is_none())
    }

    fn page_count(&self, phase: &Phase) -> u64 {
        let step_pages = |(member, step): (&Member, &NodeStep)| {
            let accesses = step.reads.iter().chain(&step.writes);
            accesses.map(|access| access.bytes.div_ceil(member.node.page_bytes())).sum::<u64>()
        };
        self.members.iter().zip(&phase.steps).map(step_pages).sum()
    }

    /// Returns the completed share of the record as a function of the completed pages.
    fn share(&self) -> impl Fn(u64) -> f64 + 'static {
        let (phase, phases) = (self.phase as f64, self.work.phases.len() as f64);
        let (pages_before, phase_pages) = (self.pages_before, self.phase_pages.max(1) as f64);
        move |pages| (phase + ((pages - pages_before) as f64 / phase_pages).min(1.0)) / phases
    }

    fn phase(&mut self, phase: &Phase) -> Result<ReplayedPhase> {
        let start = self.now;
        let before_phase: Vec<_> = self
            .members
            .iter()
            .map(|member| (member.usage(), member.processor_busy, member.sampling_error))
            .collect();
        let incoming = self.incoming_messages(phase);
        let overlaps = self.members.iter().any(|member| member.node.params.prefetch_pages > 0);
        let mut parts = if overlaps {
            self.run_overlapped(phase, &incoming)?
        } else {
            self.run_sequentially(phase, &incoming)?
        };
        for collective in &phase.collectives {
            self.collective(collective, &mut parts)?;
        }
        let end = self.now;
        let mut nodes = Vec::with_capacity(self.members.len());
        for (index, (member, (usage_before, busy_before, error_before))) in
            self.members.iter().zip(before_phase).enumerate()
        {
            if parts[index].total() != end.since(start) {
                return Err(Error::internal(format!(
                    "node {index} spends {} in phase `{}`, which lasts {}",
                    parts[index].total(),
                    phase.name,
                    end.since(start)
                )));
            }
            let (traffic, energy) = member.usage();
            nodes.push(PhaseCost {
                parts: parts[index],
                traffic: traffic.since(usage_before.0),
                store: energy_difference(energy, usage_before.1),
                busy: member.processor_busy - busy_before,
                sampling_error: member.sampling_error - error_before,
            });
        }
        Ok(ReplayedPhase { name: phase.name.clone(), start, end, nodes })
    }

    /// Returns the numbers of messages and bytes that each node receives in a phase.
    fn incoming_messages(&self, phase: &Phase) -> Vec<IncomingMessages> {
        let mut incoming = vec![IncomingMessages::default(); self.members.len()];
        for (member, step) in self.members.iter().zip(&phase.steps) {
            for (to, bytes) in step.remote_sends(member.index) {
                if let Some(incoming) = incoming.get_mut(to as usize) {
                    incoming.bytes += bytes;
                    incoming.messages += bytes.div_ceil(member.message_bytes(step, to));
                }
            }
        }
        incoming
    }

    /// Runs a phase in which nodes read, compute and send without overlap.
    fn run_sequentially(&mut self, phase: &Phase, incoming: &[IncomingMessages]) -> Result<Vec<MemberParts>> {
        let mut parts = vec![MemberParts::default(); self.members.len()];
        self.run_half(phase, incoming, Half::Before, &mut parts)?;
        if phase.has_exchange() {
            let transfers = |member: &Member| -> VecDeque<OutgoingTransfer> {
                let step = &phase.steps[member.index];
                let transfer = |(to, bytes)| OutgoingTransfer {
                    to,
                    bytes,
                    message_bytes: member.message_bytes(step, to),
                };
                sends_in_turn(step, member.index).into_iter().map(transfer).collect()
            };
            let round = |member: &Member| messaging::Round {
                transfers: transfers(member),
                awaited_messages: incoming[member.index].messages,
            };
            let messaging_nodes =
                self.members.iter().map(|member| messaging_node(member, vec![round(member)])).collect();
            self.exchange_messages(messaging_nodes, &mut parts)?;
        }
        self.run_half(phase, incoming, Half::After, &mut parts)?;
        Ok(parts)
    }

    /// Runs one half of every node's step; nodes that finish earlier wait.
    fn run_half(
        &mut self,
        phase: &Phase,
        incoming: &[IncomingMessages],
        half: Half,
        parts: &mut [MemberParts],
    ) -> Result<()> {
        let (now, work) = (self.now, self.work);
        let run = |member: &mut Member, watch: &InterruptCheck| {
            let step = &phase.steps[member.index];
            let sends_to_itself =
                step.sends.iter().any(|(to, bytes)| *to as usize == member.index && *bytes > 0);
            let receives = incoming[member.index].messages > 0 || sends_to_itself;
            let task = Task { phase: &phase.name, step, receives, half };
            sequential::run(member, work, task, now, watch)
        };
        let ends = self.run_members(run)?;
        self.join(ends, parts);
        Ok(())
    }

    /// Waits until all nodes are done.
    fn join(&mut self, ends: Vec<(Time, MemberParts)>, parts: &mut [MemberParts]) {
        let end = ends.iter().map(|(end, _)| *end).max().unwrap_or(self.now);
        for (parts, (member_end, member_parts)) in parts.iter_mut().zip(ends) {
            *parts += member_parts;
            parts.waiting += end.since(member_end);
        }
        self.now = end;
    }

    /// Calls `run` for every node, on as many threads as the replay may use: one in a browser.
    fn run_members<T: Send>(
        &mut self,
        run: impl Fn(&mut Member, &InterruptCheck) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        if self.is_short || cfg!(target_family = "wasm") {
            return self.members.iter_mut().map(|member| run(member, &self.watch)).collect();
        }
        let threads = self.threads.clamp(1, self.members.len().max(1));
        let (chunk_len, watch, run) = (self.members.len().div_ceil(threads).max(1), &self.watch, &run);
        let share_done = self.share();
        let members = &mut self.members;
        let progress = &mut self.progress;
        thread::scope(|scope| {
            // Workers send nothing: the channel closes when the last worker drops its sender.
            let (worker_alive, all_workers_done) = mpsc::channel::<()>();
            let workers: Vec<_> = members
                .chunks_mut(chunk_len)
                .map(|chunk| {
                    let worker_alive = worker_alive.clone();
                    scope.spawn(move || {
                        let chunk_results = chunk.iter_mut().map(|member| run(member, watch)).collect();
                        drop(worker_alive);
                        chunk_results
                    })
                })
                .collect();
            drop(worker_alive);
            while let Err(RecvTimeoutError::Timeout) = all_workers_done.recv_timeout(POLL_PERIOD) {
                let pages = watch.pages.load(Ordering::Relaxed);
                if progress.as_mut().is_some_and(|progress| !progress(share_done(pages), pages)) {
                    watch.stop.store(true, Ordering::Relaxed);
                }
            }
            let mut results = Vec::with_capacity(chunk_len * workers.len());
            for worker in workers {
                let chunk_results: Result<Vec<T>> =
                    worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                results.extend(chunk_results?);
            }
            Ok(results)
        })
    }

    /// Lets `messaging_nodes` exchange their messages; all other nodes wait until the last message has been received.
    fn exchange_messages(
        &mut self,
        mut messaging_nodes: Vec<MessagingNode>,
        parts: &mut [MemberParts],
    ) -> Result<()> {
        let start = self.now;
        let mut turns = 0_u64;
        let (share_done, pages) = (self.share(), self.watch.pages.load(Ordering::Relaxed));
        let (watch, progress) = (&self.watch, &mut self.progress);
        let mut poll_progress = || {
            turns += 1;
            if turns.is_multiple_of(65_536)
                && progress.as_mut().is_some_and(|progress| !progress(share_done(pages), pages))
            {
                watch.stop.store(true, Ordering::Relaxed);
            }
            if turns.is_multiple_of(65_536) { watch.check(0) } else { Ok(()) }
        };
        let (ends, end) = messaging::run(
            &mut messaging_nodes,
            self.network.as_mut(),
            self.packet_bytes,
            start,
            &mut poll_progress,
        )?;
        let mut member_ends = vec![start; self.members.len()];
        for (node, at) in messaging_nodes.iter().zip(ends) {
            let index = node.port as usize;
            member_ends[index] = at;
            self.members[index].processor_busy += node.busy;
        }
        for (parts, member_end) in parts.iter_mut().zip(member_ends) {
            parts.network += member_end.since(start);
            parts.waiting += end.since(member_end);
        }
        self.now = end;
        Ok(())
    }

    fn collective(&mut self, collective: &Collective, parts: &mut [MemberParts]) -> Result<()> {
        let programs =
            collective::program(collective_operation(collective.kind), collective.root, &collective.bytes);
        let port = |member: usize| collective.members[member] as Port;
        let transfer = |(to, bytes): &(usize, u64)| OutgoingTransfer {
            to: port(*to),
            bytes: *bytes,
            message_bytes: (*bytes).max(1),
        };
        let round = |round: &collective::Round| messaging::Round {
            transfers: round.sends.iter().map(transfer).collect(),
            awaited_messages: round.receives as u64,
        };
        let messaging_nodes = programs.iter().enumerate().map(|(index, rounds)| {
            messaging_node(&self.members[collective.members[index]], rounds.iter().map(round).collect())
        });
        let messaging_nodes = messaging_nodes.collect();
        self.exchange_messages(messaging_nodes, parts)
    }

    /// Runs a phase in which nodes overlap reading, computing, writing and messages.
    fn run_overlapped(&mut self, phase: &Phase, incoming: &[IncomingMessages]) -> Result<Vec<MemberParts>> {
        let (now, work) = (self.now, self.work);
        let begin_overlap = |member: &mut Member| {
            let step = &phase.steps[member.index];
            Overlap::new(member, work, &phase.name, step, incoming[member.index], now)
        };
        let is_connected = phase
            .steps
            .iter()
            .enumerate()
            .any(|(index, step)| step.sends.iter().any(|(to, _)| *to as usize != index));
        if !is_connected {
            let run = |member: &mut Member, watch: &InterruptCheck| {
                let mut overlap = begin_overlap(member)?;
                let mut destinations = Vec::new();
                let mut events = 0_u64;
                overlap.advance(now, member, 1, None, &mut destinations)?;
                while let Some(at) = overlap.next_event(member).filter(|_| overlap.finish_time.is_none()) {
                    overlap.advance(at, member, 1, None, &mut destinations)?;
                    events += 1;
                    if events.is_multiple_of(InterruptCheck::INTERVAL) {
                        watch.check(InterruptCheck::INTERVAL)?;
                    }
                }
                let end = overlap.finish_time.ok_or_else(|| stuck_error(member))?;
                Ok((end, overlap.parts))
            };
            let ends = self.run_members(run)?;
            let mut parts = vec![MemberParts::default(); self.members.len()];
            self.join(ends, &mut parts);
            return Ok(parts);
        }
        let mut overlaps = self.members.iter_mut().map(begin_overlap).collect::<Result<Vec<_>>>()?;
        self.advance_overlaps(&mut overlaps)?;
        let ends = overlaps
            .iter()
            .zip(&mut self.members)
            .map(|(overlap, member)| overlap.finish_time.ok_or_else(|| stuck_error(member)));
        let end = ends.collect::<Result<Vec<_>>>()?.into_iter().max().unwrap_or(now);
        // Messages to the client are done when they arrive.
        let end = end.max(self.now);
        for overlap in &mut overlaps {
            overlap.end(end);
        }
        self.now = end;
        Ok(overlaps.iter().map(|overlap| overlap.parts).collect())
    }

    /// Advances nodes and network in order of time. At equal times, packets precede nodes and nodes are ordered by
    /// number.
    fn advance_overlaps(&mut self, overlaps: &mut [Overlap]) -> Result<()> {
        let mut due = BinaryHeap::with_capacity(2 * overlaps.len());
        let mut next: Vec<Option<Time>> = vec![Some(self.now); overlaps.len()];
        due.extend((0..overlaps.len()).map(|index| Reverse((self.now, index))));
        let (mut arrived, mut destinations) = (Vec::new(), Vec::new());
        let share_done = self.share();
        let mut events = 0_u64;
        loop {
            let next_due = due.peek().map(|Reverse((at, _))| *at);
            if let Some(at) =
                self.network.next_event().filter(|at| next_due.is_none_or(|next_due| *at <= next_due))
            {
                self.network.advance(at, &mut arrived);
                for packet in arrived.drain(..) {
                    let Some(overlap) = overlaps.get_mut(packet.receiver as usize) else {
                        self.now = at;
                        continue;
                    };
                    overlap.receive(&packet);
                    // The receiving node handles the packet together with its other events of this time.
                    let index = packet.receiver as usize;
                    if next[index] != Some(at) {
                        next[index] = Some(at);
                        due.push(Reverse((at, index)));
                    }
                }
                continue;
            }
            let Some(Reverse((at, index))) = due.pop() else { return Ok(()) };
            if next[index] != Some(at) {
                continue;
            }
            let (overlap, member) = (&mut overlaps[index], &mut self.members[index]);
            overlap.advance(at, member, self.packet_bytes, Some(self.network.as_mut()), &mut destinations)?;
            next[index] = overlap.next_event(member).filter(|_| overlap.finish_time.is_none());
            next[index].into_iter().for_each(|at| due.push(Reverse((at, index))));
            for to in destinations.drain(..) {
                if let Some(overlap) = overlaps.get_mut(to as usize) {
                    overlap.expect_packet(at);
                }
            }
            events += 1;
            if events.is_multiple_of(InterruptCheck::INTERVAL) {
                self.watch.check(InterruptCheck::INTERVAL)?;
                let pages = self.watch.pages.load(Ordering::Relaxed);
                if events.is_multiple_of(16 * InterruptCheck::INTERVAL)
                    && self.progress.as_mut().is_some_and(|progress| !progress(share_done(pages), pages))
                {
                    return Err(Error::interrupted());
                }
            }
        }
    }
}

pub(super) fn collective_operation(kind: CollectiveKind) -> collective::CollectiveOperation {
    match kind {
        CollectiveKind::Barrier => collective::CollectiveOperation::Barrier,
        CollectiveKind::Gather => collective::CollectiveOperation::Gather,
        CollectiveKind::Broadcast => collective::CollectiveOperation::Broadcast,
        CollectiveKind::Reduce => collective::CollectiveOperation::Reduce,
        CollectiveKind::AllReduce => collective::CollectiveOperation::AllReduce,
        CollectiveKind::AllGather => collective::CollectiveOperation::AllGather,
    }
}

fn messaging_node(member: &Member, rounds: Vec<messaging::Round>) -> MessagingNode {
    let params = &member.node.params;
    let ns = |cycles: f64| cycles / member.node.cycles_per_ns() / member.rates.network as f64;
    MessagingNode::new(member.index as Port, rounds, ns(params.message_cycles), ns(params.byte_cycles))
}

/// Returns the error for a step that does not end.
fn stuck_error(member: &mut Member) -> Error {
    match &mut member.store {
        Some(store) => store.stuck_error(),
        None => Error::internal("a host never waits for messages"),
    }
}
