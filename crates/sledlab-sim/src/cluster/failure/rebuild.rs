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
pub(super) fn lost_files(work: &Work, layout: &CopyLayout, failed_at: FailureTime) -> Vec<LostFile> {
    let first = match failed_at {
        FailureTime::After => return Vec::new(),
        FailureTime::Before(phase) | FailureTime::In(phase, ..) | FailureTime::Copying(phase) => phase,
    };
    let mut lost_files = Vec::new();
    for (index, failed) in layout.failed_nodes().enumerate() {
        let spare = work.nodes + index;
        for file in 0..work.files.len() {
            let copy_file = work.files.len() + file;
            let own_share = layout.holder(failed).map(|holder| (failed, holder, copy_file, file));
            let stored_copy = layout.copied_share(failed).map(|share| (share, share, file, copy_file));
            for (share, source, source_file, spare_file) in own_share.into_iter().chain(stored_copy) {
                let bytes = existing_bytes(work, file, share, first);
                lost_files.push(LostFile { source, source_file, spare, spare_file, bytes });
            }
        }
    }
    lost_files.retain(|file| file.bytes > 0);
    lost_files
}

/// Returns the bytes of a node's share of a file before a phase: all except those written in that phase or later.
fn existing_bytes(work: &Work, file: usize, share: usize, phase: usize) -> u64 {
    let size = work.files[file].bytes[share];
    let writes = work.phases[phase..].iter().flat_map(|phase| &phase.steps[share].writes);
    let written_later = writes
        .filter(|access| access.file == file)
        .fold(0_u64, |sum, access| sum.saturating_add(access.bytes));
    size.saturating_sub(written_later)
}

/// Returns the bytes to rebuild in each phase.
///
/// Each phase rebuilds as many bytes as `rate` (bytes/ns) allows during the phase. A phase takes `base` ns and `slope`
/// ns more for each rebuilt byte, because stores and network also do the work of the job. If they are slower than the
/// rate, all remaining bytes are rebuilt in that phase, as fast as stores and network can.
pub(super) fn phase_bytes(total: u64, rate: f64, first: usize, base: &[u64], slope: &[f64]) -> Vec<u64> {
    let mut remaining_bytes = total;
    let bytes_in_phase = |(index, (base, slope)): (usize, (&u64, &f64))| {
        let remaining_share = 1.0 - rate * slope.max(0.0);
        let bytes = match () {
            () if index < first => 0,
            () if remaining_share <= 0.0 => remaining_bytes,
            () => ((rate * *base as f64 / remaining_share) as u64).min(remaining_bytes),
        };
        remaining_bytes -= bytes;
        bytes
    };
    base.iter().zip(slope).enumerate().map(bytes_in_phase).collect()
}

/// Returns the job with `amounts` bytes rebuilt in each phase, of each lost file in proportion to its size.
pub(super) fn work_with_rebuild(script: &Script, lost_files: &[LostFile], amounts: &[u64]) -> Work {
    let mut work = script.work.clone();
    let total: u64 = lost_files.iter().map(|file| file.bytes).sum();
    let mut rebuilt = 0;
    for (phase, amount) in work.phases.iter_mut().zip(amounts) {
        let rebuilt_until = |bytes: u64, rebuilt: u64| {
            (u128::from(bytes) * u128::from(rebuilt) / u128::from(total.max(1))) as u64
        };
        for file in lost_files {
            let bytes = rebuilt_until(file.bytes, rebuilt + amount) - rebuilt_until(file.bytes, rebuilt);
            if bytes > 0 {
                let access = |file| FileAccess {
                    file,
                    bytes,
                    order: PageOrder::Sequential,
                    per_block_of: None,
                    is_background: true,
                };
                let source = &mut phase.steps[file.source];
                source.reads.push(access(file.source_file));
                send(source, file.spare as u32, bytes);
                phase.steps[file.spare].writes.push(access(file.spare_file));
            }
        }
        rebuilt += amount;
    }
    work
}

/// Returns the bytes that are rebuilt in a job: all bytes written by spares.
pub(super) fn rebuilt_bytes(work: &Work, script: &Script) -> u64 {
    let written_bytes = |work: &Work| -> u64 {
        let steps = work.phases.iter().flat_map(|phase| &phase.steps);
        steps.flat_map(|step| &step.writes).map(|access| access.bytes).sum()
    };
    written_bytes(work) - written_bytes(&script.work)
}

/// Adds to the bytes that a step sends to a port.
fn send(step: &mut NodeStep, port: u32, bytes: u64) {
    match step.sends.binary_search_by_key(&port, |(port, _)| *port) {
        Ok(index) => step.sends[index].1 += bytes,
        Err(index) => step.sends.insert(index, (port, bytes)),
    }
}

/// Returns when the last byte is rebuilt, in ns. That is either in a phase, of which `added` ns are due to the rebuild,
/// or after the last phase, at `rate`.
pub(super) fn finish_ns(amounts: &[u64], phases: &[(u64, u64, u64)], total: u64, rate: f64) -> u64 {
    let mut remaining_bytes = total;
    let mut end = 0;
    for (amount, (start, duration, added)) in amounts.iter().zip(phases) {
        remaining_bytes -= amount;
        end = start + duration;
        if remaining_bytes == 0 && *amount > 0 {
            return start + (*added).max((*amount as f64 / rate) as u64).min(*duration);
        }
    }
    end + (remaining_bytes as f64 / rate).ceil() as u64
}
