//! What the way to the host costs: a client of our own measures it before the clock starts.
//!
//! The client sends requests over a connection like those of other clients; a model that takes equally long for
//! everything answers them, and the server's own loop, so that both sides sleep and wake as they will later. What a
//! request takes for the client less what it takes for the server is the way there and back.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use sledlab_core::{Error, Result, Span};

use crate::Store;
use crate::awake::Awake;
use crate::clock::{Monotonic, Scale};
use crate::model::Constant;
use crate::pacer::Pacer;
use crate::report::HostWay;
use crate::serving::{Order, Parts, Serving, Shared};
use crate::transport::nbd::Export;

/// Requests of each kind and size.
const ROUNDS: usize = 48;
/// Parts of the measurement.
const STRETCHES: usize = 4;
/// The two sizes, in bytes.
const SMALL: u32 = 4 << 10;
const LARGE: u32 = 64 << 10;
/// What the model takes: long enough for processors to fall asleep as deeply as they do between requests to a sled.
const TAKES_NS: u64 = 800_000;
/// A client that gets no reply for so long never will.
const PATIENCE: Duration = Duration::from_secs(10);

/// Kinds of requests: whether they read, and of how many bytes.
const KINDS: [(bool, u32); 4] = [(true, SMALL), (false, SMALL), (true, LARGE), (false, LARGE)];

/// What a request took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probed {
    /// Whether it reads.
    pub reads: bool,
    pub bytes: u32,
    pub ns: u64,
}

/// A client that waits for its server.
pub(crate) struct Probe {
    server: OwnedFd,
    client: JoinHandle<io::Result<Vec<Probed>>>,
    shared: Arc<Shared>,
}

impl Probe {
    /// Starts the client, over TCP or a Unix socket. This thread's priority becomes the client's.
    pub fn start(tcp: bool) -> Result<Self> {
        let shared = Arc::new(Shared::new()?);
        let theirs = Arc::clone(&shared);
        let failed =
            |error: io::Error| Error::user(format!("the way to the host cannot be measured: {error}"));
        let (server, mut client) = pair(tcp).map_err(failed)?;
        let client = thread::Builder::new().name("sledlab-probe".to_owned()).spawn(move || {
            let measured = measure(client.as_mut());
            theirs.order(Order::Break);
            measured
        });
        Ok(Probe { server, client: client.map_err(failed)?, shared })
    }

    /// Serves the client in this thread.
    pub fn run(self, realtime: bool, awake: Option<Arc<Awake>>) -> Result<(HostWay, Pacer)> {
        let bytes = u64::from(LARGE);
        let mut serving = Serving::new(Parts {
            clock: Box::new(Monotonic::start()),
            scale: Scale::default(),
            model: Some(Box::new(Constant::new(Span::from_ns(TAKES_NS)))),
            store: Store::in_memory(bytes)?,
            export: Export::new("", "", bytes)?,
            listener: None,
            recording: None,
            shared: self.shared,
            host: HostWay::default(),
            realtime,
            pacer: Pacer::new(),
            awake,
        });
        serving.probed = Some(Vec::new());
        serving.adopt(self.server);
        let (pacer, inside) = serving.probe()?;
        let outside = self.client.join().map_err(|_| Error::internal("the probe has panicked"))?;
        let outside = outside.map_err(|error| {
            Error::internal(format!("the way to the host could not be measured: {error}"))
        })?;
        Ok((fit(&outside, &inside), pacer.afresh()))
    }
}

/// Both ends of a connection like those of other clients.
fn pair(tcp: bool) -> io::Result<(OwnedFd, Box<dyn Stream>)> {
    if !tcp {
        let (server, client) = UnixStream::pair()?;
        server.set_nonblocking(true)?;
        client.set_read_timeout(Some(PATIENCE))?;
        return Ok((server.into(), Box::new(client)));
    }
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let client = TcpStream::connect(listener.local_addr()?)?;
    let (server, _) = listener.accept()?;
    server.set_nonblocking(true)?;
    server.set_nodelay(true)?;
    client.set_nodelay(true)?;
    client.set_read_timeout(Some(PATIENCE))?;
    Ok((server.into(), Box::new(client)))
}

