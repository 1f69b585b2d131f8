//! Replacement: which key a full cache evicts to make room for a new one.
//!
//! A new policy takes one file and one line in [`LIST`]. The command line, the Python API, the docs and the conformance
//! tests read that list.

mod acme;
mod arc;
mod belady;
mod clock;
mod fifo;
mod lfu;
mod lfuda;
mod lfuda_literal;
mod lirs;
mod lists;
mod lru;
mod priorities;
mod priority_policy;
mod random;
mod s3_fifo;
mod sieve;
mod single_list;
mod slru;
#[cfg(test)]
mod tests;
mod two_q;
mod w_tinylfu;

use std::fmt;
use std::sync::Arc;

use sledlab_core::params::Params;
use sledlab_core::registry::{self, ConfiguredModel, Registry};
use sledlab_core::{Error, Result};
use toml::Table;

/// One use of a key, such as the number of a line or a segment, which is a hit or a miss in the cache.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// The key that is used.
    pub key: u64,
    /// Number of the next access that uses the same key; [`Use::NO_NEXT`] where no later access does, or the future is
    /// unknown.
    pub next: u64,
}

impl Use {
    /// The value of `next` for a key that is not used again.
    pub const NO_NEXT: u64 = u64::MAX;
}

/// Whether an access was a hit, and the key that a miss evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessResult {
    /// The key was in the cache.
    Hit,
    /// The key was not in the cache and was inserted, after the eviction of `victim` from a full cache.
    Miss {
        /// The evicted key; `None` where there was a free place.
        victim: Option<u64>,
    },
}

/// Decides which key a full cache evicts. All keys use the same space.
#[expect(clippy::len_without_is_empty, reason = "`is_empty` is a method of `dyn ReplacementPolicy`")]
pub trait ReplacementPolicy: Send {
    /// Uses a key: on a miss it is inserted, and a full cache evicts another key for it.
    fn access(&mut self, access: Use) -> AccessResult;
    /// Inserts a key that is not in the cache without using it, for example a segment that is read ahead; the first
    /// access to the key then counts as its first use. Returns the key that a full cache evicts for it.
    fn prefetch(&mut self, key: u64) -> Option<u64>;
    /// Returns whether the cache contains `key`; the call does not count as a use.
    fn holds(&self, key: u64) -> bool;
    /// Returns the number of resident keys.
    fn len(&self) -> usize;
    /// Returns the error that stopped the policy, if there is one, for example of a plug-in. Called from time to time;
    /// each error is returned once.
    fn failure(&mut self) -> Option<Error>;
}

/// Returns whether a key may be evicted: a cache must not evict some of its keys, for example those of dirty lines.
pub type MayEvict<'a> = dyn FnMut(u64) -> bool + 'a;

