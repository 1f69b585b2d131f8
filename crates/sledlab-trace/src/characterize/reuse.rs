//! Hit ratios of caches of several sizes.
//!
//! The cached blocks are in one list, most recently used first. A cache of n blocks contains exactly the first n of
//! them (Mattson et al. 1970), so it suffices to know between which two cache sizes a block is. Each entry carries that
//! zone, the index of the smallest cache that holds it, and for each cache the list remembers its last entry: a use
//! moves one entry to the front, and moves one entry to the next zone at each border that it crosses.

use std::collections::BTreeMap;
use std::ops::Range;

use sledlab_core::{BLOCK_BYTES, Op, Request};

use super::pages::{NO_ENTRY, PAGE_UNITS, Pages};
use super::report::HitRatio;
use super::reuse_distance::{DistanceShares, ReuseDistances};
use super::written_reuse::{NO_POSITION, WrittenCaches, WrittenReuse};
use super::{BLOCKS_PER_4K, CharacterOptions, key, ratio};

/// Places of the pages of 64 neighboring units, as far as they are known. A place may have another page since.
pub(super) type KnownPlaces = [u32; 64 / PAGE_UNITS as usize];

/// Places that are not known.
pub(super) const UNKNOWN_PLACES: KnownPlaces = [u32::MAX; 64 / PAGE_UNITS as usize];

/// What a request means for the caches that hold only written units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Write,
    /// A read whose blocks were all written before.
    ReadOfWritten,
    Other,
}

/// What a request does with the units that it accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
}

impl Kind {
    fn from_op(op: Op) -> Self {
        if op == Op::Write { Kind::Write } else { Kind::Read }
    }
}

/// Several caches with least-recently-used replacement, simulated as one list.
#[derive(Clone, Debug)]
pub struct Reuse {
    unit_blocks: u64,
    caches: Vec<Cache>,
    entries: Vec<Entry>,
    pages: Pages,
    head: u32,
    tail: u32,
    /// Accesses of reads and of writes.
    accesses: [u64; 2],
    /// Caches that hold only written units; they share the pages.
    written: WrittenCaches,
}

#[derive(Clone, Copy, Debug)]
struct Cache {
    /// Size of a cache whose hit ratio is reported; `None` for one that only divides reuse distances.
    size_mb: Option<u64>,
    capacity: usize,
    /// The least recently used entry of the cache, once the cache is full.
    last: u32,
    /// Accesses of reads and of writes that hit this cache and no smaller one.
    hits: [u64; 2],
}

impl Cache {
    fn new(capacity: usize, size_mb: Option<u64>) -> Self {
        Cache { size_mb, capacity, last: NO_ENTRY, hits: [0; 2] }
    }
}

/// The caches of the sizes of `options`, and smaller ones whose capacities are powers of two: smallest first.
fn caches(options: &CharacterOptions) -> Vec<Cache> {
    let capacity = |size_mb: u64| ((size_mb << 20) / options.cache_block_bytes).max(1) as usize;
    let largest = options.cache_sizes_mb.last().map_or(0, |size_mb| capacity(*size_mb));
    let borders = (0..usize::BITS).map(|power| 1 << power).take_while(|border| *border <= largest);
    let mut sizes: BTreeMap<usize, Option<u64>> = borders.map(|border| (border, None)).collect();
    sizes.extend(options.cache_sizes_mb.iter().map(|size_mb| (capacity(*size_mb), Some(*size_mb))));
    sizes.into_iter().map(|(capacity, size_mb)| Cache::new(capacity, size_mb)).collect()
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The page of the unit, as a place in [`Pages`], and which of its units it is.
    page: u32,
    unit: u16,
    /// The index of the smallest cache that holds the unit.
    zone: u16,
    previous: u32,
    next: u32,
}

