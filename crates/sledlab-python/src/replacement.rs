//! Replacement policies, those written in Python included, and hit counts of caches with them.
//!
//! A class named `module:Class` with `hit(key)`, `insert(key)` and `evict(incoming)`, and optionally `prefetch(key)`.
//! The keys that the cache holds are kept here; the interpreter lock is taken for every call.

use std::collections::BTreeSet;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sledlab_core::Error;
use sledlab_core::registry::split_plug_in;
use sledlab_models::replacement::{AccessResult, Choice, CustomPolicy, ReplacementPolicy, Use};
use sledlab_sim::Uses;
use toml::{Table, Value};

use crate::class::{Allowlist, Class, ClassKind, is_plugin};
use crate::error::raise;
use crate::interrupt::signal_checker;
use crate::source::Source;

pub(crate) const KIND: ClassKind = ClassKind {
    name: "replacement policy",
    protocol: "sledlab.ReplacementPolicy",
    methods: &["hit", "insert", "evict"],
};

/// The policy `module:Class`, if it is `allowed`; its parameters and `capacity` are arguments of its constructor.
pub(crate) fn custom_policy(
    py: Python<'_>,
    plugin_name: &str,
    allowed: &Allowlist,
) -> PyResult<CustomPolicy> {
    let class = Class::find(py, KIND, plugin_name, allowed)?;
    Ok(CustomPolicy::new(plugin_name, move |params, capacity| {
        let mut arguments = params.clone();
        arguments.insert("capacity".to_owned(), Value::Integer(i64::try_from(capacity).unwrap_or(i64::MAX)));
        let policy = class.make(&arguments)?;
        let keys = BTreeSet::new();
        Ok(Box::new(PythonPolicy {
            class: class.clone(),
            policy,
            keys,
            capacity,
            has_failed: false,
            failure: None,
        }))
    }))
}

/// Returns the policy `word`; a plug-in must be allowed.
pub(crate) fn parse_choice(py: Python<'_>, word: &str, allowed: &Allowlist) -> PyResult<Choice> {
    let name = split_plug_in("replacement", word, &mut Table::new()).map_err(raise)?;
    let plug_in = is_plugin(&name).then(|| custom_policy(py, &name, allowed)).transpose()?;
    Choice::parse_among(word, plug_in.as_slice()).map_err(raise)
}

struct PythonPolicy {
    class: Class,
    policy: Py<PyAny>,
    /// The keys that the cache holds.
    keys: BTreeSet<u64>,
    capacity: usize,
    /// Whether the policy has failed; then none of its methods is called again.
    has_failed: bool,
    failure: Option<Error>,
}

impl PythonPolicy {
    /// The result of a method; none once the policy has failed.
    fn call<T>(&mut self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Option<T> {
        if self.has_failed {
            return None;
        }
        let returned = self.class.call(|py| call(self.policy.bind(py)));
        returned
            .map_err(|error| {
                self.has_failed = true;
                self.failure = Some(error);
            })
            .ok()
    }

    /// Inserts a key with `method`; a full cache evicts another key for it.
    fn insert(&mut self, key: u64, method: &str) -> Option<u64> {
        let victim = if self.keys.len() == self.capacity { self.evict(key) } else { None };
        self.call(|policy| policy.call_method1(method, (key,)).map(|_| ()));
        self.keys.insert(key);
        victim
    }

    /// Evicts the key that the policy selects for `incoming`, which must be in the cache, and returns it.
    fn evict(&mut self, incoming: u64) -> Option<u64> {
        let keys = std::mem::take(&mut self.keys);
        let chosen = self.call(|policy| {
            let chosen: u64 = policy.call_method1("evict", (incoming,))?.extract()?;
            if keys.contains(&chosen) {
                return Ok(chosen);
            }
            Err(PyValueError::new_err(format!("evict must return a key that the cache holds, not {chosen}")))
        });
        self.keys = keys;
        let victim = chosen.or_else(|| self.keys.first().copied());
        if let Some(victim) = victim {
            self.keys.remove(&victim);
        }
        victim
    }
}

impl ReplacementPolicy for PythonPolicy {
    fn access(&mut self, access: Use) -> AccessResult {
        let key = access.key;
        if self.keys.contains(&key) {
            self.call(|policy| policy.call_method1("hit", (key,)).map(|_| ()));
            return AccessResult::Hit;
        }
        AccessResult::Miss { victim: self.insert(key, "insert") }
    }

