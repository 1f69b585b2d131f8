//! Nodes: a processor, memory, and files on a store; the work of jobs is counted in operations and bytes.
//!
//! A node handles no events: [`Node`] turns operations into cycles, [`Files`] places pages on the store, and [`Pages`]
//! is the order in which an access touches them. The event loop of a cluster uses all three.

mod accesses;
mod files;
pub mod preset;

pub use accesses::{AccessOrder, Pages};
pub use files::Files;

use sledlab_core::params::Params;
use sledlab_core::{Error, Result};
use toml::{Table, Value};

/// Bytes of a KB, in which sizes of memory and pages are given.
pub const KB: u64 = 1024;

sledlab_core::params! {
    /// A node: processor, memory, placement of files on its store, and costs of its software.
    pub struct NodeParams {
        /// Clock of a core.
        mhz: f64 = 500.0, "MHz", 0.001..1e7;
        /// Cores; the work of a page is shared among them.
        cores: u64 = 1_u64, "", 1..4096;
        /// Memory of a node.
        memory_mb: f64 = 64.0, "MiB", 0.001..1e9;
        /// Memory that the operating system uses.
        system_kb: u64 = 450_u64, "KB", 0..1_000_000_000;
        /// Time to start a job, once.
        startup_ms: f64 = 0.0, "ms", 0.0..1e9;
        /// Size of a page, the unit of reads and writes.
        page_kb: u64 = 8_u64, "KB", 1..1_048_576;
        /// Size of the pieces of files that are scattered over the store; 0 for contiguous files.
        extent_kb: u64 = 0_u64, "KB", 0..1_048_576;
        /// Time of software before each request to the store; counts as time of the store.
        request_us: f64 = 0.0, "us", 0.0..1e9;
        /// Times of software in phases where it is not `request_us`, such as `merge=1350,nested loop=420`.
        phase_request_us: String = "", "us";
        /// Page cache of the operating system (LRU), in addition to `memory_mb`; a page in it is read in `request_us`.
        page_cache_mb: f64 = 0.0, "MiB", 0.0..1e6;
        /// Pages read ahead and written behind, so that work overlaps; 0 does one thing at a time.
        prefetch_pages: u64 = 0_u64, "", 0..65_536;
        /// Result pages that a step collects and then writes one after the other; 1 writes each page when it is due.
        write_batch_pages: u64 = 1_u64, "", 1..65_536;
        /// Block of the outer file that a nested loop keeps in memory; 0 uses all free memory.
        block_kb: u64 = 0_u64, "KB", 0..1_073_741_824;
        /// Size of a message if the work record does not set it.
        message_kb: u64 = 8_u64, "KB", 1..1_048_576;
        /// Cycles of software for a message, at either end.
        message_cycles: f64 = 0.0, "cycles", 0.0..1e12;
        /// Cycles of software for a byte that is sent or received, at either end.
        byte_cycles: f64 = 0.0, "cycles", 0.0..1e9;
        /// Whether communication is also charged for tuples that stay on the node, in proportion to their bytes.
        packs_own_tuples: bool = false;
        /// Power of the processor while it works.
        processor_active_w: f64 = 0.0, "W", 0.0..1e6;
        /// Power of the processor while it waits.
        processor_idle_w: f64 = 0.0, "W", 0.0..1e6;
        /// Power of the memory.
        memory_w: f64 = 0.0, "W", 0.0..1e6;
    }
}

/// Keys of a node file that are not parameters.
const NAME: &str = "name";
const DESCRIPTION: &str = "description";
/// Cycles of each kind of operation.
const CYCLES: &str = "cycles";
/// Kinds of operation that count as network instead of compute.
const COMMUNICATION: &str = "communication";

/// The contents of a node file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// Name of the node in tables and reports; may be empty.
    pub name: String,
    /// One-line description for help texts and docs.
    pub description: String,
    /// The parameters of the node.
    pub params: NodeParams,
    /// The times of the parameter `phase_request_us`, by phase.
    phase_request_us: Vec<(String, f64)>,
    /// Cycles by kind of operation, in the order of the file.
    cycles: Vec<(String, f64)>,
    /// Kinds of operation that prepare messages to send, or take in received ones.
    communication: Vec<String>,
}

