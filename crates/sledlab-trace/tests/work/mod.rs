//! Work records: reading, refusing, writing.

mod forms;
mod malformed;
mod malformed_lines;
mod round_trip;
mod samples;

use std::io::Cursor;

use sledlab_core::Result;
use sledlab_trace::work::Work;

fn parse(text: impl AsRef<[u8]>) -> Result<Work> {
    Work::parse("w", Cursor::new(text.as_ref().to_vec()))
}

fn bytes(work: &Work) -> Vec<u8> {
    let mut bytes = Vec::new();
    work.write(&mut bytes).unwrap();
    bytes
}

/// A record of four nodes, with two files and two groups, and the given lines.
fn record(lines: &str) -> String {
    let header = r#"{"work": 1, "job": "test", "nodes": 4, "files": {"data": 8192, "few": [100, 200, 0, 0]}, "groups": {"left": [0, 1], "right": [2, 3], "both": ["right", "left"]}}"#;
    format!("{header}\n{lines}\n")
}
