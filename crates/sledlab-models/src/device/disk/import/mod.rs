//! Disks from the parameter files of DiskSim 4.0.
//!
//! A `disksim_disk` block, with the model and the seek times in the files it names, becomes a disk. Properties that
//! this device model lacks are named in comments of the device file.

mod keys;
mod section;
mod seek_file;
mod write;

use std::path::Path;

use sledlab_core::params::Params;
use sledlab_core::{Error, Result};
use toml::Value as Toml;

use self::section::Section;
use super::geometry::Geometry;
use super::params::{DiskNumbers, DiskParams, SeekCurveKind, Sparing};
use super::seek::SeekCurve;
use super::zones::{Zone, ZoneShape};
use crate::device::disksim::{self, Block, OpenFile, Value, count, number, word};

/// The kind of the blocks that describe a disk.
pub(super) const BLOCK: &str = "disksim_disk";

/// A disk read from a DiskSim parameter file.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedDisk {
    /// The name of the disk's block.
    pub name: String,
    /// Parameters of the disk.
    pub params: DiskParams,
    /// Differences between the file and the imported device, one sentence each.
    pub remarks: Vec<String>,
}

/// Names of the disks in a parameter file and in the files that it includes, in order.
pub fn names(text: &str, file: &Path, open: OpenFile) -> Result<Vec<String>> {
    Ok(disksim::read(text, file, BLOCK, open)?.into_iter().map(|block| block.name).collect())
}

/// The disk in `text`, a DiskSim parameter file called `file`: that of the block called `name`, or the only one.
/// `open` reads the files that the text names. Errors name file and line.
pub fn import(text: &str, file: &Path, name: Option<&str>, open: OpenFile) -> Result<ImportedDisk> {
    let blocks = disksim::read(text, file, BLOCK, open)?;
    let block = disksim::choose(&blocks, BLOCK, file, name)?;
    let params = DiskParams { flat: default_numbers(), zones: Vec::new(), seek_table: Vec::new() };
    let mut imported = ImportedDisk { name: block.name.clone(), params, remarks: Vec::new() };
    imported.read_disk(block, open)?;
    imported.read_buses(&disksim::read(text, file, "disksim_bus", open)?)?;
    imported.remarks.push("Power and idle timeout are assumptions: DiskSim disks have none.".to_owned());
    Ok(imported)
}

/// Numbers that the files do not give: power typical of a server disk of 3.5 inches in the 1990s, which is never
/// parked.
fn default_numbers() -> DiskNumbers {
    DiskNumbers {
        command_overhead_ms: 0.0,
        single_cylinder_seek_ms: 0.0,
        average_seek_ms: 0.0,
        full_stroke_seek_ms: 0.0,
        idle_timeout_ms: 1e9,
        startup_ms: 20_000.0,
        off_startup_ms: 25_000.0,
        active_mw: 12_000.0,
        idle_mw: 9_000.0,
        sleep_mw: 2_000.0,
        startup_mw: 25_000.0,
        ..DiskNumbers::default()
    }
}

impl ImportedDisk {
    fn read_disk(&mut self, block: &Block, open: OpenFile) -> Result<()> {
        let flat = &mut self.params.flat;
        let disk = Section::read(block, BLOCK, keys::DISK, ("device", flat), &mut self.remarks)?;
        let sector_us = disk.parse_required("Bulk sector transfer time", |entry| number(entry, 3))?;
        for (_, key) in keys::BUS {
            disk.parse_required("Bulk sector transfer time", |_| {
                flat.set("device", key, &Toml::Float(sector_us))
            })?;
        }
        if disk.entry("Time scale for overheads").is_some() {
            disk.parse_required("Time scale for overheads", |entry| {
                scale_overheads(flat, number(entry, 0)?)
            })?;
        }
        self.read_model(disk.block("Model")?, open)
    }

