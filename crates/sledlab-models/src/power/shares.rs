//! Divides an integer in proportion to sizes, without a remainder.

/// Divides an integer into shares in proportion to sizes that add up to `sizes`; the shares add up to the integer.
///
/// ```
/// let mut shares = sledlab_models::power::Shares::new(10, 3);
/// assert_eq!([shares.next(1), shares.next(1), shares.next(1)], [3, 3, 4]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Shares {
    total: u64,
    sizes: u64,
    sizes_served: u64,
    handed_out: u64,
}

impl Shares {
    /// Returns the division of `total` among sizes that add up to `sizes`, without a share assigned yet.
    pub fn new(total: u64, sizes: u64) -> Self {
        Shares { total, sizes: sizes.max(1), sizes_served: 0, handed_out: 0 }
    }

    /// The share of the next size.
    pub fn next(&mut self, size: u64) -> u64 {
        self.sizes_served += size;
        let target = u128::from(self.total) * u128::from(self.sizes_served) / u128::from(self.sizes);
        let share = target as u64 - self.handed_out;
        self.handed_out += share;
        share
    }
}
