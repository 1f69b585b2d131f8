//! Counting block by block: the records of a block that are in a unit are a set of bits.

use super::{NO_INDEX, UnitCounter, UnitOperations};

/// Words of a set of records, 64 records to a word.
const WORDS_PER_SET: usize = 64;
/// Records of a block.
pub(super) const BLOCK_RECORDS: usize = WORDS_PER_SET * 64;

/// A set of records of a block, a bit for each.
type RecordSet = [u64; WORDS_PER_SET];

fn count_records(set: &RecordSet) -> u64 {
    set.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// Sieves blocks of records through a tree: all records of a block at once.
pub(super) struct Sieve<'a> {
    counter: &'a UnitCounter,
    /// By number of a bin: the records in it; last, the records in no bin of candidates.
    bin_records: Vec<RecordSet>,
    /// By depth: the records that reach the node which is being visited.
    node_records: Vec<RecordSet>,
    pub(super) counts: Vec<u64>,
    pub(super) operations: UnitOperations,
}

impl<'a> Sieve<'a> {
    pub(super) fn new(counter: &'a UnitCounter) -> Self {
        Sieve {
            counter,
            bin_records: vec![[0; WORDS_PER_SET]; counter.roots.len() + 1],
            node_records: vec![[0; WORDS_PER_SET]; counter.length + 1],
            counts: vec![0; counter.nodes.len() - counter.first_unit],
            operations: UnitOperations::default(),
        }
    }

    /// Counts a block of records; none if a value is out of range.
    pub(super) fn count_block(&mut self, records: &[f32]) -> Option<()> {
        let counter = self.counter;
        let no_bin = counter.roots.len() as u32;
        self.bin_records.fill([0; WORDS_PER_SET]);
        for (index, record) in records.chunks_exact(counter.axes.len()).enumerate() {
            for (&dim, row) in counter.used_dims.iter().zip(counter.bins.chunks_exact(counter.windows)) {
                let bin = row[counter.axes[dim].window(record[dim])?];
                // Without a branch, which processors could not predict: `NO_INDEX` is above all numbers.
                self.bin_records[bin.min(no_bin) as usize][index / 64] |= 1 << (index % 64);
            }
        }
        let records = records.len() / counter.axes.len();
        self.operations.lookups += (records * counter.used_dims.len()) as u64;
        self.operations.comparisons += (records * counter.len()) as u64;
        for (bin, &root) in counter.roots.iter().enumerate() {
            let record_count = count_records(&self.bin_records[bin]);
            self.operations.probes += record_count;
            if root != NO_INDEX && record_count > 0 {
                self.node_records[1] = self.bin_records[bin];
                self.visit_node(root, 1, record_count);
            }
        }
        Some(())
    }

    /// Visits the children of a node at `depth`, which is reached by the records in the set of the parent.
    fn visit_node(&mut self, index: u32, depth: usize, record_count: u64) {
        if depth == self.counter.length {
            self.counts[index as usize - self.counter.first_unit] += record_count;
            return;
        }
        let node = self.counter.nodes[index as usize];
        self.operations.probes += record_count * u64::from(node.steps);
        self.operations.comparisons += record_count * u64::from(node.candidates);
        for child in node.first..node.end {
            let bin_records = &self.bin_records[self.counter.nodes[child as usize].bin as usize];
            let (parent_sets, child_sets) = self.node_records.split_at_mut(depth + 1);
            for ((child_word, parent_word), bin_word) in
                child_sets[0].iter_mut().zip(&parent_sets[depth]).zip(bin_records)
            {
                *child_word = parent_word & bin_word;
            }
            let record_count = count_records(&child_sets[0]);
            if record_count > 0 {
                self.visit_node(child, depth + 1, record_count);
            }
        }
    }
}
