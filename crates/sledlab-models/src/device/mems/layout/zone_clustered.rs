//! Zone-clustered (Hong 2006, section 7): blocks close in address lie in one zone of the schedulers.
//!
//! The zones are those of ZSPTF, in the order in which that scheduler visits them: consecutive addresses fill one
//! zone before the next. In the zones of odd columns, which are read downwards where columns have a direction, rows
//! follow each other from the top to the bottom.

use super::Geometry;
use super::regions::{Filling, Rectangle, Regions};
use crate::device::Grid;

/// The zones of `grid`, even and odd columns apart, as one region after the other.
pub(super) fn regions(geometry: &Geometry, grid: Grid) -> Regions {
    let cells = (0..grid.columns).flat_map(|x| (0..grid.rows).map(move |y| (x, y)));
    let mut zones: Vec<_> = cells
        .flat_map(|(x, y)| {
            [Filling::EvenUpwards, Filling::OddDownwards].map(|filling| Rectangle { x, y, filling })
        })
        .collect();
    zones.sort_unstable_by_key(|Rectangle { x, y, filling }| {
        grid.sweep_index(*x, *y, *filling == Filling::OddDownwards)
    });
    Regions::new(geometry, grid, zones)
}
