//! Answers: a JSON text, followed by columns of numbers to which the text refers.
//!
//! The bytes of an answer: the length of the text (u32, little-endian), four zeros, the text, zeros up to a multiple of
//! 8, the columns, each of which begins at a multiple of 8. In the text a column is `{"$column": [type, offset,
//! length]}`.

use serde_json::{Value, json};
use sledlab_core::{Error, Result};

/// The values of a column, by type.
pub(crate) enum Column<'a> {
    F64(&'a [f64]),
    U32(&'a [u32]),
    I32(&'a [i32]),
    U16(&'a [u16]),
    U8(&'a [u8]),
}

/// An answer under construction.
#[derive(Default)]
pub(crate) struct AnswerBuilder {
    columns: Vec<u8>,
}

/// A complete answer, as bytes.
pub(crate) struct Answer(Vec<u8>);

impl AnswerBuilder {
    /// Adds a column, and returns the JSON value that refers to it.
    pub fn column(&mut self, column: &Column) -> Value {
        self.columns.resize(self.columns.len().next_multiple_of(8), 0);
        let offset = self.columns.len();
        let bytes = &mut self.columns;
        let (kind, length) = match column {
            Column::F64(values) => ("f64", append_values(bytes, values, f64::to_le_bytes)),
            Column::U32(values) => ("u32", append_values(bytes, values, u32::to_le_bytes)),
            Column::I32(values) => ("i32", append_values(bytes, values, i32::to_le_bytes)),
            Column::U16(values) => ("u16", append_values(bytes, values, u16::to_le_bytes)),
            Column::U8(values) => ("u8", append_values(bytes, values, u8::to_le_bytes)),
        };
        json!({ "$column": [kind, offset, length] })
    }

    /// Adds a column of numbers, and returns the JSON value that refers to it.
    pub fn numbers(&mut self, values: impl IntoIterator<Item = f64>) -> Value {
        self.column(&Column::F64(&values.into_iter().collect::<Vec<_>>()))
    }

    /// Completes the answer: `body` becomes its JSON text.
    pub fn finish(self, body: &impl serde::Serialize) -> Result<Answer> {
        let json = serde_json::to_vec(body)
            .map_err(|error| Error::internal(format!("cannot write an answer as JSON: {error}")))?;
        let mut bytes = Vec::with_capacity(16 + json.len() + self.columns.len());
        bytes.extend_from_slice(&(json.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&json);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes.extend_from_slice(&self.columns);
        Ok(Answer(bytes))
    }
}

impl Answer {
    /// An answer that is only a text.
    pub fn from_json(body: &impl serde::Serialize) -> Result<Answer> {
        AnswerBuilder::default().finish(body)
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

fn append_values<T: Copy, const N: usize>(
    bytes: &mut Vec<u8>,
    values: &[T],
    encode: fn(T) -> [u8; N],
) -> usize {
    bytes.reserve(N * values.len());
    for value in values {
        bytes.extend_from_slice(&encode(*value));
    }
    values.len()
}
