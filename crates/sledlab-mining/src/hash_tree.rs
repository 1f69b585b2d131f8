//! The hash tree of Apriori, which counts the transactions that contain each candidate itemset.
//!
//! R. Agrawal, R. Srikant: Fast algorithms for mining association rules, VLDB 1994, section 2.1.2; as the kernel of
//! a parallel job R. Agrawal, J. Shafer: Parallel mining of association rules, IEEE TKDE 8(6), 1996, and E.-H. Han,
//! G. Karypis, V. Kumar: Scalable parallel data mining for association rules, IEEE TKDE 12(3), 2000.
//!
//! An interior node at depth d leads on by the hash of the d-th item of a candidate; leaves hold candidates. From the
//! root a transaction follows each of its items; from a node that an item has led to, each item behind that one; at a
//! leaf it is compared with all candidates there. Items are numbered by their order among those that occur in
//! candidates, and the hash is that number modulo the fan-out; items of a transaction that occur in no candidate are
//! skipped.

use std::iter;
use std::ops::Range;

use sledlab_core::{Error, Result};

use crate::{MAX_TABLE_ENTRIES, parallel};

/// A leaf of up to this many candidates is not split.
const MAX_LEAF_CANDIDATES: usize = 2;
/// Minimum fan-out of interior nodes, if there are as many items: a smaller one would make trees of long itemsets deep.
const MIN_FAN_OUT: usize = 64;
/// Maximum fan-out that callers can choose.
const MAX_BUCKETS: usize = 1 << 16;
/// Leaves at this depth are not split, however long their candidates.
const MAX_DEPTH: usize = 32;
/// Number of transactions from which another thread saves time.
const MIN_TRANSACTIONS_PER_THREAD: usize = 256;

/// The number of an item that occurs in no candidate.
const NO_NUMBER: u32 = u32::MAX;
/// Marks a bucket that leads to a leaf: the bucket holds the place of the leaf's first candidate. Without the mark it
/// holds the number of an interior node.
const LEAF_BIT: u32 = 1 << 31;
/// Marks a leaf with one candidate.
const SINGLE_BIT: u32 = 1 << 30;
/// The part of a bucket that holds the place or number. The last place is never used: with both marks it is an empty
/// leaf.
const PLACE_MASK: u32 = SINGLE_BIT - 1;
/// A bucket without candidates.
const EMPTY_BUCKET: u32 = u32::MAX;

/// Candidate itemsets of one length, ready to be counted.
///
/// ```
/// use sledlab_mining::HashTree;
///
/// let tree = HashTree::new(&[1, 2, 1, 5, 2, 3], 2)?;
/// let mut counts = [0; 3];
/// // The transactions {1, 2, 3} and {2, 3}.
/// tree.count(&[0, 3, 5], &[1, 2, 3, 2, 3], &mut counts, 1)?;
/// assert_eq!(counts, [1, 0, 2]);
/// # Ok::<(), sledlab_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct HashTree {
    length: usize,
    fan_out: usize,
    /// By item: its number among those that occur in candidates, or [`NO_NUMBER`].
    numbers: Vec<u32>,
    /// By number of an item: the bucket to which it hashes.
    slots: Vec<u32>,
    root: u32,
    /// Buckets of all interior nodes, `fan_out` each.
    buckets: Vec<u32>,
    /// By place in the order of leaves: the number of candidates of the leaf that begins there.
    sizes: Vec<u32>,
    /// Numbers of the items of candidates, `length` each, in the order of leaves.
    sets: Vec<u32>,
    /// By place in the order of leaves: the index of the candidate in the order in which candidates were passed.
    order: Vec<u32>,
}

/// Elementary operations of a count, the same however transactions are split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeOperations {
    /// Nodes visited: the root once for each transaction that holds `length` items of candidates or more, and every
    /// node to which an item hashes, an empty leaf included. A second path of a transaction to the same node counts as
    /// a visit and ends there, since it can find nothing that the first one has not found.
    pub visits: u64,
    /// Candidates compared with a transaction at leaves; once per transaction and leaf. A candidate that the path to
    /// its leaf has compared already, item by item, counts as well.
    pub checks: u64,
}

impl iter::Sum for TreeOperations {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(TreeOperations::default(), |sum, part| TreeOperations {
            visits: sum.visits + part.visits,
            checks: sum.checks + part.checks,
        })
    }
}

