//! No work and no data are lost when work moves to other nodes, for any record.

use proptest::prelude::*;
use sledlab_trace::work::{File, FileAccess, NodeStep, PageOrder, Phase, Work};

use super::*;

const FILES: usize = 3;

fn access(file: usize, bytes: u64) -> FileAccess {
    FileAccess { file, bytes, order: PageOrder::Sequential, per_block_of: None, is_background: false }
}

/// Returns a phase: the bytes that each node reads and writes, its operations, and its sends to all nodes, itself and
/// the client included.
fn phase(name: String, draws: &[(usize, u64, u64, u64, Vec<u64>)], sizes: &[Vec<u64>]) -> Phase {
    let nodes = draws.len();
    let step =
        |(node, (file, read, write, operations, sends)): (usize, &(usize, u64, u64, u64, Vec<u64>))| {
            let access_share = |file: usize, percent: u64| access(file, sizes[file][node] * percent / 100);
            let non_empty =
                |access: FileAccess| Some(access).filter(|access| access.bytes > 0).into_iter().collect();
            let sends = (0..=nodes).map(|to| (to as u32, sends[to % sends.len()]));
            NodeStep {
                reads: non_empty(access_share(*file, *read)),
                writes: non_empty(access_share((file + 1) % FILES, *write)),
                operations: vec![(0, *operations)],
                sends: sends.filter(|(_, bytes)| *bytes > 0).collect(),
                message_bytes: None,
                memory: *operations,
            }
        };
    Phase { name, steps: draws.iter().enumerate().map(step).collect(), collectives: Vec::new() }
}

#[test]
fn traffic_matrix_is_omitted_for_many_nodes() {
    for (nodes, rows) in [(MAX_TRAFFIC, MAX_TRAFFIC), (MAX_TRAFFIC + 1, 0)] {
        let work = Work {
            job: "idle".to_owned(),
            parameters: serde_json::Map::new(),
            seed: 1,
            nodes,
            answer: None,
            groups: Vec::new(),
            kinds: Vec::new(),
            phases: Vec::new(),
            files: Vec::new(),
        };
        assert_eq!(traffic(&work).len(), rows);
    }
}

prop_compose! {
    fn records()(nodes in 1_usize..5)(
        sizes in prop::collection::vec(prop::collection::vec(0_u64..1_000_000, 2 * nodes), FILES),
        phases in prop::collection::vec(
            prop::collection::vec(
                (0..FILES, 0_u64..101, 0_u64..101, 0_u64..10_000, prop::collection::vec(0_u64..9_999, 1..5)),
                2 * nodes,
            ),
            1..4,
        ),
    ) -> Work {
        let name = |file: usize| format!("file {file}");
        let phases = phases.iter().enumerate();
        Work {
            job: "random".to_owned(),
            parameters: serde_json::Map::new(),
            seed: 1,
            nodes: sizes[0].len(),
            answer: None,
            groups: Vec::new(),
            kinds: vec!["tuple".to_owned()],
            phases: phases.map(|(index, draws)| phase(format!("phase {index}"), draws, &sizes)).collect(),
            files: sizes
                .iter()
                .enumerate()
                .map(|(file, bytes)| File { name: name(file), bytes: bytes.clone() })
                .collect(),
        }
    }
}

fn sum(work: &Work, quantity: impl Fn(&NodeStep) -> u64) -> u64 {
    work.phases.iter().flat_map(|phase| &phase.steps).map(quantity).sum()
}

fn read_bytes(step: &NodeStep) -> u64 {
    step.reads.iter().map(|access| access.bytes).sum()
}

fn written_bytes(step: &NodeStep) -> u64 {
    step.writes.iter().map(|access| access.bytes).sum()
}

fn operation_count(step: &NodeStep) -> u64 {
    step.operations.iter().map(|(_, count)| count).sum()
}

fn sent_bytes(step: &NodeStep) -> u64 {
    step.sends.iter().map(|(_, bytes)| bytes).sum()
}