impl Reuse {
    /// `options` hold sizes in rising order, none of them empty.
    pub fn new(options: &CharacterOptions) -> Self {
        Reuse {
            unit_blocks: options.cache_block_bytes / BLOCK_BYTES,
            caches: caches(options),
            entries: Vec::new(),
            pages: Pages::default(),
            head: NO_ENTRY,
            tail: NO_ENTRY,
            accesses: [0; 2],
            written: WrittenCaches::new(options),
        }
    }

    /// Records a request; `is_written` states whether all its blocks were written before. `places` are those that the
    /// last request to the same 256 KiB has left, for a request that does not extend beyond them.
    #[inline]
    pub fn record(&mut self, request: &Request, is_written: bool, places: Option<&mut KnownPlaces>) {
        let role = match request.op {
            Op::Read => {
                self.written.count_read(is_written);
                if is_written { Role::ReadOfWritten } else { Role::Other }
            }
            Op::Write => Role::Write,
            Op::Trim | Op::Flush => Role::Other,
        };
        if self.caches.is_empty() {
            return;
        }
        let (first, end) = (request.lbn / self.unit_blocks, request.end().div_ceil(self.unit_blocks));
        let max_units = self.caches.last().map_or(0, |largest| largest.capacity as u64);
        let mut unknown = UNKNOWN_PLACES;
        let places = places.filter(|_| self.unit_blocks == BLOCKS_PER_4K).unwrap_or(&mut unknown);
        let kind = Kind::from_op(request.op);
        if end - first <= 2 * max_units {
            self.use_units(request.device, first..end, (kind, role), places);
            return;
        }
        // After as many different units as the largest cache holds, that cache holds these units alone. So all further
        // units miss, and only the last of them stay.
        self.use_units(request.device, first..first + max_units, (kind, Role::Other), places);
        self.accesses[kind as usize] += end - first - 2 * max_units;
        let role = if role == Role::Write { role } else { Role::Other };
        self.use_units(request.device, end - max_units..end, (kind, role), places);
    }

    /// Uses units one after the other.
    #[inline]
    fn use_units(
        &mut self,
        device: u16,
        units: Range<u64>,
        (kind, role): (Kind, Role),
        places: &mut KnownPlaces,
    ) {
        let mut oldest = Some(u32::MAX);
        let mut unit = units.start;
        while unit < units.end {
            let number = unit / PAGE_UNITS;
            let known_place = &mut places[number as usize % UNKNOWN_PLACES.len()];
            let place = self.pages.find(key(device, number), *known_place);
            *known_place = place;
            let page_end = units.end.min((number + 1) * PAGE_UNITS);
            let (first, count) = ((unit % PAGE_UNITS) as u16, (page_end - unit) as u16);
            for unit in first..first + count {
                self.access(place, unit, kind);
            }
            match role {
                Role::Write => self.write_units(place, first, count),
                Role::ReadOfWritten => oldest = oldest.min(self.pages.oldest_position(place, first, count)),
                Role::Other => {}
            }
            unit = page_end;
        }
        if let (Role::ReadOfWritten, Some(oldest)) = (role, oldest) {
            self.written.count_hits(oldest);
        }
    }

    #[inline]
    fn write_units(&mut self, place: u32, first: u16, count: u16) {
        if self.written.is_full(u32::from(count), self.pages.written) {
            self.renumber_written_units();
        }
        let page = &mut self.pages.table[place as usize];
        self.pages.written += usize::from(page.written == 0);
        page.written |= (u16::MAX >> (PAGE_UNITS as u16 - count)) << first;
        let mut units = &mut page.units[usize::from(first)..usize::from(first + count)];
        // Units that were written together before have successive positions.
        while let Some(last_position) = units.first().map(|unit| unit.position) {
            let position_after = |number: u32| {
                if last_position == NO_POSITION { last_position } else { last_position + number }
            };
            let count = (0..)
                .zip(&*units)
                .take_while(|(number, unit)| unit.position == position_after(*number))
                .count();
            let position = self.written.write(last_position, count as u32);
            let (run, others) = units.split_at_mut(count);
            (position..).zip(run).for_each(|(position, unit)| unit.position = position);
            units = others;
        }
    }

