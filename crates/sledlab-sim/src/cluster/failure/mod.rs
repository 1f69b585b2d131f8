//! Redundant copies of files on other nodes, and failures of nodes.
//!
//! A failure is a pure transformation of the record: [`layout`] assigns copies and work to nodes, [`steps`] rewrites a
//! phase for the nodes that do its work, [`script`] assembles the phases before and after the failure, and [`rebuild`]
//! adds the bytes written to spares. The engine replays the resulting record.

mod layout;
mod rebuild;
mod script;
mod steps;
#[cfg(test)]
mod tests;

pub use layout::{CopyLayout, FailedNodes, Part, Redundancy};

use sledlab_core::Result;
use sledlab_trace::work::Work;

use super::config::ResolvedExperiment;
use super::outcome::{ClusterOutcome, FailureOutcome, RebuildOutcome};
use super::params::ClusterParams;
use rebuild::LostFile;
use script::{FailureTime, Script};

/// Replays a record once on the nodes of an experiment.
type ReplayFunction<'a> = &'a mut dyn FnMut(&ResolvedExperiment, &Work) -> Result<ClusterOutcome>;

/// Additional replays that determine the bytes rebuilt in each phase.
const REBUILD_ROUNDS: usize = 3;
/// Resolution of the time of failure: equal parts of a phase.
const PHASE_PARTS: u64 = 1 << 20;
/// Maximum number of nodes for which the outcome contains the traffic matrix.
const MAX_TRAFFIC: usize = 1024;

/// Maximum number of replays of a record for one outcome.
pub(super) fn replay_count(params: &ClusterParams) -> usize {
    let has_failures = !params.failed.0.is_empty();
    1 + usize::from(has_failures && params.failed_at_s > 0.0)
        + if has_failures && params.rebuild_mb_s > 0.0 { REBUILD_ROUNDS } else { 0 }
}

/// Replays a record on nodes that may have copies and may fail.
///
/// # Errors
/// The errors of the replays; overflow of sums.
pub(super) fn replay_with_failures(
    resolved: &ResolvedExperiment,
    work: &Work,
    replay: ReplayFunction,
) -> Result<ClusterOutcome> {
    let params = &resolved.params;
    if params.redundancy == Redundancy::None {
        return replay(resolved, work);
    }
    let failed = &params.failed.0;
    let page_bytes = resolved.page_bytes_of_nodes();
    let layout = CopyLayout::new(params.redundancy, work.nodes, failed)?;
    let mut failed_at = FailureTime::Before(0);
    if failed.is_empty() || params.failed_at_s > 0.0 {
        let script = Script::new(work, &layout.without_failures(), FailureTime::After, &page_bytes, &[])?;
        let mut outcome = replay(resolved, &script.work)?;
        failed_at = if failed.is_empty() {
            FailureTime::After
        } else {
            failure_time(&script, &outcome, params.failed_at_s * 1e9)
        };
        if failed_at == FailureTime::After {
            outcome.failure = Some(failure_outcome(params, work, &script, &outcome, failed_at));
            return Ok(outcome);
        }
    }
    let spares = if params.rebuild_mb_s > 0.0 { &failed[..] } else { &[] };
    let script = Script::new(work, &layout, failed_at, &page_bytes, spares)?;
    let mut resolved = resolved.clone();
    for failed in spares {
        resolved.kind_indices.push(resolved.kind_indices[*failed]);
    }
    resolved.phases_before_failure =
        failed.iter().map(|failed| (*failed, script.phases_before_detection)).collect();
    let first = replay(&resolved, &script.work)?;
    if spares.is_empty() {
        let failure = failure_outcome(params, work, &script, &first, failed_at);
        return Ok(ClusterOutcome { failure: Some(failure), ..first });
    }
    let lost_files = rebuild::lost_files(work, &layout, failed_at);
    let rate = params.rebuild_mb_s * 1e6 / 1e9;
    let (outcome, rebuild, rebuild_work) =
        replay_with_rebuild(&script, &lost_files, rate, first, &mut |work| replay(&resolved, work))?;
    let failure = FailureOutcome {
        spares: spares.len(),
        rebuild: Some(rebuild),
        traffic: traffic(&rebuild_work),
        ..failure_outcome(params, work, &script, &outcome, failed_at)
    };
    Ok(ClusterOutcome { failure: Some(failure), ..outcome })
}

