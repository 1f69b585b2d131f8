//! Devices from the parameter files of DiskSim 4.0.
//!
//! A `memsmodel_mems` block becomes a device that behaves as the reference simulator does: its kinematics, direction
//! rule, pipeline, parking and idle drift (the `-disksim` presets are such devices). Properties that this device
//! model lacks are named in comments of the device file.

use sledlab_core::params::Params;
use sledlab_core::{Error, Result};
use toml::Value as Toml;

use super::geometry::Geometry;
use super::kinematics;
use super::params::{
    Direction, DirectionTie, IdleMotion, IdlePower, KinematicsKind, LayoutKind, MemsParams, Parking,
    Pipeline, Selection, SledMap, SledMotion, SpringConvention,
};
use crate::device::disksim::{KeyValue, ParameterFile, Value, count, number, printable, word};

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
enum ImportRule {
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
    /// Must be 0: other values are not modeled. The text says which times differ from those of DiskSim at 0.
    Zero(&'static str),
    /// Ignored, with a remark that gives the text unless the value is 0 or the text is empty.
    Ignored(&'static str),
    /// The scheduler: an option of the run here, not of the device.
    Scheduler,
}

/// The effect of a precomputed seek curve.
const PRECOMPUTED_SEEKS: &str = "DiskSim interpolates seek times between this number of points, so seek times differ \
    here by its interpolation error, shorter or longer";

/// What the other values of choices change.
const OTHER_SEEK_FUNCTION: &str =
    "seeks follow another formula, so seek times differ here, shorter or longer";
const OTHER_LAYOUT: &str =
    "blocks lie elsewhere, so seeks and the order of transfers differ here, shorter or longer";
const OTHER_DIRECTION: &str = "DiskSim has no such value";

/// Every parameter of a block. Those that set parameters of the device are required.
const KEYS: [(&str, ImportRule); 33] = [
    ("Block count", ImportRule::Ignored("")),
    ("Points in precomputed seek curve", ImportRule::Zero(PRECOMPUTED_SEEKS)),
    ("Seek function", ImportRule::SeekFunction),
    ("Command overhead", ImportRule::Number("command_overhead_ms", 0)),
    ("Bulk sector transfer time", ImportRule::Number("block_transfer_us", 3)),
    ("Print stats", ImportRule::Ignored("")),
    ("Max queue length", ImportRule::Ignored("")),
    ("Number of buffer segments", ImportRule::Ignored("the read buffer is not modeled")),
    ("Segment size (in blks)", ImportRule::Ignored("")),
    ("Number of sleds", ImportRule::Count("sleds")),
    ("Layout policy", ImportRule::LayoutPolicy),
    ("Sled movement X", ImportRule::Number("travel_x_um", -3)),
    ("Sled movement Y", ImportRule::Number("travel_y_um", -3)),
    ("Bit cell length", ImportRule::Number("bit_nm", 0)),
    ("Tip sector length", ImportRule::Count("tip_sector_bits")),
    ("Servo burst length", ImportRule::Count("servo_bits")),
    ("Tip sectors per lbn", ImportRule::Count("tips_per_block")),
    ("Number of usable tips", ImportRule::Count("usable_tips")),
    ("Simultaneously active tips", ImportRule::Count("active_tips")),
    ("Bidirectional access", ImportRule::Bidirectional),
    ("Sled acceleration X", ImportRule::Number("acceleration_x_m_s2", 0)),
    ("Sled acceleration Y", ImportRule::Number("acceleration_y_m_s2", 0)),
    ("Sled access speed", ImportRule::Number("tip_rate_kbit_s", -3)),
    ("Sled resonant frequency", ImportRule::Number("resonant_hz", 0)),
    ("Settling time constants", ImportRule::Number("settle_constants", 0)),
    ("Spring constant factor", ImportRule::Number("spring_factor", 0)),
    ("Prefetch depth", ImportRule::Ignored("DiskSim itself does not prefetch")),
    ("Time before sled inactive", ImportRule::Number("idle_timeout_ms", 0)),
    ("Startup delay", ImportRule::Number("startup_ms", 0)),
    ("Sled active power", ImportRule::Number("sled_mw", 0)),
    ("Sled inactive power", ImportRule::Number("inactive_mw", 0)),
    ("Tip access power", ImportRule::Number("tip_mw", 0)),
    ("Scheduler", ImportRule::Scheduler),
];

/// The device in a DiskSim parameter file: that of the block called `name`, or the only one.
///
/// # Errors
/// All faults of the file, with file and line.
pub fn import(file: &ParameterFile, name: Option<&str>) -> Result<ImportedSled> {
    let (block, mut faults) = file.device(BLOCK, name)?;
    let mut imported =
        ImportedSled { name: block.name.clone(), params: reference_behavior(), remarks: Vec::new() };
    block.check_unique(&mut faults);
    for entry in &block.entries {
        let outcome = import_rule(entry).and_then(|rule| imported.apply(entry, rule));
        faults.check(outcome.map_err(|error| entry.error(error)));
    }
    imported.params.startup_mw = imported.params.sled_mw;
    if block.is_complete {
        faults.check(check_required_keys(&block.entries).map_err(|error| block.error(error)));
    }
    // Parameters that only make sense together are checked together here, so that errors name the file.
    if faults.count() == 0 {
        faults.check(Geometry::new(&imported.params).map_err(|error| block.error(error)));
        let kinematics = kinematics::build(imported.params.kinematics, &imported.params);
        faults.check(kinematics.map_err(|error| block.error(error)));
    }
    faults.into_result(file.path())?;
    Ok(imported)
}

/// Parameters for behavior that DiskSim gives to every device.
fn reference_behavior() -> MemsParams {
    MemsParams {
        spring_convention: SpringConvention::Edge,
        direction_tie: DirectionTie::Down,
        selection: Selection::Disksim,
        sled_motion: SledMotion::Independent,
        sled_map: SledMap::Contiguous,
        pipeline: Pipeline::Interleaved,
        parking: Parking::CenterBlock,
        idle_motion: IdleMotion::DisksimDrift,
        idle_power: IdlePower::SledOnly,
        ..MemsParams::default()
    }
}

fn import_rule(entry: &KeyValue) -> Result<&'static ImportRule> {
    KEYS.iter()
        .find_map(|(key, rule)| (*key == entry.key).then_some(rule))
        .ok_or_else(|| Error::unknown_name("parameter", &entry.key, KEYS.iter().map(|(key, _)| *key)))
}

/// Checks that no required parameter is missing.
fn check_required_keys(entries: &[KeyValue]) -> Result<()> {
    let required_keys = KEYS.iter().filter(|(_, rule)| {
        !matches!(rule, ImportRule::Zero(_) | ImportRule::Ignored(_) | ImportRule::Scheduler)
    });
    let missing: Vec<String> = required_keys
        .filter(|(key, _)| entries.iter().all(|entry| entry.key != *key))
        .map(|(key, _)| format!("`{key}`"))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::user("parameters are missing").with_remedy(format!("add {}", missing.join(", "))))
}

