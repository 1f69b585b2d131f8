//! Schedulers: which queued request is served next.
//!
//! A scheduler holds the queue. The mechanism asks it with [`Scheduler::pop`] whenever it is free. Adding one is
//! one file and one line in [`LIST`], which feeds the command line, the Python API, the docs and the
//! conformance tests.

mod asptf;
mod c_scan;
mod crowded;
mod fcfs;
mod grid;
mod gsptf;
mod mst;
mod optimal;
mod ordered;
mod p_alpha;
mod p_sptf;
mod pa_sptf;
mod planned;
mod positioned;
mod pzsptf;
mod same_position;
mod scan;
mod scan_index;
mod sdf;
mod sptf;
mod sptf_scan;
mod sstf;
mod sweep;
mod wstf;
mod zfcfs;
mod zoned;
mod zpsptf;
mod zscan_psptf;
mod zsptf;
mod zsptf_pyramid;
mod ztsptf;

use std::sync::Arc;

use sledlab_core::params::{self, NoParams, ParamSpec, Params};
use sledlab_core::{Error, Result, Time};
use toml::{Table, Value};

use self::fcfs::Fcfs;
use self::same_position::SamePosition;
use self::scan_index::ScanIndex;
use crate::device::{Aim, Mechanics, PositionIndex, Queued};

/// A queue with an order of service.
///
/// Every request pushed is popped exactly once. `pop` on an empty queue leaves `batch` empty; otherwise it
/// appends at least one request. The choice depends only on the queue, the time and the mechanism's state.
///
/// No method has a default: schedulers wrap each other, and a wrapper that forgets a method would answer for the one
/// inside, in silence and with other numbers.
#[expect(clippy::len_without_is_empty, reason = "`dyn Scheduler` has it: it follows from `len`")]
pub trait Scheduler: Send {
    /// A request joins the queue.
    fn push(&mut self, request: Queued);
    /// Chooses what the idle mechanism serves next, and removes it from the queue.
    fn pop(&mut self, now: Time, mechanics: &dyn Mechanics, batch: &mut Vec<Queued>);
    /// Requests in the queue.
    fn len(&self) -> usize;
    /// Takes a request out of the queue, if the scheduler knows how to: it is served together with another one.
    /// Otherwise returns false, and the request will still be popped.
    fn remove(&mut self, request: &Queued) -> bool;
    /// Why the scheduler has given up, if it has: it then pops nothing any more, and the run ends with this error.
    fn failure(&mut self) -> Option<Error>;
}

impl dyn Scheduler + '_ {
    /// Whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

sledlab_core::choices! {
    /// What is served in one go.
    pub enum Batch {
        /// One request at a time.
        None = "none",
        /// The chosen request with all others that wait at its position, as far as there are tips (SC-22).
        SamePosition = "same-position",
    }
}

/// What a scheduler is told when it is made, besides its parameters.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// The mechanism it will choose for.
    pub mechanics: &'a dyn Mechanics,
    /// Whether it takes along what waits at the position of its choice.
    pub batch: Batch,
    /// Scan the queue even where the device has an index: the oracle of the index.
    pub scan: bool,
}

impl Setting<'_> {
    /// An index that finds the best by `aim`: the device's own, or a scan.
    fn index(&self, aim: &Aim) -> Box<dyn PositionIndex> {
        let own = if self.scan { None } else { self.mechanics.position_index(aim) };
        own.unwrap_or_else(|| Box::new(ScanIndex::new(aim.clone())))
    }
}

/// What a scheduler is: one implementation for each file of this folder.
pub trait Model: Sized {
    /// The parameters, declared with [`sledlab_core::params!`].
    type Params: Params;
    /// Name in configurations.
    const NAME: &'static str;
    /// Other names for it.
    const ALIASES: &'static [&'static str] = &[];
    /// One line for people.
    const MEANING: &'static str;
    /// Whether it takes part when all schedulers race; not those for small queues, nor oracles.
    const IN_RACE: bool = true;
    /// Whether no request can wait forever, whatever arrives after it.
    const STARVATION_FREE: bool;
    /// Whether it heeds [`Setting::batch`] itself; for the others the queue is wrapped. Such a scheduler takes along
    /// what waits at a position unless it is told not to.
    const BATCHES: bool = false;

    /// An empty queue.
    fn make(params: &Self::Params, setting: Setting) -> Result<Box<dyn Scheduler>>;
}

