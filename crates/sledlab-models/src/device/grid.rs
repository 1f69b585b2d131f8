//! Grids of cells over the medium.

use std::ops::Range;

use sledlab_core::params::{ParamKind, ParamValue};
use toml::Value;

use super::Extent;

/// Maximum cells of a grid: schedulers keep a list for each cell, and some choices examine all of them.
const MAX_CELLS: u32 = 4096;

/// Cells of equal size that the medium is cut into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Cells along x.
    pub columns: u32,
    /// Cells along y.
    pub rows: u32,
}

impl Grid {
    /// A grid of `columns` cells along x and `rows` cells along y.
    pub const fn new(columns: u32, rows: u32) -> Self {
        Grid { columns, rows }
    }

    fn parse(text: &str) -> Option<Self> {
        let (columns, rows) = text.split_once('x')?;
        let side = |text: &str| text.parse::<u32>().ok().filter(|cells| *cells > 0);
        Some(Grid::new(side(columns)?, side(rows)?))
    }

    /// The grid whose cells are twice as wide and high; `None` if the number of columns or rows is odd.
    pub fn halve(self) -> Option<Self> {
        let Grid { columns, rows } = self;
        let is_even = columns.is_multiple_of(2) && rows.is_multiple_of(2);
        is_even.then(|| Grid::new(columns / 2, rows / 2))
    }

    /// The number of cell `x`, `y` where even and odd cylinders are separate zones, in the order of a circular sweep:
    /// in a column of cells the zones of even cylinders upwards, then those of odd ones downwards, then the next
    /// column.
    pub fn sweep_index(self, x: u32, y: u32, is_odd: bool) -> u32 {
        let in_column = if is_odd { 2 * self.rows - 1 - y } else { y };
        2 * x * self.rows + in_column
    }

    /// The cell that holds `row` of `cylinder`: its number along x and along y, from 0.
    pub fn cell(self, extent: &Extent, cylinder: u32, row: u32) -> (u32, u32) {
        let scaled =
            |n: u32, cells: u32, total: u32| (u64::from(n) * u64::from(cells) / u64::from(total)) as u32;
        (scaled(cylinder, self.columns, extent.cylinders), scaled(row, self.rows, extent.rows))
    }

    /// The cylinders and rows of cell `x`, `y`; ranges may be empty where cells outnumber cylinders or rows.
    pub fn ranges(self, extent: &Extent, x: u32, y: u32) -> (Range<u32>, Range<u32>) {
        let from =
            |n: u32, cells: u32, total: u32| (u64::from(n) * u64::from(total)).div_ceil(cells.into()) as u32;
        let range = |n: u32, cells: u32, total: u32| from(n, cells, total)..from(n + 1, cells, total);
        (range(x, self.columns, extent.cylinders), range(y, self.rows, extent.rows))
    }
}

impl std::fmt::Display for Grid {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}x{}", self.columns, self.rows)
    }
}

impl ParamValue for Grid {
    const KIND: ParamKind = ParamKind::Text;

    fn from_value(value: &Value) -> Result<Self, String> {
        let grid = value.as_str().and_then(Grid::parse).ok_or_else(|| {
            format!("expected the numbers of cells along x and along y, for example \"20x2\", found {value}")
        })?;
        let cells = u64::from(grid.columns) * u64::from(grid.rows);
        if cells > MAX_CELLS.into() {
            return Err(format!("a grid of {grid} has {cells} cells; choose at most {MAX_CELLS}"));
        }
        Ok(grid)
    }

    fn to_value(&self) -> Value {
        Value::String(self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The cylinders, rows and blocks of a track of a G2.
    const EXTENT: Extent = Extent { cylinders: 2500, rows: 27, blocks_per_track: 540 };

    #[test]
    fn cells_have_equal_shares_of_the_medium() {
        let mut sizes = vec![0_u32; 40];
        for (cylinder, row) in (0..2500).flat_map(|x| (0..27).map(move |y| (x, y))) {
            let (x, y) = Grid::new(20, 2).cell(&EXTENT, cylinder, row);
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
        fn ranges_match_cells(
            columns in 1_u32..40, rows in 1_u32..10, cylinders in 1_u32..60, of_rows in 1_u32..12,
            cylinder in 0_u32..60, row in 0_u32..12,
        ) {
            let extent = Extent { cylinders, rows: of_rows, blocks_per_track: 1 };
            let (cylinder, row) = (cylinder % cylinders, row % of_rows);
            let grid = Grid::new(columns, rows);
            let cell = grid.cell(&extent, cylinder, row);
            for (x, y) in (0..columns).flat_map(|x| (0..rows).map(move |y| (x, y))) {
                let (cylinder_range, row_range) = grid.ranges(&extent, x, y);
                prop_assert_eq!(cylinder_range.contains(&cylinder) && row_range.contains(&row), (x, y) == cell);
            }
        }

        #[test]
        fn halved_grid_has_cells_of_twice_the_size(
            columns in 1_u32..40, rows in 1_u32..10, cylinder in 0_u32..2500, row in 0_u32..27,
        ) {
            let (coarse, fine) = (Grid::new(columns, rows), Grid::new(2 * columns, 2 * rows));
            prop_assert_eq!(fine.halve(), Some(coarse));
            let (x, y) = fine.cell(&EXTENT, cylinder, row);
            prop_assert_eq!(coarse.cell(&EXTENT, cylinder, row), (x / 2, y / 2));
        }
    }
}
