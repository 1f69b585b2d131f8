//! Disks from the parameter files of DiskSim 4.0.
//!
//! A `disksim_disk` block, with the model and the seek times in the files it names, becomes a disk. Properties that
//! this device model lacks are named in comments of the device file.

mod keys;
mod section;
mod seek_file;
mod write;

use sledlab_core::params::Params;
use sledlab_core::{Error, Result};
use toml::Value as Toml;

use self::section::{Findings, Section, list, numbers};
use super::geometry::Geometry;
use super::params::{DiskNumbers, DiskParams, SeekCurveKind, Sparing};
use super::seek::SeekCurve;
use super::zones::{Zone, ZoneShape};
use crate::device::disksim::{Block, KeyValue, OpenFile, ParameterFile, Value, count, number, word};

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

/// The disk in a DiskSim parameter file: that of the block called `name`, or the only one.
///
/// # Errors
/// All faults of the file and of the files that it names, with file and line.
pub fn import(file: &ParameterFile, name: Option<&str>) -> Result<ImportedDisk> {
    let (block, faults) = file.device(BLOCK, name)?;
    let params = DiskParams { flat: default_numbers(), zones: Vec::new(), seek_table: Vec::new() };
    let mut import = Import { params, findings: Findings { faults, remarks: Vec::new() }, open: file.open() };
    import.read_disk(block);
    import.read_buses(file);
    let Import { params, findings: Findings { faults, mut remarks }, .. } = import;
    faults.into_result(file.path())?;
    remarks.push("Power and idle timeout are assumptions: DiskSim disks have none.".to_owned());
    Ok(ImportedDisk { name: block.name.clone(), params, remarks })
}

