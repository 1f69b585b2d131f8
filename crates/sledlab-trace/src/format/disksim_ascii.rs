//! DiskSim's default text format: `arrival_ms device lbn blocks flags`.
//!
//! Flags are hexadecimal and bit 0 means read (DiskSim 4.0 manual, section on trace formats); the other bits are
//! ignored. Milliseconds may have any number of decimals and are rounded to the nearest nanosecond.

use sledlab_core::{Op, Request, Result, Source};

use super::{Clock, Format, Head, HeadReading, TraceInput, is_numeric};
use crate::fields::{Fields, Line, ParseResult, blocks};
use crate::lines::{LineParser, LineSource};

/// See the module documentation.
pub struct DisksimAscii;

impl Format for DisksimAscii {
    fn name(&self) -> &'static str {
        "disksim-ascii"
    }

    fn description(&self) -> &'static str {
        "DiskSim's default: arrival_ms device lbn blocks flags, separated by spaces; flag bit 0 = read"
    }

    fn clock(&self) -> Clock {
        Clock::Trace
    }

    fn matches_head(&self, head: &Head) -> bool {
        let fields = head.first_fields(b' ');
        fields.len() == 5 && fields.iter().all(|field| is_numeric(field))
    }

    fn read_head(&self, head: &Head) -> Option<HeadReading> {
        Some(HeadReading::new(&mut Parser, head))
    }

    fn read(&self, trace: TraceInput) -> Result<Box<dyn Source>> {
        Ok(Box::new(LineSource::new(trace.input, Parser, trace.arrivals)))
    }
}

struct Parser;

impl LineParser for Parser {
    const SHAPE: &'static str = "arrival_ms device lbn blocks flags";

    #[inline]
    fn parse(&mut self, line: Line) -> ParseResult<Option<Request>> {
        let mut fields = Fields::new(line);
        fields.skip_blanks();
        let arrival = fields.time("the arrival in ms", 6)?;
        fields.blanks()?;
        let device = fields.device()?;
        fields.blanks()?;
        let at = fields.column();
        let lbn = fields.integer("the block number")?;
        fields.blanks()?;
        let count = fields.integer("the number of blocks")?;
        fields.blanks()?;
        let flags = fields.hexadecimal("the flags")?;
        fields.end()?;
        let op = if flags & 1 == 1 { Op::Read } else { Op::Write };
        let (lbn, blocks) = blocks(at, lbn, count)?;
        Ok(Some(Request { arrival, lbn, blocks, device, op, ..Request::default() }))
    }
}
