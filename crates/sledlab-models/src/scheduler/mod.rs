//! Schedulers: which queued request is served next.
//!
//! A scheduler holds the queue. Whenever the mechanism is idle, [`Scheduler::pop`] chooses the next requests. A new
//! scheduler is one file and one line in [`LIST`], which feeds the command line, the Python API, the docs and the
//! conformance tests.

mod asptf;
mod c_scan;
mod fcfs;
mod gsptf;
mod mst;
mod optimal;
mod p_alpha;
mod p_sptf;
mod p_sstf;
mod pa_sptf;
mod pzsptf;
mod queue;
mod scan;
mod sdf;
mod sptf;
mod sptf_exhaustive;
mod sstf;
mod wstf;
mod zfcfs;
mod zpsptf;
mod zscan_psptf;
mod zsptf;
mod zsptf_pyramid;
mod ztsptf;

use std::sync::Arc;

use sledlab_core::params::{NoParams, ParamSpec, ParamValue, Params};
use sledlab_core::registry::{self, ConfiguredModel, Registry};
use sledlab_core::{Error, Result, Time};
use toml::Table;

use self::fcfs::Fcfs;
use self::queue::exhaustive::ExhaustiveIndex;
use self::queue::joint_queue::JointQueue;
use crate::device::{Aim, Mechanics, PositionIndex, QueuedRequest};

/// A queue with an order of service.
///
/// Every request pushed is popped exactly once. `pop` on an empty queue leaves `batch` empty; otherwise it
/// appends at least one request. The choice depends only on the queue, the time and the mechanism's state.
///
/// By default a scheduler never fails. A wrapper must forward every method: it denies `clippy::missing_trait_methods`.
#[expect(clippy::len_without_is_empty, reason = "`is_empty` is a method of `dyn Scheduler`")]
pub trait Scheduler: Send {
    /// Adds `request` to the queue. A merging station pushes a request again, with the same number and times, if it must
    /// wait although it was chosen: it takes its former place.
    fn push(&mut self, request: QueuedRequest);
    /// Chooses the requests that the idle mechanism serves next, and moves them from the queue to `batch`.
    fn pop(&mut self, now: Time, mechanics: &dyn Mechanics, batch: &mut Vec<QueuedRequest>);
    /// Number of requests in the queue.
    fn len(&self) -> usize;
    /// Removes `request` from the queue because it is served together with another one, and returns true. A scheduler
    /// that cannot remove it returns false and still pops it later.
    fn remove(&mut self, request: &QueuedRequest, mechanics: &dyn Mechanics) -> bool;
    /// Returns the error that stopped the scheduler, if there is one: it then pops no more requests, and the run ends
    /// with this error.
    fn failure(&mut self) -> Option<Error> {
        None
    }
}

impl dyn Scheduler + '_ {
    /// Whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

sledlab_core::choices! {
    /// Which requests are served together.
    pub enum Batch {
        /// One request at a time.
        None = "none",
        /// The chosen request with all others that wait at its position, as far as there are tips.
        SamePosition = "same-position",
    }
}

sledlab_core::choices! {
    /// What a queue holds.
    pub enum QueueEntries {
        /// Requests.
        Requests = "requests",
        /// The blocks of the requests.
        Blocks = "blocks",
    }
}

/// Context in which a scheduler is created, besides its parameters.
#[derive(Clone, Copy)]
pub struct SchedulerContext<'a> {
    /// The mechanism whose next requests the scheduler chooses.
    pub mechanics: &'a dyn Mechanics,
    /// Whether the requests that wait at the position of the chosen one are served together with it.
    pub batch: Batch,
    /// Whether to search the entire queue even if the device has a position index, to test the index.
    pub exhaustive: bool,
}

impl SchedulerContext<'_> {
    /// Returns an index that finds the best request by `aim`: the index of the device, or an exhaustive search.
    fn index(&self, aim: &Aim) -> Box<dyn PositionIndex> {
        let device_index = if self.exhaustive { None } else { self.mechanics.position_index(aim) };
        device_index.unwrap_or_else(|| Box::new(ExhaustiveIndex::new(aim.clone())))
    }
}

