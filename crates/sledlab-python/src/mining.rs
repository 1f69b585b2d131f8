//! Counting kernels and data generators of data-mining jobs.
//!
//! Arrays are objects with the buffer protocol, such as numpy's, of exactly the required type, in C order; they are
//! copied before the interpreter lock is released.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;
use sledlab_mining::{self as mining, BLOCK, BoxesParams, QuestParams, UnitGrid};

use crate::columns::{copy_array, to_bytes};
use crate::error::raise;

fn counts_to_bytes(py: Python<'_>, counts: &[u64]) -> PyResult<Py<PyBytes>> {
    to_bytes(py, counts, u64::to_le_bytes).map(Bound::unbind)
}

/// Candidate itemsets, ready to be counted.
#[pyclass(frozen, module = "sledlab._native")]
pub(crate) struct HashTree(mining::HashTree);

#[pymethods]
impl HashTree {
    #[new]
    fn new(candidates: &Bound<'_, PyAny>, length: usize) -> PyResult<Self> {
        let items: Vec<u32> = copy_array(candidates, "candidates", "uint32")?;
        candidates.py().detach(|| mining::HashTree::new(&items, length)).map(HashTree).map_err(raise)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Counts (u64) as bytes, visits and checks.
    #[pyo3(signature = (offsets, items, threads = 0))]
    fn count(
        &self,
        py: Python<'_>,
        offsets: &Bound<'_, PyAny>,
        items: &Bound<'_, PyAny>,
        threads: usize,
    ) -> PyResult<(Py<PyBytes>, u64, u64)> {
        let offsets: Vec<u64> = copy_array(offsets, "offsets", "uint64")?;
        let items: Vec<u32> = copy_array(items, "items", "uint32")?;
        let mut counts = vec![0; self.0.len()];
        let operations = py.detach(|| self.0.count(&offsets, &items, &mut counts, threads)).map_err(raise)?;
        Ok((counts_to_bytes(py, &counts)?, operations.visits, operations.checks))
    }
}

/// Candidate units, ready to be counted.
#[pyclass(frozen, module = "sledlab._native")]
pub(crate) struct UnitCounter(mining::UnitCounter);

#[pymethods]
impl UnitCounter {
    #[new]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments in Python")]
    fn new(
        py: Python<'_>,
        dims: usize,
        windows: usize,
        lows: &Bound<'_, PyAny>,
        highs: &Bound<'_, PyAny>,
        bin_of_window: &Bound<'_, PyAny>,
        candidates: &Bound<'_, PyAny>,
        length: usize,
    ) -> PyResult<Self> {
        let lows = copy_array(lows, "lows", "float64")?;
        let highs = copy_array(highs, "highs", "float64")?;
        let bin_of_window = copy_array(bin_of_window, "bin_of_window", "uint16")?;
        let units: Vec<u32> = copy_array(candidates, "candidates", "uint32")?;
        let grid = UnitGrid { dims, windows, lows, highs, bin_of_window };
        py.detach(|| mining::UnitCounter::new(&grid, &units, length)).map(UnitCounter).map_err(raise)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Counts (u64) as bytes, lookups, probes and comparisons.
    #[pyo3(signature = (records, threads = 0))]
    fn count(
        &self,
        py: Python<'_>,
        records: &Bound<'_, PyAny>,
        threads: usize,
    ) -> PyResult<(Py<PyBytes>, u64, u64, u64)> {
        let records: Vec<f32> = copy_array(records, "records", "float32")?;
        let mut counts = vec![0; self.0.len()];
        let operations = py.detach(|| self.0.count(&records, &mut counts, threads)).map_err(raise)?;
        Ok((counts_to_bytes(py, &counts)?, operations.lookups, operations.probes, operations.comparisons))
    }
}

/// Records in each fine window of each dimension (u64), as bytes.
#[pyfunction]
#[pyo3(signature = (records, dims, windows, lows, highs, threads = 0))]
pub(crate) fn window_histogram(
    py: Python<'_>,
    records: &Bound<'_, PyAny>,
    dims: usize,
    windows: usize,
    lows: &Bound<'_, PyAny>,
    highs: &Bound<'_, PyAny>,
    threads: usize,
) -> PyResult<Py<PyBytes>> {
    let records: Vec<f32> = copy_array(records, "records", "float32")?;
    let lows: Vec<f64> = copy_array(lows, "lows", "float64")?;
    let highs: Vec<f64> = copy_array(highs, "highs", "float64")?;
    let counts = py.detach(|| mining::histogram(&records, dims, windows, &lows, &highs, threads));
    counts_to_bytes(py, &counts.map_err(raise)?)
}

/// Market-basket transactions, without end.
#[pyclass(frozen, module = "sledlab._native")]
pub(crate) struct Quest(mining::Quest);

#[pymethods]
impl Quest {
    /// Number of transactions in a block.
    #[classattr]
    const BLOCK: usize = BLOCK;

