//! Cost of the host path: a client inside the server measures the path before the clock starts.
//!
//! The client sends requests over a connection like those of other clients. The server's own loop answers them, with a
//! model whose operations all take equally long, so that both sides sleep and wake as they will later. The time of a
//! request at the client, less its time at the server, is the round-trip time of the path. If the export is attached as
//! a file or a device, the path is measured through that file or device in the same manner.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use sledlab_core::{Error, Result, Span};

use crate::DataStore;
use crate::model::ConstantModel;
use crate::report::HostPathCost;
use crate::server_loop::{ProbeTiming, ServerOrder, ServerParts, ServerState, SharedState};
use crate::timing::clock::{Monotonic, Scale};
use crate::timing::cpu_idle::CpuIdleInhibitor;
use crate::timing::pacer::Pacer;
use crate::transport::nbd::Export;

/// Requests sent of each kind and size.
const ROUNDS: usize = 48;
/// Up to this number of differences, their median is used.
const MIN_MODE_SAMPLES: usize = 8;
/// The two sizes of requests, in bytes.
const SMALL_BYTES: u32 = 4 << 10;
const LARGE_BYTES: u32 = 64 << 10;
/// Service time of the model: long enough for processors to enter the same idle state as between requests to a sled.
const MODEL_DURATION_NS: u64 = 800_000;
/// Maximum service time of the model, for slower devices: processors enter no deeper idle state later.
const MAX_DURATION_NS: u64 = 8_000_000;
/// Alignment of memory that is read and written without the page cache, in bytes.
const ALIGNMENT: usize = 4096;
/// Timeout of the client for a reply.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);

/// Kinds of requests: whether they read, and their number of bytes.
const KINDS: [(bool, u32); 4] =
    [(true, SMALL_BYTES), (false, SMALL_BYTES), (true, LARGE_BYTES), (false, LARGE_BYTES)];

/// A client that has started and waits for its server.
pub(crate) struct Probe {
    server: OwnedFd,
    client: JoinHandle<io::Result<Vec<ProbeTiming>>>,
    shared: Arc<SharedState>,
}

impl Probe {
    /// Starts the client, over TCP or a Unix socket. The client's thread gets the priority of the calling one.
    pub fn start(is_tcp: bool) -> Result<Self> {
        let shared = Arc::new(SharedState::new()?);
        let client_shared = Arc::clone(&shared);
        let measure_error = |error: io::Error| Error::user(format!("cannot measure the host path: {error}"));
        let (server, mut client) = connect_pair(is_tcp).map_err(measure_error)?;
        let client = thread::Builder::new().name("sledlab-probe".to_owned()).spawn(move || {
            let timings = measure(client.as_mut());
            client_shared.order(ServerOrder::Break);
            timings
        });
        Ok(Probe { server, client: client.map_err(measure_error)?, shared })
    }

    /// Serves the client in the calling thread until it has sent all its requests.
    pub fn run(
        self,
        is_realtime: bool,
        cpu_idle: Option<Arc<CpuIdleInhibitor>>,
    ) -> Result<(HostPathCost, Pacer)> {
        let bytes = u64::from(LARGE_BYTES);
        let mut state = ServerState::new(ServerParts {
            clock: Box::new(Monotonic::start()),
            scale: Scale::default(),
            model: Some(Box::new(ConstantModel::new(Span::from_ns(MODEL_DURATION_NS)))),
            rows: Box::new(|| (0, 0)),
            power: None,
            store: DataStore::in_memory(bytes)?,
            export: Export::new("", "", bytes)?,
            listener: None,
            recording: None,
            shared: self.shared,
            host: HostPathCost::default(),
            realtime: is_realtime,
            pacer: Pacer::new(),
            cpu_idle,
        });
        state.probe_timings = Some(Vec::new());
        state.adopt(self.server);
        let (pacer, server_timings) = state.probe()?;
        let client_timings = self.client.join().map_err(|_| Error::internal("the probe thread panicked"))?;
        let client_timings = client_timings
            .map_err(|error| Error::internal(format!("cannot measure the host path: {error}")))?;
        Ok((fit(&client_timings, &server_timings), pacer.with_empty_queue()))
    }
}

/// The server's and the client's end of a connection like those of other clients.
fn connect_pair(is_tcp: bool) -> io::Result<(OwnedFd, Box<dyn Stream>)> {
    if !is_tcp {
        let (server, client) = UnixStream::pair()?;
        server.set_nonblocking(true)?;
        client.set_read_timeout(Some(REPLY_TIMEOUT))?;
        return Ok((server.into(), Box::new(client)));
    }
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let client = TcpStream::connect(listener.local_addr()?)?;
    let (server, _) = listener.accept()?;
    server.set_nonblocking(true)?;
    server.set_nodelay(true)?;
    client.set_nodelay(true)?;
    client.set_read_timeout(Some(REPLY_TIMEOUT))?;
    Ok((server.into(), Box::new(client)))
}

