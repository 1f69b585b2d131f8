//! The event loop: arrivals and events in order of time.

use std::ops::ControlFlow;

use sledlab_core::{Error, Op, Result, Source, Span, Time};
use sledlab_models::device::Queued;
use sledlab_models::system::{Completion, MOST_COMPLETED, System};

use crate::feed::Feed;
use crate::flush::Flushes;
use crate::recorder::Recorder;
use crate::replay::{Mode, Replay};

/// Operations between two looks at the progress callback.
const PROGRESS_EVERY: u64 = 65_536;

/// The queue length is looked at on every arrival of a short run, and then on every eighth.
const SAMPLE_ALL: u64 = 65_536;
const SAMPLE_EVERY: u64 = 8;

/// Operations by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Issued, of any kind.
    pub issued: u64,
    /// Reads completed, warm-up included.
    pub reads: u64,
    /// Writes completed, warm-up included.
    pub writes: u64,
    /// Trims completed.
    pub trims: u64,
    /// Flushes completed.
    pub flushes: u64,
    /// Neither completed nor given up on: under way when the run was interrupted.
    pub dropped: u64,
    /// Whether the run was interrupted.
    pub interrupted: bool,
}

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Operations issued.
    pub operations: u64,
    /// Share of the run, where that can be told.
    pub fraction: Option<f64>,
    /// Simulated time.
    pub simulated: Time,
}

/// Told now and then how far the run is; [`ControlFlow::Break`] interrupts it and keeps what there is.
pub type ProgressSink<'a> = &'a mut dyn FnMut(Progress) -> ControlFlow<()>;

/// Replays `source` on `system` and records what happens.
///
/// # Errors
/// The source's own, a request that does not fit, a recorder that cannot write, and any violation of
/// conservation, which is a defect of sledlab.
pub fn simulate(
    system: &mut dyn System,
    source: &mut dyn Source,
    replay: &Replay,
    recorder: &mut Recorder,
    progress: Option<ProgressSink>,
) -> Result<Counts> {
    let feed = Feed::new(source, replay, system.capacity_blocks());
    let think = match replay.mode {
        Mode::Open => Span::ZERO,
        Mode::Closed { think, .. } => think,
    };
    let mut run = Run {
        feed,
        recorder,
        think,
        flushes: Flushes::default(),
        counts: Counts::default(),
        under_way: 0,
        closed: replay.mode != Mode::Open,
        opened: replay.warmup == 0,
        completed: Vec::new(),
    };
    run.run(system, progress)?;
    run.recorder.flush_rows()?;
    let counts = run.counts;
    let (background, background_end) = system.background();
    run.recorder.ended = run.recorder.ended.max(background_end);
    run.recorder.served_uj += background.seek_uj + background.access_uj;
    system.close_ledgers(run.recorder.ended);
    conserve(system, run.recorder, &counts)?;
    Ok(counts)
}

struct Run<'a, 's, 'r> {
    feed: Feed<'s>,
    recorder: &'a mut Recorder<'r>,
    think: Span,
    flushes: Flushes,
    counts: Counts,
    under_way: u64,
    closed: bool,
    /// Whether the warm-up is over.
    opened: bool,
    completed: Vec<Completion>,
}

