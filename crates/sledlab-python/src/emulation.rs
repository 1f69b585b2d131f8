//! Servers of emulated block devices for real programs. Linux only.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use sledlab_core::Error;
use sledlab_emulation::{Data, HostPath, ListenAddress, Priority, Scale, ServerOptions, ServerReport};

use crate::error::raise;
use crate::experiment::Experiment;

/// A server that runs, or the end of one.
#[pyclass(frozen, module = "sledlab._native")]
pub(crate) struct Server {
    uri: String,
    socket: Option<String>,
    state: Mutex<State>,
}

enum State {
    Running(sledlab_emulation::Server),
    Ended(Result<ServerEnd, Error>),
}

/// The end of a server: its report, and its failure.
#[derive(Clone)]
struct ServerEnd {
    report: String,
    /// The error of the model.
    failure: Option<Error>,
}

impl Server {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `action` with the server, which must be running.
    fn call_running(
        &self,
        py: Python<'_>,
        action: impl FnOnce(&mut sledlab_emulation::Server) -> Result<(), Error> + Send,
    ) -> PyResult<()> {
        let action = || match &mut *self.state() {
            State::Running(server) => action(server),
            State::Ended(_) => Err(Error::internal("the server has ended")),
        };
        py.detach(action).map_err(raise)
    }
}

#[pymethods]
impl Server {
    #[new]
    #[pyo3(signature = (
        experiment, *, socket, tcp, data, scratch, untimed, power_failures, scale, host_us, priority, recording,
        attached, rotational
    ))]
    #[allow(
        clippy::too_many_arguments,
        clippy::fn_params_excessive_bools,
        reason = "keyword arguments in Python"
    )]
    fn new(
        py: Python<'_>,
        experiment: &Experiment,
        socket: Option<PathBuf>,
        tcp: Option<&str>,
        data: Option<PathBuf>,
        scratch: bool,
        untimed: bool,
        power_failures: bool,
        scale: (u64, u64),
        host_us: Option<f64>,
        priority: &str,
        recording: PathBuf,
        attached: bool,
        rotational: bool,
    ) -> PyResult<Self> {
        let experiment = experiment.resolve_plugins(py)?;
        let start = || {
            let options = ServerOptions {
                listen: listen_address(socket, tcp)?,
                data: match data {
                    None => Data::Memory,
                    Some(path) if scratch => Data::Scratch(path),
                    Some(path) => Data::File(path),
                },
                untimed,
                power_failures,
                scale: Scale::new(scale.0, scale.1)?,
                host_us: host_us.map_or(HostPath::Auto, HostPath::Fixed),
                priority: parse_priority(priority)?,
                recording: Some(recording),
                attached,
                rotational,
                ..ServerOptions::default()
            };
            sledlab_emulation::Server::start(&experiment, options)
        };
        let server = py.detach(start).map_err(raise)?;
        Ok(Server {
            uri: server.uri(),
            socket: server.socket().map(|path| path.display().to_string()),
            state: Mutex::new(State::Running(server)),
        })
    }

    #[getter]
    fn uri(&self) -> &str {
        &self.uri
    }

    #[getter]
    fn socket(&self) -> Option<&str> {
        self.socket.as_deref()
    }

    /// Returns the status as JSON; `None` after the server has stopped.
    fn status(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let status = || match &*self.state() {
            State::Running(server) => json(&server.status()).map(Some),
            State::Ended(_) => Ok(None),
        };
        py.detach(status).map_err(raise)
    }

    /// Simulates a power failure of the device and returns its effects as JSON.
    fn power_fail(&self, py: Python<'_>, seed: Option<u64>) -> PyResult<String> {
        let fail = || match &*self.state() {
            State::Running(server) => json(&server.power_fail(seed)?.0),
            State::Ended(_) => Err(Error::user("the server has ended").with_remedy("start another one")),
        };
        py.detach(fail).map_err(raise)
    }

    /// Measures the latency of the path to a file or device backed by the server, before the clock starts.
    fn measure(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.call_running(py, |server| server.measure(&path))
    }

    /// Starts the clock of a server that waits until it is attached.
    fn begin(&self, py: Python<'_>) -> PyResult<()> {
        self.call_running(py, sledlab_emulation::Server::begin)
    }

    /// Stops the server and returns its report; repeated calls return the same report.
    fn stop(&self, py: Python<'_>, drain: bool) -> PyResult<String> {
        self.stop_server(py, drain).map(|end| end.report)
    }

    /// Raises the error of the model, if there is one; ends the server if it still runs.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        self.stop_server(py, false)?.failure.map_or(Ok(()), |error| Err(raise(error)))
    }
}

