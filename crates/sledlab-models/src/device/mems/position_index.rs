//! Exact position indexes: the best queued request without probing all of them.
//!
//! There are two: [`SledIndex`] finds the smallest positioning time or distance, [`ScoreIndex`] the smallest score.
//!
//! Requests are bucketed by row. In a bucket, a bitset of occupied cylinders gives the nearest one on each side of
//! the sled. Buckets are visited in order of their time in y, and the search ends as soon as this time exceeds the
//! best positioning time found. On either side, a request farther away than one found in an earlier bucket can be
//! skipped: it takes as long or longer in y and in x, and would lose a tie.

mod bitset;
mod cells;
mod epoch;
mod forest;
mod score;
mod sparse;
mod x_times;
mod y_times;

pub(super) use self::score::ScoreIndex;

use std::sync::Arc;

use sledlab_core::Time;

use self::bitset::Bitset;
use self::cells::Cells;
use super::sled::{Sled, SledState};
use crate::device::{Mechanics, PositionIndex, QueueOrder, QueuedRequest};

/// Most cells of an index: a larger one would take too much memory (8 bytes for each cell).
const MAX_CELLS: u64 = 1 << 24;

/// An index over the requests queued at one sled, or at sleds that move together.
pub(super) struct SledIndex {
    sled: Arc<Sled>,
    /// Requests by row and cylinder.
    cells: Cells,
    /// Occupied cylinders of each bucket.
    buckets: Vec<Bitset>,
    /// Buckets of a row: 2 if the parity of the column decides the direction, else 1.
    parities: u32,
    /// Whether the index finds the smallest distance instead of the smallest time.
    by_distance: bool,
    /// Buckets in order of their time in y, for every state of the row table.
    orders: Vec<Vec<Step>>,
}

/// A bucket and the cost of reaching it in y: time in ns while x moves, or the square of the distance in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    y: u64,
    bucket: u32,
}

/// Sort key of requests: cost, then distance in x if the cost is a time, then number.
type Key = (u64, u32, u64);

impl SledIndex {
    /// An empty index by smallest time, or by smallest distance. `None` if the index would not be exact, or would be
    /// too large: schedulers then search exhaustively.
    pub fn new(sled: &Arc<Sled>, by_distance: bool) -> Option<Self> {
        if !is_exact(sled) {
            return None;
        }
        let (rows, cylinders) = (sled.geometry.rows, sled.geometry.cylinders);
        let parities = sled.parities();
        let orders = sled.rows.states(&sled.geometry).map(|state| order(sled, parities, state)).collect();
        Some(SledIndex {
            cells: Cells::new(rows, cylinders),
            buckets: vec![Bitset::new(cylinders); (rows * parities) as usize],
            parities,
            by_distance,
            orders,
            sled: Arc::clone(sled),
        })
    }

    fn bucket(&self, row: u32, cylinder: u32) -> usize {
        (row * self.parities + cylinder % self.parities) as usize
    }

    /// Removes the earliest request of a cell.
    fn take_first(&mut self, row: u32, cylinder: u32) -> Option<QueuedRequest> {
        let request = self.cells.pop(row, cylinder)?;
        if self.cells.first(row, cylinder).is_none() {
            let bucket = self.bucket(row, cylinder);
            self.buckets[bucket].remove(cylinder);
        }
        Some(request)
    }

    /// Row and cylinder of the request with the minimum cost.
    fn nearest(&self, state: SledState) -> Option<(u32, u32)> {
        let home = u32::try_from(state.x_bit + self.sled.geometry.x_origin_bit).ok()?;
        if self.by_distance {
            return self.search(state, home, &distances(&self.sled, self.parities, state));
        }
        if let Some(row) = row_at_sled(&self.sled, &self.cells, state, home) {
            return Some((row, home));
        }
        match self.sled.rows.line(&self.sled.geometry, state) {
            Some(line) => self.search(state, home, &self.orders[line.index()]),
            None => self.search(state, home, &order(&self.sled, self.parities, state)),
        }
    }

