//! LFUDA as described by one sentence of Wang 2005, read literally (CA-02): every use adds the cache's age plus one to
//! the key's priority.

use sledlab_core::params::NoParams;

use super::priorities::KeyPriority;
use super::priority_policy::{PriorityPolicy, PriorityRule};
use super::{Model, Use};

/// Least frequently used, where the cache's age is added again at every use.
pub type LfudaLiteral = PriorityPolicy<SumOfAges>;

/// The sum, over all uses, of the age of the cache and one.
#[derive(Default)]
pub struct SumOfAges {
    age: u64,
}

impl Model for LfudaLiteral {
    type Params = NoParams;
    const NAME: &'static str = "lfuda-literal";
    const MEANING: &'static str = "lfuda as described in Wang 2005: every use adds the cache's age and one";

    fn new(_: &NoParams, capacity: usize) -> Self {
        PriorityPolicy::with_capacity(capacity)
    }
}

impl PriorityRule for SumOfAges {
    fn compute(&self, _access: Use, before: Option<KeyPriority>) -> u64 {
        before.map_or(0, |stored| stored.priority).saturating_add(self.age).saturating_add(1)
    }

    fn on_eviction(&mut self, priority: u64) {
        self.age = priority;
    }
}
