//! The systems whose power fails.

use std::fmt;

use sledlab_core::Result;
use sledlab_sim::Experiment;

/// A system under test.
#[derive(Clone)]
pub struct System {
    name: String,
    pub experiment: Experiment,
    pub is_volatile: bool,
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
    "system.kind=mirror system.devices=2 hybrid.kind=write-buffer hybrid.front_mb=0.012 hybrid.log_kb=4 hybrid.buffer_kb=8",
];

/// Hybrids made of memory, with a small front.
const HYBRIDS: [&str; 6] = [
    "hybrid.kind=caching-disk hybrid.front_mb=0.018 hybrid.segment_kb=4 hybrid.buffer_kb=8",
    "hybrid.kind=caching-disk hybrid.front_mb=0.018 hybrid.segment_kb=4 hybrid.buffer_kb=8 hybrid.fetch_kb=16 hybrid.destage_kb=16",
    "hybrid.kind=write-buffer hybrid.front_mb=0.018 hybrid.log_kb=4 hybrid.buffer_kb=8",
    "hybrid.kind=write-buffer hybrid.front_mb=0.018 hybrid.log_kb=4 hybrid.buffer_kb=8 hybrid.cleaning=fifo hybrid.gather=true",
    "hybrid.kind=mirror hybrid.buffer_kb=16",
    "hybrid.kind=mirror hybrid.buffer_kb=16 hybrid.sequential_kb=4",
];

/// Devices with mechanics, whose schedulers reorder requests.
const MECHANICAL_SYSTEMS: [(&str, &str); 7] = [
    ("mems-g2", "scheduler.kind=sptf"),
    ("mems-g2", "system.kind=raid5 system.devices=5 system.unit_blocks=8"),
    ("atlas-10k-50mb", "device.buffers_writes=false scheduler.kind=c-look merge.kind=chains"),
    (
        "atlas-10k-50mb",
        "device.buffers_writes=false hybrid.kind=caching-disk hybrid.front_mb=1 hybrid.segment_kb=4 hybrid.buffer_kb=8 scheduler.kind=sptf",
    ),
    ("mems-g3", "device.sleds=4 device.sled_motion=independent"),
    ("atlas-10k-50mb", "scheduler.kind=sptf"),
    (
        "atlas-10k-50mb",
        "device.buffers_writes=false system.kind=stripe system.devices=2 system.unit_blocks=16 system.bus=shared",
    ),
];

impl System {
    fn new(device: &str, settings: &str) -> Self {
        let mut experiment = Experiment::new();
        let set = |experiment: &mut Experiment| -> Result<()> {
            experiment.set_device(device)?;
            let mut settings = settings.split_whitespace().filter_map(|setting| setting.split_once('='));
            settings.try_for_each(|(key, value)| experiment.set(key, value))
        };
        set(&mut experiment).unwrap_or_else(|error| panic!("{device}, {settings}: {error}"));
        System {
            name: format!("{device} {settings}").trim().to_owned(),
            experiment,
            is_volatile: settings.contains(VOLATILE_CACHE),
            has_flushes: true,
            mean_gap_us: if device.starts_with("mems") { 200.0 } else { 1_500.0 },
            scale: "1",
        }
    }

    /// A system whose devices are memory.
    pub fn in_memory(settings: &str) -> Self {
        let front = if settings.contains("hybrid.kind") { FRONT } else { "" };
        let system = System::new("ram", &format!("{RAM} {settings} {front}"));
        System { mean_gap_us: 150.0, scale: "10", ..system }
    }

    /// The same system with a client that never flushes.
    pub fn without_flushes(self) -> Self {
        System { has_flushes: false, ..self }
    }
}

fn memory_settings() -> impl Iterator<Item = &'static str> {
    ARRAYS.into_iter().chain(HYBRIDS)
}

/// Systems of memory whose acknowledged writes are durable: bare, and behind a cache that keeps its contents.
pub fn durable_systems() -> Vec<System> {
    let both = |system: &str| [System::in_memory(system), System::in_memory(&format!("{system} {CACHE}"))];
    memory_settings().flat_map(both).collect()
}

/// The same systems behind a volatile cache.
pub fn volatile_systems() -> Vec<System> {
    memory_settings().map(|system| System::in_memory(&format!("{system} {CACHE} {VOLATILE_CACHE}"))).collect()
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
