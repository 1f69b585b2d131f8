//! Location of blocks: zone by zone, cylinder by cylinder, head by head, sector by sector.

use sledlab_core::{Error, Result};

use super::params::{DiskParams, LbnOrder};
use super::steps::Steps;
use super::zone_map::{Run, Spot, ZoneMap};

/// A track: where the arm stands and which head is on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Track {
    /// Cylinder, from 0.
    pub cylinder: u32,
    /// Head, from 0.
    pub head: u32,
}

/// Location of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SectorPlace {
    pub track: Track,
    /// Sector on the track, from 0; spare and slipped sectors count.
    pub sector: u64,
    /// Angle at which that sector begins, in sectors from the index mark, skews included.
    pub slot: u64,
    /// Sectors of the track.
    pub sectors: u64,
}

/// Location of a block, and the blocks next to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Located {
    pub place: SectorPlace,
    /// Number of blocks, from the block on, on consecutive sectors of its track.
    pub contiguous_blocks: u64,
    /// [`Geometry::track_bounds`] of the block.
    pub track_bounds: (u64, u64),
}

/// Consecutive blocks of a zone: on consecutive sectors, or in a zone of several regions all blocks.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    zone: usize,
    first_block: u64,
    /// The sector of the first block, counted from the start of the zone.
    first_sector: u64,
}

/// The mapping of blocks to cylinders, heads and sectors.
#[derive(Clone, Debug)]
pub(super) struct Geometry {
    pub cylinders: u64,
    pub heads: u64,
    /// Sectors of the longest track.
    pub longest_track: u64,
    is_serpentine: bool,
    /// First block of every stretch, to search stretches by block.
    starts: Steps,
    stretches: Vec<Stretch>,
    zones: Vec<ZoneMap>,
    blocks: u64,
}

impl Geometry {
    /// The geometry of a disk.
    ///
    /// # Errors
    /// Zones that overlap or contain no blocks, skews of a full rotation, spares or slipped sectors that do not fit.
    pub fn new(params: &DiskParams) -> Result<Self> {
        if params.zones.is_empty() {
            return Err(Error::user("device.zones: the disk has no zones")
                .with_remedy("describe at least one zone, from cylinder 0 on"));
        }
        let (mut stretches, mut zones, mut blocks, mut next_cylinder) =
            (Vec::new(), Vec::<ZoneMap>::new(), 0, 0);
        for (number, zone) in params.zones.iter().enumerate() {
            let path = format!("device.zones[{number}]");
            let first = zone.shape.first_cylinder;
            if first < next_cylinder {
                return Err(Error::user(format!(
                    "{path} begins on cylinder {first}, but the zone before ends on cylinder {}",
                    next_cylinder - 1
                ))
                .with_remedy("zones follow one another from the first cylinder on and do not overlap"));
            }
            next_cylinder = first + zone.shape.cylinders;
            let map = ZoneMap::new(&path, &params.flat, zone, blocks)?;
            stretches.extend(map.run_starts().map(|block| Stretch {
                zone: number,
                first_block: block,
                first_sector: map.run(block).sector,
            }));
            blocks += map.blocks;
            zones.push(map);
        }
        let longest_track = params.zones.iter().map(|zone| zone.shape.sectors_per_track).max().unwrap_or(1);
        Ok(Geometry {
            cylinders: next_cylinder,
            heads: params.flat.heads,
            longest_track,
            is_serpentine: params.flat.lbn_order == LbnOrder::Serpentine,
            starts: Steps::new(stretches.iter().map(|stretch| stretch.first_block).collect()),
            stretches,
            zones,
            blocks,
        })
    }

    pub fn capacity_blocks(&self) -> u64 {
        self.blocks
    }

    /// The zone of block `lbn`, and the run of the block.
    #[inline]
    fn zone_and_run(&self, lbn: u64) -> (&ZoneMap, Run) {
        debug_assert!(lbn < self.blocks, "block {lbn} of {}", self.blocks);
        let number = self.starts.count_up_to(lbn);
        let Stretch { zone, first_block, first_sector } = self.stretches[number - 1];
        let zone = &self.zones[zone];
        if zone.has_regions() {
            return (zone, zone.run(lbn));
        }
        let (before, end) = (lbn - first_block, self.starts.get(number).unwrap_or(self.blocks));
        (zone, Run { sector: first_sector + before, before, blocks: end - lbn })
    }

    /// Returns the location of block `lbn`.
    #[inline]
    pub fn place(&self, lbn: u64) -> SectorPlace {
        let (zone, run) = self.zone_and_run(lbn);
        self.sector_place(zone, &zone.spot(zone.remapped_sector(lbn).unwrap_or(run.sector)))
    }