/// The redundancy, mirrored or chained, and the node that fails.
fn failures() -> impl Strategy<Value = (Redundancy, usize)> {
    (prop_oneof![Just(Redundancy::Mirror), Just(Redundancy::Chained)], 0_usize..8)
}

proptest! {
    #[test]
    fn chained_survivors_divide_all_shares_equally(
        nodes in 2_usize..40, failed in 0_usize..40, full: u64,
    ) {
        let failed = failed % nodes;
        let parts = CopyLayout::new(Redundancy::Chained, nodes, &[failed]).unwrap().parts();
        let others = (nodes - 1) as f64;
        let mut work = vec![0.0; nodes];
        for share in &parts {
            prop_assert_eq!(share.iter().map(|part| part.portion(full)).sum::<u64>(), full);
            for part in share {
                work[part.machine] += (part.end - part.start) as f64 / part.total as f64;
            }
        }
        for (machine, work) in work.into_iter().enumerate() {
            let expected = if machine == failed { 0.0 } else { nodes as f64 / others };
            prop_assert!((work - expected).abs() < 1e-9, "{} does {}", machine, work);
        }
    }

    #[test]
    fn copies_double_only_written_bytes(work in records(), (redundancy, _) in failures()) {
        let layout = CopyLayout::new(redundancy, work.nodes, &[]).unwrap();
        let script = Script::new(&work, &layout, FailureTime::After, &vec![8192; work.nodes], &[]).unwrap().work;
        prop_assert_eq!(sum(&script, read_bytes), sum(&work, read_bytes));
        prop_assert_eq!(sum(&script, operation_count), sum(&work, operation_count));
        prop_assert_eq!(sum(&script, written_bytes), 2 * sum(&work, written_bytes));
        prop_assert_eq!(sum(&script, sent_bytes), sum(&work, sent_bytes) + sum(&work, written_bytes));
        for (file, copy) in work.files.iter().zip(&script.files[FILES..]) {
            prop_assert_eq!(file.bytes.iter().sum::<u64>(), copy.bytes.iter().sum::<u64>());
        }
    }

    #[test]
    fn survivors_do_all_work_of_failed_node(work in records(), (redundancy, failed) in failures()) {
        let failed = failed % work.nodes;
        let layout = CopyLayout::new(redundancy, work.nodes, &[failed]).unwrap();
        let script = Script::new(&work, &layout, FailureTime::Before(0), &vec![8192; work.nodes], &[]).unwrap();
        let survivor_work = &script.work;
        prop_assert!(survivor_work.phases.iter().all(|phase| phase.steps[failed].is_idle()));
        prop_assert_eq!(sum(survivor_work, read_bytes), sum(&work, read_bytes));
        prop_assert_eq!(sum(survivor_work, operation_count), sum(&work, operation_count));
        // The failed node's share, and the share that it had a copy of, are written only once.
        let share_written_bytes = |share: usize| -> u64 {
            work.phases.iter().map(|phase| written_bytes(&phase.steps[share])).sum()
        };
        let written_once = share_written_bytes(failed) + share_written_bytes(layout.copied_share(failed).unwrap());
        prop_assert_eq!(sum(survivor_work, written_bytes), 2 * sum(&work, written_bytes) - written_once);
        let copied = sum(survivor_work, written_bytes) - sum(&work, written_bytes);
        prop_assert_eq!(sum(survivor_work, sent_bytes), sum(&work, sent_bytes) + copied);
        let to_client = |work: &Work| sum(work, |step| step.bytes_for_port(work.client()));
        prop_assert_eq!(to_client(survivor_work), to_client(&work));
    }

    #[test]
    fn work_in_phase_of_failure_is_repeated(
        work in records(), (redundancy, failed) in failures(), done in 1_u64..1001,
    ) {
        let failed = failed % work.nodes;
        let layout = CopyLayout::new(redundancy, work.nodes, &[failed]).unwrap();
        let last = work.phases.len() - 1;
        let failed_at = FailureTime::In(last, done, 1000);
        let script = Script::new(&work, &layout, failed_at, &vec![8192; work.nodes], &[]).unwrap();
        let step = &work.phases[last].steps[failed];
        let portion = |full: u64| (u128::from(full) * u128::from(done) / 1000) as u64;
        let lost_reads = step.reads.iter().map(|access| portion(access.bytes)).sum::<u64>();
        prop_assert_eq!(sum(&script.work, read_bytes), sum(&work, read_bytes) + lost_reads);
        let lost_operations = portion(operation_count(step));
        prop_assert_eq!(sum(&script.work, operation_count), sum(&work, operation_count) + lost_operations);
        let lost_writes = step.writes.iter().map(|access| portion(access.bytes)).sum::<u64>();
        let copied_share = layout.copied_share(failed).unwrap();
        let written_once = written_bytes(step) + written_bytes(&work.phases[last].steps[copied_share]);
        prop_assert_eq!(sum(&script.work, written_bytes), 2 * sum(&work, written_bytes) - written_once + lost_writes);
        // The bytes that the node sent before its failure, and those sent to it; bytes to itself count once.
        let sent_to = |step: &NodeStep| portion(step.bytes_for_port(failed as u32));
        let others = work.phases[last].steps.iter().enumerate().filter(|(share, _)| *share != failed);
        let lost_sends = step.sends.iter().map(|(_, bytes)| portion(*bytes)).sum::<u64>()
            + others.map(|(_, step)| sent_to(step)).sum::<u64>();
        let copied = sum(&script.work, written_bytes) - sum(&work, written_bytes) - lost_writes;
        prop_assert_eq!(sum(&script.work, sent_bytes), sum(&work, sent_bytes) + copied + lost_sends);
        let phases_after = script.work.phases[script.phases_before_detection..].iter();
        prop_assert!(phases_after.into_iter().all(|phase| phase.steps[failed].is_idle()));
    }

    #[test]
    fn survivors_share_work_equally(
        nodes in 2_usize..20, failed in 0_usize..20, done in 0_u64..101,
    ) {
        let failed = failed % nodes;
        let layout = CopyLayout::new(Redundancy::Chained, nodes, &[failed]).unwrap();
        let mut busy = vec![0.0; nodes];
        for part in layout.resumed_parts(done, 100).iter().flatten() {
            busy[part.machine] += (part.end - part.start) as f64 / part.total as f64;
        }
        let others = (nodes - 1) as f64;
        let mean = 1.0 / others + (1.0 - done as f64 / 100.0);
        let busiest = busy.iter().copied().fold(0.0, f64::max);
        prop_assert!((busiest - mean.max(1.0)).abs() < 1e-9, "{busiest} for {mean}");
        prop_assert!((busy.iter().sum::<f64>() - mean * others).abs() < 1e-9);
    }

    #[test]
    fn lost_share_is_rebuilt_completely(
        work in records(), (redundancy, failed) in failures(), first in 0_usize..4,
        parts in prop::collection::vec(0_u64..2_000_000, 1..8),
    ) {
        let failed = failed % work.nodes;
        let layout = CopyLayout::new(redundancy, work.nodes, &[failed]).unwrap();
        let failed_at = FailureTime::Before(first % work.phases.len());
        let script = Script::new(&work, &layout, failed_at, &vec![8192; work.nodes], &[failed]).unwrap();
        let lost_files = rebuild::lost_files(&work, &layout, failed_at);
        let total: u64 = lost_files.iter().map(|file| file.bytes).sum();
        let mut steps = work.phases.iter().flat_map(|phase| &phase.steps);
        if failed_at == FailureTime::Before(0) && steps.all(|step| step.writes.is_empty()) {
            let share_bytes = |share: usize| work.files.iter().map(|file| file.bytes[share]).sum::<u64>();
            prop_assert_eq!(total, share_bytes(failed) + share_bytes(layout.copied_share(failed).unwrap()));
        }
        // Each phase rebuilds a part of the bytes, and the last phase the remaining bytes.
        let mut remaining_bytes = total;
        let phases = script.work.phases.len();
        let amounts: Vec<u64> = (0..phases).map(|phase| {
            let bytes =
                if phase + 1 == phases { remaining_bytes } else { remaining_bytes.min(parts[phase % parts.len()]) };
            remaining_bytes -= bytes;
            bytes
        }).collect();
        let rebuilt = rebuild::work_with_rebuild(&script, &lost_files, &amounts);
        let spare = work.nodes;
        let spares_write: u64 = rebuilt.phases.iter().map(|phase| written_bytes(&phase.steps[spare])).sum();
        prop_assert_eq!(spares_write, total);
        prop_assert_eq!(rebuild::rebuilt_bytes(&rebuilt, &script), total);
        prop_assert_eq!(sum(&rebuilt, read_bytes), sum(&script.work, read_bytes) + total);
        prop_assert_eq!(sum(&rebuilt, |step| step.bytes_for_port(spare as u32)), total);
    }
}

