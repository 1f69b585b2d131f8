//! Merging of queued requests: requests for successive blocks are served as one, with more tips active at once
//! (Lin, section 4; Hong 2006, section 5.2.2).
//!
//! A station with merging keeps overlapping requests in order of arrival where one of them is a write: only requests
//! that need not wait for an earlier one are merged, and when a scheduler chooses a request that must wait, the earlier
//! one is served instead. FCFS never chooses a request that must wait, so a request keeps its place unless it is merged
//! and moves forward.

mod merger;
mod overlaps;

pub use merger::{MergeCounts, Merger};

use sledlab_core::params::{self, Params};
use sledlab_core::{Result, choices, registry};
use toml::Table;

choices! {
    /// How many requests are merged into one.
    pub enum MergeKind {
        /// No merging: each request is served by itself.
        None = "none",
        /// At most two requests (Lin).
        Pairs = "pairs",
        /// Any number of requests (Hong 2006).
        Chains = "chains",
    }
}

impl registry::KindWord for MergeKind {
    fn meaning(self) -> &'static str {
        registry::one_line(match self {
            MergeKind::None => "no merging: each request is served by itself",
            MergeKind::Pairs => "two requests at most that follow each other on the medium are served as one",
            MergeKind::Chains => {
                "any number of requests that follow each other on the medium are served as one"
            }
        })
    }

    fn uses_parameter(self, key: &str) -> bool {
        self != MergeKind::None && key != "kind"
    }
}

choices! {
    /// Which positions in the queue the merged requests may have.
    pub enum MergeScope {
        /// Requests next to each other in order of arrival, the earlier one with the lower blocks (Lin).
        Neighbors = "neighbors",
        /// Requests anywhere in the queue.
        Queue = "queue",
    }
}

choices! {
    /// Which operations may be merged with each other.
    pub enum MergeOperations {
        /// Reads with reads only.
        Reads = "reads",
        /// Reads with reads and writes with writes.
        Alike = "alike",
        /// Any operations, also reads with writes.
        Any = "any",
    }
}

sledlab_core::params! {
    /// How queued requests that follow each other on the medium are merged.
    pub struct MergeParams {
        /// How many requests become one: `none`, `pairs` or `chains`.
        kind: MergeKind = MergeKind::None;
        /// Which requests may merge: `neighbors` in order of arrival, or any two in the `queue`.
        among: MergeScope = MergeScope::Queue;
        /// Operations that merge: `reads`, `alike` (also writes with writes) or `any` (reads with writes).
        operations: MergeOperations = MergeOperations::Reads;
        /// Rows of tip sectors that a merged request may fill; 1 is what all tips access at once.
        rows: u64 = 1_u64, "rows", 1..10000;
    }
}

/// The name of the configuration table, for messages.
const PATH: &str = "merge";

impl MergeParams {
    /// Reads `kind:key=value:key=value`, with further keys from `overrides`.
    ///
    /// # Errors
    /// Unknown kinds and keys, values out of range, and a word that is not of that form.
    pub fn parse(word: Option<&str>, overrides: Table) -> Result<Self> {
        let mut table = Table::new();
        if let Some(word) = word {
            let (kind, params) = params::parse_word(PATH, word, "chains:among=neighbors")?;
            table.extend(params);
            table.insert("kind".to_owned(), kind.into());
        }
        table.extend(overrides);
        MergeParams::from_table(PATH, &table)
    }
}
