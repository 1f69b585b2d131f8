//! The position index for scores: ageing, numbers of requests, or any other score of a scheduler.
//!
//! Positions form tiles of columns, of one row or of all rows. For every tile the index keeps the maximum weight of its
//! positions at the two ends of an epoch; together with the minimum time to the tile, this weight bounds the scores.
//! The search examines the most promising tile first and ends when no bound is below the best score found. It
//! distinguishes rows only where y may take longer than x. Epochs end before the ages of waiting requests change much.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use sledlab_core::{Span, Time};

use super::cells::Cells;
use super::epoch::Epoch;
use super::forest::{Forest, Rows, Summary, Tile};
use super::sparse::Sparse;
use super::x_times::XTimes;
use super::y_times::YTimes;
use super::{is_exact, row_at_sled};
use crate::device::mems::sled::{Sled, SledState};
use crate::device::{Mechanics, PositionIndex, PositionRange, QueuedRequest, RequestGroup, Score};

/// An index over the requests queued at one sled, or at sleds that move together.
pub(in crate::device::mems) struct ScoreIndex {
    sled: Arc<Sled>,
    score: Arc<dyn Score>,
    needs_farthest: bool,
    ages_alike: bool,
    cells: Cells,
    /// The requests waiting at each position, summarized: a page for each cylinder, an entry for each row.
    groups: Sparse<RequestGroup>,
    forest: Forest,
    epoch: Epoch,
    parities: u32,
    /// Times in y from every state of the row table.
    y_times: Vec<Arc<YTimes>>,
    /// Upper bound of all positioning times.
    longest: Span,
    /// A request that has joined an empty queue: as long as it waits alone, no search is needed and it is not in
    /// `cells`.
    lone: Option<QueuedRequest>,
    /// Memory that is reused from decision to decision.
    x_times: XTimes,
    open: BinaryHeap<OpenTile>,
}

/// Score as an integer, time in ns, distance in x, number: the smallest is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key(i64, u64, u32, u64);

/// A key that loses against that of every request.
const WORST: Key = Key(i64::MAX, u64::MAX, u32::MAX, u64::MAX);

/// A tile that may hold the best request.
#[derive(Clone, Copy, Debug)]
struct OpenTile {
    /// Lower bound of the tile's scores, as an integer of the same order.
    bound: i64,
    /// Minimum positioning time to the tile, in ns; times of a sled's moves fit 32 bits.
    min_time: u32,
    tile: Tile,
}

/// An integer of the same order as `score`, which one instruction compares.
#[inline]
fn order_key(score: f64) -> i64 {
    // As the standard library's `total_cmp`; adding zero makes -0 into 0.
    let bits = (score + 0.0).to_bits().cast_signed();
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

impl OpenTile {
    /// Whether all requests in the tile lose against the best so far.
    #[inline]
    fn loses(&self, best: &Key) -> bool {
        self.bound > best.0 || (self.bound == best.0 && u64::from(self.min_time) > best.1)
    }
}

impl Ord for OpenTile {
    /// The most promising tile is the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.bound.cmp(&self.bound)
    }
}

impl PartialOrd for OpenTile {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for OpenTile {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for OpenTile {}

impl ScoreIndex {
    /// An empty index. `None` if the index would not be exact, or would be too large: schedulers then search
    /// exhaustively.
    pub fn new(sled: &Arc<Sled>, score: Arc<dyn Score>) -> Option<Self> {
        let longest = sled.longest_positioning();
        if !is_exact(sled) || longest.as_ns() > u32::MAX.into() {
            return None;
        }
        let (rows, cylinders) = (sled.geometry.rows, sled.geometry.cylinders);
        let parities = sled.parities();
        let states = sled.rows.states(&sled.geometry);
        let y_times = states.map(|state| YTimes::new(sled, state).into()).collect();
        Some(ScoreIndex {
            needs_farthest: score.needs_max_time(),
            ages_alike: score.has_uniform_aging(),
            score,
            cells: Cells::new(rows, cylinders),
            groups: Sparse::new(cylinders as usize, rows as usize, RequestGroup::EMPTY),
            forest: Forest::new(parities, cylinders.div_ceil(parities), rows),
            epoch: Epoch::new(),
            parities,
            longest,
            y_times,
            lone: None,
            x_times: XTimes::new(cylinders),
            open: BinaryHeap::new(),
            sled: Arc::clone(sled),
        })
    }

