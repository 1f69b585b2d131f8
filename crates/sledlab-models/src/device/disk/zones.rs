//! Zones: neighboring cylinders whose tracks hold the same number of sectors.

use sledlab_core::params::Params;
use sledlab_core::{Error, Result};
use toml::{Table, Value};

sledlab_core::params! {
    /// Parameters of a zone. Defaults are those of the one zone of the preset `mobile-disk`.
    pub struct ZoneShape {
        /// First cylinder.
        first_cylinder: u64 = 0_u64, "", 0..1e6;
        /// Cylinders.
        cylinders: u64 = 6624_u64, "", 1..1e6;
        /// Sectors of 512 bytes on every track.
        sectors_per_track: u64 = 170_u64, "sectors", 1..1e5;
        /// Skew of a track relative to the previous track of the same cylinder.
        track_skew_sectors: u64 = 30_u64, "sectors", 0..1e5;
        /// Skew of a cylinder relative to the last track of the previous cylinder.
        cylinder_skew_sectors: u64 = 42_u64, "sectors", 0..1e5;
        /// Offset of the first sector of the zone from the index mark.
        first_sector_offset: u64 = 0_u64, "sectors", 0..1e5;
        /// Sectors at the front of the zone without blocks.
        reserved_sectors: u64 = 0_u64, "sectors", 0..1e9;
        /// Spare sectors of every region, or spare tracks under sparing `zone-tracks`.
        spares: u64 = 0_u64, "", 0..1e9;
    }
}

/// A zone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Zone {
    /// Cylinders, sectors, skews and spares of the zone.
    pub shape: ZoneShape,
    /// Sectors that hold no blocks, ascending, counted from the start of the zone over all of its surfaces;
    /// tracks under sparing `zone-tracks`.
    pub slipped: Vec<u64>,
    /// Remapped blocks: the sector that would hold the block and the sector that does, both counted like `slipped`.
    pub remapped: Vec<(u64, u64)>,
}

const SLIPPED_KEY: &str = "slipped";
const REMAPPED_KEY: &str = "remapped";

impl Zone {
    /// Reads a list of zones; `path` is its name in messages.
    pub(super) fn read_list(path: &str, value: &Value) -> Result<Vec<Zone>> {
        let remedy = "describe at least one zone: zones = [{ first_cylinder = 0, cylinders = 1000, \
                      sectors_per_track = 100 }]";
        let error = |message: String| Error::user(message).with_remedy(remedy);
        let zones = match value.as_array() {
            Some(zones) if !zones.is_empty() => zones,
            Some(_) => return Err(error(format!("{path}: the disk has no zones"))),
            None => return Err(error(format!("{path}: expected a list of tables, found `{value}`"))),
        };
        let read_zone = |(number, zone): (usize, &Value)| match zone.as_table() {
            Some(table) => Zone::read(&format!("{path}[{number}]"), table),
            None => Err(error(format!("{path}[{number}]: expected a table, found `{zone}`"))),
        };
        zones.iter().enumerate().map(read_zone).collect()
    }

    fn read(path: &str, table: &Table) -> Result<Zone> {
        // Skews that the table omits are 0, not those of the preset `mobile-disk`.
        let shape = ZoneShape { track_skew_sectors: 0, cylinder_skew_sectors: 0, ..ZoneShape::default() };
        let mut zone = Zone { shape, ..Zone::default() };
        for key in ["first_cylinder", "cylinders", "sectors_per_track"] {
            if !table.contains_key(key) {
                return Err(Error::user(format!("{path}.{key} is missing")).with_remedy(
                    "set the first cylinder, the number of cylinders and the sectors per track",
                ));
            }
        }
        for (key, value) in table {
            match key.as_str() {
                SLIPPED_KEY => zone.slipped = read_sectors(&format!("{path}.{SLIPPED_KEY}"), value)?,
                REMAPPED_KEY => zone.remapped = read_pairs(&format!("{path}.{REMAPPED_KEY}"), value)?,
                key if ZoneShape::specs().iter().any(|spec| spec.name == key) => {
                    zone.shape.set(path, key, value)?;
                }
                _ => {
                    let known = ZoneShape::specs().into_iter().map(|spec| spec.name);
                    let known: Vec<String> = known
                        .chain([SLIPPED_KEY, REMAPPED_KEY])
                        .map(|known| format!("{path}.{known}"))
                        .collect();
                    let key = format!("{path}.{key}");
                    return Err(Error::unknown_name("key", &key, known.iter().map(String::as_str)));
                }
            }
        }
        Ok(zone)
    }

    /// The zone as a table that `read_list` reads back.
    pub(super) fn to_table(&self) -> Table {
        let mut table = self.shape.to_table();
        let number = |sector: u64| Value::Integer(i64::try_from(sector).unwrap_or(i64::MAX));
        let slipped = self.slipped.iter().map(|sector| number(*sector)).collect();
        table.insert(SLIPPED_KEY.to_owned(), Value::Array(slipped));
        let pair = |&(from, to): &(u64, u64)| Value::Array(vec![number(from), number(to)]);
        table.insert(REMAPPED_KEY.to_owned(), Value::Array(self.remapped.iter().map(pair).collect()));
        table
    }
}

fn sector(path: &str, value: &Value) -> Result<u64> {
    value
        .as_integer()
        .and_then(|sector| u64::try_from(sector).ok())
        .ok_or_else(|| Error::user(format!("{path}: expected a whole number, 0 or more, found `{value}`")))
}

fn list<'a>(path: &str, value: &'a Value) -> Result<&'a [Value]> {
    let error = || {
        Error::user(format!("{path}: expected a list, found `{value}`"))
            .with_remedy("write whole numbers in brackets")
    };
    value.as_array().map(Vec::as_slice).ok_or_else(error)
}

fn read_sectors(path: &str, value: &Value) -> Result<Vec<u64>> {
    list(path, value)?.iter().map(|value| sector(path, value)).collect()
}

fn read_pairs(path: &str, value: &Value) -> Result<Vec<(u64, u64)>> {
    let pair = |value: &Value| match list(path, value)? {
        [from, to] => Ok((sector(path, from)?, sector(path, to)?)),
        _ => Err(Error::user(format!("{path}: expected a pair of sectors, found `{value}`"))
            .with_remedy("write [[from, to], ...]")),
    };
    list(path, value)?.iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_stands_in_the_guide() {
        let guide = include_str!("../../../../../docs/device.md");
        for spec in ZoneShape::specs() {
            let row = format!("| `{}` | {} | {} |", spec.name, spec.unit, spec.meaning);
            assert!(guide.contains(&row), "{row}");
        }
        for key in [SLIPPED_KEY, REMAPPED_KEY] {
            assert!(guide.contains(&format!("| `{key}` |")), "{key}");
        }
    }

    #[test]
    fn zone_round_trips_through_toml() {
        let text = "zones = [{ first_cylinder = 3, cylinders = 5, sectors_per_track = 7, spares = 2, slipped = [1, 9],
                    remapped = [[2, 33]] }]";
        let table: Table = text.parse().unwrap();
        let zones = Zone::read_list("device.zones", &table["zones"]).unwrap();
        assert_eq!((zones[0].shape.track_skew_sectors, zones[0].shape.spares), (0, 2));
        assert_eq!((&zones[0].slipped[..], &zones[0].remapped[..]), (&[1, 9][..], &[(2, 33)][..]));
        let list = Value::Array(zones.iter().map(|zone| Value::Table(zone.to_table())).collect());
        assert_eq!(Zone::read_list("device.zones", &list).unwrap(), zones);
    }
}
