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
    }
}

/// Names of the hosts.
pub fn names() -> impl Iterator<Item = &'static str> {
    HOSTS.iter().map(|(name, _)| *name)
}

/// The host on which the preset called `name` was measured.
///
/// # Errors
/// An unknown name; the message suggests the nearest.
pub fn preset(name: &str) -> Result<HostParams> {
    let text = HOSTS
        .iter()
        .find_map(|(known, text)| known.eq_ignore_ascii_case(name).then_some(*text))
        .ok_or_else(|| Error::unknown_name("host", name, names()))?;
    let error = |error: toml::de::Error| Error::internal(format!("host {name}: {error}"));
    let mut table: Table = text.parse().map_err(error)?;
    table.remove("description");
    HostParams::from_table("host", &table)
}
