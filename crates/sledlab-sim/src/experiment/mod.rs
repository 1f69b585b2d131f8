//! An experiment: device, system, hybrid, workload, scheduler, power policy, merging, replay and seed, as a TOML file says it.

pub(crate) mod file_names;
pub(crate) mod keys;
mod store;
mod workload;

use sledlab_core::params::Params;
use sledlab_core::registry::split_plug_in;
use sledlab_core::{Error, Result, Source};
use sledlab_models::assembly::HybridFile;
use sledlab_models::cache::CacheParams;
use sledlab_models::device::CustomDevice;
use sledlab_models::device::preset::{self, DeviceFile};
use sledlab_models::merge::MergeParams;
use sledlab_models::system::{System, SystemParams};
use sledlab_models::{hybrid, power, replacement, scheduler};
use sledlab_trace::synthetic;
use toml::{Table, Value};

use crate::decision_cost::DecisionCost;
use crate::engine::{Progress, ProgressSink, Run};
use crate::feed::Feed;
use crate::memory;
use crate::outcome::Outcome;
use crate::poll_interval::PollInterval;
use crate::recorder::{Recorder, RowSink};
use crate::replay::Replay;
use crate::running::{RunMetadata, Running};
use crate::stopwatch::Stopwatch;
pub use store::SystemSetup;
pub(crate) use workload::TraceParams;
use workload::{Opened, Workload};

const DEFAULT_SEED: u64 = 1;

/// The device in front of a hybrid, unless the experiment sets another.
const FRONT: &str = "mems-g2";

/// Source, sinks and callbacks of a run besides its configuration.
#[derive(Default)]
pub struct Hooks<'a> {
    /// Replays this source instead of the configured trace or workload.
    pub source: Option<Box<dyn Source>>,
    /// First block after the highest request of `source`, where known; scaling addresses needs it.
    pub highest_end: Option<u64>,
    /// Takes the per-request table in chunks.
    pub rows: Option<RowSink<'a>>,
    /// Called with the progress about every 50 ms of real time, also while a trace is surveyed before the run.
    pub progress: Option<ProgressSink<'a>>,
    /// Whether to measure the real time that the scheduler's decisions take.
    pub time_decisions: bool,
    /// Whether an open replay whose queue kept growing ends with its last arrival: the requests that are queued then
    /// are not served. Other runs do not change.
    pub stop_overloaded: bool,
}

/// A configuration under construction: the tables and keys set so far.
#[derive(Clone, Debug, Default)]
pub struct Experiment {
    table: Table,
    /// A scheduler given from outside, such as a plug-in.
    scheduler: Option<scheduler::Choice>,
    /// A power policy given from outside.
    power: Option<power::Choice>,
    /// A generator given from outside.
    workload: Option<synthetic::Choice>,
    /// Kinds of device given from outside.
    kinds: Vec<CustomDevice>,
    /// Replacement policies given from outside.
    policies: Vec<replacement::CustomPolicy>,
    /// Whether some given models only stand for those that cannot be built here.
    unbuilt: bool,
}

/// A configuration with every default filled in and checked.
#[derive(Clone, Debug)]
struct Resolved {
    seed: u64,
    store: SystemSetup,
    replay: Replay,
    workload: Workload,
}

/// The part of an experiment that results of a live run need: its operations are submitted and recorded, not read.
pub(crate) struct Recorded {
    pub seed: u64,
    pub config: serde_json::Value,
    /// Operations at the start that do not count in statistics.
    pub warmup: u64,
    /// Whether the system has several devices.
    pub several: bool,
    /// Whether writes are answered before they are durable.
    pub volatile: bool,
}

impl Experiment {
    /// An experiment with no key set; it needs at least a device and a workload.
    pub fn new() -> Self {
        Experiment::default()
    }

    /// Reads an experiment file. The files that it names are looked for as [`seen`](crate::seen) says.
    ///
    /// # Errors
    /// Text that is not TOML, with its place; unknown tables.
    pub fn from_toml(name: &str, text: &str) -> Result<Self> {
        let mut table = keys::parse(name, text)?;
        file_names::resolve_all(&mut table, name);
        Self::from_table(table)
    }