    /// Returns the location of block `lbn` and the blocks next to it.
    #[inline]
    pub fn locate(&self, lbn: u64) -> Located {
        let (zone, run) = self.zone_and_run(lbn);
        let home = zone.spot(run.sector);
        let spot = zone.remapped_sector(lbn).map_or(home, |sector| zone.spot(sector));
        Located {
            place: self.sector_place(zone, &spot),
            contiguous_blocks: zone.contiguous_blocks(lbn, &run, home.sector),
            track_bounds: zone.track_bounds(lbn, &run, home.sector),
        }
    }

    #[inline]
    fn sector_place(&self, zone: &ZoneMap, spot: &Spot) -> SectorPlace {
        let is_reversed = self.is_serpentine && spot.cylinder % 2 == 1;
        let head = if is_reversed { self.heads - 1 - spot.surface } else { spot.surface };
        let track = Track { cylinder: (zone.first_cylinder + spot.cylinder) as u32, head: head as u32 };
        SectorPlace { track, sector: spot.sector, slot: zone.slot(spot), sectors: zone.sectors }
    }

    /// First and last block of the track of `lbn`; remapped blocks count on the track they were moved away from.
    pub fn track_bounds(&self, lbn: u64) -> (u64, u64) {
        let (zone, run) = self.zone_and_run(lbn);
        zone.track_bounds(lbn, &run, run.sector % zone.sectors)
    }

    /// Cylinder of block `lbn`.
    pub fn cylinder(&self, lbn: u64) -> u32 {
        self.place(lbn).track.cylinder
    }
}

#[cfg(test)]
mod tests {
    use super::super::params::{DiskNumbers, Sparing};
    use super::super::zones::{Zone, ZoneShape};
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn disk(heads: u64) -> DiskNumbers {
        DiskNumbers { heads, ..DiskNumbers::default() }
    }

    fn params() -> DiskParams {
        DiskParams::with_one_zone(10, 8, (2, 3), disk(2))
    }

    #[test]
    fn blocks_fill_tracks_then_cylinders_with_skew() {
        let geometry = Geometry::new(&params()).unwrap();
        assert_eq!(geometry.capacity_blocks(), 160);
        let places = [0, 7, 8, 16, 24, 33].map(|lbn| {
            let SectorPlace { track, sector, slot, .. } = geometry.place(lbn);
            (track.cylinder, track.head, sector, slot)
        });
        let expected = [(0, 0, 0, 0), (0, 0, 7, 7), (0, 1, 0, 2), (1, 0, 0, 5), (1, 1, 0, 7), (2, 0, 1, 3)];
        assert_eq!(places, expected);
        assert_eq!(geometry.track_bounds(20), (16, 23));
    }

    /// The geometry of `params` after `change`.
    fn changed_geometry(change: impl FnOnce(&mut DiskNumbers, &mut Zone)) -> Result<Geometry> {
        let mut params = params();
        change(&mut params.flat, &mut params.zones[0]);
        Geometry::new(&params)
    }

    #[test]
    fn invalid_geometry_is_rejected() {
        let message =
            |change: fn(&mut DiskNumbers, &mut Zone)| changed_geometry(change).unwrap_err().to_string();
        let skew = message(|_, zone| zone.shape.cylinder_skew_sectors = 8);
        assert!(
            skew.contains("device.zones[0].cylinder_skew_sectors = 8 is a full rotation of 8 sectors"),
            "{skew}"
        );
        let spares = message(|_, zone| zone.shape.spares = 1);
        assert!(spares.contains("device.zones[0].spares = 1, but device.sparing = \"none\""), "{spares}");
        let slips = message(|disk, zone| {
            (disk.sparing, zone.shape.spares, zone.slipped) = (Sparing::Track, 1, vec![3, 5]);
        });
        assert!(
            slips.contains("slips 2 sectors of the region that begins at 0, which has 1 spare"),
            "{slips}"
        );
        let order = message(|disk, zone| (disk.sparing, zone.slipped) = (Sparing::Drive, vec![5, 3]));
        assert!(order.contains("device.zones[0].slipped: 3 follows 5"), "{order}");
        let missing_sector = message(|disk, zone| (disk.sparing, zone.slipped) = (Sparing::Drive, vec![160]));
        assert!(
            missing_sector.contains("device.zones[0].slipped: the zone has no sector 160"),
            "{missing_sector}"
        );
        let reserved = message(|_, zone| zone.shape.reserved_sectors = 160);
        assert!(reserved.contains("device.zones[0] holds no blocks"), "{reserved}");
        let none_left = message(|disk, zone| (disk.sparing, zone.shape.spares) = (Sparing::Track, 8));
        assert!(none_left.contains("leaves no sectors for blocks"), "{none_left}");
        let occupied_sector = message(|_, zone| zone.remapped = vec![(3, 4)]);
        assert!(occupied_sector.contains("sector 4 already holds a block"), "{occupied_sector}");
        let shared_sector = message(|disk, zone| {
            (disk.sparing, zone.shape.spares, zone.remapped) = (Sparing::Zone, 2, vec![(3, 159), (4, 159)]);
        });
        assert!(shared_sector.contains("two blocks are moved to sector 159"), "{shared_sector}");
    }

