//! Work records and their replay on clusters.

use std::io::{BufWriter, Cursor};
use std::sync::Mutex;

use pyo3::prelude::*;
use serde_json::json;
use sledlab_core::params::ParamValue as _;
use sledlab_core::source::MemorySource;
use sledlab_core::{Error, Source as _};
use sledlab_sim::cluster::{self, ClusterHooks, ClusterOutcome, CopyLayout, Dump, Part, Redundancy};
use sledlab_trace::writer::{self, WriteOptions};

use crate::class::{Allowlist, is_plugin};
use crate::error::raise;
use crate::experiment::add_plugins;
use crate::interrupt::report_progress;

/// Work of each node of a cluster in each phase of a job: counts and bytes.
#[pyclass(frozen, module = "sledlab._native")]
pub(crate) struct Work(sledlab_trace::work::Work);

#[pymethods]
impl Work {
    /// Parses a record from the file at `path`, or from `text`; then `path` is used in messages only.
    #[new]
    #[pyo3(signature = (path, text = None))]
    fn new(py: Python<'_>, path: &str, text: Option<Vec<u8>>) -> PyResult<Self> {
        let read = || match text {
            None => sledlab_trace::work::Work::read(path),
            Some(text) => sledlab_trace::work::Work::parse(path, Cursor::new(text)),
        };
        py.detach(read).map(Work).map_err(raise)
    }

    /// Writes the record as plain text.
    fn write(&self, path: &str) -> PyResult<()> {
        let file = std::fs::File::create(path).map_err(|error| write_error(path, &error));
        file.and_then(|file| self.0.write(BufWriter::new(file))).map_err(raise)
    }

    /// Job, parameters, seed, nodes, files, groups, kinds of operation and number of phases, as JSON.
    fn describe(&self) -> String {
        let work = &self.0;
        let files = work.files.iter().map(|file| json!({ "name": file.name, "bytes": file.bytes }));
        let groups = work.groups.iter().map(|group| json!({ "name": group.name, "members": group.members }));
        let description = json!({
            "job": work.job,
            "parameters": work.parameters,
            "seed": work.seed,
            "nodes": work.nodes,
            "answer": work.answer,
            "files": files.collect::<Vec<_>>(),
            "groups": groups.collect::<Vec<_>>(),
            "kinds": work.kinds,
            "phases": work.phases.len(),
        });
        description.to_string()
    }

    /// Up to `count` phases from phase `first` on with their totals, as JSON. A record may have millions, and Python
    /// handles signals between two calls.
    fn describe_phases(&self, first: usize, count: usize) -> String {
        let work = &self.0;
        let phases = work.phases.iter().skip(first).take(count).map(|phase| {
            let sum = |bytes: &dyn Fn(&sledlab_trace::work::NodeStep) -> u64| {
                phase.steps.iter().map(bytes).sum::<u64>()
            };
            let mut operations = serde_json::Map::new();
            for (kind, count) in phase.steps.iter().flat_map(|step| &step.operations) {
                let total =
                    operations.get(&work.kinds[*kind]).and_then(serde_json::Value::as_u64).unwrap_or(0);
                operations.insert(work.kinds[*kind].clone(), json!(total.saturating_add(*count)));
            }
            json!({
                "name": phase.name,
                "read_bytes": sum(&|step| step.reads.iter().map(|access| access.bytes).sum()),
                "written_bytes": sum(&|step| step.writes.iter().map(|access| access.bytes).sum()),
                "sent_bytes": phase.bytes_sent().sum::<u64>(),
                "operations": operations,
                "collectives": phase.collectives.iter().map(|collective| collective.kind.name()).collect::<Vec<_>>(),
            })
        });
        json!(phases.collect::<Vec<_>>()).to_string()
    }

    /// Bytes that each node sends to each node and, last, to the client, summed over all phases, row by row, as JSON.
    fn traffic(&self) -> String {
        let work = &self.0;
        let mut rows = vec![vec![0_u64; work.nodes + 1]; work.nodes];
        for phase in &work.phases {
            for (from, step) in phase.steps.iter().enumerate() {
                for (to, bytes) in step.remote_sends(from) {
                    rows[from][to as usize] = rows[from][to as usize].saturating_add(bytes);
                }
            }
        }
        json!(rows).to_string()
    }
}

