//! Hybrids: a small fast device in front of a large slow one, as one.
//!
//! Adding a hybrid is one file or folder and one line in [`LIST`], which feeds the command line, the Python API, the
//! docs and the conformance tests.

mod blocks;
mod buffer;
mod caching_disk;
mod io;
mod mirror;
mod streams;
mod system;
mod write_buffer;

use serde::Serialize;
use sledlab_core::params::Params;
use sledlab_core::registry::{self, Chosen, Registry};
use sledlab_core::{Error, Result};
use toml::Table;

use self::io::Io;
use self::system::{HybridSystem, Logic};
use crate::replacement;
use crate::system::System;

/// Blocks of a kilobyte of 1024 bytes.
const KB_BLOCKS: u64 = 2;
/// Blocks of a megabyte of 2^20 bytes, as paper 001 counts them.
const MB_BLOCKS: f64 = 2048.0;

/// Accesses to one of the devices of a hybrid (MT-12).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Reads.
    pub reads: u64,
    /// Blocks of them.
    pub read_blocks: u64,
    /// Writes.
    pub writes: u64,
    /// Blocks of them.
    pub written_blocks: u64,
}

/// What a hybrid has done. Requests count once for every segment that they touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct HybridCounts {
    /// Reads.
    pub reads: u64,
    /// Those of them that found all they wanted on the front device.
    pub read_hits: u64,
    /// Writes.
    pub writes: u64,
    /// Those of them that found room at once: in a caching disk, those whose segment had a slot.
    pub write_hits: u64,
    /// Blocks that the host wrote.
    pub written_blocks: u64,
    /// Blocks that the host wrote while an older version was not on the back device yet, which therefore never got
    /// there.
    pub superseded_blocks: u64,
    /// Blocks that went to the back device because the host had written them.
    pub destaged_blocks: u64,
    /// Blocks that have yet to go there.
    pub dirty_blocks: u64,
    /// Share of the room on the front device that holds data somebody may ask for.
    pub live_share: f64,
    /// Reads that went past the front device because they were part of a stream.
    pub bypassed: u64,
    /// Accesses to the front device.
    pub front: Traffic,
    /// Accesses to the back device.
    pub back: Traffic,
    /// Energy of what the devices did for no single request, in joules.
    pub background_j: f64,
}

impl std::ops::AddAssign for HybridCounts {
    /// Of several hybrids alike.
    fn add_assign(&mut self, other: HybridCounts) {
        self.reads += other.reads;
        self.read_hits += other.read_hits;
        self.writes += other.writes;
        self.write_hits += other.write_hits;
        self.written_blocks += other.written_blocks;
        self.superseded_blocks += other.superseded_blocks;
        self.destaged_blocks += other.destaged_blocks;
        self.dirty_blocks += other.dirty_blocks;
        self.live_share += other.live_share;
        self.bypassed += other.bypassed;
        self.front += other.front;
        self.back += other.back;
        self.background_j += other.background_j;
    }
}

impl std::ops::AddAssign for Traffic {
    fn add_assign(&mut self, other: Traffic) {
        self.reads += other.reads;
        self.read_blocks += other.read_blocks;
        self.writes += other.writes;
        self.written_blocks += other.written_blocks;
    }
}

/// The devices of a hybrid, which keeps contents where both do.
pub struct HybridDevices {
    /// The small and fast one.
    pub front: Box<dyn System>,
    /// The large one.
    pub back: Box<dyn System>,
}

/// What a hybrid is: one implementation for each file of this folder.
trait Model: Logic + Sized + 'static {
    /// The parameters, declared with [`sledlab_core::params!`].
    type Params: Params;
    /// Name in configurations.
    const NAME: &'static str;
    /// One line for people.
    const MEANING: &'static str;

    /// A hybrid of devices with so many blocks, with nothing on the front device.
    fn new(
        params: &Self::Params,
        capacities: Capacities,
        policies: &[replacement::CustomPolicy],
    ) -> Result<Self>;
}

