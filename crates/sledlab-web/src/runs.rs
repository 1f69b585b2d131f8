//! An open experiment: its run, and the run's outcome.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use sledlab_core::{Error, Result, Time};
use sledlab_sim::{Experiment, Hooks, IncrementalRun, Outcome, RowSink, Rows, Snapshot, TimeStats};

use sledlab_models::device::QueuedRequest;
use sledlab_models::device::preset::DeviceFile;

use crate::answer::{Answer, AnswerBuilder, Column};
use crate::device;
use crate::rows::CompletedRows;
use crate::watched_run::WatchedRun;

/// An experiment and its run.
pub(crate) struct OpenRun {
    experiment: Experiment,
    state: RunState,
    /// The second, recorded run of the experiment; `None` while no page watches the run.
    watched: Option<Box<WatchedRun>>,
}

enum RunState {
    Running(Box<IncrementalRun<'static>>),
    /// The results, which count from `begin` on: the end of the warm-up.
    Done {
        outcome: Box<Outcome>,
        begin: Time,
    },
    /// The run has ended with this error.
    Failed(Error),
}

impl OpenRun {
    pub fn new(name: &str, toml: &str, settings: &[(String, String)]) -> Result<Self> {
        let mut experiment = Experiment::from_toml(name, toml)?;
        for (key, value) in settings {
            experiment.set(key, value)?;
        }
        let running = experiment.begin(Hooks::default())?;
        Ok(OpenRun { experiment, state: RunState::Running(Box::new(running)), watched: None })
    }

    /// The description of the run, which has the number `run`: its experiment, its stations and its capacity.
    pub fn description(&self, run: usize) -> Result<Answer> {
        let RunState::Running(running) = &self.state else {
            return Err(Error::internal("it is not running"));
        };
        // A hybrid has its front device before its back device, each time.
        let front = self.experiment.file("front")?;
        let files: Vec<DeviceFile> = front.into_iter().chain(self.experiment.file("device")?).collect();
        let stations = running.system().stations().into_iter().zip(files.iter().cycle());
        let stations = stations.map(|(station, file)| {
            let extent = station.device().mechanics().extent();
            let name = if file.name.is_empty() { file.params.kind() } else { &file.name };
            Ok(json!({
                "kind": file.params.kind(),
                "name": name,
                "columns": extent.cylinders,
                "rows": extent.rows,
                "toml": if file.params.kind() == "mems" { device::to_toml(file)? } else { String::new() },
                "sled": device::sled_facts(file)?,
                "turn_ns": station.device().mechanics().rotation_arc(&QueuedRequest::default()).map(|arc| arc.turn_ns),
            }))
        });
        Answer::from_json(&json!({
            "run": run,
            "toml": self.experiment.to_toml()?,
            "stations": stations.collect::<Result<Vec<_>>>()?,
            "capacity_blocks": running.system().capacity_blocks(),
        }))
    }

    /// Simulates about a given number of further operations and returns the progress.
    pub fn advance(&mut self, operations: u32) -> Result<Answer> {
        let is_done = match &mut self.state {
            RunState::Running(running) => running.run_iterations(operations),
            RunState::Done { .. } => Ok(true),
            RunState::Failed(error) => Err(error.clone()),
        };
        let is_done = is_done.inspect_err(|error| self.state = RunState::Failed(error.clone()))?;
        if is_done {
            self.finish()?;
        }
        Answer::from_json(&self.progress(is_done)?)
    }

    fn finish(&mut self) -> Result<()> {
        let unfinished = RunState::Failed(Error::internal("a run ended twice"));
        self.state = match std::mem::replace(&mut self.state, unfinished) {
            RunState::Running(running) => {
                let begin = running.statistics_begin().unwrap_or(Time::ZERO);
                match running.finish() {
                    Ok(outcome) => RunState::Done { outcome: Box::new(outcome), begin },
                    Err(error) => RunState::Failed(error),
                }
            }
            finished => finished,
        };
        if let RunState::Failed(error) = &self.state { Err(error.clone()) } else { Ok(()) }
    }

