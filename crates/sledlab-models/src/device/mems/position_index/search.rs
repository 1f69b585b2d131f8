//! The search for the best position.

use sledlab_core::Time;

use super::super::costs::XTimes;
use super::bounds::Bounds;
use super::criterion::Criterion;
use super::tile::{Position, Spot, Tile, Waiting};
use super::tiles::Tiles;

/// The state of a search for the best request.
pub(super) struct Search<'a> {
    pub now: Time,
    /// Share of the epoch that has passed.
    pub share: f64,
    pub from_bit: i32,
    /// The very place and direction of the sled, which cost nothing.
    pub here: Option<Spot>,
    pub costs: CostsFrom<'a>,
    pub best: Key,
    /// Tile of the best position, and its number there.
    pub place: Option<(usize, usize)>,
}

/// Costs from the place of the sled.
#[derive(Clone, Copy)]
pub(super) struct CostsFrom<'a> {
    /// Column of the sled.
    pub home: u32,
    pub y: &'a [u32],
    /// Times in x by strip, whose width is this power of two.
    pub x: &'a XTimes,
    pub strip_bits: u32,
}

/// Value of the criterion, time in ns, distance in x, number: the smallest is served.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Key(pub f64, pub u64, pub u32, pub u64);

impl Key {
    /// Loses against the key of every request.
    pub const WORST: Key = Key(f64::INFINITY, u64::MAX, u32::MAX, u64::MAX);
}

/// Most positions that an outward search examines at once on one side, and on both.
const WINDOW: usize = 4;
const BOTH: usize = 2 * WINDOW;

/// Where an outward search continues on one side.
struct Side {
    /// The tile; `None` at the end of the search.
    tile: Option<usize>,
    /// Number of the first position in the tile of those examined at present.
    first: usize,
    /// Those not yet examined are before this number on the left, from this number on the right.
    next: usize,
}

impl CostsFrom<'_> {
    /// Minimum cost in x to a cylinder.
    #[inline]
    fn least_x<C: Criterion>(self, cylinder: u32) -> u32 {
        if C::BY_DISTANCE {
            cylinder.abs_diff(self.home).pow(2)
        } else if cylinder == self.home {
            0
        } else {
            self.x.min_ns[(cylinder >> self.strip_bits) as usize]
        }
    }

    /// Minimum cost to a position on another cylinder.
    #[inline]
    fn least<C: Criterion>(self, position: Position) -> u32 {
        let y = self.y[position.spot().y_at()];
        if C::BY_DISTANCE {
            self.least_x::<C>(position.spot().cylinder()).saturating_add(y)
        } else {
            self.x.min_ns[usize::from(position.strip())].max(y)
        }
    }

    /// Maximum time in x to a cylinder.
    fn most_x(self, cylinder: u32) -> u32 {
        self.x.max_ns[(cylinder >> self.strip_bits) as usize]
    }

    /// Maximum time to a position.
    #[inline]
    fn most(self, position: Position) -> u32 {
        self.x.max_ns[usize::from(position.strip())].max(self.y[position.spot().y_at()])
    }
}

/// Sets the keys from number `first` on, which sort by the minimum costs to positions and contain their own numbers.
#[inline]
fn set_keys<C: Criterion>(costs: CostsFrom, positions: &[Position], first: usize, keys: &mut [u64; BOTH]) {
    for (at, position) in (first..BOTH).zip(positions) {
        keys[at] = u64::from(costs.least::<C>(*position)) * BOTH as u64 + at as u64;
    }
}

impl<C: Criterion> Tiles<C> {
    /// Examines all positions that may be the best.
    pub(super) fn search(&self, search: &mut Search, [tile_bounds, position_bounds]: &mut [Bounds; 2]) {
        if let Some(spot) = search.here
            && let Some(at) = self.all[self.tile(spot)].find(spot)
        {
            self.probe(search, self.tile(spot), at, 0);
        }
        match self.all.len() {
            _ if !C::WEIGHS => self.visit_outward(search),
            1 => self.visit_weighted(search, position_bounds, 0),
            _ => self.visit_by_bound(search, tile_bounds, position_bounds),
        }
    }

    /// Visits all tiles that may hold the best position, that with the lowest bound first.
    fn visit_by_bound(&self, search: &mut Search, tile_bounds: &mut Bounds, position_bounds: &mut Bounds) {
        tile_bounds.clear();
        let costs = search.costs;
        let heaviest = self.occupied.iter().map(|tile| self.all[tile].weights.max(search.share));
        let needs_most = self.criterion.needs_most(heaviest.fold(f64::NEG_INFINITY, f64::max));
        let max_y = if needs_most { costs.y.iter().copied().max().unwrap_or(0) } else { 0 };
        for tile in self.occupied.iter() {
            tile_bounds.numbers.push(tile as u32);
            let [nearest, first, last] = self.cylinders_of_tile(tile, search);
            tile_bounds.min_costs.push(costs.least_x::<C>(nearest));
            if needs_most {
                tile_bounds.max_costs.push(costs.most_x(first).max(costs.most_x(last)).max(max_y));
            }
            tile_bounds.weights.push(self.all[tile].weights.max(search.share));
        }
        tile_bounds.compute(&self.criterion);
        while let Some(at) = tile_bounds.take_lowest(search.best.0) {
            self.visit_weighted(search, position_bounds, tile_bounds.numbers[at] as usize);
        }
    }

