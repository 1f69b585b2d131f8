//! Run bookkeeping: outstanding operations, pending flushes and statistics.
//!
//! [`simulate`](crate::simulate) (simulated clock) and [`LiveRun`](crate::LiveRun) (wall clock) both call `arrive` and
//! `complete` here, so results are recorded the same way in both.

use sledlab_core::{Error, Op, Request, Result, Time};
use sledlab_models::device::QueuedRequest;
use sledlab_models::system::{Completion, System};

use crate::flush::{CompletedFlush, Flushes};
use crate::queue_trend::{Arrival, Sample};
use crate::recorder::Recorder;

/// The queue length is recorded at every arrival up to this number of arrivals, then at every eighth, which stands for
/// eight.
const FULLY_SAMPLED_ARRIVALS: u64 = 65_536;
const SAMPLE_INTERVAL: u64 = 8;

/// Operation counts by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Operations issued, of any kind.
    pub issued: u64,
    /// Reads and writes issued, warm-up included.
    pub offered: u64,
    /// Reads completed, warm-up included.
    pub reads: u64,
    /// Writes completed, warm-up included.
    pub writes: u64,
    /// Trims completed.
    pub trims: u64,
    /// Flushes completed.
    pub flushes: u64,
    /// Operations outstanding when the run was interrupted, or stopped in overload.
    pub dropped: u64,
    /// Whether the run was interrupted.
    pub interrupted: bool,
    /// Whether the run was stopped at its last arrival because it was overloaded.
    pub overloaded: bool,
}

/// An operation that the host issues.
#[derive(Clone, Copy)]
pub(crate) struct IssuedOperation<'a> {
    pub now: Time,
    pub id: u64,
    pub request: &'a Request,
}

/// The completion of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CompletedOperation {
    /// The completion of a read, a write or a trim, or of a flush that the system itself completes.
    Served(Time),
    /// The completion of a flush for which the writes before it were waited for; it may lie in the future.
    Flushed(CompletedFlush),
}

impl CompletedOperation {
    #[inline]
    pub fn time(self) -> Time {
        match self {
            CompletedOperation::Served(time) | CompletedOperation::Flushed(CompletedFlush { time, .. }) => {
                time
            }
        }
    }
}

/// Counts and pending operations of a run. Its statistics are in a [`Recorder`].
pub(crate) struct Bookkeeping {
    pub counts: Counts,
    /// Completions that the system has reported, in order, and that are not recorded yet.
    pub completions: Vec<Completion>,
    flushes: Flushes,
    in_flight: u64,
    /// Sum of the arrival times, in ns, of reads and writes that have arrived and are not complete.
    outstanding_arrivals_ns: u128,
    last_arrival: Time,
    /// When the last flush is complete.
    last_flush: Time,
    /// Whether the warm-up is over.
    is_recording: bool,
}

impl Bookkeeping {
    /// Creates the bookkeeping of a run whose first `warmup` operations are excluded from statistics.
    pub fn new(warmup: u64) -> Self {
        Bookkeeping {
            counts: Counts::default(),
            completions: Vec::new(),
            flushes: Flushes::default(),
            in_flight: 0,
            outstanding_arrivals_ns: 0,
            last_arrival: Time::ZERO,
            last_flush: Time::ZERO,
            is_recording: warmup == 0,
        }
    }

    /// Returns whether no operation that counts in statistics has arrived yet.
    pub fn is_warming_up(&self) -> bool {
        !self.is_recording
    }

    /// Returns the operations that have arrived and are not complete.
    pub fn in_flight(&self) -> u64 {
        self.in_flight + self.flushes.pending_count()
    }

    /// Returns the time of the next completion that a waiting flush may depend on, if it is known but not recorded yet;
    /// the system may have no event at that time.
    pub fn next_flush_completion(&self) -> Option<Time> {
        let next_completion = self.completions.first().filter(|_| self.flushes.pending_count() > 0);
        next_completion.map(|completion| completion.completion)
    }

    /// Passes an operation to the system, which must have been advanced to the arrival time.
    #[inline]
    pub fn arrive(
        &mut self,
        operation: IssuedOperation,
        system: &mut dyn System,
        recorder: &mut Recorder,
        on_completion: &mut impl FnMut(CompletedOperation),
    ) -> Result<()> {
        let IssuedOperation { now, id, request } = operation;
        if !self.is_recording && recorder.is_counted(id) {
            self.is_recording = true;
            recorder.open(now);
            system.open_ledgers(now);
        }
        match request.op {
            Op::Read | Op::Write => {
                self.flushes.arrive(u64::from(request.op == Op::Write));
                let arrived_before = self.counts.offered;
                if recorder.trend.is_due(now) {
                    recorder.trend.record(Sample::new(
                        Arrival { at: now, arrived: arrived_before, waiting: system.queue_length() },
                        system,
                    ));
                }
                if arrived_before < FULLY_SAMPLED_ARRIVALS {
                    recorder.arrive(
                        id,
                        Arrival { at: now, arrived: arrived_before, waiting: system.queue_length() },
                        1,
                    );
                } else if arrived_before.is_multiple_of(SAMPLE_INTERVAL) {
                    let arrival =
                        Arrival { at: now, arrived: arrived_before, waiting: system.queue_length() };
                    recorder.arrive(id, arrival, SAMPLE_INTERVAL);
                }
                self.in_flight += 1;
                self.outstanding_arrivals_ns += u128::from(now.as_ns());
                self.last_arrival = now;
                self.counts.offered += 1;
                system.arrive(now, QueuedRequest::new(id, request));
            }
            Op::Trim => {
                self.counts.trims += 1;
                on_completion(CompletedOperation::Served(now));
            }
            Op::Flush if system.flush(now, QueuedRequest::new(id, request)) => self.in_flight += 1,
            Op::Flush => {
                self.record_completions(now, recorder, on_completion)?;
                if let Some(time) = self.flushes.flush(id, now) {
                    self.counts.flushes += 1;
                    self.last_flush = time;
                    on_completion(CompletedOperation::Flushed(CompletedFlush { id, time }));
                }
            }
        }
        Ok(())
    }