trait Stream: Read + Write + Send {}
impl<S: Read + Write + Send> Stream for S {}

/// Sends all requests and measures what each takes the client.
fn measure(stream: &mut dyn Stream) -> io::Result<Vec<ProbeTiming>> {
    let mut greeting = [0; 18];
    stream.read_exact(&mut greeting)?;
    // The client's flags, then the option EXPORT_NAME with an empty name.
    stream.write_all(&[0, 0, 0, 3])?;
    stream.write_all(b"IHAVEOPT\0\0\0\x01\0\0\0\0")?;
    stream.read_exact(&mut [0; 10])?;
    let mut timings = Vec::with_capacity(ROUNDS * KINDS.len());
    let mut reply = vec![0; 16 + LARGE_BYTES as usize];
    for _ in 0..ROUNDS {
        for (is_read, bytes) in KINDS {
            let mut request = b"\x25\x60\x95\x13\0\0".to_vec();
            request.extend(u16::from(!is_read).to_be_bytes());
            request.extend([0; 16]);
            request.extend(bytes.to_be_bytes());
            if !is_read {
                request.resize(request.len() + bytes as usize, 0);
            }
            let reply = &mut reply[..16 + if is_read { bytes as usize } else { 0 }];
            let start = Instant::now();
            stream.write_all(&request)?;
            stream.read_exact(reply)?;
            timings.push(ProbeTiming { is_read, bytes, ns: start.elapsed().as_nanos() as u64 });
        }
    }
    Ok(timings)
}

/// Returns the service time of the model while the path to a device of this time scale is measured.
pub(crate) fn model_duration(scale: Scale) -> Span {
    let scaled_ns = (MODEL_DURATION_NS as f64 * scale.as_f64()) as u64;
    Span::from_ns(scaled_ns.clamp(MODEL_DURATION_NS, MAX_DURATION_NS))
}

/// Measures requests through a file or a device, without the page cache; data that is written was read from there
/// before.
pub(crate) fn measure_path(path: &Path) -> io::Result<Vec<ProbeTiming>> {
    let direct = rustix::fs::OFlags::DIRECT.bits().cast_signed();
    let file = OpenOptions::new().read(true).write(true).custom_flags(direct).open(path)?;
    let mut memory = vec![0; ALIGNMENT + LARGE_BYTES as usize];
    let begin = memory.as_ptr().align_offset(ALIGNMENT);
    let mut timings = Vec::with_capacity(ROUNDS * KINDS.len());
    for _ in 0..ROUNDS {
        for (is_read, bytes) in KINDS {
            let data = &mut memory[begin..begin + bytes as usize];
            let start = Instant::now();
            if is_read {
                file.read_exact_at(data, 0)?;
            } else {
                file.write_all_at(data, 0)?;
            }
            timings.push(ProbeTiming { is_read, bytes, ns: start.elapsed().as_nanos() as u64 });
        }
    }
    Ok(timings)
}

/// Calls [`fit`] with the last requests inside, because others may precede them; `None` if the requests inside differ
/// from those sent outside.
pub(crate) fn fit_last(
    client_timings: &[ProbeTiming],
    server_timings: &[ProbeTiming],
) -> Option<HostPathCost> {
    let kind_of = |timing: &ProbeTiming| (timing.is_read, timing.bytes);
    let server_timings = server_timings.get(server_timings.len().checked_sub(client_timings.len())?..)?;
    client_timings
        .iter()
        .map(kind_of)
        .eq(server_timings.iter().map(kind_of))
        .then(|| fit(client_timings, server_timings))
}

/// Returns the cost of the host path: the time of requests outside the server minus their time inside.
fn fit(client_timings: &[ProbeTiming], server_timings: &[ProbeTiming]) -> HostPathCost {
    let path_ns = |kind: (bool, u32)| {
        let is_of_kind = |timing: &&ProbeTiming| (timing.is_read, timing.bytes) == kind;
        let pairs = client_timings.iter().filter(is_of_kind).zip(server_timings.iter().filter(is_of_kind));
        half_sample_mode(
            pairs
                .map(|(client_timing, server_timing)| client_timing.ns as f64 - server_timing.ns as f64)
                .collect(),
        )
    };
    let line = |is_read: bool| {
        let (small, large) = (path_ns((is_read, SMALL_BYTES)), path_ns((is_read, LARGE_BYTES)));
        (small, (large - small).max(0.0) / f64::from((LARGE_BYTES - SMALL_BYTES) / 1024))
    };
    let ((read_us, read_us_per_kib), (write_us, write_us_per_kib)) = (line(true), line(false));
    HostPathCost { read_us, read_us_per_kib, write_us, write_us_per_kib }
}

