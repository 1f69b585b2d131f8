//! Tabular (Yu, Agrawal and El Abbadi 2003): a relation over tips and positions.
//!
//! The addresses are cut into one region for each attribute. A region has the same number of blocks at every position,
//! under separate tips, and fills positions along y, up one cylinder and down the next. So an attribute is read as a
//! sequence, with the tips of other attributes dark, and blocks equally far into their regions lie at one position: one
//! pass reads the blocks of a tuple, as far as there are tips. How regions share the blocks of a position is this
//! project's choice; the paper gives only the idea.

use super::divisor::Divisor;
use super::{Geometry, Layout, Place, alternate_row};

/// A region for each attribute, all of them at every position.
#[derive(Clone, Debug)]
pub struct TabularLayout {
    /// Number of positions: rows of all cylinders.
    positions: u64,
    per_slot: Divisor,
    /// Blocks at a position, over all tracks.
    slots: u64,
    per_slots: Divisor,
    attributes: u64,
    per_attributes: Divisor,
    /// Fewest blocks of an attribute at a position; if `attributes` does not divide `slots`, some attributes have one
    /// more.
    min_slots: u64,
    /// Divisors by `min_slots` and by `min_slots + 1`.
    per_position: [Divisor; 2],
    per_column: Divisor,
    per_track: Divisor,
    rows: u32,
    cells: u32,
    blocks: u64,
}

impl TabularLayout {
    /// Regions for `attributes` attributes on a sled of the given geometry, at most as many as blocks lie at a
    /// position.
    pub fn new(geometry: &Geometry, attributes: u64) -> Self {
        let positions = u64::from(geometry.cylinders) * u64::from(geometry.rows);
        let slots = u64::from(geometry.tracks) * u64::from(geometry.cells);
        let attributes = attributes.min(slots);
        let min_slots = slots / attributes;
        TabularLayout {
            positions,
            per_slot: Divisor::new(positions, geometry.blocks),
            slots,
            per_slots: Divisor::new(slots, slots * attributes),
            attributes,
            per_attributes: Divisor::new(attributes, slots * attributes + 1),
            min_slots,
            per_position: [min_slots, min_slots + 1].map(|blocks| Divisor::new(blocks, geometry.blocks)),
            per_column: Divisor::new(geometry.rows.into(), positions),
            per_track: Divisor::new(geometry.cells.into(), slots),
            rows: geometry.rows,
            cells: geometry.cells,
            blocks: geometry.blocks,
        }
    }

    /// The first slot of the attribute that has `slot`, and the attribute's number of slots.
    #[inline]
    fn region(&self, slot: u64) -> (u64, u64) {
        let attribute = self.per_slots.div_rem((slot + 1) * self.attributes - 1).0;
        let bound = |attribute: u64| self.per_attributes.div_rem(attribute * self.slots).0;
        let first = bound(attribute);
        (first, bound(attribute + 1) - first)
    }

    /// Translates the row in order of blocks to the physical row, or the inverse.
    #[inline]
    fn swap_row(&self, cylinder: u32, row: u32) -> u32 {
        alternate_row(cylinder, row, self.rows)
    }
}

impl Layout for TabularLayout {
    #[inline]
    fn place(&self, lbn: u64) -> Place {
        self.place_and_run(lbn, 1).0
    }

    #[inline]
    fn lbn(&self, place: Place) -> u64 {
        let slot = u64::from(place.track) * u64::from(self.cells) + u64::from(place.cell);
        let (first, slots) = self.region(slot);
        let row = self.swap_row(place.cylinder, place.row);
        let position = u64::from(place.cylinder) * u64::from(self.rows) + u64::from(row);
        first * self.positions + position * slots + (slot - first)
    }

    #[inline]
    fn run_length(&self, lbn: u64, maximum: u32) -> u32 {
        self.place_and_run(lbn, maximum).1
    }

    #[inline]
    fn place_and_run(&self, lbn: u64, maximum: u32) -> (Place, u32) {
        let (first, slots) = self.region(self.per_slot.div_rem(lbn).0);
        let in_region = lbn - first * self.positions;
        let (position, nth) = self.per_position[(slots - self.min_slots) as usize].div_rem(in_region);
        let (cylinder, row) = self.per_column.div_rem(position);
        let (track, cell) = self.per_track.div_rem(first + nth);
        let cylinder = cylinder as u32;
        let row = self.swap_row(cylinder, row as u32);
        // On a sled of a single position a run continues in the next region.
        let blocks_here = if self.positions > 1 { slots - nth } else { self.blocks - lbn };
        let run = u64::from(maximum.min(self.cells)).min(blocks_here) as u32;
        (Place { cylinder, track: track as u32, row, cell: cell as u32 }, run)
    }
}
