//! Devices that store blocks: their geometry, mechanics and power.
//!
//! A kind of device is a folder. A new kind is a folder and a line in [`LIST`], which feeds device files, the command
//! line, the Python API, the docs and the conformance tests. The properties of a kind are its [`Model`], implemented
//! on its parameters; its behavior is its [`Device`] and [`Mechanics`].

mod bus;
mod descriptions;
pub mod disk;
pub mod disksim;
mod faults;
mod flash_counts;
mod grid;
pub mod host;
mod mechanics;
pub mod mems;
mod path;
mod position_index;
pub mod preset;
pub mod ram;
mod rotation;
mod seek_map;
mod service;
mod simple;
pub mod ssd;
mod units;

use std::fmt;
use std::sync::Arc;

use sledlab_core::params::Params;
use sledlab_core::registry::{self, Registry};
use sledlab_core::{Error, Result, Time};
use toml::Table;

pub use self::bus::{Bus, BusConstructor};
pub use self::descriptions::{PositioningParts, States};
pub use self::faults::{FailedDevice, FaultCounts};
pub use self::flash_counts::FlashCounts;
pub use self::grid::Grid;
pub use self::mechanics::{DeviceState, Extent, Location, Mechanics, QueueOrder};
pub use self::path::{Leg, Motion, MotionPath};
pub use self::position_index::{Aging, Aim, PositionIndex, PositionRange, RequestGroup, Score};
pub use self::rotation::RotationalArc;
pub use self::seek_map::{Mapping, SeekMap};
pub use self::service::{BusyPeriod, IdleOutcome, PartialBlocks, QueuedRequest, ServedRequest, Timing};
pub use self::simple::{SimpleAdapter, SimpleDevice};
pub use self::units::{UnitMap, UnitRun, Units};

use self::disksim::Importer;
use self::host::HostParams;
use self::preset::DeviceFile;
use crate::power::MechanicalWork;

/// A device that stores blocks: its mechanics, and the commands, buses and work around them.
///
/// A device that serves one request after another implements [`SimpleDevice`] instead. A device with background work (a
/// bus, read-ahead) also returns when to call [`wake`](Device::wake). By default a device does all its work in
/// [`issue`](Device::issue), buffers no writes and never fails. A wrapper must forward every method: it denies
/// `clippy::missing_trait_methods`.
pub trait Device: Send {
    /// Geometry, motion and power of the device.
    fn mechanics(&self) -> &dyn Mechanics;

    /// Returns the timing of `request` if it were served at `now`, without changing the device.
    /// [`issue`](Device::issue) must take the same time.
    fn probe(&self, now: Time, request: &QueuedRequest) -> Timing;

    /// Called before a scheduler chooses at `now`: makes [`mechanics`](Device::mechanics) judge requests as of `now`,
    /// if its positioning times depend on the time.
    fn set_time(&mut self, _now: Time) {}

    /// Called when a command reaches the device; returns when the mechanism may select it (`now` or later), or
    /// [`Time::MAX`] if [`pop_admitted`](Device::pop_admitted) will return it later.
    fn admit(&mut self, now: Time, _request: &QueuedRequest) -> Time {
        now
    }

    /// The next command that the mechanism may select from now on, of those for which [`admit`](Device::admit) returned
    /// [`Time::MAX`]; called after each [`wake`](Device::wake).
    fn pop_admitted(&mut self) -> Option<QueuedRequest> {
        None
    }

    /// Starts serving `batch` on an idle mechanism: requests that one pass can serve together, the others one after
    /// another.
    ///
    /// Requests whose completion is certain are appended to `served` in order of completion. Returns until when the
    /// mechanism is busy, or `None` if [`wake`](Device::wake) will report when it is free.
    fn issue(
        &mut self,
        now: Time,
        batch: &[QueuedRequest],
        served: &mut Vec<ServedRequest>,
    ) -> Option<BusyPeriod>;

    /// Whether the device accepts another batch while it is still busy, having several commands in it at once. Only a
    /// device that does all its work in [`wake`](Device::wake) may accept more; it is free when no command is left.
    fn can_accept_batch(&self) -> bool {
        false
    }

    /// Whether the device has background work or delays commands: whether [`admit`](Device::admit),
    /// [`next_wakeup`](Device::next_wakeup) and [`wake`](Device::wake) do anything.
    fn has_background_work(&self) -> bool {
        false
    }

    /// Returns when to call [`wake`](Device::wake) next; `None` if the device has no background work.
    fn next_wakeup(&self) -> Option<Time> {
        None
    }

    /// Does the background work that is due at `now`. When the mechanism becomes free, returns its mechanical work
    /// since the last batch was issued.
    fn wake(&mut self, _now: Time, _served: &mut Vec<ServedRequest>) -> Option<MechanicalWork> {
        None
    }

    /// Whether a write may be complete when it is in a volatile buffer of the device, before it is on the medium
    /// ([`ServedRequest::write_behind`]).
    fn has_volatile_buffer(&self) -> bool {
        false
    }