impl ImportedSled {
    fn apply(&mut self, entry: &KeyValue, rule: &ImportRule) -> Result<()> {
        match rule {
            ImportRule::Number(key, power) => {
                self.params.set("device", key, &Toml::Float(number(entry, *power)?))?;
            }
            ImportRule::Count(key) => self.params.set("device", key, &Toml::Integer(count(entry)?))?,
            ImportRule::SeekFunction => {
                let kinds = [(0, KinematicsKind::DisksimPiecewise), (1, KinematicsKind::DisksimClosed)];
                self.params.kinematics = parse_choice(entry, kinds, OTHER_SEEK_FUNCTION)?;
            }
            ImportRule::LayoutPolicy => {
                self.params.layout = parse_choice(
                    entry,
                    [(6, LayoutKind::RowFirst), (7, LayoutKind::Streaming)],
                    OTHER_LAYOUT,
                )?;
            }
            ImportRule::Bidirectional => {
                self.params.direction =
                    parse_choice(entry, [(0, Direction::Up), (1, Direction::Free)], OTHER_DIRECTION)?;
            }
            ImportRule::Zero(effect) if count(entry)? != 0 => {
                let (key, value) = (&entry.key, word(entry)?);
                return Err(Error::user(format!("`{key} = {value}` is only modeled at 0: {effect}"))
                    .with_remedy("set it to 0 to accept this difference from DiskSim"));
            }
            ImportRule::Ignored(reason) if !reason.is_empty() && count(entry)? != 0 => {
                self.remarks.push(format!("`{} = {}` is ignored: {reason}.", entry.key, word(entry)?));
            }
            ImportRule::Scheduler => self.remark_on_scheduler(entry),
            ImportRule::Zero(_) | ImportRule::Ignored(_) => {}
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

    /// Returns the sled as a device file, with the unit and meaning of every parameter in a comment.
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
        let table = self.params.to_table();
        lines.extend(MemsParams::specs().iter().filter_map(|spec| {
            let setting = format!("{} = {}", spec.name, table.get(spec.name)?);
            let unit = if spec.unit.is_empty() { String::new() } else { format!("{}; ", spec.unit) };
            Some(format!("{setting:<35} # {unit}{}", spec.meaning))
        }));
        lines.join("\n") + "\n"
    }
}

/// Returns the meaning of a code among those `choices`; `effect` is what other codes change.
fn parse_choice<T: Copy, const N: usize>(
    entry: &KeyValue,
    choices: [(i64, T); N],
    effect: &str,
) -> Result<T> {
    let code = count(entry)?;
    choices.iter().find_map(|(number, meaning)| (*number == code).then_some(*meaning)).ok_or_else(|| {
        let numbers: Vec<String> = choices.iter().map(|(number, _)| number.to_string()).collect();
        Error::user(format!("`{} = {code}` is not modeled: {effect}", entry.key))
            .with_remedy(format!("known: {}", numbers.join(", ")))
    })
}
