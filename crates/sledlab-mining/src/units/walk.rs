//! Counting record by record, as the operations are defined.

use super::{NO_INDEX, UnitCounter, UnitOperations};

/// Walk of records through a tree, one after another.
pub(super) struct Walk<'a> {
    counter: &'a UnitCounter,
    /// By place in `used_dims`: the number of the bin that the record falls into, or [`NO_INDEX`].
    bins: Vec<u32>,
    pub(super) counts: Vec<u64>,
    pub(super) operations: UnitOperations,
}

impl<'a> Walk<'a> {
    pub(super) fn new(counter: &'a UnitCounter) -> Self {
        Walk {
            counter,
            bins: vec![NO_INDEX; counter.used_dims.len()],
            counts: vec![0; counter.nodes.len() - counter.first_unit],
            operations: UnitOperations::default(),
        }
    }

    /// Counts a record; none if a value is out of range.
    pub(super) fn count_record(&mut self, record: &[f32]) -> Option<()> {
        let counter = self.counter;
        let rows = counter.bins.chunks_exact(counter.windows);
        for ((&dim, row), bin) in counter.used_dims.iter().zip(rows).zip(&mut self.bins) {
            *bin = row[counter.axes[dim].window(record[dim])?];
        }
        self.operations.lookups += counter.used_dims.len() as u64;
        self.operations.comparisons += counter.len() as u64;
        for place in 0..self.bins.len() {
            let bin = self.bins[place];
            if bin != NO_INDEX {
                self.operations.probes += 1;
                if counter.roots[bin as usize] != NO_INDEX {
                    self.visit_node(counter.roots[bin as usize], 1);
                }
            }
        }
        Some(())
    }

    /// Counts the record at a node of a complete unit; visits the children of any other node, which is at `depth`.
    fn visit_node(&mut self, index: u32, depth: usize) {
        let counter = self.counter;
        if depth == counter.length {
            self.counts[index as usize - counter.first_unit] += 1;
            return;
        }
        let node = counter.nodes[index as usize];
        self.operations.probes += u64::from(node.steps);
        self.operations.comparisons += u64::from(node.candidates);
        if node.table == NO_INDEX {
            for child in node.first..node.end {
                let bin = counter.nodes[child as usize].bin;
                if self.bins[counter.dims[bin as usize] as usize] == bin {
                    self.visit_node(child, depth + 1);
                }
            }
            return;
        }
        let low = counter.nodes[node.first as usize].bin;
        let high = counter.nodes[node.end as usize - 1].bin;
        for place in counter.dims[low as usize]..=counter.dims[high as usize] {
            let bin = self.bins[place as usize];
            if (low..=high).contains(&bin) {
                let child = counter.tables[(node.table + bin - low) as usize];
                if child != NO_INDEX {
                    self.visit_node(child, depth + 1);
                }
            }
        }
    }
}
