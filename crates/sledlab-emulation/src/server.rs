//! A server from start to stop: serves a simulated system as a block device to real programs.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sledlab_core::{BLOCK_BYTES, Error, Result};
use sledlab_models::system::Contents;
use sledlab_sim::{Experiment, LiveRun, RowSink};

use crate::DataStore;
use crate::attachment::{Attachment, AttachmentHandle, attachment_channel};
use crate::model::Model;
use crate::power::{Power, PowerCut, PowerFailure};
use crate::probe::Probe;
use crate::record::digest::RowsDigest;
use crate::record::recording::Recording;
use crate::report::{HostPathCost, ServerReport, Status};
use crate::server_loop::{Clients, RowDigestSource, ServerOrder, ServerParts, ServerState, SharedState};
use crate::sockets::listener::{ListenAddress, Listener};
use crate::timing::clock::{Monotonic, Scale};
use crate::timing::cpu_idle::CpuIdleInhibitor;
use crate::timing::pacer::Pacer;
use crate::timing::priority::{self, Priority};
use crate::transport::nbd::Export;

/// Storage of a server's data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Data {
    /// In memory, for as long as the server runs.
    #[default]
    Memory,
    /// In a file, which is created if it does not exist.
    File(PathBuf),
    /// In a copy of a file, in memory: the file is not changed.
    Scratch(PathBuf),
}

/// Compensation for the host path: how much earlier than planned replies are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum HostPath {
    /// As measured before the clock starts.
    #[default]
    Auto,
    /// By this number of microseconds; 0 for none.
    Fixed(f64),
}

/// Options of a server.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "independent options")]
pub struct ServerOptions {
    /// Where clients connect; by default a socket in a new private directory.
    pub listen: Option<ListenAddress>,
    /// Storage of the data.
    pub data: Data,
    /// Reply at once, without a model, for example to fill a device with data.
    pub untimed: bool,
    /// Keep overwritten data in memory until no power failure can restore it, as required for [`Server::power_fail`].
    pub power_failures: bool,
    /// Ratio of wall-clock time to simulated time.
    pub scale: Scale,
    /// How much earlier than planned replies are sent.
    pub host_us: HostPath,
    /// The priority of the server's thread.
    pub priority: Priority,
    /// The file to which a [`Record`](crate::Record) is written for each operation.
    pub recording: Option<PathBuf>,
    /// Wait for [`Server::begin`] to start the clock, so that a file or a device can be attached before.
    pub attached: bool,
    /// The name of the export, to which the empty name also refers.
    pub name: String,
    /// Whether the export is announced as rotational: neighboring blocks are cheaper to reach.
    pub rotational: bool,
}

/// A simulated system as a block device: stores real data and replies to each request when the model completes the
/// request.
///
/// ```
/// use sledlab_emulation::{HostPath, Server, ServerOptions};
/// use sledlab_sim::Experiment;
///
/// let mut experiment = Experiment::new();
/// experiment.set_device("ram")?;
/// let options = ServerOptions { host_us: HostPath::Fixed(0.0), ..ServerOptions::default() };
/// let server = Server::start(&experiment, options)?;
/// println!("fio --ioengine=nbd --uri={} ...", server.uri());
/// let report = server.stop(true)?;
/// assert_eq!(report.counts.connections, 0);
/// # Ok::<(), sledlab_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Server {
    uri: String,
    socket: Option<PathBuf>,
    shared: Arc<SharedState>,
    /// Whether the device can lose its power.
    can_fail: bool,
    thread: Option<JoinHandle<Result<ServerReport>>>,
    attachment: Option<AttachmentHandle>,
}

/// Reports to the caller that the thread is ready to serve, or the error.
type ReadySender = Sender<Result<()>>;

impl Server {
    /// Starts a server; clients can connect when this returns.
    ///
    /// # Errors
    /// An experiment that is invalid; an address or a socket at which the server must not or cannot listen; a file
    /// that is no store of this device; real-time priority that is not allowed; power failures of a system that cannot
    /// have them, or of a server without a model.
    pub fn start(experiment: &Experiment, options: ServerOptions) -> Result<Server> {
        let table = Arc::new(Mutex::new((RowsDigest::default(), 0)));
        let mut power = None;
        let live = if options.power_failures {
            let live = LiveRun::with_contents(experiment, Some(digest_sink(&table)))?;
            let (restart_experiment, restart_table) = (experiment.clone(), Arc::clone(&table));
            let restart = move || -> Result<Box<dyn Model>> {
                Ok(Box::new(LiveRun::with_contents(&restart_experiment, Some(digest_sink(&restart_table)))?))
            };
            power = Some(Power::new(live.is_volatile(), experiment.seed()?, Box::new(restart)));
            live
        } else {
            LiveRun::new(experiment, Some(digest_sink(&table)))?
        };
        let bytes = live.capacity_blocks() * BLOCK_BYTES;
        let rows = move || {
            let (digest, rows) = std::mem::take(&mut *table.lock().unwrap_or_else(PoisonError::into_inner));
            (digest.value(), rows)
        };
        Server::start_model(Box::new(live), bytes, options, Box::new(rows), power)
    }

