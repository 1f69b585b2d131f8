//! Errors about a line of a record: the message, the place and the remedy.

use serde::Deserialize;
use serde_json::error::Category;
use sledlab_core::Error;

/// Separates a message from its remedy in errors that pass through the JSON reader.
const REMEDY_SEPARATOR: char = '\u{1f}';

/// Bytes of an offending line shown in an error.
const MAX_SHOWN_BYTES: usize = 80;

/// Most characters of a text from the file that a message repeats.
const MAX_QUOTED_CHARS: usize = 60;

/// Most characters of a remedy that lists names.
const MAX_REMEDY_CHARS: usize = 300;

/// An error about a line, and its column from 1; column 0 means the entire line.
#[derive(Debug)]
pub(super) struct Fault {
    column: usize,
    error: Error,
    /// Whether the error shows none of the line's text.
    hides_text: bool,
}

pub(super) type ParseResult<T> = Result<T, Fault>;

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault { column: 0, error, hides_text: false }
    }
}

impl Fault {
    #[cold]
    pub(super) fn new(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Error::user(message).with_remedy(remedy).into()
    }

    /// Returns the fault without the text of the line in its error, because a file of another kind may be private.
    #[cold]
    pub(super) fn without_text(self) -> Self {
        Fault { hides_text: true, ..self }
    }

    /// The fault of an unknown name; a long list of known names is cut.
    #[cold]
    pub(super) fn unknown_name<'a>(
        kind: &str,
        name: &str,
        known_names: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let error = Error::unknown_name(kind, &quote(name), known_names);
        match error.remedy().filter(|remedy| remedy.len() > MAX_REMEDY_CHARS) {
            Some(remedy) => {
                let shortened: String = remedy.chars().take(MAX_REMEDY_CHARS).collect();
                error.with_remedy(shortened + " ...").into()
            }
            None => error.into(),
        }
    }

    /// The error with its place. Of a long line it shows the part around the fault.
    #[cold]
    pub(super) fn into_error(self, file: &str, number: u64, line: &[u8]) -> Error {
        let line = if self.hides_text { &[] } else { line };
        let is_long = line.len() > MAX_SHOWN_BYTES;
        let from = if is_long { self.column.saturating_sub(MAX_SHOWN_BYTES / 2).min(line.len()) } else { 0 };
        self.error.with_location(file, number, self.column as u64, &line[from..])
    }
}

/// An error for the JSON reader to pass on.
#[cold]
pub(super) fn custom_error<E: serde::de::Error>(message: &str, remedy: &str) -> E {
    E::custom(format!("{message}{REMEDY_SEPARATOR}{remedy}"))
}

/// The message for a key or name that may stand only once.
#[cold]
pub(super) fn duplicate_message(name: &str) -> String {
    format!("duplicate name `{name}`{REMEDY_SEPARATOR}keep one of the two")
}

/// A text from the file, safe and short enough for a message.
pub(super) fn quote(text: &str) -> String {
    let mut quoted: String = text.chars().take(MAX_QUOTED_CHARS).flat_map(char::escape_debug).collect();
    if text.chars().nth(MAX_QUOTED_CHARS).is_some() {
        quoted.push_str("...");
    }
    quoted
}

/// Reads a line as one object.
pub(super) fn object<'a, T: Deserialize<'a>>(line: &'a [u8]) -> ParseResult<T> {
    if line.trim_ascii_start().first() != Some(&b'{') {
        return Err(Fault::new(
            "the line is not a JSON object",
            "write one object per line: a line begins with `{` and ends with `}`",
        ));
    }
    serde_json::from_slice(line).map_err(|error| to_fault(&error, line))
}

/// Converts an error of the JSON parser to a fault with a plain message.
#[cold]
fn to_fault(error: &serde_json::Error, line: &[u8]) -> Fault {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = text.strip_suffix(&place).unwrap_or(&text);
    let fault = match error.classify() {
        Category::Eof => Fault::new(
            "the line ends too early",
            "write each object on one line; if the file was cut off, copy or record it again",
        ),
        Category::Data => data_fault(message),
        Category::Syntax | Category::Io => syntax_fault(message, line, error.column()),
    };
    Fault { column: error.column(), ..fault }
}

fn syntax_fault(message: &str, line: &[u8], column: usize) -> Fault {
    if message.starts_with("trailing characters") {
        return Fault::new("text after the end of the object", "put every object on a separate line");
    }
    let rest_of_line = line.get(column.saturating_sub(1)..).unwrap_or_default();
    let rest_of_line = rest_of_line.strip_prefix(b"-").unwrap_or(rest_of_line).to_ascii_lowercase();
    if rest_of_line.starts_with(b"nan") || rest_of_line.starts_with(b"inf") {
        return Fault::new("not a finite number", "write a whole number, 0 or more");
    }
    Fault::new(
        format!("not JSON: {}", quote(message)),
        "check quotes, commas and braces; names must be in double quotes",
    )
}

fn data_fault(message: &str) -> Fault {
    if let Some((message, remedy)) = message.split_once(REMEDY_SEPARATOR) {
        return Fault::new(message, remedy);
    }
    let first_name = |rest: &str| rest.split('`').next().map(quote).unwrap_or_default();
    if let Some(rest) = message.strip_prefix("unknown field `") {
        let (name, known_fields) = rest.rsplit_once("`, expected").unwrap_or((rest, ""));
        return Fault::unknown_name("key", name, known_fields.split('`').skip(1).step_by(2));
    }
    if let Some(rest) = message.strip_prefix("missing field `") {
        let name = first_name(rest);
        return Fault::new(format!("the key `{name}` is missing"), format!("add `\"{name}\": ...`"));
    }
    if let Some(rest) = message.strip_prefix("duplicate field `") {
        let name = first_name(rest);
        return Fault::new(format!("duplicate key `{name}`"), "keep one of the two");
    }
    // `invalid type: string "x", expected a whole number`
    let (value, expected) = message.rsplit_once(", expected ").unwrap_or((message, "something else"));
    let value = value.split_once(": ").map_or(value, |(_, value)| value);
    Fault::new(format!("expected {expected}, found {}", quote(value)), format!("write {expected} here"))
}
