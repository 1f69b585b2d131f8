//! Trees of tiles of columns: for every tile an upper bound of the weight of any position in it.
//!
//! Every row has a tree, and one more tree is for all rows together. The levels of a tree are positions, tiles of
//! four columns, tiles of four such tiles and so on, until few tiles are left. Where x takes longer than y, all rows
//! are equally far, and tiles of all rows bound as well as single positions; where y takes longer, all columns of a
//! row are equally far. Trees of one parity of columns lie side by side: the siblings of all rows together form a
//! page.

use super::sparse::Sparse;

/// A tile consists of two to this power tiles of the level below.
const FAN_BITS: u32 = 2;
pub(super) const FAN: usize = 1 << FAN_BITS;
/// Trees end at the level that has at most this number of tiles.
const MAX_ROOTS: u32 = 16;

/// The maximum weight of any position of a tile at the two ends of an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Summary(pub [f64; 2]);

impl Summary {
    /// The summary of a tile in which no request waits.
    pub const EMPTY: Summary = Summary([f64::NEG_INFINITY; 2]);

    pub fn is_empty(self) -> bool {
        self.0[0] == f64::NEG_INFINITY
    }

    pub fn max(self, other: Summary) -> Summary {
        let larger = |at: usize| if self.0[at] > other.0[at] { self.0[at] } else { other.0[at] };
        Summary([larger(0), larger(1)])
    }

    /// Whether this summary is less than `other` at both ends.
    fn is_below(self, other: Summary) -> bool {
        self.0[0] < other.0[0] && self.0[1] < other.0[1]
    }

    /// Upper bound of the weight of any position after `share` of the epoch: the weight is convex in time, so it lies
    /// below the line between the ends.
    #[inline]
    pub fn weight_bound(self, share: f64) -> f64 {
        let [from, to] = self.0;
        #[expect(clippy::float_cmp, reason = "equal ends, such as counts or infinities, need no line")]
        if from == to {
            return from;
        }
        // Ends, line and share are rounded; the last term makes up for the rounding.
        from + (to - from) * share + (from.abs() + to.abs()) * 4e-15
    }
}

/// Numbers of the bits that are set, from the lowest on.
#[inline]
fn set_bits(mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lowest = (bits != 0).then(|| bits.trailing_zeros())?;
        bits &= bits - 1;
        Some(lowest)
    })
}

/// The rows that a tile covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    All,
    One(u32),
}

/// A tile: columns are counted within its parity, in units of the tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    pub parity: u32,
    pub rows: Rows,
    pub level: u32,
    pub column: u32,
}

/// The trees of all rows and parities.
#[derive(Clone, Debug)]
pub(super) struct Forest {
    parities: u32,
    columns: u32,
    /// By level: the first page of the level within one parity; the last entry is the page behind the roots.
    begins: Vec<u32>,
    summaries: Sparse<Summary>,
    /// By tile, in `words` words: a bit for each row, set if a request waits there.
    taken: Vec<u64>,
    words: usize,
}

impl Forest {
    pub fn new(parities: u32, columns: u32, rows: u32) -> Self {
        let (mut begins, mut tiles, mut pages) = (vec![0], columns, 0);
        loop {
            pages += tiles.div_ceil(FAN as u32);
            begins.push(pages);
            if tiles <= MAX_ROOTS {
                break;
            }
            tiles = tiles.div_ceil(FAN as u32);
        }
        let page_len = FAN * (rows as usize + 1);
        let summaries = Sparse::new((parities * pages) as usize, page_len, Summary::EMPTY);
        let text = rows.div_ceil(u64::BITS) as usize;
        let taken = vec![0; (parities * pages) as usize * FAN * text];
        Forest { parities, columns, begins, summaries, taken, words: text }
    }

    /// The level of the roots; positions are level 0.
    #[inline]
    fn top(&self) -> u32 {
        self.begins.len() as u32 - 2
    }

    /// The page of a tile.
    #[inline]
    fn page(&self, parity: u32, level: u32, column: u32) -> usize {
        let pages = self.begins[self.begins.len() - 1];
        (parity * pages + self.begins[level as usize] + (column >> FAN_BITS)) as usize
    }

    /// Place in a page of the first sibling of `rows`.
    #[inline]
    fn first(rows: Rows) -> usize {
        match rows {
            Rows::All => 0,
            Rows::One(row) => FAN * (row as usize + 1),
        }
    }

    /// The tiles of the top level, for all rows together.
    pub fn roots(&self) -> impl Iterator<Item = Tile> + use<> {
        let level = self.top();
        let across = self.columns.div_ceil(1 << (level * FAN_BITS));
        (0..self.parities).flat_map(move |parity| {
            (0..across).map(move |column| Tile { parity, rows: Rows::All, level, column })
        })
    }

    /// The summary of a tile.
    #[inline]
    pub fn summary(&self, tile: Tile) -> Summary {
        let page = self.page(tile.parity, tile.level, tile.column);
        self.summaries.get(page, Self::first(tile.rows) + tile.column as usize % FAN)
    }

