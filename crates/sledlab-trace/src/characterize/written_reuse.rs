//! Reads that hit in caches which hold only written data, such as the MEMS write buffer of Wang 2005.
//!
//! A cache of n units contains the n units that were written last, since such a buffer is a queue of logs whose
//! oldest is cleaned first: reads neither enter it nor delay the cleaning. A read hits if all its blocks were written
//! before, and all its units are in the cache.
//!
//! Written units get successive positions in a log, of which only a bit per position is kept: whether it is live, which
//! is to say the last one of its unit. A cache holds the units whose positions are live and not before its start.
//! Positions are renumbered, and those of units that no cache holds forgotten, before the log becomes longer than four
//! times the largest cache. So memory is bounded by that cache.

use serde::Serialize;

use super::CharacterOptions;

/// The position of a unit that is in no cache.
pub(super) const NO_POSITION: u32 = u32::MAX;

/// Smallest number of positions that are renumbered.
const MIN_POSITIONS: usize = 1 << 16;

/// Largest number of positions: they have 32 bits.
const MAX_POSITIONS: usize = (u32::MAX - 64) as usize;

/// Shares of reads that hit in caches which hold only written data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WrittenReuse {
    /// Share of reads whose blocks were all written before, at any time: those that hit in an unlimited cache. `None`
    /// without reads.
    pub read_share: Option<f64>,
    /// The same for caches that hold the data written last, smallest first.
    pub caches: Vec<WrittenCacheHits>,
}

/// Reads that hit in a cache of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WrittenCacheHits {
    /// Size of the cache, MB of 2^20 bytes.
    pub cache_mb: u64,
    /// Share of reads that hit. `None` without reads.
    pub read_share: Option<f64>,
}

/// Caches of several sizes that hold the units written last.
#[derive(Clone, Debug)]
pub(super) struct WrittenCaches {
    caches: Vec<Cache>,
    /// A bit for each position: whether it is live.
    live: Vec<u64>,
    next_position: u32,
    max_positions: usize,
    reads: u64,
    /// Reads whose blocks were all written before.
    written_reads: u64,
}

#[derive(Clone, Copy, Debug)]
struct Cache {
    size_mb: u64,
    capacity: u64,
    /// The first position whose unit the cache may hold.
    start: u32,
    /// Units that the cache holds.
    units: u64,
    hits: u64,
}

impl WrittenCaches {
    /// Caches of the sizes of `options`.
    pub fn new(options: &CharacterOptions) -> Self {
        let units = |size_mb: u64| ((size_mb << 20) / options.cache_block_bytes).max(1);
        Self::with_capacities(options.cache_sizes_mb.iter().map(|size_mb| (*size_mb, units(*size_mb))))
    }

    /// Caches by size and number of units, smallest first.
    pub fn with_capacities(sizes: impl Iterator<Item = (u64, u64)>) -> Self {
        let cache = |(size_mb, capacity)| Cache { size_mb, capacity, start: 0, units: 0, hits: 0 };
        let caches: Vec<Cache> = sizes.map(cache).collect();
        let largest = caches.last().map_or(0, |cache| cache.capacity as usize);
        WrittenCaches {
            caches,
            live: Vec::new(),
            next_position: 0,
            max_positions: largest.saturating_mul(4).clamp(MIN_POSITIONS, MAX_POSITIONS),
            reads: 0,
            written_reads: 0,
        }
    }

    /// Counts a read; `is_written` states whether all its blocks were written before.
    #[inline]
    pub fn count_read(&mut self, is_written: bool) {
        self.reads += 1;
        self.written_reads += u64::from(is_written);
    }

    /// Counts a read whose units have no older position than `oldest` as a hit of the caches that hold them all.
    #[inline]
    pub fn count_hits(&mut self, oldest: u32) {
        for cache in &mut self.caches {
            cache.hits += u64::from(oldest >= cache.start);
        }
    }

    /// Whether positions must be renumbered before `units` units are written. `pages` pages have positions.
    #[inline]
    pub fn is_full(&self, units: u32, pages: usize) -> bool {
        (self.next_position + units) as usize > self.max_positions || pages > self.max_positions / 2
    }

