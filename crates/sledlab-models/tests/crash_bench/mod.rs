//! A host that records what it wrote and which requests were acknowledged, and checks what it reads.

mod defects;

use std::collections::HashMap;
use std::fmt;

use rand::RngExt;
use sledlab_core::params::Params;
use sledlab_core::seed::Stream;
use sledlab_core::{Op, Span, Time, seed};
use sledlab_models::assembly::{SystemParts, assemble};
use sledlab_models::cache::{CacheParams, ReadDestage};
use sledlab_models::device::QueuedRequest;
use sledlab_models::device::preset::{self, DeviceFile};
use sledlab_models::hybrid::{self, HybridDevices};
use sledlab_models::merge::MergeParams;
use sledlab_models::system::{
    self, CachedSystem, Content, ForceUnitAccess, HybridCounts, Medium, Setup, Start, System, SystemParams,
};
use sledlab_models::{power, scheduler};
use toml::Table;

use self::defects::{EarlyAcknowledgingMedium, HeaderLosingMedium};

/// Number of blocks that requests touch: more than the front device holds.
const BLOCKS: u64 = 400;

/// A system under test.
pub struct Bench {
    hybrid: String,
    front: DeviceFile,
    back: DeviceFile,
    scheduler: scheduler::Choice,
    power: power::Choice,
    cache: Option<CacheParams>,
    /// How several devices, or hybrids in their places, are combined, where there are several.
    array: Option<SystemParams>,
    /// Mean time between requests.
    pace_us: f64,
    defect: Option<Defect>,
    smallest_buffer: Option<u64>,
    /// Whether writes to the back device have force unit access, if it has a volatile buffer.
    has_fua: bool,
}

/// A defect that tests must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// Headers are not written to the front device.
    LosesHeaders,
    /// The front device acknowledges writes before it has their data.
    FrontAnswersEarly,
    /// The back device acknowledges writes before it has their data.
    BackAnswersEarly,
    /// The hybrid frees a slot of the front device before its dirty blocks are in the buffer, or a log before its
    /// blocks are on the back device.
    FreesEarly,
}

/// The requests of a run, and when the power fails.
pub struct Plan {
    seed: u64,
    requests: Vec<(Op, u64, u32, f64)>,
    /// Number of events before the crash.
    events: usize,
}

pub enum Outcome {
    /// No error was found, and the power failed with accesses in flight.
    Crashed,
    /// No error was found, and all requests were complete.
    Ended,
    Wrong(String),
}

/// A write to a block.
struct Write {
    version: u64,
    arrival: Time,
    completed_at: Option<Time>,
    /// When a read first found this version.
    first_read_at: Option<Time>,
    /// When a flush made it durable.
    flushed_at: Option<Time>,
}

impl Plan {
    /// Requests at intervals of `gap` times twice the bench's `pace_us`, or all at once where `gap` is 0; the power
    /// fails only after the last event.
    pub fn from_requests(requests: impl Iterator<Item = (Op, u64, u32)>, gap: f64) -> Self {
        let requests = requests.map(|(op, lbn, blocks)| (op, lbn, blocks, gap)).collect();
        Plan { seed: 0, requests, events: usize::MAX }
    }

    pub fn random(rng: &mut Stream, seed: u64) -> Self {
        let reads = [0.2, 0.5, 0.8][rng.random_range(0..3_usize)];
        let streams = [0.0, 0.4][rng.random_range(0..2_usize)];
        let mut stream = 0;
        let requests = (0..rng.random_range(5..80)).map(|_| {
            if rng.random_bool(streams) {
                let (first, blocks) = (stream, rng.random_range(2..9));
                stream = (first + u64::from(blocks)) % (BLOCKS - 40);
                return (Op::Read, first, blocks, rng.random::<f64>());
            }
            let op = match rng.random::<f64>() {
                chance if chance < 0.1 => Op::Flush,
                chance if chance < 0.1 + 0.9 * reads => Op::Read,
                _ => Op::Write,
            };
            let blocks = if rng.random_bool(0.2) { rng.random_range(1..40) } else { rng.random_range(1..9) };
            // Half of the requests fall into a small range, so that blocks are written again.
            let end = if rng.random_bool(0.5) { 60 } else { BLOCKS };
            (op, rng.random_range(0..end - 40), blocks, rng.random::<f64>())
        });
        let requests: Vec<_> = requests.collect();
        // Few systems need less than four events for a request and its arrival.
        let events = rng.random_range(1..=4 * requests.len());
        Plan { seed, requests, events }
    }
}

