//! Runs random experiments and prints a checksum of the results of each: `checksums [COUNT [SEED]]`.
//!
//! Two builds that print the same lines give the same results to the last bit. The experiments cover all schedulers,
//! device presets, kinds of devices, power policies, hybrids, replacement policies and workloads of the registries; the
//! last line lists the models without a run.

use std::collections::BTreeSet;
use std::process::ExitCode;

use rand::RngExt;
use rand::seq::IndexedRandom;
use sledlab_core::params::{Choices, ParamKind, ParamSpec, Params};
use sledlab_core::seed::{self, Stream};
use sledlab_core::source::MemorySource;
use sledlab_core::{Op, Request, Result, Source, Time};
use sledlab_models::cache::CacheParams;
use sledlab_models::device::preset;
use sledlab_models::merge::{MergeKind, MergeParams};
use sledlab_models::system::SystemParams;
use sledlab_models::system::params::SystemKind;
use sledlab_models::{device, hybrid, power, replacement, scheduler};
use sledlab_sim::{Experiment, Hooks, Rows};
use sledlab_trace::synthetic;

const DEFAULT_COUNT: u64 = 200;
const DEFAULT_SEED: u64 = 1;

/// Maximum number of random settings that are tried for one experiment: some models exclude each other.
const MAX_ATTEMPTS: usize = 100;

/// The workload of requests that [`mixed_requests`] returns.
const MIXED: &str = "mixed";

/// An experiment, and the models that it uses, as `kind:name`.
struct Draft<'r> {
    experiment: Experiment,
    models: Vec<String>,
    rng: &'r mut Stream,
}

