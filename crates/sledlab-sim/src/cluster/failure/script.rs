//! The record of a job whose nodes hold copies of each other's files, and of which some fail.

use sledlab_core::Result;
use sledlab_trace::work::{Phase, Work};

use super::layout::{CopyLayout, Part, takers};
use super::steps::{copied, files, rest, shared};

/// When nodes fail, by the phases of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// After the job, if at all.
    After,
    /// Before this phase begins.
    Before(usize),
    /// In this phase, of which so much of so much is over.
    In(usize, u64, u64),
    /// While what was written in this phase is copied.
    Copying(usize),
}

/// A job as its nodes do it.
pub(super) struct Script {
    pub work: Work,
    /// For each phase, the one of the record that it belongs to, and whether what was written in that is copied.
    pub origins: Vec<(usize, bool)>,
    /// Phases before nodes are known to have failed.
    pub noticed: usize,
}

impl Script {
    /// The job of a record on nodes of which some fail; a spare for each of `spares` follows them.
    ///
    /// A phase in which nodes fail is cut in two: all do the same proportion of their steps, and then the rest, without
    /// those that failed. What these have done and got in the phase is lost, and done again by who holds copies. What was
    /// written in earlier phases was copied by then.
    ///
    /// # Errors
    /// Sums that no longer fit.
    pub fn new(
        work: &Work,
        layout: &CopyLayout,
        when: When,
        page_bytes: u64,
        spares: &[usize],
    ) -> Result<Script> {
        let machines = work.nodes + spares.len();
        let files = files(work, layout, spares);
        let mut script = Script {
            work: Work { nodes: machines, files, phases: Vec::new(), ..work.clone() },
            origins: Vec::new(),
            noticed: usize::MAX,
        };
        let healthy = layout.healthy();
        let (before, after) = (healthy.parts(), layout.parts());
        for (index, phase) in work.phases.iter().enumerate() {
            let ordinary = |parts: &[Vec<Part>], layout: &CopyLayout| -> Result<[Option<Phase>; 2]> {
                let itself = shared(work, phase, parts, &takers(parts), machines)?;
                Ok([Some(itself), copied(work, phase, parts, layout, machines, page_bytes)?])
            };
            match when {
                When::Before(first) if index >= first => {
                    script.noticed = script.noticed.min(script.origins.len());
                    script.extend(index, ordinary(&after, layout)?);
                }
                When::In(during, done, of) if index == during => {
                    let parts = all_do(layout, done, of);
                    let alone = without_collectives(phase);
                    script.extend(index, [Some(shared(work, &alone, &parts, &before, machines)?), None]);
                    script.noticed = script.origins.len();
                    let resumed = layout.resumed(done, of);
                    let rest = rest(work, phase, (done, of), &resumed, layout, machines)?;
                    let written = written(layout, parts, resumed);
                    let copies = copied(work, phase, &written, layout, machines, page_bytes)?;
                    script.extend(index, [Some(rest), copies]);
                }
                When::Copying(during) if index == during => {
                    script.extend(index, ordinary(&before, &healthy)?);
                    script.noticed = script.origins.len();
                    // All is done, but what those that failed have written is not copied, and so is lost.
                    let alone = without_collectives(phase);
                    let rest = rest(work, &alone, (1, 1), &layout.resumed(1, 1), layout, machines)?;
                    script.extend(index, [Some(rest), None]);
                }
                When::In(during, ..) | When::Copying(during) if index > during => {
                    script.extend(index, ordinary(&after, layout)?);
                }
                _ => script.extend(index, ordinary(&before, &healthy)?),
            }
        }
        script.noticed = script.noticed.min(script.origins.len());
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

/// Every node at the same proportion of its own share.
fn all_do(layout: &CopyLayout, done: u64, of: u64) -> Vec<Vec<Part>> {
    let part = |share| Part { machine: share, is_copy: false, from: 0, to: done, of };
    (0..layout.nodes()).map(|share| vec![part(share)]).collect()
}

/// Whose writes of a phase that is cut are there at its end: those from before that are not lost, and those after.
fn written(layout: &CopyLayout, before: Vec<Vec<Part>>, after: Vec<Vec<Part>>) -> Vec<Vec<Part>> {
    let both = |(share, (before, after)): (usize, (Vec<Part>, Vec<Part>))| {
        let is_lost = layout.has_failed(share);
        before.into_iter().filter(|_| !is_lost).chain(after).collect()
    };
    before.into_iter().zip(after).enumerate().map(both).collect()
}
