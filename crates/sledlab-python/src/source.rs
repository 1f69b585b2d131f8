//! Streams of requests: from files, generators and Python.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyTuple};
use sledlab_core::{Error, Request, Source as Requests};
use sledlab_trace::table::open_table;
use sledlab_trace::{ArrivalOptions, Clock, OpenOptions, TraceStart, WindowOptions, synthetic};

use crate::class::{Allowlist, is_plugin};
use crate::columns::{next_columns, to_columns};
use crate::error::{is_interrupt, raise, store_exception};
use crate::interrupt::check_signals;

/// A stream of requests that can be consumed once.
#[pyclass(frozen, module = "sledlab._native")]
pub(crate) struct Source {
    requests: Mutex<Option<Box<dyn Requests>>>,
    format: String,
    /// The instant from which the times in the file count; none for generators and transforms.
    clock: Option<Clock>,
    continuation: sledlab_trace::Continuation,
}

impl Source {
    pub(crate) fn wrap(requests: Box<dyn Requests>, format: &str) -> Self {
        Self::with_names(requests, format, sledlab_trace::Continuation::default())
    }

    /// A stream whose devices have the names in `continuation`.
    pub(crate) fn with_names(
        requests: Box<dyn Requests>,
        format: &str,
        continuation: sledlab_trace::Continuation,
    ) -> Self {
        let requests = Mutex::new(Some(Box::new(Interruptible(requests)) as Box<dyn Requests>));
        Source { requests, format: format.to_owned(), clock: None, continuation }
    }

    /// Names of devices, clock and notes of the trace that the stream comes from.
    pub(crate) fn continuation(&self) -> sledlab_trace::Continuation {
        self.continuation.clone()
    }

    pub(crate) fn format(&self) -> &str {
        &self.format
    }

    /// Takes the stream out; the next caller gets an error.
    pub(crate) fn take(&self) -> PyResult<Box<dyn Requests>> {
        self.requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
            .ok_or_else(|| PyRuntimeError::new_err("this stream of requests was already consumed"))
    }
}

#[pymethods]
impl Source {
    /// Name of the trace format, the generator or the transform that the requests come from.
    #[getter(format)]
    fn format_name(&self) -> &str {
        &self.format
    }

    /// Opens a trace file, or reads one that Python has opened; then `path` is used in messages only.
    #[staticmethod]
    #[pyo3(signature = (
        path, format = None, sort_window = 0, add_service_times = false, continuation = None, file = None, *,
        columns = None, start = "first", spread_s = None, sector_bytes = None, from_s = 0.0, until_s = 0.0
    ))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments in Python")]
    fn open(
        path: &str,
        format: Option<&str>,
        sort_window: usize,
        add_service_times: bool,
        continuation: Option<&Continuation>,
        file: Option<Py<PyAny>>,
        columns: Option<&str>,
        start: &str,
        spread_s: Option<f64>,
        sector_bytes: Option<u64>,
        from_s: f64,
        until_s: f64,
    ) -> PyResult<Self> {
        let continuation = continuation.map(|continuation| continuation.0.clone()).unwrap_or_default();
        let options = OpenOptions {
            format,
            columns,
            sort_window,
            start: TraceStart::from_name(start).map_err(raise)?,
            spread_s,
            sector_bytes,
            window: WindowOptions { from_s, until_s },
            add_service_times,
            continuation: Some(&continuation),
        };
        let trace = match file {
            None => sledlab_trace::open(path, options),
            Some(file) => sledlab_trace::open_reader(path, Box::new(PythonFile(file)), options),
        };
        let trace = trace.map_err(raise)?;
        let (format, clock) = (trace.format(), Some(trace.clock()));
        Ok(Source { clock, ..Source::with_names(Box::new(trace), format, continuation) })
    }

    /// Starts a generator; `params` is a TOML table, `plugins` those that may run, as for experiments.
    #[staticmethod]
    #[pyo3(signature = (kind, params, seed, capacity_blocks, plugins = None))]
    fn generate(
        py: Python<'_>,
        kind: &str,
        params: &str,
        seed: u64,
        capacity_blocks: u64,
        plugins: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let params =
            params.parse().map_err(|error| raise(Error::user(format!("workload parameters: {error}"))))?;
        let generator = if is_plugin(kind) {
            crate::workload::choice(py, kind, params, &Allowlist::new(plugins))?
        } else {
            synthetic::Choice::new(kind, &params).map_err(raise)?
        };
        let requests = generator.build(seed, capacity_blocks).map_err(raise)?;
        Ok(Source::wrap(requests, kind))
    }

    /// Reads an iterator of `(unit, (time, op, offset_bytes, length_bytes, device, metadata))`, each the bytes of a
    /// column: i64, ASCII letters for `op`, no bytes for `device` or `metadata` where they are always 0. The unit of
    /// the times is `us` (i64), `fractional us` (f64), `ns` (i64) or, for the clocks `date` (from 2^63 ns before 1970)
    /// and `day`, `wall ns` (u64).
    #[staticmethod]
    #[pyo3(signature = (
        name, chunks, clock = "trace", sort_window = 0, continuation = None, *, start = "first", spread_s = None,
        from_s = 0.0, until_s = 0.0
    ))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments in Python")]
    fn from_columns(
        name: &str,
        chunks: Py<PyAny>,
        clock: &str,
        sort_window: usize,
        continuation: Option<&Continuation>,
        start: &str,
        spread_s: Option<f64>,
        from_s: f64,
        until_s: f64,
    ) -> PyResult<Self> {
        let next_rows = move || Python::attach(|py| next_columns(chunks.bind(py))).map_err(store_exception);
        let clock = match clock {
            "date" => Clock::Table,
            "day" => Clock::Recording,
            _ => Clock::Trace,
        };
        let continuation = continuation.map(|names| names.0.clone()).unwrap_or_default();
        let start = TraceStart::from_name(start).map_err(raise)?;
        let window = WindowOptions { from_s, until_s };
        let options = ArrivalOptions {
            clock,
            start,
            sort_window,
            spread_s,
            window,
            continuation: continuation.clone(),
        };
        let table = open_table(name, Box::new(next_rows), options).map_err(raise)?;
        Ok(Source { clock: Some(clock), ..Source::with_names(table, "table", continuation) })
    }

    /// The zero of the clock of a trace, in ns before 1970-01-01; none for clocks without a date.
    #[getter]
    fn ns_before_1970(&self) -> Option<u64> {
        self.clock.and_then(Clock::ns_before_1970)
    }

    /// The name of a device: that in the trace, or its number, as bytes.
    fn device_name<'py>(&self, py: Python<'py>, number: u16) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.continuation.name(number))
    }

    /// The state that the trace shares with traces that continue it.
    #[getter(continuation)]
    fn shared_continuation(&self) -> Continuation {
        Continuation(self.continuation.clone())
    }

    /// The next requests, `None` at the end: arrival in ns (u64), op letters, first block (u64), length in bytes
    /// (u64), device (u16) and metadata (u8, 0 or 1), each as the bytes of a column.
    fn next_chunk<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let mut requests = self.take()?;
        let (requests, chunk) = py
            .detach(move || {
                let mut chunk = Vec::new();
                requests.fill(&mut chunk)?;
                Ok((requests, chunk))
            })
            .map_err(raise)?;
        *self.requests.lock().unwrap_or_else(PoisonError::into_inner) = Some(requests);
        if chunk.is_empty() { Ok(None) } else { Ok(Some(to_columns(py, &chunk)?)) }
    }
}

