//! Workload generators: seeded, of any length, in constant memory.
//!
//! A generator is one file that implements [`Generator`] and one line in [`LIST`].
//! The list feeds the command line, the Python API and the docs.
//!
//! Every generator has a parameter `requests`, the number of requests it makes in all; 0 means that it never ends and
//! the limit of the replay ends the run. A replay with a limit should pass that limit as `requests`, where `requests`
//! is not set.
//!
//! Each use of random numbers draws from its own named stream ([`sledlab_core::seed`]), so that changing the sizes, for
//! example, leaves the arrivals as they were. Arrivals are integers: each gap is rounded to a nanosecond and then
//! added, so no digits are lost however long the stream runs. The first request arrives one gap after the start.

mod cello;
mod clustered_arrivals;
mod day;
mod directed_boundaries;
mod directed_merge;
mod directed_same_position;
mod directed_starvation;
mod directed_stream;
mod disk_check;
mod draw;
mod exponential;
mod files;
mod hplajw;
mod mems_check;
mod modulated_arrivals;
mod on_off;
mod permutation;
mod rate_control;
mod relation;
mod reuse;
mod share_control;
mod size_mix;
mod small;
mod small_and_streams;
mod snake;
mod tpcc;
mod tpcd;
mod uniform;
mod volume;

use std::sync::Arc;

use sledlab_core::params::Params;
use sledlab_core::registry::{self, Registry};
use sledlab_core::{Error, Request, Result, Source, seed};
use toml::Table;

/// Starts a generator from a table of parameters.
pub type Make = fn(&Table, GeneratorSetting) -> Result<Box<dyn Source>>;

/// A generator in the list.
pub type Entry = registry::Entry<Make>;

const fn entry<G: Generator>() -> Entry {
    Entry {
        name: G::NAME,
        aliases: &[],
        meaning: registry::one_line(G::MEANING),
        facts: (),
        specs: G::Params::specs,
        resolve: registry::resolve::<G::Params>,
        make: |table, setting| {
            let params = G::Params::from_table(PATH, table)?;
            Ok(Box::new(Stream::<G> {
                generator: G::new(&params, setting)?,
                requests: G::requests(&params),
                generated: 0,
            }))
        },
    }
}

/// All generators.
pub static LIST: Registry<Make> = Registry {
    noun: "workload",
    path: PATH,
    example: "uniform:read_share=0.5",
    extra_words: &[],
    entries: &[
        entry::<exponential::Exponential>(),
        entry::<mems_check::MemsCheck>(),
        entry::<disk_check::DiskCheck>(),
        entry::<uniform::Uniform>(),
        entry::<small::Small>(),
        entry::<small_and_streams::SmallAndStreams>(),
        entry::<relation::Relation>(),
        entry::<cello::Cello>(),
        entry::<hplajw::Hplajw>(),
        entry::<snake::Snake>(),
        entry::<tpcd::Tpcd>(),
        entry::<tpcc::Tpcc>(),
        entry::<volume::Volume>(),
        entry::<directed_starvation::DirectedStarvation>(),
        entry::<directed_stream::DirectedStream>(),
        entry::<directed_same_position::DirectedSamePosition>(),
        entry::<directed_boundaries::DirectedBoundaries>(),
        entry::<directed_merge::DirectedMerge>(),
    ],
};

/// The name of the configuration table, for messages.
const PATH: &str = "workload";

/// A generator of a workload's requests.
///
/// Promises: arrivals never decrease; requests are never empty and never reach past the capacity; the same parameters
/// and setting give the same requests.
pub trait Generator: Send + Sized + 'static {
    /// The parameters, declared with [`sledlab_core::params!`].
    type Params: Params;
    /// The name of the generator in configurations.
    const NAME: &'static str;
    /// The meaning of the generator, in one line.
    const MEANING: &'static str;

    /// The value of the parameter `requests`.
    fn requests(params: &Self::Params) -> u64;

    /// A generator at its start. An error when `setting` leaves no room for its requests.
    fn new(params: &Self::Params, setting: GeneratorSetting) -> Result<Self>;

    /// The next request.
    fn next(&mut self) -> Request;
}

