//! Exact position indexes: the best queued request without probing all of them.
//!
//! Requests are grouped by position, and positions by tiles of cylinders: the more requests, the narrower the tiles.
//! For each position, tables give bounds of the times in x and y, and thereby a lower bound of the value by which
//! positions are compared; loops without branches compute the bounds of many positions. Only from the lowest bound on,
//! and only as long as a bound is not above the best value so far, the time in x is computed exactly, which takes
//! longest. Times alone are searched outward from the sled; with weights, the tiles with the lowest bounds come first.

mod bitset;
mod bounds;
mod criterion;
mod epoch;
mod lists;
mod search;
mod tile;
mod tiles;
mod weights;

pub(super) use self::criterion::{ByDistance, ByScore, ByTime};

use std::sync::Arc;

use sledlab_core::Time;

use self::bounds::Bounds;
use self::criterion::Criterion;
use self::search::{CostsFrom, Key, Search};
use self::tiles::Tiles;
use super::costs::y_times;
use super::shared_sled::SharedSled;
use super::sled::Sled;
use super::state::SledState;
use crate::device::{Mechanics, PositionIndex, QueueOrder, QueuedRequest};

/// Most positions of a sled with an index: the numbers of those with requests are stored in 24 bits.
const MAX_POSITIONS: u64 = 1 << 24;

/// Longest side of the medium, in bits, whose square fits 32 bits.
const LONGEST_SIDE_BITS: i32 = 1 << 16;

/// Most costs in y, whose numbers are stored in 16 bits.
const MAX_Y_COSTS: u32 = 1 << 16;

/// An index over the requests queued at one sled, or at sleds that move together.
pub(super) struct SledIndex<C> {
    tiles: Tiles<C>,
    /// Costs in y that are not in a table.
    y_costs: Vec<u32>,
    /// Memory that is reused: bounds of tiles, and of the positions of one tile.
    bounds: [Bounds; 2],
}

impl<C: Criterion> SledIndex<C> {
    /// An empty index. `None` if it would not be exact, or too large: schedulers then search exhaustively.
    pub fn new(sled: &Arc<SharedSled>, criterion: C) -> Option<Self> {
        is_exact(sled).then(|| SledIndex {
            tiles: Tiles::new(sled, criterion),
            y_costs: Vec::new(),
            bounds: Default::default(),
        })
    }

    /// The place of the best request: its tile, and the number of its position there.
    fn best(&mut self, now: Time, state: SledState) -> Option<(usize, usize)> {
        let SledIndex { tiles, y_costs, bounds } = self;
        if tiles.len <= 1 {
            return Some((tiles.occupied.iter().next()?, 0));
        }
        tiles.adapt();
        if C::WEIGHS && tiles.criterion.begin_epoch(now, tiles.len, tiles.all.len()) {
            tiles.weigh_all();
        }
        let (sled, costs) = (&*tiles.sled, tiles.sled.costs());
        let home = u32::try_from(state.x_bit + sled.geometry.x_origin_bit).ok()?;
        let table_line = sled.rows.line(&sled.geometry, state).filter(|_| !C::BY_DISTANCE);
        if table_line.is_none() {
            y_costs.clear();
            if C::BY_DISTANCE {
                let squares = |row| sled.geometry.distance_y(state.y_bit, row).pow(2);
                (0..tiles.parities).for_each(|_| y_costs.extend((0..sled.geometry.rows).map(squares)));
            } else {
                y_costs.extend(y_times(sled, state));
            }
        }
        let row_here = if C::BY_DISTANCE { None } else { row_at_sled(sled, state, home) };
        let mut search = Search {
            now,
            share: tiles.criterion.share(now),
            from_bit: state.x_bit,
            here: row_here.map(|row| tiles.spot(row, home)),
            costs: CostsFrom {
                home,
                y: table_line.map_or(&y_costs[..], |line| costs.y_times(line.index())),
                x: costs.x_times(costs.strip(home), sled),
                strip_bits: costs.strip_bits(),
            },
            best: Key::WORST,
            place: None,
        };
        tiles.search(&mut search, bounds);
        search.place
    }
}

/// Whether an index would make the same choices as an exhaustive search, and fits into memory.
fn is_exact(sled: &Sled) -> bool {
    let geometry = &sled.geometry;
    let position_count = u64::from(geometry.rows) * u64::from(geometry.cylinders);
    let height_bits = geometry.down_start(geometry.rows - 1) - geometry.up_start(0);
    position_count <= MAX_POSITIONS
        && geometry.rows * sled.parities() <= MAX_Y_COSTS
        && height_bits < LONGEST_SIDE_BITS
        && geometry.cylinders < LONGEST_SIDE_BITS.cast_unsigned()
        && sled.longest_positioning().as_ns() <= u32::MAX.into()
        && sled.queue_order() == QueueOrder::Arrival
        && sled.kinematics.is_monotone()
}

/// The row at the very place and direction of the sled, if it can be read: it takes no time, so none can cost less. Its
/// time in y is not that of the tables, which assume that x moves too. Estimates by distance do not have this
/// exception.
#[inline]
fn row_at_sled(sled: &Sled, state: SledState, home: u32) -> Option<u32> {
    if sled.estimate.is_some() {
        return None;
    }
    let row = sled.geometry.row_starting_at(state.y_bit, state.direction)?;
    let is_readable = sled.assumed_direction(home).is_none_or(|direction| direction == state.direction);
    is_readable.then_some(row)
}

impl<C: Criterion> PositionIndex for SledIndex<C> {
    fn insert(&mut self, request: QueuedRequest) {
        self.tiles.insert(request);
    }

    fn remove(&mut self, request: &QueuedRequest) -> bool {
        self.tiles.remove(request)
    }

    fn take_best(&mut self, now: Time, mechanics: &dyn Mechanics) -> Option<QueuedRequest> {
        let (tile, at) = self.best(now, SledState::from(mechanics.state()))?;
        Some(self.tiles.take(tile, at))
    }

    fn take_joining(&mut self, mechanics: &dyn Mechanics, batch: &mut Vec<QueuedRequest>) {
        let tiles = &mut self.tiles;
        let Some(place) = batch.first().map(|first| tiles.sled.place(first.lbn)) else { return };
        let spot = tiles.spot(place.row, place.cylinder);
        let tile = tiles.tile(spot);
        let Some(at) = tiles.all[tile].find(spot) else { return };
        let mut rejected_positions = Vec::new();
        for _ in 0..tiles.waiting[tiles.all[tile].positions[at].group()].group.requests {
            let request = tiles.take(tile, at);
            if mechanics.can_join(batch, &request) {
                batch.push(request);
            } else {
                rejected_positions.push(request);
            }
        }
        for request in rejected_positions {
            tiles.insert(request);
        }
    }

    fn len(&self) -> usize {
        self.tiles.len
    }
}