/// Replays a script while the lost files are rebuilt at a rate, in bytes/ns. The bytes rebuilt in a phase depend on its
/// duration, and the duration depends on the bytes. A few iterations determine both, starting with the replay `first`,
/// which rebuilds nothing.
fn replay_with_rebuild(
    script: &Script,
    lost_files: &[LostFile],
    rate: f64,
    first: ClusterOutcome,
    replay: &mut dyn FnMut(&Work) -> Result<ClusterOutcome>,
) -> Result<(ClusterOutcome, RebuildOutcome, Work)> {
    let total: u64 = lost_files.iter().map(|file| file.bytes).sum();
    let base: Vec<u64> = phase_times(script, &first).map(|(_, duration)| duration).collect();
    let mut amounts = vec![0; base.len()];
    let (mut outcome, mut work) = (first, script.work.clone());
    for _ in 0..REBUILD_ROUNDS {
        let slope: Vec<f64> = phase_times(script, &outcome)
            .zip(base.iter().zip(&amounts))
            .map(|((_, duration), (base, bytes))| (duration as f64 - *base as f64) / (*bytes).max(1) as f64)
            .collect();
        amounts = rebuild::phase_bytes(total, rate, script.phases_before_detection, &base, &slope);
        work = rebuild::work_with_rebuild(script, lost_files, &amounts);
        outcome = replay(&work)?;
    }
    let phases: Vec<(u64, u64, u64)> = phase_times(script, &outcome)
        .zip(&base)
        .map(|((start, duration), base)| (start, duration, duration.saturating_sub(*base)))
        .collect();
    let rebuild = RebuildOutcome {
        bytes: total,
        job_bytes: rebuild::rebuilt_bytes(&work, script),
        finished_ns: rebuild::finish_ns(&amounts, &phases, total, rate),
    };
    Ok((outcome, rebuild, work))
}

/// Returns the begin and the duration of each phase of a script, in ns.
fn phase_times<'a>(
    script: &Script,
    outcome: &'a ClusterOutcome,
) -> impl Iterator<Item = (u64, u64)> + use<'a> {
    // A start-up phase may precede the phases of the record.
    let startup = outcome.phases.len() - script.work.phases.len();
    outcome.phases[startup..].iter().map(|phase| (phase.start_ns, phase.end_ns - phase.start_ns))
}

/// Converts the time `at`, in ns, to a position in the phases of a job without failures.
fn failure_time(script: &Script, outcome: &ClusterOutcome, at_ns: f64) -> FailureTime {
    for ((phase, is_copying), (start, duration)) in script.origins.iter().zip(phase_times(script, outcome)) {
        let elapsed = at_ns - start as f64;
        if elapsed >= duration as f64 {
            continue;
        }
        return match is_copying {
            true => FailureTime::Copying(*phase),
            false if elapsed <= 0.0 => FailureTime::Before(*phase),
            false => {
                FailureTime::In(*phase, (elapsed / duration as f64 * PHASE_PARTS as f64) as u64, PHASE_PARTS)
            }
        };
    }
    FailureTime::After
}

fn failure_outcome(
    params: &ClusterParams,
    work: &Work,
    script: &Script,
    outcome: &ClusterOutcome,
    failed_at: FailureTime,
) -> FailureOutcome {
    let copying = script.work.phases.iter().zip(&script.origins).filter(|(_, (_, is_copying))| *is_copying);
    let copy_writes = copying.flat_map(|(phase, _)| &phase.steps).flat_map(|step| &step.writes);
    let phase = match failed_at {
        FailureTime::After => None,
        FailureTime::Before(phase) | FailureTime::In(phase, ..) | FailureTime::Copying(phase) => {
            work.phases.get(phase)
        }
    };
    let detected_ns = phase_times(script, outcome)
        .map(|(start, _)| start)
        .nth(script.phases_before_detection)
        .unwrap_or(outcome.elapsed_ns);
    FailureOutcome {
        redundancy: params.redundancy.word(),
        failed: if failed_at == FailureTime::After { Vec::new() } else { params.failed.0.clone() },
        phase: phase.map(|phase| phase.name.clone()),
        detected_ns: phase.map(|_| detected_ns),
        copied_bytes: copy_writes.map(|access| access.bytes).sum(),
        spares: 0,
        rebuild: None,
        traffic: traffic(&script.work),
    }
}

/// Returns the bytes that each node sends to each other node and, in the last column, to the client; empty for more
/// than [`MAX_TRAFFIC`] nodes.
fn traffic(work: &Work) -> Vec<Vec<u64>> {
    if work.nodes > MAX_TRAFFIC {
        return Vec::new();
    }
    let mut rows = vec![vec![0_u64; work.nodes + 1]; work.nodes];
    for phase in &work.phases {
        for (from, step) in phase.steps.iter().enumerate() {
            for (to, bytes) in step.remote_sends(from) {
                rows[from][to as usize] = rows[from][to as usize].saturating_add(bytes);
            }
        }
    }
    rows
}