/// How many blocks the devices of a hybrid have.
#[derive(Clone, Copy, Debug)]
struct Capacities {
    front: u64,
    back: u64,
}

/// Makes a hybrid of a table of parameters and its devices, which may name one of some replacement policies that are
/// not in the list.
pub type Make = fn(&Table, HybridDevices, &[replacement::CustomPolicy]) -> Result<Box<dyn System>>;

/// A hybrid in the list.
pub type Entry = registry::Entry<Make>;

const fn of<M: Model>() -> Entry {
    Entry {
        name: M::NAME,
        aliases: &[],
        meaning: registry::one_line(M::MEANING),
        facts: (),
        specs: M::Params::specs,
        resolve: registry::resolve::<M::Params>,
        make: |table, devices, policies| {
            let params = M::Params::from_table(PATH, table)?;
            let HybridDevices { front, back } = devices;
            let capacities = Capacities { front: front.capacity_blocks(), back: back.capacity_blocks() };
            let logic = M::new(&params, capacities, policies)?;
            Ok(Box::new(HybridSystem::new(logic, Io::new(front, back))))
        },
    }
}

/// Every hybrid.
pub static LIST: Registry<Make> = Registry {
    noun: "hybrid",
    path: PATH,
    example: "caching-disk:segment_kb=64",
    also: &[Choice::NONE],
    entries: &[of::<caching_disk::CachingDisk>(), of::<write_buffer::WriteBuffer>(), of::<mirror::Mirror>()],
};

/// The name of the configuration table, for messages.
const PATH: &str = "hybrid";

/// A hybrid with all its parameters.
#[derive(Clone, Debug)]
pub struct Choice {
    chosen: Chosen<Make>,
    /// Replacement policies that it may name and that are not in the list.
    policies: Vec<replacement::CustomPolicy>,
}

impl Choice {
    /// The name of no hybrid: the device stands alone.
    pub const NONE: &'static str = "none";

    /// A hybrid from `name:key=value:key=value`, with further `params`; `None` for [`Choice::NONE`].
    ///
    /// # Errors
    /// Unknown names and keys, values out of range, and a word that is not of that form.
    pub fn parse(word: &str, params: Table) -> Result<Option<Self>> {
        let (name, mut said) = LIST.parse(word)?;
        said.extend(params);
        if name == Choice::NONE {
            return match said.keys().next() {
                None => Ok(None),
                Some(key) => Err(Error::user(format!("hybrid.{key} has no meaning without a hybrid"))
                    .with_remedy("say hybrid.kind, for example hybrid.kind = \"caching-disk\"")),
            };
        }
        LIST.choose(&name, &said).map(|chosen| Some(Choice { chosen, policies: Vec::new() }))
    }

    /// The same that may name one of some replacement policies that are not in the list.
    #[must_use]
    pub fn with_policies(self, policies: Vec<replacement::CustomPolicy>) -> Self {
        Choice { policies, ..self }
    }

    /// The hybrid of these devices, with nothing on the front one.
    ///
    /// # Errors
    /// Parameters that do not fit together or the devices.
    pub fn make(&self, devices: HybridDevices) -> Result<Box<dyn System>> {
        (self.chosen.entry.make)(&self.chosen.params, devices, &self.policies)
    }

    /// The configuration table that says all of it.
    pub fn to_table(&self) -> Table {
        self.chosen.to_table()
    }
}

/// Blocks of the front device that are used: `front_mb` of it, or all where that is 0.
fn front_room(front_mb: f64, front_blocks: u64) -> Result<u64> {
    if front_mb <= 0.0 {
        return Ok(front_blocks);
    }
    let wanted = (front_mb * MB_BLOCKS) as u64;
    if wanted > front_blocks {
        let most = front_blocks as f64 / MB_BLOCKS;
        return Err(Error::user(format!(
            "hybrid.front_mb = {front_mb} is more than the front device's {most:.0} MiB"
        ))
        .with_remedy("take less, 0 for all of it, or a larger front device"));
    }
    Ok(wanted)
}
