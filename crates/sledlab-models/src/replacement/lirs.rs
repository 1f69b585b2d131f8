//! LIRS: evicts keys whose last two uses are far apart, rather than keys whose last use is longest ago (Jiang and
//! Zhang, SIGMETRICS 2002, section 3.3).
//!
//! Most of the cache holds keys of low inter-reference recency (LIR). The others (HIR) go through a short queue, and a
//! HIR key that is used again while it is in the stack takes the place of the LIR key at the bottom of the stack. The
//! paper does not bound the stack; `history` bounds it, as the program of its authors does.

use super::lists::Lists;
use super::{AccessResult, MayEvict, Model, SparingPolicy, Use};

sledlab_core::params! {
    /// How LIRS divides the cache.
    pub struct LirsParams {
        /// Share of the cache for entries whose last two uses are far apart (HIR), at least one entry.
        hir_share: f64 = 0.01, "", 0.0..1.0;
        /// Most entries in the stack, evicted ones included, relative to the cache.
        history: f64 = 2.0, "", 1.0..1e6;
    }
}

/// The keys of low inter-reference recency, in no order; the resident keys of high inter-reference recency, of which
/// the last is evicted first (list Q); evicted keys that are in the stack.
const LIR: usize = 0;
const QUEUE: usize = 1;
const GHOSTS: usize = 2;

/// LIRS.
pub struct Lirs {
    keys: Lists<3>,
    /// All LIR keys, and keys that were used since the last use of the LIR key at the bottom, in order of last use
    /// (stack S).
    stack: Lists<1>,
    capacity: usize,
    /// Most keys of low inter-reference recency.
    max_lir: usize,
    max_stack: usize,
}

impl Model for Lirs {
    type Params = LirsParams;
    const NAME: &'static str = "lirs";
    const MEANING: &'static str =
        "low inter-reference recency: evicts entries whose last two uses are far apart before others";

    fn new(params: &LirsParams, capacity: usize) -> Self {
        let hir = ((params.hir_share * capacity as f64) as usize).clamp(1, capacity);
        Lirs {
            keys: Lists::new(),
            stack: Lists::new(),
            capacity,
            max_lir: capacity - hir,
            max_stack: (params.history * capacity as f64) as usize,
        }
    }
}

impl Lirs {
    /// Removes keys from the bottom of the stack until a LIR key is there.
    fn prune(&mut self) {
        while let Some(bottom) = self.stack.back(0) {
            match self.keys.find(bottom) {
                Some(LIR) => break,
                Some(GHOSTS) => self.keys.remove(bottom),
                _ => {}
            }
            self.stack.remove(bottom);
        }
    }

    /// Forgets evicted keys where the stack is too long: the one nearest to the bottom first, as keys are evicted in
    /// the order in which they are in the stack.
    fn limit_stack(&mut self) {
        while self.stack.len(0) > self.max_stack
            && let Some(forgotten) = self.keys.pop_back(GHOSTS)
        {
            self.stack.remove(forgotten);
        }
    }

    fn make_room(&mut self, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let victim = self.victim_if_full(self.capacity, may_evict)?;
        if self.keys.find(victim) == Some(LIR) {
            self.keys.remove(victim);
            self.stack.remove(victim);
            self.prune();
        } else if self.stack.find(victim).is_some() {
            self.keys.push_front(GHOSTS, victim);
        } else {
            self.keys.remove(victim);
        }
        Some(victim)
    }

    /// Makes a key that is on top of the stack a LIR key; the one at the bottom moves to the queue if there are too
    /// many.
    fn make_lir(&mut self, key: u64) {
        self.keys.push_front(LIR, key);
        self.prune();
        if self.keys.len(LIR) > self.max_lir
            && let Some(bottom) = self.stack.pop_back(0)
        {
            self.keys.push_front(QUEUE, bottom);
            self.prune();
        }
    }

    /// Uses a key of high inter-reference recency, or one that is inserted; `in_stack` where the key was in the stack.
    fn use_hir(&mut self, key: u64, in_stack: bool) {
        self.stack.push_front(0, key);
        if in_stack {
            self.make_lir(key);
        } else {
            self.keys.push_front(QUEUE, key);
            self.prune();
        }
        self.limit_stack();
    }
}

impl SparingPolicy for Lirs {
    fn access_sparing(&mut self, access: Use, may_evict: &mut MayEvict<'_>) -> AccessResult {
        let key = access.key;
        match self.keys.find(key) {
            Some(LIR) => {
                self.stack.push_front(0, key);
                self.prune();
                AccessResult::Hit
            }
            Some(QUEUE) => {
                self.use_hir(key, self.stack.find(key).is_some());
                AccessResult::Hit
            }
            remembered => {
                // Not a ghost while another key is evicted, which could make the stack forget it.
                self.keys.remove(key);
                self.stack.remove(key);
                let victim = self.make_room(may_evict);
                self.use_hir(key, remembered.is_some() || self.keys.len(LIR) < self.max_lir);
                AccessResult::Miss { victim }
            }
        }
    }

    fn prefetch_sparing(&mut self, key: u64, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let victim = self.make_room(may_evict);
        self.keys.push_front(QUEUE, key);
        victim
    }

    fn next_victim(&self, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        let in_queue = self.keys.last(QUEUE, may_evict);
        in_queue.or_else(|| self.stack.last(0, &mut |key| self.keys.find(key) == Some(LIR) && may_evict(key)))
    }

    fn is_resident(&self, key: u64) -> bool {
        matches!(self.keys.find(key), Some(LIR | QUEUE))
    }

    fn resident_count(&self) -> usize {
        self.keys.len(LIR) + self.keys.len(QUEUE)
    }
}
