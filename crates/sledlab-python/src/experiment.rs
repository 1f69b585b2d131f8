//! Experiments: build, check, run.

use std::ops::ControlFlow;
use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use sledlab_core::Error;
use sledlab_models::merge::MergeParams;
use sledlab_models::{power, scheduler, system};
use sledlab_sim::{Hooks, Progress, Rows};

use crate::class::{Allowlist, is_plugin};
use crate::columns::to_bytes;
use crate::error::{raise, raise_stored_exception, store_exception};
use crate::interrupt::report_progress;
use crate::source::Source;

/// An experiment under construction.
#[pyclass(frozen, module = "sledlab._native")]
pub(crate) struct Experiment {
    settings: Mutex<sledlab_sim::Experiment>,
    /// Not part of the experiment file: the user who runs the experiment decides which plug-ins may run.
    allowed: Allowlist,
}

impl Experiment {
    pub(crate) fn get(&self) -> sledlab_sim::Experiment {
        self.settings.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// Returns the experiment with its plug-ins, all of which must be allowed.
    pub(crate) fn resolve_plugins(&self, py: Python<'_>) -> PyResult<sledlab_sim::Experiment> {
        let mut experiment = self.get();
        let (name, params) = experiment.scheduler_setting().map_err(raise)?;
        if is_plugin(&name) {
            experiment.set_scheduler(crate::scheduler::choice(py, &name, params, &self.allowed)?);
        }
        let (name, params) = experiment.power_setting().map_err(raise)?;
        if is_plugin(&name) {
            experiment.set_power_policy(crate::power::choice(py, &name, params, &self.allowed)?);
        }
        let (name, params) = experiment.workload_setting().map_err(raise)?;
        if is_plugin(&name) {
            experiment.set_workload_generator(crate::workload::choice(py, &name, params, &self.allowed)?);
        }
        add_plugins(py, &self.get(), &mut experiment, &self.allowed)?;
        Ok(experiment)
    }

    /// Returns the plug-ins that the experiment uses.
    fn plugin_names(&self) -> Result<Vec<String>, Error> {
        let experiment = self.get();
        let settings =
            [experiment.scheduler_setting()?, experiment.power_setting()?, experiment.workload_setting()?];
        let names = settings.into_iter().map(|(name, _)| name);
        let names = names.chain(experiment.device_kinds()).chain([experiment.replacement_setting()?]);
        Ok(names.filter(|name| is_plugin(name)).collect())
    }

    /// Returns the experiment with placeholders for its plug-ins, so that no plug-in code runs.
    fn with_placeholders(&self) -> Result<sledlab_sim::Experiment, Error> {
        let mut experiment = self.get();
        if !self.plugin_names()?.is_empty() {
            experiment.skip_build();
        }
        let (name, params) = experiment.scheduler_setting()?;
        if is_plugin(&name) {
            experiment.set_scheduler(crate::scheduler::placeholder(&name, params)?);
        }
        let (name, params) = experiment.power_setting()?;
        if is_plugin(&name) {
            experiment.set_power_policy(crate::power::placeholder(&name, params)?);
        }
        let (name, params) = experiment.workload_setting()?;
        if is_plugin(&name) {
            experiment.set_workload_generator(crate::workload::placeholder(&name, params));
        }
        for name in experiment.device_kinds().iter().filter(|name| is_plugin(name)) {
            experiment.add_device_kind(crate::device_class::placeholder(name));
        }
        Ok(experiment)
    }

    fn change(
        &self,
        change: impl FnOnce(&mut sledlab_sim::Experiment) -> Result<(), Error>,
    ) -> PyResult<Self> {
        let mut experiment = self.get();
        change(&mut experiment).map_err(raise)?;
        Ok(Experiment { settings: Mutex::new(experiment), allowed: self.allowed.clone() })
    }
}

#[pymethods]
impl Experiment {
    #[new]
    #[pyo3(signature = (toml = "", name = "experiment", plugins = None))]
    fn new(toml: &str, name: &str, plugins: Option<Vec<String>>) -> PyResult<Self> {
        let experiment = sledlab_sim::Experiment::from_toml(name, toml).map_err(raise)?;
        Ok(Experiment { settings: Mutex::new(experiment), allowed: Allowlist::new(plugins) })
    }

