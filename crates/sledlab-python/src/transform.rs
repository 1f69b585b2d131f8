//! Transforms of a stream of requests: each takes a stream and returns a new one.

use pyo3::exceptions::PyStopIteration;
use pyo3::prelude::*;
use sledlab_core::{Op, Source as Requests, Time};
use sledlab_trace::Continuation;
use sledlab_trace::spill::Spill;
use sledlab_trace::transform::{
    BlockRange, Fit, Limit, Merge, NumberByName, OpFilter, OutsidePolicy, Overlay, PlaceDevices,
    ScaleAddresses, SelectedDevices, Sequence, Shift, SingleDevice, Speedup, TimeWindow, TransformStep,
    TransformedSource, survey,
};

use crate::error::{raise, store_exception};
use crate::interrupt::report_progress;
use crate::source::Source;

fn apply_step(source: &Source, step: impl TransformStep + 'static) -> PyResult<Source> {
    let requests = Box::new(TransformedSource::new(source.take()?, step));
    Ok(Source::with_names(requests, source.format(), source.continuation()))
}

/// Requests that arrive in a window, counted from its start if `from_zero`.
#[pyfunction]
pub(crate) fn time_window(
    source: &Source,
    from_ns: u64,
    until_ns: Option<u64>,
    from_zero: bool,
) -> PyResult<Source> {
    let until = until_ns.map_or(Time::MAX, Time::from_ns);
    apply_step(source, TimeWindow { from: Time::from_ns(from_ns), until, from_zero })
}

/// Requests to the devices with these names; an error at the end if a name is not in the trace.
#[pyfunction]
pub(crate) fn select_devices(source: &Source, names: Vec<String>) -> PyResult<Source> {
    let requests =
        SelectedDevices::new(source.take()?, source.continuation(), names.iter().map(String::as_str));
    Ok(Source::with_names(Box::new(requests), source.format(), source.continuation()))
}

/// Every request with the number that is the name of its device, where that is a number, and another one elsewhere.
#[pyfunction]
pub(crate) fn number_by_name(source: &Source) -> PyResult<Source> {
    let names = Continuation::default();
    let step = NumberByName::new(source.continuation(), names.clone());
    let requests = Box::new(TransformedSource::new(source.take()?, step));
    Ok(Source::with_names(requests, source.format(), names))
}

/// Requests that begin in the blocks from `first` up to, not including, `end`.
#[pyfunction]
pub(crate) fn block_range(source: &Source, first: u64, end: u64) -> PyResult<Source> {
    apply_step(source, BlockRange { first, end })
}

/// Operations whose letter (R, W, T, F) is among `ops`.
#[pyfunction]
pub(crate) fn select_ops(source: &Source, ops: &str) -> PyResult<Source> {
    let all = [Op::Read, Op::Write, Op::Trim, Op::Flush];
    let chosen: Vec<Op> = all.into_iter().filter(|op| ops.contains(op.letter())).collect();
    apply_step(source, OpFilter::new(chosen))
}

/// Every address multiplied by a factor.
#[pyfunction]
pub(crate) fn scale_addresses(source: &Source, factor: f64) -> PyResult<Source> {
    apply_step(source, ScaleAddresses::new(factor).map_err(raise)?)
}

/// Every request moved by a number of blocks.
#[pyfunction]
pub(crate) fn shift(source: &Source, blocks: i64) -> PyResult<Source> {
    apply_step(source, Shift { blocks })
}

/// The devices of a trace one after another on one device; `extents` as `survey` finds them.
#[pyfunction]
pub(crate) fn place(source: &Source, extents: Vec<u64>) -> PyResult<Source> {
    apply_step(source, PlaceDevices::new(&extents).map_err(raise)?)
}

/// Every request on one device, at its own address.
#[pyfunction]
pub(crate) fn overlay(source: &Source) -> PyResult<Source> {
    apply_step(source, Overlay)
}

/// The requests of a volume, whose device becomes device 0; requests to a second device are an error.
#[pyfunction]
pub(crate) fn single_device(source: &Source, volume: &str) -> PyResult<Source> {
    apply_step(source, SingleDevice::new(volume))
}

