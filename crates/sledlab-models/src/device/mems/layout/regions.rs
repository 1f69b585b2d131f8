//! Layouts that fill the medium region after region: the base of all layouts by parts of the medium.

use super::divisor::Divisor;
use super::{Geometry, Layout, Place, alternate_row};
use crate::device::{Extent, Grid};

/// Which cylinders of a cell belong to a region, and in which direction blocks fill its tracks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filling {
    /// All cylinders, every other track downwards.
    Serpentine,
    /// The even cylinders, upwards in every track.
    EvenUpwards,
    /// The odd cylinders, downwards in every track.
    OddDownwards,
}

/// A cell of a grid, or every other cylinder of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rectangle {
    /// Column of the cell.
    pub x: u32,
    /// Row of the cell.
    pub y: u32,
    /// Which cylinders of the cell, and the direction of their tracks.
    pub filling: Filling,
}

/// A part of the medium that consecutive blocks fill.
#[derive(Clone, Debug)]
struct Region {
    first_block: u64,
    per_cylinder: Divisor,
    per_track: Divisor,
    blocks_per_cylinder: u64,
    blocks_per_track: u64,
    cylinder: u32,
    /// Step from one cylinder of the region to the next.
    step: u32,
    row: u32,
    rows: u32,
    filling: Filling,
    /// 1 if the direction of a track also depends on its cylinder, so that neighboring tracks always alternate; else
    /// 0.
    parity_mask: u32,
}

impl Region {
    /// The region of `rectangle`, and its number of blocks; `None` if it would hold no blocks.
    fn new(geometry: &Geometry, grid: Grid, rectangle: Rectangle, first_block: u64) -> Option<(Self, u64)> {
        let (cylinders, rows) = grid.ranges(&extent(geometry), rectangle.x, rectangle.y);
        let start = cylinders.start;
        let (cylinder, step) = match rectangle.filling {
            Filling::Serpentine => (start, 1),
            Filling::EvenUpwards => (start.next_multiple_of(2), 2),
            Filling::OddDownwards => (start | 1, 2),
        };
        let count = u64::from(cylinders.end.saturating_sub(cylinder).div_ceil(step));
        let blocks_per_track = u64::from(rows.end - rows.start) * u64::from(geometry.cells);
        let blocks_per_cylinder = blocks_per_track * u64::from(geometry.tracks);
        let blocks = count * blocks_per_cylinder;
        (blocks > 0).then(|| {
            let region = Region {
                first_block,
                per_cylinder: Divisor::new(blocks_per_cylinder, blocks),
                per_track: Divisor::new(blocks_per_track, blocks_per_cylinder),
                blocks_per_cylinder,
                blocks_per_track,
                cylinder,
                step,
                row: rows.start,
                rows: rows.end - rows.start,
                filling: rectangle.filling,
                parity_mask: geometry.tracks & 1,
            };
            (region, blocks)
        })
    }

    /// Translates a row in order of blocks to a row from the bottom of the region, or the inverse.
    #[inline]
    fn swap_row(&self, nth_cylinder: u32, track: u32, row: u32) -> u32 {
        let number = match self.filling {
            Filling::Serpentine => track ^ (nth_cylinder & self.parity_mask),
            Filling::EvenUpwards => 0,
            Filling::OddDownwards => 1,
        };
        alternate_row(number, row, self.rows)
    }

    /// Whether a track begins at the row where the track before ends.
    #[inline]
    fn is_serpentine(&self) -> bool {
        self.filling == Filling::Serpentine || self.rows == 1
    }
}

/// Consecutive blocks fill one region, the rows of its tracks and the tracks of its cylinders, then the next.
#[derive(Clone, Debug)]
pub struct Regions {
    /// Regions with blocks, in order of blocks.
    regions: Vec<Region>,
    /// By stretch of 2 to the power of `shift` blocks: number of the region that holds its first block.
    stretches: Vec<u32>,
    shift: u32,
    per_row: Divisor,
    grid: Grid,
    extent: Extent,
    /// By cell: the numbers of its regions of even and of odd cylinders.
    regions_by_cell: Vec<[u32; 2]>,
    tracks: u32,
    cells: u32,
}

