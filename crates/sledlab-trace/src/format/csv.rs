//! The project's own CSV: `time_us,op,offset_bytes,length_bytes`, and `device` where there are several.
//!
//! Times count microseconds from the start of the trace, with up to three decimals where the
//! trace knows nanoseconds. `op` is R (read), W (write), T (trim) or F (flush, whose range is
//! not looked at). Offsets and lengths are bytes; ranges are rounded outwards to whole blocks.

use sledlab_core::{Op, Request, Result, Source};

use super::{Clock, Format, Head, Reading, is_numeric};
use crate::fields::{Fault, Fields, Line, Parsed, bytes};
use crate::lines::{LineParser, LineSource};

/// The header line, without the optional fifth column.
pub(crate) const HEADER: &str = "time_us,op,offset_bytes,length_bytes";

/// See the module.
pub struct Csv;

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn about(&self) -> &'static str {
        "sledlab's own: time_us,op,offset_bytes,length_bytes[,device]; op R, W, T (trim) or F (flush)"
    }

    fn clock(&self) -> Clock {
        Clock::Trace
    }

    fn recognises(&self, head: &Head) -> bool {
        match head.first_fields(b',')[..] {
            [b"time_us", b"op", b"offset_bytes", b"length_bytes"]
            | [b"time_us", b"op", b"offset_bytes", b"length_bytes", b"device"] => true,
            [time, &[op], offset, length] => {
                is_numeric(time) && op_of(op).is_some() && is_numeric(offset) && is_numeric(length)
            }
            _ => false,
        }
    }

    fn read(&self, reading: Reading) -> Result<Box<dyn Source>> {
        Ok(Box::new(LineSource::new(reading.input, Parser, reading.arrivals)))
    }
}

struct Parser;

fn op_of(letter: u8) -> Option<Op> {
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
    fn parse(&mut self, line: Line) -> Parsed<Option<Request>> {
        let mut fields = Fields::new(line);
        fields.skip_blanks();
        let arrival = fields.time("time_us", 3)?;
        fields.separator(b',')?;
        fields.skip_blanks();
        let at = fields.column();
        let Some(op) = op_of(fields.letter()) else {
            return Err(Fault::with_remedy(at, "unknown operation", "write R, W, T (trim) or F (flush)"));
        };
        fields.separator(b',')?;
        fields.skip_blanks();
        let at = fields.column();
        let offset = fields.unsigned("offset_bytes")?;
        fields.separator(b',')?;
        fields.skip_blanks();
        let length = fields.unsigned("length_bytes")?;
        let device = if fields.is_at_end() { 0 } else { device(&mut fields)? };
        let (lbn, blocks) = if op == Op::Flush { (0, 0) } else { bytes(at, offset, length)? };
        Ok(Some(Request { arrival, lbn, blocks, device, op, ..Request::default() }))
    }

    fn is_header(&self, line: &[u8]) -> bool {
        line.trim_ascii_start().starts_with(b"time_us")
    }
}

fn device(fields: &mut Fields) -> Parsed<u16> {
    fields.skip_blanks();
    if fields.is_at_end() {
        return Ok(0);
    }
    fields.separator(b',')?;
    fields.skip_blanks();
    let device = fields.device()?;
    fields.end()?;
    Ok(device)
}