impl HashTree {
    /// A tree of `candidates`, itemsets of `length` items one after another, each strictly increasing.
    ///
    /// A candidate that is passed twice is counted twice. An error where `length` is 0, where itemsets are incomplete
    /// or not increasing, and where items are not below 16,777,216 (the tree has a table of them).
    pub fn new(candidates: &[u32], length: usize) -> Result<Self> {
        HashTree::build(candidates, length, None)
    }

    /// Builds a tree like [`new`](Self::new), with a given fan-out of interior nodes, from 1 to 65,536.
    ///
    /// [`new`](Self::new) takes the fan-out that keeps leaves short.
    pub fn with_fan_out(candidates: &[u32], length: usize, fan_out: usize) -> Result<Self> {
        if fan_out == 0 || fan_out > MAX_BUCKETS {
            return Err(Error::user(format!("a fan-out of {fan_out} is out of range"))
                .with_remedy(format!("choose from 1 to {MAX_BUCKETS}")));
        }
        HashTree::build(candidates, length, Some(fan_out))
    }

    fn build(candidates: &[u32], length: usize, chosen_fan_out: Option<usize>) -> Result<Self> {
        check_candidates(candidates, length)?;
        let universe = candidates.iter().max().map_or(0, |&largest| largest as usize + 1);
        let mut numbers = vec![NO_NUMBER; universe];
        for &item in candidates {
            numbers[item as usize] = 0;
        }
        let mut items = 0;
        for number in numbers.iter_mut().filter(|number| **number != NO_NUMBER) {
            *number = items;
            items += 1;
        }
        let count = candidates.len() / length;
        let fan_out = chosen_fan_out.unwrap_or_else(|| choose_fan_out(count, length, items as usize));
        let mut tree = HashTree {
            length,
            fan_out,
            numbers,
            slots: (0..items).map(|number| number % fan_out as u32).collect(),
            root: EMPTY_BUCKET,
            buckets: Vec::new(),
            sizes: vec![0; count],
            sets: Vec::with_capacity(candidates.len()),
            order: Vec::with_capacity(count),
        };
        let mut members: Vec<u32> = (0..count as u32).collect();
        tree.root = tree.build_node(candidates, &mut members, 0);
        Ok(tree)
    }

    /// The number of candidates.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are no candidates.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Fan-out: buckets of an interior node.
    pub fn fan_out(&self) -> usize {
        self.fan_out
    }

    /// Makes the node of the candidates `members` at `depth`, and all nodes below it. Depth is at most [`MAX_DEPTH`].
    fn build_node(&mut self, candidates: &[u32], members: &mut [u32], depth: usize) -> u32 {
        let (length, fan_out) = (self.length, self.fan_out);
        if members.is_empty() {
            return EMPTY_BUCKET;
        }
        if members.len() <= MAX_LEAF_CANDIDATES || depth == length.min(MAX_DEPTH) {
            for &member in &*members {
                let set = &candidates[member as usize * length..][..length];
                self.sets.extend(set.iter().map(|&item| self.numbers[item as usize]));
            }
            let first = self.order.len();
            self.order.extend_from_slice(members);
            self.sizes[first] = members.len() as u32;
            return first as u32 | LEAF_BIT | if members.len() == 1 { SINGLE_BIT } else { 0 };
        }
        let place = self.buckets.len();
        self.buckets.resize(place + fan_out, EMPTY_BUCKET);
        let slot = |tree: &Self, member: u32| {
            tree.slots[tree.numbers[candidates[member as usize * length + depth] as usize] as usize]
        };
        members.sort_by_key(|&member| slot(self, member));
        let mut remaining_members = members;
        while let Some(&first) = remaining_members.first() {
            let bucket = slot(self, first);
            let group_size = remaining_members.partition_point(|&member| slot(self, member) == bucket);
            let (group, others) = remaining_members.split_at_mut(group_size);
            self.buckets[place + bucket as usize] = self.build_node(candidates, group, depth + 1);
            remaining_members = others;
        }
        (place / fan_out) as u32
    }

