//! From blocks to sectors within a zone and back, past slipped, spare and reserved sectors.

use sledlab_core::{Error, Result};

use super::params::{DiskNumbers, Sparing};
use super::steps::Steps;
use super::zones::Zone;

/// A place within a zone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    /// Cylinder of the zone, from 0.
    pub cylinder: u64,
    /// Surface in the order in which blocks fill it, from 0.
    pub surface: u64,
    /// Sector of the track, from 0.
    pub sector: u64,
}

/// Consecutive blocks on consecutive sectors, around one of the blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The sector of the block, counted from the start of the zone.
    pub sector: u64,
    /// Number of blocks of the run before the block.
    pub before: u64,
    /// Number of blocks of the run from the block on.
    pub blocks: u64,
}

/// The slipped units up to one of them, which shift the blocks behind.
#[derive(Clone, Copy, Debug)]
struct Slip {
    /// Number of the unit's region.
    region: u64,
    /// Number of slipped units in the region up to and including this one.
    count: u64,
}

/// The sectors of a zone, and the blocks on them.
///
/// The unit of sparing is a track under `zone-tracks` and a sector otherwise. A zone is divided into regions of
/// `region` units, of which `data_units` hold blocks: each slipped unit shifts the later units of its region by one.
#[derive(Clone, Debug)]
pub(super) struct ZoneMap {
    pub first_cylinder: u64,
    /// Number of sectors of a track.
    pub sectors: u64,
    pub blocks: u64,
    first_block: u64,
    heads: u64,
    reserved: u64,
    unit: u64,
    region: u64,
    data_units: u64,
    /// Whether there is more than one region.
    has_several_regions: bool,
    /// Every slipped unit, ascending.
    slipped: Steps,
    /// For every slipped unit outside the spares: the unit of data, ascending, from which on blocks are shifted, and
    /// in `slips` by how much.
    slip_from: Steps,
    slips: Vec<Slip>,
    /// Remapped blocks, ascending, and the sector that each lies on.
    remapped: Vec<(u64, u64)>,
    first_slot: u64,
    track_skew: u64,
    /// Skew from the first track of one cylinder to that of the next, in sectors.
    cylinder_step: u64,
    sparing: Sparing,
}

impl ZoneMap {
    /// The zone called `path`, whose first block is `first_block`.
    pub fn new(path: &str, disk: &DiskNumbers, zone: &Zone, first_block: u64) -> Result<Self> {
        let shape = &zone.shape;
        let sectors = shape.sectors_per_track;
        check_skews(path, zone)?;
        let cylinder_sectors = disk.heads * sectors;
        let total = shape.cylinders * cylinder_sectors;
        let unit = if disk.sparing == Sparing::ZoneTracks { sectors } else { 1 };
        let units = total / unit;
        check_slipped(path, zone, units)?;
        let region = match disk.sparing {
            Sparing::Track => sectors,
            Sparing::Cylinder => cylinder_sectors,
            Sparing::CylinderRange => cylinder_sectors * disk.sparing_range_cylinders,
            Sparing::None | Sparing::Drive | Sparing::Zone | Sparing::ZoneTracks => units,
        };
        let data_units = data_of_region(path, disk, zone, region)?;
        check_spares(path, disk, zone, region, region - data_units)?;
        let mut map = ZoneMap {
            first_cylinder: shape.first_cylinder,
            sectors,
            blocks: 0,
            first_block,
            heads: disk.heads,
            reserved: shape.reserved_sectors,
            unit,
            region,
            data_units,
            has_several_regions: region < units,
            slipped: Steps::new(zone.slipped.clone()),
            slip_from: Steps::default(),
            slips: Vec::new(),
            remapped: Vec::new(),
            first_slot: shape.first_sector_offset,
            track_skew: shape.track_skew_sectors,
            cylinder_step: (shape.cylinder_skew_sectors + (disk.heads - 1) * shape.track_skew_sectors)
                % sectors,
            sparing: disk.sparing,
        };
        map.prepare_slips(&zone.slipped);
        map.blocks = map.count_data_before(total).saturating_sub(shape.reserved_sectors);
        if map.blocks == 0 {
            return Err(Error::user(format!("{path} holds no blocks"))
                .with_remedy("lower its spares or reserved_sectors"));
        }
        map.remap(path, zone, total)?;
        Ok(map)
    }