    /// Failures of the device by `now`, without the requests that they affect; `None` if no part of it can fail.
    fn faults(&self, _now: Time) -> Option<FaultCounts> {
        None
    }

    /// Garbage collection since the start; `None` for a device without it.
    fn flash(&self) -> Option<FlashCounts> {
        None
    }

    /// Whether data of `request` is lost at `now`.
    fn is_lost(&self, _now: Time, _request: &QueuedRequest) -> bool {
        false
    }

    /// Allows the device to omit the energy of requests from now on, because no caller uses it.
    fn disable_energy(&mut self) {}

    /// When all completed writes are on the medium: an idle device does not park before.
    fn destage_end(&self) -> Time {
        Time::ZERO
    }

    /// Called at the end of an idle period, before the mechanism moves again.
    fn end_idle_period(&mut self, _outcome: IdleOutcome) {}

    /// Returns the error that stopped the device, if there is one, for example of a plug-in. Called from time to time;
    /// each error is returned once.
    fn failure(&mut self) -> Option<Error> {
        None
    }
}

/// A kind of device: each folder here implements it on its parameters.
pub trait Model: Params + Clone + fmt::Debug + Send + Sync + 'static {
    /// Name in device files, after `kind`.
    const NAME: &'static str;
    /// One-line description of the kind for help texts and docs.
    const MEANING: &'static str;
    /// Descriptions of the power states.
    const STATES: States;
    /// The parts of the positioning time of an access.
    const POSITIONING: PositioningParts;
    /// Whether the time of a request depends on all writes before it, as garbage collection makes it; otherwise it
    /// depends on the last requests.
    const REMEMBERS_WRITES: bool = false;
    /// The presets of this kind: name and device file of each.
    const PRESETS: &'static [(&'static str, &'static str)] = &[];
    /// How a device of this kind is read from a parameter file of the reference simulator, if that models the kind.
    const IMPORTER: Option<Importer> = None;
    /// How a seek-time map is computed, if the kind has one.
    const SEEK_MAP: Option<Mapping<Self>> = None;
    /// How a device of this kind is attached to a host, if hosts change its times.
    const ATTACH: Option<fn(&mut Self, &HostParams)> = None;
    /// How the device is made on a bus shared with other devices, if it can share one.
    const BUS_CONSTRUCTOR: Option<BusConstructor<Self>> = None;

    /// Makes the device, in the state in which runs begin.
    ///
    /// # Errors
    /// Parameters that contradict each other.
    fn device(&self) -> Result<Box<dyn Device>>;

    /// Idle time after which the device parks without a power policy, in ms.
    fn idle_timeout_ms(&self) -> f64;

    /// The units of a device of several that move independently; `None` for one unit, or units that move together.
    ///
    /// # Errors
    /// Parameters that contradict each other.
    fn units(&self) -> Result<Option<Units>> {
        Ok(None)
    }
}

/// The parameters of a device of any kind: every [`Model`] is a description.
pub trait Description: fmt::Debug + Send + Sync {
    /// The kind of the device: the value of `kind` in device files.
    fn kind(&self) -> &str;
    /// All parameters.
    fn to_table(&self) -> Table;
    /// [`Model::device`].
    ///
    /// # Errors
    /// Parameters that contradict each other.
    fn device(&self) -> Result<Box<dyn Device>>;
    /// [`Model::BUS_CONSTRUCTOR`].
    ///
    /// # Errors
    /// Parameters that contradict each other.
    fn device_on_bus(&self, bus: &Bus) -> Result<Option<Box<dyn Device>>>;
    /// [`Model::idle_timeout_ms`].
    fn idle_timeout_ms(&self) -> f64;
    /// [`Model::units`].
    ///
    /// # Errors
    /// Parameters that contradict each other.
    fn units(&self) -> Result<Option<Units>>;
    /// [`Model::REMEMBERS_WRITES`].
    fn remembers_writes(&self) -> bool;
    /// The seek-time map from a state, if this kind of device has one; `watch` is called before every position.
    ///
    /// # Errors
    /// A state that the mechanism cannot be in, parameters that contradict each other, and errors of `watch`.
    fn seek_map(&self, from: DeviceState, watch: &mut dyn FnMut() -> Result<()>) -> Result<Option<SeekMap>>;
    /// Attaches the device to a host; returns false if hosts do not change its times.
    fn attach(&mut self, host: &HostParams) -> bool;
    /// A boxed copy of the description.
    fn clone_box(&self) -> Box<dyn Description>;
}

impl<M: Model> Description for M {
    fn kind(&self) -> &str {
        M::NAME
    }

    fn to_table(&self) -> Table {
        Params::to_table(self)
    }

    fn device(&self) -> Result<Box<dyn Device>> {
        Model::device(self)
    }

