//! The kernels of MAFIA, which count the records in each fine window and in each candidate dense unit.
//!
//! H. Nagesh, S. Goil, A. Choudhary: Parallel algorithms for clustering high-dimensional large-scale datasets, in
//! Data Mining for Scientific and Engineering Applications, 2001. Every dimension is cut into fine windows; windows
//! that follow one another are merged into bins of adaptive widths; a unit of k dimensions is a bin in each of them.
//!
//! Records are rows of `dims` values of 32 bits. Value v of a dimension from `low` to `high` lies in window
//! `floor((v - low) * (windows / (high - low)))`, computed in 64 bits; `high` itself, in the last one.

mod sieve;
mod walk;

use std::iter;

use sledlab_core::{Error, Result};

use self::sieve::Sieve;
use self::walk::Walk;
use crate::{MAX_TABLE_ENTRIES, parallel};

/// Number of records from which another thread saves time.
const MIN_RECORDS_PER_THREAD: usize = 1024;
/// Maximum dimensions of a unit. Every part of a dense unit is dense: longer units would follow 2^64 candidates.
const MAX_DIMENSIONS: usize = 64;
/// Maximum entries in the table of a node's children for each child.
const MAX_PLACES_PER_CHILD: usize = 8;

/// No bin of a candidate, or no node.
const NO_INDEX: u32 = u32::MAX;

/// How space is cut into windows and bins.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitGrid {
    /// Dimensions: values of a record.
    pub dims: usize,
    /// Fine windows of each dimension.
    pub windows: usize,
    /// By dimension: the low end of the range.
    pub lows: Vec<f64>,
    /// By dimension: the high end of the range.
    pub highs: Vec<f64>,
    /// By dimension, and in it by window: the bin to which the window belongs.
    pub bin_of_window: Vec<u16>,
}

/// Elementary operations of a count, the same however records are split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitOperations {
    /// Values turned into bins: in every record, those of the dimensions that occur in candidates.
    pub lookups: u64,
    /// Steps in the tree of candidate units, record by record: the bins of candidates into which a record falls, each
    /// of which may begin a unit; and at every node that the record reaches, the node's children, or the dimensions in
    /// which they lie where those are fewer.
    pub probes: u64,
    /// Bins compared by a cluster's node without the tree: it holds every record against one candidate after another,
    /// bin by bin until one differs.
    pub comparisons: u64,
}

impl iter::Sum for UnitOperations {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(UnitOperations::default(), |sum, part| UnitOperations {
            lookups: sum.lookups + part.lookups,
            probes: sum.probes + part.probes,
            comparisons: sum.comparisons + part.comparisons,
        })
    }
}

/// A dimension that is cut into windows.
#[derive(Clone, Copy, Debug)]
struct Axis {
    low: f64,
    high: f64,
    /// Windows per unit of the dimension.
    scale: f64,
    last_window: usize,
}

impl Axis {
    /// The window of a value; none where the value is out of range or not a number.
    #[inline]
    fn window(self, value: f32) -> Option<usize> {
        let value = f64::from(value);
        // The number of windows is far below 2^31, to which processors convert fastest.
        let is_inside = value >= self.low && value <= self.high;
        is_inside.then(|| (((value - self.low) * self.scale) as i32 as usize).min(self.last_window))
    }
}

/// Records in each fine window: `dims` rows of `windows` counts.
///
/// `lows` and `highs` hold the range of each dimension. `threads` threads work, 0 meaning as many as there are
/// processors; the counts are the same for any number. An error where shapes or ranges are wrong, and on the first
/// value that is out of range or not a number.
pub fn histogram(
    records: &[f32],
    dims: usize,
    windows: usize,
    lows: &[f64],
    highs: &[f64],
    threads: usize,
) -> Result<Vec<u64>> {
    let axes = build_axes(dims, windows, lows, highs)?;
    check_records(records, dims)?;
    let parts = parallel::map_parts(records.len() / dims, MIN_RECORDS_PER_THREAD, threads, |range| {
        let mut counts = vec![0_u64; dims * windows];
        for index in range {
            let record = &records[index * dims..][..dims];
            for ((&value, axis), row) in record.iter().zip(&axes).zip(counts.chunks_exact_mut(windows)) {
                match axis.window(value) {
                    Some(window) => row[window] += 1,
                    None => return Err(out_of_range_error(records, index, &axes)),
                }
            }
        }
        Ok(counts)
    })?;
    let mut sum = vec![0; dims * windows];
    for part in parts {
        for (sum, count) in sum.iter_mut().zip(part) {
            *sum += count;
        }
    }
    Ok(sum)
}