/// State shared by traces that continue one another.
#[pyclass(frozen, module = "sledlab._native")]
pub(crate) struct Continuation(sledlab_trace::Continuation);

#[pymethods]
impl Continuation {
    #[new]
    #[pyo3(signature = (base_ns = None))]
    fn new(base_ns: Option<u64>) -> Self {
        Continuation(
            base_ns
                .map_or_else(sledlab_trace::Continuation::default, sledlab_trace::Continuation::with_base_ns),
        )
    }

    /// Names of the devices by number, as bytes; none for formats that have only numbers.
    fn names<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        self.0.names().iter().map(|name| PyBytes::new(py, name)).collect()
    }

    /// What a user should know about the traces, as sentences, once they have been read.
    fn notes(&self) -> Vec<String> {
        self.0.notes()
    }

    /// The wall-clock time from which arrivals count, in ns; none before the first request.
    #[getter]
    fn base_ns(&self) -> Option<u64> {
        self.0.base_ns()
    }
}

/// A file that Python has opened, read from its current position on.
struct PythonFile(Py<PyAny>);

impl std::io::Read for PythonFile {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        Python::attach(|py| {
            let chunk = self.0.bind(py).call_method1("read", (buffer.len(),))?;
            let bytes: PyBackedBytes = chunk.extract().map_err(PyErr::from)?;
            let count = bytes.len().min(buffer.len());
            buffer[..count].copy_from_slice(&bytes[..count]);
            Ok(count)
        })
        .map_err(|error: PyErr| {
            let message = error.to_string();
            if is_interrupt(&error) {
                store_exception(error); // raised in place of the error of the reader
            }
            std::io::Error::other(message)
        })
    }
}

/// A stream that polls for an interrupt by the user.
struct Interruptible(Box<dyn Requests>);

impl Requests for Interruptible {
    fn fill(&mut self, chunk: &mut Vec<Request>) -> Result<usize, Error> {
        check_signals()?;
        self.0.fill(chunk)
    }

    fn progress(&self) -> Option<f64> {
        self.0.progress()
    }
}

/// Sets the directory of the traces and work records that come with sledlab, for `sample:NAME`.
#[pyfunction]
pub(crate) fn set_sample_directory(directory: PathBuf) {
    sledlab_trace::sample::set_directory(directory);
}
