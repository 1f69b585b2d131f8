//! Devices: the catalog, device files and seek-time maps.

use std::path::Path;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sledlab_models::device::{DeviceState, disksim, host, preset};
use sledlab_trace::format::read_measured_requests;

use crate::columns::to_bytes;
use crate::error::raise;
use crate::interrupt::signal_checker;

/// All models that an experiment can name, with their parameters, as JSON.
#[pyfunction]
pub(crate) fn catalog() -> PyResult<String> {
    Ok(sledlab_sim::catalog().map_err(raise)?.to_string())
}

/// The file of a preset, comments included.
#[pyfunction]
pub(crate) fn device_text(name: &str) -> PyResult<&'static str> {
    preset::text(name).map_err(raise)
}

/// The device of `data`, the content of the DiskSim parameter file at `file`, as a device file, and notes on parameters
/// that could not be converted. Files that the parameter file names must be in its directory.
#[pyfunction]
#[pyo3(signature = (data, file, name = None))]
pub(crate) fn import_device(data: &[u8], file: &str, name: Option<&str>) -> PyResult<(String, Vec<String>)> {
    disksim::import(data, file, name, &|path: &Path| std::fs::read(path)).map_err(raise)
}

/// Positioning times from a place to every row of every column: x of the columns and y of the rows in bits from the
/// center (i32), and the times in ms (f64) row by row, all as bytes.
#[pyfunction]
pub(crate) fn seek_map<'py>(
    py: Python<'py>,
    experiment: &crate::experiment::Experiment,
    x_bit: i32,
    y_bit: i32,
    direction: i8,
) -> PyResult<([Bound<'py, PyBytes>; 3], [f64; 2])> {
    let device = experiment.get().device().map_err(raise)?;
    let from = DeviceState { x: x_bit, y: y_bit, direction, ..DeviceState::ORIGIN };
    let map = py.detach(|| sledlab_sim::seek_map(&device, from, &mut signal_checker())).map_err(raise)?;
    Ok((
        [
            to_bytes(py, &map.x_bit, i32::to_le_bytes)?,
            to_bytes(py, &map.y_bit, i32::to_le_bytes)?,
            to_bytes(py, &map.ms, f64::to_le_bytes)?,
        ],
        [map.next_column_ms, map.full_stroke_ms],
    ))
}

/// Replays the measured stream in a file on the device of an experiment. Returns op letters, and measured and simulated
/// service times in ns (u64), each as bytes.
#[pyfunction]
pub(crate) fn replay_measured_requests<'py>(
    py: Python<'py>,
    experiment: &crate::experiment::Experiment,
    file: &str,
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let replay = || {
        let device = experiment.get().device()?;
        let requests = read_measured_requests(file)?;
        let services = sledlab_sim::replay_measured_requests(&device, &requests, &mut signal_checker())?;
        Ok((requests, services))
    };
    let (requests, services) = py.detach(replay).map_err(raise)?;
    let ops: Vec<u8> =
        requests.iter().map(|measured_request| measured_request.request.op.letter() as u8).collect();
    Ok((
        PyBytes::new(py, &ops),
        to_bytes(py, &requests, |measured_request| measured_request.service.as_ns().to_le_bytes())?,
        to_bytes(py, &services, |service| service.as_ns().to_le_bytes())?,
    ))
}

/// Names of the hosts to which drives can be attached.
#[pyfunction]
pub(crate) fn host_names() -> Vec<String> {
    host::names().collect()
}
