//! The per-request table in columns.

use serde_json::{Map, Value};
use sledlab_core::Result;
use sledlab_sim::Rows;

use crate::answer::{Answer, AnswerBuilder, Column};

/// Columns that the page does not use.
const UNUSED_COLUMNS: [&str; 3] = ["response_ns", "reposition_ns", "metadata"];

/// The rows of completed requests, in order of completion.
#[derive(Default)]
pub(crate) struct CompletedRows {
    columns: Vec<(&'static str, Vec<f64>)>,
    op: Vec<u8>,
    device: Vec<f64>,
}

impl CompletedRows {
    /// Adds rows.
    pub fn append(&mut self, rows: &Rows) {
        let expected = rows.columns().into_iter().filter(|(name, _)| !UNUSED_COLUMNS.contains(name));
        for (place, (name, values)) in expected.enumerate() {
            if place == self.columns.len() {
                self.columns.push((name, Vec::new()));
            }
            self.columns[place].1.extend(values.iter().map(|value| *value as f64));
        }
        self.op.extend_from_slice(&rows.op);
        let device = |number: &u64| if *number == u64::MAX { -1.0 } else { *number as f64 };
        self.device.extend(rows.device.iter().map(device));
    }

    /// The rows from number `from` on, in columns.
    pub fn encode_rows(&self, from: usize) -> Result<Answer> {
        let mut answer = AnswerBuilder::default();
        let mut columns = Map::new();
        for (name, values) in &self.columns {
            columns.insert(
                (*name).to_owned(),
                answer.column(&Column::F64(values.get(from..).unwrap_or_default())),
            );
        }
        columns.insert("op".to_owned(), answer.column(&Column::U8(self.op.get(from..).unwrap_or_default())));
        columns.insert(
            "device".to_owned(),
            answer.column(&Column::F64(self.device.get(from..).unwrap_or_default())),
        );
        answer.finish(&Value::Object(columns))
    }
}
