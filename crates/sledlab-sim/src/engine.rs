//! The event loop: arrivals and events in order of time.
//!
//! [`simulate`] connects a [`Feed`], which returns when the host issues its next operation, and a [`System`], which
//! returns when its next event is due. It handles whichever is earlier, until neither has anything left. The stages of
//! an operation, in the order of the code:
//!
//! 1. **Arrival.** In an open replay, operations arrive at the times of the source, divided by the speed-up. In a
//!    closed replay, they arrive when a slot is free, which depends on a completion and the think time after it. All
//!    events due *before* an arrival are handled first; at equal times, the arrival precedes the event. An open replay
//!    advances the system to the next arrival in one call ([`System::advance_before`]). A closed replay advances by
//!    single events, because each completion may cause an arrival before the next event. Operations are numbered in
//!    order of arrival, from 0.
//! 2. **Queue.** The system receives reads and writes, and passes them, or accesses derived from them, to its
//!    [`Station`](sledlab_models::system::Station)s. A station passes them to the
//!    [`Merger`](sledlab_models::merge::Merger), if merging is enabled, and to the
//!    [`Scheduler`](sledlab_models::scheduler::Scheduler). A request that arrives at an idle device ends the idle
//!    period. The [`PowerPolicy`](sledlab_models::power::PowerPolicy) then decides, given the length of the period,
//!    when the device parked; a parked device must start up first.
//! 3. **Choice.** When the mechanism is free, the scheduler selects one request, or several that one pass serves. The
//!    choice follows all other events of the same time, so requests that arrive at that time are included.
//! 4. **Issue.** The [`Device`](sledlab_models::device::Device) serves the selected requests. It reports, at the issue
//!    or at a later event, how it served each: start, completion, the parts of the time between, and the energy.
//! 5. **Completion.** The [`Recorder`] receives the times and the energy, and a slot is free. The station's
//!    [`Ledger`](sledlab_models::power::Ledger) receives the times and the energy of the mechanism's states. An open
//!    replay records completions in groups of several hundred ([`MAX_COMPLETIONS`]), because only a flush needs them
//!    earlier. Completions that a device has announced for a later time are recorded at that time.
//!
//! A **flush** delays no other operation and uses no device. A system whose cache may lose its contents completes a
//! flush when all writes before it are durable ([`System::flush`]). In other systems the completion of a write has the
//! time at which it is durable, and a flush is complete when all writes that arrived before it are ([`Flushes`]).
//! That time may lie in the future, as a disk writes its buffer to the medium without further commands. A **trim** is
//! complete at once and is not passed to the system. Both occupy a slot of a closed replay, and neither counts as a
//! request.
//!
//! The **warm-up** ends with the arrival of the first operation whose number counts. Ledgers and counters are then
//! reset; queues, caches and the mechanism keep their state. Operations that arrived earlier are still served and
//! excluded from statistics of requests, but ledgers include the work of devices for them from then on.
//!
//! The **end** is reached when the source or a limit gives no more operations and all due events have been handled. A
//! run lasts until the last completion or, if caches and hybrids still write in the background, until they are done
//! ([`System::background`]); then the ledgers are closed. An interrupted run retains the completed operations and drops
//! those in flight. An error of a scheduler or power policy ends a run ([`System::failure`]).
//!
//! **Conservation** is checked at the end of each run: operations issued = completed + dropped; energy charged to
//! requests and to background work = energy of seeks and accesses in the ledgers (where there is no warm-up); time
//! in all states = time of the run, for every station. A violation is a defect of sledlab.
//!
//! Two reads on a memory that takes 10 us for an access and 1 us for a block:
//!
//! ```
//! use sledlab_core::source::MemorySource;
//! use sledlab_core::{Request, Source, Time};
//! use sledlab_sim::{Experiment, Hooks};
//!
//! let mut experiment = Experiment::new();
//! experiment.set_device("ram")?;
//! experiment.set("device.access_us", "10.0")?;
//! experiment.set("device.bus_mb_s", "512.0")?;
//! let read = |us: u64, lbn| Request { arrival: Time::from_ns(us * 1000), lbn, blocks: 8, ..Request::default() };
//! // The first is served from 5 to 23 us. The second arrives at 10, waits until then, and is served until 41.
//! let requests = MemorySource::new(vec![read(5, 0), read(10, 800)]);
//! let source: Option<Box<dyn Source>> = Some(Box::new(requests));
//! let summary = experiment.run(Hooks { source, ..Hooks::default() })?.summary;
//! let same = |found: f64, us: f64| (found - us * 1e-6).abs() < 1e-12;
//! assert!(same(summary.elapsed_s, 41.0));
//! assert!(same(summary.queue_time_ms.max / 1e3, 23.0 - 10.0));
//! assert!(same(summary.state_time_s.access, 2.0 * 18.0));
//! // The memory is idle until the first arrival.
//! assert!(same(summary.state_time_s.idle, 5.0));
//! # Ok::<(), sledlab_core::Error>(())
//! ```

