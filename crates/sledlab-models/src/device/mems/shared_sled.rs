//! Sleds that devices with equal parameters share.

use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use sledlab_core::Result;

use super::costs::Costs;
use super::params::MemsParams;
use super::sled::Sled;

/// Sleds in use, and the latest ones made.
struct SledCache {
    sleds: Vec<(MemsParams, Weak<SharedSled>)>,
    latest: VecDeque<Arc<SharedSled>>,
}

impl SledCache {
    /// Number of latest sleds that are kept though no device uses them: some 100 KB each.
    const MAX_LATEST: usize = 4;

    fn find(&mut self, params: &MemsParams) -> Option<Arc<SharedSled>> {
        self.sleds.retain(|(_, sled)| sled.strong_count() > 0);
        self.sleds.iter().find(|(known, _)| known == params).and_then(|(_, sled)| sled.upgrade())
    }

    fn add(&mut self, params: MemsParams, sled: &Arc<SharedSled>) {
        self.sleds.push((params, Arc::downgrade(sled)));
        self.latest.push_back(Arc::clone(sled));
        if self.latest.len() > Self::MAX_LATEST {
            self.latest.pop_front();
        }
    }
}

/// A sled, and what is computed once for all devices that have it.
#[derive(Debug)]
pub(super) struct SharedSled {
    sled: Sled,
    /// Costs of moves for position indexes, computed when the first index needs them.
    costs: OnceLock<Costs>,
}

impl Deref for SharedSled {
    type Target = Sled;

    #[inline]
    fn deref(&self) -> &Sled {
        &self.sled
    }
}

impl SharedSled {
    /// One sled shared by all devices with equal parameters: a thousand nodes have one table of row times, and
    /// studies that build the same device again and again need not compute the table each time.
    pub fn from_cache(params: &MemsParams) -> Result<Arc<Self>> {
        static CACHE: Mutex<SledCache> = Mutex::new(SledCache { sleds: Vec::new(), latest: VecDeque::new() });
        let lock = || CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sled) = lock().find(params) {
            return Ok(sled);
        }
        let sled = Arc::new(SharedSled { sled: Sled::new(params)?, costs: OnceLock::new() });
        lock().add(params.clone(), &sled);
        Ok(sled)
    }

    /// Costs of moves for position indexes.
    #[inline]
    pub fn costs(&self) -> &Costs {
        self.costs.get_or_init(|| Costs::new(&self.sled))
    }
}
