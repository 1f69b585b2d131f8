//! Evicts the key that was used longest ago.

use sledlab_core::params::NoParams;

use super::Model;
use super::single_list::SingleList;

/// Least recently used.
pub type Lru = SingleList<true>;

impl Model for Lru {
    type Params = NoParams;
    const NAME: &'static str = "lru";
    const MEANING: &'static str = "least recently used: evicts the entry whose last use is longest ago";
    const EVICTS_BY_LAST_USE: bool = true;

    fn new(_: &NoParams, capacity: usize) -> Self {
        SingleList::with_capacity(capacity)
    }
}
