//! Device descriptions: the presets that come with sledlab, and files in the same form.

use std::path::Path;

use sledlab_core::params::Params;
use sledlab_core::registry::Listed;
use sledlab_core::{Error, Result};
use toml::{Table, Value};

use super::disk::{self, DiskParams};
use super::disksim::Open;
use super::mems::{self, MemsParams};
use super::ram::RamParams;

/// Every preset: its name and its file.
const PRESETS: [(&str, &str); 22] = [
    ("mems-g1", include_str!("../../../../presets/devices/mems-g1.toml")),
    ("mems-g2", include_str!("../../../../presets/devices/mems-g2.toml")),
    ("mems-g3", include_str!("../../../../presets/devices/mems-g3.toml")),
    ("mems-g2-3200", include_str!("../../../../presets/devices/mems-g2-3200.toml")),
    ("mems-g1-disksim", include_str!("../../../../presets/devices/mems-g1-disksim.toml")),
    ("mems-g2-disksim", include_str!("../../../../presets/devices/mems-g2-disksim.toml")),
    ("mems-g3-disksim", include_str!("../../../../presets/devices/mems-g3-disksim.toml")),
    ("mobile-disk", include_str!("../../../../presets/devices/mobile-disk.toml")),
    ("atlas-10k", include_str!("../../../../presets/devices/atlas-10k.toml")),
    ("atlas-10k-50mb", include_str!("../../../../presets/devices/atlas-10k-50mb.toml")),
    ("atlas-10k-double-density", include_str!("../../../../presets/devices/atlas-10k-double-density.toml")),
    ("atlas-iii", include_str!("../../../../presets/devices/atlas-iii.toml")),
    ("barracuda", include_str!("../../../../presets/devices/barracuda.toml")),
    ("cheetah-4lp", include_str!("../../../../presets/devices/cheetah-4lp.toml")),
    ("cheetah-9lp", include_str!("../../../../presets/devices/cheetah-9lp.toml")),
    ("ibm-18es", include_str!("../../../../presets/devices/ibm-18es.toml")),
    ("hp-c2247a", include_str!("../../../../presets/devices/hp-c2247a.toml")),
    ("hp-c2490a", include_str!("../../../../presets/devices/hp-c2490a.toml")),
    ("hp-c3323a", include_str!("../../../../presets/devices/hp-c3323a.toml")),
    ("dec-rz26", include_str!("../../../../presets/devices/dec-rz26.toml")),
    ("seagate-st41601n", include_str!("../../../../presets/devices/seagate-st41601n.toml")),
    ("ram", include_str!("../../../../presets/devices/ram.toml")),
];

/// Every host on which a preset was measured, by the name of that preset.
const HOSTS: [(&str, &str); 11] = [
    ("atlas-10k", include_str!("../../../../presets/hosts/atlas-10k.toml")),
    ("atlas-iii", include_str!("../../../../presets/hosts/atlas-iii.toml")),
    ("barracuda", include_str!("../../../../presets/hosts/barracuda.toml")),
    ("cheetah-4lp", include_str!("../../../../presets/hosts/cheetah-4lp.toml")),
    ("cheetah-9lp", include_str!("../../../../presets/hosts/cheetah-9lp.toml")),
    ("ibm-18es", include_str!("../../../../presets/hosts/ibm-18es.toml")),
    ("hp-c2247a", include_str!("../../../../presets/hosts/hp-c2247a.toml")),
    ("hp-c2490a", include_str!("../../../../presets/hosts/hp-c2490a.toml")),
    ("hp-c3323a", include_str!("../../../../presets/hosts/hp-c3323a.toml")),
    ("dec-rz26", include_str!("../../../../presets/hosts/dec-rz26.toml")),
    ("seagate-st41601n", include_str!("../../../../presets/hosts/seagate-st41601n.toml")),
];

