//! An engine whose clock its caller owns: operations are submitted when they come, not read from a source.
//!
//! [`Live`] simulates a device that real programs use. It does no I/O and has no threads: its caller owns the clock,
//! submits operations, and calls [`advance`](Live::advance) when [`next_event`](Live::next_event) is due, or later.
//! Events happen at their own times, however late the call comes.
//!
//! Every operation gets a stamp: the time at which it counts as arrived. The stamp is later than every event and
//! arrival handled before, and every event before the stamp is handled first; an event at the time of the stamp comes
//! after the arrival, as in [`simulate`](crate::simulate). So `simulate`, replaying the stamped operations, comes to
//! the same completions and the same results, to the last bit.
//!
//! ```
//! use sledlab_core::{Op, Request, Time};
//! use sledlab_sim::{Experiment, Live};
//!
//! let mut experiment = Experiment::new();
//! experiment.set_device("mems-g2")?;
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
use sledlab_models::system::{MAX_COMPLETED, System};

use crate::bookkeeping::{Bookkeeping, CompletedOperation, IssuedOperation};
use crate::experiment::{Experiment, Recorded};
use crate::outcome::{Context, Outcome, Summary};
use crate::recorder::{Recorder, RowSink};
use crate::replay::Mode;
use crate::stopwatch::Stopwatch;

use self::power::Trims;
pub use self::power::version;

/// When an operation completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Number of the operation.
    pub id: u64,
    /// When it completes, in simulated time; later than now where the device has promised a completion ahead.
    pub at: Time,
}

/// A system that answers operations as they are submitted.
pub struct Live {
    system: Box<dyn System>,
    recorded: Recorded,
    recorder: Recorder<'static>,
    bookkeeping: Bookkeeping,
    /// Operations submitted.
    issued: u64,
    /// The latest time at which an event or an arrival was handled.
    latest: Time,
    begun: Stopwatch,
    /// Trims so far, where media keep contents so that the power can fail.
    kept: Option<Trims>,
}

impl Live {
    /// Returns the system of an experiment, without outstanding operations. A trace named in the experiment will receive
    /// the submitted operations, and need not exist. `rows` gets the per-request table in small chunks.
    ///
    /// # Errors
    /// All that [`Experiment::check`] finds; a generator, or any setting of the replay but `warmup`, as the caller
    /// decides which operations arrive, and when.
    pub fn new(experiment: &Experiment, rows: Option<RowSink<'static>>) -> Result<Self> {
        Ok(Live::of(experiment.recorded(false)?, rows))
    }

    fn of((recorded, system): (Recorded, Box<dyn System>), rows: Option<RowSink<'static>>) -> Self {
        let mut recorder = Recorder::new(recorded.warmup, rows).in_small_chunks();
        if recorded.several {
            recorder = recorder.naming_devices();
        }
        let bookkeeping = Bookkeeping::new(recorded.warmup);
        let (latest, begun) = (Time::ZERO, Stopwatch::start());
        Live { system, recorded, recorder, bookkeeping, issued: 0, latest, begun, kept: None }
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

    /// Operations submitted that are not complete at the simulated time.
    pub fn in_flight(&self) -> u64 {
        self.bookkeeping.in_flight()
    }

    /// Takes an operation that comes at `now`, having done all that is due before; returns its number and its stamp.
    /// Numbers count from 0. Trims are answered at once.
    ///
    /// # Errors
    /// Blocks outside the device; the error of a scheduler or power policy that has given up.
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
        if let Some(stored) = &mut self.kept {
            stored.arrive(id, &request, self.system.as_mut());
        }
        let arrived = IssuedOperation { now, id, request: &request };
        let mut ended = |end| tell_flushed(end, answers);
        self.bookkeeping.arrive(arrived, self.system.as_mut(), &mut self.recorder, &mut ended)?;
        if request.op == Op::Trim {
            answers.push(Answer { id, at: now });
        }
        Ok((id, now))
    }

    /// When [`advance`](Live::advance) has something to do, if nothing is submitted before.
    pub fn next_event(&self) -> Option<Time> {
        let event = self.system.next_event();
        self.bookkeeping.next_flushed().into_iter().chain(event).min()
    }

    /// Does all that is due up to `now`, each event at its own time.
    ///
    /// # Errors
    /// The error of a scheduler or power policy that has given up.
    pub fn advance(&mut self, now: Time, answers: &mut Vec<Answer>) -> Result<()> {
        self.do_before(now + Span::from_ns(1), answers)?;
        self.latest = self.latest.max(now);
        Ok(())
    }

    /// Ends the run: outstanding operations, and background writes of caches and hybrids, are simulated to the end
    /// at once, however much simulated time they take.
    ///
    /// # Errors
    /// As [`advance`](Live::advance); a run in which no completed operation counts; violated conservation.
    pub fn finish(mut self, answers: &mut Vec<Answer>) -> Result<Outcome> {
        self.do_before(Time::MAX, answers)?;
        self.close()
    }

    /// The results, when nothing more is simulated.
    fn close(mut self) -> Result<Outcome> {
        let counts = self.bookkeeping.close(self.issued, self.system.as_mut(), &mut self.recorder)?;
        let Recorded { seed, config, .. } = self.recorded;
        let context = Context { counts, fitted: Arc::default(), mode: Mode::Open, config, seed };
        let summary = Summary::new(&self.recorder, self.system.as_ref(), context)?;
        Ok(Outcome::new(summary, &self.recorder, self.begun.elapsed_s(), None))
    }

    fn do_before(&mut self, horizon: Time, answers: &mut Vec<Answer>) -> Result<()> {
        loop {
            let completed = self.bookkeeping.completed.len();
            let is_reached = self.system.advance_before(horizon, &mut self.bookkeeping.completed);
            let is_full = self.bookkeeping.completed.len() >= MAX_COMPLETED;
            let new = &self.bookkeeping.completed[completed..];
            if self.kept.is_some() {
                power::forget_found(new, self.system.as_mut());
            }
            answers.extend(new.iter().map(|done| Answer { id: done.request.id, at: done.completion }));
            let mut ended = |end| tell_flushed(end, answers);
            let recorded = self.bookkeeping.complete_before(horizon, &mut self.recorder, &mut ended)?;
            if is_reached || (is_full && recorded == 0) {
                break;
            }
        }
        self.system.failure().map_or(Ok(()), Err)
    }
}

/// Answers a flush that waited; operations that the system completes are answered as soon as it reports them.
fn tell_flushed(end: CompletedOperation, answers: &mut Vec<Answer>) {
    if let CompletedOperation::Flushed { id, at } = end {
        answers.push(Answer { id, at });
    }
}