impl Draft<'_> {
    #[expect(clippy::needless_pass_by_value, reason = "values are numbers and formatted text")]
    fn set(&mut self, key: &str, value: impl ToString) -> Result<()> {
        self.experiment.set(key, &value.to_string())
    }

    fn use_model(&mut self, kind: &str, name: &str) {
        self.models.push(format!("{kind}:{name}"));
    }

    fn pick<'t>(&mut self, names: &[&'t str]) -> &'t str {
        names.choose(self.rng).copied().unwrap_or_default()
    }

    /// Changes some parameters of a table, each only if the experiment is valid with it.
    fn vary(&mut self, table: &str, specs: &[ParamSpec]) {
        for spec in specs.iter().filter(|spec| !matches!(spec.name, "kind" | "requests")) {
            if self.rng.random_bool(0.7) {
                continue;
            }
            let value = match spec.kind {
                ParamKind::Switch => self.rng.random_bool(0.5).to_string(),
                ParamKind::Choice(words) => self.pick(words).to_owned(),
                ParamKind::Count => match spec.default.as_integer() {
                    Some(default) if default > 0 => ((default as f64 * self.factor()) as u64).to_string(),
                    _ => self.rng.random_range(0..16).to_string(),
                },
                ParamKind::Number => match spec.default.as_float() {
                    Some(default) if default > 0.0 => format!("{:?}", default * self.factor()),
                    _ => format!("{:?}", self.rng.random_range(0.0..4.0)),
                },
                ParamKind::Text => continue,
            };
            let mut variant = self.experiment.clone();
            if variant.set(&format!("{table}.{}", spec.name), &value).is_ok() && variant.check().is_ok() {
                self.experiment = variant;
            }
        }
    }

    /// A random factor on a default.
    fn factor(&mut self) -> f64 {
        self.rng.random_range(0.25..4.0)
    }

    /// Sets the device in a table: a preset, or a kind with its defaults.
    fn device(&mut self, table: &str) -> Result<()> {
        let name = if self.rng.random_bool(0.75) {
            let name = self.pick(&preset::names().collect::<Vec<_>>());
            self.use_model("preset", name);
            self.set(&format!("{table}.preset"), name)?;
            return Ok(());
        } else {
            self.pick(&device::LIST.iter().map(|entry| entry.name).collect::<Vec<_>>())
        };
        self.use_model("kind", name);
        self.set(&format!("{table}.kind"), name)
    }

    /// Varies the parameters of the device in a table.
    fn vary_device(&mut self, table: &str) -> Result<()> {
        let Some(file) = self.experiment.file(table)? else { return Ok(()) };
        let kind = file.to_table().get("kind").and_then(|kind| kind.as_str()).map(str::to_owned);
        let specs = (device::LIST.find(&kind.unwrap_or_default())?.specs)();
        self.vary(table, &specs);
        Ok(())
    }

    fn replacement(&mut self, table: &str) -> Result<()> {
        let policies: Vec<_> = replacement::LIST.iter().filter(|entry| !entry.facts.needs_future).collect();
        let Some(entry) = policies.choose(self.rng) else { return Ok(()) };
        self.use_model("replacement", entry.name);
        self.set(&format!("{table}.replacement"), entry.name)
    }

    fn hybrid(&mut self) -> Result<()> {
        let Some(entry) = hybrid::LIST.entries.choose(self.rng) else { return Ok(()) };
        self.use_model("hybrid", entry.name);
        self.set("hybrid.kind", entry.name)?;
        if self.rng.random_bool(0.3) {
            self.device("front")?;
        }
        let specs = (entry.specs)();
        let has_param = |name| specs.iter().any(|spec| spec.name == name);
        if has_param("front_mb") {
            // Small, so that the hybrid evicts.
            let front_mb = 0.25 * f64::from(1 << self.rng.random_range(0..9));
            self.set("hybrid.front_mb", format!("{front_mb:?}"))?;
        }
        if has_param("replacement") {
            self.replacement("hybrid")?;
        }
        self.vary("hybrid", &specs.into_iter().filter(|spec| spec.name != "front_mb").collect::<Vec<_>>());
        self.vary_device("front")
    }

    fn cache(&mut self) -> Result<()> {
        self.models.push("cache".to_owned());
        self.set("cache.kind", "write-back")?;
        let capacity_blocks = 1 << self.rng.random_range(6..13);
        self.set("cache.capacity_blocks", capacity_blocks)?;
        self.replacement("cache")?;
        let specs = CacheParams::specs();
        self.vary("cache", &specs.into_iter().filter(|s| s.name != "capacity_blocks").collect::<Vec<_>>());
        Ok(())
    }

    fn system(&mut self) -> Result<()> {
        let kind = *SystemKind::ALL.choose(self.rng).unwrap_or(&SystemKind::Single);
        let devices = u64::from(kind.min_devices())
            + if kind == SystemKind::Single { 0 } else { self.rng.random_range(0..3) };
        self.use_model("system", &kind.word());
        self.set("system.kind", kind.word())?;
        self.set("system.devices", devices)?;
        self.vary("system", &SystemParams::specs());
        if kind.is_redundant() && self.rng.random_bool(0.5) {
            let (failed, failed_at_s) = (self.rng.random_range(0..devices), self.rng.random_range(0.0..2.0));
            self.set("system.failed", failed)?;
            self.set("system.failed_at_s", format!("{failed_at_s:?}"))?;
        }
        Ok(())
    }

    fn scheduler(&mut self, entry: &scheduler::Entry) -> Result<()> {
        self.use_model("scheduler", entry.name);
        self.set("scheduler.kind", entry.name)?;
        self.vary("scheduler", &(entry.specs)());
        Ok(())
    }

    fn power(&mut self) -> Result<()> {
        let Some(entry) = power::LIST.entries.choose(self.rng) else { return Ok(()) };
        self.use_model("power", entry.name);
        self.set("power.kind", entry.name)?;
        self.vary("power", &(entry.specs)());
        Ok(())
    }

    fn merge(&mut self) -> Result<()> {
        let word = self.pick(MergeKind::WORDS);
        self.use_model("merge", word);
        self.set("merge.kind", word)?;
        self.vary("merge", &MergeParams::specs());
        Ok(())
    }

    /// Sets the workload and the replay; returns a source if the workload is not generated by the experiment.
    fn workload(&mut self) -> Result<Option<Box<dyn Source>>> {
        let count = self.rng.random_range(200..2000);
        let seed = self.rng.random_range(0..1_000_000);
        self.set("seed", seed)?;
        self.set("replay.limit", count)?;
        self.set("replay.outside", "wrap")?;
        if self.rng.random_bool(0.3) {
            let outstanding = 1 << self.rng.random_range(0..6);
            self.set("replay.mode", format!("closed:{outstanding}"))?;
        } else {
            let speedup = 1.2_f64.powi(self.rng.random_range(0..24));
            self.set("replay.speedup", format!("{speedup:?}"))?;
        }
        if self.rng.random_bool(0.2) {
            let warmup = self.rng.random_range(0..100);
            self.set("replay.warmup", warmup)?;
        }
        if self.rng.random_bool(0.6) {
            self.use_model("workload", MIXED);
            let capacity_blocks = self.experiment.store()?.build()?.capacity_blocks();
            return Ok(Some(Box::new(MemorySource::new(mixed_requests(self.rng, count, capacity_blocks)))));
        }
        if let Some(entry) = synthetic::LIST.entries.choose(self.rng) {
            self.use_model("workload", entry.name);
            self.experiment.set_workload(entry.name);
            self.vary("workload", &(entry.specs)());
        }
        Ok(None)
    }

    /// Chooses all models except the scheduler at random, and runs the experiment; returns the checksum.
    fn run(&mut self, scheduler: &scheduler::Entry) -> Result<u64> {
        self.device("device")?;
        self.vary_device("device")?;
        self.scheduler(scheduler)?;
        self.power()?;
        if self.rng.random_bool(0.4) {
            self.hybrid()?;
        }
        if self.rng.random_bool(0.2) {
            self.system()?;
        }
        if self.rng.random_bool(0.3) {
            self.cache()?;
        }
        if self.rng.random_bool(0.2) {
            self.merge()?;
        }
        let source = self.workload()?;
        let mut hash = Fnv::default();
        let rows = |rows: &Rows| {
            hash.add_rows(rows);
            Ok(())
        };
        let outcome =
            self.experiment.run(Hooks { source, rows: Some(Box::new(rows)), ..Hooks::default() })?;
        let mut value = serde_json::to_value(&outcome).unwrap_or_default();
        // Results of the same models stay equal if a version or a parameter is added.
        value["wall_s"].take();
        value["summary"]["version"].take();
        value["summary"]["config"].take();
        hash.add(value.to_string().as_bytes());
        Ok(hash.0)
    }
}

