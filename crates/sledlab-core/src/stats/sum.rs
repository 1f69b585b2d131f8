//! Sum, mean and maximum.

/// Sum, mean and maximum of a stream of durations in nanoseconds, for secondary times of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    count: u64,
    total: u128,
    max: u64,
}

impl Sum {
    /// Records a value.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        self.count += 1;
        self.total += u128::from(value_ns);
        self.max = self.max.max(value_ns);
    }

    /// Returns the exact sum of the values.
    pub fn sum(&self) -> u128 {
        self.total
    }

    /// Returns the mean of the values; 0 without values.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.total as f64 / self.count as f64 }
    }

    /// Returns the largest value; 0 without values.
    pub fn max(&self) -> u64 {
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_sum_mean_and_maximum() {
        let mut sum = Sum::default();
        assert_eq!((sum.mean(), sum.max()), (0.0, 0));
        for value in [3, 9, 6] {
            sum.record(value);
        }
        assert_eq!((sum.sum(), sum.mean(), sum.max()), (18, 6.0, 9));
    }
}