impl fmt::Display for Bench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cache = if self.cache.is_some() { " behind a cache" } else { "" };
        if let Some(array) = &self.array {
            return write!(f, "{} of {} {}{cache}", array.kind.word(), array.devices, self.back.name);
        }
        write!(f, "{} on {} and {}{cache}", self.hybrid, self.front.name, self.back.name)
    }
}

fn device(text: &str, changes: &str) -> DeviceFile {
    let mut table: Table = text.parse().unwrap();
    table.extend(changes.parse::<Table>().unwrap());
    preset::from_table(&table).unwrap()
}

impl Bench {
    /// A hybrid of two memories.
    pub fn with_memories(hybrid: &str) -> Self {
        let ram = preset::text("ram").unwrap();
        let front = device(ram, "name = \"fast\"\ncapacity_mb = 1\naccess_us = 20.0");
        let back = device(ram, "name = \"slow\"\ncapacity_mb = 1\naccess_us = 200.0");
        Bench {
            hybrid: hybrid.to_owned(),
            front,
            back,
            scheduler: scheduler::Choice::new("fcfs", &Table::new()).unwrap(),
            power: power::Choice::from_device_timeout(1e9).unwrap(),
            cache: None,
            array: None,
            pace_us: 150.0,
            defect: None,
            smallest_buffer: None,
            has_fua: true,
        }
    }

    /// Returns an array of memories, combined according to `system`.
    pub fn with_array(system: &str) -> Self {
        let params = SystemParams::from_table("system", &system.parse().unwrap()).unwrap();
        Bench { array: Some(params), pace_us: 100.0, ..Bench::with_memories("none") }
    }

    /// A sled in front of a disk that reports a write only when it is on the medium.
    pub fn with_devices(hybrid: &str, scheduler: &str) -> Self {
        Bench {
            front: device(preset::text("mems-g2").unwrap(), "name = \"mems-g2\""),
            back: device(preset::text("atlas-10k-50mb").unwrap(), "name = \"disk\"\nbuffers_writes = false"),
            scheduler: scheduler::Choice::new(scheduler, &Table::new()).unwrap(),
            pace_us: 3_000.0,
            ..Bench::with_memories(hybrid)
        }
    }

    /// The same system with a back device, a disk, that buffers writes.
    pub fn with_buffered_writes(self, has_fua: bool) -> Self {
        let back = device(preset::text("atlas-10k-50mb").unwrap(), "name = \"disk\"\nbuffers_writes = true");
        Bench { back, has_fua, ..self }
    }

    /// The same system with room for one segment, or three logs, on the front device, and for `buffer_places` of them
    /// in the buffer.
    pub fn with_smallest_buffer(self, buffer_places: u64) -> Self {
        Bench { smallest_buffer: Some(buffer_places), ..self }
    }

    /// The same system behind a cache, which is volatile or not.
    pub fn with_cache(self, is_volatile: bool) -> Self {
        let table = "kind = \"write-back\"\ncapacity_blocks = 64\nline_blocks = 4\ndestage_idle_ms = 1.0";
        let params = CacheParams::from_table("cache", &table.parse().unwrap()).unwrap();
        Bench { cache: Some(CacheParams { volatile: is_volatile, ..params }), ..self }
    }

    /// The same system with another destage for reads in its cache.
    pub fn with_read_destage(self, read_destage: ReadDestage) -> Self {
        Bench { cache: self.cache.map(|params| CacheParams { read_destage, ..params }), ..self }
    }

    /// The same system with a defect.
    pub fn with_defect(self, defect: Defect) -> Self {
        Bench { defect: Some(defect), ..self }
    }

    fn has(&self, defect: Defect) -> bool {
        self.defect == Some(defect)
    }

