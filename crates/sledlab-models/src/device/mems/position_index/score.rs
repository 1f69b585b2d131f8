//! The position index for scores: ageing, crowds, and what else a scheduler may think of.
//!
//! The columns of a bucket form a tree that knows for every stretch how long the oldest request there has
//! waited and how many wait at one place at most. With the time to the nearest column of the stretch that
//! bounds its scores. The search looks into the most promising stretch first and ends when no bound is below
//! the best score found.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use sledlab_core::{Span, Time};

use super::cells::Cells;
use super::forest::{Forest, Summary};
use super::x_times::XTimes;
use super::{Step, is_exact, order, waiting_at};
use crate::device::mems::sled::{Sled, SledState};
use crate::device::{Crowd, Mechanics, PositionIndex, Queued, Score, Stretch};

/// An index over the requests queued at one sled, or at sleds that move together.
pub(in crate::device::mems) struct ScoreIndex {
    sled: Arc<Sled>,
    score: Arc<dyn Score>,
    heeds_farthest: bool,
    cells: Cells,
    /// What waits at each place, by row and cylinder.
    crowds: Vec<Crowd>,
    /// How many places of each cylinder have requests.
    taken: Vec<u32>,
    forest: Forest,
    parities: u32,
    /// Buckets in order of their time in y, for every state of the row table.
    orders: Vec<Arc<[Step]>>,
    x_times: XTimes,
    /// No positioning takes longer.
    longest: Span,
    open: BinaryHeap<Open>,
}

/// Score as an integer, time in ns, distance in x, number: the smallest is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key(i64, u64, u32, u64);

/// Loses against every request.
const WORST: Key = Key(i64::MAX, u64::MAX, u32::MAX, u64::MAX);

/// A stretch of columns that may hold the best. Times are in ns and, of a sled's moves, fit 32 bits.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// The bound as an integer that orders like it.
    bound: i64,
    /// Least time to get there.
    least: u32,
    /// Time in y.
    y: u32,
    bucket: u32,
    /// Level and number of the node, in the upper four bits and the others.
    node: u32,
}

/// Bits of [`Open::node`] that number the node.
const NODE_BITS: u32 = 28;

