//! The skeleton of readers of binary formats: a record of fixed length for each request.

use sledlab_core::{Error, Request, Result, Source};

use crate::arrivals::TraceArrivals;
use crate::fields::{Fault, ParseResult};
use crate::input::Input;
use crate::lines::{CHUNK, no_requests_error};
use crate::notes::Note;
use crate::stream_end::StreamEnd;

/// Turns records into requests.
pub(crate) trait RecordParser<const BYTES: usize>: Send {
    /// The byte of a record at which its time begins.
    const TIME_AT: usize;

    /// Parses one record; the arrival is the time of the file. A fault names the byte of the record that it is about.
    fn parse(&mut self, record: &[u8; BYTES]) -> ParseResult<Request>;
}

/// A stream of the requests in the records of a file.
pub(crate) struct RecordSource<P, const BYTES: usize> {
    input: Input,
    parser: P,
    arrivals: TraceArrivals,
    /// Records read so far.
    record: u64,
    stream_end: StreamEnd,
}

impl<P: RecordParser<BYTES>, const BYTES: usize> RecordSource<P, BYTES> {
    pub(crate) fn new(input: Input, parser: P, arrivals: TraceArrivals) -> Self {
        RecordSource { input, parser, arrivals, record: 0, stream_end: StreamEnd::default() }
    }

    fn read_chunk(&mut self, requests: &mut Vec<Request>) -> Result<()> {
        let old_len = requests.len();
        while requests.len() < old_len + CHUNK {
            let bytes = self.input.next_bytes(BYTES)?;
            if bytes.is_empty() {
                return Ok(());
            }
            self.record += 1;
            let request = match <&[u8; BYTES]>::try_from(bytes) {
                Ok(record) => self.parser.parse(record),
                Err(_) => Err(cut_off_fault(bytes.len(), BYTES)),
            };
            let accepted = request.and_then(|request| {
                let trace_ns = request.arrival.as_ns();
                let arrival = self.arrivals.accept(trace_ns);
                let arrival =
                    arrival.ok_or_else(|| Fault::from_error(P::TIME_AT, self.arrivals.refusal(trace_ns)))?;
                Ok(Request { arrival, ..request })
            });
            match accepted {
                Ok(request) => requests.push(request),
                Err(Fault::EmptyRequest) => self.arrivals.add_note(Note::EmptyRequests, 1),
                Err(Fault::Error(fault)) => {
                    let (column, error) = *fault;
                    return Err(self.locate_error(column, error));
                }
            }
        }
        Ok(())
    }

    #[cold]
    fn locate_error(&self, column: usize, mut error: Error) -> Error {
        if error.remedy().is_none() {
            error = error.with_remedy("check that the trace is complete and was copied as binary data");
        }
        error.with_location(self.input.name(), self.record, column as u64 + 1, b"")
    }
}

#[cold]
fn cut_off_fault(bytes: usize, expected: usize) -> Fault {
    let message = format!("the last record is cut off: {bytes} of {expected} bytes");
    Fault::with_remedy(0, message, "copy the file again, as binary data")
}

impl<P: RecordParser<BYTES>, const BYTES: usize> Source for RecordSource<P, BYTES> {
    fn fill(&mut self, requests: &mut Vec<Request>) -> Result<usize> {
        self.stream_end.check()?;
        let old_len = requests.len();
        let outcome = self.read_chunk(requests);
        self.stream_end
            .close_trace(requests.len() - old_len, outcome, || no_requests_error(&self.input, &self.arrivals))
    }

    fn progress(&self) -> Option<f64> {
        self.input.progress()
    }
}
