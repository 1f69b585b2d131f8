//! The positions with requests, in tiles.

use std::sync::Arc;

use slab::Slab;

use super::super::shared_sled::SharedSled;
use super::bitset::Bitset;
use super::criterion::Criterion;
use super::lists::{List, Lists};
use super::tile::{Position, Spot, Tile, Waiting};
use crate::device::{QueuedRequest, RequestGroup};

/// Minimum width of a tile, in cylinders, as a power of two.
const NARROWEST: u32 = 2;

/// Minimum, average and maximum number of requests of a tile: cylinders are divided anew beyond these numbers.
const PER_TILE: [usize; 3] = [12, 32, 80];

/// All requests of an index, by position.
pub(super) struct Tiles<C> {
    pub sled: Arc<SharedSled>,
    /// Number of parities of cylinders, whose costs in y differ.
    pub parities: u32,
    pub criterion: C,
    pub all: Vec<Tile>,
    /// Width of a tile, in cylinders, as a power of two.
    pub tile_bits: u32,
    /// Tiles with requests.
    pub occupied: Bitset,
    /// Groups of requests that wait at a position.
    pub waiting: Slab<Waiting>,
    pub lists: Lists,
    pub len: usize,
}

impl<C: Criterion> Tiles<C> {
    pub fn new(sled: &Arc<SharedSled>, criterion: C) -> Self {
        Tiles {
            parities: sled.parities(),
            criterion,
            all: vec![Tile::default()],
            tile_bits: u32::BITS - 1,
            occupied: Bitset::new(1),
            waiting: Slab::new(),
            lists: Lists::default(),
            len: 0,
            sled: Arc::clone(sled),
        }
    }

    /// Where a row of a cylinder lies.
    pub fn spot(&self, row: u32, cylinder: u32) -> Spot {
        Spot::new(cylinder, cylinder % self.parities * self.sled.geometry.rows + row)
    }

    #[inline]
    pub fn tile(&self, spot: Spot) -> usize {
        (spot.cylinder() >> self.tile_bits) as usize
    }

    /// Adapts the width of tiles if they hold too few or too many requests.
    #[inline]
    pub fn adapt(&mut self) {
        let ([min_requests, _, max_requests], tiles) = (PER_TILE, self.all.len());
        let is_too_wide = self.len > max_requests * tiles && self.tile_bits > NARROWEST;
        if is_too_wide || (self.len < min_requests * tiles && tiles > 1) {
            self.divide();
        }
    }

    /// Divides all cylinders into tiles of another width.
    #[cold]
    fn divide(&mut self) {
        let (last, average) = (self.sled.geometry.cylinders - 1, PER_TILE[1]);
        let tiles = (self.len / average).max(1);
        let bits = (NARROWEST..u32::BITS - 1).find(|bits| tiles > (last >> bits) as usize);
        self.tile_bits = bits.unwrap_or(u32::BITS - 1);
        let old_tiles = std::mem::take(&mut self.all);
        self.all = vec![Tile::default(); (last >> self.tile_bits) as usize + 1];
        self.occupied = Bitset::new(self.all.len() as u32);
        for position in old_tiles.into_iter().flat_map(|tile| tile.positions) {
            let tile = self.tile(position.spot());
            self.all[tile].positions.push(position);
            self.occupied.insert(tile as u32);
        }
        if C::WEIGHS {
            self.weigh_all();
        }
    }

    /// Computes the weight of a position, and inserts it into those of its tile.
    fn weigh(&mut self, tile: usize, at: usize) {
        let Waiting { requests, group } = self.waiting[self.all[tile].positions[at].group()];
        let mut queue_times = self.lists.iter(requests).map(|request| request.queue_time);
        let weight = self.criterion.weight(&group, &mut queue_times);
        self.all[tile].weights.insert(at, weight);
    }

    pub fn weigh_all(&mut self) {
        for tile in 0..self.all.len() {
            self.all[tile].weights.clear();
            (0..self.all[tile].positions.len()).for_each(|at| self.weigh(tile, at));
        }
    }

    pub fn insert(&mut self, request: QueuedRequest) {
        let place = self.sled.place(request.lbn);
        let spot = self.spot(place.row, place.cylinder);
        self.len += 1;
        self.adapt();
        let tile = self.tile(spot);
        let at = self.all[tile].first_from(spot);
        let Tile { positions, weights } = &mut self.all[tile];
        if let Some(position) = positions.get(at).filter(|position| position.spot() == spot) {
            let Waiting { requests, group } = &mut self.waiting[position.group()];
            self.lists.insert(requests, request);
            group.add(&request);
            if C::WEIGHS {
                weights.remove(at);
            }
        } else {
            let mut group = RequestGroup::EMPTY;
            group.add(&request);
            let requests = self.lists.begin(request);
            let group = self.waiting.insert(Waiting { requests, group });
            let strip = self.sled.costs().strip(place.cylinder);
            positions.insert(at, Position::new(spot, strip, group));
            self.occupied.insert(tile as u32);
        }
        if C::WEIGHS {
            self.weigh(tile, at);
            self.criterion.count_change();
        }
    }

    /// Removes the first request of a position.
    pub fn take(&mut self, tile: usize, at: usize) -> QueuedRequest {
        let number = self.all[tile].positions[at].group();
        let (request, remaining_list) = self.lists.pop(self.waiting[number].requests);
        self.leave(tile, at, &request, remaining_list);
        request
    }

    /// Removes a request; false if it does not wait.
    pub fn remove(&mut self, request: &QueuedRequest) -> bool {
        let place = self.sled.place(request.lbn);
        let spot = self.spot(place.row, place.cylinder);
        let tile = self.tile(spot);
        let Some(at) = self.all[tile].find(spot) else { return false };
        let number = self.all[tile].positions[at].group();
        let removed = self.lists.remove(self.waiting[number].requests, request.id);
        removed.map(|(request, remaining_list)| self.leave(tile, at, &request, remaining_list)).is_some()
    }

    /// Updates a position from whose list `request` was removed.
    fn leave(&mut self, tile: usize, at: usize, request: &QueuedRequest, remaining_list: Option<List>) {
        let number = self.all[tile].positions[at].group();
        let Waiting { requests, group } = &mut self.waiting[number];
        if C::WEIGHS {
            self.all[tile].weights.remove(at);
            self.criterion.count_change();
        }
        if let Some(remaining_list) = remaining_list {
            *requests = remaining_list;
            group.remove(request, Some(self.lists.first(remaining_list).queue_time));
            if C::WEIGHS {
                self.weigh(tile, at);
            }
        } else {
            self.waiting.remove(number);
            self.all[tile].positions.remove(at);
            if self.all[tile].positions.is_empty() {
                self.occupied.remove(tile as u32);
            }
        }
        self.len -= 1;
    }
}
