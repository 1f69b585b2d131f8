//! Counting kernels and data generators of data-mining jobs; does not depend on devices.
//!
//! Two jobs read their data repeatedly and count: association rules by Apriori ([`HashTree`] counts candidate
//! itemsets in market-basket [`quest`] transactions) and subspace clusters by MAFIA ([`UnitCounter`] counts
//! candidate dense units in records with planted [`boxes`]).
//!
//! A kernel returns counts and the number of elementary operations. Both are sums over independent transactions or
//! records, so they do not depend on the split of the data into blocks, nodes and threads.

pub mod boxes;
pub mod hash_tree;
mod parallel;
pub mod quest;
pub mod units;

pub use boxes::{Boxes, BoxesParams};
pub use hash_tree::HashTree;
pub use quest::{Quest, QuestParams};
pub use units::{UnitCounter, UnitGrid, histogram};

use sledlab_core::{Error, Result};

/// Transactions or records in a block of a generator. Blocks are generated independently.
pub const BLOCK: usize = 4096;

/// The maximum number of items, bins or candidates in a table.
const MAX_TABLE_ENTRIES: usize = 1 << 24;

/// Rejects more transactions or records than a block has.
fn check_count(count: usize) -> Result<()> {
    if count <= BLOCK {
        return Ok(());
    }
    Err(Error::user(format!("count {count} exceeds the block size of {BLOCK}"))
        .with_remedy("request several blocks"))
}
