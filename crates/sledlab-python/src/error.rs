//! Conversion of errors to Python exceptions, and of Python exceptions to errors.

use std::cell::RefCell;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use sledlab_core::Error;
use sledlab_core::error::ErrorOrigin;

thread_local! {
    /// The exception that a callback raised on this thread, while Rust returns a separate error.
    static STORED_EXCEPTION: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Keeps an exception that a callback raised, and returns an error that makes Rust stop.
pub(crate) fn store_exception(exception: PyErr) -> Error {
    let interrupted = is_interrupt(&exception);
    STORED_EXCEPTION.with(|slot| slot.replace(Some(exception)));
    if interrupted { Error::interrupted() } else { Error::internal("a Python callback raised an exception") }
}

pub(crate) fn is_interrupt(exception: &PyErr) -> bool {
    Python::attach(|py| exception.is_instance_of::<PyKeyboardInterrupt>(py))
}

/// After a run that stopped early without an error: raises the exception that a callback or a signal handler raised,
/// except for the user's interrupt if the outcome reports it (`interrupt_reported`).
pub(crate) fn raise_stored_exception(interrupt_reported: bool) -> PyResult<()> {
    match STORED_EXCEPTION.with(RefCell::take) {
        Some(exception) if !(interrupt_reported && is_interrupt(&exception)) => Err(exception),
        _ => Ok(()),
    }
}

/// Drops the exception that a callback raised, if the error to raise contains it.
pub(crate) fn clear_stored_exception() {
    STORED_EXCEPTION.with(RefCell::take);
}

/// The exception to raise for `error`: the one that a callback raised, or sledlab's own.
pub(crate) fn raise(error: Error) -> PyErr {
    if let Some(exception) = STORED_EXCEPTION.with(RefCell::take) {
        return exception;
    }
    Python::attach(|py| build_exception(py, &error).unwrap_or_else(|exception| exception))
}

pub(crate) fn build_exception(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    static ERROR_CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static INTERNAL_ERROR_CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static PLACE_CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    const MODULE: &str = "sledlab.errors";
    if error.origin() == ErrorOrigin::Sledlab {
        let kind = INTERNAL_ERROR_CLASS.import(py, MODULE, "InternalError")?;
        return Ok(PyErr::from_value(kind.call1((error.to_string(),))?));
    }
    let location = match error.location() {
        None => py.None().into_bound(py),
        Some(location) => {
            let location = (location.file.as_str(), location.line, location.column, location.text.as_str());
            PLACE_CLASS.import(py, MODULE, "Place")?.call1(location)?
        }
    };
    let kind = ERROR_CLASS.import(py, MODULE, "Error")?;
    Ok(PyErr::from_value(kind.call1((error.message(), location, error.remedy()))?))
}