/// Candidate units of one length, ready to be counted: a prefix tree over their bins.
#[derive(Clone, Debug)]
pub struct UnitCounter {
    length: usize,
    /// The axes of all dimensions; messages name those that no candidate has, too.
    axes: Vec<Axis>,
    windows: usize,
    /// Dimensions that occur in candidates.
    used_dims: Vec<usize>,
    /// By place in `used_dims`, and there by window: the number of the bin, or [`NO_INDEX`]. Bins that occur in
    /// candidates are numbered by dimension and bin, so the numbers of the bins of a record increase.
    bins: Vec<u32>,
    /// By number of a bin: its node of depth 1, or [`NO_INDEX`].
    roots: Vec<u32>,
    nodes: Vec<Node>,
    /// Tables of all nodes that have one: a node's children by number of their bin, less that of the first child.
    tables: Vec<u32>,
    /// By number of a bin: the place in `used_dims` of its dimension.
    dims: Vec<u32>,
    /// The first node of depth `length`: these nodes represent complete units, and are counted.
    first_unit: usize,
    /// By candidate: its node, counted from `first_unit`.
    unit_of: Vec<u32>,
}

/// A node of the tree. Its children follow one another and have increasing bins.
#[derive(Clone, Copy, Debug)]
struct Node {
    bin: u32,
    first: u32,
    end: u32,
    /// Start of the node's table in `tables`, or [`NO_INDEX`].
    table: u32,
    /// Probes that a record which reaches the node takes there.
    steps: u32,
    /// Candidates that begin with the node's bins; none for a node that represents a complete unit.
    candidates: u32,
}

impl UnitCounter {
    /// A counter of `candidates`, units of `length` pairs (dimension, bin) one after another.
    ///
    /// The dimensions of a unit increase strictly. A unit that is passed twice is counted twice. An error where shapes
    /// or ranges are wrong, where `length` is 0 or above 64, and where a unit has a bin that its dimension lacks.
    pub fn new(grid: &UnitGrid, candidates: &[u32], length: usize) -> Result<Self> {
        let axes = build_axes(grid.dims, grid.windows, &grid.lows, &grid.highs)?;
        if grid.bin_of_window.len() != grid.dims * grid.windows {
            let (bin_count, dims, windows) = (grid.bin_of_window.len(), grid.dims, grid.windows);
            return Err(Error::user(format!(
                "bins of {bin_count} windows for {dims} dimensions of {windows}"
            )));
        }
        check_units(grid, candidates, length)?;
        let mut pairs: Vec<[u32; 2]> = candidates.as_chunks().0.to_vec();
        pairs.sort_unstable();
        pairs.dedup();
        let bin_number = |pair: &[u32; 2]| pairs.binary_search(pair).map_or(NO_INDEX, |number| number as u32);
        let mut used_dims: Vec<usize> = pairs.iter().map(|pair| pair[0] as usize).collect();
        used_dims.dedup();
        let bins = used_dims.iter().flat_map(|&dim| {
            let row = &grid.bin_of_window[dim * grid.windows..][..grid.windows];
            row.iter().map(move |&bin| [dim as u32, u32::from(bin)])
        });
        let bins: Vec<u32> = bins.map(|pair| bin_number(&pair)).collect();
        let mut used_pairs = vec![false; pairs.len()];
        bins.iter().filter(|&&bin| bin != NO_INDEX).for_each(|&bin| used_pairs[bin as usize] = true);
        if let Some(([dim, bin], _)) = pairs.iter().zip(used_pairs).find(|(_, is_used)| !is_used) {
            return Err(Error::user(format!(
                "a unit has bin {bin} of dimension {dim}, which has no such bin"
            )));
        }
        let units: Vec<u32> = candidates.as_chunks().0.iter().map(bin_number).collect();
        let dim_index = |dim: u32| used_dims.binary_search(&(dim as usize)).unwrap_or_default() as u32;
        let dims = pairs.iter().map(|pair| dim_index(pair[0])).collect();
        let mut counter = UnitCounter {
            length,
            axes,
            windows: grid.windows,
            used_dims,
            bins,
            roots: vec![NO_INDEX; pairs.len()],
            nodes: Vec::new(),
            tables: Vec::new(),
            dims,
            first_unit: 0,
            unit_of: vec![0; units.len() / length],
        };
        counter.build_nodes(&units);
        Ok(counter)
    }

    /// The number of candidates.
    pub fn len(&self) -> usize {
        self.unit_of.len()
    }

    /// Whether there are no candidates.
    pub fn is_empty(&self) -> bool {
        self.unit_of.is_empty()
    }