/// Numbers that the files do not give: the rule of DiskSim for overwritten blocks, and power typical of a server disk
/// of 3.5 inches in the 1990s, which is never parked.
fn default_numbers() -> DiskNumbers {
    DiskNumbers {
        command_overhead_ms: 0.0,
        single_cylinder_seek_ms: 0.0,
        average_seek_ms: 0.0,
        full_stroke_seek_ms: 0.0,
        writes_empty_segments: true,
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

/// A disk being imported. Values that depend on a value with a fault are not checked.
struct Import<'a> {
    params: DiskParams,
    findings: Findings,
    open: OpenFile<'a>,
}

impl Import<'_> {
    fn read_disk(&mut self, block: &Block) {
        let Import { params: DiskParams { flat, .. }, findings, .. } = self;
        let Some(disk) = Section::read(block, BLOCK, keys::DISK, ("device", flat), findings) else { return };
        disk.parse("Bulk sector transfer time", &mut findings.faults, |entry| {
            let sector_us = Toml::Float(number(entry, 3)?);
            keys::BUS.iter().try_for_each(|(_, key)| flat.set("device", key, &sector_us))
        });
        disk.parse("Allow almost read hits", &mut findings.faults, |entry| {
            flat.set("device", "keeps_sector_under_head", &Toml::Boolean(count(entry)? != 0))
        });
        disk.parse("Time scale for overheads", &mut findings.faults, |entry| {
            scale_overheads(flat, number(entry, 0)?)
        });
        if let Some(model) = disk.block("Model", &mut findings.faults) {
            self.read_model(model);
        }
    }

    fn read_model(&mut self, block: &Block) {
        let faults_before = self.findings.faults.count();
        let Import { params: DiskParams { flat, .. }, findings, .. } = self;
        let Some(model) = Section::read(block, "dm_disk", keys::MODEL, ("device", flat), findings) else {
            return;
        };
        let layout = model.block("Layout Model", &mut findings.faults);
        let layout = layout.and_then(|layout| self.read_layout(layout));
        let can_check_geometry = self.findings.faults.count() == faults_before;
        if let Some(mechanics) = model.block("Mechanical Model", &mut self.findings.faults) {
            self.read_mechanics(mechanics);
        }
        if let (Some(layout), true) = (layout, can_check_geometry) {
            self.check_geometry(&model, &layout);
        }
    }

    fn read_layout<'b>(&mut self, block: &'b Block) -> Option<Section<'b>> {
        let Import { params: DiskParams { flat, zones, .. }, findings, .. } = self;
        let layout = Section::read(block, "dm_layout_g1", keys::LAYOUT, ("device", flat), findings)?;
        layout.parse("Skew units", &mut findings.faults, check_skew_units);
        let items = layout.parse("Zones", &mut findings.faults, list)?;
        for (number, item) in items.iter().enumerate() {
            let Value::Block(block) = item else {
                let message = "`Zones`: expected a list of `dm_layout_g1_zone` blocks";
                let error = Error::user(message).with_remedy("write one block for every zone");
                findings.faults.add(layout.error(error));
                continue;
            };
            zones.extend(read_zone(block, number, flat, findings));
        }
        Some(layout)
    }

    /// Checks zones and numbers that only make sense together here, so that errors name the file.
    fn check_geometry(&mut self, model: &Section, layout: &Section) {
        let Findings { faults, remarks } = &mut self.findings;
        let geometry = Geometry::new(&self.params).map_err(|error| layout.error(error));
        let Some(geometry) = faults.check(geometry) else { return };
        let Some(declared_blocks) = model.parse("Block count", faults, count) else { return };
        let capacity_blocks = geometry.capacity_blocks();
        if u64::try_from(declared_blocks) != Ok(capacity_blocks) {
            remarks.push(format!(
                "`Block count = {declared_blocks}` is ignored: the zones hold {capacity_blocks} blocks."
            ));
        }
    }

    fn read_mechanics(&mut self, block: &Block) {
        let faults_before = self.findings.faults.count();
        let Import { params: DiskParams { flat, seek_table, .. }, findings, open } = self;
        let Some(mechanics) = Section::read(block, "dm_mech_g1", keys::MECHANICS, ("device", flat), findings)
        else {
            return;
        };
        let Findings { faults, remarks } = findings;
        mechanics.parse("Access time type", faults, |entry| {
            check_choice(entry, "access time type", &["trackSwitchPlusRotation"], keys::ACCESS_TIME_TYPES)
        });
        let seek_type = mechanics.parse("Seek type", faults, |entry| {
            check_choice(entry, "seek type", &["extracted", "hplplus10"], keys::SEEK_TYPES)
        });
        match seek_type {
            Some("extracted") => {
                flat.seek_curve = SeekCurveKind::Table;
                if let Some(entry) = mechanics.parse_required("Full seek curve", faults, Ok) {
                    *seek_table = seek_file::read(entry, *open, faults, remarks);
                }
            }
            Some(_) => {
                flat.seek_curve = SeekCurveKind::RootAndLine;
                let first_ms = mechanics.parse_required("First ten seek times", faults, numbers);
                *seek_table = (1..).zip(first_ms.unwrap_or_default()).collect();
                mechanics.parse_required("HPL seek equation values", faults, |entry| {
                    set_root_and_line(flat, &numbers(entry)?)
                });
            }
            None => {}
        }
        if faults.count() == faults_before {
            faults.check(SeekCurve::new(&self.params).map_err(|error| mechanics.error(error)));
        }
    }

    /// Sets the transfer time of a sector to that of the slowest among the drive and all buses.
    fn read_buses(&mut self, file: &ParameterFile) {
        let (flat, faults) = (&mut self.params.flat, &mut self.findings.faults);
        let buses = file.buses(faults);
        for entry in buses.iter().flat_map(|bus| &bus.entries) {
            let Some((_, key)) = keys::BUS.iter().find(|(name, _)| *name == entry.key) else { continue };
            let current_us =
                if *key == keys::BUS[0].1 { flat.bus_sector_us } else { flat.bus_write_sector_us };
            let outcome = number(entry, 3).and_then(|sector_us| {
                if sector_us > current_us { flat.set("device", key, &Toml::Float(sector_us)) } else { Ok(()) }
            });
            faults.check(outcome.map_err(|error| entry.error(error)));
        }
    }
}

/// Returns the word of an entry if it is among those that are `modeled`. `effects` are the reasons against others.
fn check_choice<'a>(
    entry: &'a KeyValue,
    noun: &str,
    modeled: &[&str],
    effects: &[(&str, &str)],
) -> Result<&'a str> {
    let word = word(entry)?;
    if modeled.contains(&word) {
        return Ok(word);
    }
    let effect = effects.iter().find(|(name, _)| *name == word);
    let effect = effect.map_or("DiskSim has no such type", |(_, effect)| *effect);
    Err(Error::user(format!("{noun} `{word}` is not modeled: {effect}"))
        .with_remedy(format!("known: {}", modeled.join(", "))))
}