    fn progress(&self, is_done: bool) -> Result<Value> {
        Ok(match &self.state {
            RunState::Running(running) => {
                let progress = running.progress();
                json!({
                    "done": is_done,
                    "operations": progress.operations,
                    "fraction": progress.fraction,
                    "simulated_ns": progress.simulated_time.as_ns(),
                    "completed": running.completed_requests(),
                    "waiting": running.system().queue_length(),
                })
            }
            RunState::Done { outcome, begin } => json!({
                "done": is_done,
                "operations": outcome.summary.operations.issued,
                "completed": outcome.summary.requests,
                "fraction": 1.0,
                "simulated_ns": begin.as_ns() as f64 + outcome.summary.elapsed_s * 1e9,
                "waiting": 0,
            }),
            RunState::Failed(error) => return Err(error.clone()),
        })
    }

    /// The progress of the run, and its statistics so far. Its energy is null during the warm-up, whose energy does not
    /// count.
    pub fn snapshot(&self) -> Result<Answer> {
        let (snapshot, is_counting, mut fields) = match &self.state {
            RunState::Running(running) => {
                (running.snapshot(), running.statistics_begin().is_some(), self.progress(false)?)
            }
            RunState::Done { outcome, .. } => (
                Snapshot {
                    requests: outcome.summary.requests,
                    response_time_ms: Some(outcome.summary.response_time_ms.stats),
                    cdf: outcome.cdf[0].clone(),
                    energy_j: outcome.summary.energy_j.total,
                    checksum: outcome.summary.checksum.clone(),
                },
                true,
                self.progress(true)?,
            ),
            RunState::Failed(error) => return Err(error.clone()),
        };
        let time = |statistic: fn(&TimeStats) -> f64| snapshot.response_time_ms.as_ref().map(statistic);
        let mut answer = AnswerBuilder::default();
        for (name, value) in [
            ("mean_ms", time(|times| times.mean)),
            ("p50_ms", time(|times| times.p50)),
            ("p95_ms", time(|times| times.p95)),
            ("p99_ms", time(|times| times.p99)),
            ("max_ms", time(|times| times.max)),
            ("energy_j", is_counting.then_some(snapshot.energy_j)),
        ] {
            fields[name] = value.into();
        }
        fields["response_ms"] = answer.column(&Column::F64(&snapshot.cdf.response_ms));
        fields["share"] = answer.column(&Column::F64(&snapshot.cdf.share));
        answer.finish(&fields)
    }

    /// Completed requests, those of the warm-up included: these columns, or all where none is named. The experiment is
    /// run again for them.
    pub fn rows(&self, columns: Vec<String>) -> Result<Answer> {
        let rows = Arc::new(Mutex::new(CompletedRows::new(columns)));
        let sink_rows = Arc::clone(&rows);
        let sink: RowSink = Box::new(move |chunk: &Rows| {
            sink_rows.lock().unwrap_or_else(PoisonError::into_inner).append(chunk);
            Ok(())
        });
        let mut experiment = self.experiment.clone();
        experiment.set("replay.warmup", "0")?;
        experiment.run(Hooks { rows: Some(sink), ..Hooks::default() })?;
        rows.lock().unwrap_or_else(PoisonError::into_inner).encode_rows()
    }

    /// Returns a window of the run: from `from` until the scheduler has made `choices` choices and `until` is reached.
    pub fn watch(&mut self, from: Time, choices: usize, until: Time) -> Result<Answer> {
        if self.watched.as_ref().is_none_or(|watched| !watched.can_reach(from)) {
            self.watched = Some(Box::new(WatchedRun::new(&self.experiment, from)?));
        }
        let Some(watched) = &mut self.watched else { return Err(Error::internal("no watched run is open")) };
        // A watched run that has failed is dropped.
        let window = watched.advance_to_window(from, choices, until).and_then(|()| watched.window());
        if window.is_err() {
            self.watched = None;
        }
        window
    }

    /// Positions of a station's mechanism at instants of the window watched last.
    pub fn positions(&self, station: usize, at: &[Time]) -> Result<Answer> {
        let watched = self.watched.as_ref();
        watched.ok_or_else(|| Error::internal("no watched run is open"))?.positions(station, at)
    }

    /// The outcome of the run, which must have ended.
    pub fn outcome(&self) -> Result<Answer> {
        Answer::from_json(self.final_outcome()?)
    }

    /// The checksum of all completions.
    pub fn checksum(&self) -> Result<Answer> {
        Answer::from_json(&self.final_outcome()?.summary.checksum)
    }

    fn final_outcome(&self) -> Result<&Outcome> {
        match &self.state {
            RunState::Done { outcome, .. } => Ok(outcome),
            RunState::Failed(error) => Err(error.clone()),
            RunState::Running(_) => Err(Error::internal("the run has not ended")),
        }
    }
}
