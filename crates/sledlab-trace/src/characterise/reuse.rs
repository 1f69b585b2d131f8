//! What caches of several sizes would hit.
//!
//! The blocks in use stand in one list, most recently used first. A cache of n blocks
//! holds exactly the first n of them (Mattson et al. 1970), so it is enough to know
//! between which two cache sizes a block stands. Each entry carries that zone, and
//! for each size the list remembers its last entry: a use moves one entry to the
//! front and one across each border in front of it.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use sledlab_core::{BLOCK_BYTES, Request};

use super::report::HitRatio;
use super::{Options, key, ratio};

/// No entry.
const NONE: u32 = u32::MAX;

/// Several caches with least-recently-used replacement, simulated as one list.
#[derive(Clone, Debug)]
pub struct Reuse {
    unit_blocks: u64,
    caches: Vec<Cache>,
    entries: Vec<Entry>,
    index: HashMap<u64, u32, FixedState>,
    head: u32,
    tail: u32,
    accesses: u64,
}

#[derive(Clone, Copy, Debug)]
struct Cache {
    size_mb: u64,
    capacity: usize,
    /// Its least recently used entry, once it is full.
    last: u32,
    /// Accesses that hit this cache and no smaller one.
    hits: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    unit: u64,
    previous: u32,
    next: u32,
    /// The smallest cache that holds it.
    zone: u32,
}

impl Reuse {
    /// `options` hold sizes in rising order, none of them empty.
    pub fn new(options: &Options) -> Self {
        let cache = |size_mb: &u64| Cache {
            size_mb: *size_mb,
            capacity: ((size_mb << 20) / options.cache_block_bytes).max(1) as usize,
            last: NONE,
            hits: 0,
        };
        Reuse {
            unit_blocks: options.cache_block_bytes / BLOCK_BYTES,
            caches: options.cache_sizes_mb.iter().map(cache).collect(),
            entries: Vec::new(),
            index: HashMap::default(),
            head: NONE,
            tail: NONE,
            accesses: 0,
        }
    }

    #[inline]
    pub fn record(&mut self, request: &Request) {
        if self.caches.is_empty() {
            return;
        }
        for unit in request.lbn / self.unit_blocks..request.end().div_ceil(self.unit_blocks) {
            self.access(key(request.device, unit));
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
    fn access(&mut self, unit: u64) {
        self.accesses += 1;
        match self.index.get(&unit) {
            Some(&slot) => self.hit(slot),
            None => self.miss(unit),
        }
    }

    fn hit(&mut self, slot: u32) {
        let Entry { previous, zone, .. } = self.entries[slot as usize];
        self.caches[zone as usize].hits += 1;
        if slot == self.head {
            return;
        }
        // The cache whose last entry is used ends one entry earlier; those before it
        // each hand their last entry to the next zone.
        if self.caches[zone as usize].last == slot {
            self.caches[zone as usize].last = previous;
        }
        self.push_out(zone as usize, slot);
        self.unlink(slot);
        self.link_first(slot);
    }

    fn miss(&mut self, unit: u64) {
        let slot = if self.is_full() {
            let slot = self.tail;
            let last = self.caches.len() - 1;
            self.index.remove(&self.entries[slot as usize].unit);
            self.caches[last].last = self.entries[slot as usize].previous;
            self.push_out(last, slot);
            self.unlink(slot);
            self.entries[slot as usize].unit = unit;
            slot
        } else {
            let slot = self.entries.len() as u32;
            self.entries.push(Entry { unit, previous: NONE, next: NONE, zone: 0 });
            self.push_out(self.caches.len(), slot);
            slot
        };
        self.link_first(slot);
        self.index.insert(unit, slot);
        if let Some(cache) = self.caches.iter_mut().find(|cache| cache.capacity == self.entries.len())
            && cache.last == NONE
        {
            cache.last = self.tail;
        }
    }

    fn is_full(&self) -> bool {
        self.caches.last().is_some_and(|largest| self.entries.len() == largest.capacity)
    }

    /// Makes room for `newcomer` at the front of the caches before `zone`, as far as they are
    /// full: the last entry of each moves to the next zone.
    fn push_out(&mut self, zone: usize, newcomer: u32) {
        for number in 0..zone {
            let last = self.caches[number].last;
            if last == NONE {
                return;
            }
            let entry = &mut self.entries[last as usize];
            entry.zone += 1;
            // A cache of one entry now ends with the newcomer.
            self.caches[number].last = if entry.previous == NONE { newcomer } else { entry.previous };
        }
    }

    fn unlink(&mut self, slot: u32) {
        let Entry { previous, next, .. } = self.entries[slot as usize];
        match previous {
            NONE => self.head = next,
            previous => self.entries[previous as usize].next = next,
        }
        match next {
            NONE => self.tail = previous,
            next => self.entries[next as usize].previous = previous,
        }
    }

    fn link_first(&mut self, slot: u32) {
        let entry = &mut self.entries[slot as usize];
        (entry.previous, entry.next, entry.zone) = (NONE, self.head, 0);
        match self.head {
            NONE => self.tail = slot,
            head => self.entries[head as usize].previous = slot,
        }
        self.head = slot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A list of `caches` entries each, whatever their size in MB.
    fn reuse(capacities: &[usize]) -> Reuse {
        let cache = |capacity: &usize| Cache { size_mb: 0, capacity: *capacity, last: NONE, hits: 0 };
        let mut reuse = Reuse::new(&Options { cache_block_bytes: 512, cache_sizes_mb: Vec::new() });
        reuse.caches = capacities.iter().map(cache).collect();
        reuse
    }

    /// Hits of one cache, simulated without cleverness.
    fn plain_hits(capacity: usize, units: &[u64]) -> u64 {
        let mut held: Vec<u64> = Vec::new();
        let mut hits = 0;
        for unit in units {
            if let Some(at) = held.iter().position(|held| held == unit) {
                held.remove(at);
                hits += 1;
            }
            held.insert(0, *unit);
            held.truncate(capacity);
        }
        hits
    }

    proptest! {
        #[test]
        fn agrees_with_caches_simulated_one_by_one(
            units in prop::collection::vec(0_u64..24, 0..300),
            sizes in prop::collection::btree_set(1_usize..20, 1..5),
        ) {
            let sizes: Vec<usize> = sizes.into_iter().collect();
            let mut reuse = reuse(&sizes);
            for unit in &units {
                reuse.access(*unit);
            }
            let mut hits = 0;
            for (cache, size) in reuse.caches.iter().zip(&sizes) {
                hits += cache.hits;
                prop_assert_eq!(hits, plain_hits(*size, &units), "{} entries", size);
            }
        }
    }
}
