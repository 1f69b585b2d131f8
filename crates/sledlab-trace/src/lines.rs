//! The read loop of all text formats: parses lines into requests and adds locations to errors.

use sledlab_core::{Error, Request, Result, Source};

use crate::arrivals::TraceArrivals;
use crate::fields::{Fault, Line, ParseResult};
use crate::input::Input;
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

    /// Whether a line before the first request that [`LineParser::parse`] refuses is a header.
    fn is_header(&self, _line: &[u8]) -> bool {
        false
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
pub(crate) fn no_requests_error(input: &Input) -> Error {
    Error::user("the trace holds no requests")
        .with_remedy("check that the file is complete and that `--format` is correct")
        .with_location(input.name(), 0, 0, b"")
}

impl<P: LineParser> LineSource<P> {
    pub(crate) fn new(input: Input, parser: P, arrivals: TraceArrivals) -> Self {
        LineSource { input, parser, arrivals, stream_end: StreamEnd::default() }
    }

    fn read_chunk(&mut self, into: &mut Vec<Request>) -> Result<()> {
        let before = into.len();
        into.reserve(CHUNK);
        while into.len() < before + CHUNK {
            let Some(line) = self.input.next_line()? else { return Ok(()) };
            let fault = match self.parser.parse(line) {
                Ok(Some(mut request)) => {
                    let Some(arrival) = self.arrivals.accept(request.arrival.as_ns()) else {
                        let refusal = self.arrivals.refusal(request.arrival.as_ns());
                        let line = line.text.to_vec();
                        return Err(self.locate_fault(Fault(Box::new((0, refusal))), &line));
                    };
                    request.arrival = arrival;
                    into.push(request);
                    continue;
                }
                Ok(None) => continue,
                Err(fault) => fault,
            };
            let leading = into.len() == before && self.stream_end.is_empty();
            if is_blank(line.text) || (leading && self.parser.is_header(line.text)) {
                continue;
            }
            let line = line.text.to_vec();
            return Err(self.locate_fault(fault, &line));
        }
        Ok(())
    }

    #[cold]
    fn locate_fault(&self, fault: Fault, line: &[u8]) -> Error {
        let (column, mut error) = *fault.0;
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

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii_start().first().is_none_or(|byte| *byte == b'#')
}

impl<P: LineParser> Source for LineSource<P> {
    fn fill(&mut self, into: &mut Vec<Request>) -> Result<usize> {
        self.stream_end.check()?;
        let before = into.len();
        let outcome = self.read_chunk(into);
        self.stream_end.close_trace(into.len() - before, outcome, || no_requests_error(&self.input))
    }

    fn progress(&self) -> Option<f64> {
        self.input.progress()
    }
}
