//! An experiment that runs: for whoever wants to do something else between two parts of it.

use std::sync::Arc;

use sledlab_core::Result;
use sledlab_models::system::{Station, System};
use sledlab_trace::transform::FitCounts;

use crate::decision_cost::DecisionCost;
use crate::engine::{Progress, Run};
use crate::outcome::{Context, Glance, Outcome, Summary};
use crate::recorder::Recorder;
use crate::replay::Mode;
use crate::stopwatch::Stopwatch;

/// What the results say of a run besides what is measured.
pub(crate) struct Said {
    pub fitted: Arc<FitCounts>,
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
/// let mut running = experiment.begin(Hooks::default())?;
/// while !running.go_on_for(100)? {
///     assert!(running.progress().operations < 1000);
/// }
/// let outcome = running.finish()?;
/// assert_eq!(outcome.summary.checksum, experiment.run(Hooks::default())?.summary.checksum);
/// # Ok::<(), sledlab_core::Error>(())
/// ```
pub struct Running<'a> {
    run: Run<'static, 'a>,
    system: Box<dyn System>,
    recorder: Recorder<'a>,
    said: Said,
    begun: Stopwatch,
    cost: Option<DecisionCost>,
}

impl<'a> Running<'a> {
    pub(crate) fn new(
        run: Run<'static, 'a>,
        system: Box<dyn System>,
        recorder: Recorder<'a>,
        said: Said,
        begun: Stopwatch,
        cost: Option<DecisionCost>,
    ) -> Self {
        Running { run, system, recorder, said, begun, cost }
    }

    /// Goes on for so many turns, arrivals or events, about, and tells whether that was the end.
    ///
    /// # Errors
    /// Anything wrong with what remains of the trace; a scheduler or a policy that gives up.
    pub fn go_on_for(&mut self, turns: u32) -> Result<bool> {
        self.run.go_on_for(turns, self.system.as_mut(), &mut self.recorder)
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        self.run.progress(&self.recorder)
    }

    /// Reads and writes completed that count.
    pub fn completed(&self) -> u64 {
        self.recorder.by_op.iter().map(|times| times.moments().count()).sum()
    }

    /// What requests wait in.
    pub fn system(&self) -> &dyn System {
        self.system.as_ref()
    }

    /// The stations of the system, to be watched.
    pub fn stations_mut(&mut self) -> Vec<&mut Station> {
        self.system.stations_mut()
    }

    /// How it stands.
    pub fn glance(&self) -> Glance {
        Glance::new(&self.recorder, self.system.as_ref())
    }

    /// Goes on to the end, and sums up.
    ///
    /// # Errors
    /// As [`go_on_for`](Running::go_on_for); a run in which nothing counted or that was interrupted before anything did;
    /// violated conservation.
    pub fn finish(mut self) -> Result<Outcome> {
        while !self.run.go_on(self.system.as_mut(), &mut self.recorder)? {}
        let counts = self.run.close(self.system.as_mut(), &mut self.recorder)?;
        let Said { fitted, mode, config, seed } = self.said;
        let context = Context { counts, fitted, mode, config, seed };
        let summary = Summary::new(&self.recorder, self.system.as_ref(), context)?;
        let decision_ns = self.cost.as_ref().and_then(DecisionCost::mean_ns);
        Ok(Outcome::new(summary, &self.recorder, self.begun.elapsed_s(), decision_ns))
    }
}
