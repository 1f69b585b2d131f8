//! The systems whose power fails.

use std::fmt;

use rand::RngExt;
use rand::seq::IteratorRandom;
use sledlab_core::Result;
use sledlab_core::params::Choices;
use sledlab_models::cache::Destage;
use sledlab_models::device::preset;
use sledlab_models::system::params::SystemKind;
use sledlab_models::{hybrid, replacement, scheduler};
use sledlab_sim::Experiment;

/// A system under test.
#[derive(Clone)]
pub struct System {
    name: String,
    pub experiment: Experiment,
    /// Whether only flushes make acknowledged writes durable.
    pub is_volatile: bool,
    /// Whether disks acknowledge writes in their volatile buffers.
    pub buffers_writes: bool,
    /// Whether the client sends flushes.
    pub has_flushes: bool,
    /// Mean time between operations in simulated time.
    pub mean_gap_us: f64,
    /// Time scale of a server.
    pub scale: &'static str,
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
const VOLATILE_CACHE: &str = "cache.volatile=true";

/// Single devices and arrays made of memory: every access takes about as long as any other. The small units make a
/// request touch several devices.
const ARRAYS: [&str; 8] = [
    "",
    "system.kind=concatenation system.devices=2",
    "system.kind=stripe system.devices=3 system.unit_blocks=8",
    "system.kind=mirror system.devices=2",
    "system.kind=mirror system.devices=3 system.failed=1 system.failed_at_s=0.002 system.rebuild_mb_s=20",
    "system.kind=raid5 system.devices=3 system.unit_blocks=8",
    "system.kind=raid5 system.devices=5 system.unit_blocks=3",
    "system.kind=mirror system.devices=2 hybrid.kind=write-buffer hybrid.front_mb=0.012 hybrid.log_kb=4 \
     hybrid.buffer_kb=8",
];

/// Hybrids made of memory, with a small front.
const HYBRIDS: [&str; 6] = [
    "hybrid.kind=caching-disk hybrid.front_mb=0.018 hybrid.segment_kb=4 hybrid.buffer_kb=8",
    "hybrid.kind=caching-disk hybrid.front_mb=0.018 hybrid.segment_kb=4 hybrid.buffer_kb=8 \
     hybrid.fetch_kb=16 hybrid.destage_kb=16",
    "hybrid.kind=write-buffer hybrid.front_mb=0.018 hybrid.log_kb=4 hybrid.buffer_kb=8",
    "hybrid.kind=write-buffer hybrid.front_mb=0.018 hybrid.log_kb=4 hybrid.buffer_kb=8 \
     hybrid.cleaning=fifo hybrid.gather=true",
    "hybrid.kind=mirror hybrid.buffer_kb=16",
    "hybrid.kind=mirror hybrid.buffer_kb=16 hybrid.sequential_kb=4",
];

/// Devices with mechanics, whose schedulers reorder requests.
const MECHANICAL_SYSTEMS: [(&str, &str); 11] = [
    ("mems-g2", "scheduler.kind=sptf"),
    ("mems-g2", "system.kind=raid5 system.devices=5 system.unit_blocks=8"),
    ("atlas-10k-50mb", "device.buffers_writes=false scheduler.kind=c-look merge.kind=chains"),
    (
        "atlas-10k-50mb",
        "device.buffers_writes=false hybrid.kind=caching-disk hybrid.front_mb=1 hybrid.segment_kb=4 \
         hybrid.buffer_kb=8 scheduler.kind=sptf",
    ),
    ("mems-g3", "device.sleds=4 device.sled_motion=independent"),
    ("atlas-10k-50mb", "device.buffers_writes=true scheduler.kind=sptf"),
    (
        "atlas-10k-50mb",
        "device.buffers_writes=false system.kind=stripe system.devices=2 system.unit_blocks=16 system.bus=shared",
    ),
    ("atlas-10k-50mb", "device.buffers_writes=true device.queue_depth=4 scheduler.kind=sptf"),
    ("atlas-10k-50mb", "device.buffers_writes=true system.kind=raid5 system.devices=3 system.unit_blocks=8"),
    (
        "atlas-10k-50mb",
        "device.buffers_writes=true hybrid.kind=caching-disk hybrid.front_mb=1 hybrid.segment_kb=4 hybrid.buffer_kb=8",
    ),
    (
        "atlas-10k-50mb",
        "device.buffers_writes=true hybrid.kind=write-buffer hybrid.front_mb=1 hybrid.log_kb=4 hybrid.buffer_kb=8 \
         front.preset=atlas-10k-50mb front.buffers_writes=true",
    ),
];

impl System {
    fn new(device: &str, settings: &str) -> Self {
        System::try_new(device, settings).unwrap_or_else(|error| panic!("{device}, {settings}: {error}"))
    }

    fn try_new(device: &str, settings: &str) -> Result<Self> {
        let mut experiment = Experiment::new();
        experiment.set_device(device)?;
        experiment.set("system.start", "ready")?;
        for (key, value) in settings.split_whitespace().filter_map(|setting| setting.split_once('=')) {
            experiment.set(key, value)?;
        }
        let has_setting = |setting| settings.contains(setting);
        Ok(System {
            name: format!("{device} {settings}").trim().to_owned(),
            is_volatile: has_setting(VOLATILE_CACHE),
            buffers_writes: has_setting("device.buffers_writes=true")
                && !has_setting("hybrid.kind")
                && !has_setting("cache.kind"),
            has_flushes: true,
            mean_gap_us: if experiment.device()?.params.kind() == "disk" { 1_500.0 } else { 200.0 },
            scale: "1",
            experiment,
        })
    }

