//! Replacement policies and how often they hit.

use pyo3::prelude::*;
use sledlab_core::{Error, Result};
use sledlab_models::replacement::Choice;
use sledlab_sim::Uses;

use crate::error::raise;
use crate::interrupt::watch;
use crate::source::Source;

/// Refuses a replacement policy that does not exist; `word` is `name:key=value`.
#[pyfunction]
pub(crate) fn check_replacement(word: &str) -> PyResult<()> {
    Choice::parse(word).map(|_| ()).map_err(raise)
}

/// The uses of segments by a workload.
#[pyclass(module = "sledlab._native", frozen)]
pub(crate) struct SegmentUses(Uses);

#[pymethods]
impl SegmentUses {
    /// Reads a source to its end.
    #[new]
    fn new(py: Python<'_>, source: &Source, segment_blocks: u64) -> PyResult<Self> {
        let mut source = source.take()?;
        py.detach(move || Uses::of(source.as_mut(), segment_blocks.max(1), &mut watch()))
            .map(SegmentUses)
            .map_err(raise)
    }

    /// Number of different segments.
    #[getter]
    fn segments(&self) -> usize {
        self.0.segments()
    }

    /// Hits of caches given as (policy, room in segments), as JSON.
    fn hits(&self, py: Python<'_>, caches: Vec<(String, usize)>) -> PyResult<String> {
        let work = move || {
            let parse = |(word, room): &(String, usize)| Ok((Choice::parse(word)?, *room));
            let caches = caches.iter().map(parse).collect::<Result<Vec<_>>>()?;
            let hits = self.0.hits(&caches, &mut watch())?;
            serde_json::to_string(&hits)
                .map_err(|error| Error::internal(format!("cannot write hits as JSON: {error}")))
        };
        py.detach(work).map_err(raise)
    }
}