    /// Writes `count` units whose positions were successive from `last` on, or [`NO_POSITION`], and returns the new
    /// position of the first one.
    #[inline]
    pub fn write(&mut self, old_first: u32, count: u32) -> u32 {
        let first = self.next_position;
        self.next_position += count;
        self.live.resize(self.next_position.div_ceil(64) as usize, 0);
        for_each_word(first, count, |word, bits| self.live[word] |= bits);
        if old_first != NO_POSITION {
            for_each_word(old_first, count, |word, bits| self.live[word] &= !bits);
        }
        for cache in &mut self.caches {
            // Units that the cache holds are in the larger caches as well.
            if old_first != NO_POSITION && old_first >= cache.start {
                break;
            }
            let cached_units =
                if old_first == NO_POSITION { 0 } else { (old_first + count).saturating_sub(cache.start) };
            cache.units += u64::from(count - cached_units);
            while cache.units > cache.capacity {
                cache.units -= 1;
                cache.start = first_live(&self.live, cache.start) + 1;
            }
        }
        first
    }

    /// Numbers the live positions in the largest cache from 0, and forgets all others. The caller renumbers the
    /// positions of all units.
    #[cold]
    pub fn renumber(&mut self) -> Renumbering {
        let from = self.caches.last().map_or(0, |largest| largest.start);
        let mut live = std::mem::take(&mut self.live);
        let mut live_before = Vec::with_capacity(live.len());
        let mut count = 0;
        for (word, live) in (0_u32..).zip(&mut live) {
            if from >= (word + 1) * 64 {
                *live = 0;
            } else if from > word * 64 {
                *live &= u64::MAX << (from - word * 64);
            }
            live_before.push(count);
            count += live.count_ones();
        }
        let renumbering = Renumbering { from, live, live_before, count };
        for cache in &mut self.caches {
            cache.start = renumbering.rank(cache.start);
        }
        self.live.resize((count / 64) as usize, u64::MAX);
        if !count.is_multiple_of(64) {
            self.live.push(!(u64::MAX << (count % 64)));
        }
        self.next_position = count;
        renumbering
    }

    #[cfg(test)]
    pub fn set_max_positions(&mut self, max_positions: usize) {
        self.max_positions = max_positions;
    }

    #[cfg(test)]
    pub fn hits(&self) -> impl Iterator<Item = u64> {
        self.caches.iter().map(|cache| cache.hits)
    }

    /// Shares of reads.
    pub fn summarize(&self) -> WrittenReuse {
        let share = |count: u64| (self.reads > 0).then(|| count as f64 / self.reads as f64);
        let caches = self
            .caches
            .iter()
            .map(|cache| WrittenCacheHits { cache_mb: cache.size_mb, read_share: share(cache.hits) });
        WrittenReuse { read_share: share(self.written_reads), caches: caches.collect() }
    }
}

/// Calls `apply` with each word of a bit set that has some of `count` bits from `first` on, and with these bits.
#[inline]
fn for_each_word(first: u32, count: u32, mut apply: impl FnMut(usize, u64)) {
    let mut position = first;
    while position < first + count {
        let bits_in_word = (first + count - position).min(64 - position % 64);
        apply((position / 64) as usize, (u64::MAX >> (64 - bits_in_word)) << (position % 64));
        position += bits_in_word;
    }
}

/// New positions of units.
pub(super) struct Renumbering {
    /// The start of the largest cache.
    from: u32,
    live: Vec<u64>,
    /// Live positions before each word of `live`.
    live_before: Vec<u32>,
    count: u32,
}

impl Renumbering {
    /// The new position of a unit, [`NO_POSITION`] if no cache holds the unit.
    pub fn position(&self, old: u32) -> u32 {
        if old == NO_POSITION || old < self.from { NO_POSITION } else { self.rank(old) }
    }

    /// The number of live positions before a position.
    fn rank(&self, position: u32) -> u32 {
        let (word, bit) = ((position / 64) as usize, position % 64);
        match self.live.get(word) {
            Some(live) => self.live_before[word] + (live & !(u64::MAX << bit)).count_ones(),
            None => self.count,
        }
    }
}

/// The first live position not before `start`; there is one.
fn first_live(live: &[u64], start: u32) -> u32 {
    let mut word = (start / 64) as usize;
    let mut bits = live[word] & (u64::MAX << (start % 64));
    while bits == 0 {
        word += 1;
        bits = live[word];
    }
    word as u32 * 64 + bits.trailing_zeros()
}
