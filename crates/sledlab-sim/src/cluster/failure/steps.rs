//! A phase of a record as nodes do it that hold copies: whose step goes to whom, and what is copied.

use std::collections::BTreeMap;

use sledlab_core::{Error, Result};
use sledlab_trace::work::{Collective, CollectiveKind, File, FileAccess, NodeStep, Phase, Work};

use super::layout::{CopyLayout, Part, takers};

/// Who does the work on each share.
pub(super) type Parts = [Vec<Part>];

/// What a node does, while it is put together.
#[derive(Clone, Default)]
struct Done {
    step: NodeStep,
    operations: BTreeMap<usize, u64>,
    sends: BTreeMap<u32, u64>,
}

/// Files of nodes that hold copies: those of the record, and then a copy of each, of the node whose copies a node
/// holds. A spare, which follows the nodes, has room for what its failed node held.
pub(super) fn files(work: &Work, layout: &CopyLayout, spares: &[usize]) -> Vec<File> {
    let held = |file: &File, machine: usize| layout.held(machine).map_or(0, |share| file.bytes[share]);
    let machines = || (0..work.nodes).chain(spares.iter().copied());
    let own = |file: &File| File {
        name: file.name.clone(),
        bytes: machines().map(|machine| file.bytes[machine]).collect(),
    };
    let copy = |file: &File| File {
        name: format!("{}, copy", file.name),
        bytes: machines().map(|machine| held(file, machine)).collect(),
    };
    work.files.iter().map(own).chain(work.files.iter().map(copy)).collect()
}

/// A phase as those do it who have `parts` of the work on shares; what is sent goes to `takers`. There are so many
/// `machines`, spares counted.
///
/// # Errors
/// Sums that no longer fit.
pub(super) fn shared(
    work: &Work,
    phase: &Phase,
    parts: &Parts,
    takers: &Parts,
    machines: usize,
) -> Result<Phase> {
    let mut done = vec![Done::default(); machines];
    for (share, step) in phase.steps.iter().enumerate() {
        for part in &parts[share] {
            let doing = &mut done[part.machine];
            give(work, step, part, doing)?;
            for (to, bytes) in &step.sends {
                let bytes = part.portion(*bytes);
                match takers.get(*to as usize) {
                    // What a node sends itself stays where it is made.
                    Some(_) if *to as usize == share => add(&mut doing.sends, part.machine as u32, bytes)?,
                    Some(takers) => takers.iter().try_for_each(|taker| {
                        add(&mut doing.sends, taker.machine as u32, taker.portion(bytes))
                    })?,
                    None => add(&mut doing.sends, machines as u32, bytes)?,
                }
            }
        }
    }
    let collectives = phase.collectives.iter().map(|each| together(each, takers)).collect::<Result<_>>()?;
    Ok(Phase { name: phase.name.clone(), steps: done.into_iter().map(finished).collect(), collectives })
}

/// Gives a node a part of a step, all but its sends.
fn give(work: &Work, step: &NodeStep, part: &Part, doing: &mut Done) -> Result<()> {
    let file = |file: usize| if part.is_copy { work.files.len() + file } else { file };
    for access in &step.reads {
        let bytes = read(step, access, part);
        if bytes > 0 {
            let per_block_of = access.per_block_of.map(file);
            doing.step.reads.push(FileAccess { file: file(access.file), bytes, per_block_of, ..*access });
        }
    }
    for access in &step.writes {
        let bytes = part.portion(access.bytes);
        if bytes > 0 {
            doing.step.writes.push(FileAccess { file: file(access.file), bytes, ..*access });
        }
    }
    for (kind, count) in &step.operations {
        add(&mut doing.operations, *kind, part.portion(*count))?;
    }
    // Of two sizes of messages the smaller: what goes at once for one share may be too much for the other.
    doing.step.message_bytes = match (doing.step.message_bytes, step.message_bytes) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    // Shares are worked on one after the other, so that the larger need counts.
    doing.step.memory = doing.step.memory.max(step.memory);
    Ok(())
}

/// What a part of a step reads of an access. Who does a part of a nested loop has that part of the outer file's blocks,
/// and reads all of the inner file for each of them; where the step reads no outer file, it is the inner one that is
/// parted.
fn read(step: &NodeStep, access: &FileAccess, part: &Part) -> u64 {
    let outer = access.per_block_of.and_then(|outer| {
        step.reads.iter().find(|other| other.file == outer && other.per_block_of.is_none())
    });
    match outer {
        Some(outer) if part.portion(outer.bytes) > 0 => access.bytes,
        Some(_) => 0,
        None => part.portion(access.bytes),
    }
}

