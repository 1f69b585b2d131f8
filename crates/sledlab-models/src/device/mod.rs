//! Devices: geometry, mechanics and power of what stores the blocks.
//!
//! A kind of device is a folder. Adding one is a folder and a line in [`LIST`], which feeds device files, the command
//! line, the Python API, the docs and the conformance tests. What a kind has to tell is its [`Model`], on the parameters;
//! what it does are its [`Device`] and [`Mechanics`].

mod bus;
pub mod disk;
pub mod disksim;
mod faults;
mod grid;
pub mod host;
mod mechanics;
pub mod mems;
mod position_index;
pub mod preset;
pub mod ram;
mod seek_map;
mod service;
pub mod ssd;
mod turning;
mod units;
mod way;
mod words;

use std::fmt;
use std::sync::Arc;

use sledlab_core::params::Params;
use sledlab_core::registry::{self, Registry};
use sledlab_core::{Error, Result, Time};
use toml::Table;

pub use self::bus::{Bus, OnBus};
pub use self::faults::{FailedDevice, FaultCounts};
pub use self::grid::Grid;
pub use self::mechanics::{DeviceState, Extent, Location, Mechanics, QueueOrder};
pub use self::position_index::{Aim, Crowd, PositionIndex, Score, Stretch};
pub use self::seek_map::{Mapping, SeekMap};
pub use self::service::{Busy, MechanicalWork, Queued, Rest, Served, Timing};
pub use self::turning::Turning;
pub use self::units::{UnitMap, UnitRun, Units};
pub use self::way::{Leg, Motion, Way};
pub use self::words::{Positioning, States};

use self::disksim::Importer;
use self::host::HostParams;
use self::preset::DeviceFile;

/// What stores the blocks: its mechanics and what happens around them.
///
/// A simple device answers [`issue`](Device::issue) with everything that will happen. A device
/// with work of its own (a bus, read-ahead) also says when it wants to be woken. No method has a default that a wrapper
/// could forget to forward.
pub trait Device: Send {
    /// Geometry, motion and power.
    fn mechanics(&self) -> &dyn Mechanics;

    /// What serving `request` at `now` would take, in every part. Pure; [`issue`](Device::issue) agrees with it.
    fn probe(&self, now: Time, request: &Queued) -> Timing;

    /// A choice is about to be made at `now`: [`mechanics`](Device::mechanics) is to judge requests as of then, where
    /// that makes a difference.
    fn tell_time(&mut self, now: Time);

    /// A command reaches the device; returns when the mechanism may select it (`now` or later), or [`Time::MAX`] if
    /// [`let_in`](Device::let_in) will tell.
    fn admit(&mut self, now: Time, request: &Queued) -> Time;

    /// The next command that the mechanism may select from now on, of those whose [`admit`](Device::admit) did not tell;
    /// asked whenever the device was woken.
    fn let_in(&mut self) -> Option<Queued>;

    /// Starts serving `batch` on an idle mechanism: together what one pass can serve, the rest as it gets to it.
    ///
    /// Requests whose completion is certain are appended to `served` in order of completion. Returns until
    /// when the mechanism is busy, or `None` if [`wake`](Device::wake) will tell.
    fn issue(&mut self, now: Time, batch: &[Queued], served: &mut Vec<Served>) -> Option<Busy>;

    /// Whether it may be issued another batch although it has not told that it is free: whether commands are in it at
    /// once. Only a device that leaves all it does to [`wake`](Device::wake) takes more; it is free when none is left.
    fn takes_more(&self) -> bool;

    /// Whether the device has work of its own or delays commands: whether [`admit`](Device::admit),
    /// [`next_wakeup`](Device::next_wakeup) and [`wake`](Device::wake) do anything.
    fn has_own_work(&self) -> bool;

    /// When the device wants to be woken for work of its own.
    fn next_wakeup(&self) -> Option<Time>;

    /// Does the device's own work that is due at `now`. When the mechanism becomes free, returns what it
    /// did since it was issued its last batch.
    fn wake(&mut self, now: Time, served: &mut Vec<Served>) -> Option<MechanicalWork>;

