//! Counts how many of a few sorted numbers lie up to a place, by a table of buckets instead of a binary search.

/// Sorted numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    values: Vec<u64>,
    /// For every bucket, of width `1 << shift`: how many values lie below its start.
    below: Vec<u32>,
    shift: u32,
}

impl Steps {
    /// Prepares `values`, which must be ascending.
    pub fn new(values: Vec<u64>) -> Self {
        debug_assert!(values.is_sorted());
        let maximum = values.last().copied().unwrap_or_default();
        // Eight to sixteen buckets for each value, so that few buckets hold any.
        let buckets = (values.len() as u64 * 16).max(1);
        let shift = (0..u64::BITS).find(|shift| maximum >> shift < buckets).unwrap_or_default();
        let start = |bucket: u64| values.partition_point(|value| *value < bucket << shift) as u32;
        let below = if values.is_empty() { Vec::new() } else { (0..=maximum >> shift).map(start).collect() };
        Steps { values, below, shift }
    }

    /// Number of values that are `number` or less.
    #[inline]
    pub fn count_up_to(&self, number: u64) -> usize {
        let bucket = (number >> self.shift) as usize;
        let Some(below) = self.below.get(bucket) else { return self.values.len() };
        let mut count = *below as usize;
        while self.values.get(count).is_some_and(|value| *value <= number) {
            count += 1;
        }
        count
    }

    /// All values.
    pub fn values(&self) -> &[u64] {
        &self.values
    }

    /// The value number `place`, if there are so many.
    #[inline]
    pub fn get(&self, place: usize) -> Option<u64> {
        self.values.get(place).copied()
    }

    /// Number of values that are less than `number`.
    #[inline]
    pub fn count_below(&self, number: u64) -> usize {
        if number == 0 { 0 } else { self.count_up_to(number - 1) }
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Whether `number` is one of the values.
    pub fn contains(&self, number: u64) -> bool {
        self.count_up_to(number) > self.count_below(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn empty_steps_count_zero() {
        let steps = Steps::new(Vec::new());
        assert_eq!((steps.count_up_to(0), steps.count_up_to(u64::MAX), steps.count_below(7)), (0, 0, 0));
        assert!(steps.is_empty() && !steps.contains(0));
    }

    proptest! {
        #[test]
        fn agrees_with_counting(
            mut values in prop::collection::vec(prop_oneof![0_u64..50, 0_u64..1_000_000, any::<u64>()], 0..40),
            at: u64, near in 0_u64..60,
        ) {
            values.sort_unstable();
            let steps = Steps::new(values.clone());
            for number in values.iter().copied().chain([at, near, at % 1_000_000]) {
                let count = |counts: &dyn Fn(u64) -> bool| values.iter().filter(|value| counts(**value)).count();
                prop_assert_eq!(steps.count_up_to(number), count(&|value| value <= number));
                prop_assert_eq!(steps.count_below(number), count(&|value| value < number));
                prop_assert_eq!(steps.contains(number), values.contains(&number));
            }
        }
    }
}