    #[cold]
    fn renumber_written_units(&mut self) {
        let renumbering = self.written.renumber();
        for place in 0..self.pages.table.len() {
            let page = &mut self.pages.table[place];
            if page.written == 0 {
                continue;
            }
            for unit in 0..PAGE_UNITS as usize {
                if page.written & 1 << unit != 0 {
                    let position = &mut page.units[unit].position;
                    *position = renumbering.position(*position);
                    page.written &= !(u16::from(*position == NO_POSITION) << unit);
                }
            }
            if page.written == 0 {
                self.pages.written -= 1;
                self.pages.remove_if_unused(place as u32);
            }
        }
    }

    /// Shares of reads that hit in caches which hold only written units.
    pub fn written_reuse(&self) -> WrittenReuse {
        self.written.summarize()
    }

    /// Hit ratios of the caches, smallest first.
    pub fn hit_ratios(&self) -> Vec<HitRatio> {
        let accesses = self.accesses.iter().sum();
        let mut hits = 0;
        let ratios = self.caches.iter().filter_map(|cache| {
            hits += cache.hits.iter().sum::<u64>();
            cache.size_mb.map(|cache_mb| HitRatio { cache_mb, hit_ratio: ratio(hits, accesses) })
        });
        ratios.collect()
    }

    /// Shares of accesses by reuse distance. Of all `distinct_4k` blocks, reads access `first_read_4k` first.
    pub fn reuse_distances(&self, distinct_4k: u64, first_read_4k: u64) -> ReuseDistances {
        let has_firsts = self.unit_blocks == BLOCKS_PER_4K;
        let shares = |kind: Kind, firsts: u64| {
            DistanceShares::new(self.accesses[kind as usize], &self.bins(kind), has_firsts.then_some(firsts))
        };
        ReuseDistances {
            read: shares(Kind::Read, first_read_4k),
            write: shares(Kind::Write, distinct_4k.saturating_sub(first_read_4k)),
        }
    }

    /// The largest distance in KB, and the number of accesses, of each bin that ends at a power of two.
    fn bins(&self, kind: Kind) -> Vec<(f64, u64)> {
        let mut hits = 0;
        let bins = self.caches.iter().filter_map(|cache| {
            hits += cache.hits[kind as usize];
            let max_kb = (cache.capacity as u64 * self.unit_blocks * BLOCK_BYTES) as f64 / 1024.0;
            cache.capacity.is_power_of_two().then(|| (max_kb, std::mem::take(&mut hits)))
        });
        bins.collect()
    }

    /// Hit ratio of a cache of unlimited size, which misses each of `distinct_4k` blocks once.
    pub fn unlimited_hit_ratio(&self, distinct_4k: u64) -> Option<f64> {
        let accesses: u64 = self.accesses.iter().sum();
        let hits = accesses.saturating_sub(distinct_4k);
        if self.unit_blocks == BLOCKS_PER_4K { ratio(hits, accesses) } else { None }
    }

    #[inline]
    fn access(&mut self, page: u32, unit: u16, kind: Kind) {
        self.accesses[kind as usize] += 1;
        match self.pages.slot(page, unit) {
            NO_ENTRY => self.miss(page, unit),
            slot => self.hit(slot, kind),
        }
    }

    fn hit(&mut self, slot: u32, kind: Kind) {
        let Entry { previous, zone, .. } = self.entries[slot as usize];
        self.caches[zone as usize].hits[kind as usize] += 1;
        if slot == self.head {
            return;
        }
        // A cache whose last entry is used ends one entry earlier; the smaller caches each hand their last entry to the
        // next zone.
        if self.caches[zone as usize].last == slot {
            self.caches[zone as usize].last = previous;
        }
        self.push_out(zone as usize, slot);
        self.unlink(slot);
        self.link_first(slot);
    }

