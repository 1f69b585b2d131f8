//! The Storage Performance Council's trace format, used by the UMass repository.
//!
//! `asu,lba,size,op,time[,...]`: application storage unit, address in 512-byte blocks, size in bytes, R or W in either
//! case, seconds (SPC trace file format specification, revision 1.0.1). Further fields are ignored. Each storage unit
//! is a device.

use sledlab_core::{BLOCK_BYTES, Op, Request, Result, Source};

use super::{Clock, Format, Head, TraceInput, is_numeric};
use crate::devices::DeviceNumbers;
use crate::fields::{Fault, Fields, Line, ParseResult, blocks};
use crate::lines::{LineParser, LineSource};

/// See the module documentation.
pub struct Spc;

impl Format for Spc {
    fn name(&self) -> &'static str {
        "spc"
    }

    fn description(&self) -> &'static str {
        "SPC-1 / UMass: asu,lba(512-byte blocks),size(bytes),r|w,time(s)"
    }

    fn clock(&self) -> Clock {
        Clock::Recording
    }

    fn matches_head(&self, head: &Head) -> bool {
        match head.first_fields(b',')[..] {
            [asu, lba, size, op, time, ..] => {
                [asu, lba, size, time].iter().all(|field| is_numeric(field))
                    && matches!(op, b"r" | b"R" | b"w" | b"W")
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

impl LineParser for Parser {
    const SHAPE: &'static str = "asu,lba,size,r|w,seconds";

    fn parse(&mut self, line: Line) -> ParseResult<Option<Request>> {
        let mut fields = Fields::new(line);
        fields.skip_blanks();
        let unit_at = fields.column();
        fields.integer("the storage unit")?;
        let device = self.devices.number(unit_at, fields.since(unit_at))?;
        let at = fields.comma()?;
        let lbn = fields.integer("the block address")?;
        fields.comma()?;
        let size = fields.integer("the size in bytes")?;
        let op_at = fields.comma()?;
        let op = match fields.letter() {
            b'r' | b'R' => Op::Read,
            b'w' | b'W' => Op::Write,
            _ => return Err(Fault::with_remedy(op_at, "unknown operation", "write R or W")),
        };
        fields.comma()?;
        let arrival = fields.time("the time in s", 9)?;
        if !fields.is_at_end() {
            fields.skip_blanks();
        }
        if !fields.is_at_end() {
            fields.separator(b',')?;
        }
        let (lbn, blocks) = blocks(at, lbn, size.div_ceil(BLOCK_BYTES))?;
        Ok(Some(Request { arrival, lbn, blocks, device, op, ..Request::default() }))
    }
}
