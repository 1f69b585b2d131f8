//! Devices from the parameter files of DiskSim 4.0.
//!
//! A `memsmodel_mems` block becomes a device that behaves as the reference simulator does: its kinematics, direction
//! rule, pipeline, parking and idle drift (the `-disksim` presets are such devices). Properties that this device
//! model lacks are named in comments of the device file.

use std::path::Path;

use sledlab_core::params::Params;
use sledlab_core::{Error, Result};
use toml::Value as Toml;

use super::geometry::Geometry;
use super::kinematics;
use super::params::{
    Direction, DirectionTie, IdleMotion, IdlePower, KinematicsKind, LayoutKind, MemsParams, Parking,
    Pipeline, Selection, SledMap, SledMotion, SpringConvention,
};
use crate::device::disksim::{self, KeyValue, Open, Value, count, number, printable, word};

/// The type of the blocks that describe a MEMS device.
pub(super) const BLOCK: &str = "memsmodel_mems";

/// A device read from a DiskSim parameter file.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedSled {
    /// The name of the device's block.
    pub name: String,
    /// Parameters of the device.
    pub params: MemsParams,
    /// Properties in the file that the device lacks, one sentence each.
    pub remarks: Vec<String>,
}

/// How a DiskSim parameter is imported.
enum Meaning {
    /// A number, times ten to the power given, for a parameter of the device.
    Number(&'static str, i32),
    /// A whole number for a parameter of the device.
    Count(&'static str),
    /// `Seek function`.
    SeekFunction,
    /// `Layout policy`.
    LayoutPolicy,
    /// `Bidirectional access`.
    Bidirectional,
    /// Must be 0: other values are not modelled and would change times. The text gives the reason.
    Zero(&'static str),
    /// Ignored, with a remark that gives the text unless the value is 0 or the text is empty.
    Ignored(&'static str),
    /// The scheduler: an option of the run here, not of the device.
    Scheduler,
}

/// Every parameter of a block. Those that set parameters of the device are required.
const KEYS: [(&str, Meaning); 33] = [
    ("Block count", Meaning::Ignored("")),
    ("Points in precomputed seek curve", Meaning::Zero("precomputed seek curves are not modelled")),
    ("Seek function", Meaning::SeekFunction),
    ("Command overhead", Meaning::Number("command_overhead_ms", 0)),
    ("Bulk sector transfer time", Meaning::Number("block_transfer_us", 3)),
    ("Print stats", Meaning::Ignored("")),
    ("Max queue length", Meaning::Ignored("")),
    ("Number of buffer segments", Meaning::Ignored("the read buffer is not modelled")),
    ("Segment size (in blks)", Meaning::Ignored("")),
    ("Number of sleds", Meaning::Count("sleds")),
    ("Layout policy", Meaning::LayoutPolicy),
    ("Sled movement X", Meaning::Number("travel_x_um", -3)),
    ("Sled movement Y", Meaning::Number("travel_y_um", -3)),
    ("Bit cell length", Meaning::Number("bit_nm", 0)),
    ("Tip sector length", Meaning::Count("tip_sector_bits")),
    ("Servo burst length", Meaning::Count("servo_bits")),
    ("Tip sectors per lbn", Meaning::Count("tips_per_block")),
    ("Number of usable tips", Meaning::Count("usable_tips")),
    ("Simultaneously active tips", Meaning::Count("active_tips")),
    ("Bidirectional access", Meaning::Bidirectional),
    ("Sled acceleration X", Meaning::Number("acceleration_x_m_s2", 0)),
    ("Sled acceleration Y", Meaning::Number("acceleration_y_m_s2", 0)),
    ("Sled access speed", Meaning::Number("tip_rate_kbit_s", -3)),
    ("Sled resonant frequency", Meaning::Number("resonant_hz", 0)),
    ("Settling time constants", Meaning::Number("settle_constants", 0)),
    ("Spring constant factor", Meaning::Number("spring_factor", 0)),
    ("Prefetch depth", Meaning::Ignored("DiskSim itself does not prefetch")),
    ("Time before sled inactive", Meaning::Number("idle_timeout_ms", 0)),
    ("Startup delay", Meaning::Number("startup_ms", 0)),
    ("Sled active power", Meaning::Number("sled_mw", 0)),
    ("Sled inactive power", Meaning::Number("inactive_mw", 0)),
    ("Tip access power", Meaning::Number("tip_mw", 0)),
    ("Scheduler", Meaning::Scheduler),
];

/// Names of the `memsmodel_mems` blocks in a parameter file and in the files that it includes, in order.
pub fn names(text: &str, file: &Path, open: Open) -> Result<Vec<String>> {
    Ok(disksim::read(text, file, BLOCK, open)?.into_iter().map(|block| block.name).collect())
}

/// The device in `text`, a DiskSim parameter file called `file`: that of the block called `name`, or the only one.
/// `open` reads the files that the text names. Errors name file and line.
pub fn import(text: &str, file: &Path, name: Option<&str>, open: Open) -> Result<ImportedSled> {
    let blocks = disksim::read(text, file, BLOCK, open)?;
    let block = disksim::choose(&blocks, BLOCK, file, name)?;
    let mut imported =
        ImportedSled { name: block.name.clone(), params: reference_behaviour(), remarks: Vec::new() };
    block.check_unique()?;
    for entry in &block.entries {
        let read = meaning(entry).and_then(|meaning| imported.apply(entry, meaning));
        read.map_err(|error| entry.error(error))?;
    }
    imported.params.startup_mw = imported.params.sled_mw;
    let at_block = |error| block.error(error);
    missing(&block.entries).map_err(at_block)?;
    // Parameters that only make sense together are checked together here, so that errors name the file.
    Geometry::new(&imported.params).map_err(at_block)?;
    kinematics::build(imported.params.kinematics, &imported.params).map_err(at_block)?;
    Ok(imported)
}

/// Parameters for behaviour that DiskSim gives to every device.
fn reference_behaviour() -> MemsParams {
    MemsParams {
        spring_convention: SpringConvention::Edge,
        direction_tie: DirectionTie::Down,
        selection: Selection::Disksim,
        sled_motion: SledMotion::Independent,
        sled_map: SledMap::Contiguous,
        pipeline: Pipeline::Interleaved,
        parking: Parking::Centre,
        idle_motion: IdleMotion::DisksimDrift,
        idle_power: IdlePower::SledOnly,
        ..MemsParams::default()
    }
}

fn meaning(entry: &KeyValue) -> Result<&'static Meaning> {
    KEYS.iter()
        .find_map(|(key, meaning)| (*key == entry.key).then_some(meaning))
        .ok_or_else(|| Error::unknown("parameter", &entry.key, KEYS.iter().map(|(key, _)| *key)))
}

/// Checks that no required parameter is missing.
fn missing(seen: &[KeyValue]) -> Result<()> {
    let needed = KEYS.iter().filter(|(_, meaning)| {
        !matches!(meaning, Meaning::Zero(_) | Meaning::Ignored(_) | Meaning::Scheduler)
    });
    let missing: Vec<String> = needed
        .filter(|(key, _)| seen.iter().all(|entry| entry.key != *key))
        .map(|(key, _)| format!("`{key}`"))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::user("parameters are missing").with_remedy(format!("add {}", missing.join(", "))))
}

impl ImportedSled {
    fn apply(&mut self, entry: &KeyValue, meaning: &Meaning) -> Result<()> {
        match meaning {
            Meaning::Number(key, power) => {
                self.params.set("device", key, &Toml::Float(number(entry, *power)?))?;
            }
            Meaning::Count(key) => self.params.set("device", key, &Toml::Integer(count(entry)?))?,
            Meaning::SeekFunction => {
                let kinds = [(0, KinematicsKind::DisksimPiecewise), (1, KinematicsKind::DisksimClosed)];
                self.params.kinematics = one_of(entry, kinds)?;
            }
            Meaning::LayoutPolicy => {
                self.params.layout = one_of(entry, [(6, LayoutKind::RowFirst), (7, LayoutKind::Streaming)])?;
            }
            Meaning::Bidirectional => {
                self.params.direction = one_of(entry, [(0, Direction::Up), (1, Direction::Free)])?;
            }
            Meaning::Zero(why) if count(entry)? != 0 => {
                return Err(Error::user(format!("`{}`: {why}", entry.key)).with_remedy("set it to 0"));
            }
            Meaning::Ignored(why) if !why.is_empty() && count(entry)? != 0 => {
                self.remarks.push(format!("`{} = {}` is passed over: {why}.", entry.key, word(entry)?));
            }
            Meaning::Scheduler => self.remark_on_scheduler(entry),
            Meaning::Zero(_) | Meaning::Ignored(_) => {}
        }
        Ok(())
    }

    fn remark_on_scheduler(&mut self, entry: &KeyValue) {
        let Value::Block(block) = &entry.value else { return };
        let policy = block.entries.iter().find(|entry| entry.key == "Scheduling policy");
        if let Some(Value::Words(policy)) = policy.map(|entry| &entry.value) {
            let option = match policy.as_str() {
                "1" => ", here `--scheduler fcfs`",
                "8" => ", here `--scheduler sptf`",
                _ => "",
            };
            self.remarks.push(format!(
                "`Scheduling policy = {policy}`{option}: the scheduler is chosen with the run, not with the device."
            ));
        }
    }

    /// The device as a device file, with its unit and meaning beside every parameter.
    pub fn to_toml(&self, file: &str) -> String {
        let (file, name) = (printable(file), printable(&self.name));
        let description = format!("MEMS sled {name} from {file}, as DiskSim 4.0 models it");
        let mut lines = vec![
            "# A MEMS sled as the reference simulator, DiskSim 4.0, models it.".to_owned(),
            format!("# Imported from block {name} of {file}."),
        ];
        lines.extend(self.remarks.iter().map(|remark| format!("# {}", printable(remark))));
        lines.extend([String::new(), "kind = \"mems\"".to_owned()]);
        lines.extend([format!("description = {}", Toml::String(description)), String::new()]);
        let values = self.params.to_table();
        lines.extend(MemsParams::specs().iter().filter_map(|spec| {
            let setting = format!("{} = {}", spec.name, values.get(spec.name)?);
            let unit = if spec.unit.is_empty() { String::new() } else { format!("{}; ", spec.unit) };
            Some(format!("{setting:<35} # {unit}{}", spec.meaning))
        }));
        lines.join("\n") + "\n"
    }
}

fn one_of<T: Copy, const N: usize>(entry: &KeyValue, known: [(i64, T); N]) -> Result<T> {
    let value = count(entry)?;
    known.iter().find_map(|(number, meaning)| (*number == value).then_some(*meaning)).ok_or_else(|| {
        let numbers: Vec<String> = known.iter().map(|(number, _)| number.to_string()).collect();
        Error::user(format!("`{} = {value}` is not modelled", entry.key))
            .with_remedy(format!("known: {}", numbers.join(", ")))
    })
}
