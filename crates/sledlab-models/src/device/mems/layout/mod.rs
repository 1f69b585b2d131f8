//! In which order logical blocks fill the medium.

mod bipartite;
mod divisor;
mod regions;
mod row_first;
mod streaming;
mod tabular;
mod two_class;
mod y_sequential;
mod zone_clustered;

pub use regions::Regions;
pub use row_first::RowFirst;
pub use streaming::StreamingLayout;
pub use tabular::TabularLayout;
pub use two_class::TwoClassLayout;
pub use y_sequential::YSequential;

use super::geometry::Geometry;
use super::params::{Direction, LayoutKind, MemsParams};

/// The place of a block on its sled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Position in x.
    pub cylinder: u32,
    /// Group of tips.
    pub track: u32,
    /// Physical row, counted from the lowest y.
    pub row: u32,
    /// Number of the block within the row of the track.
    pub cell: u32,
}

/// A one-to-one map between the blocks of a sled and places on it.
pub trait Layout: Send + Sync + std::fmt::Debug {
    /// The place of block `lbn`, which must be one of the sled's.
    fn place(&self, lbn: u64) -> Place;

    /// The block at `place`.
    fn lbn(&self, place: Place) -> u64;

    /// Returns the number of consecutive blocks from `lbn`, up to `maximum` and the cells of a row, that lie at the
    /// same cylinder and row, so that one pass can access them. They may continue into the next track.
    fn run_length(&self, lbn: u64, maximum: u32) -> u32;

    /// Both [`place`](Layout::place) and [`run_length`](Layout::run_length), computed together where they share work.
    fn place_and_run(&self, lbn: u64, maximum: u32) -> (Place, u32);
}

/// Translates a row in order of blocks to the physical row, or the inverse, in a column or track that is filled upwards
/// if its `number` is even and downwards if it is odd.
#[inline]
fn alternate_row(number: u32, row: u32, rows: u32) -> u32 {
    if number & 1 == 1 { rows - 1 - row } else { row }
}

/// The layout that `params` name, on a sled of their geometry.
pub fn build(params: &MemsParams, geometry: &Geometry) -> Box<dyn Layout> {
    match params.layout {
        LayoutKind::RowFirst => Box::new(RowFirst::new(geometry, params.direction == Direction::Parity)),
        LayoutKind::Streaming => Box::new(StreamingLayout::new(geometry)),
        LayoutKind::YSequential => Box::new(YSequential::new(geometry)),
        LayoutKind::ZoneClustered => Box::new(zone_clustered::regions(geometry, params.layout_grid)),
        LayoutKind::Bipartite => {
            Box::new(bipartite::regions(geometry, params.layout_parts, params.small_share))
        }
        LayoutKind::Tabular => Box::new(TabularLayout::new(geometry, params.attributes)),
        LayoutKind::TwoClass => Box::new(TwoClassLayout::new(geometry, params.small_share)),
    }
}
