//! Host-based processing, the baseline with plain devices: a host does all work of a work record (Chiu 2004).
//!
//! Every page that a node would read is sent to the host, which processes it; the host sends back the pages that a node
//! would write. Messages between nodes stay within the host, and the host sends results to the client.

use sledlab_core::{Error, Result};
use sledlab_models::node::Node;
use sledlab_trace::work::{FileAccess, NodeStep, Phase, Work};

/// Maximum number of passes of the host over the inner file of a nested loop; each pass is an access in the record.
const MAX_PASSES: u64 = 1 << 20;

/// Returns the record of `work` with all work done by a host: an additional last node without a store. Each node sends
/// its pages, of `page_bytes`, one by one.
///
/// # Errors
/// Overflow of sums.
pub(super) fn move_to_host(work: &Work, host: &Node, page_bytes: &[u64]) -> Result<Work> {
    let nodes = work.nodes;
    let mut host_work = Work { nodes: nodes + 1, phases: Vec::new(), ..work.clone() };
    host_work.files.iter_mut().for_each(|file| file.bytes.push(0));
    for phase in &work.phases {
        let mut read_phase = Phase {
            name: phase.name.clone(),
            steps: vec![NodeStep::default(); nodes + 1],
            collectives: Vec::new(),
        };
        let mut write_phase = Phase { name: format!("{}, written back", phase.name), ..read_phase.clone() };
        let mut operations = vec![0_u64; work.kinds.len()];
        let mut results = 0_u64;
        for (index, step) in phase.steps.iter().enumerate() {
            let reads = repeated_reads(work, step, host)?;
            let shipped_bytes = sum(reads.iter().map(|access| access.bytes))?;
            if shipped_bytes > 0 {
                read_phase.steps[index] = NodeStep {
                    reads,
                    sends: vec![(nodes as u32, shipped_bytes)],
                    message_bytes: Some(page_bytes[index]),
                    ..NodeStep::default()
                };
            }
            for (kind, count) in &step.operations {
                operations[*kind] = sum([operations[*kind], *count])?;
            }
            results = sum(step
                .sends
                .iter()
                .filter(|(to, _)| *to as usize == nodes)
                .map(|(_, bytes)| *bytes)
                .chain([results]))?;
            let written_back_bytes = sum(step.writes.iter().map(|access| access.bytes))?;
            if written_back_bytes > 0 {
                write_phase.steps[index].writes.clone_from(&step.writes);
                write_phase.steps[nodes].sends.push((index as u32, written_back_bytes));
            }
        }
        let host_step = &mut read_phase.steps[nodes];
        host_step.operations = operations.into_iter().enumerate().filter(|(_, count)| *count > 0).collect();
        if results > 0 {
            host_step.sends.push((nodes as u32 + 1, results));
        }
        let has_work = |phase: &Phase| phase.steps.iter().any(|step| *step != NodeStep::default());
        host_work.phases.extend([read_phase, write_phase].into_iter().filter(has_work));
    }
    Ok(host_work)
}

/// Returns the reads of a step. The host reads the inner file of a nested loop once for each block of its own memory,
/// which contains the blocks of all nodes one after the other.
fn repeated_reads(work: &Work, step: &NodeStep, host: &Node) -> Result<Vec<FileAccess>> {
    let mut reads = Vec::new();
    for access in &step.reads {
        let passes = match access.per_block_of {
            None => 1,
            Some(outer) => sum(work.files[outer].bytes.iter().copied())?.div_ceil(host.block_bytes()).max(1),
        };
        if passes > MAX_PASSES {
            return Err(Error::user(format!(
                "the host would read `{}` {passes} times, once for every block of the outer file",
                work.files[access.file].name
            ))
            .with_remedy("increase the block size of the host: host.block_kb or host.memory_mb"));
        }
        let single_pass = FileAccess { per_block_of: None, ..access.clone() };
        reads.extend((0..passes).map(|_| single_pass.clone()));
    }
    Ok(reads)
}

fn sum(parts: impl IntoIterator<Item = u64>) -> Result<u64> {
    let total = parts.into_iter().try_fold(0_u64, u64::checked_add);
    total.ok_or_else(|| {
        Error::user("the host would have more than 2^64 bytes or operations")
            .with_remedy("replay a smaller record")
    })
}