    /// Makes the nodes, depth after depth, from `units` as numbers of bins.
    fn build_nodes(&mut self, units: &[u32]) {
        let unit = |index: u32| &units[index as usize * self.length..][..self.length];
        let mut order: Vec<u32> = (0..self.unit_of.len() as u32).collect();
        order.sort_unstable_by_key(|&index| unit(index));
        let mut parents = vec![NO_INDEX; order.len()];
        for depth in 0..self.length {
            self.first_unit = self.nodes.len();
            let mut parent = NO_INDEX;
            for (&index, node) in order.iter().zip(&mut parents) {
                let bin = units[index as usize * self.length + depth];
                let is_same_bin = self.nodes[self.first_unit..].last().is_some_and(|last| last.bin == bin);
                if !is_same_bin || parent != *node {
                    let new_node = self.nodes.len() as u32;
                    if depth == 0 {
                        self.roots[bin as usize] = new_node;
                    } else if parent == *node {
                        self.nodes[*node as usize].end = new_node + 1;
                    } else {
                        (self.nodes[*node as usize].first, self.nodes[*node as usize].end) =
                            (new_node, new_node + 1);
                    }
                    self.nodes.push(Node { bin, first: 0, end: 0, table: NO_INDEX, steps: 0, candidates: 0 });
                }
                parent = *node;
                *node = self.nodes.len() as u32 - 1;
                if depth + 1 < self.length {
                    self.nodes[*node as usize].candidates += 1;
                }
            }
        }
        for (&index, &node) in order.iter().zip(&parents) {
            self.unit_of[index as usize] = node - self.first_unit as u32;
        }
        self.build_tables();
    }

    /// Makes tables for nodes with more children than these have dimensions, unless the table would have more than
    /// [`MAX_PLACES_PER_CHILD`] places for each child.
    fn build_tables(&mut self) {
        for node in 0..self.nodes.len() {
            let Node { first, end, .. } = self.nodes[node];
            let children = first as usize..end as usize;
            self.nodes[node].steps = children.len() as u32;
            if children.is_empty() {
                continue;
            }
            let (low, high) = (self.nodes[children.start].bin, self.nodes[children.end - 1].bin);
            let spanned_dims = self.dims[high as usize] + 1 - self.dims[low as usize];
            let span = (high - low) as usize + 1;
            let place = self.tables.len();
            if spanned_dims as usize >= children.len()
                || span > MAX_PLACES_PER_CHILD * children.len()
                || place >= NO_INDEX as usize
            {
                continue;
            }
            (self.nodes[node].table, self.nodes[node].steps) = (place as u32, spanned_dims);
            self.tables.resize(place + span, NO_INDEX);
            for child in children {
                self.tables[place + (self.nodes[child].bin - low) as usize] = child as u32;
            }
        }
    }

    /// Adds to `counts`, one for each candidate, how many records are inside it, and returns the operations that this
    /// takes on a node of a cluster, which goes through the tree [record by record](Self::walk).
    ///
    /// The records are sieved instead, 64 at a time: a node of the tree holds those of its parent's records that lie in
    /// its bin. `threads` threads work, 0 meaning as many as there are processors; the counts are the same for any
    /// number. An error on the first value that is out of range or not a number, of the dimensions that occur in
    /// candidates; `counts` is then unchanged.
    pub fn count(&self, records: &[f32], counts: &mut [u64], threads: usize) -> Result<UnitOperations> {
        self.count_parts(records, counts, threads, |records| {
            let mut sieve = Sieve::new(self);
            for block in records.chunks(sieve::BLOCK_RECORDS * self.axes.len()) {
                sieve.count_block(block)?;
            }
            Some((sieve.counts, sieve.operations))
        })
    }

    /// Counts like [`count`](Self::count), record by record on one thread, as the operations are defined: to time them,
    /// and for tests.
    pub fn walk(&self, records: &[f32], counts: &mut [u64]) -> Result<UnitOperations> {
        self.count_parts(records, counts, 1, |records| {
            let mut walk = Walk::new(self);
            for record in records.chunks_exact(self.axes.len()) {
                walk.count_record(record)?;
            }
            Some((walk.counts, walk.operations))
        })
    }

    /// Has threads count a part of the records each; a part with a value out of range has no counts.
    fn count_parts(
        &self,
        records: &[f32],
        counts: &mut [u64],
        threads: usize,
        count_part: impl Fn(&[f32]) -> Option<(Vec<u64>, UnitOperations)> + Sync,
    ) -> Result<UnitOperations> {
        let dims = self.axes.len();
        check_records(records, dims)?;
        if counts.len() != self.len() {
            return Err(Error::user(format!("{} counts for {} units", counts.len(), self.len())));
        }
        let parts = parallel::map_parts(records.len() / dims, MIN_RECORDS_PER_THREAD, threads, |range| {
            let first = range.start;
            count_part(&records[range.start * dims..range.end * dims]).ok_or_else(|| {
                out_of_range_error(records, self.find_out_of_range(records, first), &self.axes)
            })
        })?;
        for (part_counts, _) in &parts {
            for (count, &unit) in counts.iter_mut().zip(&self.unit_of) {
                *count += part_counts[unit as usize];
            }
        }
        Ok(parts.into_iter().map(|(_, operations)| operations).sum())
    }

