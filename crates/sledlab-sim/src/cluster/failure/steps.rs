//! Rewrites a phase of a record for nodes with redundant copies: the parts of the steps that each node does, and the
//! copies.

use std::collections::BTreeMap;

use sledlab_core::{Error, Result};
use sledlab_trace::work::{Collective, CollectiveKind, File, FileAccess, NodeStep, Phase, Work};

use super::layout::{CopyLayout, Part, receivers};

/// For each share, the parts of its work and their nodes.
pub(super) type Parts = [Vec<Part>];

/// The step of a node under construction.
#[derive(Clone, Default)]
struct StepBuilder {
    step: NodeStep,
    operations: BTreeMap<usize, u64>,
    sends: BTreeMap<u32, u64>,
}

/// Returns the files of nodes with redundant copies: those of the record, then a copy of each. On a node, the copy is
/// as long as the file of the node whose copies it stores. A spare, which follows the nodes, has space for the files of
/// its failed node.
pub(super) fn files(work: &Work, layout: &CopyLayout, spares: &[usize]) -> Vec<File> {
    let copied_bytes =
        |file: &File, machine: usize| layout.copied_share(machine).map_or(0, |share| file.bytes[share]);
    let machines = || (0..work.nodes).chain(spares.iter().copied());
    let original = |file: &File| File {
        name: file.name.clone(),
        bytes: machines().map(|machine| file.bytes[machine]).collect(),
    };
    let copy = |file: &File| File {
        name: format!("{}, copy", file.name),
        bytes: machines().map(|machine| copied_bytes(file, machine)).collect(),
    };
    work.files.iter().map(original).chain(work.files.iter().map(copy)).collect()
}

/// Returns a phase where nodes do `parts` of the work on shares, and `receivers` receive its messages. `machines`
/// counts nodes and spares.
///
/// # Errors
/// Overflow of sums.
pub(super) fn divide_phase(
    work: &Work,
    phase: &Phase,
    parts: &Parts,
    receivers: &Parts,
    machines: usize,
) -> Result<Phase> {
    let mut builders = vec![StepBuilder::default(); machines];
    for (share, step) in phase.steps.iter().enumerate() {
        for part in &parts[share] {
            let builder = &mut builders[part.machine];
            add_part(work, step, part, builder)?;
            for (to, bytes) in &step.sends {
                let bytes = part.portion(*bytes);
                match receivers.get(*to as usize) {
                    // Messages of a share to itself stay on the node that does the part.
                    Some(_) if *to as usize == share => add(&mut builder.sends, part.machine as u32, bytes)?,
                    Some(receivers) => receivers.iter().try_for_each(|receiver| {
                        add(&mut builder.sends, receiver.machine as u32, receiver.portion(bytes))
                    })?,
                    None => add(&mut builder.sends, machines as u32, bytes)?,
                }
            }
        }
    }
    let collectives = phase
        .collectives
        .iter()
        .map(|collective| surviving_collective(collective, receivers))
        .collect::<Result<_>>()?;
    Ok(Phase { name: phase.name.clone(), steps: builders.into_iter().map(build_step).collect(), collectives })
}

/// Adds a part of a share's step to a node's step: reads, writes and operations, but not sends.
fn add_part(work: &Work, step: &NodeStep, part: &Part, builder: &mut StepBuilder) -> Result<()> {
    let local_file = |file: usize| if part.is_copy { work.files.len() + file } else { file };
    for access in &step.reads {
        let bytes = read_bytes(step, access, part);
        if bytes > 0 {
            let per_block_of = access.per_block_of.map(local_file);
            builder.step.reads.push(FileAccess {
                file: local_file(access.file),
                bytes,
                per_block_of,
                ..*access
            });
        }
    }
    for access in &step.writes {
        let bytes = part.portion(access.bytes);
        if bytes > 0 {
            builder.step.writes.push(FileAccess { file: local_file(access.file), bytes, ..*access });
        }
    }
    for (kind, count) in &step.operations {
        add(&mut builder.operations, *kind, part.portion(*count))?;
    }
    // Use the smaller of two message sizes: a message of the size for one share may be too large for the other.
    builder.step.message_bytes = match (builder.step.message_bytes, step.message_bytes) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    // A node works on shares one after the other, so the maximum of their memory sizes is needed.
    builder.step.memory = builder.step.memory.max(step.memory);
    Ok(())
}

/// Returns the bytes that a part of a step reads in an access. A part of a nested loop has that part of the outer
/// file's blocks, and reads all of the inner file for each of them. If the step reads no outer file, the inner file is
/// divided.
fn read_bytes(step: &NodeStep, access: &FileAccess, part: &Part) -> u64 {
    let outer = access.per_block_of.and_then(|outer| {
        step.reads.iter().find(|other| other.file == outer && other.per_block_of.is_none())
    });
    match outer {
        Some(outer) if part.portion(outer.bytes) > 0 => access.bytes,
        Some(_) => 0,
        None => part.portion(access.bytes),
    }
}