    /// Adds to `counts`, one for each candidate, how many transactions contain it, and returns the operations that this
    /// took.
    ///
    /// Transaction `t` holds `items[offsets[t]..offsets[t + 1]]`, strictly increasing. `threads` threads work, 0
    /// meaning as many as there are processors; the counts are the same for any number. An error is that of the first
    /// malformed transaction; `counts` is then unchanged.
    pub fn count(
        &self,
        offsets: &[u64],
        items: &[u32],
        counts: &mut [u64],
        threads: usize,
    ) -> Result<TreeOperations> {
        check_offsets(offsets, items.len())?;
        if counts.len() != self.len() {
            return Err(Error::user(format!("{} counts for {} candidates", counts.len(), self.len())));
        }
        let parts = parallel::map_parts(offsets.len() - 1, MIN_TRANSACTIONS_PER_THREAD, threads, |range| {
            self.count_part(&offsets[range.start..=range.end], items, range)
        })?;
        for (tallies, _) in &parts {
            for (tally, &candidate) in tallies.iter().zip(&self.order) {
                counts[candidate as usize] += u64::from(tally.count);
            }
        }
        Ok(parts.into_iter().map(|(_, operations)| operations).sum())
    }

    /// Counts the transactions `range`, which `offsets` delimits; counts are by place in the order of leaves.
    fn count_part(
        &self,
        offsets: &[u64],
        items: &[u32],
        range: Range<usize>,
    ) -> Result<(Vec<Tally>, TreeOperations)> {
        let mut walk = Walk::new(self);
        for (bounds, index) in offsets.windows(2).zip(range) {
            let transaction = &items[bounds[0] as usize..bounds[1] as usize];
            if !transaction.is_sorted_by(|a, b| a < b) {
                return Err(Error::user(format!(
                    "the items of transaction {index} do not increase strictly"
                ))
                .with_remedy("sort them, and list each item once"));
            }
            if self.fan_out >= self.slots.len() {
                // Only one path leads to each node: there is no need to remember the last transaction there.
                walk.count_transaction::<true>(transaction);
            } else {
                walk.count_transaction::<false>(transaction);
            }
        }
        Ok((walk.tallies, walk.operations))
    }
}

/// Walk of transactions through a tree, one after another.
struct Walk<'a> {
    tree: &'a HashTree,
    /// Buckets to which the items of the transaction hash, in the order of the items.
    slots: Vec<u32>,
    /// By number of an item: whether the transaction holds it.
    holds: Vec<bool>,
    /// The number of the transaction, from 1.
    transaction: u32,
    /// By interior node: the last transaction that has visited it.
    last: Vec<u32>,
    /// By place in the order of leaves: the count of the candidate.
    tallies: Vec<Tally>,
    operations: TreeOperations,
}

/// The state of a candidate; in one struct, since count and last transaction are needed at once.
#[derive(Clone, Copy, Default)]
struct Tally {
    /// Number of transactions that contain the candidate; there are fewer than 2^32.
    count: u32,
    /// Of the first candidate of a leaf: the last transaction that has visited the leaf.
    last: u32,
}

impl<'a> Walk<'a> {
    fn new(tree: &'a HashTree) -> Self {
        Walk {
            tree,
            slots: Vec::new(),
            holds: vec![false; tree.slots.len()],
            transaction: 0,
            last: vec![0; tree.buckets.len() / tree.fan_out],
            tallies: vec![Tally::default(); tree.len()],
            operations: TreeOperations::default(),
        }
    }

    /// Counts a transaction; `PERFECT` if each item has its own bucket.
    fn count_transaction<const PERFECT: bool>(&mut self, items: &[u32]) {
        let tree = self.tree;
        let numbers = || {
            items
                .iter()
                .filter_map(|&item| tree.numbers.get(item as usize))
                .filter(|&&number| number != NO_NUMBER)
        };
        self.slots.clear();
        self.slots.extend(numbers().map(|&number| tree.slots[number as usize]));
        if self.slots.len() < tree.length {
            return;
        }
        for &number in numbers() {
            self.holds[number as usize] = true;
        }
        self.transaction += 1;
        self.operations.visits += 1;
        if tree.root & LEAF_BIT != 0 {
            self.visit_leaf::<PERFECT>(tree.root, 0);
        } else {
            self.visit_interior::<PERFECT>(tree.root, 0, 0);
        }
        for &number in numbers() {
            self.holds[number as usize] = false;
        }
    }

