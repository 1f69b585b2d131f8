//! Characterizes streams of requests and writes them to trace files.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use sledlab_core::{Error, Op, Source as Requests};
use sledlab_models::device;
use sledlab_trace::characterize::{CharacterOptions, CylinderMap, characterize_with_progress};
use sledlab_trace::format;
use sledlab_trace::writer::{self, WriteOptions};

use crate::error::raise;
use crate::experiment::Experiment;
use crate::interrupt::{report_progress, signal_checker};
use crate::source::Source;

/// The characteristics of a workload, as JSON; with a `device`, also the cylinders of it that each hour uses.
#[pyfunction]
#[pyo3(signature = (source, cache_block_bytes = None, cache_sizes_mb = None, device = None))]
pub(crate) fn characterize(
    py: Python<'_>,
    source: &Source,
    cache_block_bytes: Option<u64>,
    cache_sizes_mb: Option<Vec<u64>>,
    device: Option<&Experiment>,
) -> PyResult<String> {
    let defaults = CharacterOptions::default();
    let options = CharacterOptions {
        cache_block_bytes: cache_block_bytes.unwrap_or(defaults.cache_block_bytes),
        cache_sizes_mb: cache_sizes_mb.unwrap_or(defaults.cache_sizes_mb),
        cylinder_map: device.map(|experiment| cylinder_map(py, experiment)).transpose()?,
    };
    let mut source = source.take()?;
    py.detach(move || {
        let report = characterize_with_progress(source.as_mut(), &options, &mut signal_checker())?;
        serde_json::to_string(&report)
            .map_err(|error| Error::internal(format!("cannot write the characterization as JSON: {error}")))
    })
    .map_err(raise)
}

/// The cylinders of the device of an experiment.
fn cylinder_map(py: Python<'_>, experiment: &Experiment) -> PyResult<CylinderMap> {
    let description = experiment.resolve_plugins(py)?.device();
    let device = description.and_then(|description| device::build(&description)).map_err(raise)?;
    let capacity_blocks = device.mechanics().capacity_blocks();
    let device = Mutex::new(device);
    Ok(CylinderMap::new(move |lbn| {
        let device = device.lock().unwrap_or_else(PoisonError::into_inner);
        (lbn < capacity_blocks).then(|| device.mechanics().location(lbn).cylinder)
    }))
}

/// The formats in which traces can be written, each with the file name extensions that select it and with how it states
/// devices: `column`, `number` or `name`.
#[pyfunction]
pub(crate) fn writer_formats() -> Vec<(&'static str, &'static [&'static str], &'static str)> {
    writer::LIST.iter().map(|format| (format.name, format.extensions, format.devices.word())).collect()
}

/// The letter of the operation that a word names; none for an unknown word.
#[pyfunction]
pub(crate) fn op_letter(word: &str) -> Option<char> {
    format::parse_op_word(word.trim().as_bytes()).map(Op::letter)
}

/// File name extensions, behind those of a format, that select a compression.
#[pyfunction]
pub(crate) fn compression_extensions() -> Vec<&'static str> {
    writer::compression_extensions().collect()
}

/// Writes a trace file and returns its number of requests; `progress` is called with requests written and the share of
/// the source read.
#[pyfunction]
#[pyo3(signature = (
    source, path, format = None, device_column = false, media_only = false, limit = None, progress = None
))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments in Python")]
pub(crate) fn write_trace(
    py: Python<'_>,
    source: &Source,
    path: &str,
    format: Option<&str>,
    device_column: bool,
    media_only: bool,
    limit: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<u64> {
    let names = source.continuation();
    let mut source = source.take()?;
    py.detach(move || {
        let options = WriteOptions { format, device_column, names: Some(&names), media_only };
        let mut writer = writer::create_with_options(path, options)?;
        let mut chunk = Vec::new();
        let mut remaining_requests = limit.unwrap_or(u64::MAX);
        let mut written_requests = 0;
        while remaining_requests > 0 && source.fill(&mut chunk)? > 0 {
            chunk.truncate(usize::try_from(remaining_requests).unwrap_or(usize::MAX));
            chunk.iter().try_for_each(|request| writer.write(request))?;
            remaining_requests -= chunk.len() as u64;
            written_requests += chunk.len() as u64;
            chunk.clear();
            report_progress(progress.as_ref(), written_requests, source.progress())?;
        }
        writer.finish()
    })
    .map_err(raise)
}
