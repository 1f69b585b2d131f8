//! A checksum of the completion times of a run's operations.

use std::fmt;

use crate::time::Time;

/// Runs that complete the same operations at the same times have the same checksum; other runs almost certainly differ.
///
/// The checksum does not depend on the order in which completions are recorded, which keeps recording cheap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checksum(u64);

impl Checksum {
    /// Records that operation `id` was completed at `completion`.
    #[inline]
    pub fn record(&mut self, id: u64, completion: Time) {
        // The finalizer of SplitMix64 (Steele, Lea, Flood 2014) without its last round.
        let mut mixed = completion.as_ns() ^ id.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        self.0 = self.0.wrapping_add(mixed ^ (mixed >> 27));
    }
}

impl fmt::Display for Checksum {
    /// Formats the checksum as sixteen hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checksum(completions: &[(u64, u64)]) -> Checksum {
        let mut checksum = Checksum::default();
        for &(id, ns) in completions {
            checksum.record(id, Time::from_ns(ns));
        }
        checksum
    }

    #[test]
    fn checksum_detects_changes_and_ignores_order() {
        let checksum_of_three = checksum(&[(0, 100), (1, 200), (2, 300)]);
        assert_eq!(checksum_of_three, checksum(&[(2, 300), (0, 100), (1, 200)]));
        assert_ne!(checksum_of_three, checksum(&[(0, 100), (1, 201), (2, 300)]));
        assert_ne!(checksum_of_three, checksum(&[(0, 200), (1, 100), (2, 300)]));
        assert_eq!(checksum_of_three.to_string().len(), 16);
    }
}
