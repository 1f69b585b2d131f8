//! Mean, variance, minimum and maximum.

/// Mean, variance, minimum and maximum of a stream of durations in nanoseconds.
///
/// The sums are exact integers (`u128`), so the result does not depend on the order of the values or on how the stream
/// was split.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moments {
    count: u64,
    sum: u128,
    sum_of_squares: u128,
    max: u64,
}

impl Moments {
    /// Records a value.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        self.count += 1;
        self.sum += u128::from(value_ns);
        self.sum_of_squares = self.sum_of_squares.saturating_add(u128::from(value_ns) * u128::from(value_ns));
        self.max = self.max.max(value_ns);
    }

    /// Adds all values that `other` has recorded.
    pub fn merge(&mut self, other: &Moments) {
        self.count += other.count;
        self.sum += other.sum;
        self.sum_of_squares = self.sum_of_squares.saturating_add(other.sum_of_squares);
        self.max = self.max.max(other.max);
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the exact sum of the values.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Returns the largest value; 0 without values.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Returns the mean of the values; 0 without values.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// Returns the population variance of the values; 0 without values.
    pub fn variance(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let n = u128::from(self.count);
        // n * sum(x^2) - sum(x)^2 is exact as long as it fits into 128 bits; larger values are computed in floating
        // point.
        match (n.checked_mul(self.sum_of_squares), self.sum.checked_mul(self.sum)) {
            (Some(a), Some(b)) => (a.saturating_sub(b)) as f64 / (self.count as f64).powi(2),
            _ => (self.sum_of_squares as f64 / self.count as f64 - self.mean().powi(2)).max(0.0),
        }
    }

    /// Returns the population standard deviation.
    pub fn std(&self) -> f64 {
        self.variance().sqrt()
    }

    /// Returns the squared coefficient of variation, variance / mean^2; 0 when the mean is 0.
    pub fn scv(&self) -> f64 {
        if self.sum == 0 { 0.0 } else { self.variance() / self.mean().powi(2) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn moments_equal_two_pass_computation(
            values in prop::collection::vec(0_u64..1_000_000_000_000, 1..200), cut in 0_usize..200,
        ) {
            let (mut left, mut right) = (Moments::default(), Moments::default());
            for (i, v) in values.iter().enumerate() {
                if i < cut { left.record(*v) } else { right.record(*v) }
            }
            left.merge(&right);
            let n = values.len() as f64;
            let mean = values.iter().map(|v| *v as f64).sum::<f64>() / n;
            let variance = values.iter().map(|v| (*v as f64 - mean).powi(2)).sum::<f64>() / n;
            prop_assert!((left.mean() - mean).abs() <= 1e-9 * mean.max(1.0));
            prop_assert!((left.variance() - variance).abs() <= 1e-6 * variance.max(1.0));
            prop_assert_eq!(left.max(), *values.iter().max().unwrap());
        }
    }
}
