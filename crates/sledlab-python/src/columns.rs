//! Columns of requests, as bytes that Python and Rust exchange, and arrays of Python.

use pyo3::buffer::{Element, PyBuffer, PyUntypedBuffer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyTuple};
use sledlab_core::{Error, Request};
use sledlab_trace::table::{Columns, Times};

use crate::error::raise;

/// The next columns of an iterator of columns, as `Source.from_columns` reads them.
pub(crate) fn next_columns(chunks: &Bound<'_, PyAny>) -> PyResult<Option<Columns>> {
    let next = chunks.call_method0("__next__");
    let chunk = match next {
        Err(error) if error.is_instance_of::<pyo3::exceptions::PyStopIteration>(chunks.py()) => {
            return Ok(None);
        }
        chunk => chunk?,
    };
    let (unit, columns): (String, [PyBackedBytes; 6]) = chunk.extract()?;
    let [time, op, offset, length, device, metadata] = columns;
    let integers = |bytes: &[u8]| from_bytes(bytes, i64::from_le_bytes);
    let times = match unit.as_str() {
        "us" => Times::WholeUs(integers(&time)),
        "fractional us" => Times::FractionalUs(from_bytes(&time, f64::from_le_bytes)),
        "ns" => Times::Ns(integers(&time)),
        "wall ns" => Times::WallNs(from_bytes(&time, u64::from_le_bytes)),
        other => return Err(PyValueError::new_err(format!("unknown unit of time `{other}`"))),
    };
    Ok(Some(Columns {
        times,
        op: op.to_vec(),
        offset_bytes: integers(&offset),
        length_bytes: integers(&length),
        device: integers(&device),
        metadata: integers(&metadata),
    }))
}

fn from_bytes<T>(bytes: &[u8], read: impl Fn([u8; 8]) -> T) -> Vec<T> {
    bytes.as_chunks().0.iter().copied().map(read).collect()
}

/// A column as bytes.
pub(crate) fn to_bytes<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    values: &[T],
    write: impl Fn(T) -> [u8; N],
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, values.len() * N, |bytes| {
        for (slot, value) in bytes.as_chunks_mut().0.iter_mut().zip(values) {
            *slot = write(*value);
        }
        Ok(())
    })
}

pub(crate) fn to_columns<'py>(py: Python<'py>, requests: &[Request]) -> PyResult<Bound<'py, PyTuple>> {
    let op: Vec<u8> = requests.iter().map(|request| request.op.letter() as u8).collect();
    let columns = (
        to_bytes(py, requests, |request| request.arrival.as_ns().to_le_bytes())?,
        PyBytes::new(py, &op),
        to_bytes(py, requests, |request| request.lbn.to_le_bytes())?,
        to_bytes(py, requests, |request| request.length_bytes().to_le_bytes())?,
        to_bytes(py, requests, |request| request.device.to_le_bytes())?,
        to_bytes(py, requests, |request| [u8::from(request.metadata)])?,
    );
    columns.into_pyobject(py)
}

/// Copies an array; `what` is its name in messages.
pub(crate) fn copy_array<T: Element + Copy>(
    array: &Bound<'_, PyAny>,
    what: &str,
    kind: &str,
) -> PyResult<Vec<T>> {
    let rejection =
        |problem: String| {
            raise(Error::user(format!("{what}: {problem}")).with_remedy(format!(
                "give a numpy array of {kind} in C order, or other memory of that type"
            )))
        };
    let Ok(buffer) = PyUntypedBuffer::get(array) else {
        return Err(rejection("no array".to_owned()));
    };
    let Ok(typed_buffer) = buffer.as_typed::<T>() else {
        return Err(rejection(format!("values of another type (`{}`)", buffer.format().to_string_lossy())));
    };
    if !buffer.is_c_contiguous() {
        return Err(rejection("values not one behind the other".to_owned()));
    }
    PyBuffer::to_vec(typed_buffer, array.py())
}
