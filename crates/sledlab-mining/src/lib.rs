//! Counting kernels and data generators of data-mining jobs; does not depend on devices.
//!
//! Two jobs read their data again and again and count: association rules by Apriori ([`HashTree`] counts candidate
//! itemsets in market-basket [`quest`] transactions) and subspace clusters by MAFIA ([`UnitCounter`] counts
//! candidate dense units in records with planted [`boxes`]).
//!
//! Besides its counts a kernel returns how many elementary operations they took. Both are sums over transactions or
//! records, each of which is worked on alone: they are the same however the data are split into blocks, nodes and
//! threads.

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

/// Transactions or records of a block of a generator; each block can be made alone.
pub const BLOCK: usize = 4096;

/// The largest number of items, bins or candidates that a table is made for.
const MAX: usize = 1 << 24;

/// Refuses to make more transactions or records of a block than it has.
fn check_count(count: usize) -> Result<()> {
    if count <= BLOCK {
        return Ok(());
    }
    Err(Error::user(format!("{count} are asked of a block, which holds {BLOCK}"))
        .with_remedy("ask for several blocks"))
}
