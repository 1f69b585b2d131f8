//! What waits in tiles of columns and rows: a bound of what any place in a tile is worth.
//!
//! The places of a device, or those of one parity of columns, form a tree: places, tiles of four places, of four
//! such tiles and so on. Tiles grow in y and in x by turns until they hold all rows, then in x: where x takes
//! long, all rows are equally far away, and a tile of many rows and few columns holds places that take equally
//! long. The tree ends where few tiles are left. A tree lies in one block of memory, one level behind the other.

/// Tiles that a tile is made of: two to this power.
const FAN_BITS: u32 = 2;
pub(super) const FAN: usize = 1 << FAN_BITS;
/// Trees end at the level where there are at most so many tiles.
const MOST_ROOTS: usize = 16;

/// The most that a place is worth at the two ends of an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Summary(pub [f64; 2]);

impl Summary {
    /// Nothing waits.
    pub const EMPTY: Summary = Summary([f64::NEG_INFINITY; 2]);

    pub fn is_empty(self) -> bool {
        self.0[0] == f64::NEG_INFINITY
    }

    pub fn joined(self, other: Summary) -> Summary {
        let larger = |at: usize| if self.0[at] > other.0[at] { self.0[at] } else { other.0[at] };
        Summary([larger(0), larger(1)])
    }

    /// No place is worth more after `share` of the epoch: what each is worth is convex in time, so that it lies
    /// below the line between the ends.
    #[inline]
    pub fn at(self, share: f64) -> f64 {
        let [from, to] = self.0;
        #[expect(clippy::float_cmp, reason = "equal ends, such as counts or infinities, need no line")]
        if from == to {
            return from;
        }
        // Ends, line and share are rounded.
        from + (to - from) * share + (from.abs() + to.abs()) * 4e-15
    }
}

/// A tile: columns are counted within the tree, columns and rows in units of the tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    pub tree: u32,
    pub level: u32,
    pub node: u32,
    pub column: u32,
    pub row: u32,
}

/// The tiles of one level.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// Columns and rows of a tile: two to these powers.
    column_bits: u32,
    row_bits: u32,
    /// Where in a tree the level begins.
    begin: usize,
}

/// The trees of all parities.
#[derive(Clone, Debug)]
pub(super) struct Forest {
    trees: u32,
    columns: u32,
    rows: u32,
    levels: Vec<Level>,
    /// Parts of a place's number: that of its column and that of its row add up to it.
    column_codes: Vec<u32>,
    row_codes: Vec<u32>,
    tree_len: usize,
    summaries: Vec<Summary>,
}

impl Forest {
    pub fn new(trees: u32, columns: u32, rows: u32) -> Self {
        let all_rows = u32::BITS - (rows - 1).leading_zeros();
        let tiles = |level: &Level| {
            columns.div_ceil(1 << level.column_bits) as usize * rows.div_ceil(1 << level.row_bits) as usize
        };
        let mut levels = vec![Level { column_bits: 0, row_bits: 0, begin: 0 }];
        while let Some(below) = levels.last().filter(|level| tiles(level) > MOST_ROOTS) {
            let more_rows = if levels.len() % 2 == 1 { FAN_BITS.min(all_rows - below.row_bits) } else { 0 };
            let column_bits = below.column_bits + FAN_BITS - more_rows;
            levels.push(Level { column_bits, row_bits: below.row_bits + more_rows, begin: 0 });
        }
        let mut forest = Forest {
            trees,
            columns,
            rows,
            levels,
            column_codes: Vec::new(),
            row_codes: Vec::new(),
            tree_len: 0,
            summaries: Vec::new(),
        };
        forest.column_codes = (0..columns).map(|column| forest.node(column, 0, 0)).collect();
        forest.row_codes = (0..rows).map(|row| forest.node(0, row, 0)).collect();
        for level in 0..=forest.top() {
            forest.levels[level as usize].begin = forest.tree_len;
            // Numbers grow with the column and with the row.
            let last = forest.node(columns - 1, rows - 1, level) as usize;
            forest.tree_len += (last + 1).next_multiple_of(FAN);
        }
        forest.summaries = vec![Summary::EMPTY; trees as usize * forest.tree_len];
        forest
    }

    /// The level of the roots; that of the places is 0.
    #[inline]
    fn top(&self) -> u32 {
        self.levels.len() as u32 - 1
    }

    /// Bits of a tile's number, from its parent's, that are its column's and its row's.
    #[inline]
    fn step(&self, parent: u32) -> (u32, u32) {
        let (above, below) = (self.levels[parent as usize], self.levels[parent as usize - 1]);
        (above.column_bits - below.column_bits, above.row_bits - below.row_bits)
    }