    /// The tiles of the level below of which a tile consists, for the same rows, each with its summary; not for
    /// positions.
    #[inline]
    pub fn parts(&self, tile: Tile) -> impl Iterator<Item = (Tile, Summary)> + use<> {
        let (level, first) = (tile.level - 1, tile.column << FAN_BITS);
        let page = self.summaries.page(self.page(tile.parity, level, first));
        let mut parts = [Summary::EMPTY; FAN];
        parts.copy_from_slice(&page[Self::first(tile.rows)..][..FAN]);
        (first..).zip(parts).map(move |(column, summary)| (Tile { level, column, ..tile }, summary))
    }

    /// The rows in which a request waits in a tile of all rows, each with its summary.
    #[inline]
    pub fn rows(&self, tile: Tile) -> impl Iterator<Item = (u32, Summary)> {
        let (page, at) = (self.page(tile.parity, tile.level, tile.column), tile.column as usize % FAN);
        let summaries = self.summaries.page(page);
        let text = &self.taken[(page * FAN + at) * self.words..][..self.words];
        let rows = text.iter().zip((0..).step_by(u64::BITS as usize));
        rows.flat_map(|(bits, first)| set_bits(*bits).map(move |bit| first + bit))
            .map(move |row| (row, summaries[Self::first(Rows::One(row)) + at]))
    }

    /// Notes whether a request waits in a row of a tile.
    #[inline]
    fn take(&mut self, page: usize, at: usize, row: u32, taken: bool) {
        let word = &mut self.taken[(page * FAN + at) * self.words + (row / u64::BITS) as usize];
        let bit = 1 << (row % u64::BITS);
        *word = if taken { *word | bit } else { *word & !bit };
    }

    /// First and last column of a tile.
    #[inline]
    pub fn columns(&self, tile: Tile) -> (u32, u32) {
        let bits = tile.level * FAN_BITS;
        (tile.column << bits, (((tile.column + 1) << bits) - 1).min(self.columns - 1))
    }

    /// Sets the summary of a position, and updates the tiles that hold it.
    pub fn set(&mut self, parity: u32, (column, row): (u32, u32), summary: Summary) {
        let place = Tile { parity, rows: Rows::One(row), level: 0, column };
        let before = self.propagate(place, summary);
        if before == summary {
            return;
        }
        let all = Tile { rows: Rows::All, ..place };
        let (stored, full) = (self.summary(all), self.summary(all).max(summary));
        // Recomputing all rows of the column is often unnecessary: the position now has the maximum weight there, or
        // did not have it before.
        let full = if full == summary || before.is_below(stored) { full } else { self.compute_summary(all) };
        if full != stored {
            self.propagate(all, full);
        }
    }

    /// The summary of a tile of all rows, computed from its rows.
    fn compute_summary(&self, tile: Tile) -> Summary {
        self.rows(tile).fold(Summary::EMPTY, |full, (_, summary)| full.max(summary))
    }

    /// Sets the summary of a tile of the lowest level and updates all tiles of the same rows above it; returns the
    /// summary before.
    fn propagate(&mut self, tile: Tile, summary: Summary) -> Summary {
        let (first, mut column, mut full) = (Self::first(tile.rows), tile.column, summary);
        let stored = self.summary(tile);
        for level in 0..=self.top() {
            let (page, at) = (self.page(tile.parity, level, column), column as usize % FAN);
            let before = self.summaries.replace(page, first + at, full);
            if before == full {
                break;
            }
            if let Rows::One(row) = tile.rows
                && before.is_empty() != full.is_empty()
            {
                self.take(page, at, row, !full.is_empty());
            }
            let siblings = &self.summaries.page(page)[first..first + FAN];
            full = siblings.iter().copied().fold(Summary::EMPTY, Summary::max);
            column >>= FAN_BITS;
        }
        stored
    }

    /// Recomputes all summaries; `place` gives the summary of an occupied position by parity, column and row.
    pub fn recompute(&mut self, place: &mut impl FnMut(u32, u32, u32) -> Summary) {
        for root in self.roots() {
            self.recompute_tile(root, place);
        }
    }

    /// Recomputes the tiles below a tile of all rows, and then that tile and those of its single rows.
    fn recompute_tile(&mut self, tile: Tile, place: &mut impl FnMut(u32, u32, u32) -> Summary) {
        if self.summary(tile).is_empty() {
            return;
        }
        let Tile { parity, level, column, .. } = tile;
        if level > 0 {
            self.parts(tile).for_each(|(part, _)| self.recompute_tile(part, place));
        }
        let page = self.page(parity, level, column);
        let (mut full, at) = (Summary::EMPTY, column as usize % FAN);
        for word in 0..self.words {
            for bit in set_bits(self.taken[(page * FAN + at) * self.words + word]) {
                let row = word as u32 * u64::BITS + bit;
                let one = Tile { rows: Rows::One(row), ..tile };
                let summary = if level > 0 {
                    self.parts(one).fold(Summary::EMPTY, |full, (_, part)| full.max(part))
                } else {
                    place(parity, column, row)
                };
                self.summaries.replace(page, Self::first(one.rows) + at, summary);
                full = full.max(summary);
            }
        }
        self.summaries.replace(page, Self::first(Rows::All) + at, full);
    }
}
