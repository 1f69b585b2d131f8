//! Divides a step's operations, bytes and messages among its units of work without loss by rounding.

/// A total that becomes due in proportion to the completed units, in integers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    whole: u64,
    of: u64,
    allotted: u64,
}

impl Share {
    /// Returns `whole` divided over `of` units of work.
    pub fn new(full: u64, of: u64) -> Self {
        Share { whole: full, of: of.max(1), allotted: 0 }
    }

    /// Returns the amount that is due when `done` units are done, minus what earlier calls returned.
    #[inline]
    pub fn upto(&mut self, done: u64) -> u64 {
        let due = match self.whole.checked_mul(done) {
            Some(product) => product / self.of,
            None => (u128::from(self.whole) * u128::from(done) / u128::from(self.of)) as u64,
        };
        let more = due - self.allotted;
        self.allotted = due;
        more
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn shares_add_up_without_exceeding_parts(full: u64, of in 1_u64..1000) {
            let mut share = Share::new(full, of);
            let parts: Vec<u64> = (1..=of).map(|done| share.upto(done)).collect();
            prop_assert_eq!(parts.iter().sum::<u64>(), full);
            prop_assert!(parts.iter().all(|part| part.abs_diff(full / of) <= 1));
        }
    }
}
