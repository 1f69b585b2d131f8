//! Workloads written in Python.
//!
//! A class named `module:Class` with `requests(capacity_blocks, random)`, which yields requests one by one or in
//! batches. `sledlab.traces.python_requests` makes columns of these; the interpreter lock is taken once for each batch.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use sledlab_core::Error;
use sledlab_trace::synthetic::{Choice, GeneratorSetting};
use sledlab_trace::table::open_table;
use sledlab_trace::{ArrivalOptions, TraceStart};
use toml::Table;

use crate::class::{Allowlist, Class, ClassKind};
use crate::columns::next_columns;
use crate::error::raise;

pub(crate) const KIND: ClassKind =
    ClassKind { name: "workload", protocol: "sledlab.Workload", methods: &["requests"] };

/// Name of the stream of random numbers that a workload gets.
const RANDOM_STREAM: &str = "workload.plug-in";

/// The workload `module:Class`, if it is `allowed`; `params` are arguments of its constructor.
pub(crate) fn choice(
    py: Python<'_>,
    plugin_name: &str,
    params: Table,
    allowed: &Allowlist,
) -> PyResult<Choice> {
    let class = Class::find(py, KIND, plugin_name, allowed)?;
    let arguments = params.clone();
    // The first object is made now, so that wrong arguments are found before the work starts; each further run makes
    // its own.
    let first = Mutex::new(Some(class.make(&arguments).map_err(raise)?));
    Ok(Choice::custom(plugin_name, params, move |setting| {
        let workload = first.lock().unwrap_or_else(PoisonError::into_inner).take();
        let workload = workload.map_or_else(|| class.make(&arguments), Ok)?;
        let chunks = class.call(|py| start_workload(workload.bind(py), setting))?;
        let workload_class = class.clone();
        let next_rows = move || workload_class.call(|py| next_columns(chunks.bind(py)));
        open_table(
            class.plugin_name(),
            Box::new(next_rows),
            ArrivalOptions { start: TraceStart::Zero, ..ArrivalOptions::default() },
        )
    }))
}

/// Returns a placeholder for `module:Class` with `params`, for operations that run no plug-in code.
pub(crate) fn placeholder(plugin_name: &str, params: Table) -> Choice {
    let name = plugin_name.to_owned();
    Choice::custom(plugin_name, params, move |_| {
        Err(Error::internal(format!("`{name}` is a placeholder and cannot run")))
    })
}

/// Starts the workload and returns an iterator of columns of the requests that it yields.
fn start_workload(workload: &Bound<'_, PyAny>, setting: GeneratorSetting) -> PyResult<Py<PyAny>> {
    let py = workload.py();
    let numpy = py.import("numpy.random")?;
    let bit_generator = numpy.call_method1("PCG64", (setting.root(RANDOM_STREAM),))?;
    let random = numpy.call_method1("Generator", (bit_generator,))?;
    let requests = workload.call_method1("requests", (setting.capacity_blocks, random))?;
    Ok(py.import("sledlab.traces.python_requests")?.call_method1("columns", (requests,))?.unbind())
}