use std::ops::ControlFlow;

use sledlab_core::{Error, Result, Source, Span, Time};
use sledlab_models::system::{MAX_COMPLETIONS, System};
use sledlab_trace::Continuation;

use crate::bookkeeping::{Bookkeeping, Counts, IssuedOperation};
use crate::feed::Feed;
use crate::memory::MemoryMonitor;
use crate::poll_interval::PollInterval;
use crate::recorder::Recorder;
use crate::replay::{Mode, Replay};

/// If the queue is longer than this, and more than twice as long as at the last check, decisions may have become
/// slower.
const LONG_QUEUE: usize = 32;

/// Minimum number of completed requests that count, for a run that is stopped in overload.
const MIN_COMPLETED: u64 = 100;

/// The progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Operations issued.
    pub operations: u64,
    /// Share of the run that is done, if known.
    pub fraction: Option<f64>,
    /// Simulated time.
    pub simulated_time: Time,
}

impl Progress {
    /// The progress before the first operation.
    pub(crate) const NONE: Progress =
        Progress { operations: 0, fraction: Some(0.0), simulated_time: Time::ZERO };
}

/// Progress hook, called about every 50 ms of wall-clock time, also while queues drain; [`ControlFlow::Break`]
/// interrupts the run, which retains the operations completed so far.
pub type ProgressSink<'a> = &'a mut dyn FnMut(Progress) -> ControlFlow<()>;

/// Replays `source` on `system` and records arrivals and completions.
///
/// # Errors
/// The errors of the source, a request that does not fit, a recorder that cannot write, and any violation of
/// conservation, which is a defect of sledlab.
pub fn simulate(
    system: &mut dyn System,
    source: &mut dyn Source,
    replay: &Replay,
    recorder: &mut Recorder,
    progress: Option<ProgressSink>,
) -> Result<Counts> {
    let poll = if progress.is_some() { PollInterval::default() } else { PollInterval::without_clock() };
    simulate_with_poll(poll, system, source, replay, recorder, progress)
}

fn simulate_with_poll(
    poll: PollInterval,
    system: &mut dyn System,
    source: &mut dyn Source,
    replay: &Replay,
    recorder: &mut Recorder,
    progress: Option<ProgressSink>,
) -> Result<Counts> {
    let feed = Feed::new(Box::new(source), Continuation::default(), replay, system.capacity_blocks());
    let mut run = Run::new(poll, feed, replay, progress);
    run.run_to_pause(system, recorder)?;
    run.close(system, recorder)
}

/// Whether and when a run pauses, so that its caller can do other work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pause {
    Never,
    /// At the next poll.
    Next,
    Now,
}

/// The behavior of an open replay at its last arrival if the run is overloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Overload {
    /// The run serves all queued requests.
    Drain,
    /// The run ends.
    Stop,
    /// The run has ended because of its overload.
    Stopped,
}

/// A run between its beginning and its end.
pub(crate) struct Run<'s, 'p> {
    feed: Feed<'s>,
    bookkeeping: Bookkeeping,
    think: Span,
    interrupted: bool,
    overload: Overload,
    pause: Pause,
    is_closed: bool,
    /// Poll interval. Arrivals are counted here and events in `events`, because an event takes much less time.
    arrivals: PollInterval,
    events: PollInterval,
    /// Length of the queue at the last check.
    last_queue_length: usize,
    memory: MemoryMonitor,
    progress: Option<ProgressSink<'p>>,
}