fn extent(geometry: &Geometry) -> Extent {
    Extent {
        cylinders: geometry.cylinders,
        rows: geometry.rows,
        blocks_per_track: geometry.blocks_per_track.into(),
    }
}

impl Regions {
    /// A layout of regions in the order in which blocks fill them; together they must cover each cell of `grid` once.
    pub(super) fn new(geometry: &Geometry, grid: Grid, order: Vec<Rectangle>) -> Self {
        let mut regions: Vec<Region> = Vec::new();
        let mut regions_by_cell = vec![[u32::MAX; 2]; (grid.columns * grid.rows) as usize];
        let mut blocks = 0;
        for rectangle in order {
            let Some((region, region_blocks)) = Region::new(geometry, grid, rectangle, blocks) else {
                continue;
            };
            let numbers = &mut regions_by_cell[(rectangle.x * grid.rows + rectangle.y) as usize];
            let parities = match rectangle.filling {
                Filling::Serpentine => 0..=1,
                Filling::EvenUpwards => 0..=0,
                Filling::OddDownwards => 1..=1,
            };
            numbers[parities].fill(regions.len() as u32);
            blocks += region_blocks;
            regions.push(region);
        }
        debug_assert_eq!(blocks, geometry.blocks);
        // Short stretches, so that hardly any has blocks of more than two regions.
        let shift = (blocks / (4 * regions.len() as u64)).checked_ilog2().unwrap_or(0);
        let stretches = (0..=(blocks - 1) >> shift).map(|stretch| {
            let first_block = stretch << shift;
            regions.partition_point(|region| region.first_block <= first_block) as u32 - 1
        });
        Regions {
            stretches: stretches.collect(),
            shift,
            per_row: Divisor::new(geometry.cells.into(), geometry.blocks_per_track.into()),
            grid,
            extent: extent(geometry),
            regions_by_cell,
            tracks: geometry.tracks,
            cells: geometry.cells,
            regions,
        }
    }

    /// The region of a block.
    #[inline]
    fn region(&self, lbn: u64) -> &Region {
        let mut number = self.stretches[(lbn >> self.shift) as usize] as usize;
        while self.regions.get(number + 1).is_some_and(|next| next.first_block <= lbn) {
            number += 1;
        }
        &self.regions[number]
    }
}

impl Layout for Regions {
    #[inline]
    fn place(&self, lbn: u64) -> Place {
        self.place_and_run(lbn, 1).0
    }

    #[inline]
    fn lbn(&self, place: Place) -> u64 {
        let (x, y) = self.grid.cell(&self.extent, place.cylinder, place.row);
        let numbers = self.regions_by_cell[(x * self.grid.rows + y) as usize];
        let region = &self.regions[numbers[(place.cylinder % 2) as usize] as usize];
        let nth = (place.cylinder - region.cylinder) / region.step;
        let row = region.swap_row(nth, place.track, place.row - region.row);
        region.first_block
            + u64::from(nth) * region.blocks_per_cylinder
            + u64::from(place.track) * region.blocks_per_track
            + u64::from(row) * u64::from(self.cells)
            + u64::from(place.cell)
    }

    #[inline]
    fn run_length(&self, lbn: u64, maximum: u32) -> u32 {
        self.place_and_run(lbn, maximum).1
    }

    #[inline]
    fn place_and_run(&self, lbn: u64, maximum: u32) -> (Place, u32) {
        let region = self.region(lbn);
        let (nth, in_cylinder) = region.per_cylinder.div_rem(lbn - region.first_block);
        let (track, in_track) = region.per_track.div_rem(in_cylinder);
        let (row, cell) = self.per_row.div_rem(in_track);
        let [nth, track, row, cell] = [nth, track, row, cell].map(|n| n as u32);
        let place = Place {
            cylinder: region.cylinder + nth * region.step,
            track,
            row: region.row + region.swap_row(nth, track, row),
            cell,
        };
        let within_row = self.cells - cell;
        if maximum <= within_row {
            return (place, maximum);
        }
        let is_continued = row + 1 == region.rows && track + 1 < self.tracks && region.is_serpentine();
        (place, if is_continued { maximum.min(self.cells) } else { within_row })
    }
}
