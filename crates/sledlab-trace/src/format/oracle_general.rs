//! Traces of the cache simulator libCacheSim in its binary format `oracleGeneral`.
//!
//! Records of 24 bytes, little-endian: seconds (u32), object (u64), size in bytes (u32), number of the next request for
//! the object (i64, -1 for none). The format holds no direction: all requests are reads. In traces that were made of
//! block traces an object is a block address, which is read in blocks of 512 bytes; hashed names of objects are refused.

use sledlab_core::{BLOCK_BYTES, Error, Op, Request, Result, Source};

use super::{Clock, Format, Head, HeadReading, TraceInput};
use crate::arrivals::TraceArrivals;
use crate::input::Input;
use crate::lines::{CHUNK, no_requests_error};
use crate::notes::Note;
use crate::range::{self, MAX_BLOCKS, RangeFault};
use crate::stream_end::StreamEnd;

/// See the module documentation.
pub struct OracleGeneral;

const RECORD_BYTES: usize = 24;

/// Fewest records by which the format is recognized: it has no magic number.
const MIN_RECORDS: usize = 4;

/// Largest size of an object in a trace that is recognized: 256 MiB.
const MAX_SIZE: u32 = 256 << 20;

impl Format for OracleGeneral {
    fn name(&self) -> &'static str {
        "oracle-general"
    }

    fn description(&self) -> &'static str {
        "libCacheSim's binary oracleGeneral: seconds, block address, bytes, next request; all are reads"
    }

    fn clock(&self) -> Clock {
        Clock::Recording
    }

    fn matches_head(&self, head: &Head) -> bool {
        let records: Vec<Record> = head.bytes().as_chunks().0.iter().map(Record::from_bytes).collect();
        let is_full = !head.complete || head.bytes().len().is_multiple_of(RECORD_BYTES);
        is_full
            && records.len() >= MIN_RECORDS
            && records.windows(2).all(|pair| pair[0].seconds <= pair[1].seconds)
            && records.iter().enumerate().all(|(number, record)| {
                record.size <= MAX_SIZE && (record.next == -1 || record.next > number as i64)
            })
            && records.iter().any(|record| record.size > 0)
    }

    fn read_head(&self, _head: &Head) -> Option<HeadReading> {
        None
    }

    fn read(&self, trace: TraceInput) -> Result<Box<dyn Source>> {
        trace.arrivals.add_note(Note::AllReads, 1);
        let TraceInput { input, arrivals, .. } = trace;
        Ok(Box::new(Records { input, arrivals, record: 0, stream_end: StreamEnd::default() }))
    }
}

/// A record of the file.
struct Record {
    seconds: u32,
    object: u64,
    size: u32,
    next: i64,
}

impl Record {
    fn from_bytes(bytes: &[u8; RECORD_BYTES]) -> Self {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        Record { seconds: word(0), object: long(4), size: word(12), next: long(16).cast_signed() }
    }
}

struct Records {
    input: Input,
    arrivals: TraceArrivals,
    /// Records read so far.
    record: u64,
    stream_end: StreamEnd,
}

impl Records {
    fn read_chunk(&mut self, into: &mut Vec<Request>) -> Result<()> {
        let before = into.len();
        while into.len() < before + CHUNK {
            let bytes = self.input.next_bytes(RECORD_BYTES)?;
            if bytes.is_empty() {
                return Ok(());
            }
            self.record += 1;
            match parse(bytes, &mut self.arrivals) {
                Ok(Some(request)) => into.push(request),
                Ok(None) => self.arrivals.add_note(Note::EmptyRequests, 1),
                Err((column, error)) => {
                    return Err(error.with_location(self.input.name(), self.record, column + 1, b""));
                }
            }
        }
        Ok(())
    }
}

/// Reads one record; `None` for a request of length 0. An error comes with the byte of the record that it is about.
fn parse(bytes: &[u8], arrivals: &mut TraceArrivals) -> Result<Option<Request>, (u64, Error)> {
    let Ok(bytes) = <&[u8; RECORD_BYTES]>::try_from(bytes) else {
        let message = format!("the last record is cut off: {} of {RECORD_BYTES} bytes", bytes.len());
        return Err((0, Error::user(message).with_remedy("copy the file again, as binary data")));
    };
    let record = Record::from_bytes(bytes);
    if record.object > MAX_BLOCKS {
        let message = format!("object {} is no block address", record.object);
        let remedy = "the objects of this trace are hashed names, which have no place on a device";
        return Err((4, Error::user(message).with_remedy(remedy)));
    }
    let count = u64::from(record.size).div_ceil(BLOCK_BYTES);
    let (lbn, blocks) = match range::from_blocks(record.object, count) {
        Ok(range) => range,
        Err(RangeFault::Empty) => return Ok(None),
        Err(RangeFault::Invalid(error)) => {
            return Err((
                4,
                error.with_remedy("check that this is a block trace in the format oracleGeneral"),
            ));
        }
    };
    let trace_ns = u64::from(record.seconds) * 1_000_000_000;
    let arrival = arrivals.accept(trace_ns).ok_or_else(|| (0, arrivals.refusal(trace_ns)))?;
    Ok(Some(Request { arrival, lbn, blocks, op: Op::Read, ..Request::default() }))
}

impl Source for Records {
    fn fill(&mut self, into: &mut Vec<Request>) -> Result<usize> {
        self.stream_end.check()?;
        let before = into.len();
        let outcome = self.read_chunk(into);
        self.stream_end
            .close_trace(into.len() - before, outcome, || no_requests_error(&self.input, &self.arrivals))
    }

    fn progress(&self) -> Option<f64> {
        self.input.progress()
    }
}