    fn system(&self) -> Box<dyn System> {
        let merge = MergeParams::default();
        let setup =
            Setup { scheduler: &self.scheduler, power: &self.power, merge: &merge, start: Start::Ready };
        if let Some(system) = &self.array {
            let cache = self.cache.clone().unwrap_or_default();
            let (cache, device) = (&cache, &self.back);
            let parts = SystemParts { system, cache, hybrid: None, device, setup, keep_contents: true };
            return assemble(parts).unwrap();
        }
        let medium = |file| Medium::new(system::build(file, setup).unwrap());
        let defective = |medium: Medium, answers_early: Defect| -> Box<dyn System> {
            if self.has(answers_early) {
                Box::new(EarlyAcknowledgingMedium::new(medium))
            } else {
                Box::new(medium)
            }
        };
        let back = defective(medium(&self.back), Defect::BackAnswersEarly);
        let back = if self.has_fua { ForceUnitAccess::wrap(back) } else { back };
        // Room for four segments or logs of 4 KB.
        let (front_mb, buffer_places) =
            self.smallest_buffer.map_or((0.018, 2), |buffer_places| (0.0, buffer_places));
        let buffer_kb = 4 * buffer_places;
        let sizes = match self.hybrid.split(':').next() {
            Some("none") => String::new(),
            Some("mirror") => format!("buffer_kb = {}", 2 * buffer_kb),
            Some("write-buffer") => {
                format!("front_mb = {}\nlog_kb = 4\nbuffer_kb = {buffer_kb}", f64::max(front_mb, 0.012))
            }
            _ => {
                format!("front_mb = {}\nsegment_kb = 4\nbuffer_kb = {buffer_kb}", f64::max(front_mb, 0.0045))
            }
        };
        let params: Table = sizes.parse().unwrap();
        let uncached = match hybrid::Choice::parse(&self.hybrid, params).unwrap() {
            None => back,
            Some(choice) => {
                let front = medium(&self.front);
                let front = if self.has(Defect::LosesHeaders) {
                    Box::new(HeaderLosingMedium(front))
                } else {
                    defective(front, Defect::FrontAnswersEarly)
                };
                let devices = HybridDevices { front, back };
                let frees_early = self.has(Defect::FreesEarly);
                if frees_early { choice.make_freeing_early(devices) } else { choice.make(devices) }.unwrap()
            }
        };
        match &self.cache {
            None => uncached,
            Some(params) => Box::new(CachedSystem::new(params, uncached).unwrap()),
        }
    }

    /// Runs requests until the power fails, or to the end, and checks the contents of every read.
    pub fn run_plan(&self, plan: &Plan) -> Outcome {
        let mut host = Host {
            writes: HashMap::new(),
            unanswered: 0,
            is_volatile: self.cache.as_ref().is_some_and(|c| c.volatile),
            error: None,
        };
        let mut system = self.system();
        let message = "a system whose media keep contents does so too";
        let mut now = Time::ZERO;
        let mut arrival = Time::ZERO;
        let (mut events, mut completed) = (0, Vec::new());
        let mut requests = plan.requests.iter().enumerate().peekable();
        while events < plan.events {
            events += 1;
            let event = system.next_event();
            if let Some((id, (op, lbn, blocks, gap))) =
                requests.next_if(|_| event.is_none_or(|event_time| arrival <= event_time))
            {
                now = arrival;
                let id = id as u64;
                let request = QueuedRequest {
                    id,
                    arrival,
                    op: *op,
                    lbn: *lbn,
                    blocks: *blocks,
                    ..QueuedRequest::default()
                };
                if request.op == Op::Flush && !system.flush(now, request) {
                    arrival = now + Span::from_ms(self.pace_us * gap * 2e-3);
                    continue;
                }
                host.record_request(&request);
                if *op == Op::Write {
                    let data = vec![Content::Data(id + 1); *blocks as usize];
                    system.durable().expect(message).supply_data(id, data);
                }
                if request.op != Op::Flush {
                    system.arrive(now, request);
                }
                arrival = now + Span::from_ms(self.pace_us * gap * 2e-3);
                continue;
            }
            let Some(event_time) = event else { break };
            now = event_time;
            system.advance(now, &mut completed);
            for completion in completed.drain(..) {
                let is_read = completion.request.op == Op::Read;
                let durable = system.durable().expect(message);
                let contents =
                    if is_read { durable.read_contents(completion.request.id) } else { Vec::new() };
                host.record_completion(&completion.request, now, &contents);
            }
        }
        if events < plan.events {
            if host.unanswered > 0 {
                return Outcome::Wrong(format!("{} requests wait for ever", host.unanswered));
            }
            if let Some(counts) = system.hybrid().filter(|counts| !conserves(counts)) {
                return Outcome::Wrong(format!("blocks were lost or counted twice: {counts:?}"));
            }
        }
        let mut rng = seed::stream(plan.seed, "torn");
        let recovered = system.durable().expect(message).crash(now, &mut || rng.random_bool(0.5));
        host.discard_unflushed_writes();
        for block in 0..BLOCKS {
            host.check(block, now, recovered.get(&block).unwrap_or(&Content::Data(0)), "after the crash");
        }
        let outcome = if events < plan.events { Outcome::Ended } else { Outcome::Crashed };
        host.error.map_or(outcome, Outcome::Wrong)
    }
}