sledlab_core::params! {
    /// What the host does to a drive: the bus is as slow as the slowest of drive, bus, adapter and driver, and commands
    /// take longer than the drive alone.
    pub struct HostParams {
        /// Time of a sector on the bus when it is read.
        bus_sector_us: f64 = 0.0, "us", 0.0..1e6;
        /// Time of a sector on the bus when it is written.
        bus_write_sector_us: f64 = 0.0, "us", 0.0..1e6;
        /// What a read from the buffer takes longer than the drive's overheads say; less where negative.
        read_hit_us: f64 = 0.0, "us", -1e5..1e5;
        /// What a read from the medium takes longer before its arm starts.
        read_miss_us: f64 = 0.0, "us", -1e5..1e5;
        /// What a write takes longer.
        write_us: f64 = 0.0, "us", -1e5..1e5;
    }
}

impl HostParams {
    /// Attaches a drive to this host.
    pub fn attach(&self, drive: &mut DiskParams) {
        let disk = &mut drive.flat;
        disk.bus_sector_us = self.bus_sector_us;
        disk.bus_write_sector_us = self.bus_write_sector_us;
        let lengthened = [
            (self.read_hit_us, &mut disk.read_hit_after_read_us),
            (self.read_hit_us, &mut disk.read_hit_after_write_us),
            (self.read_miss_us, &mut disk.read_miss_after_read_us),
            (self.read_miss_us, &mut disk.read_miss_after_write_us),
            (self.write_us, &mut disk.write_buffered_after_read_us),
            (self.write_us, &mut disk.write_buffered_after_write_us),
            (self.write_us, &mut disk.write_through_after_read_us),
            (self.write_us, &mut disk.write_through_after_write_us),
            (self.write_us, &mut disk.extra_disconnect_command_us),
        ];
        for (more_us, overhead_us) in lengthened {
            *overhead_us = (*overhead_us + more_us).max(0.0);
        }
    }
}

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
    /// `kind = "ram"`.
    Ram(RamParams),
}

impl DeviceParams {
    /// The word after `kind`.
    pub fn kind(&self) -> &'static str {
        match self {
            DeviceParams::Mems(_) => "mems",
            DeviceParams::Disk(_) => "disk",
            DeviceParams::Ram(_) => "ram",
        }
    }

    fn to_table(&self) -> Table {
        match self {
            DeviceParams::Mems(params) => params.to_table(),
            DeviceParams::Disk(params) => params.to_table(),
            DeviceParams::Ram(params) => params.to_table(),
        }
    }
}

/// Kinds of device and the parameters each takes: the source of help texts and docs.
pub fn kinds() -> Vec<Listed> {
    let listed = |name, meaning, specs| Listed { name, meaning, specs };
    vec![
        listed("mems", "a media sled that moves in x and y under fixed probe tips", MemsParams::specs()),
        listed("disk", "a hard disk with zones, an arm and a buffer", DiskParams::specs()),
        listed("ram", "memory behind a bus, without positioning", RamParams::specs()),
    ]
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

/// The host on which the preset called `name` was measured.
pub fn host(name: &str) -> Result<HostParams> {
    let text = HOSTS
        .iter()
        .find_map(|(known, text)| (*known == name).then_some(*text))
        .ok_or_else(|| Error::unknown("host", name, HOSTS.iter().map(|(known, _)| *known)))?;
    let broken = |error: toml::de::Error| Error::internal(format!("host {name}: {error}"));
    let mut table: Table = text.parse().map_err(broken)?;
    table.remove(DESCRIPTION);
    HostParams::from_table("host", &table)
}

/// Names of the hosts.
pub fn hosts() -> impl Iterator<Item = &'static str> {
    HOSTS.iter().map(|(name, _)| *name)
}

