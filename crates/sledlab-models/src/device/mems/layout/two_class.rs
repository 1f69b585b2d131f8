//! Two classes of data, each in a separate part of the medium (Like et al. 2008).
//!
//! Only the abstract of the paper was available: it divides the medium into two parts for two classes of files.
//! Everything else is this project's choice: the first addresses are the class of small data, at the center. All blocks
//! of a position follow each other, under all tips, so that blocks near in address can be served in one pass; then
//! comes the next position along y. The class of large data fills the columns around the center in the streaming
//! layout.

use super::divisor::Divisor;
use super::{Geometry, Layout, Place, StreamingLayout, alternate_row};

/// Small data at the center, position by position; large data around it, in the streaming layout.
#[derive(Clone, Debug)]
pub struct TwoClassLayout {
    per_cylinder: Divisor,
    per_position: Divisor,
    per_row: Divisor,
    large: StreamingLayout,
    small_blocks: u64,
    /// First cylinder of small data, and the number of its cylinders.
    first_cylinder: u32,
    cylinders: u32,
    rows: u32,
    tracks: u32,
    cells: u32,
}

impl TwoClassLayout {
    /// A layout with `small_share` of the cylinders for small data; with two or more cylinders each class has at
    /// least one.
    pub fn new(geometry: &Geometry, small_share: f64) -> Self {
        let maximum = geometry.cylinders.saturating_sub(1).max(1);
        let cylinders =
            (small_share * f64::from(geometry.cylinders)).round().clamp(1.0, maximum.into()) as u32;
        let small_blocks = geometry.with_cylinders(cylinders).blocks;
        let per_position = u64::from(geometry.tracks) * u64::from(geometry.cells);
        TwoClassLayout {
            per_cylinder: Divisor::new(geometry.blocks_per_cylinder, small_blocks),
            per_position: Divisor::new(per_position, geometry.blocks_per_cylinder),
            per_row: Divisor::new(geometry.cells.into(), per_position),
            // A sled of a single cylinder has no large data: the layout made here for them is never used.
            large: StreamingLayout::new(&geometry.with_cylinders((geometry.cylinders - cylinders).max(1))),
            small_blocks,
            first_cylinder: (geometry.cylinders - cylinders) / 2,
            cylinders,
            rows: geometry.rows,
            tracks: geometry.tracks,
            cells: geometry.cells,
        }
    }

    /// Translates the row in order of blocks to the physical row, or the inverse: up one column, down the next.
    #[inline]
    fn swap_row(&self, nth_cylinder: u32, row: u32) -> u32 {
        alternate_row(nth_cylinder, row, self.rows)
    }

    #[inline]
    fn place_small(&self, lbn: u64, maximum: u32) -> (Place, u32) {
        let (nth, in_cylinder) = self.per_cylinder.div_rem(lbn);
        let (row, in_position) = self.per_position.div_rem(in_cylinder);
        let (track, cell) = self.per_row.div_rem(in_position);
        let [nth, row, track, cell] = [nth, row, track, cell].map(|n| n as u32);
        let row = self.swap_row(nth, row);
        let cells_left = (self.tracks - track) * self.cells - cell;
        let place = Place { cylinder: self.first_cylinder + nth, track, row, cell };
        (place, maximum.min(self.cells).min(cells_left))
    }
}

impl Layout for TwoClassLayout {
    fn place(&self, lbn: u64) -> Place {
        self.place_and_run(lbn, 1).0
    }

    fn lbn(&self, place: Place) -> u64 {
        let Place { cylinder, track, row, cell } = place;
        if let Some(nth) = cylinder.checked_sub(self.first_cylinder).filter(|nth| *nth < self.cylinders) {
            let position = u64::from(nth) * u64::from(self.rows) + u64::from(self.swap_row(nth, row));
            let track = position * u64::from(self.tracks) + u64::from(track);
            return track * u64::from(self.cells) + u64::from(cell);
        }
        let skipped = if cylinder < self.first_cylinder { 0 } else { self.cylinders };
        self.small_blocks + self.large.lbn(Place { cylinder: cylinder - skipped, ..place })
    }

    fn run_length(&self, lbn: u64, maximum: u32) -> u32 {
        self.place_and_run(lbn, maximum).1
    }

    #[inline]
    fn place_and_run(&self, lbn: u64, maximum: u32) -> (Place, u32) {
        let Some(lbn) = lbn.checked_sub(self.small_blocks) else { return self.place_small(lbn, maximum) };
        let (place, run) = self.large.place_and_run(lbn, maximum);
        let skipped = if place.cylinder < self.first_cylinder { 0 } else { self.cylinders };
        (Place { cylinder: place.cylinder + skipped, ..place }, run)
    }
}