/// Whether every written block has been destaged once, was superseded or is dirty, and the destaged blocks were written
/// to the back device.
fn conserves(counts: &HybridCounts) -> bool {
    counts.written_blocks == counts.superseded_blocks + counts.destaged_blocks + counts.dirty_blocks
        && counts.back.written_blocks >= counts.destaged_blocks
}

/// The host: its writes, and the requests that were not answered.
struct Host {
    writes: HashMap<u64, Vec<Write>>,
    unanswered: usize,
    /// Whether only flushed writes are durable.
    is_volatile: bool,
    error: Option<String>,
}

impl Host {
    fn record_request(&mut self, request: &QueuedRequest) {
        self.unanswered += 1;
        if request.op == Op::Write {
            for block in request.lbn..request.lbn + u64::from(request.blocks) {
                let write = Write {
                    version: request.id + 1,
                    arrival: request.arrival,
                    completed_at: None,
                    first_read_at: None,
                    flushed_at: None,
                };
                self.writes.entry(block).or_default().push(write);
            }
        }
    }

    fn record_completion(&mut self, request: &QueuedRequest, now: Time, contents: &[Content]) {
        let blocks = request.lbn..request.lbn + u64::from(request.blocks);
        self.unanswered -= 1;
        if request.op == Op::Flush {
            for write in self.writes.values_mut().flatten() {
                if write.arrival <= request.arrival
                    && write.version <= request.id
                    && write.flushed_at.is_none()
                {
                    write.flushed_at = Some(now);
                }
            }
            return;
        }
        if request.op == Op::Read {
            assert_eq!(contents.len(), request.blocks as usize, "a read brings all its blocks");
            for (block, content) in blocks.zip(contents) {
                self.check(block, request.arrival, content, "read");
                for write in self.writes.get_mut(&block).into_iter().flatten() {
                    if *content == Content::Data(write.version) {
                        write.first_read_at.get_or_insert(now);
                    }
                }
            }
            return;
        }
        for block in blocks {
            for write in self.writes.get_mut(&block).into_iter().flatten() {
                if write.version == request.id + 1 {
                    write.completed_at = Some(now);
                }
            }
        }
    }

    /// After a crash of a volatile cache only flushed writes count as complete.
    fn discard_unflushed_writes(&mut self) {
        if self.is_volatile {
            for write in self.writes.values_mut().flatten() {
                if write.flushed_at.is_none() {
                    (write.completed_at, write.first_read_at) = (None, None);
                }
            }
        }
    }

    /// Checks the version that a read, which arrived at `time`, found in a block, or that a crash at `time`
    /// left there. A version is stale if another write began after it was complete, and was itself complete, or found
    /// by a read, by `time`.
    fn check(&mut self, block: u64, time: Time, content: &Content, context: &str) {
        let Content::Data(version) = content else {
            self.error = Some(format!("block {block} holds a header, {context}"));
            return;
        };
        let writes = self.writes.get(&block).map(Vec::as_slice).unwrap_or_default();
        let version_write = writes.iter().find(|write| write.version == *version);
        let is_known = *version == 0 || version_write.is_some();
        let completed_at =
            if *version == 0 { Some(Time::ZERO) } else { version_write.and_then(|write| write.completed_at) };
        let newer = writes.iter().find(|write| {
            write.version != *version
                && [write.completed_at, write.first_read_at].into_iter().flatten().any(|at| at <= time)
                && completed_at.is_some_and(|at| write.arrival >= at)
        });
        if !is_known {
            self.error =
                Some(format!("block {block} holds version {version} that was never written, {context}"));
        } else if let Some(newer) = newer {
            self.error =
                Some(format!("block {block} holds version {version} and not {}, {context}", newer.version));
        }
    }
}
