//! The per-request table in columns.

use serde_json::{Map, Value};
use sledlab_core::Result;
use sledlab_sim::Rows;

use crate::answer::{Answer, AnswerBuilder, Column};

/// Columns that the page does not use.
const UNUSED_COLUMNS: [&str; 3] = ["response_ns", "reposition_ns", "metadata"];

/// The rows of completed requests, in order of completion.
pub(crate) struct CompletedRows {
    /// Names of the columns to keep; none for all.
    chosen: Vec<String>,
    columns: Vec<(&'static str, Vec<f64>)>,
    op: Vec<u8>,
    device: Vec<f64>,
}

impl CompletedRows {
    /// No rows yet, with these columns, or all where none is named.
    pub fn new(chosen: Vec<String>) -> Self {
        CompletedRows { chosen, columns: Vec::new(), op: Vec::new(), device: Vec::new() }
    }

    /// Adds rows.
    pub fn append(&mut self, rows: &Rows) {
        let used_columns = rows.columns().into_iter().filter(|(name, _)| !UNUSED_COLUMNS.contains(name));
        for (index, (name, values)) in used_columns.enumerate() {
            if index == self.columns.len() {
                self.columns.push((name, Vec::new()));
            }
            if self.is_chosen(name) {
                self.columns[index].1.extend(values.iter().map(|value| *value as f64));
            }
        }
        if self.is_chosen("op") {
            self.op.extend_from_slice(&rows.op);
        }
        if self.is_chosen("device") {
            let device = |number: &u64| if *number == u64::MAX { -1.0 } else { *number as f64 };
            self.device.extend(rows.device.iter().map(device));
        }
    }

    /// The rows, in columns; a column that was not chosen is empty.
    pub fn encode_rows(&self) -> Result<Answer> {
        let mut answer = AnswerBuilder::default();
        let mut columns = Map::new();
        for (name, values) in &self.columns {
            columns.insert((*name).to_owned(), answer.column(&Column::F64(values)));
        }
        columns.insert("op".to_owned(), answer.column(&Column::U8(&self.op)));
        columns.insert("device".to_owned(), answer.column(&Column::F64(&self.device)));
        answer.finish(&Value::Object(columns))
    }

    fn is_chosen(&self, name: &str) -> bool {
        self.chosen.is_empty() || self.chosen.iter().any(|chosen| chosen == name)
    }
}