    fn read_model(&mut self, block: &Block, open: OpenFile) -> Result<()> {
        let flat = &mut self.params.flat;
        let model = Section::read(block, "dm_disk", keys::MODEL, ("device", flat), &mut self.remarks)?;
        let layout = model.block("Layout Model")?;
        let section =
            Section::read(layout, "dm_layout_g1", keys::LAYOUT, ("device", flat), &mut self.remarks)?;
        for (number, item) in section.list("Zones")?.iter().enumerate() {
            let Value::Block(block) = item else {
                return Err(
                    section.error(Error::user("`Zones`: expected a list of `dm_layout_g1_zone` blocks"))
                );
            };
            let zone = read_zone(block, number, &self.params.flat, &mut self.remarks)?;
            self.params.zones.push(zone);
        }
        // Zones and numbers that only make sense together are checked together here, so that errors name the file.
        let geometry = Geometry::new(&self.params).map_err(|error| section.error(error))?;
        if let Some(entry) = model.entry("Block count") {
            let (stated, stored) =
                (count(entry).map_err(|error| entry.error(error))?, geometry.capacity_blocks());
            if u64::try_from(stated) != Ok(stored) {
                self.remarks
                    .push(format!("`Block count = {stated}` is ignored: the zones hold {stored} blocks."));
            }
        }
        self.read_mechanics(model.block("Mechanical Model")?, open)
    }

    fn read_mechanics(&mut self, block: &Block, open: OpenFile) -> Result<()> {
        let flat = &mut self.params.flat;
        let mechanics =
            Section::read(block, "dm_mech_g1", keys::MECHANICS, ("device", flat), &mut self.remarks)?;
        mechanics.parse_required("Access time type", |entry| match word(entry)? {
            "trackSwitchPlusRotation" => Ok(()),
            other => Err(Error::user(format!("access time type `{other}` is not modeled"))
                .with_remedy("known: trackSwitchPlusRotation")),
        })?;
        mechanics.parse_required("Seek type", |entry| match word(entry)? {
            "extracted" => {
                flat.seek_curve = SeekCurveKind::Table;
                Ok(())
            }
            "hplplus10" => {
                flat.seek_curve = SeekCurveKind::RootAndLine;
                Ok(())
            }
            other => Err(Error::user(format!("seek type `{other}` is not modeled"))
                .with_remedy("known: extracted, hplplus10")),
        })?;
        if flat.seek_curve == SeekCurveKind::Table {
            self.params.seek_table =
                mechanics.parse_required("Full seek curve", |entry| seek_file::read(entry, open))?;
        } else {
            let first = mechanics.numbers("First ten seek times")?;
            self.params.seek_table = (1..).zip(first).collect();
            let values = mechanics.numbers("HPL seek equation values")?;
            mechanics.parse_required("HPL seek equation values", |_| set_root_and_line(flat, &values))?;
        }
        SeekCurve::new(&self.params).map(|_| ()).map_err(|error| mechanics.error(error))
    }

    /// Sets the transfer time of a sector to that of the slowest among the drive and all buses.
    fn read_buses(&mut self, buses: &[Block]) -> Result<()> {
        let flat = &mut self.params.flat;
        let entries = buses.iter().flat_map(|bus| &bus.entries);
        for entry in entries {
            let Some((_, key)) = keys::BUS.iter().find(|(name, _)| *name == entry.key) else { continue };
            let sector_us = number(entry, 3).map_err(|error| entry.error(error))?;
            let known_us = if *key == keys::BUS[0].1 { flat.bus_sector_us } else { flat.bus_write_sector_us };
            if sector_us > known_us {
                let set = flat.set("device", key, &Toml::Float(sector_us));
                set.map_err(|error| entry.error(error))?;
            }
        }
        Ok(())
    }
}

/// Multiplies every overhead.
fn scale_overheads(flat: &mut DiskNumbers, scale: f64) -> Result<()> {
    if (scale - 1.0).abs() > 0.0 {
        let values = flat.to_table();
        for (_, meaning) in keys::DISK {
            if let keys::ImportRule::Number(key, 3) = meaning {
                let us = values.get(*key).and_then(Toml::as_float).unwrap_or_default();
                flat.set("device", key, &Toml::Float(us * scale))?;
            }
        }
    }
    Ok(())
}