/// Checks that skews are in sectors.
fn check_skew_units(entry: &KeyValue) -> Result<()> {
    match word(entry)? {
        "sectors" => Ok(()),
        other => Err(Error::user(format!(
            "skews in `{other}` are not modeled: read as sectors, they would move the blocks of every track, and with \
             them all rotational latencies"
        ))
        .with_remedy("write `Skew units = sectors`, and the skews in sectors: revolutions times blocks per track")),
    }
}

/// Multiplies every overhead.
fn scale_overheads(flat: &mut DiskNumbers, scale: f64) -> Result<()> {
    if (scale - 1.0).abs() > 0.0 {
        let table = flat.to_table();
        for (_, rule) in keys::DISK {
            if let keys::ImportRule::Number(key, 3) = rule {
                let us = table.get(*key).and_then(Toml::as_float).unwrap_or_default();
                flat.set("device", key, &Toml::Float(us * scale))?;
            }
        }
    }
    Ok(())
}

/// Threshold, constant and factor of the root, constant and slope of the line; the sixth is not used.
fn set_root_and_line(flat: &mut DiskNumbers, values: &[f64]) -> Result<()> {
    let [line_start, root_ms, root_factor_ms, line_ms, slope_ms, _] = *values else {
        return Err(Error::user(format!("expected 6 values, found {}", values.len()))
            .with_remedy("give V1 to V6 of DiskSim's seek equation"));
    };
    if line_start.fract().abs() > 0.0 {
        return Err(Error::user(format!(
            "the line begins at {line_start} cylinders, which is not a whole number"
        ))
        .with_remedy("give a whole number of cylinders as the first value"));
    }
    flat.set("device", "line_from_cylinders", &Toml::Integer(line_start as i64))?;
    flat.set("device", "root_constant_ms", &Toml::Float(root_ms))?;
    flat.set("device", "root_factor_ms", &Toml::Float(root_factor_ms))?;
    flat.set("device", "line_constant_ms", &Toml::Float(line_ms))?;
    // To the nearest picosecond, so that 0.0059 ms become exactly 5.9 us.
    flat.set("device", "line_slope_us", &Toml::Float((slope_ms * 1e9).round() / 1e6))
}

fn read_zone(block: &Block, number: usize, disk: &DiskNumbers, findings: &mut Findings) -> Option<Zone> {
    let path = format!("device.zones[{number}]");
    let faults_before = findings.faults.count();
    let mut shape = ZoneShape::default();
    let zone = Section::read(block, "dm_layout_g1_zone", keys::ZONE, (path.as_str(), &mut shape), findings)?;
    let Findings { faults, remarks } = findings;
    zone.parse("Skew units", faults, check_skew_units);
    if faults.count() == faults_before {
        let first = i64::try_from(shape.first_cylinder).unwrap_or(i64::MAX);
        zone.parse("Last cylinder number", faults, |entry| {
            let cylinders = count(entry)?.saturating_sub(first).saturating_add(1);
            if cylinders < 1 {
                return Err(Error::user(format!("{path} ends before it begins, on cylinder {first}"))
                    .with_remedy("give the first and the last cylinder of the zone"));
            }
            shape.set(&path, "cylinders", &Toml::Integer(cylinders))
        });
    }
    if matches!(disk.sparing, Sparing::None | Sparing::Drive) && shape.spares > 0 {
        remarks.push(format!("The {} spares of {path} are ignored: they are not in the zone.", shape.spares));
        shape.spares = 0;
    }
    let mut slipped = zone.sectors("slips", faults);
    let defects = zone.sectors("defects", faults);
    if defects.len() % 2 == 1 {
        zone.parse::<()>("defects", faults, |_| {
            Err(Error::user("`defects`: expected pairs of sectors")
                .with_remedy("list each defect with the sector that replaces it"))
        });
    }
    if faults.count() > faults_before {
        return None;
    }
    if !slipped.is_sorted() {
        slipped = skipped_sectors(&slipped, region(disk, &shape));
        remarks.push(format!(
            "The slips of {path} are not in order: the imported zone slips the sectors that DiskSim skips \
             in this order."
        ));
    }
    let remapped = defects.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    Some(Zone { shape, slipped, remapped })
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
            let later_slips = slips[number + 1..].iter().filter(|later| *later / region == slip / region);
            later_slips.fold(*slip, |place, later| if *later <= place { place + 1 } else { place })
        })
        .collect();
    skipped.sort_unstable();
    skipped
}
