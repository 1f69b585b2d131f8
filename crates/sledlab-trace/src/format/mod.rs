//! Trace formats: one file each, and the list of them all.
//!
//! A format recognizes itself by the first bytes of a trace and reads it as a stream of
//! requests. To add one, write its file and add a line to [`LIST`].
//!
//! Rules for all formats:
//!
//! - Times become integer nanoseconds, exactly or rounded to the nearest, without floating point. The first request
//!   arrives at 0, unless [`TraceStart::Zero`](crate::TraceStart::Zero) keeps the times of a format that counts from
//!   the start of the trace.
//! - Byte ranges are rounded outwards to blocks of 512 bytes.
//! - `csv`, `disksim-ascii` and `mqsim` state device numbers; formats that name devices have them
//!   numbered from 0 in order of appearance, and [`Continuation`](crate::Continuation) holds the names; all others have
//!   device 0 alone. Addresses count from the start of each device:
//!   [`PlaceDevices`](crate::transform::PlaceDevices) puts devices on one.
//! - Blank lines and lines that begin with `#` are skipped, and header lines where formats have them.
//! - Requests of length zero are counted and omitted. Requests out of order or past 2^63 bytes are errors with file,
//!   line, column, text and remedy; so is a trace without a single request.

mod alibaba;
mod blkparse;
mod columns;
mod csv;
mod disksim_ascii;
mod disksim_validate;
mod evidence;
mod fio_iolog;
mod fiu;
mod foreign;
mod mqsim;
mod msr;
mod oracle_general;
mod spc;
mod srt;
mod systor;
mod tencent;

use sledlab_core::{Error, Op, Result, Source};

pub use self::columns::ColumnMap;
pub use self::disksim_validate::{MeasuredRequest, read_measured_requests};
pub use self::evidence::HeadReading;
pub use crate::arrivals::Clock;
use crate::arrivals::TraceArrivals;
use crate::devices::DeviceNumbers;
use crate::dialect::Dialect;
use crate::input::Input;
use crate::shown::{list_names, shorten};
#[cfg(not(target_family = "wasm"))]
pub(crate) use csv::HEADER as CSV_HEADER;

/// A format in which block traces are written.
pub trait Format: Sync {
    /// Name of the format, as in `--format`.
    fn name(&self) -> &'static str;

    /// One line about the format.
    fn description(&self) -> &'static str;

    /// The instant from which the format's times count.
    fn clock(&self) -> Clock;

    /// Whether a trace that begins like this is written in the format. Checks only the shape (how many fields of which
    /// kind), so that a wrong value in a known shape gets a precise error.
    fn matches_head(&self, head: &Head) -> bool;

    /// The requests on the first lines, as evidence for the format where other traces have the same shape; `None` where
    /// words, a header or the number of fields leave no doubt.
    fn read_head(&self, _head: &Head) -> Option<HeadReading> {
        None
    }

    /// Reads a trace.
    fn read(&self, trace: TraceInput) -> Result<Box<dyn Source>>;
}

/// A trace to be read, and the settings of reading it.
pub struct TraceInput {
    pub(crate) input: Input,
    pub(crate) arrivals: TraceArrivals,
    pub(crate) devices: DeviceNumbers,
    /// For `disksim-validate`: whether requests are spaced by gap plus service time.
    pub(crate) add_service_times: bool,
    /// For `srt`: bytes of a sector, in the place of those that the header states.
    pub(crate) sector_bytes: Option<u64>,
    /// For `columns`: the meaning of the columns.
    pub(crate) columns: Option<ColumnMap>,
}

/// Every format.
pub static LIST: &[&dyn Format] = &[
    &csv::Csv,
    &disksim_ascii::DisksimAscii,
    &disksim_validate::DisksimValidate,
    &srt::Srt,
    &msr::Msr,
    &spc::Spc,
    &blkparse::Blkparse,
    &fio_iolog::FioIolog { waits: fio_iolog::Waits::UntilMs },
    &fio_iolog::FioIolog { waits: fio_iolog::Waits::ForUs },
    &alibaba::Alibaba,
    &tencent::Tencent,
    &systor::Systor,
    &fiu::Fiu,
    &mqsim::Mqsim,
    &oracle_general::OracleGeneral,
    &columns::ColumnTable,
];

