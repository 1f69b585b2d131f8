//! Grids of zones over the medium, and the numbers of the zones in the order in which they are visited (Hong 2006,
//! section 4.1).

pub(in crate::scheduler) use crate::device::Grid;
use crate::device::{Extent, Mechanics, QueuedRequest};

sledlab_core::params! {
    /// How the medium is cut into zones by seek time.
    pub struct ZoneParams {
        /// Cells along x and along y that the medium is cut into: 10x1, 20x2, 40x4 or any other, at most 4096.
        grid: Grid = Grid::new(20, 2);
        /// Whether even columns (read upwards) and odd columns (read downwards) of a cell are two zones.
        parity: bool = true;
    }
}

sledlab_core::params! {
    /// How the medium is cut into zones in which many requests share a position.
    pub struct CellParams {
        /// Cells along x and along y that the medium is cut into, each of them a zone; at most 4096.
        grid: Grid = Grid::new(25, 3);
    }
}

/// Which zones a grid has, and in which order they are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::scheduler) enum ZoneOrder {
    /// A zone for each cell; cells of a column from the bottom to the top, then the next column.
    Columns,
    /// Two zones for each cell; in a column the zones of even cylinders upwards, then those of odd cylinders
    /// downwards, then the next column.
    Loops,
    /// A zone for each cell; one column from the bottom to the top, the next one back down.
    Snake,
}

impl ZoneOrder {
    /// The order of a circular sweep, with or without separate zones for odd cylinders.
    pub fn circular(by_parity: bool) -> Self {
        if by_parity { ZoneOrder::Loops } else { ZoneOrder::Columns }
    }
}

/// The zones of a grid over a device.
#[derive(Clone, Copy, Debug)]
pub(in crate::scheduler) struct Zones {
    pub grid: Grid,
    order: ZoneOrder,
    extent: Extent,
}

impl Zones {
    pub fn new(grid: Grid, order: ZoneOrder, mechanics: &dyn Mechanics) -> Self {
        Zones { grid, order, extent: mechanics.extent() }
    }

    /// The zones in order of a circular sweep, with or without separate zones for odd cylinders.
    pub fn circular(params: &ZoneParams, mechanics: &dyn Mechanics) -> Self {
        Zones::new(params.grid, ZoneOrder::circular(params.parity), mechanics)
    }

    /// The zones of another grid over the same device, in the same order.
    pub fn with_grid(self, grid: Grid) -> Self {
        Zones { grid, ..self }
    }

    /// Number of zones in a cell.
    fn parities(&self) -> u32 {
        if self.order == ZoneOrder::Loops { 2 } else { 1 }
    }

    pub fn count(&self) -> u32 {
        self.grid.columns * self.grid.rows * self.parities()
    }

    /// The number of the zone in cell `x`, `y`: where a cell has two, the one of even or of odd cylinders.
    pub fn number(&self, x: u32, y: u32, is_odd: bool) -> u32 {
        let rows = self.grid.rows;
        match self.order {
            ZoneOrder::Columns => x * rows + y,
            ZoneOrder::Loops => self.grid.sweep_index(x, y, is_odd),
            ZoneOrder::Snake if x.is_multiple_of(2) => x * rows + y,
            ZoneOrder::Snake => x * rows + rows - 1 - y,
        }
    }

    /// The zone of a request: that of its first sector.
    pub fn zone(&self, mechanics: &dyn Mechanics, request: &QueuedRequest) -> u32 {
        let location = mechanics.location(request.lbn);
        let (x, y) = self.grid.cell(&self.extent, location.cylinder, location.row);
        self.number(x, y, location.cylinder % 2 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cylinders, rows and blocks of a track of a G2.
    const EXTENT: Extent = Extent { cylinders: 2500, rows: 27, blocks_per_track: 540 };

    fn zones(columns: u32, rows: u32, order: ZoneOrder) -> Zones {
        Zones { grid: Grid::new(columns, rows), order, extent: EXTENT }
    }

    #[test]
    fn paper_has_320_80_and_20_zones() {
        let counts = [(40, 4), (20, 2), (10, 1)].map(|(x, y)| zones(x, y, ZoneOrder::circular(true)).count());
        assert_eq!(counts, [320, 80, 20]);
        assert_eq!(zones(20, 2, ZoneOrder::circular(false)).count(), 40);
        assert_eq!(zones(25, 3, ZoneOrder::Snake).count(), 75);
    }

    #[test]
    fn numbers_follow_the_tour() {
        let tour = |order, odd| {
            let zones = zones(2, 3, order);
            [0, 1].map(|x| [0, 1, 2].map(|y| zones.number(x, y, odd)))
        };
        assert_eq!(tour(ZoneOrder::Columns, true), [[0, 1, 2], [3, 4, 5]]);
        assert_eq!(tour(ZoneOrder::Loops, false), [[0, 1, 2], [6, 7, 8]]);
        assert_eq!(tour(ZoneOrder::Loops, true), [[5, 4, 3], [11, 10, 9]]);
        assert_eq!(tour(ZoneOrder::Snake, false), [[0, 1, 2], [5, 4, 3]]);
    }
}