    fn with_setting(&self, key: &str, value: &str) -> PyResult<Self> {
        self.change(|experiment| experiment.set(key, value))
    }

    fn with_device(&self, name_or_path: &str) -> PyResult<Self> {
        self.change(|experiment| experiment.set_device(name_or_path))
    }

    #[pyo3(signature = (file, format = None))]
    fn with_trace(&self, file: &str, format: Option<&str>) -> PyResult<Self> {
        self.change(|experiment| {
            experiment.set_trace(file, format);
            Ok(())
        })
    }

    fn with_workload(&self, kind: &str) -> PyResult<Self> {
        self.change(|experiment| {
            experiment.set_workload(kind);
            Ok(())
        })
    }

    /// Allows the plug-ins `names`, each `module:Class`, to run, and no others; `*` allows all.
    #[pyo3(signature = (names))]
    fn with_plugins(&self, names: Option<Vec<String>>) -> Self {
        Experiment { settings: Mutex::new(self.get()), allowed: Allowlist::new(names) }
    }

    /// The plug-ins that the experiment names, whether they are allowed or not.
    fn plugins(&self) -> PyResult<Vec<String>> {
        self.plugin_names().map_err(raise)
    }

    /// The plug-ins that are allowed to run, named or not; `*` stands for all.
    fn allowed_plugins(&self) -> Vec<String> {
        self.allowed.names().to_vec()
    }

    #[pyo3(signature = (has_source = false))]
    fn check(&self, py: Python<'_>, has_source: bool) -> PyResult<()> {
        let experiment = self.resolve_plugins(py)?;
        if has_source { experiment.check_with_source() } else { experiment.check() }.map_err(raise)
    }

    /// The complete experiment as TOML, every default filled in. No code of a plug-in runs: its parameters are written
    /// as they were set.
    fn to_toml(&self) -> PyResult<String> {
        self.with_placeholders().and_then(|experiment| experiment.to_toml()).map_err(raise)
    }

    /// Returns the explicit settings as TOML, without defaults.
    fn explicit_toml(&self) -> String {
        self.get().explicit_settings().to_string()
    }

    /// Returns the explicit setting of a key such as `trace.file` as text; `None` if it has the default.
    fn setting(&self, key: &str) -> Option<String> {
        let experiment = self.get();
        let value = experiment.get(key)?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }

    /// The complete device description and its `capacity_blocks`, as JSON.
    fn describe_device(&self, py: Python<'_>) -> PyResult<String> {
        let mut experiment = self.get();
        add_plugins(py, &self.get(), &mut experiment, &self.allowed)?;
        let describe = || {
            let device = experiment.device()?;
            let scheduler = scheduler::Choice::new("fcfs", &toml::Table::new())?;
            let device_timeout = power::Choice::from_device_timeout(device.idle_timeout_ms())?;
            let setup = system::Setup {
                scheduler: &scheduler,
                power: &device_timeout,
                merge: &MergeParams::default(),
                start: system::Start::Ready,
            };
            let capacity_blocks = system::build(&device, setup)?.capacity_blocks();
            let mut table = device.to_table();
            table.insert("capacity_blocks".to_owned(), toml::Value::Integer(capacity_blocks.cast_signed()));
            serde_json::to_string(&table)
                .map_err(|error| Error::internal(format!("cannot describe the device: {error}")))
        };
        describe().map_err(raise)
    }

    /// Returns constructor arguments for an equal experiment, for `copy` and `pickle`: its text, its name in messages,
    /// and the allowed plug-ins.
    fn __getnewargs__(&self) -> (String, &'static str, Vec<String>) {
        (self.explicit_toml(), "experiment", self.allowed.names().to_vec())
    }

