//! Grids of zones over the medium, and the numbers of the zones in the order in which they are visited (SC-11).

use sledlab_core::params::{Kind, ParamValue};
use toml::Value;

use crate::device::{Extent, Location, Mechanics, Queued};

/// Most cells of a grid: each has a list of its own, and some choices look at all of them.
const MOST_CELLS: u32 = 4096;

/// Cells of equal size that the medium is cut into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Cells along x.
    pub columns: u32,
    /// Cells along y.
    pub rows: u32,
}

sledlab_core::params! {
    /// How the medium is cut into zones by seek time.
    pub struct ZoneParams {
        /// Cells along x and along y that the medium is cut into: 10x1, 20x2, 40x4 or any other, at most 4096.
        grid: Grid = Grid::new(20, 2);
        /// Whether the even columns of a cell, read upwards, and the odd ones, read downwards, are zones of their own.
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

impl Grid {
    /// So many cells along x and along y.
    pub const fn new(columns: u32, rows: u32) -> Self {
        Grid { columns, rows }
    }

    fn parse(text: &str) -> Option<Self> {
        let (columns, rows) = text.split_once('x')?;
        let side = |text: &str| text.parse::<u32>().ok().filter(|cells| *cells > 0);
        Some(Grid::new(side(columns)?, side(rows)?))
    }

    /// The grid of cells of twice the width and height; `None` where cells would be left over.
    pub fn halved(self) -> Option<Self> {
        let Grid { columns, rows } = self;
        let even = columns.is_multiple_of(2) && rows.is_multiple_of(2);
        even.then(|| Grid::new(columns / 2, rows / 2))
    }

    /// The cell a location is in: along x and along y, from 0.
    fn cell(self, extent: &Extent, at: &Location) -> (u32, u32) {
        let scaled = |n: u32, cells: u32, of: u32| (u64::from(n) * u64::from(cells) / u64::from(of)) as u32;
        (scaled(at.cylinder, self.columns, extent.cylinders), scaled(at.row, self.rows, extent.rows))
    }
}

impl std::fmt::Display for Grid {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}x{}", self.columns, self.rows)
    }
}

impl ParamValue for Grid {
    const KIND: Kind = Kind::Text;

    fn from_value(value: &Value) -> Result<Self, String> {
        let grid = value.as_str().and_then(Grid::parse).ok_or_else(|| {
            format!("expected the numbers of cells along x and along y, for example \"20x2\", found {value}")
        })?;
        let cells = u64::from(grid.columns) * u64::from(grid.rows);
        if cells > MOST_CELLS.into() {
            return Err(format!("a grid of {grid} has {cells} cells; choose at most {MOST_CELLS}"));
        }
        Ok(grid)
    }

    fn to_value(&self) -> Value {
        Value::String(self.to_string())
    }
}

/// Which zones there are, and in which order they are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// A zone for each cell; cells of a column from the bottom to the top, then the next column.
    Columns,
    /// Two zones for each cell; in a column those of the even cylinders upwards, then those of the odd ones
    /// downwards, then the next column.
    Loops,
    /// A zone for each cell; one column from the bottom to the top, the next one back down.
    Snake,
}

impl Order {
    /// The order of a circular sweep, with or without zones of their own for odd cylinders.
    pub fn of_sweep(parity: bool) -> Self {
        if parity { Order::Loops } else { Order::Columns }
    }
}

/// The zones of a grid over a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Zones {
    pub grid: Grid,
    order: Order,
    extent: Extent,
}

impl Zones {
    pub fn new(grid: Grid, order: Order, mechanics: &dyn Mechanics) -> Self {
        Zones { grid, order, extent: mechanics.extent() }
    }

    /// In order of a circular sweep, with or without zones of their own for odd cylinders.
    pub fn loops(params: &ZoneParams, mechanics: &dyn Mechanics) -> Self {
        Zones::new(params.grid, Order::of_sweep(params.parity), mechanics)
    }

    /// The zones of another grid over the same device, in the same order.
    pub fn with_grid(self, grid: Grid) -> Self {
        Zones { grid, ..self }
    }

    /// Zones of a cell.
    fn parities(&self) -> u32 {
        if self.order == Order::Loops { 2 } else { 1 }
    }

    pub fn count(&self) -> u32 {
        self.grid.columns * self.grid.rows * self.parities()
    }

