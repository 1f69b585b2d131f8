//! Region after region, row-first within each: what layouts by parts of the medium are made of.

use super::divisor::Divisor;
use super::{Geometry, Layout, Place};
use crate::device::{Extent, Grid};

/// A cell of a grid, or every other cylinder of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rectangle {
    /// Column of the cell.
    pub x: u32,
    /// Row of the cell.
    pub y: u32,
    /// All cylinders, or the even or the odd ones; odd ones are filled from the top to the bottom.
    pub odd: Option<bool>,
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
    /// From one of its cylinders to the next.
    step: u32,
    row: u32,
    rows: u32,
    downwards: bool,
}

impl Region {
    /// The region of `at`, and how many blocks it holds; `None` where it has no place.
    fn new(geometry: &Geometry, grid: Grid, at: Rectangle, first_block: u64) -> Option<(Self, u64)> {
        let (cylinders, rows) = grid.ranges(&extent(geometry), at.x, at.y);
        let (cylinder, step) = match at.odd {
            None => (cylinders.start, 1),
            Some(odd) => (cylinders.start + u32::from((cylinders.start % 2 == 1) != odd), 2),
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
                downwards: at.odd == Some(true),
            };
            (region, blocks)
        })
    }

    /// Translates between rows in order of blocks and rows from the bottom of the region, either way.
    #[inline]
    fn swap_row(&self, row: u32) -> u32 {
        if self.downwards { self.rows - 1 - row } else { row }
    }
}

/// Consecutive blocks fill one region row-first, then the next.
#[derive(Clone, Debug)]
pub struct Regions {
    /// Those with blocks, in order of blocks.
    regions: Vec<Region>,
    /// The region of the first block of each stretch of 2 to the power of `shift` blocks.
    stretches: Vec<u32>,
    shift: u32,
    per_row: Divisor,
    grid: Grid,
    extent: Extent,
    /// Regions of even and of odd cylinders of each cell.
    of_cells: Vec<[u32; 2]>,
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
    /// Regions in the order in which blocks fill them; together they are all cells of `grid`, each once.
    pub(super) fn new(geometry: &Geometry, grid: Grid, order: impl Iterator<Item = Rectangle>) -> Self {
        let mut regions: Vec<Region> = Vec::new();
        let mut of_cells = vec![[u32::MAX; 2]; (grid.columns * grid.rows) as usize];
        let mut blocks = 0;
        for at in order {
            let Some((region, more)) = Region::new(geometry, grid, at, blocks) else { continue };
            let both = &mut of_cells[(at.x * grid.rows + at.y) as usize];
            let parities = at.odd.map_or(0..=1, |odd| usize::from(odd)..=usize::from(odd));
            both[parities].fill(regions.len() as u32);
            blocks += more;
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
            of_cells,
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
        let region = self.region(lbn);
        let (nth, in_cylinder) = region.per_cylinder.div_rem(lbn - region.first_block);
        let (track, in_track) = region.per_track.div_rem(in_cylinder);
        let (row, cell) = self.per_row.div_rem(in_track);
        Place {
            cylinder: region.cylinder + nth as u32 * region.step,
            track: track as u32,
            row: region.row + region.swap_row(row as u32),
            cell: cell as u32,
        }
    }

    #[inline]
    fn lbn(&self, place: Place) -> u64 {
        let (x, y) = self.grid.cell(&self.extent, place.cylinder, place.row);
        let both = self.of_cells[(x * self.grid.rows + y) as usize];
        let region = &self.regions[both[(place.cylinder % 2) as usize] as usize];
        region.first_block
            + u64::from((place.cylinder - region.cylinder) / region.step) * region.blocks_per_cylinder
            + u64::from(place.track) * region.blocks_per_track
            + u64::from(region.swap_row(place.row - region.row)) * u64::from(self.cells)
            + u64::from(place.cell)
    }

    #[inline]
    fn run(&self, lbn: u64, most: u32) -> u32 {
        self.place_and_run(lbn, most).1
    }

    #[inline]
    fn place_and_run(&self, lbn: u64, most: u32) -> (Place, u32) {
        let place = self.place(lbn);
        let within_row = self.cells - place.cell;
        if most <= within_row {
            return (place, most);
        }
        // Only tracks of a single row go on at the same place.
        let continues = self.region(lbn).rows == 1 && place.track + 1 < self.tracks;
        (place, if continues { most.min(self.cells) } else { within_row })
    }
}
