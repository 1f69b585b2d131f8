//! A histogram of integers whose bins widen with the values (a high-dynamic-range histogram, Tene 2012).

/// Bins per power of two: a bin is at most a 1024th of its lower bound wide.
const BINS_PER_POWER: usize = 1 << BIN_BITS;
const BIN_BITS: u32 = 10;

/// Counts of recorded numbers by bin. Memory use grows with the largest number: 8 KB for each power of two above 2048.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    /// Each number below 2048 has a bin; above, each power of two has 1024 bins.
    bins: Vec<u64>,
    count: u64,
}

impl Histogram {
    #[inline]
    pub fn record(&mut self, value: u64) {
        let bin = bin(value);
        if bin >= self.bins.len() {
            self.grow(bin);
        }
        self.bins[bin] += 1;
        self.count += 1;
    }

    #[cold]
    fn grow(&mut self, bin: usize) {
        self.bins.resize((bin + 1).next_multiple_of(BINS_PER_POWER), 0);
    }

    /// Adds all counts of `other`.
    pub fn add(&mut self, other: &Histogram) {
        if other.bins.len() > self.bins.len() {
            self.bins.resize(other.bins.len(), 0);
        }
        self.bins.iter_mut().zip(&other.bins).for_each(|(ours, theirs)| *ours += theirs);
        self.count += other.count;
    }

    /// Returns the middle of the bin at which a `share` (0 to 1) of all recorded numbers is reached.
    pub fn quantile(&self, share: f64) -> u64 {
        let rank = ((share * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut cumulative_count = 0;
        let bin = self.bins.iter().position(|count| {
            cumulative_count += count;
            cumulative_count >= rank
        });
        bin.map_or(0, |bin| lower_bound(bin) + width(bin) / 2)
    }

    /// Returns, for every bin that is not empty, its upper bound and its count.
    pub fn steps(&self) -> impl Iterator<Item = (u64, u64)> {
        let nonempty_bins = self.bins.iter().enumerate().filter(|(_, count)| **count > 0);
        nonempty_bins.map(|(bin, count)| (lower_bound(bin) + (width(bin) - 1), *count))
    }
}

/// Returns the bin of a number.
#[inline]
fn bin(value: u64) -> usize {
    let doublings = u64::BITS - BIN_BITS - 1 - (value | (2 * BINS_PER_POWER as u64 - 1)).leading_zeros();
    ((doublings as usize) << BIN_BITS) + (value >> doublings) as usize
}

/// Returns the lower bound of a bin.
fn lower_bound(bin: usize) -> u64 {
    let doublings = doublings(bin);
    ((bin - ((doublings as usize) << BIN_BITS)) as u64) << doublings
}

fn width(bin: usize) -> u64 {
    1 << doublings(bin)
}

fn doublings(bin: usize) -> u32 {
    ((bin >> BIN_BITS) as u32).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bins_are_contiguous() {
        let mut next = 0;
        for bin_number in 0..bin(u64::MAX) {
            assert_eq!(lower_bound(bin_number), next);
            assert_eq!((bin(next), bin(next + (width(bin_number) - 1))), (bin_number, bin_number));
            assert!(width(bin_number) == 1 || width(bin_number) <= next / BINS_PER_POWER as u64);
            next += width(bin_number);
        }
        assert_eq!(bin(u64::MAX), bin(next));
    }

    proptest! {
        #[test]
        fn adding_histograms_equals_recording_all_values(
            values in prop::collection::vec(any::<u64>(), 1..50), at in 0..50_usize,
        ) {
            let record_all = |values: &[u64]| {
                let mut histogram = Histogram::default();
                for value in values {
                    histogram.record(*value >> (value % 64));
                }
                histogram
            };
            let (first, others) = values.split_at(at.min(values.len()));
            let (mut sum, other) = (record_all(first), record_all(others));
            sum.add(&other);
            let of_all_values = record_all(&values);
            prop_assert_eq!(sum.steps().collect::<Vec<_>>(), of_all_values.steps().collect::<Vec<_>>());
            prop_assert_eq!(sum.quantile(0.5), of_all_values.quantile(0.5));
        }
    }
}
