//! Devices from the parameter files of DiskSim 4.0.
//!
//! A `memsmodel_mems` block becomes a device that behaves as the reference simulator does: its
//! kinematics, direction rule, pipeline, parking and idle drift (the `-disksim` presets are such
//! devices). What this device model does not have is named in comments of the device file.

mod blocks;

use sledlab_core::params::Params;
use sledlab_core::{Error, Result};
use toml::Value as Toml;

use self::blocks::{Block, Entry, Value};
use super::geometry::Geometry;
use super::kinematics;
use super::params::{
    Direction, DirectionTie, IdleMotion, IdlePower, KinematicsKind, LayoutKind, MemsParams, Parking,
    Pipeline, Selection, SledMap, SledMotion, SpringConvention,
};

/// The type of the blocks that describe a MEMS device.
const BLOCK: &str = "memsmodel_mems";

/// A device read from a DiskSim parameter file.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The name of its block.
    pub name: String,
    /// Its parameters.
    pub params: MemsParams,
    /// What the file says and the device does not do, one sentence each.
    pub remarks: Vec<String>,
}

/// What becomes of a DiskSim parameter.
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
    /// Must be 0: something else is not modelled and would change times.
    Zero(&'static str),
    /// Passed over; remarked upon unless it is 0 or the text is empty.
    Ignored(&'static str),
    /// The scheduler: an option of the run here, not of the device.
    Scheduler,
}

/// Every parameter of a block. Those that say something of the device must be there.
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

/// Names of the `memsmodel_mems` blocks in a parameter file, in order.
pub fn names(text: &str, file: &str) -> Result<Vec<String>> {
    Ok(blocks::read(text, file, BLOCK)?.into_iter().map(|block| block.name).collect())
}

/// The device in `text`, a DiskSim parameter file called `file`: that of the block called `name`, or the
/// only one. Errors name the line.
pub fn import(text: &str, file: &str, name: Option<&str>) -> Result<Imported> {
    let blocks = blocks::read(text, file, BLOCK)?;
    let block = choose(&blocks, file, name)?;
    let mut imported =
        Imported { name: block.name.clone(), params: reference_behaviour(), remarks: Vec::new() };
    let mut seen: Vec<&Entry> = Vec::new();
    for entry in &block.entries {
        let meaning = meaning(entry).map_err(|error| entry.error(file, error))?;
        if let Some(first) = seen.iter().find(|seen| seen.key == entry.key) {
            let error = Error::user(format!("`{}` is given twice", entry.key))
                .with_remedy(format!("it is on line {} already", first.line));
            return Err(entry.error(file, error));
        }
        seen.push(entry);
        imported.apply(entry, meaning).map_err(|error| entry.error(file, error))?;
    }
    imported.params.startup_mw = imported.params.sled_mw;
    let at_block = |error: Error| error.at(file, block.line, 0, format!("{BLOCK} {}", block.name).as_bytes());
    missing(&seen).map_err(at_block)?;
    // What only makes sense together is checked together, before anyone simulates with it.
    Geometry::new(&imported.params).map_err(at_block)?;
    kinematics::build(imported.params.kinematics, &imported.params).map_err(at_block)?;
    Ok(imported)
}

fn choose<'a>(blocks: &'a [Block], file: &str, name: Option<&str>) -> Result<&'a Block> {
    let names = || blocks.iter().map(|block| block.name.as_str());
    let Some(name) = name else {
        return match blocks {
            [block] => Ok(block),
            [] => Err(Error::user(format!("{file} has no `{BLOCK}` block")).with_remedy(
                "devices are often in a file that another one names after `source`: import that",
            )),
            several => Err(Error::user(format!("{file} describes {} devices", several.len()))
                .with_remedy(format!("choose one by name: {}", names().collect::<Vec<_>>().join(", ")))),
        };
    };
    let mut called = blocks.iter().filter(|block| block.name == name);
    match (called.next(), called.next()) {
        (Some(block), None) => Ok(block),
        (None, _) if blocks.is_empty() => choose(blocks, file, None),
        (None, _) => Err(Error::unknown("device", name, names())),
        (Some(first), Some(second)) => {
            Err(Error::user(format!("{file} describes two devices called `{name}`"))
                .with_remedy(format!("rename one; they are on lines {} and {}", first.line, second.line)))
        }
    }
}

/// What DiskSim does with every device, whatever its parameters.
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

fn meaning(entry: &Entry) -> Result<&'static Meaning> {
    KEYS.iter()
        .find_map(|(key, meaning)| (*key == entry.key).then_some(meaning))
        .ok_or_else(|| Error::unknown("parameter", &entry.key, KEYS.iter().map(|(key, _)| *key)))
}

/// An error if a parameter that says something of the device is not there.
fn missing(seen: &[&Entry]) -> Result<()> {
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

impl Imported {
    fn apply(&mut self, entry: &Entry, meaning: &Meaning) -> Result<()> {
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

    fn remark_on_scheduler(&mut self, entry: &Entry) {
        let Value::Block(entries) = &entry.value else { return };
        let policy = entries.iter().find(|entry| entry.key == "Scheduling policy");
        if let Some(Value::Word(policy)) = policy.map(|entry| &entry.value) {
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

/// Without the control characters that a comment may not hold.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

fn word(entry: &Entry) -> Result<&str> {
    match &entry.value {
        Value::Word(word) => Ok(word),
        Value::Block(_) | Value::List => Err(Error::user(format!("`{}`: expected a number", entry.key))),
    }
}

/// The value times ten to the power given. The factor goes into the decimal text where it can, so that
/// 0.00512 ms become 5.12 us and not the number next to it.
fn number(entry: &Entry, power: i32) -> Result<f64> {
    let word = word(entry)?;
    let value: f64 = word
        .parse()
        .map_err(|_| Error::user(format!("`{}`: expected a number, found `{word}`", entry.key)))?;
    let scaled = format!("{word}e{power}").parse().unwrap_or_else(|_| value * 10_f64.powi(power));
    if scaled.is_finite() {
        return Ok(scaled);
    }
    Err(Error::user(format!("`{}`: expected a number, found `{word}`", entry.key)))
}

fn count(entry: &Entry) -> Result<i64> {
    let word = word(entry)?;
    word.parse().map_err(|_| Error::user(format!("`{}`: expected a whole number, found `{word}`", entry.key)))
}

fn one_of<T: Copy, const N: usize>(entry: &Entry, known: [(i64, T); N]) -> Result<T> {
    let value = count(entry)?;
    known.iter().find_map(|(number, meaning)| (*number == value).then_some(*meaning)).ok_or_else(|| {
        let numbers: Vec<String> = known.iter().map(|(number, _)| number.to_string()).collect();
        Error::user(format!("`{} = {value}` is not modelled", entry.key))
            .with_remedy(format!("known: {}", numbers.join(", ")))
    })
}
