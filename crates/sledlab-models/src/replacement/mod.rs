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

use std::fmt;
use std::sync::Arc;

use sledlab_core::params::Params;
use sledlab_core::registry::{self, Chosen, Registry};
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
        /// The evicted key.
        victim: Option<u64>,
    },
}

/// Decides what a full cache drops. Everything takes the same room.
#[expect(clippy::len_without_is_empty, reason = "`dyn Policy` has it: it follows from `len`")]
pub trait ReplacementPolicy: Send {
    /// An access: what is not there is taken in, in place of something else where the cache is full.
    fn access(&mut self, access: Use) -> Found;
    /// Whether it is there; asking is no access.
    fn holds(&self, key: u64) -> bool;
    /// How many there are.
    fn len(&self) -> usize;
    /// Why it has given up, if it has: a policy that somebody else wrote may fail. Asked now and then, told once.
    fn failure(&mut self) -> Option<Error>;
}

/// A policy of a cache that cannot drop everything it holds, such as what is dirty: it says who makes room, and is told.
pub trait SparingPolicy: ReplacementPolicy {
    /// The key that makes room first of those that `may`; asking changes nothing.
    fn next_victim(&self, may: &mut dyn FnMut(u64) -> bool) -> Option<u64>;
    /// A key that is there makes room.
    fn evict(&mut self, key: u64);
    /// The rank of the key that was used last, where keys make room by the rank of their last use, the lowest first:
    /// who keeps ranks need not ask for victims. Nothing where the order is another one.
    fn rank(&self) -> Option<u64>;
}

impl dyn ReplacementPolicy + '_ {
    /// Whether nothing is there.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What a policy is: one implementation for each file of this folder.
pub trait Model: SparingPolicy + Sized + 'static {
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

/// Makes an empty cache of a table of parameters, with room for so many things.
pub type Make = fn(&Table, usize) -> Result<Box<dyn SparingPolicy>>;

/// What is known of a policy.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Whether it must be told when everything is used next: a bound, not something to build.
    pub needs_future: bool,
}

/// A policy in the list.
pub type Entry = registry::Entry<Make, Facts>;

const fn of<M: Model>() -> Entry {
    Entry {
        name: M::NAME,
        aliases: &[],
        meaning: registry::one_line(M::MEANING),
        facts: Facts { needs_future: M::NEEDS_FUTURE },
        specs: M::Params::specs,
        resolve: registry::resolve::<M::Params>,
        make: |table, capacity| Ok(Box::new(M::new(&M::Params::from_table(PATH, table)?, capacity))),
    }
}

/// Every policy.
pub static LIST: Registry<Make, Facts> = Registry {
    noun: "replacement policy",
    path: PATH,
    example: "slru:protected_share=0.5",
    also: &[],
    entries: &[
        of::<lru::Lru>(),
        of::<fifo::Fifo>(),
        of::<random::Random>(),
        of::<slru::Slru>(),
        of::<arc::Arc>(),
        of::<lfuda::Lfuda>(),
        of::<lfuda_literal::LfudaLiteral>(),
        of::<acme::Acme>(),
        of::<belady::Belady>(),
    ],
};

/// The name of the configuration table, for messages.
const PATH: &str = "replacement";

/// Makes an empty cache of a policy that is not in the list.
type MakeCustom = dyn Fn(&Table, usize) -> Result<Box<dyn ReplacementPolicy>> + Send + Sync;

/// A policy that is not in the list; its parameters are its own to check.
#[derive(Clone)]
pub struct CustomPolicy {
    word: String,
    make: Arc<MakeCustom>,
}

impl CustomPolicy {
    /// What is called `word`, `module:Class`, and makes an empty cache of parameters and room.
    pub fn new(
        word: &str,
        make: impl Fn(&Table, usize) -> Result<Box<dyn ReplacementPolicy>> + Send + Sync + 'static,
    ) -> Self {
        CustomPolicy { word: word.to_owned(), make: Arc::new(make) }
    }
}

impl fmt::Debug for CustomPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word)
    }
}

/// A policy with all its parameters.
#[derive(Clone, Debug)]
pub struct Choice(Which);

#[derive(Clone, Debug)]
enum Which {
    Listed(Chosen<Make, Facts>),
    Custom(CustomPolicy, Table),
}

impl Choice {
    /// A policy from `name` or `name:key=value:key=value`.
    ///
    /// # Errors
    /// Unknown names and keys, values out of range, and a word that is not of that form.
    pub fn parse(word: &str) -> Result<Self> {
        Choice::parse_among(word, &[])
    }

    /// The same where it may be one of some policies that are not in the list.
    ///
    /// # Errors
    /// As of [`parse`](Choice::parse).
    pub fn parse_among(word: &str, custom: &[CustomPolicy]) -> Result<Self> {
        let mut said = Table::new();
        let name = registry::split_plug_in(PATH, word, &mut said)?;
        if let Some(found) = custom.iter().find(|custom| custom.word == name) {
            return Ok(Choice(Which::Custom(found.clone(), said)));
        }
        let (name, said) = LIST.parse(word)?;
        LIST.choose(&name, &said).map(|chosen| Choice(Which::Listed(chosen)))
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        match &self.0 {
            Which::Listed(chosen) => chosen.entry.name,
            Which::Custom(custom, _) => &custom.word,
        }
    }

    /// Whether it is not in the list.
    pub fn is_custom(&self) -> bool {
        matches!(self.0, Which::Custom(..))
    }

    /// Whether it must be told when everything is used next.
    pub fn needs_future(&self) -> bool {
        matches!(&self.0, Which::Listed(chosen) if chosen.entry.facts.needs_future)
    }

    /// An empty cache with room for `capacity`.
    ///
    /// # Errors
    /// No room.
    pub fn make(&self, capacity: usize) -> Result<Box<dyn ReplacementPolicy>> {
        if capacity == 0 {
            return Err(Error::user("a cache has room for nothing")
                .with_remedy("make it larger, or what it holds smaller"));
        }
        match &self.0 {
            Which::Listed(chosen) => Ok((chosen.entry.make)(&chosen.params, capacity)?),
            Which::Custom(custom, said) => (custom.make)(said, capacity),
        }
    }

    /// The same for a cache that cannot drop everything it holds, and does not know the future; `key` is the one that
    /// named the policy.
    ///
    /// # Errors
    /// A policy that is not in the list, and one that must know the future.
    pub fn make_sparing(&self, key: &str, capacity: usize) -> Result<Box<dyn SparingPolicy>> {
        match &self.0 {
            Which::Listed(chosen) if !self.needs_future() => (chosen.entry.make)(&chosen.params, capacity),
            Which::Listed(_) => Err(self.knows_the_future(key)),
            Which::Custom(..) => {
                Err(Error::user(format!("{key}: `{}` cannot spare what is dirty", self.name()))
                    .with_remedy("name a policy that `sledlab replacement list` shows"))
            }
        }
    }

    /// That a policy cannot be built, which `key` named.
    pub(crate) fn knows_the_future(&self, key: &str) -> Error {
        Error::user(format!("{key}: {} knows the future, which a device does not", self.name()))
            .with_remedy("ask `sledlab trace hits` for this bound")
    }
}
