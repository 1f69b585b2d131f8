//! The record of a job whose nodes have redundant copies, and of which some fail.

use sledlab_core::Result;
use sledlab_trace::work::{Phase, Work};

use super::layout::{CopyLayout, Part, receivers};
use super::steps::{copy_phase, divide_phase, files, remaining_phase};

/// The time of a failure, as a position in the phases of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailureTime {
    /// After the job, or never.
    After,
    /// Before this phase begins.
    Before(usize),
    /// In a phase: its index, the number of its completed equal parts, and the number of its parts.
    In(usize, u64, u64),
    /// While the data written in this phase are being copied.
    Copying(usize),
}

/// The job as executed by nodes with redundant copies.
pub(super) struct Script {
    pub work: Work,
    /// For each phase, the corresponding phase of the record, and whether it copies the data written in that phase.
    pub origins: Vec<(usize, bool)>,
    /// Number of phases before the failure is detected.
    pub phases_before_detection: usize,
}

impl Script {
    /// Returns the job of a record on nodes of which some fail; a spare for each of `spares` follows the nodes.
    ///
    /// A phase in which nodes fail is split: all nodes do the same proportion of their steps, then the survivors do the
    /// rest. The work of the failed nodes in that phase, and the messages they received, are lost; the nodes with their
    /// copies repeat the work. Data written in earlier phases have been copied by then.
    ///
    /// # Errors
    /// Overflow of sums.
    pub fn new(
        work: &Work,
        layout: &CopyLayout,
        failed_at: FailureTime,
        page_bytes: &[u64],
        spares: &[usize],
    ) -> Result<Script> {
        let machines = work.nodes + spares.len();
        let files = files(work, layout, spares);
        let mut script = Script {
            work: Work { nodes: machines, files, phases: Vec::new(), ..work.clone() },
            origins: Vec::new(),
            phases_before_detection: usize::MAX,
        };
        let healthy = layout.without_failures();
        let (before, after) = (healthy.parts(), layout.parts());
        for (index, phase) in work.phases.iter().enumerate() {
            let divided_phase = |parts: &[Vec<Part>], layout: &CopyLayout| -> Result<[Option<Phase>; 2]> {
                let divided = divide_phase(work, phase, parts, &receivers(parts), machines)?;
                Ok([Some(divided), copy_phase(work, phase, parts, layout, machines, page_bytes)?])
            };
            match failed_at {
                FailureTime::Before(first) if index >= first => {
                    script.phases_before_detection = script.phases_before_detection.min(script.origins.len());
                    script.extend(index, divided_phase(&after, layout)?);
                }
                FailureTime::In(failure_phase, completed, total) if index == failure_phase => {
                    let parts = parts_before_failure(layout, completed, total);
                    let local_phase = without_collectives(phase);
                    script.extend(
                        index,
                        [Some(divide_phase(work, &local_phase, &parts, &before, machines)?), None],
                    );
                    script.phases_before_detection = script.origins.len();
                    let resumed = layout.resumed_parts(completed, total);
                    let remaining =
                        remaining_phase(work, phase, (completed, total), &resumed, layout, machines)?;
                    let writers = written_parts(layout, parts, resumed);
                    let copies = copy_phase(work, phase, &writers, layout, machines, page_bytes)?;
                    script.extend(index, [Some(remaining), copies]);
                }
                FailureTime::Copying(failure_phase) if index == failure_phase => {
                    script.extend(index, divided_phase(&before, &healthy)?);
                    script.phases_before_detection = script.origins.len();
                    // All steps are done, but the data written by the failed nodes are not copied yet and are lost.
                    let local_phase = without_collectives(phase);
                    let remaining = remaining_phase(
                        work,
                        &local_phase,
                        (1, 1),
                        &layout.resumed_parts(1, 1),
                        layout,
                        machines,
                    )?;
                    script.extend(index, [Some(remaining), None]);
                }
                FailureTime::In(failure_phase, ..) | FailureTime::Copying(failure_phase)
                    if index > failure_phase =>
                {
                    script.extend(index, divided_phase(&after, layout)?);
                }
                _ => script.extend(index, divided_phase(&before, &healthy)?),
            }
        }
        script.phases_before_detection = script.phases_before_detection.min(script.origins.len());
        Ok(script)
    }

    fn extend(&mut self, origin: usize, phases: [Option<Phase>; 2]) {
        for (is_copying, phase) in [false, true].into_iter().zip(phases) {
            if let Some(phase) = phase {
                self.work.phases.push(phase);
                self.origins.push((origin, is_copying));
            }
        }
    }
}

fn without_collectives(phase: &Phase) -> Phase {
    Phase { collectives: Vec::new(), ..phase.clone() }
}

/// Every node works on its own share, up to `completed / total` of it.
fn parts_before_failure(layout: &CopyLayout, completed: u64, total: u64) -> Vec<Vec<Part>> {
    let part = |share| Part { machine: share, is_copy: false, start: 0, end: completed, total };
    (0..layout.nodes()).map(|share| vec![part(share)]).collect()
}

/// The writers whose data exist at the end of a split phase: survivors before the failure, and all nodes after it.
fn written_parts(layout: &CopyLayout, before: Vec<Vec<Part>>, after: Vec<Vec<Part>>) -> Vec<Vec<Part>> {
    let existing_parts = |(share, (before, after)): (usize, (Vec<Part>, Vec<Part>))| {
        let is_lost = layout.has_failed(share);
        before.into_iter().filter(|_| !is_lost).chain(after).collect()
    };
    before.into_iter().zip(after).enumerate().map(existing_parts).collect()
}