/// Threshold, constant and factor of the root, constant and slope of the line; the sixth is not used.
fn set_root_and_line(flat: &mut DiskNumbers, values: &[f64]) -> Result<()> {
    let [from, root_ms, root_factor_ms, line_ms, slope_ms, _] = *values else {
        return Err(Error::user(format!("expected 6 values, found {}", values.len())));
    };
    if from.fract().abs() > 0.0 {
        return Err(Error::user(format!("the line begins at {from} cylinders, which is not a whole number")));
    }
    flat.set("device", "line_from_cylinders", &Toml::Integer(from as i64))?;
    flat.set("device", "root_constant_ms", &Toml::Float(root_ms))?;
    flat.set("device", "root_factor_ms", &Toml::Float(root_factor_ms))?;
    flat.set("device", "line_constant_ms", &Toml::Float(line_ms))?;
    // To the nearest picosecond, so that 0.0059 ms become exactly 5.9 us.
    flat.set("device", "line_slope_us", &Toml::Float((slope_ms * 1e9).round() / 1e6))
}

fn read_zone(block: &Block, number: usize, disk: &DiskNumbers, remarks: &mut Vec<String>) -> Result<Zone> {
    let path = format!("device.zones[{number}]");
    let mut shape = ZoneShape::default();
    let zone = Section::read(block, "dm_layout_g1_zone", keys::ZONE, (path.as_str(), &mut shape), remarks)?;
    let first = i64::try_from(shape.first_cylinder).unwrap_or(i64::MAX);
    zone.parse_required("Last cylinder number", |entry| {
        let cylinders = count(entry)? - first + 1;
        if cylinders < 1 {
            return Err(Error::user(format!("{path} ends before it begins, on cylinder {first}")));
        }
        shape.set(&path, "cylinders", &Toml::Integer(cylinders))
    })?;
    if matches!(disk.sparing, Sparing::None | Sparing::Drive) && shape.spares > 0 {
        remarks.push(format!("The {} spares of {path} are ignored: they are not in the zone.", shape.spares));
        shape.spares = 0;
    }
    let mut slipped = zone.sectors("slips")?;
    if !slipped.is_sorted() {
        slipped = skipped_sectors(&slipped, region(disk, &shape));
        remarks.push(format!(
            "The slips of {path} are not in order: the imported zone slips the sectors that DiskSim skips \
             in this order."
        ));
    }
    let defects = zone.sectors("defects")?;
    if defects.len() % 2 == 1 {
        return zone.parse_required("defects", |_| Err(Error::user("`defects`: expected pairs of sectors")));
    }
    let remapped = defects.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    Ok(Zone { shape, slipped, remapped })
}

/// Number of sectors in a region that shares spares.
fn region(disk: &DiskNumbers, shape: &ZoneShape) -> u64 {
    match disk.sparing {
        Sparing::Track => shape.sectors_per_track,
        Sparing::Cylinder => shape.sectors_per_track * disk.heads,
        Sparing::CylinderRange => shape.sectors_per_track * disk.heads * disk.sparing_range_cylinders,
        Sparing::None | Sparing::Drive | Sparing::Zone | Sparing::ZoneTracks => u64::MAX,
    }
}

/// The sectors skipped when slips are applied one after another, each to the numbering that the slips before it have
/// left. Slips in ascending order skip just the sectors they name.
fn skipped_sectors(slips: &[u64], region: u64) -> Vec<u64> {
    let mut skipped: Vec<u64> = slips
        .iter()
        .enumerate()
        .map(|(number, slip)| {
            let later = slips[number + 1..].iter().filter(|later| *later / region == slip / region);
            later.fold(*slip, |place, later| if *later <= place { place + 1 } else { place })
        })
        .collect();
    skipped.sort_unstable();
    skipped
}