    fn search(&self, state: SledState, home: u32, order: &[Step]) -> Option<(u32, u32)> {
        let mut best: Option<(Key, (u32, u32))> = None;
        // Smallest distance found on each side; farther requests of later buckets lose.
        let (mut left, mut right) = (u32::MAX, u32::MAX);
        for Step { y, bucket } in order {
            if best.is_some_and(|((cost, ..), _)| *y > cost) {
                break;
            }
            let occupied = &self.buckets[*bucket as usize];
            let row = bucket / self.parities;
            let mut consider = |cylinder: u32, nearest: &mut u32| {
                let distance = cylinder.abs_diff(home);
                if distance > *nearest {
                    return;
                }
                *nearest = distance;
                let x_bit = cylinder as i32 - self.sled.geometry.x_origin_bit;
                let Some(first) = self.cells.first(row, cylinder) else { return };
                let key = if self.by_distance {
                    (y + u64::from(distance).pow(2), 0, first.id)
                } else {
                    ((*y).max(self.sled.estimated_x_time(state.x_bit, x_bit).as_ns()), distance, first.id)
                };
                if best.is_none_or(|(other, _)| key < other) {
                    best = Some((key, (row, cylinder)));
                }
            };
            if let Some(cylinder) = occupied.last_at_or_below(home) {
                consider(cylinder, &mut left);
            }
            if let Some(cylinder) = occupied.first_at_or_above(home) {
                consider(cylinder, &mut right);
            }
        }
        best.map(|(_, place)| place)
    }
}

/// Whether an index would make the same choices as an exhaustive search, and fits into memory.
fn is_exact(sled: &Sled) -> bool {
    let cells = u64::from(sled.geometry.rows) * u64::from(sled.geometry.cylinders);
    cells <= MAX_CELLS && sled.queue_order() == QueueOrder::Arrival && sled.kinematics.is_monotone()
}

/// The row of a request at the very place and direction of the sled, if one waits: it takes no time, so none can cost
/// less. Its time in y is not that of the tables, which assume that x moves too. Estimates by distance do not have
/// this exception.
#[inline]
fn row_at_sled(sled: &Sled, cells: &Cells, state: SledState, home: u32) -> Option<u32> {
    if sled.estimate.is_some() {
        return None;
    }
    let row = sled.geometry.row_starting_at(state.y_bit, state.direction)?;
    let readable = sled.assumed_direction(home).is_none_or(|direction| direction == state.direction);
    (readable && cells.first(row, home).is_some()).then_some(row)
}

/// All buckets by their distance in y from `state` to the nearer start of the row, squared.
fn distances(sled: &Sled, parities: u32, state: SledState) -> Vec<Step> {
    let distance = |row| u64::from(sled.geometry.distance_y(state.y_bit, row)).pow(2);
    steps(sled, parities, |row, _| distance(row))
}

/// All buckets by their time in y from `state`, while x moves.
fn order(sled: &Sled, parities: u32, state: SledState) -> Vec<Step> {
    steps(sled, parities, |row, parity| row_time(sled, state, row, parity))
}

/// Time in y from `state` to a row in columns of a parity, in ns, while x moves.
fn row_time(sled: &Sled, state: SledState, row: u32, parity: u32) -> u64 {
    sled.estimated_y_time(state, row, parity, true).as_ns()
}

/// All buckets in order of their cost in y, which `cost` gives for a row and a parity.
fn steps(sled: &Sled, parities: u32, cost: impl Fn(u32, u32) -> u64) -> Vec<Step> {
    let mut steps: Vec<Step> = (0..sled.geometry.rows)
        .flat_map(|row| (0..parities).map(move |parity| (row, parity)))
        .map(|(row, parity)| Step { y: cost(row, parity), bucket: row * parities + parity })
        .collect();
    steps.sort_unstable();
    steps
}

impl PositionIndex for SledIndex {
    fn insert(&mut self, request: QueuedRequest) {
        let place = self.sled.place(request.lbn);
        let bucket = self.bucket(place.row, place.cylinder);
        self.buckets[bucket].insert(place.cylinder);
        self.cells.push(place.row, place.cylinder, request);
    }

    fn take_best(&mut self, _now: Time, mechanics: &dyn Mechanics) -> Option<QueuedRequest> {
        let state = SledState::from(mechanics.state());
        let (row, cylinder) = self.nearest(state)?;
        self.take_first(row, cylinder)
    }

    fn take_joining(&mut self, mechanics: &dyn Mechanics, batch: &mut Vec<QueuedRequest>) {
        let Some(place) = batch.first().map(|first| self.sled.place(first.lbn)) else { return };
        self.cells.take_joining(place.row, place.cylinder, mechanics, batch);
        if self.cells.first(place.row, place.cylinder).is_none() {
            let bucket = self.bucket(place.row, place.cylinder);
            self.buckets[bucket].remove(place.cylinder);
        }
    }

    fn len(&self) -> usize {
        self.cells.len()
    }
}