/// A device of `text`, a DiskSim parameter file called `file`, as a device file, and remarks on what could not be carried
/// over: that of the block called `name`, or the only one. `open` reads further files that it names.
pub fn import(text: &str, file: &str, name: Option<&str>, open: Open) -> Result<(String, Vec<String>)> {
    let path = Path::new(file);
    let called = path.file_name().map_or(file.into(), |name| name.to_string_lossy());
    // A sled is read without the files that only disks need; where there is no sled, what is missing is said below.
    let present = |path: &Path| Ok(open(path).unwrap_or_default());
    let sleds = mems::import::names(text, path, &present)?;
    if !sleds.is_empty() && name.is_none_or(|name| sleds.iter().any(|sled| sled == name)) {
        let sled = mems::import::import(text, path, name, &present)?;
        return Ok((sled.to_toml(&called), sled.remarks));
    }
    if sleds.is_empty() && disk::import::names(text, path, open)?.is_empty() {
        return Err(Error::user(format!("{file} describes no device")).with_remedy(
            "import a file with a `disksim_disk` or a `memsmodel_mems` block, or one that names it",
        ));
    }
    let disk = disk::import::import(text, path, name, open)?;
    Ok((disk.to_toml(&called), disk.remarks))
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
        Some("ram") => DeviceParams::Ram(RamParams::from_table("device", &params)?),
        Some(other) => {
            return Err(Error::unknown("device kind", other, kinds().iter().map(|kind| kind.name)));
        }
        None => {
            return Err(Error::user("a device file must say what kind of device it describes")
                .with_remedy("add the line `kind = \"mems\"`, `kind = \"disk\"` or `kind = \"ram\"`"));
        }
    };
    Ok(DeviceFile { name, description, params })
}

impl DeviceFile {
    /// Idle time after which the device parks of its own accord.
    pub fn idle_timeout_ms(&self) -> f64 {
        match &self.params {
            DeviceParams::Mems(params) => params.idle_timeout_ms,
            DeviceParams::Disk(params) => params.flat.idle_timeout_ms,
            DeviceParams::Ram(_) => RamParams::IDLE_TIMEOUT_MS,
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
    fn presets_and_files_read_back_exactly() {
        for name in names() {
            let file = from_table(&text(name).unwrap().parse().unwrap()).unwrap();
            let table = file.to_table();
            assert_eq!(from_table(&table).unwrap(), file, "{name}");
            let text = toml::to_string(&table).unwrap();
            assert_eq!(from_table(&text.parse().unwrap()).unwrap(), file, "{name}");
        }
    }

    #[test]
    fn hosts_slow_their_drives_down() {
        for name in hosts() {
            let host = host(name).unwrap();
            let file = from_table(&text(name).unwrap().parse().unwrap()).unwrap();
            let DeviceParams::Disk(mut drive) = file.params else { panic!("{name} is no disk") };
            assert!(host.bus_sector_us > drive.flat.bus_sector_us, "{name}");
            assert!(host.bus_write_sector_us > drive.flat.bus_write_sector_us, "{name}");
            host.attach(&mut drive);
            assert!((drive.flat.bus_sector_us - host.bus_sector_us).abs() < f64::EPSILON);
        }
        assert!(host("atlas-10").unwrap_err().to_string().contains("did you mean `atlas-10k`?"));
    }

    #[test]
    fn imports_whatever_a_file_describes() {
        let open = |_: &Path| Err(std::io::ErrorKind::NotFound.into());
        let message = |text: &str, name| import(text, "some/file.parv", name, &open).unwrap_err().to_string();
        let sled = "memsmodel_mems m { }";
        let disk = "disksim_disk d { Model = source d.model }";
        assert!(message("", None).contains("some/file.parv describes no device"));
        assert!(message(sled, None).contains("parameters are missing"));
        assert!(message(disk, None).contains("cannot read some/d.model"));
        assert!(message("source other", None).contains("cannot read some/other"));
        assert!(message(&format!("{sled} source other"), None).contains("parameters are missing"));
        assert!(message(&format!("{sled} {disk}"), Some("d")).contains("cannot read some/d.model"));
    }

    #[test]
    fn unknown_names_get_a_suggestion() {
        assert!(text("mems-g4").unwrap_err().to_string().contains("mems-g"));
        let table = toml::from_str("kind = \"mens\"").unwrap();
        assert!(from_table(&table).unwrap_err().to_string().contains("did you mean `mems`?"));
    }
}
