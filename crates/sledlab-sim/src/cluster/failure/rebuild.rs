//! Rebuilds the files of failed nodes on spares while the job continues.

use sledlab_trace::work::{FileAccess, NodeStep, PageOrder, Work};

use super::layout::CopyLayout;
use super::script::{FailureTime, Script};

/// A file of a failed node, or its copy of one, that another node has as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LostFile {
    source: usize,
    source_file: usize,
    spare: usize,
    spare_file: usize,
    pub bytes: u64,
}

/// Returns all files and copies of failed nodes at the time of the failure. The spare of the first failed node is the
/// first node after those of the record, and so on.
///
/// Bytes written in the phase of the failure, or later, are not on a failed node.
pub(super) fn lost_files(work: &Work, layout: &CopyLayout, when: FailureTime) -> Vec<LostFile> {
    let first = match when {
        FailureTime::After => return Vec::new(),
        FailureTime::Before(phase) | FailureTime::In(phase, ..) | FailureTime::Copying(phase) => phase,
    };
    let mut all = Vec::new();
    for (index, failed) in layout.failed_nodes().enumerate() {
        let spare = work.nodes + index;
        for own in 0..work.files.len() {
            let copy = work.files.len() + own;
            let share = layout.holder(failed).map(|holder| (failed, holder, copy, own));
            let stored = layout.copied_share(failed).map(|share| (share, share, own, copy));
            for (share, source, source_file, spare_file) in share.into_iter().chain(stored) {
                let bytes = existing_bytes(work, own, share, first);
                all.push(LostFile { source, source_file, spare, spare_file, bytes });
            }
        }
    }
    all.retain(|each| each.bytes > 0);
    all
}

/// Returns the bytes of a node's share of a file before a phase: all except those written in that phase or later.
fn existing_bytes(work: &Work, file: usize, share: usize, phase: usize) -> u64 {
    let size = work.files[file].bytes[share];
    let writes = work.phases[phase..].iter().flat_map(|phase| &phase.steps[share].writes);
    let later =
        writes.filter(|access| access.file == file).fold(0_u64, |sum, each| sum.saturating_add(each.bytes));
    size.saturating_sub(later)
}

/// Returns the bytes to rebuild in each phase.
///
/// Each phase rebuilds as many bytes as `rate` (bytes/ns) allows during the phase. A phase takes `base` ns and `slope`
/// ns more for each rebuilt byte, because stores and network also do the work of the job. If they are slower than the
/// rate, all remaining bytes are rebuilt in that phase, as fast as stores and network can.
pub(super) fn phase_bytes(total: u64, rate: f64, first: usize, base: &[u64], slope: &[f64]) -> Vec<u64> {
    let mut left = total;
    let of_phase = |(index, (base, slope)): (usize, (&u64, &f64))| {
        let remaining_share = 1.0 - rate * slope.max(0.0);
        let bytes = match () {
            () if index < first => 0,
            () if remaining_share <= 0.0 => left,
            () => ((rate * *base as f64 / remaining_share) as u64).min(left),
        };
        left -= bytes;
        bytes
    };
    base.iter().zip(slope).enumerate().map(of_phase).collect()
}

/// Returns the job with `amounts` bytes rebuilt in each phase, of each lost file in proportion to its size.
pub(super) fn work_with_rebuild(script: &Script, lost: &[LostFile], amounts: &[u64]) -> Work {
    let mut work = script.work.clone();
    let total: u64 = lost.iter().map(|each| each.bytes).sum();
    let mut done = 0;
    for (phase, amount) in work.phases.iter_mut().zip(amounts) {
        let upto =
            |bytes: u64, done: u64| (u128::from(bytes) * u128::from(done) / u128::from(total.max(1))) as u64;
        for each in lost {
            let bytes = upto(each.bytes, done + amount) - upto(each.bytes, done);
            if bytes > 0 {
                let access = |file| FileAccess {
                    file,
                    bytes,
                    order: PageOrder::Sequential,
                    per_block_of: None,
                    is_background: true,
                };
                let source = &mut phase.steps[each.source];
                source.reads.push(access(each.source_file));
                send(source, each.spare as u32, bytes);
                phase.steps[each.spare].writes.push(access(each.spare_file));
            }
        }
        done += amount;
    }
    work
}

/// Returns the bytes that are rebuilt in a job: all bytes written by spares.
pub(super) fn rebuilt_bytes(work: &Work, script: &Script) -> u64 {
    let written = |work: &Work| -> u64 {
        let steps = work.phases.iter().flat_map(|phase| &phase.steps);
        steps.flat_map(|step| &step.writes).map(|access| access.bytes).sum()
    };
    written(work) - written(&script.work)
}

/// Adds to the bytes that a step sends to a port.
fn send(step: &mut NodeStep, port: u32, bytes: u64) {
    match step.sends.binary_search_by_key(&port, |(port, _)| *port) {
        Ok(place) => step.sends[place].1 += bytes,
        Err(place) => step.sends.insert(place, (port, bytes)),
    }
}

/// Returns when the last byte is rebuilt, in ns. That is either in a phase, of which `added` ns are due to the rebuild,
/// or after the last phase, at `rate`.
pub(super) fn finish_ns(amounts: &[u64], phases: &[(u64, u64, u64)], total: u64, rate: f64) -> u64 {
    let mut left = total;
    let mut end = 0;
    for (amount, (start, lasts, added)) in amounts.iter().zip(phases) {
        left -= amount;
        end = start + lasts;
        if left == 0 && *amount > 0 {
            return start + (*added).max((*amount as f64 / rate) as u64).min(*lasts);
        }
    }
    end + (left as f64 / rate).ceil() as u64
}