    /// Runs; `rows` is called with chunks of the per-request table, `progress` with operations done and the completed
    /// share. With `time_decisions` the outcome has `decision_ns`. With `stop_overloaded` a run whose queue kept
    /// growing ends with its last arrival. Returns the outcome as JSON; after a `KeyboardInterrupt` in `progress`, that
    /// of the operations done so far. Without `progress`, or where no operation was done, the interrupt is raised.
    #[pyo3(signature = (
        source = None, rows = None, progress = None, highest_end = None, time_decisions = false,
        stop_overloaded = false
    ))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments in Python")]
    fn run(
        &self,
        py: Python<'_>,
        source: Option<&Source>,
        rows: Option<Py<PyAny>>,
        progress: Option<Py<PyAny>>,
        highest_end: Option<u64>,
        time_decisions: bool,
        stop_overloaded: bool,
    ) -> PyResult<String> {
        let experiment = self.resolve_plugins(py)?;
        let devices = source.map(Source::continuation).unwrap_or_default();
        let source = source.map(Source::take).transpose()?;
        let interrupt_reported = progress.is_some();
        let outcome = py.detach(move || {
            let mut take_rows = |chunk: &Rows| rows.as_ref().map_or(Ok(()), |sink| pass_rows(sink, chunk));
            let mut show_progress = |progress_report: Progress| match report_progress(
                progress.as_ref(),
                progress_report.operations,
                progress_report.fraction,
            ) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            };
            let has_rows = rows.is_some();
            let hooks = Hooks {
                source,
                devices,
                highest_end,
                rows: if has_rows { Some(Box::new(&mut take_rows)) } else { None },
                progress: Some(&mut show_progress),
                time_decisions,
                stop_overloaded,
            };
            let outcome = experiment.run(hooks)?;
            serde_json::to_string(&outcome)
                .map_err(|error| Error::internal(format!("cannot write the outcome as JSON: {error}")))
        });
        let outcome = outcome.map_err(raise)?;
        raise_stored_exception(interrupt_reported)?;
        Ok(outcome)
    }
}

/// Adds the classes that `settings` names as kinds of device and as replacement policy to the experiment `to`, all of
/// which must be allowed.
pub(crate) fn add_plugins(
    py: Python<'_>,
    settings: &sledlab_sim::Experiment,
    experiment: &mut sledlab_sim::Experiment,
    allowed: &Allowlist,
) -> PyResult<()> {
    for name in settings.device_kinds().iter().filter(|name| is_plugin(name)) {
        experiment.add_device_kind(crate::device_class::kind(py, name, allowed)?);
    }
    let name = settings.replacement_setting().map_err(raise)?;
    if is_plugin(&name) {
        experiment.add_replacement_policy(crate::replacement::custom_policy(py, &name, allowed)?);
    }
    Ok(())
}

/// The path, from the working directory, of a file that the file `by` names: relative to the directory of `by` if there
/// is such a file.
#[pyfunction]
pub(crate) fn resolve_file_name(name: &str, by: &str) -> String {
    sledlab_sim::resolve_file_name(name, by)
}

/// Passes a chunk of the per-request table to Python as `(name, bytes)` pairs.
fn pass_rows(sink: &Py<PyAny>, rows: &Rows) -> Result<(), Error> {
    Python::attach(|py| {
        let columns = PyList::empty(py);
        for (name, values) in rows.columns() {
            columns.append((name, to_bytes(py, values, u64::to_le_bytes)?))?;
        }
        for (name, values) in rows.energies() {
            columns.append((name, to_bytes(py, values, f64::to_le_bytes)?))?;
        }
        columns.append(("op", PyBytes::new(py, &rows.op)))?;
        if !rows.device.is_empty() {
            columns.append(("device", to_bytes(py, &rows.device, u64::to_le_bytes)?))?;
        }
        sink.call1(py, (columns,)).map(|_| ())
    })
    .map_err(store_exception)
}