    fn miss(&mut self, page: u32, unit: u16) {
        let is_full = self.is_full();
        let slot = if is_full { self.tail } else { self.entries.len() as u32 };
        // The new unit is entered before the evicted one leaves, so that a page that holds both stays in the table.
        self.pages.enter(page, unit, slot);
        if is_full {
            self.evict(slot);
            (self.entries[slot as usize].page, self.entries[slot as usize].unit) = (page, unit);
        } else {
            self.entries.push(Entry { page, unit, zone: 0, previous: NO_ENTRY, next: NO_ENTRY });
            self.push_out(self.caches.len(), slot);
        }
        self.link_first(slot);
        if let Some(cache) = self.caches.iter_mut().find(|cache| cache.capacity == self.entries.len())
            && cache.last == NO_ENTRY
        {
            cache.last = self.tail;
        }
    }

    /// Evicts the least recently used unit: removes the last entry of the list and makes space at the front.
    fn evict(&mut self, slot: u32) {
        let Entry { page, unit, previous, .. } = self.entries[slot as usize];
        let largest = self.caches.len() - 1;
        self.pages.leave(page, unit);
        self.caches[largest].last = previous;
        self.push_out(largest, slot);
        self.unlink(slot);
    }

    fn is_full(&self) -> bool {
        self.caches.last().is_some_and(|largest| self.entries.len() == largest.capacity)
    }

    /// Makes room for `newcomer` at the front of the caches before `zone`, as far as they are full: the last entry of
    /// each moves to the next zone.
    fn push_out(&mut self, zone: usize, newcomer: u32) {
        for number in 0..zone {
            let last = self.caches[number].last;
            if last == NO_ENTRY {
                return;
            }
            let entry = &mut self.entries[last as usize];
            entry.zone += 1;
            // A cache of one entry now ends with the newcomer.
            self.caches[number].last = if entry.previous == NO_ENTRY { newcomer } else { entry.previous };
        }
    }

    fn unlink(&mut self, slot: u32) {
        let Entry { previous, next, .. } = self.entries[slot as usize];
        match previous {
            NO_ENTRY => self.head = next,
            previous => self.entries[previous as usize].next = next,
        }
        match next {
            NO_ENTRY => self.tail = previous,
            next => self.entries[next as usize].previous = previous,
        }
    }