/// A scheduler in the list.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name in configurations.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// One line for people.
    pub meaning: &'static str,
    /// Whether it takes part when all schedulers race.
    pub in_race: bool,
    /// Whether no request can wait forever.
    pub starvation_free: bool,
    batches: bool,
    own_specs: fn() -> Vec<ParamSpec>,
    resolve: fn(&Table) -> Result<Table>,
    make: fn(&Table, Setting) -> Result<Box<dyn Scheduler>>,
}

impl Entry {
    const fn of<M: Model>() -> Self {
        Entry {
            name: M::NAME,
            aliases: M::ALIASES,
            meaning: M::MEANING,
            in_race: M::IN_RACE,
            starvation_free: M::STARVATION_FREE,
            batches: M::BATCHES,
            own_specs: M::Params::specs,
            resolve: |table| Ok(M::Params::from_table(PATH, table)?.to_table()),
            make: |table, setting| M::make(&M::Params::from_table(PATH, table)?, setting),
        }
    }

    fn default_batch(&self) -> BatchParams {
        BatchParams { batch: if self.batches { Batch::SamePosition } else { Batch::None } }
    }

    /// Refuses keys that are none of its parameters.
    fn check_keys(&self, params: &Table) -> Result<()> {
        let known: Vec<String> = self.specs().iter().map(|spec| format!("{PATH}.{}", spec.name)).collect();
        match params.keys().map(|key| format!("{PATH}.{key}")).find(|key| !known.contains(key)) {
            Some(key) => Err(Error::unknown("key", &key, known.iter().map(String::as_str))),
            None => Ok(()),
        }
    }

    /// Its parameters, those that every scheduler has included.
    pub fn specs(&self) -> Vec<ParamSpec> {
        let mut specs = (self.own_specs)();
        let default = self.default_batch().to_table().remove("batch");
        specs.extend(
            BatchParams::specs()
                .into_iter()
                .map(|spec| ParamSpec { default: default.clone().unwrap_or(spec.default.clone()), ..spec }),
        );
        specs
    }
}

/// Every scheduler.
pub const LIST: [Entry; 22] = [
    Entry::of::<Fcfs>(),
    Entry::of::<c_scan::CScan>(),
    Entry::of::<scan::Scan>(),
    Entry::of::<sstf::Sstf>(),
    Entry::of::<sdf::Sdf>(),
    Entry::of::<sptf::Sptf>(),
    Entry::of::<sptf_scan::SptfScan>(),
    Entry::of::<asptf::Asptf>(),
    Entry::of::<wstf::Wstf>(),
    Entry::of::<p_sptf::PSptf>(),
    Entry::of::<pa_sptf::PaSptf>(),
    Entry::of::<p_alpha::PAlpha>(),
    Entry::of::<gsptf::Gsptf>(),
    Entry::of::<zsptf::Zsptf>(),
    Entry::of::<zfcfs::Zfcfs>(),
    Entry::of::<ztsptf::Ztsptf>(),
    Entry::of::<zsptf_pyramid::ZsptfPyramid>(),
    Entry::of::<zscan_psptf::ZscanPsptf>(),
    Entry::of::<zpsptf::Zpsptf>(),
    Entry::of::<pzsptf::Pzsptf>(),
    Entry::of::<mst::Mst>(),
    Entry::of::<optimal::Optimal>(),
];

/// The name of the configuration table, for messages.
const PATH: &str = "scheduler";

sledlab_core::params! {
    /// What every scheduler can be told.
    pub struct BatchParams {
        /// What is served in one go: `none` (one request at a time) or `same-position` (all that wait at the position of the chosen one, as far as there are tips).
        batch: Batch = Batch::None;
    }
}

/// Makes an empty queue for a device, which scans where it could use an index if told to.
type Make = dyn Fn(&dyn Mechanics, bool) -> Result<Box<dyn Scheduler>> + Send + Sync;

/// A scheduler with all its parameters, from which any number of empty queues can be made.
#[derive(Clone)]
pub struct Choice {
    name: String,
    params: Table,
    make: Arc<Make>,
}

