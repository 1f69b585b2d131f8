//! Hits of all caches that evict by last use, in one pass (Mattson et al. 1970, IBM Systems Journal).
//!
//! The stack distance of a use is the number of different keys that were used since the last use of its key, that key
//! included: the use is a hit in caches of at least that capacity. A write to a segment that a cache holds dirty causes
//! no further destage: the cache has held the segment since the last write if no use since then had a larger distance
//! than its capacity (Thompson and Smith 1989, ACM TOCS).

use sledlab_core::hash::Map;

use super::{Hits, KindHits, SegmentUse};

/// Positions of a block, whose live positions are counted together.
const BLOCK_POSITIONS: usize = 512;

/// Words of a block.
const BLOCK_WORDS: usize = BLOCK_POSITIONS / 64;

/// Smallest number of positions before they are renumbered, and their number for each key.
const MIN_POSITIONS: usize = 1 << 16;
const POSITIONS_PER_KEY: usize = 8;

/// The keys in the order of their last uses. Uses have ascending positions, and a position is live if it is that of the
/// last use of a key. Live positions are counted in a Fenwick tree of blocks, and in the bits of a block. The last block
/// is not in the tree: most keys that are used again were used a short time ago.
#[derive(Debug, Default)]
struct RecencyOrder {
    /// A bit for each position: whether it is live.
    live: Vec<u64>,
    /// Fenwick tree of the live positions of blocks.
    tree: Vec<usize>,
    /// Number of blocks in the tree.
    counted_blocks: usize,
    /// The position of the next use.
    end: usize,
    live_count: usize,
}

impl RecencyOrder {
    /// The order of `keys` keys, at positions from 0, with room for as many uses as are worth a renumbering.
    fn with_keys(keys: usize) -> Self {
        let positions = (keys * POSITIONS_PER_KEY).max(MIN_POSITIONS).next_multiple_of(BLOCK_POSITIONS);
        let mut order = RecencyOrder {
            live: vec![0; positions / 64],
            tree: vec![0; positions / BLOCK_POSITIONS + 1],
            ..RecencyOrder::default()
        };
        for _ in 0..keys {
            order.push();
        }
        order
    }

    fn is_full(&self) -> bool {
        self.end == self.live.len() * 64
    }

    /// Appends a use and returns its position.
    #[inline]
    fn push(&mut self) -> usize {
        let position = self.end;
        if position / BLOCK_POSITIONS > self.counted_blocks {
            self.count_last_block();
        }
        self.live[position / 64] |= 1 << (position % 64);
        self.end += 1;
        self.live_count += 1;
        position
    }

    /// Adds the last block to the tree.
    #[cold]
    fn count_last_block(&mut self) {
        let words = self.counted_blocks * BLOCK_WORDS..(self.counted_blocks + 1) * BLOCK_WORDS;
        let count = count_live(&self.live[words]);
        self.counted_blocks += 1;
        let mut node = self.counted_blocks;
        while let Some(sum) = self.tree.get_mut(node) {
            *sum += count;
            node += node & node.wrapping_neg();
        }
    }

    fn remove(&mut self, position: usize) {
        self.live[position / 64] &= !(1 << (position % 64));
        self.live_count -= 1;
        let block = position / BLOCK_POSITIONS;
        if block < self.counted_blocks {
            let mut node = block + 1;
            while let Some(sum) = self.tree.get_mut(node) {
                *sum -= 1;
                node += node & node.wrapping_neg();
            }
        }
    }

    /// Returns the number of live positions before `position`.
    fn rank(&self, position: usize) -> usize {
        let (block, word) = (position / BLOCK_POSITIONS, position / 64);
        let mut rank = (self.live[word] & !(u64::MAX << (position % 64))).count_ones() as usize;
        rank += count_live(&self.live[block * BLOCK_WORDS..word]);
        let mut node = block;
        while node > 0 {
            rank += self.tree[node];
            node &= node - 1;
        }
        rank
    }

    /// Returns the number of live positions after `position`, which is live.
    #[inline]
    fn live_after(&self, position: usize) -> usize {
        if position / BLOCK_POSITIONS < self.counted_blocks {
            return self.live_count - 1 - self.rank(position);
        }
        let (word, last_word) = (position / 64, self.end.div_ceil(64));
        let after = (self.live[word] >> (position % 64)).count_ones() as usize - 1;
        after + count_live(&self.live[word + 1..last_word])
    }
}

fn count_live(words: &[u64]) -> usize {
    words.iter().map(|bits| bits.count_ones() as usize).sum()
}