    fn link_first(&mut self, slot: u32) {
        let entry = &mut self.entries[slot as usize];
        (entry.previous, entry.next, entry.zone) = (NO_ENTRY, self.head, 0);
        match self.head {
            NO_ENTRY => self.tail = slot,
            head => self.entries[head as usize].previous = slot,
        }
        self.head = slot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sledlab_core::Time;

    /// A list with caches of `capacities` entries, whatever their size in MB.
    fn reuse(capacities: &[usize]) -> Reuse {
        let mut reuse = Reuse::new(&CharacterOptions {
            cache_block_bytes: 512,
            cache_sizes_mb: Vec::new(),
            cylinder_map: None,
        });
        reuse.caches = capacities.iter().map(|capacity| Cache::new(*capacity, Some(0))).collect();
        reuse.written =
            WrittenCaches::with_capacities(capacities.iter().map(|capacity| (0, *capacity as u64)));
        reuse
    }

    /// Hits of one cache, simulated in the simplest way.
    fn plain_hits(capacity: usize, units: &[u64]) -> u64 {
        let mut cached: Vec<u64> = Vec::new();
        let mut hits = 0;
        for unit in units {
            if let Some(index) = cached.iter().position(|cached_unit| cached_unit == unit) {
                cached.remove(index);
                hits += 1;
            }
            cached.insert(0, *unit);
            cached.truncate(capacity);
        }
        hits
    }

    proptest! {
        #[test]
        fn hit_ratios_equal_separate_cache_simulations(
            units in prop::collection::vec(0_u64..24, 0..300),
            spread in 1_u64..40,
            sizes in prop::collection::btree_set(1_usize..20, 1..5),
        ) {
            let sizes: Vec<usize> = sizes.into_iter().collect();
            let mut reuse = reuse(&sizes);
            for unit in &units {
                let lbn = unit * spread;
                let request = Request { arrival: Time::ZERO, lbn, blocks: 1, op: Op::Read, ..Request::default() };
                reuse.record(&request, false, None);
            }
            let mut hits = 0;
            for (cache, size) in reuse.caches.iter().zip(&sizes) {
                hits += cache.hits[0];
                prop_assert_eq!(hits, plain_hits(*size, &units), "{} entries", size);
            }
        }

        #[test]
        fn long_requests_equal_single_units(
            runs in prop::collection::vec((0_u64..200, 1_u32..150), 1..20),
            sizes in prop::collection::btree_set(1_usize..30, 1..4),
        ) {
            let sizes: Vec<usize> = sizes.into_iter().collect();
            let mut reuse = reuse(&sizes);
            for (lbn, blocks) in &runs {
                reuse.record(&Request { lbn: *lbn, blocks: *blocks, ..Request::default() }, false, None);
            }
            let units: Vec<u64> =
                runs.iter().flat_map(|(lbn, blocks)| *lbn..lbn + u64::from(*blocks)).collect();
            prop_assert_eq!(reuse.accesses, [units.len() as u64, 0]);
            let mut hits = 0;
            for (cache, size) in reuse.caches.iter().zip(&sizes) {
                hits += cache.hits[0];
                prop_assert_eq!(hits, plain_hits(*size, &units), "{} entries", size);
            }
        }
    }

    /// Hits of one cache that holds only written units, simulated in the simplest way: the units written last, oldest
    /// first.
    fn plain_written_hits(capacity: usize, requests: &[(bool, u64, u32)]) -> u64 {
        let mut cached: Vec<u64> = Vec::new();
        let mut hits = 0;
        for (is_write, first, count) in requests {
            let mut units = *first..first + u64::from(*count);
            if *is_write {
                for unit in units {
                    cached.retain(|cached_unit| *cached_unit != unit);
                    cached.push(unit);
                    let excess = cached.len().saturating_sub(capacity);
                    cached.drain(..excess);
                }
            } else {
                hits += u64::from(units.all(|unit| cached.contains(&unit)));
            }
        }
        hits
    }

    proptest! {
        #[test]
        fn written_hits_equal_separate_cache_simulations(
            requests in prop::collection::vec((any::<bool>(), 0_u64..300, 1_u32..100), 0..300),
            sizes in prop::collection::btree_set(1_usize..120, 1..5),
            max_positions in 200_usize..800,
            keeps_places in any::<bool>(),
        ) {
            let sizes: Vec<usize> = sizes.into_iter().collect();
            let mut reuse = reuse(&sizes);
            reuse.unit_blocks = BLOCKS_PER_4K;
            reuse.written.set_max_positions(max_positions);
            let mut places = UNKNOWN_PLACES;
            for (is_write, unit, count) in &requests {
                let (lbn, blocks) = (unit * BLOCKS_PER_4K, count * BLOCKS_PER_4K as u32);
                let op = if *is_write { Op::Write } else { Op::Read };
                let request = Request { lbn, blocks, op, ..Request::default() };
                // That a block was never written shows in the positions as well.
                reuse.record(&request, true, keeps_places.then_some(&mut places));
            }
            for (hits, size) in reuse.written.hits().zip(&sizes) {
                prop_assert_eq!(hits, plain_written_hits(*size, &requests), "{} units", size);
            }
        }
    }

    #[test]
    fn memory_of_written_units_is_bounded() {
        let mut reuse = reuse(&[64]);
        for number in 0..200_000 {
            let request = Request { lbn: number << 20, blocks: 1, op: Op::Write, ..Request::default() };
            reuse.record(&request, false, None);
        }
        let long_write = Request { lbn: 5, blocks: u32::MAX, op: Op::Write, ..Request::default() };
        reuse.record(&long_write, false, None);
        assert!(reuse.pages.table.len() <= 1 << 17 && reuse.pages.index.len() <= 1 << 17);
    }
}