    /// Reads an experiment from a TOML table.
    pub(crate) fn from_table(table: Table) -> Result<Self> {
        keys::check_tables(&table)?;
        Ok(Experiment { table, ..Experiment::default() })
    }

    /// Sets one key, such as `device.active_tips`, to a TOML value or a bare word.
    ///
    /// # Errors
    /// A key that is not of the form `table.key`, or an unknown table. Whether the key and the value make sense is
    /// checked with the whole experiment, by [`check`](Experiment::check).
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        keys::set(&mut self.table, key, value)
    }

    /// The keys that were set, as TOML: no default is filled in, and no preset is opened.
    pub fn explicit_settings(&self) -> &Table {
        &self.table
    }

    /// Takes the device from a preset or a device file.
    pub fn set_device(&mut self, name_or_path: &str) -> Result<()> {
        let mut device = Table::new();
        device.insert("preset".to_owned(), Value::from(name_or_path));
        self.table.insert("device".to_owned(), Value::Table(device));
        Ok(())
    }

    /// Takes the workload from a trace file instead of a generator.
    pub fn set_trace(&mut self, file: &str, format: Option<&str>) {
        let mut trace = Table::new();
        trace.insert("file".to_owned(), Value::from(file));
        if let Some(format) = format {
            trace.insert("format".to_owned(), Value::from(format));
        }
        self.table.remove("workload");
        self.table.insert("trace".to_owned(), Value::Table(trace));
    }

    /// Takes the workload from a generator instead of a trace file.
    pub fn set_workload(&mut self, kind: &str) {
        let mut workload = Table::new();
        workload.insert("kind".to_owned(), Value::from(kind));
        self.table.remove("trace");
        self.table.insert("workload".to_owned(), Value::Table(workload));
    }

    /// Checks all that can be checked before the run.
    pub fn check(&self) -> Result<()> {
        self.resolve(false).map(|_| ())
    }

    /// The complete experiment, every default filled in: alone sufficient to run it again.
    pub fn to_toml(&self) -> Result<String> {
        let table = self.complete(&self.resolve(true)?);
        toml::to_string(&table)
            .map_err(|error| Error::internal(format!("cannot write the experiment: {error}")))
    }

    /// The complete device description.
    pub fn device(&self) -> Result<DeviceFile> {
        device(self.table.get("device"), &self.kinds)
    }

    /// The `kind` in the table of the device, and of the device in front, where they have one.
    pub fn device_kinds(&self) -> Vec<String> {
        let explicit_settings = ["device", "front"].into_iter().filter_map(|table| self.table.get(table));
        // Tables that cannot be read are refused where they are needed.
        let kinds = explicit_settings.filter_map(|explicit_settings| {
            device_table(explicit_settings).ok()?.get("kind")?.as_str().map(str::to_owned)
        });
        kinds.collect()
    }

    /// Adds a kind of device from outside, so that the experiment can name it.
    pub fn add_device_kind(&mut self, kind: CustomDevice) {
        self.kinds.push(kind);
    }

    /// Marks the experiment as one that is only written, not run: models given from outside need not be such as can be
    /// built.
    pub fn skip_build(&mut self) {
        self.unbuilt = true;
    }

    /// The replacement policy of a hybrid as it was set, without its parameters; an empty word where there is none.
    ///
    /// # Errors
    /// A value that is no text, or not of the form `module:Class:key=value`.
    pub fn replacement_setting(&self) -> Result<String> {
        let mut explicit_settings = keys::table(&self.table, "hybrid")?;
        let word = keys::take_text(&mut explicit_settings, "hybrid", "replacement")?.unwrap_or_default();
        split_plug_in("replacement", &word, &mut Table::new())
    }

    /// This experiment with the kinds of device and the replacement policies given to `other`.
    pub(crate) fn with_plugins_of(self, other: &Experiment) -> Self {
        Experiment { kinds: other.kinds.clone(), policies: other.policies.clone(), ..self }
    }

    /// Adds a replacement policy from outside, so that the experiment can name it.
    pub fn add_replacement_policy(&mut self, policy: replacement::CustomPolicy) {
        self.policies.push(policy);
    }

    /// Whether the experiment names a device.
    pub(crate) fn has_device(&self) -> bool {
        self.table.contains_key("device")
    }

    /// The complete description of the device in `table`: `device` or `front`, which is `None` without a hybrid.
    ///
    /// # Errors
    /// No device, unknown names and keys, and values out of range.
    pub fn file(&self, table: &str) -> Result<Option<DeviceFile>> {
        match table {
            "front" => Ok(self.hybrid()?.map(|hybrid| hybrid.front)),
            _ => self.device().map(Some),
        }
    }

    /// The value set for a key such as `trace.file`; defaults do not count.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let (table, key) = key.split_once('.')?;
        self.table.get(table)?.get(key)
    }

    /// Runs the experiment.
    ///
    /// # Errors
    /// Anything [`check`](Experiment::check) finds, an invalid trace, a run in which no operation counted or that was
    /// interrupted before any did, and violated conservation.
    pub fn run(&self, hooks: Hooks) -> Result<Outcome> {
        self.begin(hooks)?.finish()
    }

    /// Begins to run the experiment: nothing has arrived yet.
    ///
    /// # Errors
    /// Anything [`check`](Experiment::check) finds, and errors in the beginning of the trace.
    pub fn begin<'a>(&self, hooks: Hooks<'a>) -> Result<Running<'a>> {
        let Hooks { source, highest_end, rows, mut progress, time_decisions, stop_overloaded } = hooks;
        let resolved = self.resolve(source.is_some())?;
        let begun = Stopwatch::start();
        let cost = time_decisions.then(DecisionCost::default);
        let scheduler = cost.as_ref().map(|cost| cost.of(&resolved.store.scheduler));
        let scheduler = scheduler.as_ref().unwrap_or(&resolved.store.scheduler);
        let system = resolved.store.under(scheduler)?;
        let replay = resolved.replay;
        let Opened { source, fitted, devices } = resolved.workload.open(
            source.map(|source| (source, highest_end)),
            system.capacity_blocks(),
            resolved.seed,
            &replay,
            &mut preparing(progress.as_mut()),
        )?;
        let mut recorder = Recorder::new(replay.warmup, rows);
        if resolved.store.has_several() {
            recorder = recorder.naming_devices();
        }
        let explicit_settings =
            RunMetadata { fitted, mode: replay.mode, config: self.config(&resolved)?, seed: resolved.seed };
        let poll = if progress.is_some() { PollInterval::default() } else { PollInterval::without_clock() };
        let feed = Feed::new(source, devices, &replay, system.capacity_blocks());
        let run = Run::new(poll, feed, &replay, progress).stopping_overloaded(stop_overloaded);
        Ok(Running::new(run, system, recorder, explicit_settings, begun, cost))
    }

    /// The system, and the settings that results hold, of an experiment whose operations are submitted and recorded.
    ///
    /// # Errors
    /// All that [`check`](Experiment::check) finds; a generator, and any setting of the replay but `warmup`.
    pub(crate) fn recorded(&self, keep_contents: bool) -> Result<(Recorded, Box<dyn System>)> {
        let resolved = self.resolve(true)?;
        if matches!(resolved.workload, Workload::Generator(_)) {
            return Err(Error::user("a workload was given, but programs say what they read and write")
                .with_remedy("leave out the table [workload]; `sledlab simulate` runs it"));
        }
        let Replay { warmup, .. } = resolved.replay;
        if resolved.replay != (Replay { warmup, ..Replay::default() }) {
            return Err(Error::user("[replay] says when operations arrive, but that is up to programs")
                .with_remedy("leave nothing but `warmup` in the table [replay]"));
        }
        let recorded = Recorded {
            seed: resolved.seed,
            config: self.config(&resolved)?,
            warmup,
            several: resolved.store.has_several(),
            volatile: resolved.store.is_volatile(),
        };
        let system =
            if keep_contents { resolved.store.keeping_contents()? } else { resolved.store.system()? };
        Ok((recorded, system))
    }

    /// Every table with every key, as results hold it.
    fn config(&self, resolved: &Resolved) -> Result<serde_json::Value> {
        serde_json::to_value(self.complete(resolved))
            .map_err(|error| Error::internal(format!("cannot describe the experiment: {error}")))
    }

    fn resolve(&self, has_source: bool) -> Result<Resolved> {
        let table = |name: &str| keys::table(&self.table, name);
        let mut resolved = Resolved {
            seed: self.seed()?,
            store: self.store()?,
            replay: Replay::from_table(&table("replay")?)?,
            workload: Workload::Given,
        };
        let limits = resolved.replay.limits;
        let limit = limits.requests.min(limits.operations);
        let own = self.workload.as_ref();
        resolved.workload = Workload::new(&table("trace")?, table("workload")?, has_source, limit, own)?;
        if !self.unbuilt {
            memory::check(resolved.store.devices()?, || resolved.store.one_device())?;
        }
        // Building is cheap and finds errors that single values cannot show: a device without blocks, for example.
        if !self.unbuilt {
            resolved.store.system()?;
        }
        Ok(resolved)
    }

    /// The root of all random numbers.
    ///
    /// # Errors
    /// A seed that is no whole number, 0 or more.
    pub fn seed(&self) -> Result<u64> {
        match self.table.get("seed") {
            None => Ok(DEFAULT_SEED),
            Some(Value::Integer(n)) if *n >= 0 => Ok(n.cast_unsigned()),
            Some(other) => {
                Err(Error::user(format!("seed: expected a whole number, 0 or more, found `{other}`")))
            }
        }
    }

    /// The system that stores the blocks: all settings but those of the requests.
    ///
    /// # Errors
    /// Unknown names and keys, and values out of range.
    pub fn store(&self) -> Result<SystemSetup> {
        let table = |name: &str| keys::table(&self.table, name);
        let device = self.device()?;
        Ok(SystemSetup {
            power: self.power(&device)?,
            merge: self.merge()?,
            scheduler: self.scheduler()?,
            system: SystemParams::from_table("system", &table("system")?)?,
            cache: CacheParams::from_table("cache", &table("cache")?)?,
            hybrid: self.hybrid()?,
            device,
        })
    }

    /// The `kind` of the table `[scheduler]`, which may carry parameters (`zsptf:grid=40x4`), with the other keys.
    fn scheduler(&self) -> Result<scheduler::Choice> {
        if let Some(choice) = &self.scheduler {
            return Ok(choice.clone());
        }
        let (word, explicit_settings) = self.scheduler_setting()?;
        let (name, mut params) = scheduler::parse(&word)?;
        params.extend(explicit_settings);
        scheduler::Choice::new(&name, &params)
    }

    /// The `kind` of the table `[power]`, which may carry parameters (`fixed:timeout_ms=10`), with the other keys.
    fn power(&self, device: &DeviceFile) -> Result<power::Choice> {
        if let Some(choice) = &self.power {
            return Ok(choice.clone());
        }
        let (word, params) = self.power_setting()?;
        power::Choice::parse(&word, params, device.idle_timeout_ms())
    }

    /// The power policy's kind as it was set, and the other keys of its table.
    ///
    /// # Errors
    /// A kind that is no text.
    pub fn power_setting(&self) -> Result<(String, Table)> {
        self.selected_kind("power", "fixed")
    }

    /// Uses a power policy from outside, whatever the table `[power]` says.
    pub fn set_power_policy(&mut self, power: power::Choice) {
        self.power = Some(power);
    }

    /// The `kind` of the table `[hybrid]`, which may carry parameters (`caching-disk:segment_kb=64`), with the other
    /// keys; and the device in front, of the table `[front]`.
    fn hybrid(&self) -> Result<Option<HybridFile>> {
        let mut explicit_settings = keys::table(&self.table, "hybrid")?;
        let word = keys::take_text(&mut explicit_settings, "hybrid", "kind")?;
        let word = word.as_deref().unwrap_or(hybrid::Choice::NONE);
        let Some(choice) = hybrid::Choice::parse(word, explicit_settings)? else {
            return match self.table.get("front") {
                None => Ok(None),
                Some(_) => Err(Error::user("front: there is nothing it could be in front of")
                    .with_remedy("say hybrid.kind, for example hybrid.kind = \"caching-disk\"")),
            };
        };
        let mut front = self.table.get("front").cloned().unwrap_or(Value::Table(Table::new()));
        if let Value::Table(explicit_settings) = &mut front
            && !explicit_settings.contains_key("kind")
        {
            explicit_settings.entry("preset").or_insert(Value::from(FRONT));
        }
        let front = device(Some(&front), &self.kinds)?;
        let power = self.power(&front)?;
        Ok(Some(HybridFile { choice: choice.with_policies(self.policies.clone()), front, power }))
    }

    /// The `kind` of the table `[merge]`, which may carry parameters (`chains:rows=2`), with the other keys.
    fn merge(&self) -> Result<MergeParams> {
        let mut explicit_settings = keys::table(&self.table, "merge")?;
        let word = keys::take_text(&mut explicit_settings, "merge", "kind")?;
        MergeParams::parse(word.as_deref(), explicit_settings)
    }

    /// The scheduler's kind as it was set, and the other keys of its table.
    ///
    /// # Errors
    /// A kind that is no text.
    pub fn scheduler_setting(&self) -> Result<(String, Table)> {
        self.selected_kind("scheduler", "fcfs")
    }

    /// Uses a scheduler from outside, whatever the table `[scheduler]` says.
    pub fn set_scheduler(&mut self, scheduler: scheduler::Choice) {
        self.scheduler = Some(scheduler);
    }

    /// The generator's kind as it was set, and the other keys of its table; an empty word where there is none.
    ///
    /// # Errors
    /// A kind that is no text.
    pub fn workload_setting(&self) -> Result<(String, Table)> {
        self.selected_kind("workload", "")
    }

    /// The kind in a table, or `otherwise`, and its other keys; parameters in the word of a plug-in are among them.
    fn selected_kind(&self, table: &str, otherwise: &str) -> Result<(String, Table)> {
        let mut params = keys::table(&self.table, table)?;
        let word = keys::take_text(&mut params, table, "kind")?;
        let word = split_plug_in(table, word.as_deref().unwrap_or(otherwise), &mut params)?;
        Ok((word, params))
    }

    /// Uses a generator from outside, whatever `workload.kind` says.
    pub fn set_workload_generator(&mut self, workload: synthetic::Choice) {
        self.workload = Some(workload);
    }

    /// Every table with every key.
    fn complete(&self, resolved: &Resolved) -> Table {
        let mut table = Table::new();
        table.insert("seed".to_owned(), Value::Integer(resolved.seed.cast_signed()));
        if let Some((name, workload)) = resolved.workload.to_table() {
            table.insert(name.to_owned(), Value::Table(workload));
        }
        let power = self.power_setting().map(|(_, settings)| settings).unwrap_or_default();
        for (name, parameters) in resolved.store.to_table(&power) {
            if name == "system" {
                table.insert("replay".to_owned(), Value::Table(keys::replay_table(&self.table)));
            }
            table.insert(name, parameters);
        }
        table
    }
}

