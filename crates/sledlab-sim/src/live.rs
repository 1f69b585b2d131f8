//! An engine whose clock somebody else owns: operations are submitted when they come, not read from a source.
//!
//! [`Live`] is what stands behind a device that real programs use. It does no I/O and has no threads: whoever owns the
//! clock submits operations, and calls [`advance`](Live::advance) when [`next_event`](Live::next_event) is due, or
//! later. Events happen at their own times, however late the call comes.
//!
//! Every operation gets a stamp: the time at which it counts as arrived. That is later than every event and arrival
//! handled before, and every event before it is handled first. So it never matters which of an arrival and an event at
//! the same time goes first, and [`simulate`](crate::simulate), replaying the stamped operations, comes to the same
//! completions and the same results, to the last bit.
//!
//! ```
//! use sledlab_core::{Op, Request, Time};
//! use sledlab_sim::{Experiment, Live};
//!
//! let mut experiment = Experiment::new();
//! experiment.set_device("mems-g2")?;
//! experiment.set("system.start", "ready")?;
//! let mut live = Live::new(&experiment, None)?;
//! let read = Request { lbn: 4096, blocks: 8, ..Request::default() };
//! let mut answers = Vec::new();
//! let (id, stamp) = live.submit(Time::from_ns(1000), read, &mut answers)?;
//! while let Some(due) = live.next_event().filter(|_| answers.is_empty()) {
//!     live.advance(due, &mut answers)?; // when the clock says so
//! }
//! assert_eq!(answers[0].id, id);
//! assert!(answers[0].at > stamp);
//! assert_eq!(live.finish(&mut answers)?.summary.requests, 1);
//! # Ok::<(), sledlab_core::Error>(())
//! ```

mod power;

use std::sync::Arc;

use sledlab_core::{Error, Op, Request, Result, Span, Time};
use sledlab_models::system::{MOST_COMPLETED, System};

use crate::books::{Arrived, Books, End};
use crate::experiment::{Experiment, Recorded};
use crate::outcome::{Context, Outcome, Summary};
use crate::recorder::{Recorder, RowSink};
use crate::replay::Mode;
use crate::stopwatch::Stopwatch;

use self::power::Kept;
pub use self::power::version;

/// When an operation completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its number.
    pub id: u64,
    /// The time of the model; it may lie ahead where the device has promised it.
    pub at: Time,
}

/// A system that answers operations as they are submitted.
pub struct Live {
    system: Box<dyn System>,
    recorded: Recorded,
    recorder: Recorder<'static>,
    books: Books,
    /// Operations submitted.
    issued: u64,
    /// The latest time at which an event or an arrival was handled.
    latest: Time,
    begun: Stopwatch,
    /// Where media keep contents, so that the power can fail.
    kept: Option<Kept>,
}

impl Live {
    /// The system that an experiment says, with nothing under way; a trace that it names is the one that will hold what
    /// is submitted, and need not be there. `rows` gets the per-request table in small chunks.
    ///
    /// # Errors
    /// All that [`Experiment::check`] finds; a workload, or a replay that decides when operations arrive, which is up
    /// to whoever submits them.
    pub fn new(experiment: &Experiment, rows: Option<RowSink<'static>>) -> Result<Self> {
        Ok(Live::of(experiment.recorded(false)?, rows))
    }

    fn of((recorded, system): (Recorded, Box<dyn System>), rows: Option<RowSink<'static>>) -> Self {
        let mut recorder = Recorder::new(recorded.warmup, rows).in_small_chunks();
        if recorded.several {
            recorder = recorder.naming_devices();
        }
        let books = Books::new(recorded.warmup);
        let (latest, begun) = (Time::ZERO, Stopwatch::start());
        Live { system, recorded, recorder, books, issued: 0, latest, begun, kept: None }
    }

    /// Number of blocks the host sees.
    pub fn capacity_blocks(&self) -> u64 {
        self.system.capacity_blocks()
    }

    /// Requests that wait to be selected.
    pub fn queue_length(&self) -> usize {
        self.system.queue_length()
    }

    /// Whether writes are answered before they are durable: then only a flush makes them so.
    pub fn is_volatile(&self) -> bool {
        self.recorded.volatile
    }

