//! An engine without a source, whose caller submits operations and controls the clock.
//!
//! [`LiveRun`] simulates a device that real programs use. It does no I/O and has no threads. The caller submits
//! operations, and calls [`advance`](LiveRun::advance) when [`next_event`](LiveRun::next_event) is due, or later.
//! Events have their own times, even if the call is late.
//!
//! Every operation gets a stamp, its effective arrival time. The stamp is later than all events and arrivals handled
//! before. All events before the stamp are handled first; an event at the time of the stamp follows the arrival, as in
//! [`simulate`](crate::simulate). A replay of the stamped operations by `simulate` therefore has identical completions
//! and results, to the last bit.
//!
//! ```
//! use sledlab_core::{Op, Request, Time};
//! use sledlab_sim::{Experiment, LiveRun};
//!
//! let mut experiment = Experiment::new();
//! experiment.set_device("mems-g2")?;
//! let mut live = LiveRun::new(&experiment, None)?;
//! let read = Request { lbn: 4096, blocks: 8, ..Request::default() };
//! let mut answers = Vec::new();
//! let (id, stamp) = live.submit(Time::from_ns(1000), read, &mut answers)?;
//! while let Some(due) = live.next_event().filter(|_| answers.is_empty()) {
//!     live.advance(due, &mut answers)?; // when the clock reaches `due`
//! }
//! assert_eq!(answers[0].id, id);
//! assert!(answers[0].time > stamp);
//! assert_eq!(live.finish(&mut answers)?.summary.requests, 1);
//! # Ok::<(), sledlab_core::Error>(())
//! ```

mod power;

use std::sync::Arc;

use sledlab_core::{Error, Op, Request, Result, Span, Time};
use sledlab_models::system::{MAX_COMPLETIONS, System};

use crate::bookkeeping::{Bookkeeping, CompletedOperation, IssuedOperation};
use crate::experiment::{Experiment, LiveSettings};
use crate::flush::CompletedFlush;
use crate::outcome::{Context, Outcome, Summary};
use crate::recorder::{Recorder, RowSink};
use crate::replay::Mode;
use crate::stopwatch::Stopwatch;

use self::power::Trims;
pub use self::power::version;

/// The completion of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Number of the operation.
    pub id: u64,
    /// Completion time in simulated time; later than now if the device has announced the completion in advance.
    pub time: Time,
    /// When the data of a write is durable, unless only a flush makes it durable ([`LiveRun::is_volatile`]).
    pub durable: Time,
}

/// A system with submitted operations.
pub struct LiveRun {
    system: Box<dyn System>,
    settings: LiveSettings,
    recorder: Recorder<'static>,
    bookkeeping: Bookkeeping,
    /// Operations submitted.
    issued: u64,
    /// The latest time at which an event or an arrival was handled.
    last_time: Time,
    stopwatch: Stopwatch,
    /// The trims so far, if media store contents so that the power can fail.
    trims: Option<Trims>,
}

impl LiveRun {
    /// Returns the system of an experiment, without outstanding operations. A trace named in the experiment will
    /// receive the submitted operations, and need not exist. `rows` gets the per-request table in small chunks.
    ///
    /// # Errors
    /// Everything that [`Experiment::check`] rejects; a generator, or any setting of the replay except `warmup`,
    /// because the caller decides which operations arrive, and when.
    pub fn new(experiment: &Experiment, rows: Option<RowSink<'static>>) -> Result<Self> {
        Ok(LiveRun::from_setup(experiment.build_live(false)?, rows))
    }

    fn from_setup(
        (settings, system): (LiveSettings, Box<dyn System>),
        rows: Option<RowSink<'static>>,
    ) -> Self {
        let mut recorder = Recorder::new(settings.warmup, rows).with_small_chunks();
        if settings.has_several_devices {
            recorder = recorder.with_device_column();
        }
        let bookkeeping = Bookkeeping::new(settings.warmup);
        let (last_time, stopwatch) = (Time::ZERO, Stopwatch::start());
        LiveRun { system, settings, recorder, bookkeeping, issued: 0, last_time, stopwatch, trims: None }
    }

    /// Returns the number of blocks of the device that the host uses.
    pub fn capacity_blocks(&self) -> u64 {
        self.system.capacity_blocks()
    }

    /// Returns the number of queued requests.
    pub fn queue_length(&self) -> usize {
        self.system.queue_length()
    }

    /// Returns whether writes complete before they are durable, so that only a flush makes them durable.
    pub fn is_volatile(&self) -> bool {
        self.settings.is_volatile
    }