/// A collective of those who do any of the members' work. What is gathered is gathered in parts; what is combined, each
/// combines first what it has of several members.
fn together(collective: &Collective, parts: &Parts) -> Result<Collective> {
    let mut brought = BTreeMap::new();
    for (member, bytes) in collective.members.iter().zip(&collective.bytes) {
        for part in &parts[*member] {
            match collective.kind {
                CollectiveKind::Gather | CollectiveKind::AllGather => {
                    let sum = brought.entry(part.machine).or_insert(0_u64);
                    *sum = sum.checked_add(part.portion(*bytes)).ok_or_else(too_much)?;
                }
                _ => {
                    let longest = brought.entry(part.machine).or_insert(0);
                    *longest = (*longest).max(*bytes);
                }
            }
        }
    }
    let root = collective.members.get(collective.root).and_then(|root| parts[*root].first());
    let is_root = |machine: &&usize| root.is_some_and(|root| root.machine == **machine);
    Ok(Collective {
        kind: collective.kind,
        root: brought
            .keys()
            .take_while(|machine| !is_root(machine))
            .count()
            .min(brought.len().saturating_sub(1)),
        bytes: brought.values().copied().collect(),
        members: brought.into_keys().collect(),
    })
}

/// What is written in a phase goes to the other place of its share as well, when the phase is over; nothing where
/// nothing is written, or the other node of each has failed.
///
/// # Errors
/// Sums that no longer fit.
pub(super) fn copied(
    work: &Work,
    phase: &Phase,
    parts: &Parts,
    layout: &CopyLayout,
    machines: usize,
    page_bytes: u64,
) -> Result<Option<Phase>> {
    let mut done = vec![Done::default(); machines];
    for (share, step) in phase.steps.iter().enumerate() {
        for part in &parts[share] {
            let other = if part.is_copy { Some(share) } else { layout.holder(share) };
            let Some(other) = other.filter(|other| !layout.has_failed(*other)) else { continue };
            for access in &step.writes {
                let bytes = part.portion(access.bytes);
                let file = if part.is_copy { access.file } else { work.files.len() + access.file };
                if bytes > 0 {
                    done[other].step.writes.push(FileAccess { file, bytes, ..*access });
                    add(&mut done[part.machine].sends, other as u32, bytes)?;
                    done[part.machine].step.message_bytes = Some(page_bytes);
                }
            }
        }
    }
    let name = format!("{}, copied", phase.name);
    let is_any = done.iter().any(|done| !done.sends.is_empty());
    let steps = done.into_iter().map(finished).collect();
    Ok(is_any.then_some(Phase { name, steps, collectives: Vec::new() }))
}

/// What is left of a phase when nodes fail after `done / of` of it, as those do it who have `parts` of the rest: besides
/// that, all send again what they had sent to those that failed.
///
/// # Errors
/// Sums that no longer fit.
pub(super) fn rest(
    work: &Work,
    phase: &Phase,
    (done, of): (u64, u64),
    parts: &Parts,
    layout: &CopyLayout,
    machines: usize,
) -> Result<Phase> {
    let takers = takers(parts);
    let mut rest = shared(work, phase, parts, &takers, machines)?;
    for (share, step) in phase.steps.iter().enumerate().filter(|(share, _)| !layout.has_failed(*share)) {
        let sent = Part { machine: share, is_copy: false, from: 0, to: done, of };
        let doing = &mut rest.steps[share];
        let mut sends: BTreeMap<u32, u64> = doing.sends.drain(..).collect();
        for (to, bytes) in &step.sends {
            if (*to as usize) < work.nodes && layout.has_failed(*to as usize) {
                for taker in &takers[*to as usize] {
                    add(&mut sends, taker.machine as u32, taker.portion(sent.portion(*bytes)))?;
                }
            }
        }
        if doing.message_bytes.is_none() && !sends.is_empty() {
            doing.message_bytes = step.message_bytes;
        }
        doing.sends = sends.into_iter().collect();
    }
    rest.name = format!("{}, after failure", phase.name);
    Ok(rest)
}

fn finished(done: Done) -> NodeStep {
    let operations = done.operations.into_iter().collect();
    NodeStep { operations, sends: done.sends.into_iter().collect(), ..done.step }
}

/// Adds to a sum of several; what is nothing leaves no entry.
fn add<K: Ord>(sums: &mut BTreeMap<K, u64>, key: K, more: u64) -> Result<()> {
    if more > 0 {
        let sum = sums.entry(key).or_insert(0);
        *sum = sum.checked_add(more).ok_or_else(too_much)?;
    }
    Ok(())
}

fn too_much() -> Error {
    Error::user("a node would have more than 2^64 bytes or operations").with_remedy("replay a smaller record")
}