    #[test]
    fn zones_follow_one_another() {
        let zone = |first_cylinder, sectors_per_track| Zone {
            shape: ZoneShape {
                first_cylinder,
                cylinders: 10,
                sectors_per_track,
                track_skew_sectors: 0,
                cylinder_skew_sectors: 0,
                ..ZoneShape::default()
            },
            ..Zone::default()
        };
        let params = |zones| DiskParams { flat: disk(1), zones, seek_table: Vec::new() };
        // Cylinder 10 stays unused between the two zones.
        let geometry = Geometry::new(&params(vec![zone(0, 9), zone(11, 8)])).unwrap();
        assert_eq!((geometry.cylinders, geometry.longest_track, geometry.capacity_blocks()), (21, 9, 170));
        assert_eq!(geometry.place(90).track.cylinder, 11);
        assert_eq!((geometry.track_bounds(89), geometry.track_bounds(90)), ((81, 89), (90, 97)));
        let message = Geometry::new(&params(vec![zone(0, 9), zone(9, 8)])).unwrap_err().to_string();
        assert!(message.contains("device.zones[1] begins on cylinder 9"), "{message}");
        assert!(Geometry::new(&params(Vec::new())).unwrap_err().to_string().contains("has no zones"));
    }

    #[test]
    fn remapped_blocks_form_separate_runs() {
        let geometry = changed_geometry(|disk, zone| {
            (disk.sparing, zone.shape.spares, zone.remapped) = (Sparing::Zone, 2, vec![(3, 159), (20, 20)]);
        })
        .unwrap();
        assert_eq!(geometry.place(3).track, Track { cylinder: 9, head: 1 });
        assert_eq!([0, 3, 4, 16].map(|lbn| geometry.locate(lbn).contiguous_blocks), [3, 1, 4, 8]);
        assert_eq!(geometry.track_bounds(3), (0, 7));
    }

    /// `(cylinder, head, sector, slot)` of every block in order, found by counting sector by sector.
    fn enumerate(params: &DiskParams) -> Vec<(u64, u64, u64, u64)> {
        let DiskNumbers { heads, sparing, sparing_range_cylinders, lbn_order, .. } = params.flat;
        let mut blocks = Vec::new();
        for Zone { shape, slipped, .. } in &params.zones {
            let n = shape.sectors_per_track;
            let total = shape.cylinders * heads * n;
            let region = match sparing {
                Sparing::Track => n,
                Sparing::Cylinder => heads * n,
                Sparing::CylinderRange => heads * n * sparing_range_cylinders,
                Sparing::None | Sparing::Zone | Sparing::Drive | Sparing::ZoneTracks => total,
            };
            let (mut left_in_region, mut reserved) = (0, shape.reserved_sectors);
            for sector in 0..total {
                if sector % region == 0 {
                    let size = region.min(total - sector);
                    let spares = match sparing {
                        Sparing::None => 0,
                        Sparing::Drive => slipped.len() as u64,
                        Sparing::ZoneTracks => shape.spares * n,
                        // The remaining cylinders after the last complete range have no spares.
                        Sparing::CylinderRange if size < region => {
                            slipped.iter().filter(|slip| **slip >= sector).count() as u64
                        }
                        _ => shape.spares,
                    };
                    left_in_region = (size - spares).min(region - shape.spares.min(region));
                    if sparing == Sparing::ZoneTracks {
                        left_in_region = size - spares;
                    }
                }
                let unit = if sparing == Sparing::ZoneTracks { sector / n } else { sector };
                if slipped.contains(&unit) || left_in_region == 0 {
                    continue;
                }
                left_in_region -= 1;
                if reserved > 0 {
                    reserved -= 1;
                    continue;
                }
                let (track, place) = (sector / n, sector % n);
                let (cylinder, surface) = (track / heads, track % heads);
                let before = match sparing {
                    Sparing::Cylinder => cylinder * heads * n,
                    Sparing::Track => track * n,
                    _ => 0,
                };
                let slips = slipped.iter().filter(|slip| **slip < before).count() as u64;
                let skew = cylinder * (shape.cylinder_skew_sectors + (heads - 1) * shape.track_skew_sectors)
                    + surface * shape.track_skew_sectors;
                let slot = (shape.first_sector_offset + skew + place + slips) % n;
                let head = if lbn_order == LbnOrder::Serpentine && cylinder % 2 == 1 {
                    heads - 1 - surface
                } else {
                    surface
                };
                blocks.push((shape.first_cylinder + cylinder, head, place, slot));
            }
        }
        blocks
    }

