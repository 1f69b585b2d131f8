//! Hit ratios of caches of several sizes.
//!
//! The cached blocks are in one list, most recently used first. A cache of n blocks contains exactly the first n of
//! them (Mattson et al. 1970), so it suffices to know between which two cache sizes a block is. Each entry carries that
//! zone, the index of the smallest cache that holds it, and for each cache the list remembers its last entry: a use
//! moves one entry to the front, and moves one entry to the next zone at each border that it crosses.

use sledlab_core::hash::Map;
use sledlab_core::{BLOCK_BYTES, Request};

use super::report::HitRatio;
use super::{CharacterOptions, key, ratio};

/// The index of no entry.
const NO_ENTRY: u32 = u32::MAX;

/// Units of a page: neighboring units share one look-up.
const PAGE_UNITS: u64 = 64;

/// Several caches with least-recently-used replacement, simulated as one list.
#[derive(Clone, Debug)]
pub struct Reuse {
    unit_blocks: u64,
    caches: Vec<Cache>,
    entries: Vec<Entry>,
    pages: Pages,
    head: u32,
    tail: u32,
    accesses: u64,
}

#[derive(Clone, Copy, Debug)]
struct Cache {
    size_mb: u64,
    capacity: usize,
    /// The least recently used entry of the cache, once the cache is full.
    last: u32,
    /// Accesses that hit this cache and no smaller one.
    hits: u64,
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
        let cache = |size_mb: &u64| Cache {
            size_mb: *size_mb,
            capacity: ((size_mb << 20) / options.cache_block_bytes).max(1) as usize,
            last: NO_ENTRY,
            hits: 0,
        };
        Reuse {
            unit_blocks: options.cache_block_bytes / BLOCK_BYTES,
            caches: options.cache_sizes_mb.iter().map(cache).collect(),
            entries: Vec::new(),
            pages: Pages::default(),
            head: NO_ENTRY,
            tail: NO_ENTRY,
            accesses: 0,
        }
    }

    #[inline]
    pub fn record(&mut self, request: &Request) {
        if self.caches.is_empty() {
            return;
        }
        let (first, end) = (request.lbn / self.unit_blocks, request.end().div_ceil(self.unit_blocks));
        let room = self.caches.last().map_or(0, |largest| largest.capacity as u64);
        if end - first <= 2 * room {
            self.use_units(request.device, first, end);
            return;
        }
        // After as many different units as the largest cache holds, that cache holds these units alone. So all further
        // units miss, and only the last of them stay.
        self.use_units(request.device, first, first + room);
        self.accesses += end - first - 2 * room;
        self.use_units(request.device, end - room, end);
    }

    #[inline]
    fn use_units(&mut self, device: u16, mut unit: u64, end: u64) {
        while unit < end {
            let number = unit / PAGE_UNITS;
            let page = self.pages.find(key(device, number));
            let page_end = end.min((number + 1) * PAGE_UNITS);
            for unit in unit..page_end {
                self.access(page, (unit % PAGE_UNITS) as u16);
            }
            unit = page_end;
        }
    }

    /// Hit ratios of the caches, smallest first.
    pub fn hit_ratios(&self) -> Vec<HitRatio> {
        let mut hits = 0;
        let cumulated = self.caches.iter().map(|cache| {
            hits += cache.hits;
            HitRatio { cache_mb: cache.size_mb, hit_ratio: ratio(hits, self.accesses) }
        });
        cumulated.collect()
    }

    #[inline]
    fn access(&mut self, page: u32, unit: u16) {
        self.accesses += 1;
        match self.pages.slot(page, unit) {
            NO_ENTRY => self.miss(page, unit),
            slot => self.hit(slot),
        }
    }

    fn hit(&mut self, slot: u32) {
        let Entry { previous, zone, .. } = self.entries[slot as usize];
        self.caches[zone as usize].hits += 1;
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
        let full = self.is_full();
        let slot = if full { self.tail } else { self.entries.len() as u32 };
        // The new unit is entered before the evicted one leaves, so that a page that holds both stays in the table.
        self.pages.enter(page, unit, slot);
        if full {
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

/// Which entry holds a unit. Only pages with entries are kept, so the memory is bounded by the largest cache.
#[derive(Clone, Debug, Default)]
struct Pages {
    index: Map<u64, u32>,
    table: Vec<Page>,
    /// Places in the table that hold no page.
    free: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Page {
    key: u64,
    resident: u32,
    slots: [u32; PAGE_UNITS as usize],
}

impl Pages {
    /// The place of the page with that key; a page is made where there is none.
    #[inline]
    fn find(&mut self, key: u64) -> u32 {
        *self.index.entry(key).or_insert_with(|| {
            let page = Page { key, resident: 0, slots: [NO_ENTRY; PAGE_UNITS as usize] };
            if let Some(place) = self.free.pop() {
                self.table[place as usize] = page;
                return place;
            }
            self.table.push(page);
            (self.table.len() - 1) as u32
        })
    }

    #[inline]
    fn slot(&self, page: u32, unit: u16) -> u32 {
        self.table[page as usize].slots[usize::from(unit)]
    }

    #[inline]
    fn enter(&mut self, page: u32, unit: u16, slot: u32) {
        let page = &mut self.table[page as usize];
        page.slots[usize::from(unit)] = slot;
        page.resident += 1;
    }

    #[inline]
    fn leave(&mut self, place: u32, unit: u16) {
        let page = &mut self.table[place as usize];
        page.slots[usize::from(unit)] = NO_ENTRY;
        page.resident -= 1;
        if page.resident == 0 {
            self.index.remove(&page.key);
            self.free.push(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sledlab_core::{Op, Time};

    /// A list with caches of `capacities` entries, whatever their size in MB.
    fn reuse(capacities: &[usize]) -> Reuse {
        let cache = |capacity: &usize| Cache { size_mb: 0, capacity: *capacity, last: NO_ENTRY, hits: 0 };
        let mut reuse = Reuse::new(&CharacterOptions { cache_block_bytes: 512, cache_sizes_mb: Vec::new() });
        reuse.caches = capacities.iter().map(cache).collect();
        reuse
    }

    /// Hits of one cache, simulated in the simplest way.
    fn plain_hits(capacity: usize, units: &[u64]) -> u64 {
        let mut stored: Vec<u64> = Vec::new();
        let mut hits = 0;
        for unit in units {
            if let Some(at) = stored.iter().position(|stored| stored == unit) {
                stored.remove(at);
                hits += 1;
            }
            stored.insert(0, *unit);
            stored.truncate(capacity);
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
                reuse.record(&Request { arrival: Time::ZERO, lbn, blocks: 1, op: Op::Read, ..Request::default() });
            }
            let mut hits = 0;
            for (cache, size) in reuse.caches.iter().zip(&sizes) {
                hits += cache.hits;
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
                reuse.record(&Request { lbn: *lbn, blocks: *blocks, ..Request::default() });
            }
            let units: Vec<u64> =
                runs.iter().flat_map(|(lbn, blocks)| *lbn..lbn + u64::from(*blocks)).collect();
            prop_assert_eq!(reuse.accesses, units.len() as u64);
            let mut hits = 0;
            for (cache, size) in reuse.caches.iter().zip(&sizes) {
                hits += cache.hits;
                prop_assert_eq!(hits, plain_hits(*size, &units), "{} entries", size);
            }
        }
    }
}