/// Requests fitted to a capacity.
#[pyfunction]
pub(crate) fn fit(
    source: &Source,
    outside: &str,
    capacity_blocks: u64,
    highest_end: Option<u64>,
) -> PyResult<Source> {
    let fit =
        OutsidePolicy::from_name(outside).and_then(|policy| Fit::new(policy, capacity_blocks, highest_end));
    apply_step(source, fit.map_err(raise)?)
}

/// Arrivals divided by a factor.
#[pyfunction]
pub(crate) fn speedup(source: &Source, factor: f64) -> PyResult<Source> {
    apply_step(source, Speedup::new(factor).map_err(raise)?)
}

/// The first requests up to a number of requests or operations; 0 for no limit.
#[pyfunction]
#[pyo3(signature = (source, requests = 0, operations = 0))]
pub(crate) fn limit(source: &Source, requests: u64, operations: u64) -> PyResult<Source> {
    let or_unlimited = |count: u64| if count == 0 { u64::MAX } else { count };
    apply_step(source, Limit::new(or_unlimited(requests), or_unlimited(operations)))
}

/// Several streams in order of arrival; devices with equal names are one if `join_devices`.
#[pyfunction]
pub(crate) fn merge(sources: Vec<PyRef<'_, Source>>, join_devices: bool) -> PyResult<Source> {
    let streams = sources
        .iter()
        .map(|source| Ok((source.take()?, source.continuation())))
        .collect::<PyResult<Vec<_>>>()?;
    let names = Continuation::default();
    let merged = Merge::new(streams, names.clone());
    let merged = if join_devices { merged.join_devices() } else { merged };
    Ok(Source::with_names(Box::new(merged), "merge", names))
}

/// Streams one after another, each as the iterator `sources` returns it. Devices have the numbers of their names.
#[pyfunction]
pub(crate) fn sequence(sources: Py<PyAny>) -> Source {
    let names = Continuation::default();
    let shared_names = names.clone();
    let next_trace = move || {
        Python::attach(|py| -> PyResult<Option<Box<dyn Requests>>> {
            let next = match sources.bind(py).call_method0("__next__") {
                Err(end) if end.is_instance_of::<PyStopIteration>(py) => return Ok(None),
                other => other?,
            };
            let source: PyRef<'_, Source> = next.extract()?;
            let step = NumberByName::new(source.continuation(), shared_names.clone());
            Ok(Some(Box::new(TransformedSource::new(source.take()?, step))))
        })
        .map_err(store_exception)
    };
    Source::with_names(Box::new(Sequence::new(Box::new(next_trace))), "sequence", names)
}

/// Reads a stream to its end: requests, the end of each device in blocks, and the last arrival in ns.
#[pyfunction(name = "survey")]
pub(crate) fn take_survey(py: Python<'_>, source: &Source) -> PyResult<(u64, Vec<u64>, u64)> {
    let mut stream = source.take()?;
    let characteristics = py.detach(move || survey(&mut stream)).map_err(raise)?;
    Ok((characteristics.requests, characteristics.extents, characteristics.last_arrival.as_ns()))
}

/// Sorts the requests of a source by device into `parts` files of a directory, after the requests of earlier sources;
/// returns how many requests there are. The documentation of `spill.rs` describes the files.
#[pyclass(module = "sledlab._native")]
pub(crate) struct Sorter(Option<Spill>);

#[pymethods]
impl Sorter {
    #[new]
    fn new(directory: &str, parts: u16) -> PyResult<Self> {
        Spill::create(directory.as_ref(), parts).map(|spill| Sorter(Some(spill))).map_err(raise)
    }

    /// Adds all requests of a source, which continues the one before.
    #[pyo3(signature = (source, progress = None))]
    fn take(&mut self, py: Python<'_>, source: &Source, progress: Option<Py<PyAny>>) -> PyResult<()> {
        let mut requests = source.take()?;
        let Some(mut spill) = self.0.take() else { return Ok(()) };
        let spill = py
            .detach(move || {
                let mut chunk = Vec::new();
                while spill.write_chunk(&mut requests, &mut chunk)? > 0 {
                    report_progress(progress.as_ref(), spill.requests(), requests.progress())?;
                }
                Ok(spill)
            })
            .map_err(raise)?;
        self.0 = Some(spill);
        Ok(())
    }

    /// Writes the requests that are still buffered, and returns the number of all requests.
    fn finish(&mut self) -> PyResult<u64> {
        self.0.take().map_or(Ok(0), Spill::finish).map_err(raise)
    }
}