/// Settings of a generator besides its parameters.
#[derive(Clone, Copy, Debug)]
pub struct GeneratorSetting {
    /// Root seed of the run.
    pub seed: u64,
    /// Blocks of the device; at least 1.
    pub capacity_blocks: u64,
}

impl GeneratorSetting {
    /// The random stream for one use, such as `uniform.places`.
    fn stream(&self, name: &str) -> seed::Stream {
        seed::stream(self.seed, name)
    }

    /// The root for one use of a generator of random numbers outside this project, such as numpy's.
    pub fn root(&self, name: &str) -> u128 {
        seed::derive_seed(self.seed, name)
    }
}

/// Starts the generator of a [`Choice`].
type SourceFactory = dyn Fn(GeneratorSetting) -> Result<Box<dyn Source>> + Send + Sync;

/// A generator with all its parameters.
#[derive(Clone)]
pub struct Choice {
    name: String,
    params: Table,
    make: Arc<SourceFactory>,
}

impl Choice {
    /// The generator `name` of the list, with `params` over its defaults.
    ///
    /// # Errors
    /// Unknown names and keys, and values out of range.
    pub fn new(name: &str, params: &Table) -> Result<Self> {
        let chosen = LIST.choose(name, params)?;
        let (make, params) = (chosen.entry.make, chosen.params);
        let generator_params = params.clone();
        Ok(Choice::custom(chosen.entry.name, params, move |setting| make(&generator_params, setting)))
    }

    /// A generator given from outside, such as a plug-in.
    pub fn custom(
        name: &str,
        params: Table,
        make: impl Fn(GeneratorSetting) -> Result<Box<dyn Source>> + Send + Sync + 'static,
    ) -> Self {
        Choice { name: name.to_owned(), params, make: Arc::new(make) }
    }

    /// The generator's requests for a device of `capacity_blocks`.
    ///
    /// # Errors
    /// A device too small for the workload, and the errors of a generator given from outside.
    pub fn build(&self, seed: u64, capacity_blocks: u64) -> Result<Box<dyn Source>> {
        if capacity_blocks == 0 {
            return Err(Error::user("a device without blocks has no room for requests")
                .with_remedy("give the device a capacity of at least one block"));
        }
        (self.make)(GeneratorSetting { seed, capacity_blocks })
    }

    /// Returns the configuration table of this generator with all parameters.
    pub fn to_table(&self) -> Table {
        registry::table(&self.name, &self.params)
    }
}

impl std::fmt::Debug for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Choice")
            .field("name", &self.name)
            .field("params", &self.params)
            .finish_non_exhaustive()
    }
}

/// Builds the generator `name` for a device of `capacity_blocks`.
///
/// Unknown names and keys, values out of range and a device too small for the workload are errors.
///
/// ```
/// let params = toml::from_str("requests = 3\nread_share = 1.0").unwrap();
/// let mut source = sledlab_trace::synthetic::build("uniform", &params, 7, 6_750_000).unwrap();
/// let mut requests = Vec::new();
/// while source.fill(&mut requests).unwrap() > 0 {}
/// assert_eq!(requests.len(), 3);
/// ```
pub fn build(name: &str, params: &Table, seed: u64, capacity_blocks: u64) -> Result<Box<dyn Source>> {
    Choice::new(name, params)?.build(seed, capacity_blocks)
}

/// The requests of a generator as a [`Source`].
struct Stream<G> {
    generator: G,
    /// Number of requests in all; 0: no end.
    requests: u64,
    generated: u64,
}

impl<G> Stream<G> {
    /// Requests per call of [`Source::fill`]: enough that the cost of a call is small, few enough to stay in the cache.
    const CHUNK: u64 = 2048;
}

impl<G: Generator> Source for Stream<G> {
    fn fill(&mut self, requests: &mut Vec<Request>) -> Result<usize> {
        let count = match self.requests {
            0 => Self::CHUNK,
            requests => (requests - self.generated).min(Self::CHUNK),
        };
        requests.extend((0..count).map(|_| self.generator.next()));
        self.generated += count;
        Ok(count as usize)
    }

    fn progress(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.generated as f64 / self.requests as f64)
    }
}

#[cfg(test)]
mod tests;
