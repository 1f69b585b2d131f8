//! Two lists: keys used once are evicted before keys used again (CA-03), after Karedla, Love and Wherry 1994.

use sledlab_core::Error;

use super::lists::Lists;
use super::{AccessResult, Model, ReplacementPolicy, SparingPolicy, Use};

sledlab_core::params! {
    /// How the cache is divided.
    pub struct SlruParams {
        /// Share of the cache for entries that were used again.
        protected_share: f64 = 0.5, "", 0.0..1.0;
    }
}

const PROBATION_LIST: usize = 0;
const PROTECTED_LIST: usize = 1;

/// Segmented least recently used.
pub struct Slru {
    keys: Lists<2>,
    capacity: usize,
    /// Most keys in the list of those that were used again.
    protected: usize,
}

impl Model for Slru {
    type Params = SlruParams;
    const NAME: &'static str = "slru";
    const MEANING: &'static str = "segmented lru: evicts entries used once before entries used again";

    fn new(params: &SlruParams, capacity: usize) -> Self {
        let protected = (params.protected_share * capacity as f64).round() as usize;
        // At least one place stays on probation, so that there is always a victim.
        Slru { keys: Lists::new(), capacity, protected: protected.min(capacity - 1) }
    }
}

impl ReplacementPolicy for Slru {
    fn access(&mut self, access: Use) -> AccessResult {
        if self.holds(access.key) {
            self.keys.push_front(PROTECTED_LIST, access.key);
            if self.keys.len(PROTECTED_LIST) > self.protected
                && let Some(demoted) = self.keys.back(PROTECTED_LIST)
            {
                self.keys.push_front(PROBATION_LIST, demoted);
            }
            return AccessResult::Hit;
        }
        let full = self.len() == self.capacity;
        let victim = if full { self.keys.pop_back(PROBATION_LIST) } else { None };
        self.keys.push_front(PROBATION_LIST, access.key);
        AccessResult::Miss { victim }
    }

    fn holds(&self, key: u64) -> bool {
        self.keys.find(key).is_some()
    }

    fn len(&self) -> usize {
        self.keys.len(PROBATION_LIST) + self.keys.len(PROTECTED_LIST)
    }

    fn failure(&mut self) -> Option<Error> {
        None
    }
}

impl SparingPolicy for Slru {
    fn next_victim(&self, may: &mut dyn FnMut(u64) -> bool) -> Option<u64> {
        self.keys.last(PROBATION_LIST, may).or_else(|| self.keys.last(PROTECTED_LIST, may))
    }

    fn evict(&mut self, key: u64) {
        self.keys.remove(key);
    }
}