/// Whether later requests can delay a request forever.
#[derive(Clone, Copy, Debug)]
pub enum Starvation {
    /// Later requests can overtake a request without limit.
    Possible,
    /// The wait of every request is bounded.
    Bounded {
        /// Longest wait that the conformance test allows for a distant request, in ms, while nearer requests arrive
        /// every 0.2 ms. Almost every service takes less than 1 ms. At most 1,300, a third of the test.
        test_bound_ms: f64,
    },
}

/// A kind of scheduler; each file of this folder implements one.
pub trait Model: Sized {
    /// The parameters, declared with [`sledlab_core::params!`].
    type Params: Params;
    /// Name in configurations.
    const NAME: &'static str;
    /// Other names of the scheduler in configurations.
    const ALIASES: &'static [&'static str] = &[];
    /// One-line description of the scheduler for help texts and docs.
    const MEANING: &'static str;
    /// Whether comparisons of all schedulers include the scheduler; they exclude oracles and schedulers for short
    /// queues.
    const COMPARED_BY_DEFAULT: bool = true;
    /// Whether later requests can delay a request forever.
    const STARVATION: Starvation;
    /// Whether the scheduler uses [`SchedulerContext::batch`] itself; its default is then to serve all requests of a
    /// position together. The queues of other schedulers are wrapped for joint service.
    const BATCHES: bool = false;

    /// An empty queue.
    fn make(params: &Self::Params, context: SchedulerContext) -> Result<Box<dyn Scheduler>>;
}

/// Makes an empty queue from a table of parameters, for a mechanism; the last argument is whether to search the entire
/// queue instead of using the position index of the device.
pub type Make = fn(&Table, &dyn Mechanics, bool) -> Result<Box<dyn Scheduler>>;

/// Properties of a scheduler in the list.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Whether the scheduler takes part when all schedulers race.
    pub compared_by_default: bool,
    /// Whether later requests can delay a request forever.
    pub starvation: Starvation,
}

/// A scheduler in the list.
pub type Entry = registry::Entry<Make, Facts>;

const fn entry<M: Model>() -> Entry {
    Entry {
        name: M::NAME,
        aliases: M::ALIASES,
        meaning: registry::one_line(M::MEANING),
        facts: Facts { compared_by_default: M::COMPARED_BY_DEFAULT, starvation: M::STARVATION },
        specs: specs::<M>,
        resolve: resolve::<M>,
        make: make::<M>,
    }
}

/// Every scheduler.
pub static LIST: Registry<Make, Facts> = Registry {
    noun: "scheduler",
    path: PATH,
    example: "zsptf:grid=40x4",
    extra_words: &[],
    entries: &[
        entry::<Fcfs>(),
        entry::<c_scan::CScan>(),
        entry::<scan::Scan>(),
        entry::<sstf::Sstf>(),
        entry::<sdf::Sdf>(),
        entry::<sptf::Sptf>(),
        entry::<sptf_exhaustive::SptfExhaustive>(),
        entry::<asptf::Asptf>(),
        entry::<wstf::Wstf>(),
        entry::<p_sptf::PSptf>(),
        entry::<p_sstf::PSstf>(),
        entry::<pa_sptf::PaSptf>(),
        entry::<p_alpha::PAlpha>(),
        entry::<gsptf::Gsptf>(),
        entry::<zsptf::Zsptf>(),
        entry::<zfcfs::Zfcfs>(),
        entry::<ztsptf::Ztsptf>(),
        entry::<zsptf_pyramid::ZsptfPyramid>(),
        entry::<zscan_psptf::ZscanPsptf>(),
        entry::<zpsptf::Zpsptf>(),
        entry::<pzsptf::Pzsptf>(),
        entry::<mst::Mst>(),
        entry::<optimal::Optimal>(),
    ],
};

/// The name of the configuration table, for messages.
const PATH: &str = "scheduler";

