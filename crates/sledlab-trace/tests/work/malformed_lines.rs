//! Malformed and impossible lines, after a valid header.

use super::malformed::check_all;
use super::record;

#[test]
fn invalid_steps_are_rejected() {
    let cases = [
        (r#"{"phase": "a", "node": 0"#, "w:2:24: the line ends too early", "if the file was cut off"),
        (r"[1, 2]", "w:2: the line is not a JSON object", "begins with `{`"),
        ("\u{0}\u{1}", "w:2: the line is not a JSON object\n  found: \\u{0}\\u{1}", "begins with `{`"),
        (r#"{"phase": "a", 'node': 0}"#, "w:2:16: not JSON: key must be a string", "double quotes"),
        (r#"{"phase": "a", "node": 0} {}"#, "w:2:27: text after the end", "a separate line"),
        (r#"{"phase": "a"}"#, "w:2: the line names no node or group", "add `\"node\": 0`"),
        (r#"{"node": 0}"#, "w:2:11: the key `phase` is missing", "add `\"phase\""),
        (r#"{"phase": "a", "node": 0, "nodes": [1]}"#, "w:2: `node` and `nodes` on one line", "keep one"),
        (r#"{"phase": "a", "node": 4}"#, "w:2: there is no node 4", "nodes are numbered 0 to 3"),
        (r#"{"phase": "a", "node": -1}"#, "w:2:25: -1 is negative", "0 or more"),
        (r#"{"phase": "a", "nodes": "rihgt"}"#, "w:2: unknown group `rihgt`", "did you mean `right`?"),
        (
            r#"{"phase": "a", "nodes": {"from": 0}}"#,
            "w:2:25: expected the number of a node, the name of a group, or a list of them, found map",
            "write the number",
        ),
        (r#"{"phase": "a", "nodes": ["left", 0], "nodes": 1}"#, "w:2:44: duplicate key `nodes`", "keep one"),
        (r#"{"phase": "a", "node": 0, "red": []}"#, "w:2:31: unknown key `red`", "did you mean `reads`?"),
    ];
    check_all(cases.map(|(line, message_start, remedy)| (record(line).into_bytes(), message_start, remedy)));
}

#[test]
fn invalid_accesses_are_rejected() {
    let cases = [
        (
            r#"{"phase": "a", "node": 0, "reads": [{"filee": "data"}]}"#,
            "w:2:44: unknown key `filee`",
            "did you mean `file`?",
        ),
        (
            r#"{"phase": "a", "node": 0, "reads": [["data", 5]]}"#,
            "w:2:36: expected an object, found sequence",
            "write an object",
        ),
        (
            r#"{"phase": "a", "node": 0, "reads": [{"file": "dat"}]}"#,
            "w:2: unknown file `dat`",
            "did you mean `data`?",
        ),
        (
            r#"{"phase": "a", "node": 0, "reads": [{"file": "elephants"}]}"#,
            "w:2: unknown file `elephants`",
            "known: data, few",
        ),
        (
            r#"{"phase": "a", "node": 0, "reads": [{"file": "data", "bytes": 8193}]}"#,
            "w:2: 8193 bytes of `data`, which has 8192 on node 0",
            "correct the bytes",
        ),
        (
            r#"{"phase": "a", "nodes": "all", "writes": [{"file": "few", "bytes": 100}]}"#,
            "w:2: 100 bytes of `few`, which has 0 on node 2",
            "the size of the file in the header",
        ),
        (
            r#"{"phase": "a", "node": 0, "reads": [{"file": "data", "order": "sequental"}]}"#,
            "w:2: unknown order `sequental`",
            "did you mean `sequential`?",
        ),
        (
            r#"{"phase": "a", "node": 0, "reads": [{"file": "data", "order": "merge"}]}"#,
            "w:2: the order `merge` without `runs`",
            "add `\"runs\"",
        ),
        (
            r#"{"phase": "a", "node": 0, "reads": [{"file": "data", "order": "merge", "runs": 0}]}"#,
            "w:2: `runs` is 0",
            "1 or more",
        ),
        (
            r#"{"phase": "a", "node": 0, "reads": [{"file": "data", "runs": 3}]}"#,
            "w:2: `runs` with the order `sequential`",
            "omit `runs`",
        ),
        (
            r#"{"phase": "a", "node": 0, "reads": [{"file": "data", "per_block_of": "data"}]}"#,
            "w:2: `data` is read again for every block of itself",
            "the other file",
        ),
        (
            r#"{"phase": "a", "node": 0, "reads": [{"file": "data", "per_block_of": "few"}, {"file": "few", "per_block_of": "data"}]}"#,
            "w:2: `data` is read again for every block of `few`, `few` is read again for every block of `data`",
            "use separate phases",
        ),
        (
            r#"{"phase": "a", "node": 3, "reads": [{"file": "data", "per_block_of": "few"}]}"#,
            "w:2: `few` has no blocks on node 3",
            "omit the read",
        ),
        (
            r#"{"phase": "a", "node": 0, "writes": [{"file": "data", "per_block_of": "few"}]}"#,
            "w:2: `per_block_of` in `writes`",
            "only reads are repeated",
        ),
    ];
    check_all(cases.map(|(line, message_start, remedy)| (record(line).into_bytes(), message_start, remedy)));
}

#[test]
fn loop_of_three_files_is_rejected() {
    let (text, message_start, remedy) = (
        concat!(
            r#"{"work": 1, "job": "test", "nodes": 4, "files": {"data": 8192, "few": 200, "more": 400}}"#,
            "\n",
            r#"{"phase": "a", "node": 0, "reads": [{"file": "more"}, {"file": "few", "per_block_of": "more"}, {"file": "data", "per_block_of": "few"}]}"#,
        ),
        "w:2: `data` is read again for every block of `few`, `few` is read again for every block of `more`",
        "use separate phases",
    );
    check_all([(text.as_bytes().to_vec(), message_start, remedy)]);
}

#[test]
fn invalid_counts_are_rejected() {
    let cases = [
        (
            r#"{"phase": "a", "node": 0, "operations": {"hash": 1.5}}"#,
            "w:2:52: 1.5 is not written as a whole number",
            "write an integer",
        ),
        (
            r#"{"phase": "a", "node": 0, "operations": {"hash": NaN}}"#,
            "w:2:50: not a finite number",
            "write a whole number",
        ),
        (
            r#"{"phase": "a", "node": 0, "operations": {"hash": -Infinity}}"#,
            "w:2:51: not a finite number",
            "write a whole number",
        ),
        (
            r#"{"phase": "a", "node": 0, "operations": {"hash": "NaN"}}"#,
            "w:2:54: expected a whole number, found string",
            "write a whole number",
        ),
        (
            r#"{"phase": "a", "node": 0, "operations": {"hash": 1125899906842625}}"#,
            "w:2:65: 1125899906842625 is more than 2^50",
            "bytes, not bits",
        ),
        (
            r#"{"phase": "a", "node": 0, "operations": {"hash": 1e40}}"#,
            "w:2:53: 1e40 is more than 2^50",
            "check the number",
        ),
        (
            r#"{"phase": "a", "node": 0, "operations": {"hash": 1, "hash": 1}}"#,
            "w:2:62: duplicate name `hash`",
            "keep one",
        ),
        (
            r#"{"phase": "a", "node": 0, "message_bytes": 0}"#,
            "w:2: messages of 0 bytes",
            "omit `message_bytes`",
        ),
        (r#"{"phase": "a", "node": 0, "bytes": 5}"#, "w:2: `bytes` on the line of a step", "into `reads`"),
    ];
    check_all(cases.map(|(line, message_start, remedy)| (record(line).into_bytes(), message_start, remedy)));
}

#[test]
fn invalid_sends_are_rejected() {
    let cases = [
        ("[1, 2, 3]", "w:2: 3 numbers in `sends` for 4 nodes", "give 4, or 5"),
        ("[1, 2, 3, 4, 5, 6]", "w:2: 6 numbers in `sends` for 4 nodes", "give 4, or 5"),
        (r#"{"4": 5}"#, "w:2: there is no node 4 to receive", "besides `client`"),
        (r#"{"4294967295": 5}"#, "w:2:48: unknown receiver `4294967295`", "name a node by its number"),
        (r#"{"-1": 5}"#, "w:2:40: unknown receiver `-1`", "name a node by its number"),
        (r#"{"server": 5}"#, "w:2:44: unknown receiver `server`", "`client`"),
        (r#"{"1": 5, "01": 6}"#, "w:2:52: duplicate receiver `1`", "keep one"),
        (r#"{"client": 5, "client": 6}"#, "w:2:61: duplicate receiver `client`", "keep one"),
        (r#"{"each": 5, "each": 6}"#, "w:2:57: duplicate receiver `each`", "keep one"),
        (r#"{"each": -5}"#, "w:2:46: -5 is negative", "0 or more"),
        (
            "7",
            "w:2:36: expected a list of numbers, an object by receiver, or a packed row, found integer",
            "write a list",
        ),
        (r#""all""#, "w:2:40: a packed row begins with `varint:`", "pack the row again"),
        (r#""varint:?""#, "w:2:45: the row is not base64", "pack the row again"),
        (r#""varint:AQID""#, "w:2: 3 numbers in `sends` for 4 nodes", "give 4, or 5"),
        (r#""varint:AQIDgA==""#, "w:2:52: number 3 of the row is cut off", "pack the row again"),
        (
            r#""varint:gICAgICAgICAAQ==""#,
            "w:2:60: number 0 of the row has too many bytes",
            "pack the row again",
        ),
        (r#""varint://///////w8=""#, "w:2:56: number 0 of the row is more than 2^50", "pack the row again"),
    ];
    let line =
        |sends: &str| record(&format!(r#"{{"phase": "a", "node": 0, "sends": {sends}}}"#)).into_bytes();
    check_all(cases.map(|(sends, message_start, remedy)| (line(sends), message_start, remedy)));
}

#[test]
fn invalid_collectives_are_rejected() {
    let cases = [
        (
            r#""collective": "all-gathr", "bytes": 1"#,
            "w:2: unknown collective `all-gathr`",
            "did you mean `all-gather`?",
        ),
        (r#""collective": "gather""#, "w:2: a gather without `bytes`", "add `\"bytes\""),
        (
            r#""collective": "gather", "bytes": [1, 2]"#,
            "w:2: 2 numbers in `bytes` for 4 members",
            "one for each member",
        ),
        (
            r#""collective": "gather", "bytes": [1, 2, 3], "group": "left""#,
            "w:2: 3 numbers in `bytes` for 2 members",
            "one for each",
        ),
        (r#""collective": "barrier", "bytes": 1"#, "w:2: a barrier with `bytes`", "omit them"),
        (
            r#""collective": "reduce", "bytes": 1, "root": 2, "group": "right""#,
            "w:2: there is no member 2 to be the root",
            "give 0 to 1",
        ),
        (
            r#""collective": "all-reduce", "bytes": 1, "root": 0"#,
            "w:2: a root of the collective `all-reduce`",
            "omit `root`",
        ),
        (
            r#""collective": "reduce", "bytes": 1, "group": "center""#,
            "w:2: unknown group `center`",
            "known: left, right, both, all",
        ),
        (r#""collective": "barrier", "group": []"#, "w:2: a barrier without members", "omit `group`"),
        (r#""collective": "barrier", "nodes": "all""#, "w:2: `nodes` on the line of a collective", "`group`"),
    ];
    let line = |keys: &str| record(&format!(r#"{{"phase": "a", {keys}}}"#)).into_bytes();
    check_all(cases.map(|(keys, message_start, remedy)| (line(keys), message_start, remedy)));
}
