//! Replay of work records on clusters.

use std::io::Cursor;

use sledlab_core::Result;
use sledlab_sim::cluster::{ClusterExperiment, ClusterHooks};
use sledlab_trace::work::Work;

use crate::answer::Answer;

/// Replays a work record on a cluster with changed settings, and returns the outcome.
pub(crate) fn replay(
    name: &str,
    toml: &str,
    settings: &[(String, String)],
    record: Vec<u8>,
) -> Result<Answer> {
    let mut experiment = ClusterExperiment::from_toml(name, toml)?;
    for (key, value) in settings {
        experiment.set(key, value)?;
    }
    let work = Work::parse("record.work", Cursor::new(record))?;
    Answer::from_json(&experiment.run(&work, ClusterHooks { threads: 1, ..ClusterHooks::default() })?)
}
