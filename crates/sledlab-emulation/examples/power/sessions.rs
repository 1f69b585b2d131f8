//! A client that uses a device over its socket until the power fails, again and again, and reads every block
//! afterwards: the block must hold the version that the model finds, and nothing durable may be lost.

#[path = "../../tests/host/mod.rs"]
mod host;

use std::fmt;
use std::time::{Duration, Instant};

use host::{FLUSH, FUA, Host, READ, TRIM, WRITE, WRITE_ZEROES};
use rand::RngExt;
use sledlab_core::{BLOCK_BYTES, Result as Outcome, seed};
use sledlab_emulation::{HostPath, Priority, Scale, Server, ServerOptions};
use sledlab_models::system::{Content, Contents};
use sledlab_sim::Experiment;

const BLOCK: usize = BLOCK_BYTES as usize;

/// Blocks that requests touch: more than a cache or the front of a hybrid holds.
const BLOCKS: u64 = 400;

/// Starts a server, intact or with a planted defect.
pub type Start = fn(&Experiment, ServerOptions) -> Outcome<Server>;

/// A system under test.
#[derive(Clone)]
pub struct System {
    name: String,
    experiment: Experiment,
    scale: &'static str,
    is_volatile: bool,
    has_flushes: bool,
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Settings of a slow device made of memory; `FRONT` is a faster one, for the front of a hybrid.
const RAM: &str = "device.capacity_mb=1 device.access_us=200";
const FRONT: &str = "front.preset=ram front.capacity_mb=1 front.access_us=20";
const CACHE: &str =
    "cache.kind=write-back cache.capacity_blocks=64 cache.line_blocks=4 cache.destage_idle_ms=4";

/// Single devices, arrays and hybrids made of memory: every access takes about as long as any other.
const OF_MEMORY: [&str; 10] = [
    "",
    "system.kind=stripe system.devices=3 system.unit_blocks=8",
    "system.kind=concatenation system.devices=2",
    "system.kind=mirror system.devices=2",
    "system.kind=raid5 system.devices=3 system.unit_blocks=8",
    "system.kind=raid5 system.devices=5 system.unit_blocks=3",
    "hybrid.kind=caching-disk hybrid.front_mb=0.018 hybrid.segment_kb=4 hybrid.buffer_kb=8",
    "hybrid.kind=write-buffer hybrid.front_mb=0.018 hybrid.log_kb=4 hybrid.buffer_kb=8",
    "hybrid.kind=mirror hybrid.buffer_kb=16",
    "system.kind=mirror system.devices=2 hybrid.kind=write-buffer hybrid.front_mb=0.012 hybrid.log_kb=4 hybrid.buffer_kb=8",
];

/// Single devices with mechanics.
const MECHANICAL: [(&str, &str); 4] = [
    ("mems-g2", "scheduler.kind=sptf"),
    ("mems-g2", "system.kind=raid5 system.devices=5 system.unit_blocks=8"),
    ("atlas-10k-50mb", "device.buffers_writes=false scheduler.kind=sptf"),
    (
        "atlas-10k-50mb",
        "device.buffers_writes=false hybrid.kind=caching-disk hybrid.front_mb=1 hybrid.segment_kb=4 hybrid.buffer_kb=8",
    ),
];

impl System {
    fn new(device: &str, settings: &str, scale: &'static str) -> Self {
        let mut experiment = Experiment::new();
        let set = |experiment: &mut Experiment| -> Outcome<()> {
            experiment.set_device(device)?;
            settings
                .split_whitespace()
                .filter_map(|setting| setting.split_once('='))
                .try_for_each(|(key, value)| experiment.set(key, value))
        };
        set(&mut experiment).unwrap_or_else(|error| panic!("{device}, {settings}: {error}"));
        let is_volatile = settings.contains("cache.volatile=true");
        let name = format!("{device} {settings}").trim().to_owned();
        System { name, experiment, scale, is_volatile, has_flushes: true }
    }

    fn of_memory(settings: &str) -> Self {
        let front = if settings.contains("hybrid.kind") { FRONT } else { "" };
        System::new("ram", &format!("{RAM} {settings} {front}"), "10")
    }

