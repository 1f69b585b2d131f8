//! Sums of floating-point numbers that stay accurate over runs of any length.

use std::ops::AddAssign;

/// A sum that accumulates the rounding errors of its additions separately (Neumaier 1974), computed without branches by
/// Knuth's two-sum.
///
/// A plain sum of 2e8 equal energies is wrong from the ninth digit on. This sum is correct up to the last digit but one
/// for any number of values. Use it for all quantities that a run sums request by request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CompensatedSum {
    sum: f64,
    rounding_error: f64,
}

impl CompensatedSum {
    /// Returns the sum, corrected by the accumulated rounding errors.
    #[inline]
    pub fn value(self) -> f64 {
        self.sum + self.rounding_error
    }
}

impl AddAssign<f64> for CompensatedSum {
    #[inline]
    fn add_assign(&mut self, value: f64) {
        let sum = self.sum + value;
        let added = sum - self.sum;
        self.rounding_error += (self.sum - (sum - added)) + (value - added);
        self.sum = sum;
    }
}

impl AddAssign for CompensatedSum {
    #[inline]
    fn add_assign(&mut self, other: CompensatedSum) {
        *self += other.sum;
        self.rounding_error += other.rounding_error;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_equal_values_sum_to_their_product() {
        const COUNT: u32 = 200_000_000;
        // The energy of a request, in microjoules.
        let value = 1_003.7;
        let (mut sum, mut plain) = (CompensatedSum::default(), 0.0);
        for _ in 0..COUNT {
            sum += value;
            plain += value;
        }
        let exact = value * f64::from(COUNT);
        assert!((sum.value() - exact).abs() <= 2.0 * f64::EPSILON * exact, "{} is not {exact}", sum.value());
        assert!((plain - exact).abs() > 1e-9 * exact, "a plain sum is off by {}", (plain - exact) / exact);
    }

    #[test]
    fn small_values_survive_large_sums() {
        let mut sum = CompensatedSum::default();
        sum += 1e16;
        (0..1_000_000).for_each(|_| sum += 0.25);
        assert_eq!(sum.value().to_bits(), (1e16_f64 + 250_000.0).to_bits());
        let mut combined_sum = CompensatedSum::default();
        (0..8).for_each(|_| combined_sum += 0.25);
        combined_sum += sum;
        assert_eq!(combined_sum.value().to_bits(), (1e16_f64 + 250_002.0).to_bits());
    }
}
