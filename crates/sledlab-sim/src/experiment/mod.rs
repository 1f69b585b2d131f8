//! An experiment: device, system, hybrid, workload, scheduler, power policy, merging, replay and seed, as in a TOML
//! file.

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
use sledlab_trace::{Continuation, synthetic};
use toml::{Table, Value};

use crate::decision_cost::DecisionCost;
use crate::engine::{Progress, ProgressSink, Run};
use crate::feed::Feed;
use crate::incremental_run::{IncrementalRun, RunMetadata};
use crate::memory;
use crate::outcome::Outcome;
use crate::poll_interval::PollInterval;
use crate::recorder::{Recorder, RowSink};
use crate::replay::Replay;
use crate::stopwatch::Stopwatch;
pub use store::SystemSetup;
pub(crate) use workload::TraceParams;
use workload::{FittedSource, GivenSource, Workload};

const DEFAULT_SEED: u64 = 1;

/// The device in front of a hybrid, unless the experiment sets another.
const DEFAULT_FRONT: &str = "mems-g2";

/// Source, sinks and callbacks of a run that are not part of its configuration.
#[derive(Default)]
pub struct Hooks<'a> {
    /// Replays this source instead of the configured trace or workload.
    pub source: Option<Box<dyn Source>>,
    /// Names of the devices of `source`, and notes on it.
    pub devices: Continuation,
    /// First block after the highest request of `source`, if known; required to scale addresses.
    pub highest_end: Option<u64>,
    /// Receives the per-request table in chunks.
    pub rows: Option<RowSink<'a>>,
    /// Progress hook, called about every 50 ms of wall-clock time, also during a survey of the trace before the run.
    pub progress: Option<ProgressSink<'a>>,
    /// Whether to measure the wall-clock time of the scheduler's decisions.
    pub time_decisions: bool,
    /// Whether an open replay whose queue kept growing ends with its last arrival, without serving the queued requests.
    /// Other runs do not change.
    pub stop_overloaded: bool,
}

/// A configuration under construction: the tables and keys that were set so far.
#[derive(Clone, Debug, Default)]
pub struct Experiment {
    table: Table,
    /// A scheduler from outside the crate, such as a plug-in.
    scheduler: Option<scheduler::Choice>,
    /// A power policy from outside the crate.
    power: Option<power::Choice>,
    /// A generator from outside the crate.
    workload: Option<synthetic::Choice>,
    /// Kinds of device from outside the crate.
    kinds: Vec<CustomDevice>,
    /// Replacement policies from outside the crate.
    policies: Vec<replacement::CustomPolicy>,
    /// Whether some of these models are placeholders for models that cannot be constructed here.
    has_placeholders: bool,
}

/// A validated configuration with all defaults filled in.
#[derive(Clone, Debug)]
struct ResolvedExperiment {
    seed: u64,
    store: SystemSetup,
    replay: Replay,
    workload: Workload,
}

/// The part of an experiment required for the results of a live run, whose operations are submitted instead of read.
pub(crate) struct LiveSettings {
    pub seed: u64,
    pub config: serde_json::Value,
    /// Number of operations at the start that are excluded from statistics.
    pub warmup: u64,
    /// Whether the system has several devices.
    pub has_several_devices: bool,
    /// Whether writes complete before they are durable.
    pub is_volatile: bool,
}

impl Experiment {
    /// Returns an experiment without keys; it needs at least a device and a workload.
    pub fn new() -> Self {
        Experiment::default()
    }

    /// Reads an experiment file. File names in it are resolved by [`resolve_file_name`](crate::resolve_file_name).
    ///
    /// # Errors
    /// Text that is not TOML, with its location; unknown tables.
    pub fn from_toml(name: &str, text: &str) -> Result<Self> {
        let mut table = keys::parse(name, text)?;
        file_names::resolve_file_names(&mut table, name);
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
    /// A key that is not of the form `table.key`, or an unknown table. Key and value are validated with the complete
    /// experiment, by [`check`](Experiment::check).
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        keys::set_key(&mut self.table, key, value)
    }