    fn prefetch(&mut self, key: u64) -> Option<u64> {
        let has_method = self.call(|policy| policy.hasattr("prefetch")).unwrap_or_default();
        self.insert(key, if has_method { "prefetch" } else { "insert" })
    }

    fn holds(&self, key: u64) -> bool {
        self.keys.contains(&key)
    }

    fn len(&self) -> usize {
        self.keys.len()
    }

    fn failure(&mut self) -> Option<Error> {
        self.failure.take()
    }
}

/// Rejects an unknown replacement policy, and a plug-in that is not among the allowed `plugins`;
/// `word` is `name:key=value` or `module:Class:key=value`.
#[pyfunction]
#[pyo3(signature = (word, plugins))]
pub(crate) fn check_replacement(py: Python<'_>, word: &str, plugins: Option<Vec<String>>) -> PyResult<()> {
    parse_choice(py, word, &Allowlist::new(plugins))?.make(1).map(|_| ()).map_err(raise)
}

/// The uses of segments by a workload.
#[pyclass(module = "sledlab._native", frozen)]
pub(crate) struct SegmentUses(Uses);

#[pymethods]
impl SegmentUses {
    /// Reads a source to its end. Unless the caches admit reads, only writes enter them.
    #[new]
    #[pyo3(signature = (source, segment_blocks, admits_reads=true))]
    fn new(py: Python<'_>, source: &Source, segment_blocks: u64, admits_reads: bool) -> PyResult<Self> {
        let mut source = source.take()?;
        py.detach(move || Uses::from_source(source.as_mut(), segment_blocks.max(1), &mut signal_checker()))
            .map(|uses| SegmentUses(if admits_reads { uses } else { uses.admitting_only_writes() }))
            .map_err(raise)
    }

    /// Number of different segments.
    #[getter]
    fn segments(&self) -> usize {
        self.0.segments()
    }

    /// Number of uses of segments.
    #[getter]
    fn count(&self) -> u64 {
        self.0.count()
    }

    /// Samples of the segments with all their uses: `count` of them, each with the share `rate` of all segments.
    #[pyo3(signature = (count, rate, seed))]
    fn samples(&self, py: Python<'_>, count: usize, rate: f64, seed: u64) -> PyResult<Vec<SegmentUses>> {
        let samples = py.detach(move || self.0.samples(count, rate, seed, &mut signal_checker()));
        Ok(samples.map_err(raise)?.into_iter().map(SegmentUses).collect())
    }

    /// Hits of caches, each given as (policy, capacity in segments), as JSON; `plugins` are those that may run.
    #[pyo3(signature = (caches, plugins, counts_destages=false))]
    fn hits(
        &self,
        py: Python<'_>,
        caches: Vec<(String, usize)>,
        plugins: Option<Vec<String>>,
        counts_destages: bool,
    ) -> PyResult<String> {
        let allowed = Allowlist::new(plugins);
        let parse = |(word, capacity): &(String, usize)| Ok((parse_choice(py, word, &allowed)?, *capacity));
        let caches = caches.iter().map(parse).collect::<PyResult<Vec<_>>>()?;
        let work = move || {
            let hits = self.0.hits(&caches, counts_destages, &mut signal_checker())?;
            serde_json::to_string(&hits)
                .map_err(|error| Error::internal(format!("cannot write hits as JSON: {error}")))
        };
        py.detach(work).map_err(raise)
    }
}
