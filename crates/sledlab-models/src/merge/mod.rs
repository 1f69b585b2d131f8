//! Merging of queued requests: neighbours on the medium are served as one, with more tips at once (paper 003,
//! section 4; paper 000, section 5.2.2).
//!
//! A station with merging keeps requests in order that overlap, one of them a write: only requests that nothing
//! before them holds back are merged, and when a scheduler chooses one that something does, that is served
//! instead. Under FCFS, which never does that, a request keeps its place unless it is merged and moves forward.

mod merger;
mod overlaps;

pub use merger::{Merged, Merger};

use sledlab_core::params::{self, Params};
use sledlab_core::{Result, choices, registry};
use toml::Table;

choices! {
    /// How many requests become one.
    pub enum Merging {
        /// None: each is served by itself.
        None = "none",
        /// Two at most (PW-09).
        Pairs = "pairs",
        /// Any number (PW-10).
        Chains = "chains",
    }
}

impl registry::KindWord for Merging {
    fn meaning(self) -> &'static str {
        registry::one_line(match self {
            Merging::None => "no merging: each request is served by itself",
            Merging::Pairs => "two requests at most that follow each other on the medium are served as one",
            Merging::Chains => {
                "any number of requests that follow each other on the medium are served as one"
            }
        })
    }

    fn heeds(self, key: &str) -> bool {
        self != Merging::None && key != "kind"
    }
}

choices! {
    /// Where in the queue the requests of a merged one may stand.
    pub enum Among {
        /// Next to each other in order of arrival, the earlier one first on the medium (PW-09).
        Neighbours = "neighbours",
        /// Anywhere in the queue.
        Queue = "queue",
    }
}

choices! {
    /// What may be merged with what.
    pub enum MergeOperations {
        /// Reads with reads.
        Reads = "reads",
        /// Reads with reads and writes with writes.
        Alike = "alike",
        /// Anything with anything.
        Any = "any",
    }
}

sledlab_core::params! {
    /// How queued requests that follow each other on the medium are merged (PW-09, PW-10, PW-11).
    pub struct MergeParams {
        /// How many requests become one: `none`, `pairs` or `chains`.
        kind: Merging = Merging::None;
        /// Which requests may merge: `neighbours` in order of arrival, or any two in the `queue`.
        among: Among = Among::Queue;
        /// Operations that merge: `reads`, `alike` (also writes with writes) or `any` (reads with writes).
        operations: MergeOperations = MergeOperations::Reads;
        /// Rows of tip sectors that a merged request may fill; 1 is what all tips access at once.
        rows: u64 = 1_u64, "rows", 1..10000;
    }
}

/// The name of the configuration table, for messages.
const PATH: &str = "merge";

impl MergeParams {
    /// Reads `kind:key=value:key=value`, with further keys from `said`.
    ///
    /// # Errors
    /// Unknown kinds and keys, values out of range, and a word that is not of that form.
    pub fn parse(word: Option<&str>, said: Table) -> Result<Self> {
        let mut table = Table::new();
        if let Some(word) = word {
            let (kind, params) = params::parse_word(PATH, word, "chains:among=neighbours")?;
            table.extend(params);
            table.insert("kind".to_owned(), kind.into());
        }
        table.extend(said);
        MergeParams::from_table(PATH, &table)
    }
}