    /// Records all completions before `horizon` and returns their number.
    #[inline]
    pub fn record_completions(
        &mut self,
        horizon: Time,
        recorder: &mut Recorder,
        on_completion: &mut impl FnMut(CompletedOperation),
    ) -> Result<usize> {
        let mut completions = std::mem::take(&mut self.completions);
        let later_count =
            completions.iter().rev().take_while(|completion| completion.completion >= horizon).count();
        let ready_count = completions.len() - later_count;
        for completion in &completions[..ready_count] {
            let now = completion.completion;
            debug_assert!(completion.start >= completion.request.arrival && now >= completion.start);
            if completion.request.op == Op::Flush {
                self.in_flight -= 1;
                self.counts.flushes += 1;
                on_completion(CompletedOperation::Served(now));
                continue;
            }
            recorder.complete(completion)?;
            self.in_flight -= 1;
            self.outstanding_arrivals_ns -= u128::from(completion.request.arrival.as_ns());
            let writes = u64::from(completion.request.op == Op::Write);
            self.counts.writes += writes;
            self.counts.reads += 1 - writes;
            for &flush in
                self.flushes.record_completion(completion.request.id, writes, completion.durable_time())
            {
                self.counts.flushes += 1;
                self.last_flush = flush.time;
                on_completion(CompletedOperation::Flushed(flush));
            }
            on_completion(CompletedOperation::Served(now));
        }
        completions.drain(..ready_count);
        self.completions = completions;
        Ok(ready_count)
    }

    /// Ends a run in which `issued` operations arrived: closes the ledgers and checks that no operation and no energy
    /// was lost.
    pub fn close(mut self, issued: u64, system: &mut dyn System, recorder: &mut Recorder) -> Result<Counts> {
        self.counts.issued = issued;
        self.counts.dropped = self.in_flight();
        recorder.flush_rows()?;
        let (background, background_end) = system.background();
        recorder.end = recorder.end.max(background_end);
        if !self.counts.interrupted && !self.counts.overloaded {
            recorder.end = recorder.end.max(self.last_flush);
        }
        recorder.uncounted_energy += background;
        self.close_outstanding(recorder);
        system.close_ledgers(recorder.end);
        check_conservation(system, recorder, &self.counts)?;
        Ok(self.counts)
    }
}

impl Bookkeeping {
    /// Extends a run that ends with outstanding requests to its last arrival, and records how long they have waited:
    /// also the few that are in service, as if they had not started.
    fn close_outstanding(&self, recorder: &mut Recorder) {
        let outstanding = self.counts.offered - self.counts.reads - self.counts.writes;
        if outstanding > 0 {
            recorder.end = recorder.end.max(self.last_arrival);
            let end_ns = u128::from(outstanding) * u128::from(recorder.end.as_ns());
            recorder.outstanding_ns = end_ns - self.outstanding_arrivals_ns;
        }
    }
}

/// Returns whether two energies are equal except for rounding.
fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// Checks the conservation of operations, energy and time that must hold at the end of every run.
fn check_conservation(system: &dyn System, recorder: &Recorder, counts: &Counts) -> Result<()> {
    let completed = counts.reads + counts.writes + counts.trims + counts.flushes;
    if counts.issued != completed + counts.dropped {
        return Err(Error::internal(format!("operations were lost: {counts:?}")));
    }
    if counts.interrupted || counts.overloaded {
        return Ok(());
    }
    if counts.dropped > 0 {
        return Err(Error::internal(format!("the scheduler never chose {} requests", counts.dropped)));
    }
    let elapsed = recorder.end.since(recorder.start);
    let ledgers = system.ledgers();
    // If a batch of requests spans the end of the warm-up, the shares that the ledgers and the requests count differ.
    let spent_j: f64 = ledgers.iter().map(|(_, energy)| energy.seek + energy.access).sum();
    let charged_j = recorder.served_uj() * 1e-6;
    if !ledgers.is_empty() && recorder.start == Time::ZERO && !is_close(spent_j, charged_j) {
        return Err(Error::internal(format!(
            "requests were charged {charged_j} J but the mechanism spent {spent_j} J"
        )));
    }
    for (ledger, energy) in ledgers {
        if ledger.total_time() != elapsed {
            return Err(Error::internal(format!(
                "states last {} but the run {elapsed}",
                ledger.total_time()
            )));
        }
        if !energy.total.is_finite() {
            return Err(Error::internal("energy is not a finite number"));
        }
    }
    Ok(())
}
