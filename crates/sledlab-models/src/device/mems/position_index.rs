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
mod tile;

pub(super) use self::costs::Costs;
pub(super) use self::criterion::{ByDistance, ByScore, ByTime};

use std::ops::RangeInclusive;
use std::sync::Arc;

use sledlab_core::Time;

use self::bitset::Bitset;
use self::costs::{Range, y_times};
use self::criterion::Criterion;
use self::lists::Lists;
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
    /// Parities of cylinders that have costs in y of their own.
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

/// The state of a search for the best request.
struct Search<'a> {
    now: Time,
    /// Share of the epoch that has passed.
    share: f64,
    /// Column of the sled.
    home: u32,
    from_bit: i32,
    /// The very place and direction of the sled, which cost nothing.
    here: Option<Spot>,
    y_costs: &'a [u32],
    max_y: u32,
    /// Times in x by strip, whose width is this power of two.
    x_times: &'a [Range],
    strip_bits: u32,
    /// Without weights: the cylinders that do not cost too much in x alone.
    limits: RangeInclusive<u32>,
    best: Key,
    /// Tile of the best position, and its number there.
    place: Option<(usize, usize)>,
}

impl Search<'_> {
    /// Minimum and maximum cost in x to a cylinder.
    #[inline]
    fn x_range<C: Criterion>(&self, cylinder: u32) -> Range {
        if C::BY_DISTANCE {
            let square = cylinder.abs_diff(self.home).pow(2);
            return (square, square);
        }
        if cylinder == self.home {
            return (0, 0);
        }
        self.x_times[(cylinder >> self.strip_bits) as usize]
    }

    #[inline]
    fn y_cost(&self, spot: Spot) -> u32 {
        self.y_costs[spot.y_at as usize]
    }
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
            lists: Lists::new(),
            len: 0,
            y_costs: Vec::new(),
            bounds: Default::default(),
            sled: Arc::clone(sled),
        })
    }

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
            max_y: if C::WEIGHS { y_costs_now.iter().copied().max().unwrap_or(0) } else { 0 },
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

    fn search(&self, search: &mut Search, [of_tiles, of_positions]: &mut [Bounds; 2]) {
        if let Some(spot) = search.here
            && let Some(at) = self.tiles[self.tile(spot)].find(spot)
        {
            self.probe(search, self.tile(spot), at, 0);
        }
        match self.tiles.len() {
            1 if C::WEIGHS => self.visit_weighted(search, of_positions, 0),
            1 => self.visit(search, 0),
            _ if C::WEIGHS => self.visit_by_bound(search, of_tiles, of_positions),
            _ => self.visit_outward(search),
        }
    }

    /// Visits the tile with the lowest bound, then all others that may hold a better position.
    fn visit_by_bound(&self, search: &mut Search, of_tiles: &mut Bounds, of_positions: &mut Bounds) {
        of_tiles.clear();
        let needs_most = self.criterion.needs_most();
        for tile in self.occupied.iter() {
            let (least, most) = self.x_range_of_tile(tile, search);
            of_tiles.least.push(least);
            if needs_most {
                of_tiles.most.push(most.max(search.max_y));
            }
            of_tiles.weights.push(self.tiles[tile].weight.bound(search.share));
        }
        let first = of_tiles.compute(&self.criterion);
        if let Some(tile) = self.occupied.iter().nth(first) {
            self.visit_weighted(search, of_positions, tile);
        }
        for (at, tile) in self.occupied.iter().enumerate() {
            if at != first && !of_tiles.loses(at, &search.best) {
                self.visit_weighted(search, of_positions, tile);
            }
        }
    }

    /// Examines the positions of a tile by their bounds.
    fn visit_weighted(&self, search: &mut Search, bounds: &mut Bounds, tile: usize) {
        let Tile { spots, weights, .. } = &self.tiles[tile];
        bounds.clear();
        let ranges = spots.iter().map(|spot| (search.x_range::<C>(spot.cylinder), search.y_cost(*spot)));
        if self.criterion.needs_most() {
            bounds.most.extend(ranges.clone().map(|((_, x), y)| x.max(y)));
        }
        bounds.least.extend(ranges.map(|((x, _), y)| x.max(y)));
        bounds.weights.extend(weights.iter().map(|weight| weight.bound(search.share)));
        let first = bounds.compute(&self.criterion);
        if !bounds.loses(first, &search.best) {
            self.probe_exactly(search, tile, first);
        }
        for at in 0..bounds.len() {
            if !bounds.loses(at, &search.best) && at != first {
                self.probe_exactly(search, tile, at);
            }
        }
    }

    /// Visits the tiles outward from that of the sled until those that remain on a side cost too much.
    fn visit_outward(&self, search: &mut Search) {
        let home = search.home >> self.tile_bits;
        let mut left = self.occupied.last_at_or_below(home);
        let mut right = self.occupied.first_at_or_above(home + 1);
        loop {
            let on_left = match (left, right) {
                (Some(left), Some(right)) => home - left <= right - home,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => return,
            };
            let side = if on_left { &mut left } else { &mut right };
            let Some(tile) = *side else { return };
            if u64::from(self.x_range_of_tile(tile as usize, search).0) > search.best.1 {
                *side = None;
                continue;
            }
            self.visit(search, tile as usize);
            *side = if on_left {
                tile.checked_sub(1).and_then(|next| self.occupied.last_at_or_below(next))
            } else {
                self.occupied.first_at_or_above(tile + 1)
            };
        }
    }

    /// Examines the positions of a tile by their costs.
    fn visit(&self, search: &mut Search, tile: usize) {
        for (at, spot) in self.tiles[tile].spots.iter().enumerate() {
            let (least, _) = search.x_range::<C>(spot.cylinder);
            let least = combine::<C>(least.into(), search.y_cost(*spot).into());
            if least <= search.best.1 && search.limits.contains(&spot.cylinder) {
                self.probe_exactly(search, tile, at);
            }
        }
    }

    /// Minimum and maximum cost in x to the cylinders of a tile.
    #[inline]
    fn x_range_of_tile(&self, tile: usize, search: &Search) -> Range {
        let first = (tile as u32) << self.tile_bits;
        let last = (first + ((1 << self.tile_bits) - 1)).min(self.sled.geometry.cylinders - 1);
        let [least, left, right] =
            [search.home.clamp(first, last), first, last].map(|cylinder| search.x_range::<C>(cylinder));
        (least.0, left.1.max(right.1))
    }

    fn probe_exactly(&self, search: &mut Search, tile: usize, at: usize) {
        let spot = self.tiles[tile].spots[at];
        let y = search.y_cost(spot).into();
        let x = if C::BY_DISTANCE {
            search.x_range::<C>(spot.cylinder).0.into()
        } else if search.here == Some(spot) {
            return;
        } else {
            self.sled.estimated_x_time(search.from_bit, self.sled.geometry.x_bit(spot.cylinder)).as_ns()
        };
        if !C::WEIGHS && x > search.best.1 {
            let (first, last) = search.limits.clone().into_inner();
            search.limits = if spot.cylinder < search.home {
                spot.cylinder + 1..=last
            } else {
                first..=spot.cylinder - 1
            };
            return;
        }
        self.probe(search, tile, at, combine::<C>(x, y));
    }

    fn probe(&self, search: &mut Search, tile: usize, at: usize, cost: u64) {
        let Tile { spots, waiting, .. } = &self.tiles[tile];
        let Waiting { requests, group } = &waiting[at];
        let mut joined = self.lists.iter(*requests).map(|request| request.queue_time);
        let value = self.criterion.value(search.now, cost, group, &mut joined);
        if value > search.best.0 {
            return;
        }
        let first = self.lists.first(*requests).id;
        let distance = if C::BY_DISTANCE { 0 } else { spots[at].cylinder.abs_diff(search.home) };
        let key = Key(value, cost, distance, first);
        if key < search.best {
            (search.best, search.place) = (key, Some((tile, at)));
        }
    }
}

/// The cost of a movement in x and y: times pass at once, squares of distances add up.
#[inline]
fn combine<C: Criterion>(x: u64, y: u64) -> u64 {
    if C::BY_DISTANCE { x + y } else { x.max(y) }
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
