//! Sizes of requests.

use sledlab_core::hash::Map;
use sledlab_core::{BLOCK_BYTES, Op};

use super::report::{CommonSize, SizeSummary, Sizes};

/// Sizes below this many blocks (2 MiB) are counted in an array, larger ones in a map.
const MAX_ARRAY_BLOCKS: usize = 4096;

/// Number of commonest sizes in the report.
const MAX_COMMON_SIZES: usize = 10;

/// Exact counts by size and operation.
#[derive(Clone, Debug)]
pub struct SizeCollector {
    small: Vec<[u64; 2]>,
    large: Map<u32, [u64; 2]>,
}

impl Default for SizeCollector {
    fn default() -> Self {
        SizeCollector { small: vec![[0; 2]; MAX_ARRAY_BLOCKS], large: Map::default() }
    }
}

impl SizeCollector {
    #[inline]
    pub fn record(&mut self, op: Op, blocks: u32) {
        let counts = match self.small.get_mut(blocks as usize) {
            Some(counts) => counts,
            None => self.large.entry(blocks).or_default(),
        };
        counts[column(op)] += 1;
    }

    /// Bytes moved by `op`.
    pub fn bytes(&self, op: Op) -> u64 {
        let counts_by_size = self.size_counts(|counts| counts[column(op)]);
        let bytes = |(blocks, n): &(u32, u64)| (u64::from(*blocks) * BLOCK_BYTES).saturating_mul(*n);
        counts_by_size.iter().map(bytes).fold(0, u64::saturating_add)
    }

    pub fn summarize(&self) -> Sizes {
        let (read, write) = (column(Op::Read), column(Op::Write));
        let all = self.size_counts(|counts| counts[read] + counts[write]);
        let reads = self.size_counts(|counts| counts[read]);
        let writes = self.size_counts(|counts| counts[write]);
        let total: u64 = all.iter().map(|(_, count)| count).sum();
        let common_sizes = |counts_by_size: &[(u32, u64)], op: Op| {
            let common = |(blocks, n): &(u32, u64)| CommonSize {
                op: op.letter(),
                kb: kb(*blocks),
                share: *n as f64 / total as f64,
            };
            counts_by_size.iter().map(common).collect::<Vec<_>>()
        };
        let mut commonest = common_sizes(&reads, Op::Read);
        commonest.extend(common_sizes(&writes, Op::Write));
        commonest.sort_by(|a, b| b.share.total_cmp(&a.share));
        commonest.truncate(MAX_COMMON_SIZES);
        Sizes { all: summary(&all), read: summary(&reads), write: summary(&writes), commonest }
    }

    /// Sizes that occur, smallest first, each with the number that `count_of` makes of its counts of reads and writes.
    fn size_counts(&self, count_of: impl Fn(&[u64; 2]) -> u64) -> Vec<(u32, u64)> {
        let small = self.small.iter().enumerate().map(|(blocks, counts)| (blocks as u32, count_of(counts)));
        let mut large: Vec<_> =
            self.large.iter().map(|(blocks, counts)| (*blocks, count_of(counts))).collect();
        large.sort_unstable();
        small.chain(large).filter(|(_, count)| *count > 0).collect()
    }
}

fn column(op: Op) -> usize {
    usize::from(op == Op::Write)
}

fn kb(blocks: u32) -> f64 {
    f64::from(blocks) * BLOCK_BYTES as f64 / 1024.0
}

/// Summarizes `counts_by_size`: sizes in blocks with their counts, smallest first.
fn summary(counts_by_size: &[(u32, u64)]) -> SizeSummary {
    let requests: u64 = counts_by_size.iter().map(|(_, count)| count).sum();
    let (Some((min, _)), Some((max, _))) = (counts_by_size.first(), counts_by_size.last()) else {
        return SizeSummary::default();
    };
    let mean_of = |value_of: &dyn Fn(f64) -> f64| {
        counts_by_size.iter().map(|(blocks, count)| value_of(kb(*blocks)) * *count as f64).sum::<f64>()
            / requests as f64
    };
    let mean_kb = mean_of(&|kb| kb);
    let percentile = |q: f64| {
        let rank = ((q * requests as f64).ceil() as u64).clamp(1, requests);
        let mut cumulated = 0;
        let size_at_rank = counts_by_size.iter().find(|(_, count)| {
            cumulated += count;
            cumulated >= rank
        });
        size_at_rank.map(|(blocks, _)| kb(*blocks))
    };
    SizeSummary {
        requests,
        mean_kb: Some(mean_kb),
        // The mean is 0 only for empty requests, which readers refuse; the division is guarded all the same.
        scv: (mean_kb > 0.0).then(|| mean_of(&|kb| (kb - mean_kb).powi(2)) / mean_kb.powi(2)),
        min_kb: Some(kb(*min)),
        p50_kb: percentile(0.5),
        p90_kb: percentile(0.9),
        p99_kb: percentile(0.99),
        max_kb: Some(kb(*max)),
        below_8kb_share: Some(mean_of(&|kb| f64::from(u8::from(kb < 8.0)))),
    }
}