sledlab_core::params! {
    /// Parameters that every scheduler has.
    pub struct QueueParams {
        /// Served in one pass: `none`, one request; `same-position`, all at its position, as tips allow.
        batch: Batch = Batch::None;
        /// What is counted and chosen: `requests`, or their `blocks`, so that a request is served in parts.
        entries: QueueEntries = QueueEntries::Requests;
    }
}

/// The defaults of the common parameters for scheduler `M`.
fn default_queue_params<M: Model>() -> QueueParams {
    let batch = if M::BATCHES { Batch::SamePosition } else { Batch::None };
    QueueParams { batch, ..QueueParams::default() }
}

/// All parameters of scheduler `M`, the common ones included.
fn specs<M: Model>() -> Vec<ParamSpec> {
    let mut common = QueueParams::specs();
    for spec in common.iter_mut().filter(|spec| spec.name == "batch") {
        spec.default = default_queue_params::<M>().batch.to_value();
    }
    M::Params::specs().into_iter().chain(common).collect()
}

/// Reads from `table` the parameters of scheduler `M` and the common ones.
fn parse_params<M: Model>(path: &str, table: &Table) -> Result<(M::Params, QueueParams)> {
    let known: Vec<String> = specs::<M>().iter().map(|spec| format!("{path}.{}", spec.name)).collect();
    if let Some(key) = table.keys().map(|key| format!("{path}.{key}")).find(|key| !known.contains(key)) {
        return Err(Error::unknown_name("key", &key, known.iter().map(String::as_str)));
    }
    let (mut own, mut common) = (table.clone(), default_queue_params::<M>());
    for spec in QueueParams::specs() {
        if let Some(value) = own.remove(spec.name) {
            common.set(path, spec.name, &value)?;
        }
    }
    Ok((M::Params::from_table(path, &own)?, common))
}

fn resolve<M: Model>(path: &str, table: &Table) -> Result<Table> {
    let (own, common) = parse_params::<M>(path, table)?;
    Ok(own.to_table().into_iter().chain(common.to_table()).collect())
}

fn make<M: Model>(table: &Table, mechanics: &dyn Mechanics, exhaustive: bool) -> Result<Box<dyn Scheduler>> {
    let (params, QueueParams { batch, .. }) = parse_params::<M>(PATH, table)?;
    let is_wrapped = batch == Batch::SamePosition && !M::BATCHES;
    // The requests of a position are batched by the wrapper or by the queue inside, never by both.
    let inner_batch = if is_wrapped { Batch::None } else { batch };
    let queue = M::make(&params, SchedulerContext { mechanics, batch: inner_batch, exhaustive })?;
    Ok(if is_wrapped { Box::new(JointQueue::new(queue)) } else { queue })
}

/// Makes an empty queue for a mechanism; the last argument is whether to search the entire queue.
type QueueConstructor = dyn Fn(&dyn Mechanics, bool) -> Result<Box<dyn Scheduler>> + Send + Sync;

/// A scheduler with all its parameters, from which any number of empty queues can be made.
#[derive(Clone)]
pub struct Choice {
    name: String,
    params: Table,
    entries: QueueEntries,
    make: Arc<QueueConstructor>,
}

impl Choice {
    /// The scheduler called `name` with `params` over its defaults.
    ///
    /// # Errors
    /// Unknown names and keys, and values out of range.
    pub fn new(name: &str, params: &Table) -> Result<Self> {
        let ConfiguredModel { entry, params } = LIST.choose(name, params)?;
        let entry_params = params.clone();
        let make =
            move |mechanics: &dyn Mechanics, exhaustive| (entry.make)(&entry_params, mechanics, exhaustive);
        let mut common = QueueParams::default();
        if let Some(entries) = params.get("entries") {
            common.set(PATH, "entries", entries)?;
        }
        Ok(Choice { name: entry.name.to_owned(), params, entries: common.entries, make: Arc::new(make) })
    }