    fn prepare_slips(&mut self, slipped: &[u64]) {
        let (mut region, mut slips_in_region) = (u64::MAX, 0);
        let mut slip_from = Vec::new();
        for slip in slipped {
            if slip / self.region != region {
                (region, slips_in_region) = (slip / self.region, 0);
            }
            let place = slip % self.region - slips_in_region;
            slips_in_region += 1;
            if place < self.data_units {
                slip_from.push(region * self.data_units + place);
                self.slips.push(Slip { region, count: slips_in_region });
            }
        }
        self.slip_from = Steps::new(slip_from);
    }

    /// Enters the remapped blocks of `zone`, which has `total` sectors.
    fn remap(&mut self, path: &str, zone: &Zone, total: u64) -> Result<()> {
        let error = |message: String| {
            Error::user(format!("{path}.remapped: {message}")).with_remedy(
                "a pair moves the block of its first sector to its second, a spare or slipped one",
            )
        };
        let mut remapped = Vec::new();
        for (from, to) in zone.remapped.iter().copied().filter(|(from, to)| from != to) {
            if let Some(bad_sector) = [from, to].into_iter().find(|sector| *sector >= total) {
                return Err(error(format!("the zone has no sector {bad_sector}")));
            }
            let block = self.block_at(from).ok_or_else(|| error(format!("sector {from} holds no block")))?;
            if self.block_at(to).is_some() && zone.remapped.iter().all(|(from, _)| *from != to) {
                return Err(error(format!("sector {to} already holds a block")));
            }
            remapped.push((block, to));
        }
        remapped.sort_unstable();
        if let Some(twice) = remapped.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(error(format!("block {} is moved twice", twice[0].0)));
        }
        let mut targets: Vec<u64> = remapped.iter().map(|(_, to)| *to).collect();
        targets.sort_unstable();
        if let Some((twice, _)) = targets.iter().zip(targets.iter().skip(1)).find(|(one, next)| one == next) {
            return Err(error(format!("two blocks are moved to sector {twice}")));
        }
        self.remapped = remapped;
        Ok(())
    }

    /// The block whose own place, before remapping, is `sector`, if any.
    fn block_at(&self, sector: u64) -> Option<u64> {
        let block = (self.first_block + self.count_data_before(sector)).checked_sub(self.reserved)?;
        let is_block = (self.first_block..self.first_block + self.blocks).contains(&block);
        (is_block && self.run(block).sector == sector).then_some(block)
    }

    /// Whether the zone has several regions of sparing.
    #[inline]
    pub fn has_regions(&self) -> bool {
        self.has_several_regions
    }

    /// The first block of every run, ascending and perhaps repeated; of a zone with [regions](Self::has_regions) only
    /// that of the first run.
    pub fn run_starts(&self) -> impl Iterator<Item = u64> {
        let slips = if self.has_several_regions { &[] } else { self.slip_from.values() };
        let after_slips =
            slips.iter().map(|unit| self.first_block + (unit * self.unit).saturating_sub(self.reserved));
        std::iter::once(self.first_block)
            .chain(after_slips)
            .filter(|block| *block < self.first_block + self.blocks)
    }

    /// The sector to which `block` is moved, if it is remapped.
    #[inline]
    pub fn remapped_sector(&self, block: u64) -> Option<u64> {
        if self.remapped.is_empty() {
            return None;
        }
        let place = self.remapped.binary_search_by_key(&block, |(block, _)| *block).ok()?;
        Some(self.remapped[place].1)
    }

    /// The run of `block`, as if nothing were remapped.
    #[inline]
    pub fn run(&self, block: u64) -> Run {
        let place = block - self.first_block + self.reserved;
        let (unit, offset) = if self.unit == 1 { (place, 0) } else { (place / self.unit, place % self.unit) };
        let region = if self.has_several_regions { unit / self.data_units } else { 0 };
        let slips_before = self.slip_from.count_up_to(unit);
        let (mut first, mut slipped) = (region * self.data_units, 0);
        if slips_before > 0 && self.slips[slips_before - 1].region == region {
            (first, slipped) =
                (self.slip_from.get(slips_before - 1).unwrap_or(first), self.slips[slips_before - 1].count);
        }
        let region_end = (region + 1) * self.data_units;
        let end = self.slip_from.get(slips_before).map_or(region_end, |next| next.min(region_end));
        Run {
            sector: (unit + region * (self.region - self.data_units) + slipped) * self.unit + offset,
            before: ((unit - first) * self.unit + offset).min(block - self.first_block),
            blocks: ((end - unit) * self.unit - offset).min(self.first_block + self.blocks - block),
        }
    }

    /// Number of the sectors before `sector` that hold data, reserved ones included.
    #[inline]
    fn count_data_before(&self, sector: u64) -> u64 {
        let (unit, offset) =
            if self.unit == 1 { (sector, 0) } else { (sector / self.unit, sector % self.unit) };
        let region = if self.has_several_regions { unit / self.region } else { 0 };
        let start = region * self.region;
        let slipped = if self.slipped.is_empty() {
            0
        } else {
            (self.slipped.count_below(unit) - self.slipped.count_below(start)) as u64
        };
        let unit_in_region = unit - start - slipped;
        // Sectors of the track before `sector` only count if the track itself holds data.
        let offset = if offset > 0 && (unit_in_region >= self.data_units || self.slipped.contains(unit)) {
            0
        } else {
            offset
        };
        (region * self.data_units + unit_in_region.min(self.data_units)) * self.unit + offset
    }

    /// The cylinder, surface and sector of the track at which a sector of the zone lies.
    #[inline]
    pub fn spot(&self, sector: u64) -> Spot {
        let (track, sector) = (sector / self.sectors, sector % self.sectors);
        Spot { cylinder: track / self.heads, surface: track % self.heads, sector }
    }

    /// Angle at which the sector at `spot` begins, in sectors from the index mark. Where every track or cylinder has
    /// spares, slipped sectors of earlier tracks shift it further.
    #[inline]
    pub fn slot(&self, spot: &Spot) -> u64 {
        let slipped = match self.sparing {
            Sparing::Cylinder => self.slipped.count_below(spot.cylinder * self.heads * self.sectors),
            Sparing::Track => {
                self.slipped.count_below((spot.cylinder * self.heads + spot.surface) * self.sectors)
            }
            _ => 0,
        } as u64;
        let skew = spot.cylinder * self.cylinder_step + spot.surface * self.track_skew;
        (self.first_slot + skew + spot.sector + slipped) % self.sectors
    }

    /// First and last block of the track of `block`, whose run is `run` and whose sector is number `sector_in_track` of
    /// the track, where remapped blocks count at their own place.
    #[inline]
    pub fn track_bounds(&self, block: u64, run: &Run, sector_in_track: u64) -> (u64, u64) {
        let sectors_left = self.sectors - sector_in_track;
        if sector_in_track <= run.before && sectors_left <= run.blocks {
            return (block - sector_in_track, block + sectors_left - 1);
        }
        let start = run.sector - sector_in_track;
        let first = self.count_data_before(start).max(self.reserved) - self.reserved;
        let end = (self.count_data_before(start + self.sectors) - self.reserved).min(self.blocks);
        (self.first_block + first, self.first_block + end - 1)
    }

    /// Number of blocks from `block` on that lie on consecutive sectors of one track; the run of `block` is `run`, and
    /// its sector is number `sector_in_track` of the track.
    #[inline]
    pub fn contiguous_blocks(&self, block: u64, run: &Run, sector_in_track: u64) -> u64 {
        let max_blocks = run.blocks.min(self.sectors - sector_in_track);
        let place = self.remapped.partition_point(|(remapped, _)| *remapped < block);
        match self.remapped.get(place) {
            Some((remapped, _)) if *remapped == block => 1,
            Some((remapped, _)) => max_blocks.min(remapped - block),
            None => max_blocks,
        }
    }
}

