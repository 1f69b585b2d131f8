//! Evicts the key whose next use is farthest away (Belady 1966). No policy misses less often, and no device can use
//! this one, as it needs the future.

use sledlab_core::params::NoParams;

use super::priorities::KeyPriority;
use super::priority_policy::{PriorityPolicy, PriorityRule};
use super::{Model, Use};

/// The offline optimum.
pub type Belady = PriorityPolicy<NextUse>;

/// The key whose next use is farthest away has the lowest priority.
#[derive(Default)]
pub struct NextUse;

impl Model for Belady {
    type Params = NoParams;
    const NAME: &'static str = "belady";
    const MEANING: &'static str =
        "optimal: evicts the entry whose next use is farthest away; requires knowledge of the future";
    const NEEDS_FUTURE: bool = true;

    fn new(_: &NoParams, capacity: usize) -> Self {
        PriorityPolicy::with_capacity(capacity)
    }
}

impl PriorityRule for NextUse {
    type Priority = u64;

    fn compute(&self, access: Use, _previous: Option<KeyPriority<u64>>) -> u64 {
        Use::NO_NEXT - access.next
    }

    fn unused_priority(&self) -> u64 {
        0
    }

    fn on_eviction(&mut self, _priority: u64) {}
}