    /// Returns the keys that were set as TOML, without defaults and without the contents of presets.
    pub fn explicit_settings(&self) -> &Table {
        &self.table
    }

    /// Reads the device from a preset or a device file.
    pub fn set_device(&mut self, name_or_path: &str) -> Result<()> {
        let mut device = Table::new();
        device.insert("preset".to_owned(), Value::from(name_or_path));
        self.table.insert("device".to_owned(), Value::Table(device));
        Ok(())
    }

    /// Sets a trace file as the workload, instead of a generator.
    pub fn set_trace(&mut self, file: &str, format: Option<&str>) {
        let mut trace = Table::new();
        trace.insert("file".to_owned(), Value::from(file));
        if let Some(format) = format {
            trace.insert("format".to_owned(), Value::from(format));
        }
        self.table.remove("workload");
        self.table.insert("trace".to_owned(), Value::Table(trace));
    }

    /// Sets a generator as the workload, instead of a trace file.
    pub fn set_workload(&mut self, kind: &str) {
        let mut workload = Table::new();
        workload.insert("kind".to_owned(), Value::from(kind));
        self.table.remove("trace");
        self.table.insert("workload".to_owned(), Value::Table(workload));
    }

    /// Validates everything that can be validated before the run.
    pub fn check(&self) -> Result<()> {
        self.resolve(false).map(|_| ())
    }

    /// Validates like [`Experiment::check`], for a run whose requests are passed to it.
    pub fn check_with_source(&self) -> Result<()> {
        self.resolve(true).map(|_| ())
    }

    /// Returns the complete experiment, with all defaults filled in: sufficient to repeat the run.
    pub fn to_toml(&self) -> Result<String> {
        let table = self.complete_table(&self.resolve(true)?);
        toml::to_string(&table)
            .map_err(|error| Error::internal(format!("cannot write the experiment: {error}")))
    }

    /// Returns the complete device description.
    pub fn device(&self) -> Result<DeviceFile> {
        device(self.table.get("device"), &self.kinds)
    }

    /// Returns the `kind` in the tables of the device and of the front device, if they have one.
    pub fn device_kinds(&self) -> Vec<String> {
        let tables = ["device", "front"].into_iter().filter_map(|table| self.table.get(table));
        // Tables that cannot be read are rejected where they are used.
        let kinds =
            tables.filter_map(|table| device_table(table).ok()?.get("kind")?.as_str().map(str::to_owned));
        kinds.collect()
    }

    /// Adds a kind of device from outside the crate, which the experiment can then name.
    pub fn add_device_kind(&mut self, kind: CustomDevice) {
        self.kinds.push(kind);
    }

    /// Marks the experiment as one that is only written, not run: models from outside the crate may then be
    /// placeholders that cannot be constructed.
    pub fn skip_build(&mut self) {
        self.has_placeholders = true;
    }

    /// Returns the configured replacement policy of a hybrid without its parameters; an empty string if there is none.
    ///
    /// # Errors
    /// A value that is not text, or not of the form `module:Class:key=value`.
    pub fn replacement_setting(&self) -> Result<String> {
        let mut hybrid = keys::table(&self.table, "hybrid")?;
        let word = keys::take_text(&mut hybrid, "hybrid", "replacement")?.unwrap_or_default();
        split_plug_in("replacement", &word, &mut Table::new())
    }

    /// Returns this experiment with the kinds of device and the replacement policies of `other`.
    pub(crate) fn with_plug_ins(self, other: &Experiment) -> Self {
        Experiment { kinds: other.kinds.clone(), policies: other.policies.clone(), ..self }
    }

    /// Adds a replacement policy from outside the crate, which the experiment can then name.
    pub fn add_replacement_policy(&mut self, policy: replacement::CustomPolicy) {
        self.policies.push(policy);
    }

    /// Returns whether the experiment names a device.
    pub(crate) fn has_device(&self) -> bool {
        self.table.contains_key("device")
    }

    /// Returns the complete description of the device in `table`: `device`, or `front`, which is `None` without a
    /// hybrid.
    ///
    /// # Errors
    /// No device, unknown names and keys, and values out of range.
    pub fn file(&self, table: &str) -> Result<Option<DeviceFile>> {
        match table {
            "front" => Ok(self.hybrid()?.map(|hybrid| hybrid.front)),
            _ => self.device().map(Some),
        }
    }