/// The last use of a key.
#[derive(Clone, Copy, Debug)]
struct LastUse {
    position: usize,
    /// The smallest cache that has held the key since it was written, as a number of the capacities.
    held_since_write: u32,
}

/// Uses that hit from a capacity on.
#[derive(Clone, Copy, Debug, Default)]
struct Newcomers {
    /// Hits of reads and of writes, in `hits`, `request_hits` and `block_hits`.
    kinds: [KindHits; 2],
    /// Writes to segments that caches hold dirty from this capacity on.
    overwrites: u64,
}

/// Caches of several capacities that evict the key whose last use is longest ago.
#[derive(Debug)]
pub(super) struct LastUseCaches<'a> {
    /// In ascending order.
    capacities: &'a [usize],
    order: RecencyOrder,
    last_uses: Map<u64, LastUse>,
    /// What is a hit from each capacity on; the last element is what is a hit in no cache.
    newcomers: Vec<Newcomers>,
    /// All uses of reads and of writes.
    totals: [KindHits; 2],
    /// The smallest cache in which all uses of the request so far were hits, as a number of the capacities.
    request_held: usize,
}

impl<'a> LastUseCaches<'a> {
    pub(super) fn new(capacities: &'a [usize]) -> Self {
        LastUseCaches {
            capacities,
            order: RecencyOrder::with_keys(0),
            last_uses: Map::default(),
            newcomers: vec![Newcomers::default(); capacities.len() + 1],
            totals: Default::default(),
            request_held: 0,
        }
    }

    /// Counts a use as a hit of the caches that hold the key, and makes the key the most recently used one.
    pub(super) fn access(&mut self, each: &SegmentUse) {
        if self.order.is_full() {
            self.renumber();
        }
        let held = if each.is_admitted { self.use_key(each) } else { self.find_key(each.access.key) };
        let (kind, blocks) = (usize::from(each.is_write), u64::from(each.blocks));
        let total = &mut self.totals[kind];
        total.uses += 1;
        total.blocks += blocks;
        let hits = &mut self.newcomers[held].kinds[kind];
        hits.hits += 1;
        hits.block_hits += blocks;
        self.request_held = self.request_held.max(held);
        if each.ends_request {
            total.requests += 1;
            self.newcomers[self.request_held].kinds[kind].request_hits += 1;
            self.request_held = 0;
        }
    }

    /// Returns the smallest cache that holds the key, as a number of the capacities.
    fn use_key(&mut self, each: &SegmentUse) -> usize {
        let nowhere = self.capacities.len();
        let position = self.order.push();
        let new_use = LastUse { position, held_since_write: if each.is_write { 0 } else { nowhere as u32 } };
        let Some(last_use) = self.last_uses.get_mut(&each.access.key) else {
            self.last_uses.insert(each.access.key, new_use);
            self.newcomers[nowhere].overwrites += u64::from(each.is_write);
            return nowhere;
        };
        // The new use has a live position too, and stands for the key in the distance.
        let distance = self.order.live_after(last_use.position);
        self.order.remove(last_use.position);
        let held = self.capacities.partition_point(|capacity| *capacity < distance);
        let held_since_write = last_use.held_since_write.max(held as u32);
        *last_use = new_use;
        if each.is_write {
            self.newcomers[held_since_write as usize].overwrites += 1;
        } else {
            last_use.held_since_write = held_since_write;
        }
        held
    }

    /// Returns the smallest cache that holds a key, which is not used, as a number of the capacities.
    fn find_key(&self, key: u64) -> usize {
        let Some(last_use) = self.last_uses.get(&key) else { return self.capacities.len() };
        let later_keys = self.order.live_after(last_use.position);
        self.capacities.partition_point(|capacity| *capacity <= later_keys)
    }

    /// Numbers the positions of the last uses from 0.
    #[cold]
    fn renumber(&mut self) {
        for last_use in self.last_uses.values_mut() {
            last_use.position = self.order.rank(last_use.position);
        }
        self.order = RecencyOrder::with_keys(self.last_uses.len());
    }

    /// Returns the hits of each cache.
    pub(super) fn hits(&self, counts_destages: bool) -> Vec<Hits> {
        let [mut reads, mut writes] = self.totals;
        let mut destages = writes.uses;
        let held_from = self.newcomers.iter().take(self.capacities.len());
        let hits = held_from.map(|newcomers| {
            for (counts, new) in [&mut reads, &mut writes].into_iter().zip(&newcomers.kinds) {
                counts.hits += new.hits;
                counts.request_hits += new.request_hits;
                counts.block_hits += new.block_hits;
            }
            destages -= newcomers.overwrites;
            Hits { reads, writes, destages: counts_destages.then_some(destages) }
        });
        hits.collect()
    }
}
