//! Block traces of Tencent Cloud (Zhang and others, USENIX ATC 2020).
//!
//! `Timestamp,Offset,Size,IOType,VolumeID`: seconds, 512-byte sectors, 0 read or 1 write.

use sledlab_core::{Op, Request, Result, Source};

use super::{Clock, Format, Head, HeadReading, TraceInput, is_numeric};
use crate::devices::DeviceNumbers;
use crate::fields::{Fault, Fields, Line, ParseResult, blocks};
use crate::lines::{LineParser, LineSource};

/// See the module documentation.
pub struct Tencent;

impl Format for Tencent {
    fn name(&self) -> &'static str {
        "tencent"
    }

    fn description(&self) -> &'static str {
        "Tencent Cloud CSV: timestamp(s),offset(sectors),size(sectors),0 read|1 write,volume"
    }

    fn clock(&self) -> Clock {
        Clock::Unix
    }

    fn matches_head(&self, head: &Head) -> bool {
        match head.first_fields(b',')[..] {
            [time, _, _, _, _] if time.eq_ignore_ascii_case(b"timestamp") => true,
            [time, offset, size, b"0" | b"1", volume] => {
                [time, offset, size, volume].iter().all(|field| is_numeric(field))
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
    const SHAPE: &'static str = "timestamp,offset,size,0|1,volume";

    fn parse(&mut self, line: Line) -> ParseResult<Option<Request>> {
        let mut fields = Fields::new(line);
        let arrival = fields.time("the timestamp in s", 9)?;
        let at = fields.comma()?;
        let lbn = fields.integer("the offset in sectors")?;
        fields.comma()?;
        let count = fields.integer("the size in sectors")?;
        let op_at = fields.comma()?;
        let op = match fields.letter() {
            b'0' => Op::Read,
            b'1' => Op::Write,
            _ => {
                return Err(Fault::with_remedy(
                    op_at,
                    "unknown type of request",
                    "write 0 (read) or 1 (write)",
                ));
            }
        };
        let volume_at = fields.comma()?;
        fields.integer("the volume")?;
        let device = self.devices.number(volume_at, fields.since(volume_at))?;
        fields.end()?;
        let (lbn, blocks) = blocks(at, lbn, count)?;
        Ok(Some(Request { arrival, lbn, blocks, device, op, ..Request::default() }))
    }

    fn is_header(&self, line: &[u8]) -> bool {
        line.get(..9).is_some_and(|word| word.eq_ignore_ascii_case(b"timestamp"))
    }
}
