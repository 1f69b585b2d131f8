//! Different ways to write the same record.

use std::io::Write;

use sledlab_trace::work::{CollectiveKind, FileAccess, NodeStep, PageOrder, Work, pack};

use super::{bytes, parse, record};

fn step(line: &str, node: usize) -> NodeStep {
    parse(record(line)).unwrap().phases[0].steps[node].clone()
}

#[test]
fn send_encodings_are_equivalent() {
    let lines = |sends: &str| record(&format!(r#"{{"phase": "a", "node": 1, "sends": {sends}}}"#));
    let row = parse(lines("[5000, 0, 5000, 5000, 100]")).unwrap();
    assert_eq!(row.phases[0].steps[1].sends, [(0, 5000), (2, 5000), (3, 5000), (4, 100)]);
    let packed_row = format!("{:?}", pack([5000, 0, 5000, 5000, 100]));
    assert_eq!(packed_row, r#""varint:iCcAiCeIJ2Q=""#);
    let alternatives = [
        r#"{"3": 5000, "0": 5000, "client": 100, "2": 5000, "1": 0}"#,
        r#"{"client": 100, "each": 5000}"#,
        r#"{"client": 100, "each": 5000, "2": 5000, "1": 0}"#,
        &packed_row,
        packed_row.trim_end_matches(['=', '"']).to_owned().leak(),
    ];
    for alternative in alternatives {
        let alternative = if alternative.ends_with(['}', '"']) {
            alternative.to_owned()
        } else {
            format!("{alternative}\"")
        };
        assert_eq!(parse(lines(&alternative)).unwrap(), row, "{alternative}");
    }
    assert_eq!((row.bytes_sent(), row.client()), (15_100, 4));
    assert_eq!(row.phases[0].bytes_received(), [5000, 0, 5000, 5000, 100]);
}

#[test]
fn sends_to_self_are_no_exchange() {
    let work = parse(record(r#"{"phase": "a", "nodes": "all", "sends": [1, 2, 3, 4]}"#)).unwrap();
    let phase = &work.phases[0];
    assert_eq!(phase.bytes_sent().collect::<Vec<_>>(), [9, 8, 7, 6]);
    assert_eq!(phase.bytes_received(), [3, 6, 9, 12, 0]);
    assert_eq!((work.bytes_sent(), phase.has_exchange()), (30, true));
    assert_eq!((phase.steps[2].bytes_for_port(2), phase.steps[2].bytes_for_port(4)), (3, 0));
    let self_send = parse(record(r#"{"phase": "a", "node": 2, "sends": {"2": 7}}"#)).unwrap();
    assert!(!self_send.phases[0].has_exchange());
}

#[test]
fn each_means_all_unlisted_nodes() {
    let line = r#"{"phase": "a", "nodes": "right", "sends": {"each": 9, "1": 0, "2": 5}}"#;
    assert_eq!(step(line, 2).sends, [(0, 9), (2, 5), (3, 9)]);
    assert_eq!(step(line, 3).sends, [(0, 9), (2, 5)]);
    assert_eq!(step(line, 1), NodeStep::default());
}

#[test]
fn node_selectors_have_four_forms() {
    let steps = |nodes: &str| {
        let line = format!(r#"{{"phase": "a", "nodes": {nodes}, "memory": 5}}"#);
        let work = parse(record(&line)).unwrap();
        work.phases[0].steps.iter().map(|step| step.memory).collect::<Vec<_>>()
    };
    assert_eq!(steps(r#""left""#), [5, 5, 0, 0]);
    assert_eq!(steps(r#""all""#), [5; 4]);
    assert_eq!(steps(r#""both""#), [5; 4]);
    assert_eq!(steps("[3, 0]"), [5, 0, 0, 5]);
    assert_eq!(steps(r#"["left", 1, 3]"#), [5, 5, 0, 5]);
    assert_eq!(steps("2"), [0, 0, 5, 0]);
    assert_eq!(steps("[]"), [0; 4]);
}

#[test]
fn accesses_have_defaults() {
    let line = r#"{"phase": "a", "nodes": "left", "reads": [{"file": "data"}, {"file": "few", "bytes": 0},
        {"file": "few", "order": "random"}, {"file": "data", "per_block_of": "few"}],
        "writes": [{"file": "data", "bytes": 5, "order": "streams"}, {"file": "data", "order": "merge", "runs": 9}]}"#;
    let step_read = step(&line.replace('\n', ""), 1);
    let access =
        |file, bytes, order| FileAccess { file, bytes, order, per_block_of: None, is_background: false };
    let inner = FileAccess { per_block_of: Some(1), ..access(0, 8192, PageOrder::Sequential) };
    assert_eq!(
        step_read.reads,
        [access(0, 8192, PageOrder::Sequential), access(1, 200, PageOrder::Random), inner]
    );
    let merge = access(0, 8192, PageOrder::Merge { runs: 9 });
    assert_eq!(step_read.writes, [access(0, 5, PageOrder::Streams { runs: 4 }), merge]);
    // An access without bytes, to a file that is empty on a node, is omitted there.
    let idle_step = step(r#"{"phase": "a", "node": 2, "reads": [{"file": "few"}]}"#, 2);
    assert!(idle_step.is_idle());
}

#[test]
fn collectives_have_members_and_root() {
    let work = parse(record(concat!(
        r#"{"phase": "a", "collective": "all-reduce", "bytes": 10}"#,
        "\n",
        r#"{"phase": "a", "node": 0, "memory": 5}"#,
        "\n",
        r#"{"phase": "a", "collective": "gather", "bytes": [1, 2], "group": "right", "root": 1}"#,
        "\n",
        r#"{"phase": "b", "collective": "barrier", "group": [3, "left"]}"#,
    )))
    .unwrap();
    let [all, gather] = &work.phases[0].collectives[..] else { panic!("two collectives") };
    assert_eq!(
        (all.kind, &all.members[..], &all.bytes[..]),
        (CollectiveKind::AllReduce, &[0, 1, 2, 3][..], &[10; 4][..])
    );
    assert_eq!((gather.root, &gather.members[..], &gather.bytes[..]), (1, &[2, 3][..], &[1, 2][..]));
    assert_eq!(work.phases[1].collectives[0].members, [0, 1, 3]);
    assert_eq!(parse(bytes(&work)).unwrap(), work);
}

#[test]
fn groups_may_name_later_groups_and_share_nodes() {
    let chain: Vec<String> = (0..20_000).map(|i| format!(r#""g{i}": ["g{}"], "#, i + 1)).collect();
    let chain = chain.concat();
    let text = format!(
        "{{\"work\": 1, \"job\": \"j\", \"nodes\": 3, \"files\": {{}}, \"groups\": {{{chain} \"g20000\": [2, 1], \
         \"u\": [\"g5\", 0, 1]}}}}\n{{\"phase\": \"a\", \"nodes\": \"g0\", \"memory\": 1}}"
    );
    let work = parse(text).unwrap();
    assert_eq!(
        (&work.groups[0].members[..], &work.groups[20_001].members[..]),
        (&[1, 2][..], &[0, 1, 2][..])
    );
}

#[test]
fn kinds_are_numbered_by_phase_and_node() {
    let line_of = |node: usize, kinds: &str| {
        format!("{{\"phase\": \"a\", \"node\": {node}, \"operations\": {kinds}}}\n")
    };
    let reordered = parse(record(
        &(line_of(1, r#"{"hash": 5, "probe": 0}"#) + &line_of(0, r#"{"tuple": 7, "hash": 3}"#)),
    ))
    .unwrap();
    let other =
        parse(record(&(line_of(0, r#"{"hash": 3, "tuple": 7}"#) + &line_of(1, r#"{"hash": 5}"#)))).unwrap();
    assert_eq!(reordered, other);
    assert_eq!(reordered.kinds, ["hash", "tuple"]);
    assert_eq!(reordered.phases[0].steps[0].operations, [(0, 3), (1, 7)]);
}

#[test]
fn compression_blank_lines_and_crlf_are_accepted() {
    let plain =
        record("\r\n\n{\"phase\": \"a\", \"nodes\": \"all\", \"reads\": [{\"file\": \"data\"}]}\r\n\n");
    let work = parse(&plain).unwrap();
    assert_eq!(parse(format!("\u{feff}\n{plain}")).unwrap(), work);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(plain.as_bytes()).unwrap();
    assert_eq!(parse(gzip.finish().unwrap()).unwrap(), work);
    assert_eq!(parse(zstd::encode_all(plain.as_bytes(), 1).unwrap()).unwrap(), work);
}

#[test]
fn long_lines_are_accepted() {
    let nodes = 20_000;
    let row: Vec<String> = (0..nodes).map(|i| (1_000_000_000 + i).to_string()).collect();
    let text = format!(
        "{{\"work\": 1, \"job\": \"j\", \"nodes\": {nodes}, \"files\": {{\"f\": [{}]}}}}\n\
         {{\"phase\": \"a\", \"node\": 7, \"sends\": [{}]}}\n",
        row.join(","),
        row.join(",")
    );
    assert!(text.len() > 400_000);
    let work = parse(text).unwrap();
    assert_eq!(work.phases[0].steps[7].sends.len(), nodes);
    assert_eq!(parse(bytes(&work)).unwrap(), work);
}

#[test]
fn equal_values_are_written_once() {
    let work = parse(record(concat!(
        r#"{"phase": "a", "nodes": [0, 2], "reads": [{"file": "data", "order": "streams"}], "sends": {"each": 5}}"#,
        "\n",
        r#"{"phase": "a", "nodes": [1, 3], "memory": 7}"#,
        "\n",
        r#"{"phase": "rest", "node": 2}"#,
    )))
    .unwrap();
    let written_text = String::from_utf8(bytes(&work)).unwrap();
    let (header, lines) = written_text.split_once('\n').unwrap();
    assert!(
        header.starts_with(r#"{"work":1,"job":"test","seed":0,"nodes":4,"lines":3,"files":{"data":8192,"#)
    );
    let expected = concat!(
        r#"{"phase":"a","nodes":[0,2],"reads":[{"file":"data","order":"streams"}],"sends":{"each":5}}"#,
        "\n",
        r#"{"phase":"a","nodes":[1,3],"memory":7}"#,
        "\n",
        r#"{"phase":"rest","nodes":"all"}"#,
        "\n"
    );
    assert_eq!(lines, expected);
    assert_eq!(parse(written_text).unwrap(), work);
}

#[test]
fn dangling_index_is_rejected() {
    let mut work: Work = parse(record(r#"{"phase": "a", "node": 0, "operations": {"hash": 1}}"#)).unwrap();
    work.kinds.clear();
    let error = work.write(Vec::new()).unwrap_err();
    assert!(error.to_string().contains("no kind of operation number 0"), "{error}");
}