    /// Draws a system with models of the lists: a device preset, with an array, a hybrid and a cache around it, or
    /// without. Settings that contradict each other are drawn again.
    pub fn draw(rng: &mut impl RngExt) -> Self {
        loop {
            let device = pick(rng, preset::names());
            let settings = draw_settings(rng, device);
            if let Ok(system) = System::try_new(device, &settings)
                && system.experiment.store().and_then(|store| store.build()).is_ok()
            {
                return system;
            }
        }
    }

    /// A system whose devices are memory.
    pub fn in_memory(settings: &str) -> Self {
        let front = if settings.contains("hybrid.kind") { FRONT } else { "" };
        let system = System::new("ram", &format!("{RAM} {settings} {front}"));
        System { mean_gap_us: 150.0, scale: "10", ..system }
    }

    /// Whether an acknowledged write may need a flush to be durable.
    pub fn needs_flushes(&self) -> bool {
        self.is_volatile || self.buffers_writes
    }

    /// The same system with a client that never flushes.
    pub fn without_flushes(self) -> Self {
        System { has_flushes: false, ..self }
    }
}

fn pick<T>(rng: &mut impl RngExt, models: impl IntoIterator<Item = T>) -> T {
    models.into_iter().choose(rng).expect("a list has models")
}

/// Draws settings of a system of this device, which may contradict each other.
fn draw_settings(rng: &mut impl RngExt, device: &str) -> String {
    // `optimal` refuses queues of more than 12 requests.
    let schedulers = scheduler::LIST.iter().map(|entry| entry.name).filter(|name| *name != "optimal");
    let mut settings = format!("scheduler.kind={}", pick(rng, schedulers));
    let mut add_setting = |text: &str| settings.extend([" ", text]);
    if preset::text(device).is_ok_and(|text| text.contains("kind = \"disk\"")) {
        add_setting(&format!("device.buffers_writes={}", rng.random_bool(0.8)));
        add_setting(pick(rng, ["device.queue_depth=1", "device.queue_depth=4"]));
    }
    if rng.random_bool(0.5) {
        let kind = pick(rng, SystemKind::WORDS.iter().copied());
        let devices = if kind == "single" { 1 } else { rng.random_range(2..6) };
        add_setting(&format!("system.kind={kind} system.devices={devices}"));
        add_setting(pick(rng, ["system.unit_blocks=3", "system.unit_blocks=8"]));
        add_setting(pick(rng, ["system.bus=own", "system.bus=own", "system.bus=shared"]));
        if kind == "mirror" {
            add_setting(pick(rng, ["", "system.failed=1 system.failed_at_s=0.01 system.rebuild_mb_s=1"]));
        }
    }
    if rng.random_bool(0.4) {
        let kind = pick(rng, hybrid::LIST.iter().map(|entry| entry.name));
        let front = if kind == "mirror" { device } else { pick(rng, preset::names()) };
        add_setting(&format!("hybrid.kind={kind} front.preset={front} hybrid.buffer_kb=16"));
        match kind {
            "caching-disk" => add_setting("hybrid.front_mb=0.018 hybrid.segment_kb=4"),
            "write-buffer" => add_setting("hybrid.front_mb=0.018 hybrid.log_kb=4"),
            _ => {}
        }
    }
    if rng.random_bool(0.5) {
        let replacement = pick(rng, replacement::LIST.iter().map(|entry| entry.name));
        let destage = pick(rng, Destage::WORDS.iter().copied());
        add_setting(&format!("{CACHE} cache.replacement={replacement} cache.destage={destage}"));
        add_setting(pick(rng, ["", VOLATILE_CACHE]));
    }
    settings
}

fn memory_settings() -> impl Iterator<Item = &'static str> {
    ARRAYS.into_iter().chain(HYBRIDS)
}

/// Systems of memory whose acknowledged writes are durable: bare, and behind a cache that keeps its contents.
pub fn durable_systems() -> Vec<System> {
    let with_and_without_cache =
        |system: &str| [System::in_memory(system), System::in_memory(&format!("{system} {CACHE}"))];
    memory_settings().flat_map(with_and_without_cache).collect()
}

/// The same systems behind a volatile cache.
pub fn volatile_systems() -> Vec<System> {
    memory_settings().map(|system| System::in_memory(&format!("{system} {CACHE} {VOLATILE_CACHE}"))).collect()
}

/// Systems with mechanics whose disks acknowledge writes in their volatile buffers.
pub fn buffering_systems() -> Vec<System> {
    mechanical_systems().into_iter().filter(|system| system.buffers_writes).collect()
}

/// Systems with mechanics, bare; the first [`SERVED_SYSTEMS`] of them acknowledge writes that are durable.
pub fn mechanical_systems() -> Vec<System> {
    MECHANICAL_SYSTEMS.map(|(device, settings)| System::new(device, settings)).into()
}

/// The same systems behind a volatile cache.
pub fn mechanical_volatile_systems() -> Vec<System> {
    MECHANICAL_SYSTEMS
        .map(|(device, settings)| System::new(device, &format!("{settings} {CACHE} {VOLATILE_CACHE}")))
        .into()
}

/// Number of systems with mechanics that are used over the wire, where they run in wall-clock time.
pub const SERVED_SYSTEMS: usize = 4;
