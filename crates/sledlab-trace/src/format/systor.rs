//! Traces of virtual desktops of SYSTOR '17 (Lee and others, "Understanding storage traffic characteristics on
//! enterprise virtual desktop infrastructure").
//!
//! `Timestamp,Response,IOType,LUN,Offset,Size`: seconds since 1970, the response time in seconds, which may be empty
//! and is not used, R or W, the number of a logical unit, and bytes. Each logical unit is a device.

use sledlab_core::{Op, Request, Result, Source};

use super::{Clock, Format, Head, TraceInput, is_numeric, parse_op_word};
use crate::devices::DeviceNumbers;
use crate::fields::{Fault, Fields, Line, ParseResult, bytes};
use crate::lines::{LineParser, LineSource};

/// See the module documentation.
pub struct Systor;

impl Format for Systor {
    fn name(&self) -> &'static str {
        "systor"
    }

    fn description(&self) -> &'static str {
        "SYSTOR '17 CSV: Timestamp(s),Response(s),R|W,LUN,Offset(bytes),Size(bytes)"
    }

    fn clock(&self) -> Clock {
        Clock::Unix
    }

    fn matches_head(&self, head: &Head) -> bool {
        match head.first_fields(b',')[..] {
            [time, response, op, lun, offset, size] => {
                (time.eq_ignore_ascii_case(b"timestamp") && response.eq_ignore_ascii_case(b"response"))
                    || ((response.is_empty() || is_numeric(response))
                        && [time, lun, offset, size].iter().all(|field| is_numeric(field))
                        && parse_op(op).is_some())
            }
            _ => false,
        }
    }

    fn read(&self, trace: TraceInput) -> Result<Box<dyn Source>> {
        Ok(Box::new(LineSource::new(trace.input, Parser { devices: trace.devices }, trace.arrivals)))
    }
}

struct Parser {
    devices: DeviceNumbers,
}

fn parse_op(word: &[u8]) -> Option<Op> {
    parse_op_word(word).filter(|op| *op != Op::Flush)
}

impl LineParser for Parser {
    const SHAPE: &'static str = "Timestamp,Response,R|W,LUN,Offset,Size";

    fn parse(&mut self, line: Line) -> ParseResult<Option<Request>> {
        let mut fields = Fields::new(line);
        let arrival = fields.time("the timestamp in s", 9)?;
        fields.separator(b',')?;
        fields.word(b',');
        fields.separator(b',')?;
        let op_at = fields.column();
        let Some(op) = parse_op(fields.word(b',').trim_ascii()) else {
            return Err(Fault::with_remedy(op_at, "unknown type of request", "write R or W"));
        };
        let unit_at = fields.comma()?;
        fields.integer("the logical unit")?;
        let device = self.devices.number(unit_at, fields.since(unit_at))?;
        let at = fields.comma()?;
        let offset = fields.integer("the offset in bytes")?;
        fields.comma()?;
        let size = fields.integer("the size in bytes")?;
        fields.end()?;
        let (lbn, blocks) = bytes(at, offset, size)?;
        Ok(Some(Request { arrival, lbn, blocks, device, op, ..Request::default() }))
    }

    fn is_header(&self, line: &[u8]) -> bool {
        line.get(..9).is_some_and(|word| word.eq_ignore_ascii_case(b"timestamp"))
    }
}
