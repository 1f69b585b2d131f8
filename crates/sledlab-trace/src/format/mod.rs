//! Trace formats: one file each, and the list of them all.
//!
//! A format recognizes itself by the first bytes of a trace and reads it as a stream of
//! requests. To add one, write its file and add a line to [`LIST`].
//!
//! Rules for all formats:
//!
//! - Times become integer nanoseconds, exactly or rounded to the nearest, without floating point. `csv` and
//!   `disksim-ascii` keep their times; in all others the first request arrives at 0.
//! - Byte ranges are rounded outwards to blocks of 512 bytes.
//! - `csv` and `disksim-ascii` state device numbers; formats that name devices have them
//!   numbered from 0 in order of appearance; all others have device 0 alone. Addresses count
//!   from the start of each device: [`PlaceDevices`](crate::transform::PlaceDevices) puts devices on one.
//! - Blank lines and lines that begin with `#` are skipped, and a header line where formats have one.
//! - Requests out of order, of length zero, or past 2^64 bytes are errors with file, line, column,
//!   text and remedy; so is a trace without a single request.

mod alibaba;
mod blkparse;
mod csv;
mod disksim_ascii;
mod disksim_validate;
mod fio_iolog;
mod msr;
mod spc;
mod srt;
mod tencent;

use sledlab_core::{Error, Result, Source};

pub use self::disksim_validate::{MeasuredRequest, read_measured_requests};
pub use crate::arrivals::Clock;
use crate::arrivals::TraceArrivals;
use crate::devices::DeviceNumbers;
use crate::input::Input;
#[cfg(not(target_family = "wasm"))]
pub(crate) use csv::HEADER as CSV_HEADER;

/// A format in which block traces are written.
pub trait Format: Sync {
    /// Name of the format, as in `--format`.
    fn name(&self) -> &'static str;

    /// One line about the format.
    fn description(&self) -> &'static str;

    /// The instant from which the format's times count; decides whether the first request is shifted to time 0.
    fn clock(&self) -> Clock;

    /// Whether a trace that begins like this is written in the format. Checks only the shape (how many fields of which
    /// kind), so that a wrong value in a known shape gets a precise error.
    fn matches_head(&self, head: &Head) -> bool;

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
}

/// Every format, in the order in which recognition tries them.
pub static LIST: &[&dyn Format] = &[
    &csv::Csv,
    &disksim_ascii::DisksimAscii,
    &disksim_validate::DisksimValidate,
    &srt::Srt,
    &msr::Msr,
    &spc::Spc,
    &blkparse::Blkparse,
    &fio_iolog::FioIolog,
    &alibaba::Alibaba,
    &tencent::Tencent,
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
    let result = LIST.iter().copied().find(|format| format.name().eq_ignore_ascii_case(name));
    result.ok_or_else(|| Error::unknown_name("trace format", name, names()))
}

/// The format in which a trace with this beginning is written.
pub(crate) fn recognize(input: &mut Input) -> Result<&'static dyn Format> {
    let name = input.name().to_owned();
    let head = Head::from_input(input)?;
    let bytes = head.bytes;
    if bytes.is_empty() {
        return Err(Error::user("the file is empty")
            .with_remedy("check that the file is complete")
            .with_location(name, 0, 0, b""));
    }
    if bytes.starts_with(b"PAR1") {
        return Err(parquet_error().with_location(name, 0, 0, b""));
    }
    LIST.iter().copied().find(|format| format.matches_head(&head)).ok_or_else(|| {
        let tried: Vec<&str> = names().collect();
        let error = Error::user(format!("this is none of the known trace formats ({})", tried.join(", ")));
        // A file that is no trace may be private: the error shows none of its text but names of columns.
        match head.column_names() {
            Some(columns) => error
                .with_remedy(format!(
                    "the columns of csv are {}; or set the format with `--format`",
                    csv::HEADER
                ))
                .with_location(name, 0, 0, columns),
            None => error
                .with_remedy("set the format with `--format` for a detailed error message")
                .with_location(name, 0, 0, b""),
        }
    })
}

fn parquet_error() -> Error {
    Error::user("Parquet traces are read by the Python package, not by the native reader")
        .with_remedy("open the file with `sledlab` or `sledlab.read_trace`, or convert it to csv")
}

/// The beginning of a trace, for recognizing its format.
pub struct Head<'a> {
    bytes: &'a [u8],
    /// Whether the trace ends with these bytes.
    complete: bool,
}

impl<'a> Head<'a> {
    /// The beginning of the bytes that have not been read.
    pub(crate) fn from_input(input: &'a mut Input) -> Result<Self> {
        input.head()?;
        Ok(Head { bytes: input.buffered_head(), complete: input.ends_with_head() })
    }

    /// The bytes themselves.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The lines that are certainly complete, without blank lines and comments.
    pub fn lines(&self) -> impl Iterator<Item = &'a [u8]> {
        let end = if self.complete {
            self.bytes.len()
        } else {
            self.bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0)
        };
        self.bytes[..end]
            .split(|byte| *byte == b'\n')
            .map(<[u8]>::trim_ascii)
            .filter(|line| !line.is_empty() && line[0] != b'#')
    }

    /// The first such line where it looks like the names of three or more columns.
    fn column_names(&self) -> Option<&'a [u8]> {
        let is_name = |field: &&[u8]| {
            field.first().is_some_and(u8::is_ascii_alphabetic)
                && field.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_ .()/-".contains(byte))
        };
        let names = self.first_fields(b',');
        (names.len() >= 3 && names.iter().all(is_name)).then(|| self.lines().next()).flatten()
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