fn check_skews(path: &str, zone: &Zone) -> Result<()> {
    let shape = &zone.shape;
    let sectors = shape.sectors_per_track;
    let skews = [
        ("track_skew_sectors", shape.track_skew_sectors),
        ("cylinder_skew_sectors", shape.cylinder_skew_sectors),
        ("first_sector_offset", shape.first_sector_offset),
    ];
    match skews.into_iter().find(|(_, skew)| *skew >= sectors) {
        None => Ok(()),
        Some((key, skew)) => {
            Err(Error::user(format!("{path}.{key} = {skew} is a full rotation of {sectors} sectors or more"))
                .with_remedy(format!("choose from 0 to {}", sectors - 1)))
        }
    }
}

fn check_slipped(path: &str, zone: &Zone, units: u64) -> Result<()> {
    let unordered_pair = zone.slipped.iter().zip(zone.slipped.iter().skip(1)).find(|(one, next)| one >= next);
    if let Some((one, next)) = unordered_pair {
        return Err(Error::user(format!("{path}.slipped: {next} follows {one}"))
            .with_remedy("list slipped sectors in ascending order, each once"));
    }
    match zone.slipped.last() {
        Some(slip) if *slip >= units => {
            Err(Error::user(format!("{path}.slipped: the zone has no sector {slip}"))
                .with_remedy(format!("it has {units}, counted from 0")))
        }
        _ => Ok(()),
    }
}

