//! LFUDA as described by one sentence of Wang 2005, read literally: every use adds the cache's age plus one to
//! the key's priority.
//!
//! Priorities grow exponentially with the number of evictions: they are numbers of any size with 64 significant bits,
//! exact below 2^64 and within a factor of 1 + 2^-63 per use above.

use std::ops::Add;

use sledlab_core::params::NoParams;

use super::priorities::KeyPriority;
use super::priority_policy::{PriorityPolicy, PriorityRule};
use super::{Model, Use};

/// Least frequently used, where the cache's age is added again at every use.
pub type LfudaLiteral = PriorityPolicy<SumOfAges>;

/// The sum, over all uses, of the age of the cache and one.
#[derive(Default)]
pub struct SumOfAges {
    age: WidePriority,
}

/// The number `mantissa` * 2^`exponent`. Where the exponent is not 0, the first bit of the mantissa is 1, so numbers
/// are ordered by exponent, then by mantissa.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct WidePriority {
    exponent: u64,
    mantissa: u64,
}

impl Add for WidePriority {
    type Output = WidePriority;

    /// Returns the sum; bits below the last bit of its mantissa are lost.
    fn add(self, other: WidePriority) -> WidePriority {
        let (larger, smaller) = (self.max(other), self.min(other));
        let shift = u32::try_from(larger.exponent - smaller.exponent).unwrap_or(u32::MAX);
        let addend = smaller.mantissa.checked_shr(shift).unwrap_or(0);
        match larger.mantissa.overflowing_add(addend) {
            (mantissa, false) => WidePriority { mantissa, ..larger },
            (sum, true) => WidePriority { exponent: larger.exponent + 1, mantissa: 1 << 63 | sum >> 1 },
        }
    }
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
    type Priority = WidePriority;

    fn compute(&self, _access: Use, previous: Option<KeyPriority<WidePriority>>) -> WidePriority {
        let one = WidePriority { exponent: 0, mantissa: 1 };
        previous.map_or(WidePriority::default(), |previous| previous.priority) + self.age + one
    }

    fn unused_priority(&self) -> WidePriority {
        self.age
    }

    fn on_eviction(&mut self, priority: WidePriority) {
        self.age = priority;
    }
}