    /// A scheduler that is not in the list. [`Choice::make_exhaustive`] makes the same queue as [`Choice::make`].
    pub fn custom(
        name: &str,
        params: Table,
        make: impl Fn(&dyn Mechanics) -> Result<Box<dyn Scheduler>> + Send + Sync + 'static,
    ) -> Self {
        let make = move |mechanics: &dyn Mechanics, _| make(mechanics);
        Choice { name: name.to_owned(), params, entries: QueueEntries::Requests, make: Arc::new(make) }
    }

    /// This scheduler with a wrapper around each of its queues.
    #[must_use]
    pub fn wrap_queues(
        &self,
        wrap: impl Fn(Box<dyn Scheduler>) -> Box<dyn Scheduler> + Send + Sync + 'static,
    ) -> Self {
        let make = Arc::clone(&self.make);
        let make_wrapped =
            move |mechanics: &dyn Mechanics, exhaustive: bool| Ok(wrap(make(mechanics, exhaustive)?));
        Choice { make: Arc::new(make_wrapped), ..self.clone() }
    }

    /// What the queue of a system with this scheduler holds.
    pub fn entries(&self) -> QueueEntries {
        self.entries
    }

    /// An empty queue for a device.
    pub fn make(&self, mechanics: &dyn Mechanics) -> Result<Box<dyn Scheduler>> {
        (self.make)(mechanics, false)
    }

    /// An empty queue that searches exhaustively instead of using the device's position index: an oracle of the
    /// index.
    pub fn make_exhaustive(&self, mechanics: &dyn Mechanics) -> Result<Box<dyn Scheduler>> {
        (self.make)(mechanics, true)
    }

    /// The configuration table with the scheduler's name and all its parameters.
    pub fn to_table(&self) -> Table {
        registry::table(&self.name, &self.params)
    }
}

impl std::fmt::Debug for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}", self.to_table())
    }
}

/// Splits `name:key=value:key=value` into a name and parameters. A value is a TOML value or text.
///
/// # Errors
/// A word that is not of that form.
pub fn parse(word: &str) -> Result<(String, Table)> {
    LIST.parse(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse_error(word: &str) -> String {
        parse(word).and_then(|(name, params)| Choice::new(&name, &params)).unwrap_err().to_string()
    }

    fn table(word: &str) -> Table {
        let (name, params) = parse(word).unwrap();
        Choice::new(&name, &params).unwrap().to_table()
    }

    #[test]
    fn descriptions_tell_the_order_of_zones() {
        // One request in the first zone; a crowd near the sled, which begins in the middle.
        let places = [(20, 4), (1290, 13), (1291, 13), (1292, 13), (1293, 13)];
        let zoned: Vec<_> =
            LIST.entries.iter().filter(|entry| entry.meaning.contains("zones of the medium")).collect();
        assert!(zoned.len() >= 4);
        for entry in zoned {
            let is_circular = entry.meaning.contains("zones of the medium in circular order");
            let first = queue::zoned_queue::trial::order(entry.name, &places)[0];
            assert_eq!(first == (20, 4), is_circular, "{}: {}", entry.name, entry.meaning);
        }
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
    fn invalid_schedulers_are_errors() {
        assert!(parse_error("sptff").contains("did you mean `sptf`?"));
        assert!(parse_error("asptf:weights=2").contains("did you mean `scheduler.weight`?"));
        assert!(parse_error("asptf:weight").contains("`weight` is not of the form key=value"));
        assert!(parse_error("asptf:weight=-1").contains("out of range"));
        assert!(parse_error("fcfs:batch=all").contains("expected one of none, same-position"));
    }

    proptest! {
        #[test]
        fn parsing_any_text_does_not_panic(
            word in "[a-z-]{0,8}(:[a-z0-9=x.\"'\\[ -]{0,8}){0,3}|\\PC{0,20}", entry in 0..LIST.len(),
        ) {
            let with_name = format!("{}:{word}", LIST[entry].name);
            for word in [word, with_name] {
                let _ = parse(&word).and_then(|(name, params)| Choice::new(&name, &params));
            }
        }
    }
}