    /// The same system with a host that never flushes.
    fn without_flushes(self) -> Self {
        System { has_flushes: false, ..self }
    }
}

/// Systems that acknowledge writes when they are durable: bare, or behind a cache that keeps its contents.
pub fn durable() -> Vec<System> {
    let both = |system: &str| [System::of_memory(system), System::of_memory(&format!("{system} {CACHE}"))];
    let mechanical = MECHANICAL.map(|(device, settings)| System::new(device, settings, "1"));
    OF_MEMORY.into_iter().flat_map(both).chain(mechanical).collect()
}

/// The same systems behind a volatile cache.
pub fn volatile() -> Vec<System> {
    let settings = |system: &str| format!("{system} {CACHE} cache.volatile=true");
    let mechanical = MECHANICAL.map(|(device, system)| System::new(device, &settings(system), "1"));
    OF_MEMORY.iter().map(|system| System::of_memory(&settings(system))).chain(mechanical).collect()
}

/// The same volatile systems with a host that never flushes.
pub fn never_flushed() -> Vec<System> {
    let of_memory = volatile().into_iter().take(OF_MEMORY.len());
    of_memory.map(System::without_flushes).collect()
}

/// Counts over power failures.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub failures: u64,
    /// Failures with requests under way.
    pub struck: u64,
    /// Failures after which a block held an older version than the last one written.
    pub restored: u64,
    /// Failures that lost a write whose reply the client had received.
    pub lost: u64,
    /// Blocks read back and compared.
    pub blocks: u64,
}

impl Tally {
    pub fn add(&mut self, other: Tally) {
        self.failures += other.failures;
        self.struck += other.struck;
        self.restored += other.restored;
        self.lost += other.lost;
        self.blocks += other.blocks;
    }
}

/// An operation of the client, and when the client sent it and received its reply.
struct Operation {
    cookie: u64,
    command: u16,
    first: u64,
    end: u64,
    /// What the operation's blocks hold after it.
    data: Vec<u8>,
    /// Replies that the client had received when it sent this operation.
    known: u64,
    /// Replies that the client had received when this operation's own came, that one included; none before.
    replied: Option<u64>,
    is_fua: bool,
}

impl Operation {
    fn changes(&self, lbn: u64) -> bool {
        !matches!(self.command, READ | FLUSH) && (self.first..self.end).contains(&lbn)
    }

    fn block(&self, lbn: u64) -> &[u8] {
        &self.data[(lbn - self.first) as usize * BLOCK..][..BLOCK]
    }
}

/// A client between two power failures.
struct Session {
    host: Host,
    number: u64,
    /// The contents of the device when it was switched on.
    image: Vec<u8>,
    /// The contents of the device after every operation sent so far, in order.
    store: Vec<u8>,
    /// The client's operations, by the model's number for each.
    operations: Vec<Operation>,
    replies: u64,
}

impl Session {
    /// Connects to the server and reads all blocks.
    fn begin(server: &Server, number: u64) -> Result<Session, String> {
        let socket = server.socket().ok_or("no socket")?;
        let host = Host::connect(socket).map_err(|error| format!("the server is gone: {error}"))?;
        let mut session = Session {
            host,
            number,
            image: Vec::new(),
            store: Vec::new(),
            operations: Vec::new(),
            replies: 0,
        };
        session.send(READ, 0, 0, (BLOCKS * BLOCK_BYTES) as u32, &[]);
        session.image = session.hear()?;
        session.store.clone_from(&session.image);
        Ok(session)
    }

    fn send(&mut self, command: u16, flags: u16, offset: u64, length: u32, data: &[u8]) {
        let cookie = self.host.ask(command, flags, offset, length, data);
        let (start, end) = (offset as usize, offset as usize + length as usize);
        match command {
            WRITE => self.store[start..end].copy_from_slice(data),
            TRIM | WRITE_ZEROES => self.store[start..end].fill(0),
            _ => {}
        }
        let (first, end) = (offset / BLOCK_BYTES, (offset + u64::from(length)).div_ceil(BLOCK_BYTES));
        let changed = !matches!(command, READ | FLUSH);
        let data = if changed {
            self.store[first as usize * BLOCK..end as usize * BLOCK].to_vec()
        } else {
            Vec::new()
        };
        let (known, is_fua) = (self.replies, flags == FUA);
        self.operations.push(Operation { cookie, command, first, end, data, known, replied: None, is_fua });
    }

