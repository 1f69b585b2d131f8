//! TOML texts.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use toml::{Table, Value};

use crate::error::raise;

/// Checks that a text is valid TOML, with nesting and dotted keys of at most 80 levels and integers of 64 bits. Errors
/// name `name` as the file.
#[pyfunction]
pub(crate) fn check_toml(text: &str, name: &str) -> PyResult<()> {
    sledlab_sim::parse_toml(name, text).map(|_| ()).map_err(raise)
}

/// Returns the tables of the text of an experiment; dates are text.
#[pyfunction]
pub(crate) fn toml_tables<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyDict>> {
    to_dict(py, &sledlab_sim::parse_toml("experiment", text).map_err(raise)?)
}

fn to_dict<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in table {
        dict.set_item(key, to_object(py, value)?)?;
    }
    Ok(dict)
}

fn to_object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::String(text) => text.into_pyobject(py)?.into_any(),
        Value::Integer(number) => number.into_pyobject(py)?.into_any(),
        Value::Float(number) => number.into_pyobject(py)?.into_any(),
        Value::Boolean(flag) => flag.into_pyobject(py)?.to_owned().into_any(),
        Value::Datetime(date) => date.to_string().into_pyobject(py)?.into_any(),
        Value::Array(values) => {
            let values = values.iter().map(|value| to_object(py, value)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, values)?.into_any()
        }
        Value::Table(table) => to_dict(py, table)?.into_any(),
    })
}