    /// The number of a zone of cell `x`, `y`; which one of them, even or odd cylinders decide.
    pub fn number(&self, x: u32, y: u32, odd: bool) -> u32 {
        let rows = self.grid.rows;
        match self.order {
            Order::Columns => x * rows + y,
            Order::Loops if odd => 2 * x * rows + 2 * rows - 1 - y,
            Order::Loops => 2 * x * rows + y,
            Order::Snake if x.is_multiple_of(2) => x * rows + y,
            Order::Snake => x * rows + rows - 1 - y,
        }
    }

    /// The zone of a request: that of its first sector.
    pub fn of(&self, mechanics: &dyn Mechanics, request: &Queued) -> u32 {
        let at = mechanics.location(request.lbn);
        let (x, y) = self.grid.cell(&self.extent, &at);
        self.number(x, y, at.cylinder % 2 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As a G2 has them.
    const EXTENT: Extent = Extent { cylinders: 2500, rows: 27, blocks_per_track: 540 };

    fn zones(columns: u32, rows: u32, order: Order) -> Zones {
        Zones { grid: Grid::new(columns, rows), order, extent: EXTENT }
    }

    fn location(cylinder: u32, row: u32) -> Location {
        Location { cylinder, row, ..Location::ONLY }
    }

    #[test]
    fn zones_of_the_paper_number_320_80_and_20() {
        let counts = [(40, 4), (20, 2), (10, 1)].map(|(x, y)| zones(x, y, Order::of_sweep(true)).count());
        assert_eq!(counts, [320, 80, 20]);
        assert_eq!(zones(20, 2, Order::of_sweep(false)).count(), 40);
        assert_eq!(zones(25, 3, Order::Snake).count(), 75);
    }

    #[test]
    fn numbers_follow_the_tour() {
        let tour = |order, odd| {
            let zones = zones(2, 3, order);
            [0, 1].map(|x| [0, 1, 2].map(|y| zones.number(x, y, odd)))
        };
        assert_eq!(tour(Order::Columns, true), [[0, 1, 2], [3, 4, 5]]);
        assert_eq!(tour(Order::Loops, false), [[0, 1, 2], [6, 7, 8]]);
        assert_eq!(tour(Order::Loops, true), [[5, 4, 3], [11, 10, 9]]);
        assert_eq!(tour(Order::Snake, false), [[0, 1, 2], [5, 4, 3]]);
    }

    #[test]
    fn cells_have_equal_shares_of_the_medium() {
        let mut sizes = vec![0_u32; 40];
        for (cylinder, row) in (0..2500).flat_map(|x| (0..27).map(move |y| (x, y))) {
            let (x, y) = Grid::new(20, 2).cell(&EXTENT, &location(cylinder, row));
            sizes[(2 * x + y) as usize] += 1;
        }
        // 125 cylinders each; of 27 rows the lower cells have one more.
        assert!(sizes.chunks(2).all(|cells| cells == [125 * 14, 125 * 13]), "{sizes:?}");
    }

    #[test]
    fn refuses_what_is_no_grid() {
        let read = |value: Value| Grid::from_value(&value);
        assert_eq!(read("40x4".into()), Ok(Grid::new(40, 4)));
        for value in ["20", "20x", "x2", "20x2x2", "0x2", "20x0", "-1x2", "20 by 2", "a grid"] {
            let message = read(value.into()).unwrap_err();
            assert!(message.contains("for example \"20x2\", found"), "{message}");
        }
        assert!(read(Value::Integer(4)).unwrap_err().contains("found 4"));
        assert!(read("1000x1000".into()).unwrap_err().contains("has 1000000 cells; choose at most 4096"));
        assert_eq!(read("4096x1".into()).unwrap().to_value(), "4096x1".into());
    }

    proptest! {
        #[test]
        fn halving_puts_every_cell_into_one_of_twice_its_size(
            columns in 1_u32..40, rows in 1_u32..10, cylinder in 0_u32..2500, row in 0_u32..27,
        ) {
            let (coarse, fine) = (Grid::new(columns, rows), Grid::new(2 * columns, 2 * rows));
            prop_assert_eq!(fine.halved(), Some(coarse));
            let (x, y) = fine.cell(&EXTENT, &location(cylinder, row));
            prop_assert_eq!(coarse.cell(&EXTENT, &location(cylinder, row)), (x / 2, y / 2));
        }
    }
}
