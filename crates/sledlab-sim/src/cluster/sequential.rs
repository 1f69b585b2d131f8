//! A step of a node without overlap of I/O and computation (`node.prefetch_pages = 0`): the node reads a page,
//! processes it, writes the pages that are due, and so on. The times add up, and other nodes do not affect them.

use sledlab_core::{Op, Result, Span, Time};
use sledlab_models::power::Energy;
use sledlab_trace::work::{NodeStep, Work};

use super::member::{Charge, InterruptCheck, Member, MemberParts};
use super::sampling::{Skip, State};
use super::sequence::{Cursor, Sequence};
use super::share::Share;
use super::store::Traffic;

/// The half of a step before the exchange of messages, or the half after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    /// The node reads and processes pages; it writes result pages unless they depend on incoming messages.
    Before,
    /// Every node that receives messages writes its results; a node that reads nothing first processes the messages.
    After,
}

/// One half of a node's step: the argument of [`run`].
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    /// Name of the phase.
    pub phase: &'a str,
    pub step: &'a NodeStep,
    /// Whether the node receives messages, including messages to itself.
    pub receives: bool,
    pub half: Half,
}

/// Runs one half of a step, starting at `now`; returns its end and its time by component.
///
/// # Errors
/// Kinds of operation without cycles, an error of a scheduler or power policy, an interrupt by the user.
pub(super) fn run(
    member: &mut Member,
    work: &Work,
    Task { phase, step, receives, half }: Task,
    now: Time,
    watch: &InterruptCheck,
) -> Result<(Time, MemberParts)> {
    let reads = member.sequence(work, phase, &step.reads);
    let writes = member.sequence(work, &format!("{phase}, written"), &step.writes);
    let processes_messages = receives && reads.len() == 0;
    let no_pages = Sequence::default();
    let no_charge = Charge::default();
    let charge = member.charge(work, step)?;
    let (reads, charge, writes) = match half {
        Half::Before if processes_messages => return Ok((now, MemberParts::default())),
        Half::Before => (&reads, charge, if receives { &no_pages } else { &writes }),
        Half::After if !receives => return Ok((now, MemberParts::default())),
        Half::After => (&no_pages, if processes_messages { charge } else { no_charge }, &writes),
    };
    let units = reads.len().max(1);
    let mut page_loop = PageLoop {
        now,
        parts: MemberParts::default(),
        request: member.request_overhead(phase),
        compute: Share::new(charge.compute_ns, units),
        network: Share::new(charge.network_ns, units),
        due: Share::in_batches(writes.len(), units, member.node.params.write_batch_pages),
        writing: Cursor::default(),
        unchecked_pages: 0,
    };
    let mut reading = Cursor::default();
    let mut sampling = member.sampling(reads, writes, phase);
    let mut completed_units = 0;
    if sampling.next == 0 {
        sampling.reach(0, 0, page_loop.state(member));
    }
    while let Some((lbn, blocks)) = reading.next(reads, &member.files) {
        page_loop.serve(member, Op::Read, lbn, blocks)?;
        completed_units += 1;
        page_loop.work(member, completed_units, writes)?;
        page_loop.check_interrupt(watch)?;
        if completed_units == sampling.next {
            let skip = sampling.reach(completed_units, 0, page_loop.state(member));
            page_loop.charge(member, &skip)?;
            if skip.passes > 0 {
                completed_units += skip.pages;
                let blocks = reading.skip_passes(reads, skip.passes);
                page_loop.skip(member, completed_units, (skip.pages, blocks), writes)?;
            }
        }
    }
    member.note_sampling(&sampling);
    if reads.len() == 0 {
        page_loop.work(member, units, writes)?;
    }
    watch.check(page_loop.unchecked_pages)?;
    Ok((page_loop.now, page_loop.parts))
}

/// The state of a loop over pages.
struct PageLoop {
    now: Time,
    parts: MemberParts,
    request: Span,
    compute: Share,
    network: Share,
    due: Share,
    writing: Cursor,
    unchecked_pages: u64,
}

impl PageLoop {
    #[inline]
    fn serve(&mut self, member: &mut Member, op: Op, lbn: u64, blocks: u32) -> Result<()> {
        let mut completion = self.now + self.request;
        if !member.is_cached(op, lbn, blocks) {
            completion = member.store()?.serve(completion, op, lbn, blocks)?;
            member.simulated_pages += 1;
        }
        self.parts.store += completion.since(self.now);
        self.now = completion;
        self.unchecked_pages += 1;
        Ok(())
    }

    /// Processes the pages that have been read, up to `completed_units` units, and writes the pages that are due then.
    #[inline]
    fn work(&mut self, member: &mut Member, completed_units: u64, writes: &Sequence) -> Result<()> {
        let compute = Span::from_ns(self.compute.take_due(completed_units));
        let network = Span::from_ns(self.network.take_due(completed_units));
        self.parts.compute += compute;
        self.parts.network += network;
        member.processor_busy += compute + network;
        self.now = self.now + compute + network;
        for _ in 0..self.due.take_due(completed_units) {
            let Some((lbn, blocks)) = self.writing.next(writes, &member.files) else { break };
            self.serve(member, Op::Write, lbn, blocks)?;
        }
        Ok(())
    }

    fn state(&self, member: &mut Member) -> State {
        member.state(self.parts)
    }

    /// Adds the estimated time and energy of skipped passes.
    fn charge(&mut self, member: &mut Member, skip: &Skip) -> Result<()> {
        self.parts.store += skip.store;
        self.now += skip.store;
        member.skip(skip.store, Traffic::default(), skip.energy)
    }

    /// Resumes at `completed_units` units, after passes with `read` pages and blocks.
    fn skip(
        &mut self,
        member: &mut Member,
        completed_units: u64,
        read: (u64, u64),
        writes: &Sequence,
    ) -> Result<()> {
        let compute = Span::from_ns(self.compute.take_due(completed_units));
        let network = Span::from_ns(self.network.take_due(completed_units));
        self.parts.compute += compute;
        self.parts.network += network;
        self.now += compute + network;
        member.processor_busy += compute + network;
        let written_pages = self.due.take_due(completed_units);
        let blocks = self.writing.skip_pages(writes, &member.files, written_pages);
        member.skip(compute + network, Traffic::new(read, (written_pages, blocks)), Energy::default())
    }

    #[inline]
    fn check_interrupt(&mut self, watch: &InterruptCheck) -> Result<()> {
        if self.unchecked_pages >= InterruptCheck::INTERVAL {
            watch.check(self.unchecked_pages)?;
            self.unchecked_pages = 0;
        }
        Ok(())
    }
}
