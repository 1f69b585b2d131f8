//! Checks for interrupts by the user: while Rust code runs, Python runs signal handlers only on request.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use sledlab_core::Error;
use sledlab_sim::PollInterval;

use crate::error::store_exception;

/// Runs Python's signal handlers and keeps the exception that they raise. A handler may note the signal instead: then
/// the exception is that of the check for noted signals.
pub(crate) fn check_signals() -> Result<(), Error> {
    static CHECK_NOTED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    Python::attach(|py| {
        py.check_signals()?;
        CHECK_NOTED.import(py, "sledlab.stop_signals", "check_noted_signal")?.call0().map(|_| ())
    })
    .map_err(store_exception)
}

/// Calls `progress`, if there is one, with the number of completed items and the completed share; checks for signals
/// too.
pub(crate) fn report_progress(
    progress: Option<&Py<PyAny>>,
    completed: u64,
    share: Option<f64>,
) -> Result<(), Error> {
    Python::attach(|py| {
        if let Some(progress) = progress {
            progress.call1(py, (completed, share))?;
        }
        py.check_signals()
    })
    .map_err(store_exception)
}

/// Returns a function to call at every step of long work: it checks for signals at the pace of a [`PollInterval`].
pub(crate) fn signal_checker() -> impl FnMut() -> Result<(), Error> {
    let mut poll = PollInterval::default();
    move || if poll.tick(1) { check_signals() } else { Ok(()) }
}