impl Choice {
    /// The scheduler called `name` with `params` over its defaults.
    pub fn new(name: &str, params: &Table) -> Result<Self> {
        let entry = find(name)?;
        entry.check_keys(params)?;
        let mut own = params.clone();
        let mut batch = entry.default_batch();
        if let Some(said) = own.remove("batch") {
            batch.set(PATH, "batch", &said)?;
        }
        let own = (entry.resolve)(&own)?;
        let mut params = own.clone();
        params.extend(batch.to_table());
        let make = move |mechanics: &dyn Mechanics, scan| {
            let wrap = batch.batch == Batch::SamePosition && !entry.batches;
            // What is taken along must be taken once only.
            let inside = if wrap { Batch::None } else { batch.batch };
            let queue = (entry.make)(&own, Setting { mechanics, batch: inside, scan })?;
            Ok(if wrap { Box::new(SamePosition::new(queue)) } else { queue })
        };
        Ok(Choice { name: entry.name.to_owned(), params, make: Arc::new(make) })
    }

    /// A scheduler that is not in the list; it gets no index to do without.
    pub fn custom(
        name: &str,
        params: Table,
        make: impl Fn(&dyn Mechanics) -> Result<Box<dyn Scheduler>> + Send + Sync + 'static,
    ) -> Self {
        let make = move |mechanics: &dyn Mechanics, _| make(mechanics);
        Choice { name: name.to_owned(), params, make: Arc::new(make) }
    }

    /// An empty queue for a device.
    pub fn make(&self, mechanics: &dyn Mechanics) -> Result<Box<dyn Scheduler>> {
        (self.make)(mechanics, false)
    }

    /// The same that scans instead of using the device's index: its oracle.
    pub fn make_scan(&self, mechanics: &dyn Mechanics) -> Result<Box<dyn Scheduler>> {
        (self.make)(mechanics, true)
    }

    /// The configuration table that says all of it.
    pub fn to_table(&self) -> Table {
        let kind = ("kind".to_owned(), Value::from(self.name.as_str()));
        [kind].into_iter().chain(self.params.clone()).collect()
    }
}

impl std::fmt::Debug for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}", self.to_table())
    }
}

/// The scheduler called `name`, or an alias of it.
pub fn find(name: &str) -> Result<&'static Entry> {
    static ALL: [Entry; LIST.len()] = LIST;
    let names = || ALL.iter().flat_map(|entry| [entry.name].into_iter().chain(entry.aliases.iter().copied()));
    ALL.iter()
        .find(|entry| entry.name == name || entry.aliases.contains(&name))
        .ok_or_else(|| Error::unknown("scheduler", name, names()))
}

/// Splits `name:key=value:key=value` into a name and parameters. A value is a TOML value or text.
pub fn parse(word: &str) -> Result<(String, Table)> {
    params::parse_word(PATH, word, "zsptf:grid=40x4")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refused(word: &str) -> String {
        parse(word).and_then(|(name, params)| Choice::new(&name, &params)).unwrap_err().to_string()
    }

    fn table(word: &str) -> Table {
        let (name, params) = parse(word).unwrap();
        Choice::new(&name, &params).unwrap().to_table()
    }

    #[test]
    fn reads_parameters_behind_the_name() {
        assert_eq!(table("zsptf:grid=40x4:parity=false")["grid"].as_str(), Some("40x4"));
        assert_eq!(table("asptf:weight=2")["weight"].as_float(), Some(2.0));
        assert_eq!(table("look")["kind"].as_str(), Some("scan"));
        assert_eq!(table("p-sptf")["batch"].as_str(), Some("same-position"));
        assert_eq!(table("sptf")["batch"].as_str(), Some("none"));
    }

    #[test]
    fn says_what_is_wrong() {
        assert!(refused("sptff").contains("did you mean `sptf`?"));
        assert!(refused("asptf:weights=2").contains("did you mean `scheduler.weight`?"));
        assert!(refused("asptf:weight").contains("`weight` is not of the form key=value"));
        assert!(refused("asptf:weight=-1").contains("out of range"));
        assert!(refused("fcfs:batch=all").contains("expected one of none, same-position"));
    }

    proptest! {
        #[test]
        fn no_word_makes_it_panic(word in "[a-z-]{0,8}(:[a-z0-9=x.\"'\\[ -]{0,8}){0,3}|\\PC{0,20}", entry in 0..LIST.len()) {
            let with_name = format!("{}:{word}", LIST[entry].name);
            for word in [word, with_name] {
                let _ = parse(&word).and_then(|(name, params)| Choice::new(&name, &params));
            }
        }
    }
}
