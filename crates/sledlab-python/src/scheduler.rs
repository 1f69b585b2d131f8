//! Schedulers written in Python.
//!
//! A class named `module:Class` with the three methods of the trait `Scheduler`: `push(request)`, `pop(now_ns, device)`
//! and `__len__()`. The interpreter lock is taken for every call.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use sledlab_core::hash::Map;
use sledlab_core::{Error, Time};
use sledlab_models::device::{self, DeviceState, Location, Mechanics};
use sledlab_models::scheduler::{Choice, Scheduler};
use toml::Table;

use crate::class::{Allowlist, Class, ClassKind};
use crate::columns::to_bytes;

/// A queued request, as a scheduler in Python sees it.
#[pyclass(frozen, module = "sledlab._native")]
#[derive(Clone, Copy)]
pub(crate) struct QueuedRequest(device::QueuedRequest);

#[pymethods]
impl QueuedRequest {
    #[getter]
    fn id(&self) -> u64 {
        self.0.id
    }

    #[getter]
    fn arrival_ns(&self) -> u64 {
        self.0.arrival.as_ns()
    }

    #[getter]
    fn queued_ns(&self) -> u64 {
        self.0.queue_time.as_ns()
    }

    #[getter]
    fn lbn(&self) -> u64 {
        self.0.lbn
    }

    #[getter]
    fn blocks(&self) -> u32 {
        self.0.blocks
    }

    #[getter]
    fn op(&self) -> char {
        self.0.op.letter()
    }

    fn __repr__(&self) -> String {
        let device::QueuedRequest { id, lbn, blocks, op, .. } = self.0;
        format!("QueuedRequest(id={id}, lbn={lbn}, blocks={blocks}, op={:?})", op.letter())
    }
}

/// The mechanism at the time of a choice.
#[pyclass(frozen, module = "sledlab._native")]
pub(crate) struct DeviceView(Box<dyn Mechanics>);

#[pymethods]
impl DeviceView {
    #[getter]
    fn capacity_blocks(&self) -> u64 {
        self.0.capacity_blocks()
    }

    #[getter]
    fn blocks_per_track(&self) -> u64 {
        self.0.extent().blocks_per_track
    }

    #[getter]
    fn cylinders(&self) -> u32 {
        self.0.extent().cylinders
    }

    #[getter]
    fn rows(&self) -> u32 {
        self.0.extent().rows
    }

    /// `(x_bit, y_bit, direction)` of a sled, `(cylinder, head, 1)` of a disk, `(0, 0, 1)` where nothing moves.
    #[getter]
    fn state(&self) -> (i32, i32, i8) {
        let DeviceState { x, y, direction, .. } = self.0.state();
        (x, y, direction)
    }

    /// The place of a block, as `(cylinder, row)`.
    fn location(&self, lbn: u64) -> PyResult<(u32, u32)> {
        let capacity = self.0.capacity_blocks();
        if lbn >= capacity {
            return Err(pyo3::exceptions::PyValueError::new_err(format!(
                "block {lbn} lies outside the device, which has {capacity} blocks"
            )));
        }
        let Location { cylinder, row, .. } = self.0.location(lbn);
        Ok((cylinder, row))
    }

    /// The positioning time of a request, or an array of those of several: one call for an entire queue is much faster
    /// than one for each request.
    fn positioning_ns<'py>(&self, requests: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = requests.py();
        if let Ok(request) = requests.cast::<QueuedRequest>() {
            return Ok(self.0.positioning(&request.get().0).as_ns().into_pyobject(py)?.into_any());
        }
        let times = requests
            .try_iter()?
            .map(|request| Ok(self.0.positioning(&request?.cast::<QueuedRequest>()?.get().0).as_ns()))
            .collect::<PyResult<Vec<u64>>>()?;
        let bytes = to_bytes(py, &times, u64::to_le_bytes)?;
        py.import("numpy")?.call_method1("frombuffer", (bytes, "<u8"))
    }
}

pub(crate) const KIND: ClassKind =
    ClassKind { name: "scheduler", protocol: "sledlab.Scheduler", methods: &["push", "pop", "__len__"] };

