//! Divides a step's operations, bytes and messages among its units of work without loss by rounding.

/// A total that becomes due in proportion to the completed units, in integers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    total: u64,
    units: u64,
    allotted: u64,
}

impl Share {
    /// Returns `total` divided over `units` units of work.
    pub fn new(total: u64, units: u64) -> Self {
        Share { total, units: units.max(1), allotted: 0 }
    }

    /// Returns the amount that is due when `done` units are done, minus what earlier calls returned.
    #[inline]
    pub fn take_due(&mut self, completed_units: u64) -> u64 {
        let due = match self.total.checked_mul(completed_units) {
            Some(product) => product / self.units,
            None => (u128::from(self.total) * u128::from(completed_units) / u128::from(self.units)) as u64,
        };
        let amount = due - self.allotted;
        self.allotted = due;
        amount
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn shares_add_up_without_exceeding_parts(full: u64, units in 1_u64..1000) {
            let mut share = Share::new(full, units);
            let parts: Vec<u64> = (1..=units).map(|done| share.take_due(done)).collect();
            prop_assert_eq!(parts.iter().sum::<u64>(), full);
            prop_assert!(parts.iter().all(|part| part.abs_diff(full / units) <= 1));
        }
    }
}
