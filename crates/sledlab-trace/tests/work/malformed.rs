//! Malformed and impossible records, and the errors for them: line, message and remedy.

use std::io::Write;

use super::{parse, record};

/// Asserts that the error begins with `message_start`, place and message, and that its remedy contains `remedy`.
fn check(text: impl AsRef<[u8]>, message_start: &str, remedy: &str) {
    check_all([(text.as_ref().to_vec(), message_start, remedy)]);
}

/// As [`check`], for many records: reports all that fail at once.
pub(super) fn check_all<'a>(cases: impl IntoIterator<Item = (Vec<u8>, &'a str, &'a str)>) {
    let failures = cases.into_iter().filter_map(|(text, message_start, remedy)| {
        let error = parse(text).expect_err(message_start);
        assert_eq!(error.origin(), sledlab_core::error::ErrorOrigin::User);
        let is_expected = error.to_string().starts_with(message_start)
            && error.remedy().is_some_and(|remedy_text| remedy_text.contains(remedy));
        (!is_expected).then(|| format!("expected: {message_start} ... {remedy}\nactual: {error}\n"))
    });
    let failures: Vec<String> = failures.collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Checks headers alone; a step follows those that are valid so far.
fn check_headers<const N: usize>(cases: [(&str, &str, &str); N]) {
    const STEP: &str = "\n{\"phase\": \"a\", \"nodes\": \"all\"}\n";
    check_all(cases.map(|(header, message_start, remedy)| {
        let lines = if header.contains("files") { STEP } else { "" };
        (format!("{header}{lines}").into_bytes(), message_start, remedy)
    }));
}

