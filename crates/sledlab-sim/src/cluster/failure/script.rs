//! The record of a job whose nodes hold copies of each other's files, and of which some fail.

use sledlab_core::Result;
use sledlab_trace::work::{Phase, Work};

use super::layout::{Layout, Part};
use super::steps::{again, copied, files, shared};

/// When nodes fail, by the phases of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// After the job, if at all.
    After,
    /// Before this phase begins.
    Before(usize),
    /// In this phase, of which so many of so many ns are over.
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
    /// A phase in which nodes fail ends as usual, but for their part of it: what they have done of it by then, and what
    /// they were sent, is lost, and those who hold copies do all of it again. Collectives wait for that. Work that was
    /// done is not moved; from the next phase on the work is shared anew.
    ///
    /// # Errors
    /// Sums that no longer fit.
    pub fn new(
        work: &Work,
        layout: &Layout,
        when: When,
        page_bytes: u64,
        spares: &[usize],
    ) -> Result<Script> {
        let machines = work.nodes + spares.len();
        let mut script = Script {
            work: Work {
                nodes: machines,
                files: files(work, layout, spares),
                phases: Vec::new(),
                ..work.clone()
            },
            origins: Vec::new(),
            noticed: usize::MAX,
        };
        let healthy = layout.healthy();
        let (before, after, handed_over) = (healthy.parts(), layout.parts(), layout.handed_over());
        for (index, phase) in work.phases.iter().enumerate() {
            let ordinary = |parts: &[Vec<Part>], layout: &Layout| -> Result<[Option<Phase>; 2]> {
                let itself = shared(work, phase, parts, machines)?;
                Ok([Some(itself), copied(work, phase, parts, layout, machines, page_bytes)?])
            };
            let redone = |collectives| {
                let again = again(phase, layout, collectives);
                again.map(|phase| shared(work, &phase, &handed_over, machines)).transpose()
            };
            match when {
                When::Before(first) if index >= first => {
                    script.noticed = script.noticed.min(script.origins.len());
                    script.extend(index, ordinary(&after, layout)?);
                }
                When::In(during, done, of) if index == during => {
                    let parts = until_failure(layout, done, of);
                    let without = Phase { collectives: Vec::new(), ..phase.clone() };
                    script.extend(index, [Some(shared(work, &without, &parts, machines)?), None]);
                    script.noticed = script.origins.len();
                    script.extend(index, [redone(phase.collectives.clone())?, None]);
                    let copies = copied(work, phase, &handed_over, layout, machines, page_bytes)?;
                    script.extend(index, [None, copies]);
                }
                When::Copying(during) if index == during => {
                    script.extend(index, ordinary(&before, &healthy)?);
                    script.noticed = script.origins.len();
                    script.extend(index, [redone(Vec::new())?, None]);
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

/// Every node at its own share, and those that fail at a part of theirs.
fn until_failure(layout: &Layout, done: u64, of: u64) -> Vec<Vec<Part>> {
    let mut parts = layout.healthy().parts();
    for failed in layout.all_failed() {
        parts[failed] = vec![Part { machine: failed, is_copy: false, from: 0, to: done, of: of.max(1) }];
    }
    parts
}
