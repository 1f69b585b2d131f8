//! The exact position index: the cheapest queued request without probing all of them.
//!
//! Requests are bucketed by row. In a bucket, a bitset of occupied cylinders gives the nearest one on each
//! side of the sled. Buckets are visited in order of their time in y, and the search ends as soon as that
//! exceeds the best positioning time found. On one side, a request farther away than one met in an
//! earlier bucket can be skipped: it is no faster in y, no faster in x, and would lose the tie.

mod bitset;
mod cells;

use std::sync::Arc;

use sledlab_core::Span;

use self::bitset::Bitset;
use self::cells::Cells;
use super::sled::{Sled, SledState};
use crate::device::{DeviceState, PositionIndex, Queued};

/// Cells beyond which the index would take too much memory (8 bytes each).
const MOST_CELLS: u64 = 1 << 24;

/// An index over the requests queued at one sled, or at sleds that move together.
pub(super) struct SledIndex {
    sled: Arc<Sled>,
    /// Requests by row and cylinder.
    cells: Cells,
    /// Occupied cylinders of each bucket.
    buckets: Vec<Bitset>,
    /// Parities a row is split into: 2 where the parity of the column decides the direction, else 1.
    parities: u32,
    /// Buckets in order of their time in y, for every state of the row table.
    orders: Vec<Vec<Step>>,
}

/// A bucket and the time in y to it while x moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    y: Span,
    bucket: u32,
}

/// The best request found so far: smallest time, then distance, then number.
type Key = (Span, u32, u64);

impl SledIndex {
    /// `None` where the index would not be exact or too large: schedulers then scan.
    pub fn new(sled: &Arc<Sled>) -> Option<Self> {
        let (rows, cylinders) = (sled.geometry.rows, sled.geometry.cylinders);
        let fits = u64::from(rows) * u64::from(cylinders) <= MOST_CELLS;
        if !fits || sled.ties_to_lowest_lbn() || !sled.kinematics.is_monotone() {
            return None;
        }
        let parities = sled.parities();
        let orders = sled.rows.states(&sled.geometry).map(|state| order(sled, parities, state)).collect();
        Some(SledIndex {
            cells: Cells::new(rows, cylinders),
            buckets: vec![Bitset::new(cylinders); (rows * parities) as usize],
            parities,
            orders,
            sled: Arc::clone(sled),
        })
    }

    fn bucket(&self, row: u32, cylinder: u32) -> usize {
        (row * self.parities + cylinder % self.parities) as usize
    }

    /// The cheapest request: its row, cylinder.
    fn nearest(&self, state: SledState) -> Option<(u32, u32)> {
        let home = u32::try_from(state.x_bit + self.sled.geometry.x_origin_bit).ok()?;
        if let Some(row) = self.waiting_at(state, home) {
            return Some((row, home));
        }
        match self.sled.rows.line(&self.sled.geometry, state) {
            Some(line) => self.search(state, home, &self.orders[line.index()]),
            None => self.search(state, home, &order(&self.sled, self.parities, state)),
        }
    }

    /// A request at the very place and direction of the sled takes no time: nothing can be cheaper. It is
    /// the one whose time in y is not that of the tables, which are for moves in x too.
    fn waiting_at(&self, state: SledState, home: u32) -> Option<u32> {
        let row = self.sled.geometry.row_starting_at(state.y_bit, state.direction)?;
        let readable = self.sled.direction_seen(home).is_none_or(|direction| direction == state.direction);
        (readable && self.cells.first(row, home).is_some()).then_some(row)
    }

    fn search(&self, state: SledState, home: u32, order: &[Step]) -> Option<(u32, u32)> {
        let mut best: Option<(Key, (u32, u32))> = None;
        // Smallest distance met on each side; farther requests of later buckets lose.
        let (mut left, mut right) = (u32::MAX, u32::MAX);
        for Step { y, bucket } in order {
            if best.is_some_and(|((time, ..), _)| *y > time) {
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
                let key = ((*y).max(self.sled.x_time(state.x_bit, x_bit)), distance, first.id);
                if best.is_none_or(|(other, _)| key < other) {
                    best = Some((key, (row, cylinder)));
                }
            };
            if let Some(cylinder) = occupied.last_up_to(home) {
                consider(cylinder, &mut left);
            }
            if let Some(cylinder) = occupied.first_from(home) {
                consider(cylinder, &mut right);
            }
        }
        best.map(|(_, place)| place)
    }
}

/// All buckets by their time in y from `state`, while x moves.
fn order(sled: &Sled, parities: u32, state: SledState) -> Vec<Step> {
    let time = |row, parity| match sled.direction_seen(parity) {
        Some(direction) => sled.row(state, row, direction, true).total(),
        None => sled.row(state, row, 1, true).total().min(sled.row(state, row, -1, true).total()),
    };
    let mut steps: Vec<Step> = (0..sled.geometry.rows)
        .flat_map(|row| (0..parities).map(move |parity| (row, parity)))
        .map(|(row, parity)| Step { y: time(row, parity), bucket: row * parities + parity })
        .collect();
    steps.sort_unstable();
    steps
}

impl PositionIndex for SledIndex {
    fn insert(&mut self, request: Queued) {
        let place = self.sled.place(request.lbn);
        let bucket = self.bucket(place.row, place.cylinder);
        self.buckets[bucket].insert(place.cylinder);
        self.cells.push(place.row, place.cylinder, request);
    }

    fn take_nearest(&mut self, state: DeviceState) -> Option<Queued> {
        let DeviceState::Sled(state) = state;
        let (row, cylinder) = self.nearest(state)?;
        let request = self.cells.pop(row, cylinder)?;
        if self.cells.first(row, cylinder).is_none() {
            let bucket = self.bucket(row, cylinder);
            self.buckets[bucket].remove(cylinder);
        }
        Some(request)
    }

    fn len(&self) -> usize {
        self.cells.len()
    }
}