    /// The first record, from number `from` on, with a value out of range in a dimension that candidates use.
    fn find_out_of_range(&self, records: &[f32], from: usize) -> usize {
        let is_in_range =
            |record: &[f32]| self.used_dims.iter().all(|&dim| self.axes[dim].window(record[dim]).is_some());
        let mut later_records = records.chunks_exact(self.axes.len()).enumerate().skip(from);
        later_records.find(|(_, record)| !is_in_range(record)).map_or(from, |(index, _)| index)
    }
}

fn build_axes(dims: usize, windows: usize, lows: &[f64], highs: &[f64]) -> Result<Vec<Axis>> {
    if dims == 0 || windows == 0 {
        return Err(Error::user(format!("a grid of {dims} dimensions and {windows} windows has no cells")));
    }
    // Places of bins must fit into 16 bits, and tables into memory.
    if dims >= usize::from(u16::MAX) || dims.saturating_mul(windows) > MAX_TABLE_ENTRIES {
        return Err(Error::user(format!("a grid of {dims} dimensions and {windows} windows is too large"))
            .with_remedy(format!(
                "choose fewer than {} dimensions, and {MAX_TABLE_ENTRIES} windows in all",
                u16::MAX
            )));
    }
    if lows.len() != dims || highs.len() != dims {
        let (low, high) = (lows.len(), highs.len());
        return Err(Error::user(format!("{low} lows and {high} highs for {dims} dimensions")));
    }
    let axis = |(dim, (&low, &high)): (usize, (&f64, &f64))| {
        let scale = windows as f64 / (high - low);
        if low < high && scale.is_finite() && scale > 0.0 {
            return Ok(Axis { low, high, scale, last_window: windows - 1 });
        }
        Err(Error::user(format!("the range of dimension {dim} is invalid: {low} to {high}"))
            .with_remedy("give finite ranges, from low to high"))
    };
    lows.iter().zip(highs).enumerate().map(axis).collect()
}

fn check_records(records: &[f32], dims: usize) -> Result<()> {
    if records.len().is_multiple_of(dims) {
        return Ok(());
    }
    let values = records.len();
    Err(Error::user(format!("{values} values are not a multiple of the record length {dims}")))
}

fn check_units(grid: &UnitGrid, candidates: &[u32], length: usize) -> Result<()> {
    if length == 0 || length > MAX_DIMENSIONS {
        return Err(Error::user(format!("units of {length} dimensions are out of range"))
            .with_remedy(format!("choose a length from 1 to {MAX_DIMENSIONS}")));
    }
    if !candidates.len().is_multiple_of(2 * length) || candidates.len() >= NO_INDEX as usize {
        let numbers = candidates.len();
        return Err(Error::user(format!(
            "{numbers} numbers do not form units of {length} pairs (dimension, bin)"
        )));
    }
    for (index, unit) in candidates.chunks_exact(2 * length).enumerate() {
        let mut dims = unit.as_chunks().0.iter().map(|[dim, _]| *dim);
        if !dims.clone().is_sorted_by(|a, b| a < b) {
            return Err(Error::user(format!("the dimensions of unit {index} do not increase strictly")));
        }
        if let Some(dim) = dims.next_back().filter(|&dim| dim as usize >= grid.dims) {
            let dims = grid.dims;
            return Err(Error::user(format!("unit {index} has dimension {dim}, and there are {dims}")));
        }
    }
    Ok(())
}

/// The error for the first value of a record that lies in no window.
fn out_of_range_error(records: &[f32], index: usize, axes: &[Axis]) -> Error {
    let record = &records[index * axes.len()..][..axes.len()];
    let out_of_range =
        record.iter().zip(axes).enumerate().find(|(_, (value, axis))| axis.window(**value).is_none());
    let Some((dim, (value, axis))) = out_of_range else {
        return Error::internal(format!("record {index} is out of range in no dimension"));
    };
    let Axis { low, high, .. } = axis;
    Error::user(format!(
        "record {index} has {value} in dimension {dim}, outside of its range {low} to {high}"
    ))
    .with_remedy("compute the smallest and the largest value first, and drop values that are not numbers")
}