    prop_compose! {
        fn small_zone()(
            gap in 0_u64..2, cylinders in 1_u64..8, sectors in 1_u64..9, skews in any::<[u64; 3]>(),
            reserved in 0_u64..6, spares in 0_u64..5, mut slipped in prop::collection::vec(0_u64..200, 0..5),
        ) -> (u64, Zone) {
            slipped.sort_unstable();
            slipped.dedup();
            let [track, cylinder, first] = skews.map(|skew| skew % sectors);
            let shape = ZoneShape {
                first_cylinder: 0, cylinders, sectors_per_track: sectors, track_skew_sectors: track,
                cylinder_skew_sectors: cylinder, first_sector_offset: first, reserved_sectors: reserved, spares,
            };
            (gap, Zone { shape, slipped, remapped: Vec::new() })
        }
    }

    const SPARINGS: [Sparing; 7] = [
        Sparing::None,
        Sparing::ZoneTracks,
        Sparing::Cylinder,
        Sparing::Track,
        Sparing::Drive,
        Sparing::CylinderRange,
        Sparing::Zone,
    ];

    prop_compose! {
        /// Any small disk that can be built.
        fn small_disk()(
            heads in 1_u64..5, is_serpentine: bool, sparing in prop::sample::select(SPARINGS.to_vec()),
            range in 1_u64..4, zones in prop::collection::vec(small_zone(), 1..4),
        ) -> DiskParams {
            let mut first = 0;
            let zones = zones.into_iter().map(|(gap, mut zone)| {
                zone.shape.first_cylinder = first + gap;
                first += gap + zone.shape.cylinders;
                if matches!(sparing, Sparing::None | Sparing::Drive) {
                    zone.shape.spares = 0;
                }
                let unit = if sparing == Sparing::ZoneTracks { zone.shape.sectors_per_track } else { 1 };
                let units = zone.shape.cylinders * heads * zone.shape.sectors_per_track / unit;
                zone.slipped.retain(|slip| *slip < units && sparing != Sparing::None);
                zone
            }).collect();
            let lbn_order = if is_serpentine { LbnOrder::Serpentine } else { LbnOrder::Normal };
            let flat = DiskNumbers {
                heads, lbn_order, sparing, sparing_range_cylinders: range, ..DiskNumbers::default()
            };
            DiskParams { flat, zones, seek_table: Vec::new() }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 2000, max_global_rejects: 50_000, ..ProptestConfig::default()
        })]
        #[test]
        fn sector_of_each_block_equals_counting(params in small_disk()) {
            let geometry = Geometry::new(&params);
            prop_assume!(geometry.is_ok());
            let geometry = geometry.unwrap();
            let expected = enumerate(&params);
            prop_assert_eq!(geometry.capacity_blocks(), expected.len() as u64);
            let mut seen_sectors = HashSet::new();
            for (lbn, (cylinder, head, sector, slot)) in (0..).zip(expected.iter().copied()) {
                let place = geometry.place(lbn);
                let numbers = (place.track.cylinder.into(), place.track.head.into(), place.sector, place.slot);
                prop_assert_eq!(numbers, (cylinder, head, sector, slot), "block {}", lbn);
                prop_assert!(seen_sectors.insert((cylinder, head, sector)), "block {} shares its sector", lbn);
                let is_on_track = |other: u64| {
                    expected.get(other as usize).is_some_and(|(c, h, ..)| (*c, *h) == (cylinder, head))
                };
                let (first, last) = geometry.track_bounds(lbn);
                prop_assert!((first..=last).contains(&lbn) && (first..=last).all(is_on_track), "{first} {last}");
                prop_assert!(!is_on_track(last + 1) && (first == 0 || !is_on_track(first - 1)), "{first} {last}");
                let (located, sectors) = (geometry.locate(lbn), place.sectors);
                prop_assert_eq!((located.place, located.track_bounds), (place, (first, last)));
                let is_followed = |count: &u64| {
                    let other = expected.get((lbn + count) as usize);
                    other.is_some_and(|(c, h, at, _)| (*c, *h, *at) == (cylinder, head, sector + count))
                };
                prop_assert_eq!(located.contiguous_blocks, 1 + (1..=sectors).take_while(is_followed).count() as u64);
            }
        }
    }
}
