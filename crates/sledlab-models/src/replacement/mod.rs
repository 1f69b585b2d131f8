//! Replacement: which of the things a cache holds makes room for a new one.
//!
//! Adding a policy is one file and one line in [`LIST`], which feeds the command line, the Python API, the docs and
//! the conformance tests.

mod acme;
mod arc;
mod belady;
mod fifo;
mod lfuda;
mod lfuda_literal;
mod lists;
mod lru;
mod priorities;
mod random;
mod slru;
#[cfg(test)]
mod tests;

use sledlab_core::params::{self, ParamSpec, Params};
use sledlab_core::{Error, Result};
use toml::Table;

/// An access to something that a cache may hold.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// What is used.
    pub key: u64,
    /// Number of the access that uses it next; [`Use::NEVER`] where there is none, or nobody knows.
    pub next: u64,
}

impl Use {
    /// Number of an access that does not come.
    pub const NEVER: u64 = u64::MAX;
}

/// What an access found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// It is there.
    Hit,
    /// It was not, and is now; what made room for it, where anything had to.
    Miss {
        /// What is no longer there.
        victim: Option<u64>,
    },
}

/// Decides what a full cache drops. Everything takes the same room.
#[expect(clippy::len_without_is_empty, reason = "`dyn Policy` has it: it follows from `len`")]
pub trait Policy: Send {
    /// An access: what is not there is taken in, in place of something else where the cache is full.
    fn access(&mut self, access: Use) -> Found;
    /// Whether it is there; asking is no access.
    fn holds(&self, key: u64) -> bool;
    /// How many there are.
    fn len(&self) -> usize;
}

impl dyn Policy + '_ {
    /// Whether nothing is there.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What a policy is: one implementation for each file of this folder.
pub trait Model: Policy + Sized + 'static {
    /// The parameters, declared with [`sledlab_core::params!`].
    type Params: Params;
    /// Name in configurations.
    const NAME: &'static str;
    /// One line for people.
    const MEANING: &'static str;
    /// Whether it must be told when everything is used next.
    const NEEDS_FUTURE: bool = false;

    /// An empty cache with room for `capacity`, at least one.
    fn new(params: &Self::Params, capacity: usize) -> Self;
}

/// A policy in the list.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name in configurations.
    pub name: &'static str,
    /// One line for people.
    pub meaning: &'static str,
    /// Whether it must be told when everything is used next: a bound, not something to build.
    pub needs_future: bool,
    /// Its parameters.
    pub specs: fn() -> Vec<ParamSpec>,
    resolve: fn(&Table) -> Result<Table>,
    make: fn(&Table, usize) -> Result<Box<dyn Policy>>,
}

impl Entry {
    const fn of<M: Model>() -> Self {
        Entry {
            name: M::NAME,
            meaning: M::MEANING,
            needs_future: M::NEEDS_FUTURE,
            specs: M::Params::specs,
            resolve: |table| Ok(M::Params::from_table(PATH, table)?.to_table()),
            make: |table, capacity| Ok(Box::new(M::new(&M::Params::from_table(PATH, table)?, capacity))),
        }
    }
}

/// Every policy.
pub static LIST: [Entry; 9] = [
    Entry::of::<lru::Lru>(),
    Entry::of::<fifo::Fifo>(),
    Entry::of::<random::Random>(),
    Entry::of::<slru::Slru>(),
    Entry::of::<arc::Arc>(),
    Entry::of::<lfuda::Lfuda>(),
    Entry::of::<lfuda_literal::LfudaLiteral>(),
    Entry::of::<acme::Acme>(),
    Entry::of::<belady::Belady>(),
];

/// The name of the configuration table, for messages.
const PATH: &str = "replacement";

/// A policy with all its parameters.
#[derive(Clone, Debug)]
pub struct Choice {
    entry: &'static Entry,
    params: Table,
}

impl Choice {
    /// A policy from `name` or `name:key=value:key=value`.
    ///
    /// # Errors
    /// Unknown names and keys, values out of range, and a word that is not of that form.
    pub fn parse(word: &str) -> Result<Self> {
        let (name, said) = params::parse_word(PATH, word, "slru:protected_share=0.5")?;
        let entry = LIST.iter().find(|entry| entry.name == name).ok_or_else(|| {
            Error::unknown("replacement policy", &name, LIST.iter().map(|entry| entry.name))
        })?;
        Ok(Choice { entry, params: (entry.resolve)(&said)? })
    }

    /// Which policy it is.
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// An empty cache with room for `capacity`.
    ///
    /// # Errors
    /// No room.
    pub fn make(&self, capacity: usize) -> Result<Box<dyn Policy>> {
        if capacity == 0 {
            return Err(Error::user("a cache has room for nothing")
                .with_remedy("make it larger, or what it holds smaller"));
        }
        (self.entry.make)(&self.params, capacity)
    }
}
