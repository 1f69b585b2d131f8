//! Row-first, the order of a disk: the cells of a row, then the rows of a track, then
//! the tracks of a cylinder, then the cylinders (Hong 2006, section 2 and figure 2).

use super::divisor::Divisor;
use super::{Geometry, Layout, Place, alternate_row};

/// Consecutive blocks fill a row, the rows above it, the next track and the next cylinder. Where columns have a
/// direction by parity, the rows of odd cylinders follow each other downwards, as they are read.
#[derive(Clone, Debug)]
pub struct RowFirst {
    per_cylinder: Divisor,
    per_track: Divisor,
    per_row: Divisor,
    blocks_per_cylinder: u64,
    blocks_per_track: u64,
    rows: u32,
    tracks: u32,
    cells: u32,
    /// 1 if the rows of odd cylinders descend, else 0.
    parity_mask: u32,
}

impl RowFirst {
    /// Row-first on a sled of the given geometry; with `by_parity`, the rows of odd cylinders descend.
    pub fn new(geometry: &Geometry, by_parity: bool) -> Self {
        RowFirst {
            per_cylinder: Divisor::new(geometry.blocks_per_cylinder, geometry.blocks),
            per_track: Divisor::new(geometry.blocks_per_track.into(), geometry.blocks_per_cylinder),
            per_row: Divisor::new(geometry.cells.into(), geometry.blocks_per_track.into()),
            blocks_per_cylinder: geometry.blocks_per_cylinder,
            blocks_per_track: geometry.blocks_per_track.into(),
            rows: geometry.rows,
            tracks: geometry.tracks,
            cells: geometry.cells,
            parity_mask: by_parity.into(),
        }
    }

    /// Translates the row in order of blocks to the physical row, or the inverse.
    #[inline]
    fn swap_row(&self, cylinder: u32, row: u32) -> u32 {
        alternate_row(cylinder & self.parity_mask, row, self.rows)
    }

    /// Rows of a track.
    pub(super) fn rows(&self) -> u32 {
        self.rows
    }

    /// Tracks of a cylinder.
    pub(super) fn tracks(&self) -> u32 {
        self.tracks
    }

    /// Returns the number of blocks from `place` to the end of its row, or into the next track if the next track begins
    /// at the same row (`is_continued`); up to `maximum` and the cells of a row.
    #[inline]
    pub(super) fn run_length_from(&self, place: Place, maximum: u32, is_continued: bool) -> u32 {
        let within_row = self.cells - place.cell;
        if maximum <= within_row {
            return maximum;
        }
        if is_continued { maximum.min(self.cells) } else { within_row }
    }
}

impl Layout for RowFirst {
    #[inline]
    fn place(&self, lbn: u64) -> Place {
        let (cylinder, in_cylinder) = self.per_cylinder.div_rem(lbn);
        let (track, in_track) = self.per_track.div_rem(in_cylinder);
        let (row, cell) = self.per_row.div_rem(in_track);
        let cylinder = cylinder as u32;
        Place { cylinder, track: track as u32, row: self.swap_row(cylinder, row as u32), cell: cell as u32 }
    }

    #[inline]
    fn lbn(&self, place: Place) -> u64 {
        u64::from(place.cylinder) * self.blocks_per_cylinder
            + u64::from(place.track) * self.blocks_per_track
            + u64::from(self.swap_row(place.cylinder, place.row)) * u64::from(self.cells)
            + u64::from(place.cell)
    }

    #[inline]
    fn run_length(&self, lbn: u64, maximum: u32) -> u32 {
        self.place_and_run(lbn, maximum).1
    }

    #[inline]
    fn place_and_run(&self, lbn: u64, maximum: u32) -> (Place, u32) {
        let place = self.place(lbn);
        // The next track begins at the row where a track ends only if tracks have a single row.
        (place, self.run_length_from(place, maximum, self.rows == 1 && place.track + 1 < self.tracks))
    }
}