/// A policy that can be restricted in the keys that it evicts. Without restriction it is a [`ReplacementPolicy`].
///
/// A full cache has at least one key for which `may_evict` is true.
pub trait SparingPolicy: ReplacementPolicy {
    /// Like [`access`](ReplacementPolicy::access): the policy learns from the access, then evicts a key for which
    /// `may_evict` is true.
    fn access_sparing(&mut self, access: Use, may_evict: &mut MayEvict<'_>) -> AccessResult;
    /// Like [`prefetch`](ReplacementPolicy::prefetch), which evicts a key for which `may_evict` is true.
    fn prefetch_sparing(&mut self, key: u64, may_evict: &mut MayEvict<'_>) -> Option<u64>;
    /// Returns the key to evict first among those for which `may_evict` is true, without changing the policy.
    fn next_victim(&self, may_evict: &mut MayEvict<'_>) -> Option<u64>;
    /// Returns whether `key` is in the cache.
    fn is_resident(&self, key: u64) -> bool;
    /// Returns the number of keys in the cache.
    fn resident_count(&self) -> usize;

    /// Returns the key to evict before another is inserted, if the cache holds `capacity` keys.
    fn victim_if_full(&self, capacity: usize, may_evict: &mut MayEvict<'_>) -> Option<u64> {
        if self.resident_count() == capacity { self.next_victim(may_evict) } else { None }
    }
}

impl<P: SparingPolicy> ReplacementPolicy for P {
    fn access(&mut self, access: Use) -> AccessResult {
        self.access_sparing(access, &mut |_| true)
    }

    fn prefetch(&mut self, key: u64) -> Option<u64> {
        self.prefetch_sparing(key, &mut |_| true)
    }

    fn holds(&self, key: u64) -> bool {
        self.is_resident(key)
    }

    fn len(&self) -> usize {
        self.resident_count()
    }

    fn failure(&mut self) -> Option<Error> {
        None
    }
}

impl dyn ReplacementPolicy + '_ {
    /// Returns whether the cache is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A kind of policy; each file of this folder implements one.
pub trait Model: SparingPolicy + Sized + 'static {
    /// The parameters, declared with [`sledlab_core::params!`].
    type Params: Params;
    /// Name in configurations.
    const NAME: &'static str;
    /// One-line description for help texts and docs.
    const MEANING: &'static str;
    /// Whether the policy needs [`Use::next`] of every access.
    const NEEDS_FUTURE: bool = false;
    /// Whether the policy evicts the key whose last use is longest ago. A cache that orders its entries by their last
    /// use then needs no policy.
    const EVICTS_BY_LAST_USE: bool = false;

    /// Returns an empty cache for `capacity` keys, at least one.
    fn new(params: &Self::Params, capacity: usize) -> Self;
}

/// Makes an empty cache from a table of parameters and its capacity in keys.
pub type Make = fn(&Table, usize) -> Result<Box<dyn SparingPolicy>>;

/// Properties of a policy.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Whether the policy needs [`Use::next`] of every access: it is a bound to compare with, and no device can use it.
    pub needs_future: bool,
    /// Whether the policy evicts the key whose last use is longest ago.
    evicts_by_last_use: bool,
}

/// A policy in the list.
pub type Entry = registry::Entry<Make, Facts>;

const fn entry<M: Model>() -> Entry {
    Entry {
        name: M::NAME,
        aliases: &[],
        meaning: registry::one_line(M::MEANING),
        facts: Facts { needs_future: M::NEEDS_FUTURE, evicts_by_last_use: M::EVICTS_BY_LAST_USE },
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
    extra_words: &[],
    entries: &[
        entry::<lru::Lru>(),
        entry::<fifo::Fifo>(),
        entry::<clock::ClockPolicy>(),
        entry::<random::Random>(),
        entry::<slru::Slru>(),
        entry::<two_q::TwoQ>(),
        entry::<lirs::Lirs>(),
        entry::<arc::Arc>(),
        entry::<s3_fifo::S3Fifo>(),
        entry::<sieve::Sieve>(),
        entry::<w_tinylfu::WTinyLfu>(),
        entry::<lfu::Lfu>(),
        entry::<lfuda::Lfuda>(),
        entry::<lfuda_literal::LfudaLiteral>(),
        entry::<acme::Acme>(),
        entry::<belady::Belady>(),
    ],
};

/// The name of the configuration table, for messages.
const PATH: &str = "replacement";

/// Makes an empty cache of a policy that is not in [`LIST`], from its parameters and the number of keys it has room
/// for.
type MakeCustom = dyn Fn(&Table, usize) -> Result<Box<dyn ReplacementPolicy>> + Send + Sync;

/// A plug-in: a policy that is not in [`LIST`] and checks its own parameters.
#[derive(Clone)]
pub struct CustomPolicy {
    word: String,
    make: Arc<MakeCustom>,
}

impl CustomPolicy {
    /// The plug-in named `word`, in the form `module:Class`; `make` makes an empty cache from parameters and capacity.
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
pub struct Choice(ChoiceKind);

#[derive(Clone, Debug)]
enum ChoiceKind {
    BuiltIn(ConfiguredModel<Make, Facts>),
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

    /// Like [`parse`](Choice::parse), where the name may also be that of one of the plug-ins `custom`.
    ///
    /// # Errors
    /// As of [`parse`](Choice::parse).
    pub fn parse_among(word: &str, custom: &[CustomPolicy]) -> Result<Self> {
        let mut params = Table::new();
        let name = registry::split_plug_in(PATH, word, &mut params)?;
        if let Some(plug_in) = custom.iter().find(|custom| custom.word == name) {
            return Ok(Choice(ChoiceKind::Custom(plug_in.clone(), params)));
        }
        let (name, params) = LIST.parse(word)?;
        LIST.choose(&name, &params).map(|chosen| Choice(ChoiceKind::BuiltIn(chosen)))
    }

    /// Name of the policy in configurations.
    pub fn name(&self) -> &str {
        match &self.0 {
            ChoiceKind::BuiltIn(chosen) => chosen.entry.name,
            ChoiceKind::Custom(custom, _) => &custom.word,
        }
    }

    /// Whether the policy is a plug-in, not one of [`LIST`].
    pub fn is_custom(&self) -> bool {
        matches!(self.0, ChoiceKind::Custom(..))
    }

    /// Whether the policy needs [`Use::next`] of every access.
    pub fn needs_future(&self) -> bool {
        matches!(&self.0, ChoiceKind::BuiltIn(chosen) if chosen.entry.facts.needs_future)
    }

    /// Whether the policy evicts the key whose last use is longest ago.
    pub fn evicts_by_last_use(&self) -> bool {
        matches!(&self.0, ChoiceKind::BuiltIn(chosen) if chosen.entry.facts.evicts_by_last_use)
    }

    /// An empty cache with room for `capacity` keys.
    ///
    /// # Errors
    /// A capacity of 0, and parameters that the policy refuses.
    pub fn make(&self, capacity: usize) -> Result<Box<dyn ReplacementPolicy>> {
        if capacity == 0 {
            return Err(Error::user("the cache has no room for an entry")
                .with_remedy("make the cache larger, or its entries smaller"));
        }
        match &self.0 {
            ChoiceKind::BuiltIn(chosen) => Ok((chosen.entry.make)(&chosen.params, capacity)?),
            ChoiceKind::Custom(custom, params) => (custom.make)(params, capacity),
        }
    }

    /// Like [`make`](Choice::make), for a cache that cannot evict all of its keys and has no knowledge of the future;
    /// `key` is the configuration key that named the policy, for messages.
    ///
    /// # Errors
    /// A plug-in, and a policy that requires knowledge of the future.
    pub fn make_sparing(&self, key: &str, capacity: usize) -> Result<Box<dyn SparingPolicy>> {
        match &self.0 {
            ChoiceKind::BuiltIn(chosen) if !self.needs_future() => {
                (chosen.entry.make)(&chosen.params, capacity)
            }
            ChoiceKind::BuiltIn(_) => Err(self.unknown_future_error(key)),
            ChoiceKind::Custom(..) => Err(Error::user(format!(
                "{key}: `{}` cannot exclude dirty entries from eviction",
                self.name()
            ))
            .with_remedy("choose a policy of `sledlab list replacement`")),
        }
    }

    /// Returns the error for a policy that requires knowledge of the future, which a device does not have; `key` is the
    /// configuration key that named the policy.
    pub(crate) fn unknown_future_error(&self, key: &str) -> Error {
        Error::user(format!(
            "{key}: {} requires knowledge of future requests, which a device does not have",
            self.name()
        ))
        .with_remedy("compute this bound with `sledlab trace hits`")
    }
}
