//! The read loop of all text formats: parses lines into requests and adds locations to errors.

use sledlab_core::{Error, Request, Result, Source};

use crate::arrivals::TraceArrivals;
use crate::fields::{Fault, Line, ParseResult};
use crate::input::Input;
use crate::notes::Note;
use crate::stream_end::StreamEnd;

/// Requests per call of [`Source::fill`].
pub(crate) const CHUNK: usize = 4096;

/// Bytes of an offending line shown in an error.
const MAX_SHOWN_BYTES: usize = 80;

/// Reads one line of a text format.
pub(crate) trait LineParser: Send {
    /// The shape of a line, for the error when a line does not have it.
    const SHAPE: &'static str;

    /// The request on the line, with its arrival counted by the trace's own clock; `None` for lines that hold none. The
    /// parser may refuse blank lines and comments (`#`), as the caller skips them.
    fn parse(&mut self, line: Line) -> ParseResult<Option<Request>>;

    /// Whether a line that [`LineParser::parse`] refuses is a header, at the beginning or, in concatenated files,
    /// later.
    fn is_header(&self, _line: &[u8]) -> bool {
        false
    }

    /// Why a trace without requests has none, where the parser knows.
    fn missing_requests_remedy(&self) -> Option<&'static str> {
        None
    }
}

/// A stream of the requests on the lines of a text.
pub(crate) struct LineSource<P> {
    input: Input,
    parser: P,
    arrivals: TraceArrivals,
    stream_end: StreamEnd,
}

/// The error for a trace that ends before its first request.
pub(crate) fn no_requests_error(input: &Input, arrivals: &TraceArrivals) -> Error {
    let notes = arrivals.notes().join("; ");
    let reason = if notes.is_empty() { String::new() } else { format!(": {notes}") };
    Error::user(format!("the trace holds no requests{reason}"))
        .with_remedy("check that the file is complete and that `--format` is correct")
        .with_location(input.name(), 0, 0, b"")
}

impl<P: LineParser> LineSource<P> {
    pub(crate) fn new(input: Input, parser: P, arrivals: TraceArrivals) -> Self {
        LineSource { input, parser, arrivals, stream_end: StreamEnd::default() }
    }

    fn read_chunk(&mut self, requests: &mut Vec<Request>) -> Result<()> {
        let old_len = requests.len();
        requests.reserve(CHUNK);
        while requests.len() < old_len + CHUNK {
            let Some(line) = self.input.next_line()? else { return Ok(()) };
            let fault = match self.parser.parse(line) {
                Ok(Some(mut request)) => {
                    let Some(arrival) = self.arrivals.accept(request.arrival.as_ns()) else {
                        let refusal = self.arrivals.refusal(request.arrival.as_ns());
                        let line = line.text.to_vec();
                        return Err(self.locate_error(0, refusal, &line));
                    };
                    request.arrival = arrival;
                    requests.push(request);
                    continue;
                }
                Ok(None) => continue,
                Err(fault) => fault,
            };
            if is_blank(line.text) {
                continue;
            }
            if self.parser.is_header(line.text) {
                if requests.len() > old_len || !self.stream_end.is_empty() {
                    self.arrivals.add_note(Note::RepeatedHeaders, 1);
                }
                continue;
            }
            match fault {
                Fault::EmptyRequest => self.arrivals.add_note(Note::EmptyRequests, 1),
                Fault::Error(at) => {
                    let ((column, error), line) = (*at, line.text.to_vec());
                    return Err(self.locate_error(column, error, &line));
                }
            }
        }
        Ok(())
    }

    #[cold]
    fn locate_error(&self, column: usize, mut error: Error, line: &[u8]) -> Error {
        if is_date(word_around(line, column)) {
            error = Error::user("the time is a date or a time of day, not a number").with_remedy(
                "read the table with `--columns`, where `time=1:datetime` stands for dates in column 1",
            );
        }
        if error.remedy().is_none() {
            error = error.with_remedy(format!(
                "a line is `{}`; if the trace is of another kind, name it with `--format`",
                P::SHAPE
            ));
        }
        // Of a long line, the error shows the part around the fault.
        let from = if line.len() > MAX_SHOWN_BYTES {
            column.saturating_sub(MAX_SHOWN_BYTES / 2).min(line.len())
        } else {
            0
        };
        error.with_location(self.input.name(), self.input.line_number(), column as u64 + 1, &line[from..])
    }
}

/// The field around byte `at` of a line.
fn word_around(line: &[u8], at: usize) -> &[u8] {
    let is_separator = |byte: &u8| b",;\t".contains(byte);
    let at = at.min(line.len());
    let start = line[..at].iter().rposition(is_separator).map_or(0, |separator| separator + 1);
    let end = line[at..].iter().position(is_separator).map_or(line.len(), |length| at + length);
    line[start..end.max(start)].trim_ascii()
}

/// Whether a field is a date or a time of day: numbers with `-` or `/` twice, or with `:`.
fn is_date(field: &[u8]) -> bool {
    let count = |sign: u8| memchr::memchr_iter(sign, field).count();
    let starts_with_digit = field.first().is_some_and(u8::is_ascii_digit);
    starts_with_digit && (count(b'-') == 2 || count(b'/') == 2 || count(b':') == 2) && field.len() <= 40
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii_start().first().is_none_or(|byte| *byte == b'#')
}

impl<P: LineParser> Source for LineSource<P> {
    fn fill(&mut self, requests: &mut Vec<Request>) -> Result<usize> {
        self.stream_end.check()?;
        let old_len = requests.len();
        let outcome = self.read_chunk(requests);
        self.stream_end.close_trace(requests.len() - old_len, outcome, || {
            let error = no_requests_error(&self.input, &self.arrivals);
            match self.parser.missing_requests_remedy() {
                Some(remedy) => error.with_remedy(remedy),
                None => error,
            }
        })
    }

    fn progress(&self) -> Option<f64> {
        self.input.progress()
    }
}