impl Run<'_, '_, '_> {
    fn run(&mut self, system: &mut dyn System, mut progress: Option<ProgressSink>) -> Result<()> {
        let mut report_at = PROGRESS_EVERY;
        loop {
            let arrival = if self.closed { self.run_closed(system)? } else { self.run_open(system)? };
            let Some(at) = arrival else { break };
            self.arrive(system, at)?;
            if self.feed.issued() >= report_at {
                report_at += PROGRESS_EVERY;
                if let Some(error) = system.failure() {
                    return Err(error);
                }
                if self.report(progress.as_mut()).is_break() {
                    self.counts.interrupted = true;
                    self.complete_before(at)?;
                    break;
                }
            }
        }
        if let Some(error) = system.failure() {
            return Err(error);
        }
        self.counts.issued = self.feed.issued();
        self.counts.dropped = self.under_way + self.flushes.waiting();
        Ok(())
    }

    /// Does all that is due before the next arrival, and returns that. At the end, everything is due.
    ///
    /// Completions are recorded some hundred at a time: nothing but a flush asks about them earlier.
    #[inline]
    fn run_open(&mut self, system: &mut dyn System) -> Result<Option<Time>> {
        let arrival = self.feed.next_arrival()?;
        let horizon = arrival.unwrap_or(Time::MAX);
        loop {
            system.advance_before(horizon, &mut self.completed);
            if self.completed.len() < MOST_COMPLETED || self.complete_before(horizon)? == 0 {
                break;
            }
        }
        if arrival.is_none() {
            self.complete_before(horizon)?;
        }
        Ok(arrival)
    }

    /// The same one event at a time: a completion frees a slot, and what is issued then may come before
    /// the next event.
    fn run_closed(&mut self, system: &mut dyn System) -> Result<Option<Time>> {
        loop {
            let arrival = self.feed.next_arrival()?;
            match system.next_event() {
                Some(now) if arrival.is_none_or(|at| now < at) => {
                    system.advance(now, &mut self.completed);
                    self.complete_before(Time::MAX)?;
                }
                _ => return Ok(arrival),
            }
        }
    }

    fn report(&self, progress: Option<&mut ProgressSink>) -> ControlFlow<()> {
        progress.map_or(ControlFlow::Continue(()), |sink| {
            sink(Progress {
                operations: self.feed.issued(),
                fraction: self.feed.progress(),
                simulated: self.recorder.ended,
            })
        })
    }

    #[inline]
    fn arrive(&mut self, system: &mut dyn System, now: Time) -> Result<()> {
        let (id, request) = self.feed.take(now);
        if !self.opened && self.recorder.counts(id) {
            self.opened = true;
            self.recorder.opened = now;
            system.open_ledgers(now);
        }
        match request.op {
            Op::Read | Op::Write => {
                self.flushes.arrive(u64::from(request.op == Op::Write));
                if id < SAMPLE_ALL || id.is_multiple_of(SAMPLE_EVERY) {
                    self.recorder.arrive(id, now, system.queue_length());
                }
                self.under_way += 1;
                system.arrive(now, Queued::new(id, &request));
            }
            Op::Trim => {
                self.counts.trims += 1;
                self.feed.free_slot(now + self.think);
            }
            Op::Flush if system.flush(now, Queued::new(id, &request)) => self.under_way += 1,
            Op::Flush => {
                self.complete_before(now)?;
                if self.flushes.flush(id) {
                    self.finish_flushes(1, now);
                }
            }
        }
        Ok(())
    }

    fn finish_flushes(&mut self, flushes: u64, now: Time) {
        self.counts.flushes += flushes;
        (0..flushes).for_each(|_| self.feed.free_slot(now + self.think));
    }

    /// Records what has been completed before `horizon`, and tells how much that was.
    #[inline]
    fn complete_before(&mut self, horizon: Time) -> Result<usize> {
        let mut completed = std::mem::take(&mut self.completed);
        let promised = completed.iter().rev().take_while(|done| done.completion >= horizon).count();
        let due = completed.len() - promised;
        for done in &completed[..due] {
            let now = done.completion;
            debug_assert!(done.start >= done.request.arrival && now >= done.start);
            if done.request.op == Op::Flush {
                self.under_way -= 1;
                self.finish_flushes(1, now);
                continue;
            }
            self.recorder.complete(done)?;
            self.under_way -= 1;
            let writes = u64::from(done.request.op == Op::Write);
            self.counts.writes += writes;
            self.counts.reads += 1 - writes;
            let flushes = self.flushes.durable(done.request.id, writes);
            if flushes > 0 {
                self.finish_flushes(flushes, now);
            }
            self.feed.free_slot(now + self.think);
        }
        completed.drain(..due);
        self.completed = completed;
        Ok(due)
    }
}

/// Whether two energies are the same but for rounding.
fn agree(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// What must hold at the end of every run.
fn conserve(system: &dyn System, recorder: &Recorder, counts: &Counts) -> Result<()> {
    let done = counts.reads + counts.writes + counts.trims + counts.flushes;
    if counts.issued != done + counts.dropped {
        return Err(Error::internal(format!("operations were lost: {counts:?}")));
    }
    if counts.interrupted {
        return Ok(());
    }
    if counts.dropped > 0 {
        return Err(Error::internal(format!("the scheduler never chose {} requests", counts.dropped)));
    }
    let elapsed = recorder.ended.since(recorder.opened);
    let ledgers = system.ledgers();
    // A service that spans the end of the warm-up is one request's, but counts in part.
    let spent_j: f64 = ledgers.iter().map(|(_, energy)| energy.seek + energy.access).sum();
    let charged_j = recorder.served_uj.value() * 1e-6;
    if !ledgers.is_empty() && recorder.opened == Time::ZERO && !agree(spent_j, charged_j) {
        return Err(Error::internal(format!(
            "requests were charged {charged_j} J but the mechanism spent {spent_j} J"
        )));
    }
    for (ledger, energy) in ledgers {
        if ledger.total() != elapsed {
            return Err(Error::internal(format!("states last {} but the run {elapsed}", ledger.total())));
        }
        if !energy.total.is_finite() {
            return Err(Error::internal("energy is not a finite number"));
        }
    }
    Ok(())
}