    /// Waits for the next reply and returns its data.
    fn hear(&mut self) -> Result<Vec<u8>, String> {
        let (cookie, errno, data) = self.host.reply().map_err(|error| error.to_string())?;
        if errno != 0 {
            return Err(format!("request {cookie} has failed with {errno}"));
        }
        self.replies += 1;
        let asked = self.operations.iter_mut().find(|operation| operation.cookie == cookie);
        asked.ok_or("a reply to nothing")?.replied = Some(self.replies);
        Ok(data)
    }

    fn waiting(&self) -> u64 {
        self.operations.iter().filter(|operation| operation.cookie > 0).count() as u64 - self.replies
    }

    /// Sends one random operation.
    fn step(&mut self, rng: &mut impl RngExt, writes: f64, has_flushes: bool) -> Result<(), String> {
        // Half of the operations go to a small range, so that blocks are written again.
        let end = if rng.random_bool(0.5) { 60 } else { BLOCKS };
        let blocks: u64 = if rng.random_bool(0.2) { rng.random_range(1..40) } else { rng.random_range(1..9) };
        let (mut offset, mut length) =
            (rng.random_range(0..end - 40) * BLOCK_BYTES, (blocks * BLOCK_BYTES) as u32);
        match rng.random::<f64>() {
            chance if chance < 0.08 => {
                if has_flushes {
                    self.send(FLUSH, 0, 0, 0, &[]);
                }
            }
            chance if chance < 0.12 => self.send(TRIM, 0, offset, length, &[]),
            chance if chance < 0.16 => self.send(WRITE_ZEROES, 0, offset, length, &[]),
            chance if chance < 0.16 + 0.84 * writes => {
                if rng.random_bool(0.1) {
                    // The request begins and ends within a block.
                    (offset, length) = (offset + 100, length - 50);
                }
                let is_fua = has_flushes && rng.random_bool(0.1);
                let data = self.fill(offset, length);
                self.send(WRITE, if is_fua { FUA } else { 0 }, offset, length, &data);
                if is_fua {
                    self.end_of_fua()?;
                }
            }
            _ => self.send(READ, 0, offset, length, &[]),
        }
        Ok(())
    }

    /// The flush of a write with force unit access takes the next number in the model, provided that nothing else is
    /// sent before.
    fn end_of_fua(&mut self) -> Result<(), String> {
        while self.operations.last().is_some_and(|write| write.replied.is_none()) {
            self.hear()?;
        }
        let (known, replied) = (self.replies, Some(self.replies));
        let data = Vec::new();
        self.operations.push(Operation {
            cookie: 0,
            command: FLUSH,
            first: 0,
            end: 0,
            data,
            known,
            replied,
            is_fua: false,
        });
        Ok(())
    }

    /// Data for a write that differs from that of every other write.
    fn fill(&self, offset: u64, length: u32) -> Vec<u8> {
        let words = (0..u64::from(length).div_ceil(8)).flat_map(|word| {
            let place = offset / 8 + word;
            [self.number, self.operations.len() as u64, place][place as usize % 3].to_le_bytes()
        });
        words.take(length as usize).collect()
    }

    /// Reads the replies that were sent before the connection broke.
    fn hear_the_rest(&mut self) {
        while self.hear().is_ok() {}
    }

    /// The operations that may have left version `version` of the model in a block; `None` stands for the contents at
    /// the beginning. At version 0 the model has found no write in the block: then it holds what the last trim left.
    /// Whether a trim without a reply has arrived is unknown, so both it and what was before it are candidates.
    fn candidates(&self, lbn: u64, version: usize) -> Vec<Option<usize>> {
        if version > 0 {
            return vec![Some(version - 1)];
        }
        let mut candidates = Vec::new();
        for (place, operation) in self.operations.iter().enumerate().rev() {
            if operation.command == TRIM && operation.changes(lbn) {
                candidates.push(Some(place));
                if operation.replied.is_some() {
                    return candidates;
                }
            }
        }
        candidates.push(None);
        candidates
    }