    fn device_on_bus(&self, bus: &Bus) -> Result<Option<Box<dyn Device>>> {
        M::BUS_CONSTRUCTOR.map(|device| device(self, bus)).transpose()
    }

    fn idle_timeout_ms(&self) -> f64 {
        Model::idle_timeout_ms(self)
    }

    fn units(&self) -> Result<Option<Units>> {
        Model::units(self)
    }

    fn remembers_writes(&self) -> bool {
        M::REMEMBERS_WRITES
    }

    fn seek_map(&self, from: DeviceState, watch: &mut dyn FnMut() -> Result<()>) -> Result<Option<SeekMap>> {
        M::SEEK_MAP.map(|map| map(self, from, watch)).transpose()
    }

    fn attach(&mut self, host: &HostParams) -> bool {
        M::ATTACH.map(|attach| attach(self, host)).is_some()
    }

    fn clone_box(&self) -> Box<dyn Description> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Description> {
    fn clone(&self) -> Self {
        (**self).clone_box()
    }
}

impl PartialEq for dyn Description + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.kind() == other.kind() && self.to_table() == other.to_table()
    }
}

/// Reads the parameters of a device from a table.
pub type Make = fn(&Table) -> Result<Box<dyn Description>>;

/// A kind of device that is not in the list.
#[derive(Clone)]
pub struct CustomDevice {
    word: String,
    make: Arc<MakeCustom>,
}

type MakeCustom = dyn Fn(&Table) -> Box<dyn Description> + Send + Sync;

impl CustomDevice {
    /// The kind that device files call `word`; `make` turns their parameters into a description.
    pub fn new(word: &str, make: impl Fn(&Table) -> Box<dyn Description> + Send + Sync + 'static) -> Self {
        CustomDevice { word: word.to_owned(), make: Arc::new(make) }
    }
}

impl fmt::Debug for CustomDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word)
    }
}

/// Further properties of a kind of device in the list.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// [`Model::STATES`].
    pub states: States,
    /// [`Model::POSITIONING`].
    pub positioning: PositioningParts,
    /// [`Model::PRESETS`].
    pub presets: &'static [(&'static str, &'static str)],
    /// [`Model::IMPORTER`].
    pub importer: Option<Importer>,
    /// Whether devices of this kind have seek-time maps.
    pub has_seek_map: bool,
    /// Whether devices of this kind can share a bus.
    pub shares_bus: bool,
}

/// A kind of device in the list.
pub type Entry = registry::Entry<Make, Facts>;

const fn entry<M: Model>() -> Entry {
    Entry {
        name: M::NAME,
        aliases: &[],
        meaning: registry::one_line(M::MEANING),
        facts: Facts {
            states: M::STATES,
            positioning: M::POSITIONING,
            presets: M::PRESETS,
            // The web page has no parameter files to import devices from.
            importer: if cfg!(target_family = "wasm") { None } else { M::IMPORTER },
            has_seek_map: M::SEEK_MAP.is_some(),
            shares_bus: M::BUS_CONSTRUCTOR.is_some(),
        },
        specs: M::specs,
        resolve: registry::resolve::<M>,
        make: |table| Ok(Box::new(M::from_table(PATH, table)?)),
    }
}

/// Every kind of device.
pub static LIST: Registry<Make, Facts> = Registry {
    noun: "device kind",
    path: PATH,
    example: "ram:access_us=2",
    extra_words: &[],
    entries: &[
        // In the order in which lists show them.
        entry::<mems::MemsParams>(),
        entry::<disk::DiskParams>(),
        entry::<ssd::SsdParams>(),
        entry::<ram::RamParams>(),
    ],
};

/// For messages: the `kind` lines of device files for those kinds whose properties satisfy `has_property`.
pub fn format_kinds(has_property: impl Fn(&Facts) -> bool) -> String {
    let kinds = LIST.iter().filter(|kind| has_property(&kind.facts));
    let lines: Vec<String> = kinds.map(|kind| format!("`kind = \"{}\"`", kind.name)).collect();
    match lines.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => lines.concat(),
    }
}

/// The name of the configuration table, for messages.
const PATH: &str = "device";

/// Builds the device that a file or preset describes.
///
/// # Errors
/// Parameters that contradict each other.
pub fn build(description: &DeviceFile) -> Result<Box<dyn Device>> {
    description.params.device()
}

/// Builds the device that a file or preset describes, on a bus shared with other devices.
///
/// # Errors
/// A kind of device that cannot share a bus, and parameters that contradict each other.
pub fn build_on_bus(bus: &Bus, description: &DeviceFile) -> Result<Box<dyn Device>> {
    description.params.device_on_bus(bus)?.ok_or_else(|| {
        let (kind, others) = (description.params.kind(), format_kinds(|facts| facts.shares_bus));
        Error::user(format!("system.bus = \"shared\": a device of kind `{kind}` cannot share a bus"))
            .with_remedy(format!("set system.bus = \"own\", or choose a device with {others}"))
    })
}