    /// Visits an interior node: follows each item from the place `from` on that enough items follow.
    fn visit_interior<const PERFECT: bool>(&mut self, node: u32, from: usize, depth: usize) {
        let tree = self.tree;
        let end = self.slots.len() + depth + 1 - tree.length;
        self.operations.visits += (end - from) as u64;
        let buckets = &tree.buckets[node as usize * tree.fan_out..][..tree.fan_out];
        for place in from..end {
            let child = buckets[self.slots[place] as usize];
            if child & LEAF_BIT != 0 {
                if child != EMPTY_BUCKET {
                    self.visit_leaf::<PERFECT>(child, depth + 1);
                }
            } else if PERFECT || self.last[child as usize] != self.transaction {
                // A later path reaches the node by a later item, and follows no item that the first path has not
                // followed.
                if !PERFECT {
                    self.last[child as usize] = self.transaction;
                }
                self.visit_interior::<PERFECT>(child, place + 1, depth + 1);
            }
        }
    }

    #[inline]
    fn visit_leaf<const PERFECT: bool>(&mut self, leaf: u32, depth: usize) {
        let tree = self.tree;
        let first = (leaf & PLACE_MASK) as usize;
        if !PERFECT {
            let last = &mut self.tallies[first].last;
            if *last == self.transaction {
                return;
            }
            *last = self.transaction;
        }
        let count = if leaf & SINGLE_BIT == 0 { tree.sizes[first] as usize } else { 1 };
        self.operations.checks += count as u64;
        let matched = if PERFECT { depth } else { 0 };
        if matched == tree.length {
            // The path's items are those of the candidate, each in its own bucket: the path was the comparison.
            for tally in &mut self.tallies[first..first + count] {
                tally.count += 1;
            }
            return;
        }
        let sets = tree.sets[first * tree.length..(first + count) * tree.length].chunks_exact(tree.length);
        for (set, tally) in sets.zip(&mut self.tallies[first..first + count]) {
            if set[matched..].iter().all(|&number| self.holds[number as usize]) {
                tally.count += 1;
            }
        }
    }
}

/// The smallest fan-out with which a full tree has two leaves for each candidate, so that most leaves have one
/// candidate or none.
fn choose_fan_out(candidates: usize, length: usize, items: usize) -> usize {
    let is_enough = |fan_out: usize| {
        let leaves = iter::repeat_n(fan_out, length.min(MAX_DEPTH)).try_fold(1_usize, usize::checked_mul);
        leaves.is_none_or(|leaves| leaves >= 2 * candidates)
    };
    let max_fan_out = items.max(1);
    let mut fan_out = MIN_FAN_OUT;
    while fan_out < max_fan_out && !is_enough(fan_out) {
        fan_out += 1;
    }
    // With a bucket for each item no node is reached twice, which justifies a fan-out up to twice as large.
    if max_fan_out <= 2 * fan_out { max_fan_out } else { fan_out }
}

fn check_candidates(candidates: &[u32], length: usize) -> Result<()> {
    if length == 0 {
        return Err(Error::user("candidates of 0 items").with_remedy("choose a length of 1 or more"));
    }
    let count = candidates.len() / length;
    if count * length != candidates.len() {
        let items = candidates.len();
        return Err(Error::user(format!(
            "{items} items are not a multiple of the candidate length {length}"
        )));
    }
    if count >= PLACE_MASK as usize {
        return Err(Error::user(format!("{count} candidates are too many for a tree"))
            .with_remedy(format!("use several trees, each of fewer than {PLACE_MASK} candidates")));
    }
    for (index, set) in candidates.chunks_exact(length).enumerate() {
        if !set.is_sorted_by(|a, b| a < b) {
            return Err(Error::user(format!("the items of candidate {index} do not increase strictly")));
        }
        let largest = set[length - 1];
        if largest as usize >= MAX_TABLE_ENTRIES {
            return Err(Error::user(format!("candidate {index} has item {largest}"))
                .with_remedy(format!("number items from 0; they must be below {MAX_TABLE_ENTRIES}")));
        }
    }
    Ok(())
}

fn check_offsets(offsets: &[u64], items: usize) -> Result<()> {
    let Some(&last) = offsets.last() else {
        return Err(Error::user("no offsets").with_remedy(
            "give one more than there are transactions: where each begins, and where the last ends",
        ));
    };
    if offsets.len() > u32::MAX as usize {
        return Err(Error::user("more than 4,294,967,294 transactions").with_remedy("give them in blocks"));
    }
    if let Some(index) = offsets.windows(2).position(|bounds| bounds[0] > bounds[1]) {
        return Err(Error::user(format!("transaction {index} ends before it begins")));
    }
    if last > items as u64 {
        return Err(Error::user(format!("the last transaction ends at item {last}, and there are {items}")));
    }
    Ok(())
}