/// An integer that orders as `score` does; comparing it takes one instruction.
#[inline]
fn ordered(score: f64) -> i64 {
    // As the standard library's `total_cmp`; adding zero makes -0 into 0.
    let bits = (score + 0.0).to_bits().cast_signed();
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

impl Open {
    #[inline]
    fn new(bound: f64, least: u64, y: u64, bucket: u32, node: u32) -> Self {
        Open { bound: ordered(bound), least: least as u32, y: y as u32, bucket, node }
    }

    /// Whether everything in it loses against the best so far.
    #[inline]
    fn loses(&self, best: &Key) -> bool {
        self.bound > best.0 || (self.bound == best.0 && u64::from(self.least) > best.1)
    }
}

impl Ord for Open {
    /// The most promising is the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.bound.cmp(&self.bound)
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Open {}

impl ScoreIndex {
    /// `None` where the index would not be exact or too large: schedulers then scan.
    pub fn new(sled: &Arc<Sled>, score: Arc<dyn Score>) -> Option<Self> {
        let longest = sled.longest_positioning();
        if !is_exact(sled) || longest.as_ns() > u32::MAX.into() {
            return None;
        }
        let (rows, cylinders) = (sled.geometry.rows, sled.geometry.cylinders);
        let parities = sled.parities();
        let states = sled.rows.states(&sled.geometry);
        let orders = states.map(|state| order(sled, parities, state).into()).collect();
        Some(ScoreIndex {
            heeds_farthest: score.heeds_farthest(),
            score,
            cells: Cells::new(rows, cylinders),
            crowds: vec![Crowd::EMPTY; rows as usize * cylinders as usize],
            taken: vec![0; cylinders as usize],
            forest: Forest::new(rows * parities, cylinders.div_ceil(parities)),
            parities,
            longest,
            orders,
            x_times: XTimes::new(cylinders),
            open: BinaryHeap::new(),
            sled: Arc::clone(sled),
        })
    }

    fn crowd_at(&self, row: u32, cylinder: u32) -> usize {
        row as usize * self.sled.geometry.cylinders as usize + cylinder as usize
    }

    /// Requests have left a place.
    fn leave(&mut self, row: u32, cylinder: u32, gone: &[Queued]) {
        let mut crowd = self.crowds[self.crowd_at(row, cylinder)];
        let oldest = self.cells.first(row, cylinder).map(|first| first.queued);
        for request in gone {
            crowd.remove(request, oldest);
        }
        self.enter(row, cylinder, crowd);
    }

    fn enter(&mut self, row: u32, cylinder: u32, crowd: Crowd) {
        let at = self.crowd_at(row, cylinder);
        let before = std::mem::replace(&mut self.crowds[at], crowd);
        let taken = &mut self.taken[cylinder as usize];
        *taken = *taken + u32::from(crowd.requests > 0) - u32::from(before.requests > 0);
        let bucket = row * self.parities + cylinder % self.parities;
        self.forest.set(bucket, cylinder / self.parities, &crowd);
    }

    fn key(&self, now: Time, row: u32, cylinder: u32, time: u64, distance: u32) -> Option<Key> {
        let first = self.cells.first(row, cylinder)?;
        let crowd = &self.crowds[self.crowd_at(row, cylinder)];
        let mut joined = self.cells.iter(row, cylinder).map(|request| request.queued);
        let score = self.score.of(now, Span::from_ns(time), crowd, &mut joined);
        Some(Key(ordered(score), time, distance, first.id))
    }

    /// The place of the best request: row and cylinder.
    fn best(&mut self, now: Time, state: SledState) -> Option<(u32, u32)> {
        let home = u32::try_from(state.x_bit + self.sled.geometry.x_origin_bit).ok()?;
        self.x_times.start(&self.sled, state.x_bit, home);
        let here = waiting_at(&self.sled, &self.cells, state, home);
        let mut search = Search { now, home, here, best: WORST, place: None };
        if let Some(row) = here
            && let Some(key) = self.key(now, row, home, 0, 0)
        {
            (search.best, search.place) = (key, Some((row, home)));
        }
        self.open_roots(&mut search, state);
        while let Some(open) = self.open.pop() {
            if open.bound > search.best.0 {
                break;
            }
            // Of equal bounds one that is nearer may follow.
            if !open.loses(&search.best) {
                self.look_into(&open, &mut search);
            }
        }
        self.open.clear();
        search.place
    }

    /// Opens all buckets, and probes what waits right above and below the sled: without settling that is so much
    /// nearer than anything else that it would spoil the bounds of its stretches.
    fn open_roots(&mut self, search: &mut Search, state: SledState) {
        let order = match self.sled.rows.line(&self.sled.geometry, state) {
            Some(line) => Arc::clone(&self.orders[line.index()]),
            None => order(&self.sled, self.parities, state).into(),
        };
        for Step { y, bucket } in order.iter().copied() {
            let Summary { oldest, requests } = self.forest.root(bucket);
            if requests == 0 {
                continue;
            }
            let bound_from = |least| {
                let stretch = Stretch { least: Span::from_ns(least), most: self.longest, oldest, requests };
                let bound = self.score.bound(search.now, &stretch);
                Open::new(bound, least, y, bucket, self.forest.top() << NODE_BITS)
            };
            let (here, elsewhere) = (bound_from(y), bound_from(y.max(self.x_times.next_door())));
            let (row, parity) = (bucket / self.parities, bucket % self.parities);
            let is_home = self.taken[search.home as usize] > 0 && search.home % self.parities == parity;
            if is_home && search.here != Some(row) && !here.loses(&search.best) {
                self.probe(search, row, search.home, y);
            }
            if !elsewhere.loses(&search.best) {
                self.open.push(elsewhere);
            }
        }
    }

    /// Opens the parts of a stretch, or probes the places it consists of.
    fn look_into(&mut self, open: &Open, search: &mut Search) {
        let Open { y, bucket, node, .. } = *open;
        let (level, node) = (node >> NODE_BITS, node & ((1 << NODE_BITS) - 1));
        let (row, parity, y) = (bucket / self.parities, bucket % self.parities, u64::from(y));
        let last_cylinder = self.sled.geometry.cylinders - 1;
        let (first, parts) = self.forest.parts(bucket, level, node);
        for (node, Summary { oldest, requests }) in (first..).zip(parts) {
            if requests == 0 {
                continue;
            }
            let (from, to) = Forest::columns(level - 1, node);
            let from = from * self.parities + parity;
            let to = ((to - 1) * self.parities + parity).min(last_cylinder);
            let least = Span::from_ns(y.max(self.x_times.nearest(&self.sled, from, to)));
            let most = if self.heeds_farthest {
                Span::from_ns(y.max(self.x_times.farthest(&self.sled, from, to)))
            } else {
                self.longest
            };
            let stretch = Stretch { least, most, oldest, requests };
            let bound = self.score.bound(search.now, &stretch);
            let open = Open::new(bound, least.as_ns(), y, bucket, (level - 1) << NODE_BITS | node);
            if open.loses(&search.best) {
                continue;
            }
            if level > 1 {
                self.open.push(open);
            } else if from != search.home {
                self.probe(search, row, from, y);
            }
        }
    }

    fn probe(&mut self, search: &mut Search, row: u32, cylinder: u32, y: u64) {
        let x = self.x_times.to(&self.sled, cylinder);
        if let Some(key) = self.key(search.now, row, cylinder, y.max(x), cylinder.abs_diff(search.home))
            && key < search.best
        {
            (search.best, search.place) = (key, Some((row, cylinder)));
        }
    }
}

/// A decision in the making.
struct Search {
    now: Time,
    /// Column of the sled.
    home: u32,
    /// Row of a request at the very place and direction of the sled, which takes no time.
    here: Option<u32>,
    best: Key,
    place: Option<(u32, u32)>,
}

impl PositionIndex for ScoreIndex {
    fn insert(&mut self, request: Queued) {
        let place = self.sled.place(request.lbn);
        self.cells.push(place.row, place.cylinder, request);
        let mut crowd = self.crowds[self.crowd_at(place.row, place.cylinder)];
        crowd.add(&request);
        self.enter(place.row, place.cylinder, crowd);
    }

    fn take_best(&mut self, now: Time, mechanics: &dyn Mechanics) -> Option<Queued> {
        let state = SledState::from(mechanics.state());
        let (row, cylinder) = self.best(now, state)?;
        let request = self.cells.pop(row, cylinder)?;
        self.leave(row, cylinder, &[request]);
        Some(request)
    }

    fn take_joining(&mut self, mechanics: &dyn Mechanics, batch: &mut Vec<Queued>) {
        let Some(place) = batch.first().map(|first| self.sled.place(first.lbn)) else { return };
        let before = batch.len();
        self.cells.take_joining(place.row, place.cylinder, mechanics, batch);
        self.leave(place.row, place.cylinder, &batch[before..]);
    }

    fn len(&self) -> usize {
        self.cells.len()
    }
}