/// A function to call at every step before a run: an interrupt then leaves no results to keep.
fn preparing<'a>(mut progress: Option<&'a mut ProgressSink>) -> impl FnMut() -> Result<()> + 'a {
    let mut poll = if progress.is_some() { PollInterval::default() } else { PollInterval::without_clock() };
    move || {
        let flow = progress.as_mut().filter(|_| poll.tick(1)).map(|sink| sink(Progress::NONE));
        if flow.is_some_and(|flow| flow.is_break()) { Err(Error::interrupted()) } else { Ok(()) }
    }
}

/// The device of an experiment: a complete description, or a preset or file with some keys changed.
fn device(value: Option<&Value>, custom: &[CustomDevice]) -> Result<DeviceFile> {
    preset::from_table_among(&value.map_or_else(|| Err(no_device()), device_table)?, custom)
}

fn no_device() -> Error {
    Error::user("no device was given")
        .with_remedy("choose one with --device NAME; `sledlab list device` shows all")
}

/// The table of a device, read from its preset or file where it names one.
fn device_table(value: &Value) -> Result<Table> {
    let mut changes = match value {
        Value::String(name) => return keys::opened(name, "device", preset::text),
        Value::Table(table) => table.clone(),
        other => return Err(Error::user(format!("device: expected a table, found `{other}`"))),
    };
    let Some(name) = keys::take_text(&mut changes, "device", "preset")? else {
        return if changes.contains_key("kind") { Ok(changes) } else { Err(no_device()) };
    };
    let mut device = keys::opened(&name, "device", preset::text)?;
    device.extend(changes);
    Ok(device)
}