    /// Checks that a block holds the version that the model has `found` and that nothing durable was lost with it.
    /// Returns whether the block has lost a write whose reply the client had received.
    fn check(&self, lbn: u64, block: &[u8], found: &Contents, is_volatile: bool) -> Result<bool, String> {
        let version = match found.get(&lbn) {
            None => 0,
            Some(Content::Data(version)) => *version as usize,
            Some(Content::Header(_)) => return Err(format!("block {lbn} holds a header")),
        };
        let mut candidates = self.candidates(lbn, version).into_iter();
        let holds = |place: &Option<usize>| match place.map(|place| self.operations.get(place)) {
            None => block == &self.image[lbn as usize * BLOCK..][..BLOCK],
            Some(operation) => {
                operation.is_some_and(|operation| operation.changes(lbn) && operation.block(lbn) == block)
            }
        };
        let Some(place) = candidates.find(holds) else {
            return Err(format!("block {lbn} is not the version {version} that the model finds"));
        };
        let held = place.map(|place| &self.operations[place]);
        // A change to the block that the client sent after the reply to this one comes later in the model's order, too.
        let replied = held.map_or(Some(0), |held| held.replied);
        let after = place.map_or(0, |place| place + 1);
        let follows = |later: &Operation| replied.is_some_and(|replied| later.known >= replied);
        let mut lost = false;
        for (place, later) in self.operations.iter().enumerate().skip(after) {
            if !later.changes(lbn) || later.replied.is_none() || !follows(later) {
                continue;
            }
            let flushed = |flush: &Operation| flush.command == FLUSH && flush.replied.is_some();
            if !is_volatile
                || later.command == TRIM
                || later.is_fua
                || self.operations[place..].iter().any(flushed)
            {
                return Err(format!(
                    "block {lbn} holds version {version}, and operation {place} was durable"
                ));
            }
            lost = true;
        }
        Ok(lost)
    }
}

/// Uses a system and fails its power `failures` times.
///
/// # Errors
/// A block that does not hold what the model finds, something durable that is lost, or a server that stops.
pub fn run(system: &System, failures: u64, start: Start) -> Result<Tally, String> {
    let scale: Scale = system.scale.parse().map_err(|error| format!("{error}"))?;
    let options = ServerOptions {
        scale,
        host_us: HostPath::Fixed(0.0),
        priority: Priority::Normal,
        power_failures: true,
        ..ServerOptions::default()
    };
    let server = start(&system.experiment, options).map_err(|error| error.to_string())?;
    let mut tally = Tally::default();
    let mut session = Session::begin(&server, 0)?;
    for number in 0..failures {
        let mut rng = seed::stream(number, &system.name);
        let writes = [0.3, 0.6, 0.9][rng.random_range(0..3_usize)];
        for _ in 0..rng.random_range(3..40) {
            session.step(&mut rng, writes, system.has_flushes)?;
            if rng.random_bool(0.3) {
                for _ in 0..rng.random_range(0..=session.waiting()) {
                    session.hear()?;
                }
            }
            if rng.random_bool(0.1) {
                linger(rng.random_range(0..2_000));
            }
        }
        linger([0, 200, 2_000][rng.random_range(0..3_usize)]);
        let failed = server.power_fail(Some(number)).map_err(|error| error.to_string());
        let Ok((failure, found)) = failed else {
            return Err(server
                .stop(false)
                .map_or_else(
                    |error| error,
                    |report| report.failure.unwrap_or_else(|| sledlab_core::Error::internal("no failure")),
                )
                .to_string());
        };
        session.hear_the_rest();
        let next = Session::begin(&server, number + 1)?;
        let mut lost = false;
        for (lbn, block) in (0..).zip(next.image.chunks(BLOCK)) {
            lost |= session.check(lbn, block, &found, system.is_volatile)?;
        }
        if lost && failure.lost == 0 {
            return Err("an answered write is gone, and the server does not say so".to_owned());
        }
        tally.add(Tally {
            failures: 1,
            struck: u64::from(failure.under_way > 0),
            restored: u64::from(failure.older > 0),
            lost: u64::from(lost),
            blocks: BLOCKS,
        });
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

/// Waits by polling the clock: sleep is too coarse.
fn linger(us: u64) {
    let until = Instant::now() + Duration::from_micros(us);
    while Instant::now() < until {
        std::thread::yield_now();
    }
}