impl Server {
    fn stop_server(&self, py: Python<'_>, drain: bool) -> PyResult<ServerEnd> {
        let stop = || {
            let mut state = self.state();
            let placeholder =
                State::Ended(Err(Error::internal("two threads stopped the server at the same time")));
            let end = match std::mem::replace(&mut *state, placeholder) {
                State::Running(server) => server.stop(drain).and_then(|report| server_end(&report)),
                State::Ended(end) => end,
            };
            *state = State::Ended(end.clone());
            end
        };
        py.detach(stop).map_err(raise)
    }
}

/// The report, with the model's outcome in it, as JSON.
fn server_end(report: &ServerReport) -> Result<ServerEnd, Error> {
    let json_error =
        |error: serde_json::Error| Error::internal(format!("cannot write the report as JSON: {error}"));
    let mut report_json = serde_json::to_value(report).map_err(json_error)?;
    report_json["outcome"] = serde_json::to_value(&report.outcome).map_err(json_error)?;
    Ok(ServerEnd { report: json(&report_json)?, failure: report.failure.clone() })
}

fn json(value: &impl serde::Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| Error::internal(format!("cannot write JSON: {error}")))
}

fn listen_address(socket: Option<PathBuf>, tcp: Option<&str>) -> Result<Option<ListenAddress>, Error> {
    match (socket, tcp) {
        (Some(_), Some(_)) => {
            Err(Error::user("both a socket and an address were given").with_remedy("keep one of them"))
        }
        (Some(path), None) => Ok(Some(ListenAddress::Socket(path))),
        (None, Some(address)) => match address.parse::<SocketAddr>() {
            Ok(address) => Ok(Some(ListenAddress::Tcp(address))),
            Err(_) => Err(Error::user(format!("`{address}` is not an address with a port"))
                .with_remedy("write for example 127.0.0.1:10809; port 0 selects a free port")),
        },
        (None, None) => Ok(None),
    }
}

fn parse_priority(word: &str) -> Result<Priority, Error> {
    match word {
        "auto" => Ok(Priority::Auto),
        "normal" => Ok(Priority::Normal),
        "realtime" => Ok(Priority::Realtime),
        _ => {
            Err(Error::user(format!("unknown priority `{word}`"))
                .with_remedy("known: auto, normal, realtime"))
        }
    }
}

/// The checksum of a per-request table.
#[pyclass(module = "sledlab._native")]
pub(crate) struct RowsDigest(sledlab_emulation::RowsDigest);

#[pymethods]
impl RowsDigest {
    #[new]
    fn new() -> Self {
        RowsDigest(sledlab_emulation::RowsDigest::default())
    }

    /// Adds a chunk of columns as `Experiment.run` passes them to `rows`.
    fn update(&mut self, columns: Vec<(String, Vec<u8>)>) {
        for (index, (name, bytes)) in columns.iter().enumerate() {
            if name == "op" {
                self.0.update_column(index, bytes.iter().copied().map(u64::from));
            } else {
                let (words, _) = bytes.as_chunks::<8>();
                self.0.update_column(index, words.iter().copied().map(u64::from_le_bytes));
            }
        }
    }

    /// Returns the checksum of all rows so far.
    fn value(&self) -> u64 {
        self.0.value()
    }
}