    fn request_group(&self, row: u32, cylinder: u32) -> RequestGroup {
        self.groups.get(cylinder as usize, row as usize)
    }

    /// Updates a position which the requests `gone` have left.
    fn leave(&mut self, row: u32, cylinder: u32, gone: &[QueuedRequest]) {
        if gone.is_empty() {
            return;
        }
        let mut group = self.request_group(row, cylinder);
        let oldest = self.cells.first(row, cylinder).map(|first| first.queue_time);
        for request in gone {
            group.remove(request, oldest);
        }
        self.enter(row, cylinder, group);
    }

    fn enter(&mut self, row: u32, cylinder: u32, group: RequestGroup) {
        self.groups.replace(cylinder as usize, row as usize, group);
        let summary = summary(&*self.score, &self.cells, &self.epoch, (row, cylinder), &group);
        self.forest.set(cylinder % self.parities, (cylinder / self.parities, row), summary);
        self.epoch.count_change();
    }

    /// Begins a new epoch if one is due, and recomputes all summaries for it.
    fn begin_epoch_if_due(&mut self, now: Time) {
        if !self.epoch.begin(now, self.cells.len(), self.ages_alike) {
            return;
        }
        let ScoreIndex { score, cells, groups, epoch, parities, .. } = self;
        self.forest.recompute(&mut |parity, column, row| {
            let cylinder = column * *parities + parity;
            let group = groups.get(cylinder as usize, row as usize);
            summary(&**score, cells, epoch, (row, cylinder), &group)
        });
    }

    /// Key of the first request at a position; `None` if no request waits there, or if its score alone loses against
    /// `best`.
    fn key(
        &self,
        now: Time,
        (row, cylinder): (u32, u32),
        time: u64,
        distance: u32,
        best: &Key,
    ) -> Option<Key> {
        let group = &self.request_group(row, cylinder);
        if group.requests == 0 {
            return None;
        }
        let mut joined = self.cells.iter(row, cylinder).map(|request| request.queue_time);
        let score = order_key(self.score.score(now, Span::from_ns(time), group, &mut joined));
        if score > best.0 {
            return None;
        }
        self.cells.first(row, cylinder).map(|first| Key(score, time, distance, first.id))
    }

    fn enter_request(&mut self, request: QueuedRequest) {
        let place = self.sled.place(request.lbn);
        self.cells.push(place.row, place.cylinder, request);
        let mut group = self.request_group(place.row, place.cylinder);
        group.add(&request);
        self.enter(place.row, place.cylinder, group);
    }

    /// The place of the best request: row and cylinder.
    fn best(&mut self, now: Time, state: SledState) -> Option<(u32, u32)> {
        let home = u32::try_from(state.x_bit + self.sled.geometry.x_origin_bit).ok()?;
        let y_times = match self.sled.rows.line(&self.sled.geometry, state) {
            Some(line) => Arc::clone(&self.y_times[line.index()]),
            None => YTimes::new(&self.sled, state).into(),
        };
        self.begin_epoch_if_due(now);
        let mut search = Search {
            now,
            share: self.epoch.share(now),
            home,
            here: row_at_sled(&self.sled, &self.cells, state, home),
            y_times: &y_times,
            x_times: std::mem::take(&mut self.x_times),
            open: std::mem::take(&mut self.open),
            best: WORST,
            place: None,
        };
        search.x_times.start(&self.sled, state.x_bit, home);
        self.search(&mut search);
        let Search { x_times, open, place, .. } = search;
        (self.x_times, self.open) = (x_times, open);
        self.open.clear();
        place
    }