    #[new]
    #[pyo3(signature = (
        seed, universe = None, patterns = None, pattern_length = None, length = None, longest = None,
        correlation = None, corruption = None
    ))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments in Python")]
    fn new(
        py: Python<'_>,
        seed: u64,
        universe: Option<u32>,
        patterns: Option<u32>,
        pattern_length: Option<f64>,
        length: Option<u32>,
        longest: Option<u32>,
        correlation: Option<f64>,
        corruption: Option<f64>,
    ) -> PyResult<Self> {
        let defaults = QuestParams::default();
        let params = QuestParams {
            universe: universe.unwrap_or(defaults.universe),
            patterns: patterns.unwrap_or(defaults.patterns),
            pattern_length: pattern_length.unwrap_or(defaults.pattern_length),
            length: length.unwrap_or(defaults.length),
            longest: longest.unwrap_or(defaults.longest),
            correlation: correlation.unwrap_or(defaults.correlation),
            corruption: corruption.unwrap_or(defaults.corruption),
        };
        py.detach(|| mining::Quest::new(seed, params)).map(Quest).map_err(raise)
    }

    /// Lengths and items (u32 each) of the first transactions of a block, as bytes.
    #[pyo3(signature = (index, count = BLOCK))]
    fn block<'py>(
        &self,
        py: Python<'py>,
        index: u64,
        count: usize,
    ) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let (mut lengths, mut items) = (Vec::new(), Vec::new());
        py.detach(|| self.0.block(index, count, &mut lengths, &mut items)).map_err(raise)?;
        Ok((to_bytes(py, &lengths, u32::to_le_bytes)?, to_bytes(py, &items, u32::to_le_bytes)?))
    }
}

/// Records with planted clusters, without end.
#[pyclass(frozen, module = "sledlab._native")]
pub(crate) struct Boxes(mining::Boxes);

#[pymethods]
impl Boxes {
    /// Number of records in a block.
    #[classattr]
    const BLOCK: usize = BLOCK;
    /// The range of values: they are at least 0 and below this.
    #[classattr]
    const RANGE: f64 = mining::boxes::RANGE;

    #[new]
    #[pyo3(signature = (seed, dims = None, clusters = None, cluster_dims = None, box_share = None, noise = None))]
    fn new(
        py: Python<'_>,
        seed: u64,
        dims: Option<usize>,
        clusters: Option<usize>,
        cluster_dims: Option<usize>,
        box_share: Option<f64>,
        noise: Option<f64>,
    ) -> PyResult<Self> {
        let defaults = BoxesParams::default();
        let params = BoxesParams {
            dims: dims.unwrap_or(defaults.dims),
            clusters: clusters.unwrap_or(defaults.clusters),
            cluster_dims: cluster_dims.unwrap_or(defaults.cluster_dims),
            box_share: box_share.unwrap_or(defaults.box_share),
            noise: noise.unwrap_or(defaults.noise),
        };
        py.detach(|| mining::Boxes::new(seed, params)).map(Boxes).map_err(raise)
    }

    /// Values (f32) of the first records of a block, as bytes.
    #[pyo3(signature = (index, count = BLOCK))]
    fn block<'py>(&self, py: Python<'py>, index: u64, count: usize) -> PyResult<Bound<'py, PyBytes>> {
        let mut records = Vec::new();
        py.detach(|| self.0.block(index, count, &mut records)).map_err(raise)?;
        to_bytes(py, &records, f32::to_le_bytes)
    }

    /// The planted clusters, as JSON.
    fn clusters(&self) -> String {
        let clusters = self.0.clusters().iter();
        json!(
            clusters
                .map(|cluster| json!({ "dims": cluster.dims, "lows": cluster.lows, "highs": cluster.highs }))
                .collect::<Vec<_>>()
        )
        .to_string()
    }
}
