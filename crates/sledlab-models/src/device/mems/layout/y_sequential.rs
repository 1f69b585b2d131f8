//! Sequential in y: one group of tips at a time (Lee 2009).
//!
//! Adjacent blocks lie in adjacent rows under the same group of tips, so that a request sweeps rows with the tips of
//! one block, and only requests at the same place of different groups can be served in parallel. After a column comes
//! the next cylinder under the same group, its rows in reverse order; after the last cylinder the next group.

use super::divisor::Divisor;
use super::{Geometry, Layout, Place, alternate_row};

/// Consecutive blocks fill a column of one group of tips, then the group's next column.
#[derive(Clone, Debug)]
pub struct YSequential {
    per_group: Divisor,
    per_column: Divisor,
    per_track: Divisor,
    rows: u32,
    cylinders: u32,
    cells: u32,
    blocks: u64,
}

impl YSequential {
    /// Sequential in y on a sled of the given geometry.
    pub fn new(geometry: &Geometry) -> Self {
        let blocks_per_group = u64::from(geometry.cylinders) * u64::from(geometry.rows);
        YSequential {
            per_group: Divisor::new(blocks_per_group, geometry.blocks),
            per_column: Divisor::new(geometry.rows.into(), blocks_per_group),
            per_track: Divisor::new(geometry.cells.into(), geometry.blocks / blocks_per_group),
            rows: geometry.rows,
            cylinders: geometry.cylinders,
            cells: geometry.cells,
            blocks: geometry.blocks,
        }
    }

    /// Translates the row in order of blocks to the physical row, or the inverse.
    #[inline]
    fn swap_row(&self, cylinder: u32, row: u32) -> u32 {
        alternate_row(cylinder, row, self.rows)
    }
}

impl Layout for YSequential {
    #[inline]
    fn place(&self, lbn: u64) -> Place {
        let (group, in_group) = self.per_group.div_rem(lbn);
        let (cylinder, row) = self.per_column.div_rem(in_group);
        let (track, cell) = self.per_track.div_rem(group);
        let cylinder = cylinder as u32;
        let row = self.swap_row(cylinder, row as u32);
        Place { cylinder, track: track as u32, row, cell: cell as u32 }
    }

    #[inline]
    fn lbn(&self, place: Place) -> u64 {
        let group = u64::from(place.track) * u64::from(self.cells) + u64::from(place.cell);
        let column = group * u64::from(self.cylinders) + u64::from(place.cylinder);
        column * u64::from(self.rows) + u64::from(self.swap_row(place.cylinder, place.row))
    }

    #[inline]
    fn run_length(&self, lbn: u64, maximum: u32) -> u32 {
        if self.rows > 1 || self.cylinders > 1 {
            return maximum.min(1);
        }
        // On a sled of a single position the blocks of all groups lie at it.
        let blocks_left = self.blocks - lbn;
        maximum.min(self.cells).min(u32::try_from(blocks_left).unwrap_or(u32::MAX))
    }

    #[inline]
    fn place_and_run(&self, lbn: u64, maximum: u32) -> (Place, u32) {
        (self.place(lbn), self.run_length(lbn, maximum))
    }
}
