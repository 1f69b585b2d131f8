//! What waits in tiles of columns: a bound of what any place in a tile is worth.
//!
//! Every row has a tree of its own, and one more tree is for all rows together: places, tiles of four columns, of four
//! such tiles and so on, until few are left. Where x takes longer than y all rows are equally far, and tiles of all rows
//! are as good as places; where y takes longer all columns of a row are. Trees of one parity of columns lie side by
//! side: siblings of all rows together are a page.

use super::sparse::Sparse;

/// Tiles that a tile is made of: two to this power.
const FAN_BITS: u32 = 2;
pub(super) const FAN: usize = 1 << FAN_BITS;
/// Trees end at the level where there are at most so many tiles.
const MOST_ROOTS: u32 = 16;

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

    /// Whether it is less at both ends.
    fn is_below(self, other: Summary) -> bool {
        self.0[0] < other.0[0] && self.0[1] < other.0[1]
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

/// The bits that are set, from the lowest on.
#[inline]
fn ones(mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lowest = (bits != 0).then(|| bits.trailing_zeros())?;
        bits &= bits - 1;
        Some(lowest)
    })
}

/// Which rows a tile has.
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
    /// By level: its first page, in one parity. The last is behind the roots.
    begins: Vec<u32>,
    summaries: Sparse<Summary>,
    /// Rows in which something waits, a bit each, by tile: so many words.
    taken: Vec<u64>,
    words: usize,
}

impl Forest {
    pub fn new(parities: u32, columns: u32, rows: u32) -> Self {
        let (mut begins, mut tiles, mut pages) = (vec![0], columns, 0);
        loop {
            pages += tiles.div_ceil(FAN as u32);
            begins.push(pages);
            if tiles <= MOST_ROOTS {
                break;
            }
            tiles = tiles.div_ceil(FAN as u32);
        }
        let page_len = FAN * (rows as usize + 1);
        let summaries = Sparse::new((parities * pages) as usize, page_len, Summary::EMPTY);
        let words = rows.div_ceil(u64::BITS) as usize;
        let taken = vec![0; (parities * pages) as usize * FAN * words];
        Forest { parities, columns, begins, summaries, taken, words }
    }

    /// The level of the roots; that of the places is 0.
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

    /// The first sibling of rows in their page.
    #[inline]
    fn first(rows: Rows) -> usize {
        match rows {
            Rows::All => 0,
            Rows::One(row) => FAN * (row as usize + 1),
        }
    }

    /// The largest tiles, of all rows.
    pub fn roots(&self) -> impl Iterator<Item = Tile> + use<> {
        let level = self.top();
        let across = self.columns.div_ceil(1 << (level * FAN_BITS));
        (0..self.parities).flat_map(move |parity| {
            (0..across).map(move |column| Tile { parity, rows: Rows::All, level, column })
        })
    }

    /// What a tile holds.
    #[inline]
    pub fn summary(&self, tile: Tile) -> Summary {
        let page = self.page(tile.parity, tile.level, tile.column);
        self.summaries.get(page, Self::first(tile.rows) + tile.column as usize % FAN)
    }

    /// The tiles of the same rows that a tile above the places is made of, and what waits in each.
    #[inline]
    pub fn parts(&self, tile: Tile) -> impl Iterator<Item = (Tile, Summary)> + use<> {
        let (level, first) = (tile.level - 1, tile.column << FAN_BITS);
        let page = self.summaries.page(self.page(tile.parity, level, first));
        let mut parts = [Summary::EMPTY; FAN];
        parts.copy_from_slice(&page[Self::first(tile.rows)..][..FAN]);
        (first..).zip(parts).map(move |(column, summary)| (Tile { level, column, ..tile }, summary))
    }

    /// The rows of a tile of all rows in which something waits, and what.
    #[inline]
    pub fn rows(&self, tile: Tile) -> impl Iterator<Item = (u32, Summary)> {
        let (page, at) = (self.page(tile.parity, tile.level, tile.column), tile.column as usize % FAN);
        let summaries = self.summaries.page(page);
        let words = &self.taken[(page * FAN + at) * self.words..][..self.words];
        let rows = words.iter().zip((0..).step_by(u64::BITS as usize));
        rows.flat_map(|(bits, first)| ones(*bits).map(move |bit| first + bit))
            .map(move |row| (row, summaries[Self::first(Rows::One(row)) + at]))
    }

    /// Notes whether something waits in a row of a tile.
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

    /// Enters what waits at a place now.
    pub fn set(&mut self, parity: u32, (column, row): (u32, u32), summary: Summary) {
        let place = Tile { parity, rows: Rows::One(row), level: 0, column };
        let before = self.climb(place, summary);
        if before == summary {
            return;
        }
        let all = Tile { rows: Rows::All, ..place };
        let (held, whole) = (self.summary(all), self.summary(all).joined(summary));
        // What joins is often worth more than all other rows of its column, or not the most there before and after.
        let whole = if whole == summary || before.is_below(held) { whole } else { self.whole(all) };
        if whole != held {
            self.climb(all, whole);
        }
    }

    /// What the rows of a tile hold together.
    fn whole(&self, tile: Tile) -> Summary {
        self.rows(tile).fold(Summary::EMPTY, |whole, (_, summary)| whole.joined(summary))
    }

    /// Enters what a tile of the lowest level holds, there and in all tiles of the same rows around it; returns what it
    /// held.
    fn climb(&mut self, tile: Tile, summary: Summary) -> Summary {
        let (first, mut column, mut whole) = (Self::first(tile.rows), tile.column, summary);
        let held = self.summary(tile);
        for level in 0..=self.top() {
            let (page, at) = (self.page(tile.parity, level, column), column as usize % FAN);
            let before = self.summaries.replace(page, first + at, whole);
            if before == whole {
                break;
            }
            if let Rows::One(row) = tile.rows
                && before.is_empty() != whole.is_empty()
            {
                self.take(page, at, row, !whole.is_empty());
            }
            let siblings = &self.summaries.page(page)[first..first + FAN];
            whole = siblings.iter().copied().fold(Summary::EMPTY, Summary::joined);
            column >>= FAN_BITS;
        }
        held
    }

    /// Works out anew what all places hold where something waits, which `place` tells of a parity, column and row.
    pub fn renew(&mut self, place: &mut impl FnMut(u32, u32, u32) -> Summary) {
        for root in self.roots() {
            self.renew_tile(root, place);
        }
    }

    /// Works out the tiles below a tile of all rows, and then that tile with those of its single rows.
    fn renew_tile(&mut self, tile: Tile, place: &mut impl FnMut(u32, u32, u32) -> Summary) {
        if self.summary(tile).is_empty() {
            return;
        }
        let Tile { parity, level, column, .. } = tile;
        if level > 0 {
            self.parts(tile).for_each(|(part, _)| self.renew_tile(part, place));
        }
        let page = self.page(parity, level, column);
        let (mut whole, at) = (Summary::EMPTY, column as usize % FAN);
        for word in 0..self.words {
            for bit in ones(self.taken[(page * FAN + at) * self.words + word]) {
                let row = word as u32 * u64::BITS + bit;
                let one = Tile { rows: Rows::One(row), ..tile };
                let summary = if level > 0 {
                    self.parts(one).fold(Summary::EMPTY, |whole, (_, part)| whole.joined(part))
                } else {
                    place(parity, column, row)
                };
                self.summaries.replace(page, Self::first(one.rows) + at, summary);
                whole = whole.joined(summary);
            }
        }
        self.summaries.replace(page, Self::first(Rows::All) + at, whole);
    }
}