trait Stream: Read + Write + Send {}
impl<S: Read + Write + Send> Stream for S {}

/// What requests take for the client.
fn measure(stream: &mut dyn Stream) -> io::Result<Vec<Probed>> {
    let mut greeting = [0; 18];
    stream.read_exact(&mut greeting)?;
    // Flags, then the option EXPORT_NAME with an empty name.
    stream.write_all(&[0, 0, 0, 3])?;
    stream.write_all(b"IHAVEOPT\0\0\0\x01\0\0\0\0")?;
    stream.read_exact(&mut [0; 10])?;
    let mut measured = Vec::with_capacity(ROUNDS * KINDS.len());
    let mut reply = vec![0; 16 + LARGE as usize];
    for _ in 0..ROUNDS {
        for (reads, bytes) in KINDS {
            let mut request = b"\x25\x60\x95\x13\0\0".to_vec();
            request.extend(u16::from(!reads).to_be_bytes());
            request.extend([0; 16]);
            request.extend(bytes.to_be_bytes());
            if !reads {
                request.resize(request.len() + bytes as usize, 0);
            }
            let reply = &mut reply[..16 + if reads { bytes as usize } else { 0 }];
            let began = Instant::now();
            stream.write_all(&request)?;
            stream.read_exact(reply)?;
            measured.push(Probed { reads, bytes, ns: began.elapsed().as_nanos() as u64 });
        }
    }
    Ok(measured)
}

/// What remains of the medians. Other programs only ever add to what requests take: of several stretches of the
/// measurement, the one that was disturbed least counts.
fn fit(outside: &[Probed], inside: &[Probed]) -> HostWay {
    let stretch = ROUNDS * KINDS.len() / STRETCHES;
    let way = |kind: (bool, u32)| {
        let stretches = outside.chunks(stretch).zip(inside.chunks(stretch));
        let ways = stretches.map(|(outside, inside)| median(outside, kind) - median(inside, kind));
        ways.fold(f64::INFINITY, f64::min).clamp(0.0, 1e6)
    };
    let line = |reads: bool| {
        let (small, large) = (way((reads, SMALL)), way((reads, LARGE)));
        (small, (large - small).max(0.0) / f64::from((LARGE - SMALL) / 1024))
    };
    let ((read_us, read_us_per_kib), (write_us, write_us_per_kib)) = (line(true), line(false));
    HostWay { read_us, read_us_per_kib, write_us, write_us_per_kib }
}

fn median(probed: &[Probed], kind: (bool, u32)) -> f64 {
    let same = probed.iter().filter(|probed| (probed.reads, probed.bytes) == kind);
    let mut all: Vec<u64> = same.map(|probed| probed.ns).collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or(0) as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_the_difference_of_medians() {
        let of = |more: u64| -> Vec<Probed> {
            KINDS
                .iter()
                .flat_map(|&(reads, bytes)| {
                    [100_000, 200_000, 900_000].map(|ns| Probed {
                        reads,
                        bytes,
                        ns: ns + more * u64::from(bytes) / 1024,
                    })
                })
                .collect()
        };
        let host = fit(&of(3_000), &of(1_000));
        assert!((host.read_us - 8.0).abs() < 1e-9 && (host.write_us_per_kib - 2.0).abs() < 1e-9);
        assert_eq!(host.ns(true, 4096), 8_000);
        assert_eq!(host.ns(true, 8192), 16_000);
        assert_eq!(host.ns(false, 0), 8_000);
        assert_eq!(HostWay::fixed(2.5).ns(false, 1 << 20), 2_500);
    }

    #[test]
    fn measures_both_ways() {
        for tcp in [false, true] {
            let (host, _) =
                Probe::start(tcp).and_then(|probe| probe.run(false, None)).expect("a way to the host");
            assert!(host.read_us < 100_000.0 && host.write_us < 100_000.0, "{host:?}");
        }
    }
}
