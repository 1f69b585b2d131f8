//! Divides a step's operations, bytes and messages among its units of work without loss by rounding.

/// A total that becomes due in proportion to the completed units, in integers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    total: u64,
    units: u64,
    /// Amounts are multiples of this number, except the last.
    batch: u64,
    allotted: u64,
}

impl Share {
    /// Returns `total` divided over `units` units of work.
    pub fn new(total: u64, units: u64) -> Self {
        Share::in_batches(total, units, 1)
    }

    /// Returns `total` divided over `units` units of work, due in multiples of `batch`, and the rest at the end.
    pub fn in_batches(total: u64, units: u64, batch: u64) -> Self {
        Share { total, units: units.max(1), batch, allotted: 0 }
    }

    /// Returns the amount that is due when `done` units are done, minus what earlier calls returned.
    #[inline]
    pub fn take_due(&mut self, completed_units: u64) -> u64 {
        let due = match self.total.checked_mul(completed_units) {
            Some(product) => product / self.units,
            None => (u128::from(self.total) * u128::from(completed_units) / u128::from(self.units)) as u64,
        };
        let due = if completed_units < self.units { due - due % self.batch } else { due };
        let amount = due - self.allotted;
        self.allotted = due;
        amount
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Seven pages over 14 units, in batches of three.
    #[test]
    fn batches_are_due_when_full() {
        let mut share = Share::in_batches(7, 14, 3);
        let parts: Vec<u64> = (1..=14).map(|done| share.take_due(done)).collect();
        assert_eq!(parts, [0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 3, 0, 1]);
    }

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
