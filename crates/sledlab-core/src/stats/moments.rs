//! Mean, variance and extremes.

/// Mean, variance, smallest and largest of a stream of spans in nanoseconds.
///
/// Sums are exact integers (`u128`), so the result depends neither on the order
/// of the values nor on how the stream was split.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moments {
    count: u64,
    sum: u128,
    sum_of_squares: u128,
    max: u64,
}

impl Moments {
    /// Takes one value.
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

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of the values, exactly.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The largest value; 0 when there are none.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Mean of the values; 0 when there are none.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// Population variance of the values; 0 when there are none.
    pub fn variance(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let n = u128::from(self.count);
        // n * sum(x^2) - sum(x)^2 is exact as long as it fits into 128 bits; beyond that, floats.
        match (n.checked_mul(self.sum_of_squares), self.sum.checked_mul(self.sum)) {
            (Some(a), Some(b)) => (a.saturating_sub(b)) as f64 / (self.count as f64).powi(2),
            _ => (self.sum_of_squares as f64 / self.count as f64 - self.mean().powi(2)).max(0.0),
        }
    }

    /// Population standard deviation.
    pub fn std(&self) -> f64 {
        self.variance().sqrt()
    }

    /// Squared coefficient of variation, variance / mean^2 (MT-02); 0 when the mean is 0.
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
        fn moments_equal_two_pass_computation(values in prop::collection::vec(0_u64..1_000_000_000_000, 1..200), cut in 0_usize..200) {
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