/// Name of the columnar format, which is read on the Python side.
pub const PARQUET: &str = "parquet";

/// The names of all formats.
pub fn names() -> impl Iterator<Item = &'static str> {
    LIST.iter().map(|format| format.name())
}

/// The format called `name`.
pub fn find(name: &str) -> Result<&'static dyn Format> {
    if name.eq_ignore_ascii_case(PARQUET) {
        return Err(parquet_error());
    }
    let format = LIST.iter().copied().find(|format| format.name().eq_ignore_ascii_case(name));
    format.ok_or_else(|| Error::unknown_name("trace format", name, names()))
}

/// An input whose format is known.
pub(crate) struct RecognizedInput {
    pub input: Input,
    pub format: &'static dyn Format,
    /// The meaning of the columns, for the format `columns`.
    pub columns: Option<ColumnMap>,
}

/// Recognizes the format of a trace by its first bytes.
///
/// # Errors
/// No format fits; several do; or the only one that fits would mean absurd requests.
pub(crate) fn recognize(input: Input) -> Result<RecognizedInput> {
    recognize_lines(input, true)
}

fn recognize_lines(mut input: Input, as_in_file: bool) -> Result<RecognizedInput> {
    let name = input.name().to_owned();
    let head = Head::from_input(&mut input)?;
    if head.bytes.is_empty() {
        return Err(Error::user("the file is empty")
            .with_remedy("check that the file is complete")
            .with_location(name, 0, 0, b""));
    }
    if head.bytes.starts_with(b"PAR1") {
        return Err(parquet_error().with_location(name, 0, 0, b""));
    }
    if let Some(error) = foreign::recognize(&head) {
        return Err(error.with_location(name, 0, 0, b""));
    }
    let dialect = Dialect::recognize(head.lines());
    if let Some(format) = evidence::choose(&head).map_err(|error| error.with_location(&name, 0, 0, b""))? {
        return Ok(RecognizedInput { input, format, columns: None });
    }
    let columns = ColumnMap::from_own_names(&head);
    let error = unknown_format_error(&head, dialect).with_location(name, 0, 0, b"");
    match dialect {
        Some(dialect) if as_in_file && !head.is_binary() => {
            recognize_lines(input.map_reader(|text| dialect.rewrite(text)), false)
        }
        _ if columns.is_some() => Ok(RecognizedInput { input, format: &columns::ColumnTable, columns }),
        _ => {
            // The error of an archive of several files says more.
            input.drain()?;
            Err(error)
        }
    }
}

/// The input as the lines of a format: a table in another dialect is rewritten.
pub(crate) fn prepare(mut input: Input, format: &'static dyn Format) -> Result<RecognizedInput> {
    let head = Head::from_input(&mut input)?;
    let input = match Dialect::recognize(head.lines()) {
        Some(dialect) if !head.is_binary() && !format.matches_head(&head) => {
            input.map_reader(|text| dialect.rewrite(text))
        }
        _ => input,
    };
    Ok(RecognizedInput { input, format, columns: None })
}

/// The input as a table with the given columns.
pub(crate) fn prepare_table(input: Input, columns: ColumnMap) -> Result<RecognizedInput> {
    Ok(RecognizedInput { columns: Some(columns), ..prepare(input, &columns::ColumnTable)? })
}

/// The operation that a word names, in any case, in full or by its first letter.
pub fn parse_op_word(word: &[u8]) -> Option<Op> {
    Some(match word.to_ascii_lowercase().as_slice() {
        b"r" | b"rd" | b"read" => Op::Read,
        b"w" | b"wr" | b"write" => Op::Write,
        b"t" | b"d" | b"trim" | b"discard" | b"unmap" => Op::Trim,
        b"f" | b"flush" | b"sync" => Op::Flush,
        _ => return None,
    })
}

fn unknown_format_error(head: &Head, dialect: Option<Dialect>) -> Error {
    let format_names: Vec<&str> = names().collect();
    // A file that is no trace may be private: the error shows none of its text but names of columns.
    match head.column_names(dialect) {
        Some(columns) => {
            let column_list = list_names(columns.iter().map(String::as_str));
            Error::user(format!("unknown table with the columns {column_list}")).with_remedy(format!(
                "the columns of csv are {}; others are read with `--columns`, such as `--columns \
                 time={}:{},op=...,offset=...:bytes,length=...:bytes`",
                csv::HEADER,
                shorten(&columns[0]),
                time_unit(&columns[0]),
            ))
        }
        None => Error::user(format!("this is none of the known trace formats ({})", format_names.join(", ")))
            .with_remedy(
                "set the format with `--format` for a detailed error message, or the meaning of the columns with \
                 `--columns`",
            ),
    }
}

