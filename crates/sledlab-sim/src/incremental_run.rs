//! An experiment that runs in parts, so that its caller can do other work in between.

use std::sync::Arc;

use sledlab_core::{Result, Time};
use sledlab_models::system::{Station, System};
use sledlab_trace::Continuation;
use sledlab_trace::transform::FitCounts;

use crate::decision_cost::DecisionCost;
use crate::engine::{Progress, Run};
use crate::outcome::{Context, Outcome, Snapshot, Summary};
use crate::recorder::Recorder;
use crate::replay::Mode;
use crate::stopwatch::Stopwatch;

/// Results of a run besides statistics: counts of requests fitted to the device, replay mode, experiment and seed.
pub(crate) struct RunMetadata {
    pub fit_counts: Arc<FitCounts>,
    /// Holds the notes on the trace once it has been read.
    pub trace: Continuation,
    pub mode: Mode,
    pub config: serde_json::Value,
    pub seed: u64,
}

/// A run between its beginning, [`Experiment::begin`](crate::Experiment::begin), and its end.
///
/// ```
/// use sledlab_sim::{Experiment, Hooks};
///
/// let mut experiment = Experiment::new();
/// experiment.set_device("mems-g2")?;
/// experiment.set("workload.kind", "uniform")?;
/// experiment.set("replay.limit", "1000")?;
/// let mut run = experiment.begin(Hooks::default())?;
/// while !run.run_iterations(100)? {
///     assert!(run.progress().operations < 1000);
/// }
/// let outcome = run.finish()?;
/// assert_eq!(outcome.summary.checksum, experiment.run(Hooks::default())?.summary.checksum);
/// # Ok::<(), sledlab_core::Error>(())
/// ```
pub struct IncrementalRun<'a> {
    run: Run<'static, 'a>,
    system: Box<dyn System>,
    recorder: Recorder<'a>,
    metadata: RunMetadata,
    stopwatch: Stopwatch,
    cost: Option<DecisionCost>,
}

impl<'a> IncrementalRun<'a> {
    pub(crate) fn new(
        run: Run<'static, 'a>,
        system: Box<dyn System>,
        recorder: Recorder<'a>,
        metadata: RunMetadata,
        stopwatch: Stopwatch,
        cost: Option<DecisionCost>,
    ) -> Self {
        IncrementalRun { run, system, recorder, metadata, stopwatch, cost }
    }

    /// Runs for about `iterations` arrivals or events, and returns whether the end is reached.
    ///
    /// # Errors
    /// An invalid request in the remaining trace; an error of a scheduler or a power policy.
    pub fn run_iterations(&mut self, iterations: u32) -> Result<bool> {
        self.run.run_iterations(iterations, self.system.as_mut(), &mut self.recorder)
    }

    /// Returns the progress of the run.
    pub fn progress(&self) -> Progress {
        self.run.progress(&self.recorder)
    }

    /// Returns when statistics and energy begin: the arrival of the first operation that counts; `None` before it.
    pub fn statistics_begin(&self) -> Option<Time> {
        (!self.run.is_warming_up()).then_some(self.recorder.start)
    }

    /// Returns the number of completed reads and writes that count in statistics.
    pub fn completed_requests(&self) -> u64 {
        self.recorder.response_times.iter().map(|times| times.moments().count()).sum()
    }

    /// Returns the system in which requests are queued and served.
    pub fn system(&self) -> &dyn System {
        self.system.as_ref()
    }

    /// Returns the stations of the system, to observe them.
    pub fn stations_mut(&mut self) -> Vec<&mut Station> {
        self.system.stations_mut()
    }

    /// Returns intermediate results of the run.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(&self.recorder, self.system.as_ref())
    }

    /// Runs to the end, and computes the results.
    ///
    /// # Errors
    /// The errors of [`run_iterations`](IncrementalRun::run_iterations); a run without an operation that counts or
    /// interrupted before one was complete; violated conservation.
    pub fn finish(mut self) -> Result<Outcome> {
        while !self.run.run_to_pause(self.system.as_mut(), &mut self.recorder)? {}
        let counts = self.run.close(self.system.as_mut(), &mut self.recorder)?;
        let RunMetadata { fit_counts, trace, mode, config, seed } = self.metadata;
        let context = Context { counts, fit_counts, trace_notes: trace.notes(), mode, config, seed };
        let summary = Summary::new(&self.recorder, self.system.as_ref(), context)?;
        let decision_ns = self.cost.as_ref().and_then(DecisionCost::mean_ns);
        Ok(Outcome::new(summary, &self.recorder, self.stopwatch.elapsed_s(), decision_ns))
    }
}