impl<'s, 'p> Run<'s, 'p> {
    pub fn new(
        poll: PollInterval,
        feed: Feed<'s>,
        replay: &Replay,
        progress: Option<ProgressSink<'p>>,
    ) -> Self {
        let think = match replay.mode {
            Mode::Open | Mode::Gaps => Span::ZERO,
            Mode::Closed { think, .. } => think,
        };
        Run {
            feed,
            bookkeeping: Bookkeeping::new(replay.warmup),
            think,
            interrupted: false,
            overload: Overload::Drain,
            pause: Pause::Never,
            is_closed: replay.mode != Mode::Open,
            arrivals: poll.clone(),
            events: poll,
            last_queue_length: 0,
            memory: MemoryMonitor::new(),
            progress,
        }
    }

    /// Returns the same run, which ends with its last arrival if it is overloaded. Open replays only.
    #[must_use]
    pub fn with_overload_stop(self, stops_overloaded: bool) -> Self {
        Run { overload: if stops_overloaded { Overload::Stop } else { Overload::Drain }, ..self }
    }

    /// Runs to the end, or to a pause; returns whether the end is reached.
    pub fn run_to_pause(&mut self, system: &mut dyn System, recorder: &mut Recorder) -> Result<bool> {
        let mut last_arrival = Time::ZERO;
        loop {
            let arrival = if self.is_closed {
                self.run_closed(system, recorder)?
            } else {
                self.run_open(system, recorder)?
            };
            let Some(at) = arrival else { break };
            self.arrive(system, recorder, at)?;
            last_arrival = at;
            if self.arrivals.tick(1) && !self.poll_callbacks(system, recorder)? {
                break;
            }
        }
        self.check_failure(system)?;
        if self.interrupted || self.overload == Overload::Stopped {
            self.record_completions(recorder, last_arrival)?;
        }
        let is_paused = self.pause == Pause::Now;
        if is_paused {
            self.pause = Pause::Next;
        }
        Ok(!is_paused)
    }

    /// Runs for about `iterations` arrivals or events, and then pauses; returns whether the end is reached.
    pub fn run_iterations(
        &mut self,
        iterations: u32,
        system: &mut dyn System,
        recorder: &mut Recorder,
    ) -> Result<bool> {
        (self.arrivals, self.events) =
            (PollInterval::from_iterations(iterations), PollInterval::from_iterations(iterations));
        self.pause = Pause::Next;
        self.run_to_pause(system, recorder)
    }

    /// Returns the progress of the run.
    pub fn progress(&self, recorder: &Recorder) -> Progress {
        Progress {
            operations: self.feed.issued_operations(),
            fraction: self.feed.progress(),
            simulated_time: recorder.end,
        }
    }

    /// Returns whether no operation that counts in statistics has arrived yet.
    pub fn is_warming_up(&self) -> bool {
        self.bookkeeping.is_warming_up()
    }

    /// Ends the run and returns its counts.
    pub fn close(self, system: &mut dyn System, recorder: &mut Recorder) -> Result<Counts> {
        let Run { feed, mut bookkeeping, interrupted, overload, .. } = self;
        bookkeeping.counts.interrupted = interrupted;
        bookkeeping.counts.overloaded = overload == Overload::Stopped;
        bookkeeping.close(feed.issued_operations(), system, recorder)
    }

    /// Returns when the next operation is issued. An interrupt by the user in the source ends the run.
    #[inline]
    fn next_arrival(&mut self) -> Result<Option<Time>> {
        self.feed.next_arrival().or_else(|error| self.interrupt(error).map(|()| None))
    }

    /// Handles all events due before the next arrival, and returns the time of that arrival. At the end of the source,
    /// all remaining events are due.
    ///
    /// Completions are recorded in groups of several hundred, because only a flush needs them earlier.
    #[inline]
    fn run_open(&mut self, system: &mut dyn System, recorder: &mut Recorder) -> Result<Option<Time>> {
        let arrival = self.next_arrival()?;
        if self.interrupted {
            return Ok(None);
        }
        if arrival.is_none() && self.overload == Overload::Stop && can_stop(recorder) {
            self.overload = Overload::Stopped;
            return Ok(None);
        }
        let horizon = arrival.unwrap_or(Time::MAX);
        loop {
            let target = self.reach(system, horizon);
            let is_reached = system.advance_before(target, &mut self.bookkeeping.completions);
            let mut recorded = 0;
            if self.bookkeeping.completions.len() >= MAX_COMPLETIONS {
                recorded = self.record_completions(recorder, horizon)?;
                if recorded == 0 {
                    break;
                }
            } else if is_reached && target == horizon {
                break;
            }
            if self.events.tick(1 + recorded) && !self.poll_callbacks(system, recorder)? {
                self.record_completions(recorder, target)?;
                return Ok(None);
            }
        }
        if arrival.is_none() {
            self.record_completions(recorder, horizon)?;
        }
        Ok(arrival)
    }

