//! Division by a number that stays the same.

/// Divides by a fixed number with a multiplication where that is exact.
///
/// With `m = ceil(2^64 / d)` and `n d < 2^64`, `floor(n m / 2^64) = floor(n / d)` (Granlund and Montgomery 1994,
/// Lemire, Kaser and Kurz 2019). Translating a block address divides three times, and the multiplication takes a
/// fifth of the time of the processor's own division.
#[derive(Clone, Copy, Debug)]
pub(super) struct Divisor {
    divisor: u64,
    /// `m` of the multiplication; 0 if the multiplication would not be exact.
    reciprocal: u64,
}

impl Divisor {
    /// Prepares division of numbers below `limit` by `divisor` > 0.
    pub(super) fn new(divisor: u64, limit: u64) -> Self {
        // Dividing by 1 has no reciprocal of 64 bits.
        let is_exact = divisor > 1 && limit.checked_mul(divisor).is_some();
        Divisor { divisor, reciprocal: if is_exact { u64::MAX / divisor + 1 } else { 0 } }
    }

    /// Quotient and remainder of `n`, which must be below the limit.
    #[inline]
    pub(super) fn div_rem(self, n: u64) -> (u64, u64) {
        let quotient = if self.reciprocal == 0 {
            n / self.divisor
        } else {
            ((u128::from(n) * u128::from(self.reciprocal)) >> 64) as u64
        };
        (quotient, n - quotient * self.divisor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_plain_division(divisor in 1_u64.., limit in 1_u64.., n in 0_u64..) {
            let smaller = [(divisor >> 32 | 1, limit), (divisor >> 45 | 1, limit >> 20 | 1)];
            for (divisor, limit) in [(divisor, limit)].into_iter().chain(smaller) {
                let n = n % limit;
                prop_assert_eq!(Divisor::new(divisor, limit).div_rem(n), (n / divisor, n % divisor));
                // At multiples of the divisor and just below, where an error would show.
                let edge = n / divisor * divisor;
                for n in [edge, edge.saturating_sub(1)] {
                    prop_assert_eq!(Divisor::new(divisor, limit).div_rem(n), (n / divisor, n % divisor));
                }
            }
        }
    }
}
