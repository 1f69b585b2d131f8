//! Device descriptions: the presets that come with sledlab, and files in the same form.

use sledlab_core::params::{ParamSpec, Params};
use sledlab_core::{Error, Result};
use toml::{Table, Value};

use super::disk::DiskParams;
use super::mems::MemsParams;

/// Every preset: its name and its file.
const PRESETS: [(&str, &str); 8] = [
    ("mems-g1", include_str!("../../../../presets/devices/mems-g1.toml")),
    ("mems-g2", include_str!("../../../../presets/devices/mems-g2.toml")),
    ("mems-g3", include_str!("../../../../presets/devices/mems-g3.toml")),
    ("mems-g2-3200", include_str!("../../../../presets/devices/mems-g2-3200.toml")),
    ("mems-g1-disksim", include_str!("../../../../presets/devices/mems-g1-disksim.toml")),
    ("mems-g2-disksim", include_str!("../../../../presets/devices/mems-g2-disksim.toml")),
    ("mems-g3-disksim", include_str!("../../../../presets/devices/mems-g3-disksim.toml")),
    ("mobile-disk", include_str!("../../../../presets/devices/mobile-disk.toml")),
];

/// Keys of a device file that are not parameters of its model.
const KIND: &str = "kind";
const NAME: &str = "name";
const DESCRIPTION: &str = "description";

/// What a device file says.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceFile {
    /// What it is called in tables and reports; may be empty.
    pub name: String,
    /// One line for people.
    pub description: String,
    /// The parameters of its model.
    pub params: DeviceParams,
}

/// Parameters by kind of device.
#[derive(Clone, Debug, PartialEq)]
pub enum DeviceParams {
    /// `kind = "mems"`.
    Mems(MemsParams),
    /// `kind = "disk"`.
    Disk(DiskParams),
}

impl DeviceParams {
    /// The word after `kind`.
    pub fn kind(&self) -> &'static str {
        match self {
            DeviceParams::Mems(_) => "mems",
            DeviceParams::Disk(_) => "disk",
        }
    }

    fn to_table(&self) -> Table {
        match self {
            DeviceParams::Mems(params) => params.to_table(),
            DeviceParams::Disk(params) => params.to_table(),
        }
    }
}

/// Kinds of device and the parameters each takes: the source of help texts and docs.
pub fn kinds() -> Vec<(&'static str, Vec<ParamSpec>)> {
    vec![("mems", MemsParams::specs()), ("disk", DiskParams::specs())]
}

/// Names of the presets.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

/// The text of a preset, comments with sources included.
pub fn text(name: &str) -> Result<&'static str> {
    PRESETS
        .iter()
        .find_map(|(known, text)| (*known == name).then_some(*text))
        .ok_or_else(|| Error::unknown("device", name, names()))
}

/// Reads the table of a device file; `kind` says which model it is for.
pub fn from_table(table: &Table) -> Result<DeviceFile> {
    let mut params = table.clone();
    let text = |value: Option<Value>, key| match value {
        Some(Value::String(text)) => Ok(Some(text)),
        None => Ok(None),
        Some(other) => Err(Error::user(format!("device.{key}: expected text, found `{other}`"))),
    };
    let kind = text(params.remove(KIND), KIND)?;
    let name = text(params.remove(NAME), NAME)?.unwrap_or_default();
    let description = text(params.remove(DESCRIPTION), DESCRIPTION)?.unwrap_or_default();
    let params = match kind.as_deref() {
        Some("mems") => DeviceParams::Mems(MemsParams::from_table("device", &params)?),
        Some("disk") => DeviceParams::Disk(DiskParams::from_table("device", &params)?),
        Some(other) => {
            return Err(Error::unknown("device kind", other, kinds().iter().map(|(kind, _)| *kind)));
        }
        None => {
            return Err(Error::user("a device file must say what kind of device it describes")
                .with_remedy("add the line `kind = \"mems\"` or `kind = \"disk\"`"));
        }
    };
    Ok(DeviceFile { name, description, params })
}

impl DeviceFile {
    /// Idle time after which the device parks of its own accord.
    pub fn idle_timeout_ms(&self) -> f64 {
        match &self.params {
            DeviceParams::Mems(params) => params.idle_timeout_ms,
            DeviceParams::Disk(params) => params.idle_timeout_ms,
        }
    }

    /// The complete table: kind, description and every parameter.
    pub fn to_table(&self) -> Table {
        let mut table = Table::new();
        table.insert(KIND.to_owned(), Value::from(self.params.kind()));
        if !self.name.is_empty() {
            table.insert(NAME.to_owned(), Value::from(self.name.as_str()));
        }
        table.insert(DESCRIPTION.to_owned(), Value::from(self.description.as_str()));
        table.extend(self.params.to_table());
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::MergeParams;
    use crate::system::{self, Setup};
    use crate::{power, scheduler};

    #[test]
    fn every_preset_is_complete_and_builds() {
        for name in names() {
            let table: Table = toml::from_str(text(name).unwrap()).unwrap();
            let file = from_table(&table).unwrap();
            assert_eq!(table.len(), file.to_table().len(), "{name} must state every parameter");
            assert!(!file.description.is_empty(), "{name} has no description");
            let fcfs = scheduler::Choice::new("fcfs", &Table::new()).unwrap();
            let power = power::Choice::of_device(file.idle_timeout_ms()).unwrap();
            let setup = Setup { scheduler: &fcfs, power: &power, merge: &MergeParams::default() };
            system::build(&file, setup).unwrap();
        }
    }

    #[test]
    fn unknown_names_get_a_suggestion() {
        assert!(text("mems-g4").unwrap_err().to_string().contains("mems-g"));
        let table = toml::from_str("kind = \"mens\"").unwrap();
        assert!(from_table(&table).unwrap_err().to_string().contains("did you mean `mems`?"));
    }
}