    /// Starts a server of any model.
    pub(crate) fn start_model(
        model: Box<dyn Model>,
        bytes: u64,
        options: ServerOptions,
        rows: RowDigestSource,
        power: Option<Power>,
    ) -> Result<Server> {
        let ServerOptions {
            listen,
            data,
            untimed,
            scale,
            host_us,
            priority,
            recording,
            attached,
            name,
            rotational,
            power_failures: _,
        } = options;
        let can_fail = power.is_some();
        if untimed && can_fail {
            return Err(Error::user("an untimed device has no model to simulate power failures with")
                .with_remedy("serve the device with timing, or omit power failures"));
        }
        let export = Export::new(&name, "emulated by sledlab", bytes)?.rotational(rotational);
        let store = match data {
            Data::Memory => DataStore::in_memory(bytes)?,
            Data::File(path) => DataStore::open(&path, bytes)?,
            Data::Scratch(path) => DataStore::scratch(&path, bytes)?,
        };
        let shared = Arc::new(SharedState::new()?);
        let listener = Listener::open(listen)?;
        let (uri, socket) = (listener.uri(), listener.path().map(Path::to_path_buf));
        // The threads of the recording and the probe start here: started by the server's thread, they would inherit its
        // priority.
        let recording =
            recording.map(|path| Recording::create(&path, Arc::clone(&shared.wake))).transpose()?;
        let probe = match host_us {
            HostPath::Auto if !untimed && !attached => Some(Probe::start(listener.is_tcp())?),
            _ => None,
        };
        let host = match host_us {
            HostPath::Fixed(us) if us.is_finite() && us >= 0.0 => HostPathCost::from_us(us),
            HostPath::Fixed(us) => {
                return Err(Error::user(format!("a host path of {us} us is out of range"))
                    .with_remedy("choose a time of 0 or more"));
            }
            HostPath::Auto => HostPathCost::default(),
        };
        let cpu_idle = (priority != Priority::Normal).then(|| Arc::new(CpuIdleInhibitor::start()));
        let parts = ServerParts {
            clock: Box::new(Monotonic::start()),
            scale,
            model: (!untimed).then_some(model),
            rows,
            power,
            store,
            export,
            listener: Some(listener),
            recording,
            shared: Arc::clone(&shared),
            host,
            realtime: false,
            pacer: Pacer::new(),
            cpu_idle,
        };
        // Without a model no reply is due at a certain time, and other programs have priority.
        let priority = if untimed { Priority::Normal } else { priority };
        let (ready, ready_receiver) = channel();
        let (attachment, attached) = attached.then(|| attachment_channel(host, scale)).unzip();
        let thread = thread::Builder::new()
            .name("sledlab-server".to_owned())
            .spawn(move || run(parts, priority, probe, attached, &ready))
            .map_err(|error| Error::user(format!("cannot start a thread for the server: {error}")))?;
        let server = Server { uri, socket, shared, can_fail, thread: Some(thread), attachment };
        match ready_receiver.recv() {
            Ok(Ok(())) => Ok(server),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(Error::internal("the server ended before it started")),
        }
    }

    /// Measures the path to the file or device as which an `attached` server is attached, before the clock starts:
    /// replies will be sent earlier by the cost of the path. The data stays unchanged.
    ///
    /// # Errors
    /// A file that cannot be read and written without the page cache; a server whose clock runs, or that was not
    /// started as `attached`.
    pub fn measure(&mut self, path: &Path) -> Result<()> {
        let attachment =
            self.attachment.as_mut().ok_or_else(|| Error::internal("the clock is already running"))?;
        attachment.measure(path, &self.shared)
    }