    /// What of it has failed, and what came of that, where something can fail.
    fn faults(&self) -> Option<FaultCounts>;

    /// From now on nobody asks what requests cost, as far as the device can do without.
    fn forgo_energy(&mut self);

    /// The mechanism has rested and is about to move again.
    fn rest(&mut self, rest: Rest);

    /// Why it has given up, if it has: a device that somebody else wrote may fail. Asked now and then, told once.
    fn failure(&mut self) -> Option<Error>;
}
/// What a kind of device is: one implementation for each folder here, on its parameters.
pub trait Model: Params + Clone + fmt::Debug + Send + Sync + 'static {
    /// Name in device files, after `kind`.
    const NAME: &'static str;
    /// One line for people.
    const MEANING: &'static str;
    /// What it does in each state of power.
    const STATES: States;
    /// How the positioning of an access is made up.
    const POSITIONING: Positioning;
    /// Whether something spins: studies of load let it spin from the beginning, so that no request waits for that.
    const SPINS: bool = false;
    /// The devices of this kind that come with sledlab, by name: their files.
    const PRESETS: &'static [(&'static str, &'static str)] = &[];
    /// How such a device is read from a parameter file of the reference simulator, where that knows them.
    const IMPORTER: Option<Importer> = None;
    /// How a seek-time map is made, where there is something to show.
    const SEEK_MAP: Option<Mapping<Self>> = None;
    /// How such a device is attached to a host, where hosts make a difference.
    const ATTACH: Option<fn(&mut Self, &HostParams)> = None;
    /// The device on a bus that others have at other times, where it can share one.
    const ON_BUS: Option<OnBus<Self>> = None;

    /// The device, in the state in which runs begin.
    ///
    /// # Errors
    /// Parameters that make no sense together.
    fn device(&self) -> Result<Box<dyn Device>>;

    /// Idle time after which it parks of its own accord.
    fn idle_timeout_ms(&self) -> f64;

    /// The units of a device of several that move each on their own.
    ///
    /// # Errors
    /// Parameters that make no sense together.
    fn units(&self) -> Result<Option<Units>> {
        Ok(None)
    }
}

/// The parameters of a device of whatever kind: every [`Model`] is one.
pub trait Description: fmt::Debug + Send + Sync {
    /// The word after `kind`.
    fn kind(&self) -> &str;
    /// All parameters.
    fn to_table(&self) -> Table;
    /// [`Model::device`].
    ///
    /// # Errors
    /// Parameters that make no sense together.
    fn device(&self) -> Result<Box<dyn Device>>;
    /// [`Model::ON_BUS`].
    ///
    /// # Errors
    /// Parameters that make no sense together.
    fn device_on(&self, bus: &Bus) -> Result<Option<Box<dyn Device>>>;
    /// [`Model::idle_timeout_ms`].
    fn idle_timeout_ms(&self) -> f64;
    /// [`Model::units`].
    ///
    /// # Errors
    /// Parameters that make no sense together.
    fn units(&self) -> Result<Option<Units>>;
    /// The seek-time map from a state, where this kind of device has one; `watch` is asked before every step.
    ///
    /// # Errors
    /// A state that the mechanism cannot be in, parameters that make no sense together, and what `watch` returns.
    fn seek_map(&self, from: DeviceState, watch: &mut dyn FnMut() -> Result<()>) -> Result<Option<SeekMap>>;
    /// Attaches it to a host; false where hosts make no difference.
    fn attach(&mut self, host: &HostParams) -> bool;
    /// The same.
    fn boxed(&self) -> Box<dyn Description>;
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

    fn device_on(&self, bus: &Bus) -> Result<Option<Box<dyn Device>>> {
        M::ON_BUS.map(|device| device(self, bus)).transpose()
    }

    fn idle_timeout_ms(&self) -> f64 {
        Model::idle_timeout_ms(self)
    }

    fn units(&self) -> Result<Option<Units>> {
        Model::units(self)
    }