    /// The cylinder of a tile that is nearest to the sled, and its first and last.
    #[inline]
    fn cylinders_of_tile(&self, tile: usize, search: &Search) -> [u32; 3] {
        let first = (tile as u32) << self.tile_bits;
        let last = (first + ((1 << self.tile_bits) - 1)).min(self.sled.geometry.cylinders - 1);
        [search.costs.home.clamp(first, last), first, last]
    }

    /// Examines the positions of a tile from the lowest bound on.
    fn visit_weighted(&self, search: &mut Search, bounds: &mut Bounds, tile: usize) {
        let (Tile { positions, weights }, costs) = (&self.all[tile], search.costs);
        bounds.clear();
        bounds.min_costs.extend(positions.iter().map(|position| costs.least::<C>(*position)));
        for at in self.all[tile].range_of(costs.home) {
            bounds.min_costs[at] = costs.y[positions[at].spot().y_at()];
        }
        if self.criterion.needs_most(weights.max(search.share)) {
            bounds.max_costs.extend(positions.iter().map(|position| costs.most(*position)));
        }
        bounds.weights.extend(weights.after(search.share));
        bounds.compute(&self.criterion);
        while let Some(at) = bounds.take_lowest(search.best.0) {
            self.probe_exactly(search, tile, at);
        }
    }

    /// Examines the positions of the sled's cylinder, then the others outward, some on both sides at once, until those
    /// that remain on a side cost too much in x alone.
    fn visit_outward(&self, search: &mut Search) {
        let costs = search.costs;
        let home = (costs.home >> self.tile_bits) as usize;
        let at_home = self.all[home].range_of(costs.home);
        for at in at_home.clone() {
            let y = costs.y[self.all[home].positions[at].spot().y_at()];
            if u64::from(y) <= search.best.1 {
                self.probe_exactly(search, home, at);
            }
        }
        let [mut left, mut right] =
            [at_home.start, at_home.end].map(|next| Side { tile: Some(home), first: next, next });
        loop {
            let on_left = self.next_positions::<true>(search, &mut left);
            let on_right = self.next_positions::<false>(search, &mut right);
            if on_left.is_empty() && on_right.is_empty() {
                return;
            }
            let mut keys = [u64::MAX; BOTH];
            set_keys::<C>(costs, on_left, 0, &mut keys);
            set_keys::<C>(costs, on_right, WINDOW, &mut keys);
            loop {
                let lowest = keys.iter().copied().fold(u64::MAX, u64::min);
                if lowest / BOTH as u64 > search.best.1 || lowest == u64::MAX {
                    break;
                }
                let at = (lowest % BOTH as u64) as usize;
                keys[at] = u64::MAX;
                let side = if at < WINDOW { &left } else { &right };
                if let Some(tile) = side.tile {
                    self.probe_exactly(search, tile, side.first + at % WINDOW);
                }
            }
        }
    }

    /// The next positions on a side, unless they cost too much in x alone.
    #[inline]
    fn next_positions<const LEFT: bool>(&self, search: &Search, side: &mut Side) -> &[Position] {
        while let Some(tile) = side.tile {
            let (earlier_positions, later_positions) = self.all[tile].positions.split_at(side.next);
            let (side_positions, nearest) = if LEFT {
                (earlier_positions, earlier_positions.last())
            } else {
                (later_positions, later_positions.first())
            };
            if let Some(nearest) = nearest {
                if u64::from(search.costs.least_x::<C>(nearest.spot().cylinder())) > search.best.1 {
                    break;
                }
                let count = side_positions.len().min(WINDOW);
                side.first = if LEFT { side.next - count } else { side.next };
                side.next = if LEFT { side.first } else { side.next + count };
                return &self.all[tile].positions[side.first..][..count];
            }
            side.tile = if LEFT { self.occupied.last_below(tile) } else { self.occupied.first_above(tile) };
            side.next = side.tile.filter(|_| LEFT).map_or(0, |tile| self.all[tile].positions.len());
        }
        side.tile = None;
        &[]
    }

    fn probe_exactly(&self, search: &mut Search, tile: usize, at: usize) {
        let (position, costs) = (self.all[tile].positions[at], search.costs);
        let (spot, cylinder) = (position.spot(), position.spot().cylinder());
        if search.here == Some(spot) {
            return;
        }
        let y = costs.y[spot.y_at()];
        let cost = if C::BY_DISTANCE {
            u64::from(costs.least_x::<C>(cylinder)) + u64::from(y)
        } else if costs.most(position) == y {
            y.into() // The move in x is shorter.
        } else {
            let to_bit = self.sled.geometry.x_bit(cylinder);
            self.sled.estimated_x_time(search.from_bit, to_bit).as_ns().max(y.into())
        };
        self.probe(search, tile, at, cost);
    }

    fn probe(&self, search: &mut Search, tile: usize, at: usize, cost: u64) {
        let Waiting { requests, group } = &self.waiting[self.all[tile].positions[at].group()];
        let mut queue_times = self.lists.iter(*requests).map(|request| request.queue_time);
        let value = self.criterion.value(search.now, cost, group, &mut queue_times);
        if value > search.best.0 {
            return;
        }
        let first_id = self.lists.first(*requests).id;
        let cylinder = self.all[tile].positions[at].spot().cylinder();
        let distance = if C::BY_DISTANCE { 0 } else { cylinder.abs_diff(search.costs.home) };
        let key = Key(value, cost, distance, first_id);
        if key < search.best {
            (search.best, search.place) = (key, Some((tile, at)));
        }
    }
}