    /// The number of the tile of a level that holds a place.
    fn node(&self, column: u32, row: u32, level: u32) -> u32 {
        let top = self.levels[self.top() as usize];
        let tiles_up = self.rows.div_ceil(1 << top.row_bits);
        let mut node = (column >> top.column_bits) * tiles_up + (row >> top.row_bits);
        for parent in (level + 1..=self.top()).rev() {
            let (columns, rows) = self.step(parent);
            let below = self.levels[parent as usize - 1];
            let part = |at: u32, bits: u32, size: u32| (at >> size) & ((1 << bits) - 1);
            let (column, row) = (part(column, columns, below.column_bits), part(row, rows, below.row_bits));
            node = node << FAN_BITS | row << columns | column;
        }
        node
    }

    #[inline]
    fn at(&self, tree: u32, level: u32, node: u32) -> usize {
        tree as usize * self.tree_len + self.levels[level as usize].begin + node as usize
    }

    /// The largest tiles.
    pub fn roots(&self) -> impl Iterator<Item = Tile> + use<> {
        let (level, top) = (self.top(), self.levels[self.top() as usize]);
        let (across, up) =
            (self.columns.div_ceil(1 << top.column_bits), self.rows.div_ceil(1 << top.row_bits));
        (0..self.trees).flat_map(move |tree| {
            (0..across * up).map(move |node| Tile { tree, level, node, column: node / up, row: node % up })
        })
    }

    /// What a tile holds.
    #[inline]
    pub fn summary(&self, tile: Tile) -> Summary {
        self.summaries[self.at(tile.tree, tile.level, tile.node)]
    }

    /// The tiles that a tile above the places is made of, and what waits in each.
    #[inline]
    pub fn parts(&self, tile: Tile) -> impl Iterator<Item = (Tile, Summary)> + use<> {
        let Tile { tree, level, node, column, row } = tile;
        let (column_bits, row_bits) = self.step(level);
        let first = node << FAN_BITS;
        let at = self.at(tree, level - 1, first);
        let mut parts = [Summary::EMPTY; FAN];
        parts.copy_from_slice(&self.summaries[at..at + FAN]);
        (0..).zip(parts).map(move |(part, summary)| {
            let column = column << column_bits | part & ((1 << column_bits) - 1);
            let row = row << row_bits | part >> column_bits;
            (Tile { tree, level: level - 1, node: first + part, column, row }, summary)
        })
    }

    /// First and last column of a tile.
    #[inline]
    pub fn columns(&self, tile: Tile) -> (u32, u32) {
        let bits = self.levels[tile.level as usize].column_bits;
        (tile.column << bits, (((tile.column + 1) << bits) - 1).min(self.columns - 1))
    }

    /// How many rows a tile has: two to this power.
    #[inline]
    pub fn row_bits(&self, tile: Tile) -> u32 {
        self.levels[tile.level as usize].row_bits
    }

    /// Enters what waits at a place now.
    pub fn set(&mut self, tree: u32, (column, row): (u32, u32), summary: Summary) {
        let mut node = self.column_codes[column as usize] + self.row_codes[row as usize];
        let mut at = self.at(tree, 0, node);
        let mut whole = summary;
        for level in 1..=self.top() {
            if std::mem::replace(&mut self.summaries[at], whole) == whole {
                return;
            }
            let first = at - node as usize % FAN;
            whole = self.summaries[first..first + FAN].iter().copied().fold(Summary::EMPTY, Summary::joined);
            node >>= FAN_BITS;
            at = self.at(tree, level, node);
        }
        self.summaries[at] = whole;
    }

    /// Works out anew what all places hold where something waits, which `place` tells.
    pub fn renew(&mut self, place: &mut impl FnMut(Tile) -> Summary) {
        for root in self.roots() {
            self.renew_tile(root, place);
        }
    }

    fn renew_tile(&mut self, tile: Tile, place: &mut impl FnMut(Tile) -> Summary) -> Summary {
        if self.summary(tile).is_empty() {
            return Summary::EMPTY;
        }
        let whole = if tile.level == 0 {
            place(tile)
        } else {
            let parts = self.parts(tile);
            parts.fold(Summary::EMPTY, |whole, (part, _)| whole.joined(self.renew_tile(part, place)))
        };
        let at = self.at(tile.tree, tile.level, tile.node);
        self.summaries[at] = whole;
        whole
    }
}
