//! Confidence intervals of means of successive requests.

use pyo3::prelude::*;
use sledlab_core::stats::BatchMeans;
use sledlab_sim::Mode;

use crate::columns::copy_array;

/// Half the 95 % confidence interval of the mean of values (f64), of which `correlated` successive ones are worth an
/// independent one; `None` for too few values.
#[pyfunction]
pub(crate) fn half_width_95(values: &Bound<'_, PyAny>, correlated: f64) -> PyResult<Option<f64>> {
    let values: Vec<f64> = copy_array(values, "values", "float64")?;
    let mut batches = BatchMeans::default();
    for value in values {
        batches.record(value);
    }
    Ok(batches.half_width_95(correlated))
}

/// Requests of an open replay for which one independent response time counts.
#[pyfunction]
pub(crate) fn correlated_requests(utilization: f64, dispersion: f64) -> f64 {
    sledlab_sim::correlated_requests(Mode::Open, utilization, dispersion)
}
