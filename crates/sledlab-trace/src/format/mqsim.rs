//! Traces of MQSim, a simulator of solid-state disks: `arrival_ns device lbn sectors type`.
//!
//! Five whole numbers separated by spaces: nanoseconds, device, sectors of 512 bytes, and 0 for a write, 1 for a read
//! (README of MQSim, section on trace-based workloads). `disksim-ascii` has the same shape with milliseconds.

use sledlab_core::{Op, Request, Result, Source};

use super::{Clock, Format, Head, HeadReading, TraceInput};
use crate::fields::{Fault, Fields, Line, ParseResult, blocks};
use crate::lines::{LineParser, LineSource};

/// See the module documentation.
pub struct Mqsim;

impl Format for Mqsim {
    fn name(&self) -> &'static str {
        "mqsim"
    }

    fn description(&self) -> &'static str {
        "MQSim: arrival_ns device lbn sectors 1 read|0 write, whole numbers separated by spaces"
    }

    fn clock(&self) -> Clock {
        Clock::Trace
    }

    fn matches_head(&self, head: &Head) -> bool {
        let fields = head.first_fields(b' ');
        fields.len() == 5
            && matches!(fields[4], b"0" | b"1")
            && fields.iter().all(|field| field.iter().all(u8::is_ascii_digit))
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
    const SHAPE: &'static str = "arrival_ns device lbn sectors 0|1";

    fn parse(&mut self, line: Line) -> ParseResult<Option<Request>> {
        let mut fields = Fields::new(line);
        fields.skip_blanks();
        let arrival = sledlab_core::Time::from_ns(fields.integer("the arrival in ns")?);
        fields.blanks()?;
        let device = fields.device()?;
        fields.blanks()?;
        let at = fields.column();
        let lbn = fields.integer("the sector")?;
        fields.blanks()?;
        let count = fields.integer("the number of sectors")?;
        fields.blanks()?;
        let op_at = fields.column();
        let op = match fields.letter() {
            b'0' => Op::Write,
            b'1' => Op::Read,
            _ => {
                return Err(Fault::with_remedy(
                    op_at,
                    "unknown type of request",
                    "write 1 (read) or 0 (write)",
                ));
            }
        };
        fields.end()?;
        let (lbn, blocks) = blocks(at, lbn, count)?;
        Ok(Some(Request { arrival, lbn, blocks, device, op, ..Request::default() }))
    }
}