    /// Starts the clock of an `attached` server. Before, every request is answered at once and none is recorded.
    ///
    /// # Errors
    /// A server whose clock runs, or that was not started as `attached`.
    pub fn begin(&mut self) -> Result<()> {
        let attachment =
            self.attachment.take().ok_or_else(|| Error::internal("the clock is already running"))?;
        attachment.begin(&self.shared)
    }

    /// The URI by which NBD clients find the device.
    pub fn uri(&self) -> String {
        self.uri.clone()
    }

    /// The path of the Unix socket, if the server listens at one.
    pub fn socket(&self) -> Option<&Path> {
        self.socket.as_deref()
    }

    /// The status: a quarter of a second old at most while the server is busy.
    pub fn status(&self) -> Status {
        self.shared.status().clone()
    }

    /// Simulates a power failure now and switches the device on again: connections are closed, the store gets the
    /// contents that the model determines for the media, and the server continues. `seed` is the root of the random
    /// numbers that decide which blocks being written reach their medium; by default it is the experiment's. Returns
    /// the outcome of the failure, and the contents of every block, as [`LiveRun::crash`](sledlab_sim::LiveRun::crash)
    /// does.
    ///
    /// # Errors
    /// A server that was started without [`ServerOptions::power_failures`]; one that has ended.
    pub fn power_fail(&self, seed: Option<u64>) -> Result<(PowerFailure, Contents)> {
        if !self.can_fail {
            return Err(Error::user(
                "this server cannot simulate power failures: it does not keep overwritten data",
            )
            .with_remedy(
                "start the server with --power-failures or --power-fail-after, in Python with power_failures=True",
            ));
        }
        let (sender, receiver) = channel();
        self.shared.order_power_cut(PowerCut { seed, sender });
        loop {
            match receiver.recv_timeout(Duration::from_millis(50)) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) if !self.has_ended() => {}
                Err(_) => {
                    return Err(Error::user("the server has ended")
                        .with_remedy("stop the server: the report contains the cause"));
                }
            }
        }
    }

    /// Whether the server has ended by itself, with an error that [`stop`](Server::stop) returns.
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Ends the server, and leaves no thread, socket or connection behind. Answers the requests in flight first with
    /// `drain`, else breaks connections. An error with which a scheduler or policy has failed is the
    /// report's [`failure`](ServerReport::failure).
    ///
    /// # Errors
    /// A recording that could not be written.
    pub fn stop(mut self, drain: bool) -> Result<ServerReport> {
        self.end(if drain { ServerOrder::Drain } else { ServerOrder::Break })
            .unwrap_or_else(|| Err(Error::internal("the server has already ended")))
    }

    fn end(&mut self, order: ServerOrder) -> Option<Result<ServerReport>> {
        let thread = self.thread.take()?;
        self.shared.order(order);
        Some(thread.join().unwrap_or_else(|_| Err(Error::internal("the server thread panicked"))))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The report is dropped; `stop` returns it.
        let _ = self.end(ServerOrder::Break);
    }
}

/// The server's thread.
fn run(
    mut parts: ServerParts,
    priority: Priority,
    probe: Option<Probe>,
    attachment: Option<Attachment>,
    ready: &ReadySender,
) -> Result<ServerReport> {
    let prepare = || -> Result<()> {
        parts.realtime = priority::apply(priority)?;
        if let Some(probe) = probe {
            (parts.host, parts.pacer) = probe.run(parts.realtime, parts.cpu_idle.clone())?;
        }
        Ok(())
    };
    if let Err(error) = prepare() {
        // The caller of `start` gets the error from here.
        let _ = ready.send(Err(error.clone()));
        return Err(error);
    }
    let mut clients = Clients::default();
    if let Some(attachment) = attachment {
        let _ = ready.send(Ok(()));
        (parts, clients) = attachment.run(parts)?;
    }
    parts.clock = Box::new(Monotonic::start());
    let state = ServerState::new(parts).with_clients(clients);
    let _ = ready.send(Ok(()));
    state.serve()
}

/// A sink that adds the rows of a per-request table to a digest, and counts them.
fn digest_sink(table: &Arc<Mutex<(RowsDigest, u64)>>) -> RowSink<'static> {
    let table = Arc::clone(table);
    Box::new(move |rows| {
        let (digest, count) = &mut *table.lock().unwrap_or_else(PoisonError::into_inner);
        digest.update(rows);
        *count += rows.op.len() as u64;
        Ok(())
    })
}

#[cfg(test)]
mod power_failure_tests;
#[cfg(test)]
mod tests;
