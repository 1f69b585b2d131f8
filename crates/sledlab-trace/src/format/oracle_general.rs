//! Traces of the cache simulator libCacheSim in its binary format `oracleGeneral`.
//!
//! Records of 24 bytes, little-endian: seconds (u32), object (u64), size in bytes (u32), number of the next request for
//! the object (i64, -1 for none). The format holds no direction: all requests are reads. In traces that were made of
//! block traces an object is a block address, which is read in blocks of 512 bytes; hashed names of objects are
//! refused.

use sledlab_core::{BLOCK_BYTES, Op, Request, Result, Source, Time};

use super::{Clock, Format, Head, TraceInput};
use crate::fields::{Fault, ParseResult, blocks};
use crate::notes::Note;
use crate::range::MAX_BLOCKS;
use crate::records::{RecordParser, RecordSource};

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
        let is_full = !head.is_complete || head.bytes().len().is_multiple_of(RECORD_BYTES);
        is_full
            && records.len() >= MIN_RECORDS
            && records.windows(2).all(|pair| pair[0].seconds <= pair[1].seconds)
            && records.iter().enumerate().all(|(number, record)| {
                record.size <= MAX_SIZE && (record.next == -1 || record.next > number as i64)
            })
            && records.iter().any(|record| record.size > 0)
    }

    fn read(&self, trace: TraceInput) -> Result<Box<dyn Source>> {
        trace.arrivals.add_note(Note::AllReads, 1);
        Ok(Box::new(RecordSource::new(trace.input, Parser, trace.arrivals)))
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

struct Parser;

impl RecordParser<RECORD_BYTES> for Parser {
    const TIME_AT: usize = 0;

    fn parse(&mut self, record: &[u8; RECORD_BYTES]) -> ParseResult<Request> {
        let Record { seconds, object, size, .. } = Record::from_bytes(record);
        if object > MAX_BLOCKS {
            let message = format!("object {object} is no block address");
            let remedy = "the objects of this trace are hashed names, which have no place on a device";
            return Err(Fault::with_remedy(4, message, remedy));
        }
        let (lbn, blocks) = blocks(4, object, u64::from(size).div_ceil(BLOCK_BYTES))?;
        let arrival = Time::from_ns(u64::from(seconds) * 1_000_000_000);
        Ok(Request { arrival, lbn, blocks, op: Op::Read, ..Request::default() })
    }
}
