//! Block traces of Alibaba Cloud (Li and others, IISWC 2020).
//!
//! `device_id,opcode,offset,length,timestamp`: R or W, bytes, microseconds.

use sledlab_core::{Op, Request, Result, Source};

use super::{Clock, Format, Head, HeadReading, TraceInput, is_numeric};
use crate::devices::DeviceNumbers;
use crate::fields::{Fault, Fields, Line, ParseResult, bytes};
use crate::lines::{LineParser, LineSource};

/// See the module documentation.
pub struct Alibaba;

impl Format for Alibaba {
    fn name(&self) -> &'static str {
        "alibaba"
    }

    fn description(&self) -> &'static str {
        "Alibaba Cloud CSV: device_id,R|W,offset(bytes),length(bytes),timestamp(us)"
    }

    fn clock(&self) -> Clock {
        Clock::Unix
    }

    fn matches_head(&self, head: &Head) -> bool {
        match head.first_fields(b',')[..] {
            [b"device_id", b"opcode", b"offset", b"length", b"timestamp"] => true,
            [device, b"R" | b"W", offset, length, time] => {
                [device, offset, length, time].iter().all(|field| is_numeric(field))
            }
            _ => false,
        }
    }

    fn read_head(&self, head: &Head) -> Option<HeadReading> {
        Some(HeadReading::new(&mut Parser { devices: DeviceNumbers::default() }, head))
    }

    fn read(&self, trace: TraceInput) -> Result<Box<dyn Source>> {
        Ok(Box::new(LineSource::new(trace.input, Parser { devices: trace.devices }, trace.arrivals)))
    }
}

struct Parser {
    devices: DeviceNumbers,
}

impl LineParser for Parser {
    const SHAPE: &'static str = "device_id,R|W,offset,length,timestamp";

    fn parse(&mut self, line: Line) -> ParseResult<Option<Request>> {
        let mut fields = Fields::new(line);
        fields.integer("the device")?;
        let device = self.devices.number(0, fields.since(0))?;
        let op_at = fields.comma()?;
        let op = match fields.letter() {
            b'R' => Op::Read,
            b'W' => Op::Write,
            _ => return Err(Fault::with_remedy(op_at, "unknown operation", "write R or W")),
        };
        let at = fields.comma()?;
        let offset = fields.integer("the offset in bytes")?;
        fields.comma()?;
        let length = fields.integer("the length in bytes")?;
        fields.comma()?;
        let arrival = fields.time("the timestamp in us", 3)?;
        fields.end()?;
        let (lbn, blocks) = bytes(at, offset, length)?;
        Ok(Some(Request { arrival, lbn, blocks, device, op, ..Request::default() }))
    }

    fn is_header(&self, line: &[u8]) -> bool {
        line.starts_with(b"device_id")
    }
}