#[test]
fn invalid_headers_are_rejected() {
    let cases = [
        ("", "w: the record is empty", "check where the file came from"),
        ("\n \n", "w: the record is empty", "check where the file came from"),
        ("\u{1}\u{2}junk\u{0}", "w:1: this is not a work record\n  help: ", "the first line is a header"),
        (
            "time_us,op,offset_bytes,length_bytes",
            "w:1: this is not a work record",
            "the first line is a header",
        ),
        (r#"{"phase": "a", "node": 0}"#, "w:1: the header is missing", "the first line is a header"),
        ("{\n", "w:1:1: the line ends too early", "write each object on one line"),
        (r#"{"work": 2, "task": 1}"#, "w:1: version 2 of work records is not supported", "reads version 1"),
        (r#"{"work": "1"}"#, "w:1: version \\\"1\\\" of work records", "reads version 1"),
        (r#"{"work": 1, "job": "j", "nodes": 4}"#, "w:1:35: the key `files` is missing", "add `\"files\""),
        (
            r#"{"work": 1, "job": "j", "node": 4, "files": {}}"#,
            "w:1:30: unknown key `node`",
            "did you mean `nodes`?",
        ),
        (
            r#"{"work": 1, "job": "j", "nodes": 0, "files": {}}"#,
            "w:1: a record of 0 nodes",
            "give 1 to 65536 nodes",
        ),
        (
            r#"{"work": 1, "job": "j", "nodes": 65537, "files": {}}"#,
            "w:1: a record of 65537 nodes",
            "give 1 to 65536",
        ),
        (
            r#"{"work": 1, "job": "j", "nodes": "4", "files": {}}"#,
            "w:1:36: expected a whole number, found string",
            "write a whole number",
        ),
        (
            r#"{"work": 1, "job": 7, "nodes": 4, "files": {}}"#,
            "w:1:20: expected a name in quotes, found integer",
            "write a name",
        ),
        (r#"{"work": 1, "job": "", "nodes": 4, "files": {}}"#, "w:1:21: a name is empty", "give it a name"),
        (
            r#"{"work": 1, "job": "a\nb", "nodes": 4, "files": {}}"#,
            "w:1:25: a name contains control characters",
            "letters",
        ),
        (
            r#"{"work": 1, "job": "j", "job": "k", "nodes": 4, "files": {}}"#,
            "w:1:29: duplicate key `job`",
            "keep one",
        ),
        (
            r#"{"work": 1, "job": "j", "nodes": 4, "seed": -1, "files": {}}"#,
            "w:1:46: -1 is negative",
            "0 or more",
        ),
    ];
    check_headers(cases);
}

#[test]
fn invalid_files_and_groups_are_rejected() {
    let cases = [
        (
            r#"{"work": 1, "job": "j", "nodes": 4, "files": []}"#,
            "w:1:45: expected an object, found sequence",
            "write an object",
        ),
        (
            r#"{"work": 1, "job": "j", "nodes": 4, "files": {"a": [1, 2]}}"#,
            "w:1: the file `a` has 2 sizes for 4 nodes",
            "one for each node",
        ),
        (
            r#"{"work": 1, "job": "j", "nodes": 4, "files": {"a": 1, "a": 2}}"#,
            "w:1:61: duplicate name `a`",
            "keep one",
        ),
        (
            r#"{"work": 1, "job": "j", "nodes": 9999, "files": {"a": 1125899906842624}}"#,
            "w:1: the parts of the file `a` add up to more than 2^63",
            "bytes, not bits",
        ),
        (
            r#"{"work": 1, "job": "j", "nodes": 2, "files": {}, "groups": {"all": [0]}}"#,
            "w:1: `all` cannot be declared",
            "choose another",
        ),
        (
            r#"{"work": 1, "job": "j", "nodes": 2, "files": {}, "groups": {"a": [2]}}"#,
            "w:1: there is no node 2",
            "nodes are numbered 0 to 1",
        ),
        (
            r#"{"work": 1, "job": "j", "nodes": 2, "files": {}, "groups": {"a": []}}"#,
            "w:1: the group `a` is empty",
            "omit the group",
        ),
        (
            r#"{"work": 1, "job": "j", "nodes": 2, "files": {}, "groups": {"a": ["a"]}}"#,
            "w:1: the group `a` is its own member",
            "let groups name nodes",
        ),
        (
            r#"{"work": 1, "job": "j", "nodes": 2, "files": {}, "groups": {"a": ["b"], "b": ["c", 1], "c": ["a"]}}"#,
            "w:1: the group `c` names `a`, which leads back",
            "let groups name nodes",
        ),
        (
            r#"{"work": 1, "job": "j", "nodes": 2, "files": {}, "groups": {"left": [0], "both": ["lefft"]}}"#,
            "w:1: unknown group `lefft`",
            "did you mean `left`?",
        ),
        (
            r#"{"work": 1, "job": "j", "nodes": 2, "files": {}, "groups": {"a": [0, 1, 0]}}"#,
            "w:1: node 0 is repeated in a list",
            "keep one",
        ),
        (
            r#"{"work": 1, "job": "j", "nodes": 2, "lines": 3, "files": {}}"#,
            "w:2: the record ends after 1 of 3 lines",
            "cut off",
        ),
        (
            r#"{"work": 1, "job": "j", "nodes": 2, "lines": 0, "files": {}}"#,
            "w:2: the record has 1 lines",
            "correct `lines`",
        ),
    ];
    check_headers(cases);
    check(record(""), "w:2: the record contains no step", "add a line");
    check(
        r#"{"work": 1, "job": "j", "nodes": 2, "files": {}}"#,
        "w:1: the record contains no step",
        "add a line",
    );
}

#[test]
fn invalid_phases_are_rejected() {
    let line = |phase: &str, node: usize| format!("{{\"phase\": \"{phase}\", \"node\": {node}}}\n");
    let twice = record(&(line("a", 0) + &line("a", 1) + &line("a", 0)));
    check(twice, "w:4: a second step of node 0 in the phase `a`", "on one line");
    let returning = record(&(line("a", 0) + "\n" + &line("b", 0) + &line("a", 1)));
    check(returning, "w:5: the phase `a` appears again after another phase", "pass 1");
}

#[test]
fn overflowing_sums_are_rejected() {
    let header = r#"{"work": 1, "job": "j", "nodes": 65536, "files": {}}"#;
    let cases = [
        (
            r#""nodes": "all", "sends": {"client": 1125899906842624}"#,
            "the bytes sent add up to more than 2^63",
        ),
        (
            r#""nodes": "all", "operations": {"x": 1125899906842624}"#,
            "the operations add up to more than 2^63",
        ),
        (
            r#""collective": "all-gather", "bytes": 1125899906842624"#,
            "the bytes of collectives, each to all members, add up",
        ),
        (
            r#""nodes": "all", "sends": {"each": 1}"#,
            "up to this line the record needs more than 2 GiB of memory",
        ),
    ];
    for (line, message) in cases {
        let message_start = format!("w:2: {message}");
        let remedy = if line.contains("each") { "record fewer nodes" } else { "bytes, not bits" };
        check(format!("{header}\n{{\"phase\": \"a\", {line}}}"), &message_start, remedy);
    }
}

#[test]
fn long_names_and_lines_are_cut_in_messages() {
    let long_name = "x".repeat(100_000);
    check(
        record(&format!(r#"{{"phase": "{long_name}", "node": 0}}"#)),
        "w:2:100012: a name is longer than 200 bytes",
        "shorten",
    );
    check(
        record(&format!(r#"{{"{long_name}": 5}}"#)),
        "w:2:100003: unknown key `xxxx",
        "known: phase, node, nodes",
    );
    let endless_line = "{".to_owned() + &" ".repeat(17 << 20);
    check(record(&endless_line), "w:2:16777216: line longer than 16 MiB", "line ends may be lost");
    let deep_nesting = format!("{{\"phase\": \"a\", \"node\": 0, \"reads\": {}", "[".repeat(100_000));
    assert!(parse(record(&deep_nesting)).is_err());
    for text in [
        format!(r#"{{"{long_name}": 5}}"#),
        format!(r#"{{"phase": "a", "node": 0, "memory": "{long_name}"}}"#),
    ] {
        assert!(parse(record(&text)).unwrap_err().to_string().len() < 1000);
    }
}

#[test]
fn truncated_and_damaged_archives_are_rejected() {
    let text = record(r#"{"phase": "a", "node": 0, "memory": 5}"#);
    let compressed = zstd::encode_all(text.as_bytes(), 3).unwrap();
    check(
        &compressed[..compressed.len() - 5],
        "w: the zstd data ends too early",
        "copy, download or compress",
    );
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let mut damaged = gzip.finish().unwrap();
    let checksum = damaged.len() - 8;
    damaged[checksum] ^= 1;
    check(damaged, "w: damaged gzip data", "copy, download or compress");
}
