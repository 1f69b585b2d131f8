//! A random order of numbers, computed without a table.

use rand::Rng;
use sledlab_core::seed::Stream;

/// Rounds of the network: four make the order look random.
const ROUNDS: usize = 4;

/// Visits each number below `count` once, in random order.
///
/// A Feistel network permutes the numbers of an even count of bits; numbers that are not below `count` are permuted
/// again until the result is. So memory does not grow with `count`.
#[derive(Clone, Debug)]
pub struct Permutation {
    count: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// A permutation of the numbers below `count`, at least 1 and at most 2^62.
    pub fn new(count: u64, mut rng: Stream) -> Self {
        let bits = (u64::BITS - (count - 1).leading_zeros()).max(2);
        Permutation { count, half_bits: bits.div_ceil(2), keys: std::array::from_fn(|_| rng.next_u64()) }
    }

    /// The number of numbers.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The number at `index`, which is below [`count`](Self::count).
    pub fn at(&self, index: u64) -> u64 {
        let mut number = self.permute(index);
        while number >= self.count {
            number = self.permute(number);
        }
        number
    }

    fn permute(&self, number: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut high, mut low) = (number >> self.half_bits, number & mask);
        for key in self.keys {
            // The finalizer of splitmix64, shortened: the upper bits depend on all bits of the sum.
            let mixed = (low.wrapping_add(key) ^ (key >> 32)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (high, low) = (low, high ^ (mixed >> (u64::BITS - self.half_bits)));
        }
        high << self.half_bits | low
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sledlab_core::seed::stream;

    #[test]
    fn each_number_occurs_once() {
        for count in [1, 2, 5, 64, 1000, 4097] {
            let permutation = Permutation::new(count, stream(1, "order"));
            let mut numbers: Vec<u64> = (0..count).map(|index| permutation.at(index)).collect();
            numbers.sort_unstable();
            assert_eq!(numbers, (0..count).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn successive_numbers_are_spread_evenly() {
        let permutation = Permutation::new(1_000_000, stream(1, "order"));
        let distances = (0..10_000).map(|index| permutation.at(index).abs_diff(permutation.at(index + 1)));
        // Two uniform numbers are a third of the range apart on average.
        let mean = distances.sum::<u64>() as f64 / 10_000.0;
        assert!((mean / (1e6 / 3.0) - 1.0).abs() < 0.03, "{mean}");
    }
}
