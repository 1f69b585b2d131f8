//! The user's interrupt, looked for while Rust works: Python runs signal handlers only when it is asked to.

use pyo3::prelude::*;
use sledlab_core::Error;
use sledlab_sim::Pulse;

use crate::error::keep;

/// Runs Python's signal handlers and keeps what they raise.
#[allow(clippy::redundant_closure_for_method_calls, reason = "the method alone is not general enough")]
pub(crate) fn check_signals() -> Result<(), Error> {
    Python::attach(|py| py.check_signals()).map_err(keep)
}

/// Tells the callback, if there is one, how many things have been done and the share of the whole; looks for
/// signals too.
pub(crate) fn tell(progress: Option<&Py<PyAny>>, done: u64, share: Option<f64>) -> Result<(), Error> {
    Python::attach(|py| {
        if let Some(progress) = progress {
            progress.call1(py, (done, share))?;
        }
        py.check_signals()
    })
    .map_err(keep)
}

/// To be called at every step of a long work: looks for signals at the pace of a [`Pulse`].
pub(crate) fn watch() -> impl FnMut() -> Result<(), Error> {
    let mut pulse = Pulse::default();
    move || if pulse.beat(1) { check_signals() } else { Ok(()) }
}
