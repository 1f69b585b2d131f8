//! Bipartite (Griffin et al. 2000): small data at the center, where seeks are short and springs pull least;
//! large data around it, since streams hardly seek.
//!
//! Addresses decide which data are small: the first share of the addresses fills the parts at the center, the
//! remaining addresses fill the other parts, from one side to the other. Within a part every other track is reversed,
//! as in the streaming layout; otherwise a stream would fly back at the end of every track, the more often the less
//! high the part.

use super::Geometry;
use super::regions::{Filling, Rectangle, Regions};
use crate::device::Grid;
use crate::device::mems::params::MediumParts;

/// Parts of the medium in every division.
const PARTS: u32 = 25;

/// The parts in the order in which addresses fill them, with `small_share` of the parts for small data.
pub(super) fn regions(geometry: &Geometry, parts: MediumParts, small_share: f64) -> Regions {
    let grid = match parts {
        MediumParts::Columnar | MediumParts::OrganPipe => Grid::new(PARTS, 1),
        MediumParts::Subregioned => Grid::new(5, 5),
    };
    let mut cells: Vec<_> = (0..grid.columns).flat_map(|x| (0..grid.rows).map(move |y| (x, y))).collect();
    // Cells nearest to the center first; of equally near cells the leftmost, then the lowest.
    cells.sort_by_key(|(x, y)| {
        let from_center = |n: u32, count: u32| (2 * n + 1).abs_diff(count).pow(2);
        from_center(*x, grid.columns) + from_center(*y, grid.rows)
    });
    if parts != MediumParts::OrganPipe {
        let small_count = (small_share * f64::from(PARTS)).round() as usize;
        let (small_cells, large_cells) = cells.split_at_mut(small_count.clamp(1, PARTS as usize - 1));
        small_cells.sort_unstable();
        large_cells.sort_unstable();
    }
    let filling = Filling::Serpentine;
    Regions::new(geometry, grid, cells.into_iter().map(|(x, y)| Rectangle { x, y, filling }).collect())
}