/// Returns a collective among the nodes that do any of the members' work. In a gather, each node sends its parts of the
/// members' bytes; in a reduction, each node first combines the values of its members.
fn surviving_collective(collective: &Collective, parts: &Parts) -> Result<Collective> {
    let mut bytes_by_machine = BTreeMap::new();
    for (member, bytes) in collective.members.iter().zip(&collective.bytes) {
        for part in &parts[*member] {
            match collective.kind {
                CollectiveKind::Gather | CollectiveKind::AllGather => {
                    let sum = bytes_by_machine.entry(part.machine).or_insert(0_u64);
                    *sum = sum.checked_add(part.portion(*bytes)).ok_or_else(overflow_error)?;
                }
                _ => {
                    let max_bytes = bytes_by_machine.entry(part.machine).or_insert(0);
                    *max_bytes = (*max_bytes).max(*bytes);
                }
            }
        }
    }
    let root = collective.members.get(collective.root).and_then(|root| parts[*root].first());
    let is_root = |machine: &&usize| root.is_some_and(|root| root.machine == **machine);
    Ok(Collective {
        kind: collective.kind,
        root: bytes_by_machine
            .keys()
            .take_while(|machine| !is_root(machine))
            .count()
            .min(bytes_by_machine.len().saturating_sub(1)),
        bytes: bytes_by_machine.values().copied().collect(),
        members: bytes_by_machine.into_keys().collect(),
    })
}

/// Returns the phase that copies the data written in a phase to the other node with each share; `None` if no data are
/// written, or if the other node of each share has failed.
///
/// # Errors
/// Overflow of sums.
pub(super) fn copy_phase(
    work: &Work,
    phase: &Phase,
    parts: &Parts,
    layout: &CopyLayout,
    machines: usize,
    page_bytes: &[u64],
) -> Result<Option<Phase>> {
    let mut builders = vec![StepBuilder::default(); machines];
    for (share, step) in phase.steps.iter().enumerate() {
        for part in &parts[share] {
            let other = if part.is_copy { Some(share) } else { layout.holder(share) };
            let Some(other) = other.filter(|other| !layout.has_failed(*other)) else { continue };
            for access in &step.writes {
                let bytes = part.portion(access.bytes);
                let file = if part.is_copy { access.file } else { work.files.len() + access.file };
                if bytes > 0 {
                    builders[other].step.writes.push(FileAccess { file, bytes, ..*access });
                    add(&mut builders[part.machine].sends, other as u32, bytes)?;
                    builders[part.machine].step.message_bytes = Some(page_bytes[part.machine]);
                }
            }
        }
    }
    let name = format!("{}, copied", phase.name);
    let has_messages = builders.iter().any(|builder| !builder.sends.is_empty());
    let steps = builders.into_iter().map(build_step).collect();
    Ok(has_messages.then_some(Phase { name, steps, collectives: Vec::new() }))
}

/// Returns the remaining part of a phase when nodes fail after `completed / total` of it, where nodes have `parts` of
/// that remainder. In addition, all survivors send the messages again that they had sent to the failed nodes.
///
/// # Errors
/// Overflow of sums.
pub(super) fn remaining_phase(
    work: &Work,
    phase: &Phase,
    (completed, total): (u64, u64),
    parts: &Parts,
    layout: &CopyLayout,
    machines: usize,
) -> Result<Phase> {
    let receivers = receivers(parts);
    let mut remaining = divide_phase(work, phase, parts, &receivers, machines)?;
    for (share, step) in phase.steps.iter().enumerate().filter(|(share, _)| !layout.has_failed(*share)) {
        let sent_part = Part { machine: share, is_copy: false, start: 0, end: completed, total };
        let node_step = &mut remaining.steps[share];
        let mut sends: BTreeMap<u32, u64> = node_step.sends.drain(..).collect();
        for (to, bytes) in &step.sends {
            if (*to as usize) < work.nodes && layout.has_failed(*to as usize) {
                for receiver in &receivers[*to as usize] {
                    add(&mut sends, receiver.machine as u32, receiver.portion(sent_part.portion(*bytes)))?;
                }
            }
        }
        if node_step.message_bytes.is_none() && !sends.is_empty() {
            node_step.message_bytes = step.message_bytes;
        }
        node_step.sends = sends.into_iter().collect();
    }
    remaining.name = format!("{}, after failure", phase.name);
    Ok(remaining)
}

fn build_step(builder: StepBuilder) -> NodeStep {
    let operations = builder.operations.into_iter().collect();
    NodeStep { operations, sends: builder.sends.into_iter().collect(), ..builder.step }
}

/// Adds to the sum of a key; adding 0 creates no entry.
fn add<K: Ord>(sums: &mut BTreeMap<K, u64>, key: K, amount: u64) -> Result<()> {
    if amount > 0 {
        let sum = sums.entry(key).or_insert(0);
        *sum = sum.checked_add(amount).ok_or_else(overflow_error)?;
    }
    Ok(())
}

fn overflow_error() -> Error {
    Error::user("a node would have more than 2^64 bytes or operations").with_remedy("replay a smaller record")
}