/// The experiment of a replay, under construction.
#[pyclass(frozen, module = "sledlab._native")]
pub(crate) struct ClusterExperiment {
    settings: Mutex<cluster::ClusterExperiment>,
    /// Not part of the experiment file: the user who runs the experiment decides which plug-ins may run.
    allowed: Allowlist,
}

impl ClusterExperiment {
    fn get(&self) -> cluster::ClusterExperiment {
        self.settings.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// Returns the experiment with its plug-in devices and replacement policies, all of which must be allowed.
    fn resolve_plugins(&self, py: Python<'_>) -> PyResult<cluster::ClusterExperiment> {
        let mut experiment = self.get();
        for store in experiment.stores().map_err(raise)? {
            add_plugins(py, &store, experiment.store(), &self.allowed)?;
        }
        Ok(experiment)
    }

    /// Returns the experiment with placeholders for its plug-ins, so that no plug-in code runs.
    fn with_placeholders(&self) -> Result<cluster::ClusterExperiment, Error> {
        let mut experiment = self.get();
        for store in experiment.stores()? {
            for kind in store.device_kinds().iter().filter(|kind| is_plugin(kind)) {
                experiment.store().add_device_kind(crate::device_class::placeholder(kind));
            }
        }
        Ok(experiment)
    }

    fn change(
        &self,
        change: impl FnOnce(&mut cluster::ClusterExperiment) -> Result<(), Error>,
    ) -> PyResult<Self> {
        let mut experiment = self.get();
        change(&mut experiment).map_err(raise)?;
        Ok(ClusterExperiment { settings: Mutex::new(experiment), allowed: self.allowed.clone() })
    }
}

#[pymethods]
impl ClusterExperiment {
    #[new]
    #[pyo3(signature = (toml = "", name = "experiment"))]
    fn new(toml: &str, name: &str) -> PyResult<Self> {
        let experiment = cluster::ClusterExperiment::from_toml(name, toml).map_err(raise)?;
        Ok(ClusterExperiment { settings: Mutex::new(experiment), allowed: Allowlist::default() })
    }

    /// Allows the plug-ins `names`, each `module:Class`, to run, and no others; `*` allows all.
    #[pyo3(signature = (names))]
    fn with_plugins(&self, names: Option<Vec<String>>) -> Self {
        ClusterExperiment { settings: Mutex::new(self.get()), allowed: Allowlist::new(names) }
    }

    /// The plug-ins that are allowed to run, named or not; `*` stands for all.
    fn allowed_plugins(&self) -> Vec<String> {
        self.allowed.names().to_vec()
    }

    /// Rejects plug-ins that are not allowed, and objects that are not classes.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        self.resolve_plugins(py).map(|_| ())
    }

    fn with_setting(&self, key: &str, value: &str) -> PyResult<Self> {
        self.change(|experiment| experiment.set(key, value))
    }

    fn with_device(&self, name_or_path: &str) -> PyResult<Self> {
        self.change(|experiment| experiment.store().set_device(name_or_path))
    }

    /// Sets `node`, `host` or `network` to a preset or a file.
    fn with_preset(&self, table: &str, name_or_path: &str) -> PyResult<Self> {
        self.change(|experiment| {
            experiment.set_preset(table, name_or_path);
            Ok(())
        })
    }

    fn with_work(&self, file: &str) -> PyResult<Self> {
        self.change(|experiment| {
            experiment.set_work_file(file);
            Ok(())
        })
    }

    /// The work record that the experiment's file names, if any.
    fn work_file(&self) -> PyResult<Option<String>> {
        self.get().work_file().map_err(raise)
    }

    /// The complete experiment, every default filled in, for the record `work`; by default for the one that the
    /// experiment names.
    #[pyo3(signature = (work = None))]
    fn to_toml(&self, py: Python<'_>, work: Option<&Work>) -> PyResult<String> {
        let experiment = self.with_placeholders().map_err(raise)?;
        py.detach(move || match work {
            Some(work) => experiment.to_toml(&work.0),
            None => experiment.to_toml(&read_work_record(&experiment)?),
        })
        .map_err(raise)
    }

    /// Checks all that `run` checks before it replays the experiment's own record, except copies of files.
    fn check_record(&self, py: Python<'_>) -> PyResult<()> {
        let experiment = self.resolve_plugins(py)?;
        py.detach(move || experiment.check(&read_work_record(&experiment)?)).map_err(raise)
    }