    fn search(&self, search: &mut Search) {
        let home = search.home;
        if let Some(row) = search.here
            && let Some(key) = self.key(search.now, (row, home), 0, 0, &WORST)
        {
            (search.best, search.place) = (key, Some((row, home)));
        }
        self.probe_own_column(search);
        for root in self.forest.roots() {
            self.consider_part(root, self.forest.summary(root), search);
        }
        while let Some(open) = search.open.pop() {
            if open.bound > search.best.0 {
                break;
            }
            // A tile with an equal bound that is nearer may follow.
            if !open.loses(&search.best) {
                self.expand_tile(open.tile, search);
            }
        }
    }

    /// Probes the requests in the sled's own column. Without settling they are so much nearer than others that they
    /// would spoil the bounds of their tiles.
    fn probe_own_column(&self, search: &mut Search) {
        if self.cells.is_idle(search.home) {
            return;
        }
        let full =
            self.forest.roots().map(|root| self.forest.summary(root)).fold(Summary::EMPTY, Summary::max);
        let (weight, parity) = (full.weight_bound(search.share), search.home % self.parities);
        let (here, y_times) = (search.here, search.y_times);
        let bound = |y: u64| {
            let time = Span::from_ns(y);
            order_key(self.score.lower_bound(&PositionRange { min_time: time, max_time: time, weight }))
        };
        let order = y_times.order(parity);
        let (nearest, farthest) = y_times.range(parity);
        // Where waits exceed the tolerated wait, the farthest row is the most promising.
        let backwards = self.needs_farthest && bound(farthest) < bound(nearest);
        for at in 0..order.len() {
            let row = order[if backwards { order.len() - 1 - at } else { at }];
            let y = y_times.time(row, parity);
            if here == Some(row) {
                continue;
            }
            if (bound(y), y) <= (search.best.0, search.best.1) {
                let time = y.max(search.x_times.time(&self.sled, search.home));
                self.probe(search, row, search.home, time);
            } else if !self.needs_farthest {
                // Farther rows are no better.
                break;
            }
        }
    }

    /// Considers the parts of a tile: its rows if its farthest column is no farther than the farthest row, else its
    /// tiles of columns.
    fn expand_tile(&self, tile: Tile, search: &mut Search) {
        if tile.rows == Rows::All && (tile.level == 0 || self.is_near(tile, search)) {
            let Some(columns) = self.columns(tile, search) else { return };
            let times = search.y_times.times(tile.parity);
            for (row, summary) in self.forest.rows(tile) {
                let y = times[row as usize].into();
                self.consider(Tile { rows: Rows::One(row), ..tile }, columns, (y, y), summary, search);
            }
        } else {
            for (part, summary) in self.forest.parts(tile) {
                self.consider_part(part, summary, search);
            }
        }
    }

    /// Whether the farthest column of a tile is no farther than the farthest row.
    fn is_near(&self, tile: Tile, search: &mut Search) -> bool {
        let (from, to) = self.cylinders(tile);
        let (_, farthest_row) = search.y_times.range(tile.parity);
        search.x_times.farthest(&self.sled, from, to, self.parities) <= farthest_row
    }

    /// First and last cylinder of a tile.
    #[inline]
    fn cylinders(&self, tile: Tile) -> (u32, u32) {
        let (from, to) = self.forest.columns(tile);
        let last = self.sled.geometry.cylinders - 1;
        (from * self.parities + tile.parity, (to * self.parities + tile.parity).min(last))
    }

    /// The columns of a tile; `None` if its only column is that of the sled, which has been probed.
    #[inline]
    fn columns(&self, tile: Tile, search: &mut Search) -> Option<Columns> {
        let (from, to) = self.cylinders(tile);
        if from == to && from == search.home {
            return None;
        }
        let nearest = search.x_times.nearest(&self.sled, from, to);
        let farthest = if self.needs_farthest {
            search.x_times.farthest(&self.sled, from, to, self.parities)
        } else {
            self.longest.as_ns()
        };
        Some(Columns { from, nearest, farthest })
    }

