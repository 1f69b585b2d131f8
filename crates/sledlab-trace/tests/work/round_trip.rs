//! A record that is written is read back unchanged, and written again as the same bytes.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{Index, subsequence};
use serde_json::{Map, Value, json};
use sledlab_trace::work::{
    Collective, CollectiveKind, File, FileAccess, Group, MAX_COUNT, NodeStep, PageOrder, Phase, Work,
};

use super::{bytes, parse};

const KINDS: [&str; 4] = ["tuple", "hash", "prüfe \"x\"", "pack"];

/// Small counts, large ones, and repeated ones.
fn count() -> impl Strategy<Value = u64> {
    prop_oneof![Just(1000_u64), 1..300_u64, 1..=MAX_COUNT >> 12]
}

fn parameter() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(|n| json!(n)),
        any::<f64>().prop_filter("finite", |x| x.is_finite()).prop_map(|x| json!(x)),
        "\\PC{0,10}".prop_map(|text| json!(text)),
        any::<bool>().prop_map(|yes| json!([yes, Value::Null, {"in": yes}])),
    ]
}

fn order() -> impl Strategy<Value = PageOrder> {
    prop_oneof![
        Just(PageOrder::Sequential),
        Just(PageOrder::Random),
        (1..9_u64).prop_map(|runs| PageOrder::Merge { runs }),
        (1..9_u64).prop_map(|runs| PageOrder::Streams { runs }),
    ]
}

/// An access before the files are known: file, share of the file, order, outer file.
type Sketch = (Index, Option<u64>, PageOrder, Option<Index>);

/// The step of a node before its accesses are known: reads, writes, other parts of the step.
type SketchedStep = (Vec<Sketch>, Vec<Sketch>, NodeStep);

fn sketches() -> impl Strategy<Value = Vec<Sketch>> {
    vec((any::<Index>(), prop::option::of(count()), order(), prop::option::of(any::<Index>())), 0..3)
}

fn accesses(sketches: Vec<Sketch>, node: usize, files: &[File], repeat: bool) -> Vec<FileAccess> {
    let make = |(file, bytes, order, outer): Sketch| {
        let file = file.index(files.len());
        let size = files[file].bytes[node];
        let bytes = bytes.map_or(size, |bytes| bytes.min(size));
        let outer = outer.map(|outer| outer.index(files.len()));
        // No outer file is an inner file of another loop.
        let is_outer = |outer: &usize| outer.is_multiple_of(2) && !file.is_multiple_of(2);
        let per_block_of = outer.filter(|outer| repeat && is_outer(outer) && files[*outer].bytes[node] > 0);
        (bytes > 0).then_some(FileAccess { file, bytes, order, per_block_of, is_background: false })
    };
    sketches.into_iter().filter_map(make).collect()
}

fn sends(nodes: usize) -> impl Strategy<Value = Vec<(u32, u64)>> {
    let subset =
        btree_map(0..=nodes as u32, count(), 0..=nodes + 1).prop_map(|map| map.into_iter().collect());
    let each = (count(), any::<bool>(), 0..nodes as u32).prop_map(move |(bytes, client, sender)| {
        let ports = 0..nodes as u32 + u32::from(client);
        ports.filter(|port| *port != sender).map(|port| (port, bytes)).collect()
    });
    prop_oneof![Just(Vec::new()), subset, each]
}

fn step(nodes: usize) -> impl Strategy<Value = SketchedStep> {
    let operations = (subsequence((0..KINDS.len()).collect::<Vec<_>>(), 0..=KINDS.len()), count());
    let other_parts = (operations, sends(nodes), prop::option::of(count()), prop_oneof![Just(0), count()]);
    let other_parts = other_parts.prop_map(|((kinds, count), sends, message_bytes, memory)| NodeStep {
        operations: kinds.into_iter().map(|kind| (kind, count)).collect(),
        sends,
        message_bytes,
        memory,
        ..NodeStep::default()
    });
    prop_oneof![
        2 => Just((Vec::new(), Vec::new(), NodeStep::default())),
        3 => (sketches(), sketches(), other_parts),
    ]
}

fn collective(nodes: usize) -> impl Strategy<Value = Collective> {
    let members = subsequence((0..nodes).collect::<Vec<_>>(), 1..=nodes);
    (0..6_usize, members, vec(count(), nodes), any::<bool>(), any::<Index>()).prop_map(
        |(kind, members, mut bytes, same, root)| {
            let kind = CollectiveKind::ALL[kind];
            bytes.truncate(members.len());
            if same {
                bytes.fill(1 - u64::from(root.index(2) == 0));
            }
            if kind == CollectiveKind::Barrier {
                bytes.fill(0);
            }
            let root = if kind.has_root() { root.index(members.len()) } else { 0 };
            Collective { kind, bytes, members, root }
        },
    )
}

/// Numbers kinds of operation as the reader does: by phase and node.
fn order_kinds(mut work: Work) -> Work {
    let mut kinds: Vec<String> = Vec::new();
    for step in work.phases.iter_mut().flat_map(|phase| &mut phase.steps) {
        for (kind, _) in &mut step.operations {
            let name = KINDS[*kind];
            *kind = kinds.iter().position(|other| other == name).unwrap_or_else(|| {
                kinds.push(name.to_owned());
                kinds.len() - 1
            });
        }
        step.operations.sort_unstable();
    }
    work.kinds = kinds;
    work
}

fn work_of_size(nodes: usize) -> impl Strategy<Value = Work> {
    let files = vec(
        prop_oneof![vec(prop_oneof![Just(0), count()], nodes), count().prop_map(move |b| vec![b; nodes])],
        1..4,
    );
    let groups = vec(subsequence((0..nodes).collect::<Vec<_>>(), 1..=nodes), 0..3);
    let phase = (vec(step(nodes), nodes), vec(collective(nodes), 0..3));
    let header =
        (btree_map("\\PC{1,8}", parameter(), 0..4), any::<u64>(), prop::option::of("sha256:[0-9a-f]{64}"));
    (header, files, groups, vec(phase, 1..4)).prop_map(move |(header, files, groups, phases)| {
        let file = |(index, bytes)| File { name: format!("file {index}"), bytes };
        let files: Vec<File> = files.into_iter().enumerate().map(file).collect();
        let group = |(index, members)| Group { name: format!("g{index}"), members };
        let phase = |(index, (steps, collectives)): (usize, (Vec<SketchedStep>, _))| {
            let complete_step = |(node, (reads, writes, step)): (usize, SketchedStep)| NodeStep {
                reads: accesses(reads, node, &files, true),
                writes: accesses(writes, node, &files, false),
                ..step
            };
            Phase {
                name: format!("phase {index}"),
                steps: steps.into_iter().enumerate().map(complete_step).collect(),
                collectives,
            }
        };
        order_kinds(Work {
            job: "job".to_owned(),
            parameters: header.0.into_iter().collect::<Map<_, _>>(),
            seed: header.1,
            nodes,
            answer: header.2,
            groups: groups.into_iter().enumerate().map(group).collect(),
            kinds: Vec::new(),
            phases: phases.into_iter().enumerate().map(phase).collect(),
            files,
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn records_round_trip(work in prop_oneof![(1..6_usize), Just(40), Just(80)].prop_flat_map(work_of_size)) {
        let written_bytes = bytes(&work);
        let read = parse(&written_bytes);
        prop_assert_eq!(read.as_ref(), Ok(&work), "{}", String::from_utf8_lossy(&written_bytes));
        prop_assert_eq!(bytes(&read.unwrap()), written_bytes);
    }
}
