//! A client that uses a server over its socket, cuts the power of its device, and reads every block afterwards.

#[path = "../host/mod.rs"]
pub mod host;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use host::{FLUSH, FUA, Host, READ, TRIM, WRITE, WRITE_ZEROES};
use rand::RngExt;
use sledlab_core::{BLOCK_BYTES, Result as Outcome, seed};
use sledlab_emulation::{HostPath, Priority, Server, ServerOptions};
use sledlab_sim::Experiment;

use super::history::History;
use super::operations::{Kind, Operation};
use super::systems::{self, System};
use super::{BLOCKS, Tally};

/// Starts a server, intact or with a planted defect.
pub type ServerStarter = fn(&Experiment, ServerOptions) -> Outcome<Server>;

/// Systems that acknowledge writes when they are durable.
pub fn durable_systems() -> Vec<System> {
    let mechanical = systems::mechanical_systems().into_iter().take(systems::SERVED_SYSTEMS);
    systems::durable_systems().into_iter().chain(mechanical).collect()
}

/// The same systems behind a volatile cache, and disks that buffer writes.
pub fn volatile_systems() -> Vec<System> {
    let mechanical = systems::mechanical_volatile_systems().into_iter().take(systems::SERVED_SYSTEMS);
    systems::volatile_systems().into_iter().chain(mechanical).chain(systems::buffering_systems()).collect()
}

/// Volatile systems with a client that never flushes.
pub fn unflushed_systems() -> Vec<System> {
    systems::volatile_systems().into_iter().map(System::without_flushes).collect()
}

/// A client between two power failures. Its clock is the number of replies received.
struct Session {
    host: Host,
    number: u64,
    history: History,
    /// Numbers of operations without a reply, by cookie.
    in_flight: HashMap<u64, usize>,
    replies: u64,
}

impl Session {
    /// Connects to the server and reads all blocks.
    fn begin(server: &Server, number: u64, needs_flushes: bool) -> Result<Session, String> {
        let socket = server.socket().ok_or("no socket")?;
        let host = Host::connect(socket).map_err(|error| format!("no server: {error}"))?;
        let empty_history = History::new(vec![0; (BLOCKS * BLOCK_BYTES) as usize], needs_flushes);
        let mut session =
            Session { host, number, history: empty_history, in_flight: HashMap::new(), replies: 0 };
        session.send(Operation { kind: Kind::Read, first: 0, end: BLOCKS });
        let image = session.receive()?;
        // The read has a number in the model too.
        session.history = History::new(image, needs_flushes);
        session.history.send(Operation { kind: Kind::Read, first: 0, end: BLOCKS }, 0, true, false);
        session.complete(0);
        Ok(session)
    }

    fn send(&mut self, operation: Operation) {
        let Operation { first, end, .. } = operation;
        self.send_bytes(operation, first * BLOCK_BYTES, ((end - first) * BLOCK_BYTES) as u32, false);
    }

    /// Sends an operation on `length` bytes from `offset`, which lie in the blocks of `operation`.
    fn send_bytes(&mut self, operation: Operation, offset: u64, length: u32, is_fua: bool) {
        let bytes = offset as usize..offset as usize + length as usize;
        let mut data = Vec::new();
        let command = match operation.kind {
            Kind::Read => READ,
            Kind::Write => WRITE,
            Kind::WriteZeroes => WRITE_ZEROES,
            Kind::Trim => TRIM,
            Kind::Flush => FLUSH,
        };
        if operation.kind == Kind::Write {
            data = self.fill(offset, length);
            self.history.store[bytes].copy_from_slice(&data);
        } else if operation.kind.is_change() {
            self.history.store[bytes].fill(0);
        }
        let cookie = self.host.send_request(command, if is_fua { FUA } else { 0 }, offset, length, &data);
        self.in_flight.insert(cookie, self.history.len());
        self.history.send(operation, self.replies, false, is_fua);
    }

    /// Waits for the next reply and returns its data.
    fn receive(&mut self) -> Result<Vec<u8>, String> {
        let (cookie, errno, data) = self.host.reply().map_err(|error| error.to_string())?;
        if errno != 0 {
            return Err(format!("request {cookie} has failed with {errno}"));
        }
        self.replies += 1;
        let number = self.in_flight.remove(&cookie).ok_or("a reply without a request")?;
        self.complete(number);
        Ok(data)
    }