#[test]
fn nested_loop_is_split_by_outer_file() {
    let inner = FileAccess { per_block_of: Some(0), ..access(1, 700) };
    let mut work = Work {
        phases: vec![phase("loop".to_owned(), &vec![(0, 0, 0, 0, vec![0]); 4], &vec![vec![0; 4]; FILES])],
        ..empty_work(4)
    };
    work.phases[0].steps[1].reads = vec![access(0, 900), inner];
    let layout = CopyLayout::new(Redundancy::Chained, 4, &[0]).unwrap();
    let script = Script::new(&work, &layout, FailureTime::Before(0), &vec![8192; work.nodes], &[]).unwrap();
    let reads = |machine: usize| &script.work.phases[0].steps[machine].reads;
    // Node 1 does one block in three of its share, node 2 the others, on the copy; the file and the loop are those of
    // the copy.
    let nested = |file: usize, outer: usize| FileAccess { per_block_of: Some(outer), ..access(file, 700) };
    assert_eq!(*reads(1), [access(0, 300), nested(1, 0)]);
    assert_eq!(*reads(2), [access(FILES, 600), nested(FILES + 1, FILES)]);
}

#[test]
fn lost_share_is_an_error() {
    let error = |redundancy, nodes, failed: &[usize]| {
        CopyLayout::new(redundancy, nodes, failed).map(|_| ()).map_err(|error| error.to_string())
    };
    let error_message = |redundancy, failed: &[usize]| error(redundancy, 8, failed).unwrap_err();
    assert!(
        error_message(Redundancy::None, &[3]).contains("the share of node 3 is lost: no node holds a copy")
    );
    assert!(error_message(Redundancy::Mirror, &[2, 3]).contains("the shares of nodes 2 and 3 are lost"));
    assert!(error_message(Redundancy::Chained, &[0, 7]).contains("the share of node 7 is lost"));
    assert!(error_message(Redundancy::Chained, &[8]).contains("there is no node 8"));
    assert!(error(Redundancy::Mirror, 5, &[]).unwrap_err().contains("cannot mirror"));
    assert!(error(Redundancy::Chained, 1, &[]).unwrap_err().contains("need a second node"));
    for failed in [&[0, 2][..], &[1, 4, 7]] {
        for redundancy in [Redundancy::Mirror, Redundancy::Chained] {
            error(redundancy, 8, failed).unwrap();
        }
    }
}

fn empty_work(nodes: usize) -> Work {
    let file = |file: usize| File { name: format!("file {file}"), bytes: vec![900; nodes] };
    Work {
        job: "loop".to_owned(),
        parameters: serde_json::Map::new(),
        seed: 1,
        nodes,
        answer: None,
        files: (0..FILES).map(file).collect(),
        groups: Vec::new(),
        kinds: Vec::new(),
        phases: Vec::new(),
    }
}