    /// Considers a root, or one of the tiles of columns that a tile consists of.
    #[inline]
    fn consider_part(&self, tile: Tile, summary: Summary, search: &mut Search) {
        if summary.is_empty() {
            return;
        }
        let Some(columns) = self.columns(tile, search) else { return };
        let y = match tile.rows {
            Rows::All => search.y_times.range(tile.parity),
            Rows::One(row) => [search.y_times.time(row, tile.parity); 2].into(),
        };
        self.consider(tile, columns, y, summary, search);
    }

    /// Opens a tile if it may hold the best request; a tile of a single position is probed.
    #[inline]
    fn consider(
        &self,
        tile: Tile,
        columns: Columns,
        (y, y_most): (u64, u64),
        summary: Summary,
        search: &mut Search,
    ) {
        let (minimum, maximum) = (y.max(columns.nearest), y_most.max(columns.farthest));
        let weight = summary.weight_bound(search.share);
        let stretch =
            PositionRange { min_time: Span::from_ns(minimum), max_time: Span::from_ns(maximum), weight };
        let open =
            OpenTile { bound: order_key(self.score.lower_bound(&stretch)), min_time: minimum as u32, tile };
        if open.loses(&search.best) {
            return;
        }
        match tile.rows {
            Rows::One(row) if tile.level == 0 => self.probe(search, row, columns.from, minimum),
            _ => search.open.push(open),
        }
    }

    fn probe(&self, search: &mut Search, row: u32, cylinder: u32, time: u64) {
        let distance = cylinder.abs_diff(search.home);
        if let Some(key) = self.key(search.now, (row, cylinder), time, distance, &search.best)
            && key < search.best
        {
            (search.best, search.place) = (key, Some((row, cylinder)));
        }
    }
}

/// The columns of a tile: the first, and times to the nearest and to the farthest, in ns.
#[derive(Clone, Copy)]
struct Columns {
    from: u32,
    nearest: u64,
    farthest: u64,
}

/// The weight of a position at the two ends of the epoch.
fn summary(
    score: &dyn Score,
    cells: &Cells,
    epoch: &Epoch,
    place: (u32, u32),
    group: &RequestGroup,
) -> Summary {
    if group.requests == 0 {
        return Summary::EMPTY;
    }
    let mut joined = cells.iter(place.0, place.1).map(|request| request.queue_time);
    Summary(score.weight(epoch.ends(), group, &mut joined))
}

/// The state of a search for the best request.
struct Search<'a> {
    now: Time,
    /// Share of the epoch that has passed.
    share: f64,
    /// Column of the sled.
    home: u32,
    /// Row of a request at the very place and direction of the sled, which takes no time.
    here: Option<u32>,
    y_times: &'a YTimes,
    x_times: XTimes,
    open: BinaryHeap<OpenTile>,
    best: Key,
    place: Option<(u32, u32)>,
}

impl PositionIndex for ScoreIndex {
    fn insert(&mut self, request: QueuedRequest) {
        if self.len() == 0 {
            self.lone = Some(request);
            return;
        }
        if let Some(lone) = self.lone.take() {
            self.enter_request(lone);
        }
        self.enter_request(request);
    }

    fn take_best(&mut self, now: Time, mechanics: &dyn Mechanics) -> Option<QueuedRequest> {
        if self.lone.is_some() {
            return self.lone.take();
        }
        let state = SledState::from(mechanics.state());
        let (row, cylinder) = self.best(now, state)?;
        let request = self.cells.pop(row, cylinder)?;
        self.leave(row, cylinder, &[request]);
        Some(request)
    }

    fn take_joining(&mut self, mechanics: &dyn Mechanics, batch: &mut Vec<QueuedRequest>) {
        let Some(place) = batch.first().map(|first| self.sled.place(first.lbn)) else { return };
        let before = batch.len();
        self.cells.take_joining(place.row, place.cylinder, mechanics, batch);
        self.leave(place.row, place.cylinder, &batch[before..]);
    }

    fn len(&self) -> usize {
        self.cells.len() + usize::from(self.lone.is_some())
    }
}