    /// Returns the explicit settings as TOML, without defaults.
    fn explicit_toml(&self) -> String {
        self.get().explicit_settings().to_string()
    }

    /// Returns the explicit setting of a key such as `node.preset` as text; `None` if it has the default.
    fn setting(&self, key: &str) -> Option<String> {
        let (table, key) = key.split_once('.')?;
        let settings = self.get().explicit_settings();
        let value = settings.get(table)?.get(key)?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }

    /// Returns constructor arguments for an equal experiment, for `copy` and `pickle`.
    fn __getnewargs__(&self) -> (String,) {
        (self.explicit_toml(),)
    }

    /// Replays a record and returns the outcome as JSON. `progress` is called with the number of pages and the
    /// completed share; an exception in `progress` ends the replay. `dump_node` and `dump_path` write the block trace
    /// of a node's store, `goal_path` the job as a GOAL schedule.
    #[pyo3(signature = (
        work, what_if = false, threads = 0, progress = None, dump_node = None, dump_path = None, goal_path = None
    ))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments in Python")]
    fn run(
        &self,
        py: Python<'_>,
        work: &Work,
        what_if: bool,
        threads: usize,
        progress: Option<Py<PyAny>>,
        dump_node: Option<usize>,
        dump_path: Option<&str>,
        goal_path: Option<&str>,
    ) -> PyResult<String> {
        let experiment = self.resolve_plugins(py)?;
        let outcome = py.detach(move || {
            let mut progress_hook =
                |share: f64, pages: u64| report_progress(progress.as_ref(), pages, Some(share)).is_ok();
            let mut dump = Dump::default();
            let hooks = ClusterHooks {
                threads,
                what_if,
                progress: Some(&mut progress_hook),
                dump: dump_node.map(|node| (node, &mut dump)),
            };
            let outcome = experiment.run(&work.0, hooks)?;
            if let Some(path) = dump_path {
                write_dump(dump, path)?;
            }
            if let Some(path) = goal_path {
                write_goal(&work.0, &outcome, path)?;
            }
            serde_json::to_string(&outcome)
                .map_err(|error| Error::internal(format!("cannot write the outcome as JSON: {error}")))
        });
        outcome.map_err(raise)
    }
}

/// The node with the copy of a share, and the parts of the work on that share.
type Share = (Option<usize>, Vec<(usize, u64, u64, u64)>);

/// For the share of each node: the node that holds its copy, and, when the nodes `failed` have failed, which nodes do
/// which part of the work on it, as `(machine, from, to, of)`.
#[pyfunction]
pub(crate) fn shares(redundancy: &str, nodes: usize, failed: Vec<usize>) -> PyResult<Vec<Share>> {
    let kind = Redundancy::from_value(&toml::Value::from(redundancy));
    let kind = kind.map_err(|requirement| raise(Error::user(format!("redundancy: {requirement}"))))?;
    let layout = CopyLayout::new(kind, nodes, &failed).map_err(raise)?;
    let to_tuple = |part: &Part| (part.machine, part.start, part.end, part.total);
    let parts = layout.parts().into_iter().enumerate();
    Ok(parts.map(|(share, parts)| (layout.holder(share), parts.iter().map(to_tuple).collect())).collect())
}

/// Reads the work record of an experiment.
fn read_work_record(experiment: &cluster::ClusterExperiment) -> Result<sledlab_trace::work::Work, Error> {
    match experiment.work_file()? {
        Some(file) => sledlab_trace::work::Work::read(file),
        None => Err(Error::user("no work record was given").with_remedy("name one, such as sample:sort")),
    }
}

fn write_dump(dump: Dump, path: &str) -> Result<(), Error> {
    let mut source = MemorySource::new(dump.requests);
    let mut writer = writer::create_with_options(path, WriteOptions::default())?;
    let mut chunk = Vec::new();
    while source.fill(&mut chunk)? > 0 {
        chunk.iter().try_for_each(|request| writer.write(request))?;
        chunk.clear();
    }
    writer.finish().map(|_| ())
}

fn write_goal(work: &sledlab_trace::work::Work, outcome: &ClusterOutcome, path: &str) -> Result<(), Error> {
    let file = std::fs::File::create(path).map_err(|error| write_error(path, &error))?;
    cluster::goal(work, outcome, &mut BufWriter::new(file))
}

fn write_error(path: &str, error: &std::io::Error) -> Error {
    Error::user(format!("cannot write {path}: {error}"))
}
