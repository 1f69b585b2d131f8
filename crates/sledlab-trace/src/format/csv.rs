//! The CSV format of sledlab: `time_us,op,offset_bytes,length_bytes`, then `device` where there are several devices, or
//! `device,metadata` where it is known which requests are for metadata. The header may be missing.
//!
//! Times count microseconds from the start of the trace, with up to three decimals if the trace has nanoseconds. `op`
//! is R (read), W (write), T (trim) or F (flush, whose range is ignored), in any case, or a word such as `read`.
//! Offsets and lengths are bytes; ranges are rounded outwards to blocks. A read or write that begins at the start of a
//! block and ends within one requests only the words (8 bytes) of its last block that it touches; one that begins
//! within a block requests all of its last block. `metadata` is 1 for requests for metadata, else 0.

use sledlab_core::{Op, Request, Result, Source, unrequested_words};

use super::{Clock, Format, Head, HeadReading, TraceInput, is_numeric, parse_op_word};
use crate::fields::{Fault, Fields, Line, ParseResult, bytes};
use crate::lines::{LineParser, LineSource};

/// The header line, without the optional fifth and sixth column.
pub(crate) const HEADER: &str = "time_us,op,offset_bytes,length_bytes";

/// See the module documentation.
pub struct Csv;

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn description(&self) -> &'static str {
        "sledlab CSV: time_us,op,offset_bytes,length_bytes[,device[,metadata]]; op R, W, T trim, F flush"
    }

    fn clock(&self) -> Clock {
        Clock::Trace
    }

    fn matches_head(&self, head: &Head) -> bool {
        match head.first_fields(b',')[..] {
            [b"time_us", b"op", b"offset_bytes", b"length_bytes", ref optional @ ..] => b"device,metadata"
                .split(|byte| *byte == b',')
                .take(optional.len())
                .eq(optional.iter().copied()),
            [time, op, offset, length, ref optional @ ..] => {
                optional.len() <= 2
                    && parse_op_word(op).is_some()
                    && [time, offset, length].iter().chain(optional).all(|field| is_numeric(field))
            }
            _ => false,
        }
    }

    fn read_head(&self, head: &Head) -> Option<HeadReading> {
        let has_header = head.lines().next().is_some_and(|line| Parser.is_header(line));
        (!has_header).then(|| HeadReading::new(&mut Parser, head))
    }

    fn read(&self, trace: TraceInput) -> Result<Box<dyn Source>> {
        Ok(Box::new(LineSource::new(trace.input, Parser, trace.arrivals)))
    }
}

struct Parser;

fn parse_op(letter: u8) -> Option<Op> {
    match letter {
        b'R' | b'r' => Some(Op::Read),
        b'W' | b'w' => Some(Op::Write),
        b'T' | b't' => Some(Op::Trim),
        b'F' | b'f' => Some(Op::Flush),
        _ => None,
    }
}

impl LineParser for Parser {
    const SHAPE: &'static str = "time_us,op,offset_bytes,length_bytes";

    #[inline]
    fn parse(&mut self, line: Line) -> ParseResult<Option<Request>> {
        let mut fields = Fields::new(line);
        fields.skip_blanks();
        let arrival = fields.time("time_us", 3)?;
        let at = fields.comma()?;
        let mut op = parse_op(fields.letter());
        if fields.peek().is_ascii_alphabetic() {
            op = parse_op_word(word_at(line, at));
            fields.word(b',');
        }
        let Some(op) = op else {
            return Err(Fault::with_remedy(at, "unknown operation", "write R, W, T (trim) or F (flush)"));
        };
        let at = fields.comma()?;
        let offset = fields.integer("offset_bytes")?;
        fields.comma()?;
        let length = fields.integer("length_bytes")?;
        let (device, metadata) =
            if fields.is_at_end() { (0, false) } else { parse_optional_columns(&mut fields)? };
        let (lbn, blocks) = if op == Op::Flush { (0, 0) } else { bytes(at, offset, length)? };
        let unrequested_words = if op.is_media() { unrequested_words(offset, length) } else { 0 };
        let request =
            Request { arrival, lbn, blocks, device, op, metadata, unrequested_words, ..Request::default() };
        Ok(Some(request))
    }

    fn is_header(&self, line: &[u8]) -> bool {
        // Columns are recognized by their place: a line with `metadata` in place of `device` is no header to skip.
        let fifth_name = line.split(|byte| *byte == b',').nth(4);
        line.trim_ascii_start().starts_with(b"time_us")
            && fifth_name.is_none_or(|name| name.trim_ascii() != b"metadata")
    }
}

/// The field that begins at byte `at` of a line.
#[cold]
fn word_at(line: Line<'_>, at: usize) -> &[u8] {
    line.text[at..].split(|byte| *byte == b',').next().unwrap_or_default().trim_ascii()
}

/// The columns `device` and `metadata`.
fn parse_optional_columns(fields: &mut Fields) -> ParseResult<(u16, bool)> {
    fields.skip_blanks();
    if fields.is_at_end() {
        return Ok((0, false));
    }
    fields.comma()?;
    let device = fields.device()?;
    fields.skip_blanks();
    if fields.is_at_end() {
        return Ok((device, false));
    }
    let at = fields.comma()?;
    let metadata = match fields.letter() {
        b'0' => false,
        b'1' => true,
        _ => {
            return Err(Fault::with_remedy(
                at,
                "metadata is neither 0 nor 1",
                "write 1 for metadata, else 0",
            ));
        }
    };
    fields.end()?;
    Ok((device, metadata))
}