    /// Returns the number of outstanding operations at the simulated time.
    pub fn in_flight(&self) -> u64 {
        self.bookkeeping.in_flight()
    }

    /// Submits an operation that arrives at `now`, after all events due before; returns its number and its stamp.
    /// Numbers start at 0. Trims complete at once.
    ///
    /// # Errors
    /// Blocks outside the device; an error of a scheduler or power policy.
    pub fn submit(&mut self, now: Time, request: Request, answers: &mut Vec<Answer>) -> Result<(u64, Time)> {
        let is_inside =
            request.lbn.checked_add(request.blocks.into()).is_some_and(|end| end <= self.capacity_blocks());
        if request.op != Op::Flush && (!is_inside || request.blocks == 0) {
            return Err(Error::internal(format!(
                "{request:?} is not for a device of {} blocks",
                self.capacity_blocks()
            )));
        }
        let now = now.max(self.last_time + Span::from_ns(1));
        self.advance_before(now, answers)?;
        self.last_time = now;
        let id = self.issued;
        self.issued += 1;
        let request = Request { arrival: now, ..request };
        if let Some(trims) = &mut self.trims {
            trims.arrive(id, &request, self.system.as_mut());
        }
        let operation = IssuedOperation { now, id, request: &request };
        let mut on_completion = |end| push_flush_answer(end, answers);
        self.bookkeeping.arrive(operation, self.system.as_mut(), &mut self.recorder, &mut on_completion)?;
        if request.op == Op::Trim {
            answers.push(Answer { id, time: now, durable: now });
        }
        Ok((id, now))
    }

    /// Returns when [`advance`](LiveRun::advance) is due next if no operation is submitted before.
    pub fn next_event(&self) -> Option<Time> {
        let event = self.system.next_event();
        self.bookkeeping.next_flush_completion().into_iter().chain(event).min()
    }

    /// Handles all events due up to `now`, each at its own time.
    ///
    /// # Errors
    /// An error of a scheduler or power policy.
    pub fn advance(&mut self, now: Time, answers: &mut Vec<Answer>) -> Result<()> {
        self.advance_before(now + Span::from_ns(1), answers)?;
        self.last_time = self.last_time.max(now);
        Ok(())
    }

    /// Ends the run: outstanding operations, and background writes of caches and hybrids, are simulated to the end at
    /// once, for any amount of simulated time.
    ///
    /// # Errors
    /// The errors of [`advance`](LiveRun::advance); a run in which no completed operation counts; violated
    /// conservation.
    pub fn finish(mut self, answers: &mut Vec<Answer>) -> Result<Outcome> {
        self.advance_before(Time::MAX, answers)?;
        self.close()
    }

    /// Returns the results without further simulation.
    fn close(mut self) -> Result<Outcome> {
        let counts = self.bookkeeping.close(self.issued, self.system.as_mut(), &mut self.recorder)?;
        let LiveSettings { seed, config, .. } = self.settings;
        let (fit_counts, trace_notes) = (Arc::default(), Vec::new());
        let context = Context { counts, fit_counts, trace_notes, mode: Mode::Open, config, seed };
        let summary = Summary::new(&self.recorder, self.system.as_ref(), context)?;
        Ok(Outcome::new(summary, &self.recorder, self.stopwatch.elapsed_s(), None))
    }

    fn advance_before(&mut self, horizon: Time, answers: &mut Vec<Answer>) -> Result<()> {
        loop {
            let old_len = self.bookkeeping.completions.len();
            let is_reached = self.system.advance_before(horizon, &mut self.bookkeeping.completions);
            let is_full = self.bookkeeping.completions.len() >= MAX_COMPLETIONS;
            let new_completions = &self.bookkeeping.completions[old_len..];
            if self.trims.is_some() {
                power::discard_read_contents(new_completions, self.system.as_mut());
            }
            answers.extend(new_completions.iter().map(|completion| Answer {
                id: completion.request.id,
                time: completion.completion,
                durable: completion.durable_time(),
            }));
            let mut on_completion = |end| push_flush_answer(end, answers);
            let recorded =
                self.bookkeeping.record_completions(horizon, &mut self.recorder, &mut on_completion)?;
            if is_reached || (is_full && recorded == 0) {
                break;
            }
        }
        self.system.failure().map_or(Ok(()), Err)
    }
}

/// Completes a flush that waited; other completions are reported by the system itself.
fn push_flush_answer(end: CompletedOperation, answers: &mut Vec<Answer>) {
    if let CompletedOperation::Flushed(CompletedFlush { id, time }) = end {
        answers.push(Answer { id, time, durable: time });
    }
}
