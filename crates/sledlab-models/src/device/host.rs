//! Hosts: bus, adapter and driver between a drive and the program that measures it.

use sledlab_core::params::Params;
use sledlab_core::{Error, Result};
use toml::Table;

/// Name of each preset that was measured, and the file of the host it was measured on.
const HOSTS: &[(&str, &str)] = &[
    ("atlas-10k", include_str!("../../presets/hosts/atlas-10k.toml")),
    ("atlas-iii", include_str!("../../presets/hosts/atlas-iii.toml")),
    ("barracuda", include_str!("../../presets/hosts/barracuda.toml")),
    ("cheetah-4lp", include_str!("../../presets/hosts/cheetah-4lp.toml")),
    ("cheetah-9lp", include_str!("../../presets/hosts/cheetah-9lp.toml")),
    ("ibm-18es", include_str!("../../presets/hosts/ibm-18es.toml")),
    ("hp-c2247a", include_str!("../../presets/hosts/hp-c2247a.toml")),
    ("hp-c2490a", include_str!("../../presets/hosts/hp-c2490a.toml")),
    ("hp-c3323a", include_str!("../../presets/hosts/hp-c3323a.toml")),
    ("dec-rz26", include_str!("../../presets/hosts/dec-rz26.toml")),
    ("seagate-st41601n", include_str!("../../presets/hosts/seagate-st41601n.toml")),
];

sledlab_core::params! {
    /// Delays that a host adds to a drive: the bus has the speed of the slowest of drive, bus, adapter and driver, and
    /// commands take longer than on the drive alone.
    pub struct HostParams {
        /// Time on the bus of a sector that is read.
        bus_sector_us: f64 = 0.0, "us", 0.0..1e6;
        /// Time on the bus of a sector that is written.
        bus_write_sector_us: f64 = 0.0, "us", 0.0..1e6;
        /// Time that a read hit takes beyond the drive's own overheads; may be negative.
        read_hit_us: f64 = 0.0, "us", -1e5..1e5;
        /// Time that a read miss takes longer before the seek starts.
        read_miss_us: f64 = 0.0, "us", -1e5..1e5;
        /// Time that a write takes longer.
        write_us: f64 = 0.0, "us", -1e5..1e5;
        /// Time on the bus of a sector that is read, in DiskSim 4.0.
        disksim_bus_sector_us: f64 = 0.0, "us", 0.0..1e6;
        /// Time on the bus of a sector that is written, in DiskSim 4.0.
        disksim_bus_write_sector_us: f64 = 0.0, "us", 0.0..1e6;
    }
}

/// Ending of the names of hosts as in DiskSim 4.0: with its bus times and without fitted overheads.
const DISKSIM: &str = "-disksim";

/// Names of the hosts.
pub fn names() -> impl Iterator<Item = String> {
    HOSTS.iter().flat_map(|(name, _)| [(*name).to_owned(), format!("{name}{DISKSIM}")])
}

/// The host called `name`: that on which the preset of this name was measured, or, with `-disksim` after the name, that
/// host in DiskSim 4.0.
///
/// # Errors
/// An unknown name; the message suggests the nearest.
pub fn preset(name: &str) -> Result<HostParams> {
    let lowercase_name = name.to_ascii_lowercase();
    let disksim_name = lowercase_name.strip_suffix(DISKSIM);
    let drive_name = disksim_name.unwrap_or(&lowercase_name);
    let (_, text) = HOSTS.iter().find(|(known, _)| *known == drive_name).ok_or_else(|| {
        let names: Vec<String> = names().collect();
        Error::unknown_name("host", name, names.iter().map(String::as_str))
    })?;
    let error = |error: toml::de::Error| Error::internal(format!("host {name}: {error}"));
    let mut table: Table = text.parse().map_err(error)?;
    table.remove("description");
    let host = HostParams::from_table("host", &table)?;
    Ok(if disksim_name.is_some() { host.in_disksim() } else { host })
}

impl HostParams {
    /// The host with the bus of DiskSim 4.0 and without overheads.
    fn in_disksim(self) -> Self {
        HostParams {
            bus_sector_us: self.disksim_bus_sector_us,
            bus_write_sector_us: self.disksim_bus_write_sector_us,
            disksim_bus_sector_us: self.disksim_bus_sector_us,
            disksim_bus_write_sector_us: self.disksim_bus_write_sector_us,
            ..HostParams::default()
        }
    }
}
