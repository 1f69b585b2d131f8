//! Exact position indexes: the best queued request without probing all of them.
//!
//! Requests are grouped by position, and positions by tiles of cylinders: the more requests, the narrower the tiles. For
//! a tile and for a position in it, tables give bounds of the times in x and y, and thereby a lower bound of the value
//! by which positions are compared. The search begins where this bound is lowest and examines only what may be better
//! than the best position so far. The time in x, which takes longest to compute, is computed exactly only for those.

mod bitset;
mod costs;
mod criterion;
mod epoch;
mod lists;
mod search;
mod tile;

pub(super) use self::costs::Costs;
pub(super) use self::criterion::{ByDistance, ByScore, ByTime};

use std::sync::Arc;

use sledlab_core::Time;

use self::bitset::Bitset;
use self::costs::y_times;
use self::criterion::Criterion;
use self::lists::Lists;
use self::search::Search;
use self::tile::{Bounds, Key, Spot, Tile, Waiting, Weight};
use super::sled::{Sled, SledState};
use crate::device::{Mechanics, PositionIndex, QueueOrder, QueuedRequest, RequestGroup};

/// Most positions of a sled with an index.
const MAX_POSITIONS: u64 = 1 << 24;

/// Longest side of the medium, in bits, whose square fits 32 bits.
const LONGEST_SIDE_BITS: i32 = 1 << 16;

/// Minimum width of a tile, in cylinders, as a power of two.
const NARROWEST: u32 = 2;

/// An index over the requests queued at one sled, or at sleds that move together.
pub(super) struct SledIndex<C> {
    sled: Arc<Sled>,
    /// Number of parities of cylinders, whose costs in y differ.
    parities: u32,
    criterion: C,
    tiles: Vec<Tile>,
    /// Width of a tile, in cylinders, as a power of two.
    tile_bits: u32,
    /// Tiles with requests.
    occupied: Bitset,
    lists: Lists,
    len: usize,
    /// Costs in y that are not in a table.
    y_costs: Vec<u32>,
    /// Memory that is reused: bounds of tiles, and of the positions of one tile.
    bounds: [Bounds; 2],
}

impl<C: Criterion> SledIndex<C> {
    /// An empty index. `None` if it would not be exact, or too large: schedulers then search exhaustively.
    pub fn new(sled: &Arc<Sled>, criterion: C) -> Option<Self> {
        is_exact(sled).then(|| SledIndex {
            parities: sled.parities(),
            criterion,
            tiles: vec![Tile::EMPTY],
            tile_bits: u32::BITS - 1,
            occupied: Bitset::new(1),
            lists: Lists::default(),
            len: 0,
            y_costs: Vec::new(),
            bounds: Default::default(),
            sled: Arc::clone(sled),
        })
    }

    /// Where a row of a cylinder lies.
    fn spot(&self, row: u32, cylinder: u32) -> Spot {
        Spot { cylinder, y_at: cylinder % self.parities * self.sled.geometry.rows + row }
    }

    #[inline]
    fn tile(&self, spot: Spot) -> usize {
        (spot.cylinder >> self.tile_bits) as usize
    }

    /// Adapts the width of tiles if they hold too few or too many requests.
    #[inline]
    fn adapt_tiles(&mut self) {
        let ([least, _, most], tiles) = (C::PER_TILE, self.tiles.len());
        let too_wide = self.len > most * tiles && self.tile_bits > NARROWEST;
        if too_wide || (self.len < least * tiles && tiles > 1) {
            self.tile_anew();
        }
    }

    /// Divides all cylinders into tiles of another width.
    #[cold]
    fn tile_anew(&mut self) {
        let (last, average) = (self.sled.geometry.cylinders - 1, C::PER_TILE[1]);
        let tiles = (self.len / average).max(1);
        let bits = (NARROWEST..u32::BITS - 1).find(|bits| tiles > (last >> bits) as usize);
        self.tile_bits = bits.unwrap_or(u32::BITS - 1);
        let before = std::mem::take(&mut self.tiles);
        self.tiles = vec![Tile::EMPTY; (last >> self.tile_bits) as usize + 1];
        self.occupied = Bitset::new(self.tiles.len() as u32);
        for Tile { spots, weights, waiting, .. } in before {
            for ((spot, weight), waiting) in spots.into_iter().zip(weights).zip(waiting) {
                let tile = self.tile(spot);
                self.tiles[tile].push(spot, weight, waiting);
                self.occupied.insert(tile as u32);
            }
        }
    }

    /// Computes the weight of a position, and raises that of its tile.
    fn weigh(&mut self, tile: usize, at: usize) {
        let Waiting { requests, group } = self.tiles[tile].waiting[at];
        let mut joined = self.lists.iter(requests).map(|request| request.queue_time);
        let weight = self.criterion.weight(&group, &mut joined);
        self.tiles[tile].set_weight(at, Weight(weight));
    }

    fn weigh_all(&mut self) {
        for tile in 0..self.tiles.len() {
            self.tiles[tile].weight = Weight::NONE;
            (0..self.tiles[tile].spots.len()).for_each(|at| self.weigh(tile, at));
        }
    }

    /// Removes the first request of a position.
    fn take(&mut self, tile: usize, at: usize) -> QueuedRequest {
        let Waiting { requests, group } = &mut self.tiles[tile].waiting[at];
        let (request, rest) = self.lists.pop(*requests);
        if let Some(rest) = rest {
            *requests = rest;
            group.remove(&request, Some(self.lists.first(rest).queue_time));
            if C::WEIGHS {
                self.weigh(tile, at);
            }
        } else {
            self.tiles[tile].remove(at);
            if self.tiles[tile].spots.is_empty() {
                self.occupied.remove(tile as u32);
            }
        }
        if C::WEIGHS {
            self.tiles[tile].lower_weight();
            self.criterion.count_change();
        }
        self.len -= 1;
        request
    }