/// Returns requests of all kinds within a few megabytes, with bursts, sequential runs and repeated places.
fn mixed_requests(rng: &mut Stream, count: usize, capacity_blocks: u64) -> Vec<Request> {
    let footprint = (1 << rng.random_range(9..19)).min(capacity_blocks);
    let base = rng.random_range(0..=capacity_blocks - footprint);
    let max_blocks = (1 << rng.random_range(0..8)).min(footprint);
    let mean_gap_ns = 1_u64 << rng.random_range(16..26);
    let read_share = rng.random_range(0.0..1.0);
    let (mut now, mut next_lbn) = (0, base);
    let mut request = |_| {
        now += if rng.random_bool(0.2) { 0 } else { rng.random_range(0..=2 * mean_gap_ns) };
        let op = match rng.random_range(0..40) {
            0 => Op::Trim,
            1 => Op::Flush,
            _ if rng.random_bool(read_share) => Op::Read,
            _ => Op::Write,
        };
        let arrival = Time::from_ns(now);
        if op == Op::Flush {
            return Request { arrival, op, ..Request::default() };
        }
        let blocks = rng.random_range(1..=max_blocks);
        let last = base + footprint - blocks;
        let lbn = match rng.random_range(0..4) {
            0 => rng.random_range(base..=last),
            1 => next_lbn.min(last),
            _ => base + rng.random_range(0..=(last - base) / 16),
        };
        next_lbn = lbn + blocks;
        Request { arrival, lbn, blocks: blocks as u32, op, ..Request::default() }
    };
    (0..count).map(&mut request).collect()
}

/// The FNV-1a hash.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn add_rows(&mut self, rows: &Rows) {
        let numbers = rows.columns().into_iter().flat_map(|(_, column)| column).chain(&rows.device);
        numbers.for_each(|number| self.add(&number.to_le_bytes()));
        let energies = rows.energies().into_iter().flat_map(|(_, column)| column);
        energies.for_each(|energy| self.add(&energy.to_bits().to_le_bytes()));
        self.add(&rows.op);
    }
}

/// Returns the names of all models that experiments should use.
fn all_models() -> BTreeSet<String> {
    let mut all = BTreeSet::from(["cache".to_owned()]);
    let mut add_models =
        |kind: &str, names: Vec<&str>| all.extend(names.iter().map(|name| format!("{kind}:{name}")));
    add_models("preset", preset::names().collect());
    add_models("kind", device::LIST.iter().map(|entry| entry.name).collect());
    add_models("scheduler", scheduler::LIST.iter().map(|entry| entry.name).collect());
    add_models("power", power::LIST.iter().map(|entry| entry.name).collect());
    add_models("hybrid", hybrid::LIST.iter().map(|entry| entry.name).collect());
    let policies = replacement::LIST.iter().filter(|entry| !entry.facts.needs_future);
    add_models("replacement", policies.map(|entry| entry.name).collect());
    add_models("system", SystemKind::WORDS.to_vec());
    add_models("merge", MergeKind::WORDS.to_vec());
    add_models("workload", synthetic::LIST.iter().map(|entry| entry.name).chain([MIXED]).collect());
    all
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let (Ok(count), Ok(root_seed)) =
        (arguments.next().unwrap_or(Ok(DEFAULT_COUNT)), arguments.next().unwrap_or(Ok(DEFAULT_SEED)))
    else {
        eprintln!("usage: checksums [COUNT [SEED]]");
        return ExitCode::FAILURE;
    };
    let mut total = Fnv::default();
    let mut missing = all_models();
    for number in 0..count {
        let mut rng = seed::stream(root_seed, &format!("experiment {number}"));
        let entry = &scheduler::LIST[number as usize % scheduler::LIST.len()];
        let result = (0..MAX_ATTEMPTS).find_map(|_| {
            let mut draft = Draft { experiment: Experiment::new(), models: Vec::new(), rng: &mut rng };
            draft.run(entry).ok().map(|checksum| (checksum, draft.models))
        });
        let Some((checksum, models)) = result else {
            println!("{number:4} no valid experiment scheduler:{}", entry.name);
            continue;
        };
        println!("{number:4} {checksum:016x} {}", models.join(" "));
        total.add(&checksum.to_le_bytes());
        missing.retain(|model| !models.contains(model));
    }
    println!("all  {:016x}", total.0);
    println!(
        "models without a run: {}",
        if missing.is_empty() { "none".to_owned() } else { Vec::from_iter(missing).join(" ") }
    );
    ExitCode::SUCCESS
}