/// Number of units of a region that hold data.
fn data_of_region(path: &str, disk: &DiskNumbers, zone: &Zone, region: u64) -> Result<u64> {
    let spares = zone.shape.spares;
    let error = |word: &str| {
        Error::user(format!("{path}.spares = {spares}, but device.sparing = \"{word}\""))
            .with_remedy("set it to 0, or choose a sparing that keeps spares in its zones")
    };
    let spares = match disk.sparing {
        Sparing::None if spares > 0 => return Err(error("none")),
        Sparing::Drive if spares > 0 => return Err(error("drive")),
        Sparing::Drive => zone.slipped.len() as u64,
        _ => spares,
    };
    if spares >= region {
        return Err(Error::user(format!("{path}.spares = {spares} leaves no sectors for blocks"))
            .with_remedy(format!("a region has {region} sectors or tracks")));
    }
    Ok(region - spares)
}

/// Checks that no region has more slipped units than spares, as blocks would be pushed out of the region.
fn check_spares(path: &str, disk: &DiskNumbers, zone: &Zone, region: u64, spares: u64) -> Result<()> {
    let units = zone.shape.cylinders * disk.heads;
    let units =
        if disk.sparing == Sparing::ZoneTracks { units } else { units * zone.shape.sectors_per_track };
    let mut slipped = &zone.slipped[..];
    while let Some(first) = slipped.first() {
        let start = first - first % region;
        let count = slipped.partition_point(|slip| *slip < start + region);
        // The remaining cylinders after the last complete range have no spares: slipped units there shorten the zone.
        if count as u64 > spares && start + region <= units {
            let unit = if disk.sparing == Sparing::ZoneTracks { "tracks" } else { "sectors" };
            let message = format!(
                "{path}.slipped slips {count} {unit} of the region that begins at {start}, which has {spares} spare"
            );
            return Err(Error::user(message).with_remedy("raise its spares"));
        }
        slipped = &slipped[count..];
    }
    Ok(())
}
