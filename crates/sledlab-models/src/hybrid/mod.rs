//! Hybrids: a small fast front device and a large slow back device that act as one.
//!
//! A new hybrid takes one file or folder and one line in [`LIST`]. The command line, the Python API, the docs and the
//! conformance tests read that list.

mod blocks;
mod buffer;
mod caching_disk;
mod io;
mod mirror;
mod streams;
mod system;
mod write_buffer;

use sledlab_core::params::Params;
use sledlab_core::registry::{self, ConfiguredModel, Registry};
use sledlab_core::{Error, Result};
use toml::Table;

use self::io::Io;
use self::system::{HybridSystem, Logic};
use crate::replacement;
use crate::system::System;

/// Blocks of a kilobyte of 1024 bytes.
const KB_BLOCKS: u64 = 2;
/// Blocks of a megabyte of 2^20 bytes, as Wang 2005 counts them.
const MB_BLOCKS: f64 = 2048.0;

/// The devices of a hybrid. The hybrid keeps contents where both devices do.
pub struct HybridDevices {
    /// The small fast device.
    pub front: Box<dyn System>,
    /// The large slow device, whose address space the host sees.
    pub back: Box<dyn System>,
}

/// A kind of hybrid; each file of this folder implements one.
trait Model: Logic + PlantDefect + Sized + 'static {
    /// The parameters, declared with [`sledlab_core::params!`].
    type Params: Params;
    /// Name in configurations.
    const NAME: &'static str;
    /// One-line description for help texts and docs.
    const MEANING: &'static str;

    /// A hybrid of devices with these capacities, with nothing on the front device.
    fn new(
        params: &Self::Params,
        capacities: Capacities,
        policies: &[replacement::CustomPolicy],
    ) -> Result<Self>;
}

/// A defect that tests plant, to check that they find it.
trait PlantDefect {
    /// From now on the hybrid reuses room before the data in it are durable elsewhere.
    fn free_early(&mut self);
}

/// Blocks of the two devices of a hybrid.
#[derive(Clone, Copy, Debug)]
struct Capacities {
    front: u64,
    back: u64,
}

/// Makes a hybrid from a table of parameters and its devices; the parameters may name one of the given replacement
/// policies that are plug-ins.
pub type Make = fn(&Table, HybridDevices, &[replacement::CustomPolicy]) -> Result<Box<dyn System>>;

/// Properties of a hybrid in the list.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Makes a hybrid with a planted defect; see [`Choice::make_freeing_early`].
    make_freeing_early: Make,
}

/// A hybrid in the list.
pub type Entry = registry::Entry<Make, Facts>;

const fn entry<M: Model>() -> Entry {
    Entry {
        name: M::NAME,
        aliases: &[],
        meaning: registry::one_line(M::MEANING),
        facts: Facts { make_freeing_early: make::<M, true> },
        specs: M::Params::specs,
        resolve: registry::resolve::<M::Params>,
        make: make::<M, false>,
    }
}

fn make<M: Model, const FREES_EARLY: bool>(
    table: &Table,
    devices: HybridDevices,
    policies: &[replacement::CustomPolicy],
) -> Result<Box<dyn System>> {
    let params = M::Params::from_table(PATH, table)?;
    let HybridDevices { front, back } = devices;
    let capacities = Capacities { front: front.capacity_blocks(), back: back.capacity_blocks() };
    let mut logic = M::new(&params, capacities, policies)?;
    if FREES_EARLY {
        logic.free_early();
    }
    Ok(Box::new(HybridSystem::new(logic, Io::new(front, back))))
}

/// Every hybrid.
pub static LIST: Registry<Make, Facts> = Registry {
    noun: "hybrid",
    path: PATH,
    example: "caching-disk:segment_kb=64",
    extra_words: &[Choice::NONE],
    entries: &[
        entry::<caching_disk::CachingDisk>(),
        entry::<write_buffer::WriteBuffer>(),
        entry::<mirror::Mirror>(),
    ],
};

/// The name of the configuration table, for messages.
const PATH: &str = "hybrid";

/// A hybrid with all its parameters.
#[derive(Clone, Debug)]
pub struct Choice {
    chosen: ConfiguredModel<Make, Facts>,
    /// Plug-in replacement policies that the parameters may name.
    policies: Vec<replacement::CustomPolicy>,
}

impl Choice {
    /// The name that stands for no hybrid: the device is used alone.
    pub const NONE: &'static str = "none";

    /// A hybrid from `name:key=value:key=value`, with further `params`; `None` for [`Choice::NONE`].
    ///
    /// # Errors
    /// Unknown names and keys, values out of range, and a word that is not of that form.
    pub fn parse(word: &str, params: Table) -> Result<Option<Self>> {
        let (name, mut table) = LIST.parse(word)?;
        table.extend(params);
        if name.eq_ignore_ascii_case(Choice::NONE) {
            return match table.keys().next() {
                None => Ok(None),
                Some(key) => Err(Error::user(format!("hybrid.{key} has no meaning without a hybrid"))
                    .with_remedy("set hybrid.kind, for example hybrid.kind = \"caching-disk\"")),
            };
        }
        LIST.choose(&name, &table).map(|chosen| Some(Choice { chosen, policies: Vec::new() }))
    }

    /// Returns this choice with plug-in replacement policies that its parameters may name.
    #[must_use]
    pub fn with_policies(self, policies: Vec<replacement::CustomPolicy>) -> Self {
        Choice { policies, ..self }
    }

    /// The hybrid of these devices, with nothing on the front device.
    ///
    /// # Errors
    /// Parameters that contradict each other, or that do not fit the devices.
    pub fn make(&self, devices: HybridDevices) -> Result<Box<dyn System>> {
        (self.chosen.entry.make)(&self.chosen.params, devices, &self.policies)
    }

    /// Returns this hybrid with a planted defect that tests must detect: it reuses space before the data there are
    /// durable elsewhere.
    ///
    /// # Errors
    /// As of [`make`](Choice::make).
    pub fn make_freeing_early(&self, devices: HybridDevices) -> Result<Box<dyn System>> {
        (self.chosen.entry.facts.make_freeing_early)(&self.chosen.params, devices, &self.policies)
    }

    /// The configuration table with all parameters.
    pub fn to_table(&self) -> Table {
        self.chosen.to_table()
    }
}

/// Blocks of the front device that are used: `front_mb` of it, or all where that is 0.
fn front_capacity(front_mb: f64, front_blocks: u64) -> Result<u64> {
    if front_mb <= 0.0 {
        return Ok(front_blocks);
    }
    let used_blocks = (front_mb * MB_BLOCKS) as u64;
    if used_blocks > front_blocks {
        let max_mb = front_blocks as f64 / MB_BLOCKS;
        return Err(Error::user(format!(
            "hybrid.front_mb = {front_mb} is more than the front device's {max_mb:.0} MiB"
        ))
        .with_remedy("choose less, 0 for the entire device, or a larger front device"));
    }
    Ok(used_blocks)
}