/// The scheduler `module:Class`, if it is `allowed`; `params` are arguments of its constructor.
pub(crate) fn choice(
    py: Python<'_>,
    plugin_name: &str,
    params: Table,
    allowed: &Allowlist,
) -> PyResult<Choice> {
    let class = Class::find(py, KIND, plugin_name, allowed)?;
    let arguments = params.clone();
    Ok(Choice::custom(plugin_name, params, move |_| {
        let queue = class.make(&arguments)?;
        Ok(Box::new(PythonScheduler { class: class.clone(), queue, waiting: Map::default(), failure: None }))
    }))
}

/// Returns a placeholder for `module:Class` with `params`, for operations that run no plug-in code.
pub(crate) fn placeholder(plugin_name: &str, params: Table) -> Result<Choice, Error> {
    let fcfs = Choice::new("fcfs", &Table::new())?;
    Ok(Choice::custom(plugin_name, params, move |mechanics| fcfs.make(mechanics)))
}

struct PythonScheduler {
    class: Class,
    queue: Py<PyAny>,
    /// Requests that were pushed and have not been chosen yet, by id.
    waiting: Map<u64, device::QueuedRequest>,
    failure: Option<Error>,
}

impl PythonScheduler {
    fn choose(
        &mut self,
        py: Python<'_>,
        now: Time,
        mechanics: &dyn Mechanics,
        batch: &mut Vec<device::QueuedRequest>,
    ) -> PyResult<()> {
        let view = Bound::new(py, DeviceView(mechanics.snapshot()))?;
        let chosen = self.queue.bind(py).call_method1("pop", (now.as_ns(), view))?;
        let old_len = batch.len();
        if let Ok(requests) = chosen.cast::<PyList>() {
            requests.iter().try_for_each(|request| self.take_request(&request, batch))?;
        } else {
            self.take_request(&chosen, batch)?;
        }
        self.check_length(py, batch.len() > old_len)
    }

    fn take_request(
        &mut self,
        chosen: &Bound<'_, PyAny>,
        batch: &mut Vec<device::QueuedRequest>,
    ) -> PyResult<()> {
        let id = match chosen.cast::<QueuedRequest>() {
            Ok(request) => request.get().0.id,
            Err(_) => {
                return Err(PyTypeError::new_err(format!(
                    "pop must return a queued request or a list of them, not {}",
                    chosen.repr()?
                )));
            }
        };
        let request = self.waiting.remove(&id).ok_or_else(|| {
            PyTypeError::new_err(format!("pop returned request {id}, which is not in the queue"))
        })?;
        batch.push(request);
        Ok(())
    }
}

impl Scheduler for PythonScheduler {
    fn push(&mut self, request: device::QueuedRequest) {
        self.waiting.insert(request.id, request);
        if self.failure.is_some() {
            return;
        }
        let result = self.class.call(|py| {
            let queued = Bound::new(py, QueuedRequest(request))?;
            self.queue.bind(py).call_method1("push", (queued,)).map(|_| ())
        });
        self.failure = result.err();
    }

    fn pop(&mut self, now: Time, mechanics: &dyn Mechanics, batch: &mut Vec<device::QueuedRequest>) {
        if self.failure.is_some() {
            return;
        }
        let old_len = batch.len();
        let class = self.class.clone();
        if let Err(error) = class.call(|py| self.choose(py, now, mechanics, batch)) {
            self.failure = Some(error);
            batch.truncate(old_len);
        }
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Classes have no method that removes a request.
    fn remove(&mut self, _request: &device::QueuedRequest, _mechanics: &dyn Mechanics) -> bool {
        false
    }

    fn failure(&mut self) -> Option<Error> {
        self.failure.take()
    }
}

impl PythonScheduler {
    /// Checks `__len__`: the class must return the number of queued requests, and choose one as long as there are any.
    fn check_length(&self, py: Python<'_>, has_chosen: bool) -> PyResult<()> {
        let len = self.queue.bind(py).len()?;
        if len != self.waiting.len() {
            let expected = self.waiting.len();
            return Err(PyTypeError::new_err(format!("len() is {len}, but {expected} requests are queued")));
        }
        if has_chosen {
            Ok(())
        } else {
            Err(PyTypeError::new_err("pop returned no request although some are queued"))
        }
    }
}