    /// The place of the best request: its tile, and the number of its position there.
    fn best(&mut self, now: Time, state: SledState) -> Option<(usize, usize)> {
        if self.len <= 1 {
            return Some((self.occupied.iter().next()?, 0));
        }
        self.adapt_tiles();
        let home = u32::try_from(state.x_bit + self.sled.geometry.x_origin_bit).ok()?;
        if C::WEIGHS && self.criterion.begin_epoch(now, self.len) {
            self.weigh_all();
        }
        let (mut y_costs, mut bounds) = (std::mem::take(&mut self.y_costs), std::mem::take(&mut self.bounds));
        let (sled, costs) = (&*self.sled, self.sled.costs());
        let tabulated = sled.rows.line(&sled.geometry, state).filter(|_| !C::BY_DISTANCE);
        if tabulated.is_none() {
            y_costs.clear();
            if C::BY_DISTANCE {
                let squares = |row| sled.geometry.distance_y(state.y_bit, row).pow(2);
                (0..self.parities).for_each(|_| y_costs.extend((0..sled.geometry.rows).map(squares)));
            } else {
                y_costs.extend(y_times(sled, state));
            }
        }
        let y_costs_now = tabulated.map_or(&y_costs[..], |line| costs.y_times(line.index()));
        let here = if C::BY_DISTANCE { None } else { row_at_sled(sled, state, home) };
        let mut search = Search {
            now,
            share: self.criterion.share(now),
            home,
            from_bit: state.x_bit,
            here: here.map(|row| self.spot(row, home)),
            y_costs: y_costs_now,
            max_y: if self.criterion.needs_most() {
                y_costs_now.iter().copied().max().unwrap_or(0)
            } else {
                0
            },
            strip_bits: costs.strip_bits(),
            x_times: costs.x_times(costs.strip(home), sled),
            limits: 0..=u32::MAX,
            best: Key::WORST,
            place: None,
        };
        self.search(&mut search, &mut bounds);
        let place = search.place;
        (self.y_costs, self.bounds) = (y_costs, bounds);
        place
    }
}

/// Whether an index would make the same choices as an exhaustive search, and fits into memory.
fn is_exact(sled: &Sled) -> bool {
    let geometry = &sled.geometry;
    let positions = u64::from(geometry.rows) * u64::from(geometry.cylinders);
    let height_bits = geometry.down_start(geometry.rows - 1) - geometry.up_start(0);
    positions <= MAX_POSITIONS
        && height_bits < LONGEST_SIDE_BITS
        && geometry.cylinders < LONGEST_SIDE_BITS.cast_unsigned()
        && sled.longest_positioning().as_ns() <= u32::MAX.into()
        && sled.queue_order() == QueueOrder::Arrival
        && sled.kinematics.is_monotone()
}

/// The row at the very place and direction of the sled, if it can be read: it takes no time, so none can cost less. Its
/// time in y is not that of the tables, which assume that x moves too. Estimates by distance do not have this exception.
#[inline]
fn row_at_sled(sled: &Sled, state: SledState, home: u32) -> Option<u32> {
    if sled.estimate.is_some() {
        return None;
    }
    let row = sled.geometry.row_starting_at(state.y_bit, state.direction)?;
    let readable = sled.assumed_direction(home).is_none_or(|direction| direction == state.direction);
    readable.then_some(row)
}

impl<C: Criterion> PositionIndex for SledIndex<C> {
    fn insert(&mut self, request: QueuedRequest) {
        let place = self.sled.place(request.lbn);
        let spot = self.spot(place.row, place.cylinder);
        self.len += 1;
        self.adapt_tiles();
        let tile = self.tile(spot);
        let at = if let Some(at) = self.tiles[tile].find(spot) {
            self.lists.push(&mut self.tiles[tile].waiting[at].requests, request);
            at
        } else {
            self.occupied.insert(tile as u32);
            let requests = self.lists.begin(request);
            self.tiles[tile].push(spot, Weight::NONE, Waiting { requests, group: RequestGroup::EMPTY })
        };
        self.tiles[tile].waiting[at].group.add(&request);
        if C::WEIGHS {
            self.weigh(tile, at);
            self.criterion.count_change();
        }
    }

    fn take_best(&mut self, now: Time, mechanics: &dyn Mechanics) -> Option<QueuedRequest> {
        let (tile, at) = self.best(now, SledState::from(mechanics.state()))?;
        Some(self.take(tile, at))
    }

    fn take_joining(&mut self, mechanics: &dyn Mechanics, batch: &mut Vec<QueuedRequest>) {
        let Some(place) = batch.first().map(|first| self.sled.place(first.lbn)) else { return };
        let spot = self.spot(place.row, place.cylinder);
        let tile = self.tile(spot);
        let Some(at) = self.tiles[tile].find(spot) else { return };
        let mut staying = Vec::new();
        for _ in 0..self.tiles[tile].waiting[at].group.requests {
            let request = self.take(tile, at);
            if mechanics.can_join(batch, &request) {
                batch.push(request);
            } else {
                staying.push(request);
            }
        }
        for request in staying {
            self.insert(request);
        }
    }

    fn len(&self) -> usize {
        self.len
    }
}
