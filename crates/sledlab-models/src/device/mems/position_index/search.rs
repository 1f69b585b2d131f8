//! The search for the best position.

use std::ops::RangeInclusive;

use sledlab_core::Time;

use super::SledIndex;
use super::costs::Range;
use super::criterion::Criterion;
use super::tile::{Bounds, Key, Spot, Tile, Waiting};

/// The state of a search for the best request.
pub(super) struct Search<'a> {
    pub now: Time,
    /// Share of the epoch that has passed.
    pub share: f64,
    /// Column of the sled.
    pub home: u32,
    pub from_bit: i32,
    /// The very place and direction of the sled, which cost nothing.
    pub here: Option<Spot>,
    pub y_costs: &'a [u32],
    pub max_y: u32,
    /// Times in x by strip, whose width is this power of two.
    pub x_times: &'a [Range],
    pub strip_bits: u32,
    /// Without weights: the cylinders that do not cost too much in x alone.
    pub limits: RangeInclusive<u32>,
    pub best: Key,
    /// Tile of the best position, and its number there.
    pub place: Option<(usize, usize)>,
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
    /// Examines all positions that may be the best.
    pub(super) fn search(&self, search: &mut Search, [of_tiles, of_positions]: &mut [Bounds; 2]) {
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
