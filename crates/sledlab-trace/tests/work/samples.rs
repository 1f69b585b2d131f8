//! The records in `sample/work`.

use std::path::PathBuf;

use sledlab_trace::work::{PageOrder, Work};

use super::{bytes, parse};

fn sample(name: &str) -> Work {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../sample/work");
    let work = Work::read(folder.join(format!("{name}.work"))).unwrap();
    assert_eq!((work.job.as_str(), work.nodes), (name, 4));
    assert_eq!(parse(bytes(&work)).unwrap(), work);
    work
}

/// Bytes that each node sends to itself in a phase.
fn self_sent_bytes(work: &Work, phase: usize) -> Vec<u64> {
    let steps = work.phases[phase].steps.iter().enumerate();
    steps.map(|(node, step)| step.bytes_for_port(node as u32)).collect()
}

#[test]
fn scan_sample_matches_definition() {
    let work = sample("scan");
    let [phase] = &work.phases[..] else { panic!("one phase") };
    assert_eq!(phase.bytes_received()[work.nodes], work.bytes_sent());
    let read: u64 = phase.steps.iter().map(|step| step.reads[0].bytes).sum();
    assert_eq!(read, 4 * 8 * 1024 * 1024);
    assert_eq!(work.bytes_sent() * 100 / read, 1);
}

#[test]
fn sort_sample_matches_definition() {
    let work = sample("sort");
    let names: Vec<&str> = work.phases.iter().map(|phase| &*phase.name).collect();
    assert_eq!(names, ["sampling", "re-distribution", "internal sort", "merge"]);
    // The nodes write the bytes that they receive and those that they keep.
    let received = work.phases[1].bytes_received();
    let bucket = &work.files[work.file("bucket").unwrap()];
    for (node, kept_bytes) in self_sent_bytes(&work, 1).into_iter().enumerate() {
        assert_eq!(received[node] + kept_bytes, bucket.bytes[node]);
        assert_eq!(work.phases[1].steps[node].writes[0].bytes, bucket.bytes[node]);
    }
    let steps = &work.phases[3].steps;
    assert!(steps.iter().all(|step| matches!(step.reads[0].order, PageOrder::Merge { runs: 4..=5 })));
}

#[test]
fn join_sample_matches_definition() {
    let work = sample("join");
    let received = work.phases[1].bytes_received();
    let parts = ["orders-part", "lineitem-part"].map(|name| &work.files[work.file(name).unwrap()]);
    for (node, kept_bytes) in self_sent_bytes(&work, 1).into_iter().enumerate() {
        assert_eq!(received[node] + kept_bytes, parts[0].bytes[node] + parts[1].bytes[node]);
    }
    let inner = &work.phases[2].steps[3].reads[1];
    assert_eq!(inner.per_block_of, work.file("orders-part"));
    assert_eq!(work.groups[1].members, [2, 3]);
}

#[test]
fn exchange_sample_matches_definition() {
    let work = sample("exchange");
    assert_eq!(work.bytes_sent(), 12 << 20);
    assert_eq!(work.phases[0].bytes_received(), [3 << 20, 3 << 20, 3 << 20, 3 << 20, 0]);
}

#[test]
fn documented_examples_match() {
    let page = include_str!("../../../../docs/work.md");
    let blocks = |language: &str| {
        let start = format!("```{language}\n");
        page.split(&start).skip(1).filter_map(|rest| rest.split("```").next()).collect::<Vec<_>>()
    };
    let minimal = blocks("json")[0];
    assert_eq!(parse(minimal).unwrap().bytes_sent(), 4 * 83_951);
    let (header, _) = minimal.split_once('\n').unwrap();
    let misspelled =
        format!("{header}\n{}", r#"{"phase": "scan", "nodes": "all", "reads": [{"file": "linitem"}]}"#);
    let error = Work::parse("my.work", std::io::Cursor::new(misspelled)).unwrap_err();
    assert_eq!(format!("{error}\n"), blocks("text")[0]);
    // The packed row of the table is the row above it.
    let work_with_sends = |sends: &str| {
        parse(super::record(&format!(r#"{{"phase": "a", "node": 1, "sends": {sends}}}"#))).unwrap()
    };
    let forms: Vec<&str> = ["| row |", "| packed row |"]
        .iter()
        .filter_map(|form| page.split(form).nth(1)?.split('`').nth(1))
        .collect();
    assert_eq!(work_with_sends(forms[0]), work_with_sends(forms[1]));
}