    /// Operations submitted whose completion has not been reached.
    pub fn under_way(&self) -> u64 {
        self.books.under_way()
    }

    /// Takes an operation that comes at `now`, having done all that is due before; tells its number and its stamp.
    /// Numbers count from 0. Trims are answered at once.
    ///
    /// # Errors
    /// Blocks outside the device; what a scheduler or policy has given up with.
    pub fn submit(&mut self, now: Time, request: Request, answers: &mut Vec<Answer>) -> Result<(u64, Time)> {
        let inside =
            request.lbn.checked_add(request.blocks.into()).is_some_and(|end| end <= self.capacity_blocks());
        if request.op != Op::Flush && (!inside || request.blocks == 0) {
            return Err(Error::internal(format!(
                "{request:?} is not for a device of {} blocks",
                self.capacity_blocks()
            )));
        }
        let now = now.max(self.latest + Span::from_ns(1));
        self.do_before(now, answers)?;
        self.latest = now;
        let id = self.issued;
        self.issued += 1;
        let request = Request { arrival: now, ..request };
        if let Some(kept) = &mut self.kept {
            kept.arrive(id, &request, self.system.as_mut());
        }
        let arrived = Arrived { now, id, request: &request };
        let mut ended = |end| tell_flushed(end, answers);
        self.books.arrive(arrived, self.system.as_mut(), &mut self.recorder, &mut ended)?;
        if request.op == Op::Trim {
            answers.push(Answer { id, at: now });
        }
        Ok((id, now))
    }

    /// When [`advance`](Live::advance) has something to do, if nothing is submitted before.
    pub fn next_event(&self) -> Option<Time> {
        let event = self.system.next_event();
        self.books.next_flushed().into_iter().chain(event).min()
    }

    /// Does all that is due up to `now`, each event at its own time.
    ///
    /// # Errors
    /// What a scheduler or policy has given up with.
    pub fn advance(&mut self, now: Time, answers: &mut Vec<Answer>) -> Result<()> {
        self.do_before(now + Span::from_ns(1), answers)?;
        self.latest = self.latest.max(now);
        Ok(())
    }

    /// Ends the run: what is still under way, and what caches and hybrids write for nobody, takes its time in the
    /// model and none here.
    ///
    /// # Errors
    /// As [`advance`](Live::advance); nothing was completed that counts; violated conservation.
    pub fn finish(mut self, answers: &mut Vec<Answer>) -> Result<Outcome> {
        self.do_before(Time::MAX, answers)?;
        self.close()
    }

    /// What there is to say when nothing more is done.
    fn close(mut self) -> Result<Outcome> {
        let counts = self.books.close(self.issued, self.system.as_mut(), &mut self.recorder)?;
        let Recorded { seed, config, .. } = self.recorded;
        let context = Context { counts, fitted: Arc::default(), mode: Mode::Open, config, seed };
        let summary = Summary::new(&self.recorder, self.system.as_ref(), context)?;
        Ok(Outcome::new(summary, &self.recorder, self.begun.elapsed_s(), None))
    }

    fn do_before(&mut self, horizon: Time, answers: &mut Vec<Answer>) -> Result<()> {
        loop {
            let told = self.books.completed.len();
            self.system.advance_before(horizon, &mut self.books.completed);
            let all_done = self.books.completed.len() < MOST_COMPLETED;
            let new = &self.books.completed[told..];
            if self.kept.is_some() {
                power::forget_found(new, self.system.as_mut());
            }
            answers.extend(new.iter().map(|done| Answer { id: done.request.id, at: done.completion }));
            let mut ended = |end| tell_flushed(end, answers);
            let recorded = self.books.complete_before(horizon, &mut self.recorder, &mut ended)?;
            if all_done || recorded == 0 {
                break;
            }
        }
        self.system.failure().map_or(Ok(()), Err)
    }
}

/// Answers a flush that waited; what the system completes is answered as soon as that is known.
fn tell_flushed(end: End, answers: &mut Vec<Answer>) {
    if let End::Flushed { id, at } = end {
        answers.push(Answer { id, at });
    }
}
