//! Evicts the key that was inserted longest ago. The difference to LRU shows the benefit of recency.

use sledlab_core::params::NoParams;

use super::Model;
use super::single_list::SingleList;

/// First in, first out.
pub type Fifo = SingleList<false>;

impl Model for Fifo {
    type Params = NoParams;
    const NAME: &'static str = "fifo";
    const MEANING: &'static str = "first in, first out: evicts the oldest entry, however often used";

    fn new(_: &NoParams, capacity: usize) -> Self {
        SingleList::with_capacity(capacity)
    }
}
