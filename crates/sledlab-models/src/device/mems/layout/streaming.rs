//! Streaming, or serpentine: row-first with every other track read in the opposite direction, so that a stream
//! turns around at the end of a track instead of flying back (Chiu 2004).
//!
//! The rows are reversed in odd tracks or, where the number of tracks is odd, where track +
//! cylinder is odd: neighboring tracks always alternate, also from one cylinder to the next.

use super::row_first::RowFirst;
use super::{Geometry, Layout, Place, alternate_row};

/// Row-first with every other track reversed.
#[derive(Clone, Debug)]
pub struct StreamingLayout {
    row_first: RowFirst,
    /// 1 if reversal also depends on the cylinder, else 0.
    parity_mask: u32,
}

impl StreamingLayout {
    /// Streaming on a sled of the given geometry.
    pub fn new(geometry: &Geometry) -> Self {
        StreamingLayout { row_first: RowFirst::new(geometry, false), parity_mask: geometry.tracks & 1 }
    }

    /// Translates the row in order of blocks to the physical row, or the inverse.
    #[inline]
    fn swap_row(&self, place: Place) -> Place {
        let number = place.track ^ (place.cylinder & self.parity_mask);
        Place { row: alternate_row(number, place.row, self.row_first.rows()), ..place }
    }
}

impl Layout for StreamingLayout {
    #[inline]
    fn place(&self, lbn: u64) -> Place {
        self.swap_row(self.row_first.place(lbn))
    }

    #[inline]
    fn lbn(&self, place: Place) -> u64 {
        self.row_first.lbn(self.swap_row(place))
    }

    #[inline]
    fn run_length(&self, lbn: u64, maximum: u32) -> u32 {
        let place = self.row_first.place(lbn);
        let is_last_row = place.row + 1 == self.row_first.rows();
        self.row_first.run_length_from(
            place,
            maximum,
            is_last_row && place.track + 1 < self.row_first.tracks(),
        )
    }

    #[inline]
    fn place_and_run(&self, lbn: u64, maximum: u32) -> (Place, u32) {
        (self.place(lbn), self.run_length(lbn, maximum))
    }
}
