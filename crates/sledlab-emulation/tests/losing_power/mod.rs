//! Systems that lose their power in the middle of random sessions of a host.

mod host;

use std::fmt;

use rand::RngExt;
use sledlab_core::{Op, Request, Time, seed};
use sledlab_sim::{Experiment, Live};

pub use self::host::Failure;
use self::host::Host;

/// Blocks that requests touch: more than a cache or the front of a hybrid holds.
const BLOCKS: u64 = 400;

/// Planted defects that tests must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// The host counts a write as acknowledged when it arrives.
    ArrivedIsAnswered,
    /// The host counts a write as safe when it is acknowledged, though a volatile cache holds it.
    AnsweredIsSafe,
    /// The host counts a flush as acknowledged when it arrives.
    FlushedAtOnce,
    /// The system reuses room before the data in it is safe elsewhere.
    SystemFreesEarly,
}

/// A system under test.
#[derive(Clone)]
pub struct Bench {
    name: String,
    experiment: Experiment,
    /// Mean time between operations, in microseconds.
    pace_us: f64,
    has_flushes: bool,
    defect: Option<Defect>,
}

impl fmt::Display for Bench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

fn experiment(device: &str, settings: &str) -> Experiment {
    let mut experiment = Experiment::new();
    experiment.set_device(device).unwrap();
    for setting in settings.split_whitespace() {
        let (key, value) = setting.split_once('=').unwrap();
        experiment.set(key, value).unwrap_or_else(|error| panic!("{setting}: {error}"));
    }
    experiment
}

/// Settings of a slow device made of memory; `FRONT` is a faster one, for the front of a hybrid.
const RAM: &str = "device.capacity_mb=1 device.access_us=200";
const FRONT: &str = "front.preset=ram front.capacity_mb=1 front.access_us=20";

impl Bench {
    /// A system whose devices are memory: every access takes about as long as any other.
    pub fn of_memory(settings: &str) -> Self {
        let front = if settings.contains("hybrid.kind") { FRONT } else { "" };
        Bench {
            name: format!("memory, {settings}"),
            experiment: experiment("ram", &format!("{RAM} {settings} {front}")),
            pace_us: 150.0,
            has_flushes: true,
            defect: None,
        }
    }

    /// A system of devices with mechanics.
    pub fn of_devices(device: &str, settings: &str) -> Self {
        Bench {
            name: format!("{device}, {settings}"),
            experiment: experiment(device, settings),
            pace_us: if device.starts_with("mems") { 200.0 } else { 1_500.0 },
            ..Bench::of_memory("")
        }
    }

    /// The same system with a host that never flushes.
    pub fn without_flushes(self) -> Self {
        Bench { has_flushes: false, ..self }
    }

    /// The same system with a planted defect.
    pub fn with(self, defect: Defect) -> Self {
        Bench { defect: Some(defect), ..self }
    }

    /// A live system that keeps the contents of blocks.
    pub fn live(&self) -> sledlab_core::Result<Live> {
        Live::keeping_contents(&self.experiment, None)
    }

    /// Runs a session of random operations that ends with a power failure.
    ///
    /// # Errors
    /// What the check of the blocks has found wrong.
    pub fn run(&self, number: u64) -> Result<Failure, String> {
        let mut rng = seed::stream(number, "power failures");
        let live = self.live().unwrap_or_else(|error| panic!("{self}: {error}"));
        let mut host = Host::new(live, BLOCKS, self.defect);
        assert!(host.capacity_blocks() >= BLOCKS, "{self}");
        if self.defect == Some(Defect::SystemFreesEarly) {
            host.plant_in_system();
        }
        let writes = [0.3, 0.6, 0.9][rng.random_range(0..3_usize)];
        let pace_us = self.pace_us * [0.3, 1.0, 3.0][rng.random_range(0..3_usize)];
        let mut at_us = 0.0;
        for _ in 0..rng.random_range(3..60) {
            let now = Time::from_ns((at_us * 1e3) as u64);
            let (request, is_zero) = self.draw(&mut rng, writes);
            let submitted = if rng.random_bool(0.5) { host.wait(now) } else { Ok(()) };
            let submitted = submitted.and_then(|()| host.submit(now, request, is_zero));
            submitted.map_err(|error| error.to_string())?;
            // Now and then several operations arrive at once.
            at_us += if rng.random_bool(0.3) { 0.0 } else { 2.8 * pace_us * rng.random::<f64>() };
        }
        let at_us =
            at_us + self.pace_us * [0.5, 1.0, 10.0][rng.random_range(0..3_usize)] * rng.random::<f64>();
        let surviving = [0.0, 0.2, 0.5, 0.8, 1.0][rng.random_range(0..5_usize)];
        host.lose_power(Time::from_ns((at_us * 1e3) as u64), &mut || rng.random_bool(surviving))
    }

    fn draw(&self, rng: &mut impl RngExt, writes: f64) -> (Request, bool) {
        let op = match rng.random::<f64>() {
            chance if chance < 0.08 && self.has_flushes => Op::Flush,
            chance if chance < 0.12 => Op::Trim,
            chance if chance < 0.12 + 0.88 * writes => Op::Write,
            _ => Op::Read,
        };
        if op == Op::Flush {
            return (Request { op, ..Request::default() }, false);
        }
        let blocks = if rng.random_bool(0.2) { rng.random_range(1..40) } else { rng.random_range(1..9) };
        // Half of the operations go to a small range, so that blocks are written again.
        let end = if rng.random_bool(0.5) { 60 } else { BLOCKS };
        let request = Request { op, lbn: rng.random_range(0..end - 40), blocks, ..Request::default() };
        (request, rng.random_bool(0.1))
    }
}