    /// Returns the value set for a key such as `trace.file`; defaults do not count.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let (table, key) = key.split_once('.')?;
        self.table.get(table)?.get(key)
    }

    /// Runs the experiment.
    ///
    /// # Errors
    /// Everything that [`check`](Experiment::check) rejects, an invalid trace, a run without an operation that counts
    /// or interrupted before one was complete, and violated conservation.
    pub fn run(&self, hooks: Hooks) -> Result<Outcome> {
        self.begin(hooks)?.finish()
    }

    /// Starts a run of the experiment before the first arrival.
    ///
    /// # Errors
    /// Everything that [`check`](Experiment::check) rejects, and errors at the beginning of the trace.
    pub fn begin<'a>(&self, hooks: Hooks<'a>) -> Result<IncrementalRun<'a>> {
        let Hooks { source, devices, highest_end, rows, mut progress, time_decisions, stop_overloaded } =
            hooks;
        let resolved = self.resolve(source.is_some())?;
        let stopwatch = Stopwatch::start();
        let cost = time_decisions.then(DecisionCost::default);
        let scheduler = cost.as_ref().map(|cost| cost.wrap(&resolved.store.scheduler));
        let scheduler = scheduler.as_ref().unwrap_or(&resolved.store.scheduler);
        let system = resolved.store.build_with_scheduler(scheduler)?;
        let replay = resolved.replay;
        let FittedSource { source, fit_counts, devices } = resolved.workload.open(
            source.map(|source| GivenSource { source, devices, highest_end }),
            system.capacity_blocks(),
            resolved.seed,
            &replay,
            &mut preparation_check(progress.as_mut()),
        )?;
        let mut recorder = Recorder::new(replay.warmup, rows);
        if resolved.store.has_several_devices() {
            recorder = recorder.with_device_column();
        }
        let metadata = RunMetadata {
            fit_counts,
            trace: devices.clone(),
            mode: replay.mode,
            config: self.config(&resolved)?,
            seed: resolved.seed,
        };
        let poll = if progress.is_some() { PollInterval::default() } else { PollInterval::without_clock() };
        let feed = Feed::new(source, devices, &replay, system.capacity_blocks());
        let run = Run::new(poll, feed, &replay, progress).with_overload_stop(stop_overloaded);
        Ok(IncrementalRun::new(run, system, recorder, metadata, stopwatch, cost))
    }

    /// Returns the system, and the settings that results contain, for an experiment with submitted operations.
    ///
    /// # Errors
    /// Everything that [`check`](Experiment::check) rejects; a generator, and any setting of the replay except
    /// `warmup`.
    pub(crate) fn build_live(&self, keep_contents: bool) -> Result<(LiveSettings, Box<dyn System>)> {
        let resolved = self.resolve(true)?;
        if matches!(resolved.workload, Workload::Generator(_)) {
            return Err(Error::user("a live run has no [workload]: programs submit its requests")
                .with_remedy("omit the table [workload]; `sledlab simulate` runs it"));
        }
        let Replay { warmup, .. } = resolved.replay;
        if resolved.replay != (Replay { warmup, ..Replay::default() }) {
            return Err(Error::user(
                "a live run has no arrival times in [replay]: programs submit its requests",
            )
            .with_remedy("omit all keys of [replay] except `warmup`"));
        }
        let settings = LiveSettings {
            seed: resolved.seed,
            config: self.config(&resolved)?,
            warmup,
            has_several_devices: resolved.store.has_several_devices(),
            is_volatile: resolved.store.is_volatile(),
        };
        let system =
            if keep_contents { resolved.store.build_with_contents()? } else { resolved.store.build()? };
        Ok((settings, system))
    }

    /// Returns every table with every key, as in results.
    fn config(&self, resolved: &ResolvedExperiment) -> Result<serde_json::Value> {
        serde_json::to_value(self.complete_table(resolved))
            .map_err(|error| Error::internal(format!("cannot describe the experiment: {error}")))
    }

    fn resolve(&self, has_source: bool) -> Result<ResolvedExperiment> {
        let table = |name: &str| keys::table(&self.table, name);
        let mut resolved = ResolvedExperiment {
            seed: self.seed()?,
            store: self.store()?,
            replay: Replay::from_table(&table("replay")?)?,
            workload: Workload::Given,
        };
        let limits = resolved.replay.limits;
        let limit = limits.requests.min(limits.operations);
        let plug_in = self.workload.as_ref();
        resolved.workload = Workload::new(&table("trace")?, table("workload")?, has_source, limit, plug_in)?;
        resolved.workload.check(&resolved.replay, plug_in.is_some())?;
        // Listed generators issue reads and writes only.
        if matches!(resolved.workload, Workload::Generator(_)) && plug_in.is_none() {
            resolved.replay.check_limit_without_other_operations()?;
        }
        if !self.has_placeholders {
            memory::check(resolved.store.device_count()?, || resolved.store.build_single_device())?;
        }
        // Construction is cheap and detects errors in combinations of values, for example a device without blocks.
        if !self.has_placeholders {
            resolved.store.build()?;
        }
        Ok(resolved)
    }

    /// Returns the root seed of all random numbers.
    ///
    /// # Errors
    /// A seed that is not an integer of 0 or more.
    pub fn seed(&self) -> Result<u64> {
        match self.table.get("seed") {
            None => Ok(DEFAULT_SEED),
            Some(Value::Integer(n)) if *n >= 0 => Ok(n.cast_unsigned()),
            Some(other) => {
                Err(Error::user(format!("seed: expected a whole number, 0 or more, found `{other}`")))
            }
        }
    }

    /// Returns the system that stores the blocks: all settings except those of the requests.
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
            system: SystemParams::from_experiment(&table("system")?)?,
            cache: CacheParams::from_table("cache", &table("cache")?)?,
            hybrid: self.hybrid()?,
            device,
        })
    }

    /// Returns the configured scheduler. `scheduler.kind` may include parameters, as in `zsptf:grid=40x4`.
    fn scheduler(&self) -> Result<scheduler::Choice> {
        if let Some(choice) = &self.scheduler {
            return Ok(choice.clone());
        }
        let (word, settings) = self.scheduler_setting()?;
        let (name, mut params) = scheduler::parse(&word)?;
        params.extend(settings);
        scheduler::Choice::new(&name, &params)
    }

    /// Returns the configured power policy. `power.kind` may include parameters, as in `fixed:timeout_ms=10`.
    fn power(&self, device: &DeviceFile) -> Result<power::Choice> {
        if let Some(choice) = &self.power {
            return Ok(choice.clone());
        }
        let (word, params) = self.power_setting()?;
        power::Choice::parse(&word, params, device.idle_timeout_ms())
    }

    /// Returns the configured kind of the power policy, and the other keys of its table.
    ///
    /// # Errors
    /// A kind that is not text.
    pub fn power_setting(&self) -> Result<(String, Table)> {
        self.selected_kind("power", "fixed")
    }

    /// Uses a power policy from outside the crate in place of the table `[power]`.
    pub fn set_power_policy(&mut self, power: power::Choice) {
        self.power = Some(power);
    }

    /// Returns the configured hybrid with its front device, from the tables `[hybrid]` and `[front]`; `None` if the
    /// experiment has none. `hybrid.kind` may include parameters, as in `caching-disk:segment_kb=64`.
    fn hybrid(&self) -> Result<Option<HybridFile>> {
        let mut settings = keys::table(&self.table, "hybrid")?;
        let word = keys::take_text(&mut settings, "hybrid", "kind")?;
        let word = word.as_deref().unwrap_or(hybrid::Choice::NONE);
        let Some(choice) = hybrid::Choice::parse(word, settings)? else {
            return match self.table.get("front") {
                None => Ok(None),
                Some(_) => Err(Error::user("front: only a hybrid has a front device")
                    .with_remedy("set hybrid.kind, for example hybrid.kind = \"caching-disk\"")),
            };
        };
        let mut front = self.table.get("front").cloned().unwrap_or(Value::Table(Table::new()));
        if let Value::Table(settings) = &mut front
            && !settings.contains_key("kind")
        {
            settings.entry("preset").or_insert(Value::from(DEFAULT_FRONT));
        }
        let front = device(Some(&front), &self.kinds)?;
        let power = self.power(&front)?;
        Ok(Some(HybridFile { choice: choice.with_policies(self.policies.clone()), front, power }))
    }

    /// Returns the configured merging. `merge.kind` may include parameters, as in `chains:rows=2`.
    fn merge(&self) -> Result<MergeParams> {
        let mut settings = keys::table(&self.table, "merge")?;
        let word = keys::take_text(&mut settings, "merge", "kind")?;
        MergeParams::parse(word.as_deref(), settings)
    }

    /// Returns the configured kind of the scheduler, and the other keys of its table.
    ///
    /// # Errors
    /// A kind that is not text.
    pub fn scheduler_setting(&self) -> Result<(String, Table)> {
        self.selected_kind("scheduler", "fcfs")
    }

    /// Uses a scheduler from outside the crate in place of the table `[scheduler]`.
    pub fn set_scheduler(&mut self, scheduler: scheduler::Choice) {
        self.scheduler = Some(scheduler);
    }

    /// Returns the configured kind of the generator, and the other keys of its table; an empty string if there is none.
    ///
    /// # Errors
    /// A kind that is not text.
    pub fn workload_setting(&self) -> Result<(String, Table)> {
        self.selected_kind("workload", "")
    }

    /// Returns the kind in a table, or `otherwise`, and its other keys, including parameters of a plug-in in the kind.
    fn selected_kind(&self, table: &str, default: &str) -> Result<(String, Table)> {
        let mut params = keys::table(&self.table, table)?;
        let word = keys::take_text(&mut params, table, "kind")?;
        let word = split_plug_in(table, word.as_deref().unwrap_or(default), &mut params)?;
        Ok((word, params))
    }

    /// Uses a generator from outside the crate in place of `workload.kind`.
    pub fn set_workload_generator(&mut self, workload: synthetic::Choice) {
        self.workload = Some(workload);
    }

    /// Returns every table with every key.
    fn complete_table(&self, resolved: &ResolvedExperiment) -> Table {
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

/// Returns a function to call at every step before a run: an interrupt there leaves no results.
fn preparation_check<'a>(mut progress: Option<&'a mut ProgressSink>) -> impl FnMut() -> Result<()> + 'a {
    let mut poll = if progress.is_some() { PollInterval::default() } else { PollInterval::without_clock() };
    move || {
        let flow = progress.as_mut().filter(|_| poll.tick(1)).map(|sink| sink(Progress::NONE));
        if flow.is_some_and(|flow| flow.is_break()) { Err(Error::interrupted()) } else { Ok(()) }
    }
}

/// Returns the device of an experiment: a complete description, or a preset or file with some keys changed.
fn device(value: Option<&Value>, custom: &[CustomDevice]) -> Result<DeviceFile> {
    preset::from_table_among(&value.map_or_else(|| Err(no_device_error()), device_table)?, custom)
}

fn no_device_error() -> Error {
    Error::user("no device was given")
        .with_remedy("choose one with --device NAME; `sledlab list device` shows all")
}

/// Returns the table of a device, read from its preset or file if it names one, with the delays of its host.
fn device_table(value: &Value) -> Result<Table> {
    let mut changes = match value {
        Value::String(name) => {
            return preset::attach_to_host(keys::load_table(name, "device", preset::text)?);
        }
        Value::Table(table) => table.clone(),
        other => return Err(Error::user(format!("device: expected a table, found `{other}`"))),
    };
    let Some(name) = keys::take_text(&mut changes, "device", "preset")? else {
        return if changes.contains_key("kind") {
            preset::attach_to_host(changes)
        } else {
            Err(no_device_error())
        };
    };
    let mut device = keys::load_table(&name, "device", preset::text)?;
    device.extend(changes.remove_entry("host"));
    let mut device = preset::attach_to_host(device)?;
    device.extend(changes);
    Ok(device)
}