    /// Returns how far to advance in one call towards `horizon`: to `horizon`, or one event if the work of several may
    /// take too long between two polls.
    #[inline]
    fn reach(&mut self, system: &dyn System, horizon: Time) -> Time {
        self.check_queue(system);
        if self.events.stride() >= MAX_COMPLETIONS {
            return horizon;
        }
        system.next_event().map_or(horizon, |event| (event + Span::from_ns(1)).min(horizon))
    }

    /// Shortens the interval between readings of the clock when the queue has grown much: a scheduler that examines all
    /// queued requests then takes longer.
    #[inline]
    fn check_queue(&mut self, system: &dyn System) {
        if self.progress.is_some() {
            let waiting = system.queue_length();
            if waiting > 2 * self.last_queue_length + LONG_QUEUE {
                self.last_queue_length = waiting;
                self.events.restart();
            }
        }
    }

    /// Like [`Run::run_open`] for a closed replay, one event at a time: a completion frees a slot, and the operation
    /// issued then may arrive before the next event.
    fn run_closed(&mut self, system: &mut dyn System, recorder: &mut Recorder) -> Result<Option<Time>> {
        loop {
            let arrival = self.next_arrival()?;
            match system.next_event() {
                _ if self.interrupted => return Ok(None),
                Some(now) if arrival.is_none_or(|at| now < at) => {
                    system.advance(now, &mut self.bookkeeping.completions);
                    self.record_completions(recorder, Time::MAX)?;
                    self.check_queue(system);
                    if self.events.tick(1) && !self.poll_callbacks(system, recorder)? {
                        return Ok(None);
                    }
                }
                _ => return Ok(arrival),
            }
        }
    }

    /// Reports the progress and returns whether the run continues; rejects a queue that exceeds the memory.
    #[cold]
    fn poll_callbacks(&mut self, system: &mut dyn System, recorder: &mut Recorder) -> Result<bool> {
        self.last_queue_length = system.queue_length();
        self.memory.check(self.last_queue_length)?;
        self.check_failure(system)?;
        if let Some(progress) = self.progress.as_mut().filter(|_| !self.interrupted) {
            let (operations, fraction) = (self.feed.issued_operations(), self.feed.progress());
            let flow = progress(Progress { operations, fraction, simulated_time: recorder.end });
            self.interrupted = flow.is_break();
        }
        if self.pause == Pause::Next {
            self.pause = Pause::Now;
        }
        Ok(!self.interrupted && self.pause != Pause::Now)
    }

    /// Ends the run with the error of a scheduler or a power policy, if there is one.
    fn check_failure(&mut self, system: &mut dyn System) -> Result<()> {
        system.failure().map_or(Ok(()), |error| self.interrupt(error))
    }

    /// Handles an interrupt by the user as the end of the run, and returns any other error.
    fn interrupt(&mut self, error: Error) -> Result<()> {
        if !error.is_interrupt() {
            return Err(error);
        }
        self.interrupted = true;
        Ok(())
    }

    #[inline]
    fn arrive(&mut self, system: &mut dyn System, recorder: &mut Recorder, now: Time) -> Result<()> {
        let (id, request) = self.feed.take(now);
        let operation = IssuedOperation { now, id, request: &request };
        self.bookkeeping.arrive(operation, system, recorder, &mut |end| {
            self.feed.free_slot(end.time() + self.think);
        })
    }

    /// Records all completions before `horizon`, and returns their number.
    #[inline]
    fn record_completions(&mut self, recorder: &mut Recorder, horizon: Time) -> Result<usize> {
        self.bookkeeping.record_completions(horizon, recorder, &mut |end| {
            self.feed.free_slot(end.time() + self.think);
        })
    }
}

/// Returns whether a run that is stopped after its last arrival was overloaded, and has enough completed requests for
/// statistics.
fn can_stop(recorder: &Recorder) -> bool {
    let completed: u64 = recorder.response_times.iter().map(|times| times.moments().count()).sum();
    completed >= MIN_COMPLETED && recorder.trend.is_overloaded()
}

#[cfg(test)]
mod tests;