impl Node {
    /// Reads the table of a node file.
    ///
    /// # Errors
    /// Unknown keys, values out of range, and cycles that are no positive numbers.
    pub fn from_table(table: &Table) -> Result<Self> {
        let mut params = table.clone();
        let mut text = |key: &str| match params.remove(key) {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text),
            Some(other) => Err(Error::user(format!("node.{key}: expected text, found `{other}`"))),
        };
        let (name, description) = (text(NAME)?, text(DESCRIPTION)?);
        let cycles = cycles(params.remove(CYCLES))?;
        let communication = communication(params.remove(COMMUNICATION))?;
        let params = NodeParams::from_table("node", &params)?;
        let phase_request_us = phase_request_us(&params.phase_request_us)?;
        let node = Node { name, description, params, phase_request_us, cycles, communication };
        if node.memory_bytes() == 0 {
            return Err(Error::user(format!(
                "node.memory_mb = {}: the operating system uses all of it",
                node.params.memory_mb
            ))
            .with_remedy("make node.memory_mb larger, or node.system_kb smaller"));
        }
        Ok(node)
    }

    /// The complete table of the node file.
    pub fn to_table(&self) -> Table {
        let mut table = Table::new();
        let texts = [(NAME, &self.name), (DESCRIPTION, &self.description)];
        let nonempty_texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
        table.extend(nonempty_texts.map(|(key, text)| (key.to_owned(), Value::from(text.as_str()))));
        table.extend(self.params.to_table());
        let kinds = self.communication.iter().map(|kind| Value::from(kind.as_str()));
        table.insert(COMMUNICATION.to_owned(), Value::Array(kinds.collect()));
        let cycles = self.cycles.iter().map(|(kind, cycles)| (kind.clone(), Value::from(*cycles)));
        table.insert(CYCLES.to_owned(), Value::Table(cycles.collect()));
        table
    }

    /// Every kind of operation that the node has cycles for: its name, its cycles, and whether it counts as network.
    pub fn kinds(&self) -> impl Iterator<Item = (&str, f64, bool)> {
        self.cycles.iter().map(|(kind, cycles)| (kind.as_str(), *cycles, self.communication.contains(kind)))
    }

    /// Cycles of one operation of this kind, and whether it counts as network.
    ///
    /// # Errors
    /// A kind that the node has no cycles for.
    pub fn cycles(&self, kind: &str) -> Result<(f64, bool)> {
        let operation = self.kinds().find(|(known, ..)| *known == kind);
        operation.map(|(_, cycles, is_network)| (cycles, is_network)).ok_or_else(|| {
            let known: Vec<&str> = self.kinds().map(|(kind, ..)| kind).collect();
            Error::user(format!("the node has no cycles for the operation `{kind}`")).with_remedy(format!(
                "set them, for example node.cycles.{kind}=1000; known: {}",
                known.join(", ")
            ))
        })
    }

    /// Cycles of all cores of the node in a nanosecond.
    pub fn cycles_per_ns(&self) -> f64 {
        self.params.mhz * self.params.cores as f64 / 1e3
    }

    /// Time of software before each request of a phase, in us.
    pub fn request_us(&self, phase: &str) -> f64 {
        let special = self.phase_request_us.iter().find(|(name, _)| name == phase);
        special.map_or(self.params.request_us, |(_, us)| *us)
    }

    /// Bytes of a page.
    pub fn page_bytes(&self) -> u64 {
        self.params.page_kb * KB
    }

    /// Bytes of memory that are free for jobs.
    pub fn memory_bytes(&self) -> u64 {
        ((self.params.memory_mb * (KB * KB) as f64) as u64).saturating_sub(self.params.system_kb * KB)
    }

    /// Returns the bytes of the outer file of a nested loop that are in memory at once: `block_kb`, or all free memory
    /// except a page each for the inner file and the result.
    pub fn block_bytes(&self) -> u64 {
        let page = self.page_bytes();
        let free_bytes = self.memory_bytes().saturating_sub(2 * page);
        let block_bytes = if self.params.block_kb == 0 { free_bytes } else { self.params.block_kb * KB };
        block_bytes.div_euclid(page).max(1) * page
    }
}

fn cycles(value: Option<Value>) -> Result<Vec<(String, f64)>> {
    let table = match value {
        None => Table::new(),
        Some(Value::Table(table)) => table,
        Some(other) => return Err(Error::user(format!("node.{CYCLES}: expected a table, found `{other}`"))),
    };
    let read = |(kind, value): (String, Value)| {
        let number = value.as_float().or_else(|| value.as_integer().map(|number| number as f64));
        match number.filter(|cycles| (0.0..=1e15).contains(cycles)) {
            Some(cycles) => Ok((kind, cycles)),
            None => Err(Error::user(format!("node.{CYCLES}.{kind}: expected cycles, found `{value}`"))
                .with_remedy("choose a number from 0 to 1e15")),
        }
    };
    table.into_iter().map(read).collect()
}

fn phase_request_us(text: &str) -> Result<Vec<(String, f64)>> {
    let parse = |entry: &str| {
        let parts = entry.rsplit_once('=').map(|(phase, us)| (phase.trim(), us.trim().parse::<f64>()));
        match parts {
            Some((phase, Ok(us))) if !phase.is_empty() && (0.0..=1e9).contains(&us) => {
                Ok((phase.to_owned(), us))
            }
            _ => Err(Error::user(format!("node.phase_request_us: expected PHASE=US, found `{entry}`"))
                .with_remedy(
                    "write phases and times of 0 to 1e9 us, for example \"merge=1350,nested loop=420\"",
                )),
        }
    };
    text.split(',').filter(|entry| !entry.trim().is_empty()).map(parse).collect()
}

fn communication(value: Option<Value>) -> Result<Vec<String>> {
    let error = |other: &Value| {
        Error::user(format!("node.{COMMUNICATION}: expected a list of kinds, found `{other}`"))
    };
    match value {
        None => Ok(Vec::new()),
        Some(Value::Array(kinds)) => {
            kinds.iter().map(|kind| kind.as_str().map(str::to_owned).ok_or_else(|| error(kind))).collect()
        }
        Some(other) => Err(error(&other)),
    }
}