    fn seek_map(&self, from: DeviceState, watch: &mut dyn FnMut() -> Result<()>) -> Result<Option<SeekMap>> {
        M::SEEK_MAP.map(|map| map(self, from, watch)).transpose()
    }

    fn attach(&mut self, host: &HostParams) -> bool {
        M::ATTACH.map(|attach| attach(self, host)).is_some()
    }

    fn boxed(&self) -> Box<dyn Description> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Description> {
    fn clone(&self) -> Self {
        (**self).boxed()
    }
}

impl PartialEq for dyn Description + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.kind() == other.kind() && self.to_table() == other.to_table()
    }
}

/// Reads the parameters of a device.
pub type Make = fn(&Table) -> Result<Box<dyn Description>>;

/// A kind of device that is not in the list.
#[derive(Clone)]
pub struct CustomDevice {
    word: String,
    make: Arc<MakeCustom>,
}

type MakeCustom = dyn Fn(&Table) -> Box<dyn Description> + Send + Sync;

impl CustomDevice {
    /// The kind that device files call `word`, and what makes a description of their parameters.
    pub fn new(word: &str, make: impl Fn(&Table) -> Box<dyn Description> + Send + Sync + 'static) -> Self {
        CustomDevice { word: word.to_owned(), make: Arc::new(make) }
    }
}

impl fmt::Debug for CustomDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word)
    }
}

/// What else is known of a kind of device.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// [`Model::STATES`].
    pub states: States,
    /// [`Model::POSITIONING`].
    pub positioning: Positioning,
    /// [`Model::SPINS`].
    pub spins: bool,
    /// [`Model::PRESETS`].
    pub presets: &'static [(&'static str, &'static str)],
    /// [`Model::IMPORTER`].
    pub importer: Option<Importer>,
    /// Whether there are seek-time maps of such devices.
    pub has_seek_map: bool,
    /// Whether such devices can share a bus.
    pub shares_bus: bool,
}

/// A kind of device in the list.
pub type Entry = registry::Entry<Make, Facts>;

const fn of<M: Model>() -> Entry {
    Entry {
        name: M::NAME,
        aliases: &[],
        meaning: registry::one_line(M::MEANING),
        facts: Facts {
            states: M::STATES,
            positioning: M::POSITIONING,
            spins: M::SPINS,
            presets: M::PRESETS,
            // A page has no files that one could be imported from.
            importer: if cfg!(target_family = "wasm") { None } else { M::IMPORTER },
            has_seek_map: M::SEEK_MAP.is_some(),
            shares_bus: M::ON_BUS.is_some(),
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
    also: &[],
    entries: &[
        // As lists show them.
        of::<mems::MemsParams>(),
        of::<disk::DiskParams>(),
        of::<ssd::SsdParams>(),
        of::<ram::RamParams>(),
    ],
};

/// The lines of device files for the kinds of device that are so, for messages.
pub fn kinds_that(are_so: impl Fn(&Facts) -> bool) -> String {
    let kinds = LIST.iter().filter(|kind| are_so(&kind.facts));
    let lines: Vec<String> = kinds.map(|kind| format!("`kind = \"{}\"`", kind.name)).collect();
    match lines.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => lines.concat(),
    }
}

/// The name of the configuration table, for messages.
const PATH: &str = "device";

/// Builds the device a file or preset describes.
///
/// # Errors
/// Parameters that make no sense together.
pub fn build(description: &DeviceFile) -> Result<Box<dyn Device>> {
    description.params.device()
}

/// The same on a bus with others.
///
/// # Errors
/// A kind of device that has a bus of its own, and parameters that make no sense together.
pub fn build_on(bus: &Bus, description: &DeviceFile) -> Result<Box<dyn Device>> {
    description.params.device_on(bus)?.ok_or_else(|| {
        let (kind, others) = (description.params.kind(), kinds_that(|facts| facts.shares_bus));
        Error::user(format!("system.bus = \"shared\": a device of kind `{kind}` has a bus of its own"))
            .with_remedy(format!("set system.bus = \"own\", or choose a device with {others}"))
    })
}
