//! Bipartite (LY-07, Griffin et al. 2000): small data at the centre, where seeks are short and springs pull
//! least; large data around them, since streams hardly seek.
//!
//! Which data are small is a matter of address: the first part of the addresses fills the parts at the centre, the
//! rest the others, from one side to the other. Within a part every other track is reversed, as in the
//! streaming layout: parts less high than the sled would else make a stream fly back all the more often.

use super::Geometry;
use super::regions::{Filling, Rectangle, Regions};
use crate::device::Grid;
use crate::device::mems::params::MediumParts;

/// Parts of the medium in every division.
const PARTS: u32 = 25;

/// The parts in the order in which addresses fill them; `small_share` of the parts for small data.
pub(super) fn regions(geometry: &Geometry, parts: MediumParts, small_share: f64) -> Regions {
    let grid = match parts {
        MediumParts::Columnar | MediumParts::OrganPipe => Grid::new(PARTS, 1),
        MediumParts::Subregioned => Grid::new(5, 5),
    };
    let mut cells: Vec<_> = (0..grid.columns).flat_map(|x| (0..grid.rows).map(move |y| (x, y))).collect();
    // Nearest to the centre first; of equally near ones the left and the lower.
    cells.sort_by_key(|(x, y)| {
        let from_centre = |n: u32, of: u32| (2 * n + 1).abs_diff(of).pow(2);
        from_centre(*x, grid.columns) + from_centre(*y, grid.rows)
    });
    if parts != MediumParts::OrganPipe {
        let small = (small_share * f64::from(PARTS)).round() as usize;
        let (small, large) = cells.split_at_mut(small.clamp(1, PARTS as usize - 1));
        small.sort_unstable();
        large.sort_unstable();
    }
    let filling = Filling::Serpentine;
    Regions::new(geometry, grid, cells.into_iter().map(|(x, y)| Rectangle { x, y, filling }).collect())
}