/// The unit of time that the name of a column ends with, such as `start_ms` or `time(s)`; else µs, the unit of csv.
fn time_unit(column: &str) -> &'static str {
    let name = column.trim_end_matches([')', ']']);
    ["ns", "us", "ms", "s"]
        .into_iter()
        .find(|unit| name.strip_suffix(unit).is_some_and(|rest| rest.ends_with(['_', '(', '[', ' '])))
        .unwrap_or("us")
}

fn parquet_error() -> Error {
    Error::user("Parquet traces are read by the Python package, not by the native reader")
        .with_remedy("open the file with `sledlab` or `sledlab.read_trace`, or convert it to csv")
}

/// The beginning of a trace, for recognizing its format.
pub struct Head<'a> {
    bytes: &'a [u8],
    /// Whether the trace ends with these bytes.
    is_complete: bool,
}

impl<'a> Head<'a> {
    /// The beginning of the bytes that have not been read.
    pub(crate) fn from_input(input: &'a mut Input) -> Result<Self> {
        input.head()?;
        Ok(Head { bytes: input.buffered_head(), is_complete: input.ends_with_head() })
    }

    /// The bytes themselves.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The lines that are certainly complete, without blank lines and comments.
    pub fn lines(&self) -> impl Iterator<Item = &'a [u8]> {
        let end = if self.is_complete {
            self.bytes.len()
        } else {
            self.bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0)
        };
        self.bytes[..end]
            .split(|byte| *byte == b'\n')
            .map(<[u8]>::trim_ascii)
            .filter(|line| !line.is_empty() && line[0] != b'#')
    }

    /// Whether the bytes are no text.
    fn is_binary(&self) -> bool {
        self.bytes.contains(&0)
    }

    /// The fields of the first such line where they look like the names of three or more columns.
    fn column_names(&self, dialect: Option<Dialect>) -> Option<Vec<String>> {
        let is_name = |field: &String| {
            field.starts_with(|first: char| first.is_ascii_alphabetic())
                && field.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_ .()/-".contains(&byte))
        };
        let names: Vec<String> = match dialect {
            Some(dialect) => dialect.fields(self.lines().next()?),
            None => {
                self.first_fields(b',').into_iter().map(|name| String::from_utf8_lossy(name).into()).collect()
            }
        };
        (names.len() >= 3 && names.iter().all(is_name)).then_some(names)
    }

    /// The fields of the first such line, separated by `separator`; where that is a space, by runs of spaces.
    pub fn first_fields(&self, separator: u8) -> Vec<&'a [u8]> {
        self.lines().next().map(|line| fields(line, separator)).unwrap_or_default()
    }
}

/// Cuts a line at `separator`; a space stands for runs of spaces and tabs.
fn fields(line: &[u8], separator: u8) -> Vec<&[u8]> {
    if separator == b' ' {
        return line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).collect();
    }
    line.split(|byte| *byte == separator).map(<[u8]>::trim_ascii).collect()
}

/// Whether a field is meant as a number, right or wrong: digits, or text such as `-1`, `nan`, `inf`.
fn is_numeric(field: &[u8]) -> bool {
    let unsigned = field.strip_prefix(b"-").or_else(|| field.strip_prefix(b"+")).unwrap_or(field);
    let word = unsigned.to_ascii_lowercase();
    word == b"nan"
        || word == b"inf"
        || word == b"infinity"
        || (unsigned.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.')
            && word.iter().all(|byte| byte.is_ascii_hexdigit() || b".+-x".contains(byte)))
}

#[cfg(test)]
mod tests {
    use super::time_unit;

    #[test]
    fn unit_of_time_is_the_end_of_a_name() {
        let names = ["epoch_s", "start_ms", "time (us)", "t[ns]", "timestamp", "seconds", "address"];
        assert_eq!(names.map(time_unit), ["s", "ms", "us", "ns", "us", "us", "us"]);
    }
}