    /// Sends one random operation.
    fn step(&mut self, rng: &mut impl RngExt, write_share: f64, has_flushes: bool) -> Result<(), String> {
        let operation = Operation::draw(rng, write_share, has_flushes);
        if operation.kind != Kind::Write {
            self.send(operation);
            return Ok(());
        }
        let Operation { first, end, .. } = operation;
        let (mut offset, mut length) = (first * BLOCK_BYTES, ((end - first) * BLOCK_BYTES) as u32);
        if rng.random_bool(0.1) {
            // The request begins and ends within a block.
            (offset, length) = (offset + 100, length - 150);
        }
        let is_fua = has_flushes && rng.random_bool(0.1);
        self.send_bytes(operation, offset, length, is_fua);
        if is_fua { self.wait_for_fua() } else { Ok(()) }
    }

    /// Waits for a write with force unit access. Its flush takes the next number in the model if no other operation is
    /// sent before.
    fn wait_for_fua(&mut self) -> Result<(), String> {
        while !self.history.is_acknowledged(self.history.len() - 1) {
            self.receive()?;
        }
        self.history.send(Operation::FLUSH, self.replies, true, false);
        self.complete(self.history.len() - 1);
        Ok(())
    }

    fn complete(&mut self, number: usize) {
        self.history.complete(number, self.replies);
        self.history.acknowledge(number);
    }

    /// Data for a write that differs from that of every other write.
    fn fill(&self, offset: u64, length: u32) -> Vec<u8> {
        let words = (0..u64::from(length).div_ceil(8)).flat_map(|word| {
            let word_offset = offset / 8 + word;
            [self.number, self.history.len() as u64, word_offset][word_offset as usize % 3].to_le_bytes()
        });
        words.take(length as usize).collect()
    }
}

/// Uses a system and cuts its power `failures` times.
///
/// # Errors
/// A block that differs from the model, a lost durable write, or a server that stops.
pub fn run(system: &System, failures: u64, start: ServerStarter) -> Result<Tally, String> {
    let server = start(&system.experiment, server_options(system)).map_err(|error| error.to_string())?;
    let mut tally = Tally::default();
    let mut session = Session::begin(&server, 0, system.needs_flushes())?;
    for number in 0..failures {
        let mut rng = seed::stream(number, &system.to_string());
        let write_share = [0.3, 0.6, 0.9][rng.random_range(0..3_usize)];
        for _ in 0..rng.random_range(3..40) {
            session.step(&mut rng, write_share, system.has_flushes)?;
            if rng.random_bool(0.3) {
                for _ in 0..rng.random_range(0..=session.in_flight.len()) {
                    session.receive()?;
                }
            }
            if rng.random_bool(0.1) {
                spin(rng.random_range(0..2_000));
            }
        }
        spin([0, 200, 2_000][rng.random_range(0..3_usize)]);
        let failure_result = server.power_fail(Some(number));
        let Ok((failure, contents)) = failure_result else { return Err(end_reason(server)) };
        // The replies that were sent before the connection broke.
        while session.receive().is_ok() {}
        let next = Session::begin(&server, number + 1, system.needs_flushes())?;
        let lost = session.history.check(session.replies, &next.history.store, &contents)?;
        if lost && failure.lost == 0 {
            return Err("the server does not report a lost acknowledged write".to_owned());
        }
        tally += Tally {
            failures: 1,
            interrupted: u64::from(failure.in_flight > 0),
            restored: u64::from(failure.older > 0),
            lost: u64::from(lost),
            blocks: BLOCKS,
        };
        session = next;
    }
    drop(session);
    let report = server.stop(true).map_err(|error| error.to_string())?;
    match report.failure {
        Some(error) => Err(error.to_string()),
        None if report.power_failures.len() as u64 != failures => Err("failures were not counted".to_owned()),
        None => Ok(tally),
    }
}

/// The options of a server whose device can lose its power.
pub fn server_options(system: &System) -> ServerOptions {
    ServerOptions {
        scale: system.scale.parse().unwrap_or_else(|error| panic!("{system}: {error}")),
        host_us: HostPath::Fixed(0.0),
        priority: Priority::Normal,
        power_failures: true,
        ..ServerOptions::default()
    }
}

/// The error with which a server has ended.
fn end_reason(server: Server) -> String {
    match server.stop(false) {
        Ok(report) => report.failure.map_or_else(|| "the server ended".to_owned(), |error| error.to_string()),
        Err(error) => error.to_string(),
    }
}

/// Waits by polling the clock: sleep is too coarse.
fn spin(us: u64) {
    let until = Instant::now() + Duration::from_micros(us);
    while Instant::now() < until {
        std::thread::yield_now();
    }
}