/// Returns the typical one of differences in nanoseconds, in microseconds. Other programs only add to what requests
/// take, often to most of them, but each time by a different amount: the differences that lie closest together are the
/// undisturbed ones (the half-sample mode: of the shortest interval that holds half of the differences, the same
/// again).
fn half_sample_mode(mut differences: Vec<f64>) -> f64 {
    differences.sort_unstable_by(f64::total_cmp);
    let mut closest = differences.as_slice();
    while closest.len() > MIN_MODE_SAMPLES {
        let length = |half: &&[f64]| half[half.len() - 1] - half[0];
        let halves = closest.windows(closest.len().div_ceil(2));
        let Some(shortest) = halves.min_by(|a, b| length(a).total_cmp(&length(b))) else { break };
        closest = shortest;
    }
    let median = closest.get(closest.len() / 2).copied().unwrap_or(0.0);
    (median / 1e3).clamp(0.0, 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_is_outside_time_minus_inside_time() {
        let timings = |ns_per_kib: u64| -> Vec<ProbeTiming> {
            KINDS
                .iter()
                .flat_map(|&(is_read, bytes)| {
                    [100_000, 200_000, 900_000].map(|ns| ProbeTiming {
                        is_read,
                        bytes,
                        ns: ns + ns_per_kib * u64::from(bytes) / 1024,
                    })
                })
                .collect()
        };
        let host = fit(&timings(3_000), &timings(1_000));
        assert!((host.read_us - 8.0).abs() < 1e-9 && (host.write_us_per_kib - 2.0).abs() < 1e-9);
        assert_eq!(host.ns(true, 4096), 8_000);
        assert_eq!(host.ns(true, 8192), 16_000);
        assert_eq!(host.ns(false, 0), 8_000);
        assert_eq!(HostPathCost::from_us(2.5).ns(false, 1 << 20), 2_500);
    }

    #[test]
    fn mode_ignores_disturbed_majority() {
        // Spread evenly over 20 us where undisturbed, and up to milliseconds in two of three cases.
        let difference_ns = |i: u32| {
            f64::from(100_000 + i * 7_919 % 20_000 + if i.is_multiple_of(3) { 0 } else { i * i * 1_500 })
        };
        let mode_us = half_sample_mode((0..48).map(difference_ns).collect());
        assert!((100.0..125.0).contains(&mode_us), "{mode_us}");
        assert!(half_sample_mode(Vec::new()).abs() < 1e-9);
        assert!(half_sample_mode(vec![-3.0]).abs() < 1e-9);
    }

    #[test]
    fn requests_of_other_clients_do_not_count() {
        let timings = |ns: u64| -> Vec<ProbeTiming> {
            (0..ROUNDS)
                .flat_map(|_| KINDS.map(|(is_read, bytes)| ProbeTiming { is_read, bytes, ns }))
                .collect()
        };
        let (client_timings, mut server_timings) = (timings(900_000), timings(800_000));
        server_timings.insert(0, ProbeTiming { is_read: true, bytes: LARGE_BYTES, ns: 1 });
        assert_eq!(fit_last(&client_timings, &server_timings).map(|host| host.ns(true, 4096)), Some(100_000));
        // A request was split, or a layer in between has answered one.
        server_timings[9].bytes /= 2;
        assert!(
            fit_last(&client_timings, &server_timings).is_none()
                && fit_last(&client_timings, &server_timings[..9]).is_none()
        );
    }

    #[test]
    fn slower_devices_let_processors_sleep_longer() {
        let duration_ns = |scale: &str| model_duration(scale.parse().expect("a scale")).as_ns();
        assert_eq!(
            [duration_ns("0.5"), duration_ns("1"), duration_ns("2"), duration_ns("100")],
            [MODEL_DURATION_NS, MODEL_DURATION_NS, 1_600_000, MAX_DURATION_NS]
        );
    }

    #[test]
    fn unix_socket_and_tcp_are_measured() {
        for tcp in [false, true] {
            let (host, _) = Probe::start(tcp).and_then(|probe| probe.run(false, None)).expect("a host path");
            assert!(host.read_us < 100_000.0 && host.write_us < 100_000.0, "{host:?}");
        }
    }
}
