//! What waits in stretches of columns: the oldest, and the most at one place.
//!
//! Every bucket has a tree: its columns, stretches of eight columns, of eight times eight and so on up to one
//! of all. All trees lie in one block of memory, the levels of a tree one behind the other.

use sledlab_core::Time;

use crate::device::Crowd;

/// Parts that a stretch is made of: two to this power.
const FAN_BITS: u32 = 2;
pub(super) const FAN: usize = 1 << FAN_BITS;

/// What waits in a stretch of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Summary {
    /// When the oldest request joined the queue.
    pub oldest: Time,
    /// Most requests at one place; 0 if there are none.
    pub requests: u32,
}

impl Summary {
    /// Of a stretch where nothing waits.
    const EMPTY: Summary = Summary { oldest: Time::MAX, requests: 0 };

    fn joined(self, other: Summary) -> Summary {
        Summary { oldest: self.oldest.min(other.oldest), requests: self.requests.max(other.requests) }
    }
}

/// The trees of all buckets.
#[derive(Clone, Debug)]
pub(super) struct Forest {
    /// What waits in each bucket: looked at in every search, hence side by side.
    roots: Vec<Summary>,
    /// Where each level of a tree below its root begins, from the columns up, each filled up to whole stretches.
    levels: Vec<usize>,
    tree_len: usize,
    summaries: Vec<Summary>,
}

impl Forest {
    pub fn new(buckets: u32, columns: u32) -> Self {
        let (mut levels, mut tree_len, mut width) = (Vec::new(), 0, columns as usize);
        while levels.is_empty() || width > 1 {
            levels.push(tree_len);
            tree_len += width.next_multiple_of(FAN);
            width = width.div_ceil(FAN);
        }
        Forest {
            roots: vec![Summary::EMPTY; buckets as usize],
            levels,
            tree_len,
            summaries: vec![Summary::EMPTY; buckets as usize * tree_len],
        }
    }

    /// The level of the roots; that of the columns is 0.
    #[inline]
    pub fn top(&self) -> u32 {
        self.levels.len() as u32
    }

    #[inline]
    fn at(&self, bucket: u32, level: u32, node: u32) -> usize {
        bucket as usize * self.tree_len + self.levels[level as usize] + node as usize
    }

    /// What waits in a bucket.
    #[inline]
    pub fn root(&self, bucket: u32) -> Summary {
        self.roots[bucket as usize]
    }

    /// The parts of a node above the columns: the number of the first, and what waits in each.
    #[inline]
    pub fn parts(&self, bucket: u32, level: u32, node: u32) -> (u32, [Summary; FAN]) {
        let first = node << FAN_BITS;
        let at = self.at(bucket, level - 1, first);
        let mut parts = [Summary::EMPTY; FAN];
        parts.copy_from_slice(&self.summaries[at..at + FAN]);
        (first, parts)
    }

    /// First column of a node, and the one after its last.
    #[inline]
    pub fn columns(level: u32, node: u32) -> (u32, u32) {
        let bits = FAN_BITS * level;
        (node << bits, (node + 1) << bits)
    }

    /// Enters what waits at a column now.
    pub fn set(&mut self, bucket: u32, column: u32, crowd: &Crowd) {
        let summary = Summary { oldest: crowd.oldest, requests: crowd.requests };
        let at = self.at(bucket, 0, column);
        self.summaries[at] = if crowd.requests == 0 { Summary::EMPTY } else { summary };
        let mut node = column;
        for level in 1..=self.top() {
            node >>= FAN_BITS;
            let (_, parts) = self.parts(bucket, level, node);
            let whole = parts.into_iter().fold(Summary::EMPTY, Summary::joined);
            let known = if level == self.top() {
                &mut self.roots[bucket as usize]
            } else {
                let at = self.at(bucket, level, node);
                &mut self.summaries[at]
            };
            if std::mem::replace(known, whole) == whole {
                return;
            }
        }
    }
}
