//! MSR Cambridge block traces (Narayanan, Donnelly, Rowstron, FAST 2008).
//!
//! `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`: the timestamp counts 100 ns
//! (Windows file time), type is Read or Write, offset and size are bytes. The response time is
//! not used. Each pair of host and disk is a device, `usr_0`.

use sledlab_core::{Op, Request, Result, Source};

use super::{Clock, Format, Head, TraceInput, is_numeric};
use crate::devices::DeviceNumbers;
use crate::fields::{Fault, Fields, Line, ParseResult, bytes};
use crate::lines::{LineParser, LineSource};

/// See the module documentation.
pub struct Msr;

impl Format for Msr {
    fn name(&self) -> &'static str {
        "msr"
    }

    fn description(&self) -> &'static str {
        "MSR Cambridge CSV: Timestamp(100 ns),Hostname,DiskNumber,Read|Write,Offset,Size,ResponseTime"
    }

    fn clock(&self) -> Clock {
        Clock::Windows
    }

    fn matches_head(&self, head: &Head) -> bool {
        match head.first_fields(b',')[..] {
            [time, _, disk, op, offset, size, _] => {
                time.eq_ignore_ascii_case(b"timestamp")
                    || (is_numeric(time)
                        && is_numeric(disk)
                        && parse_op(op).is_some()
                        && is_numeric(offset)
                        && is_numeric(size))
            }
            _ => false,
        }
    }

    fn read(&self, trace: TraceInput) -> Result<Box<dyn Source>> {
        let devices = trace.devices.named_by(device_name);
        Ok(Box::new(LineSource::new(trace.input, Parser { devices }, trace.arrivals)))
    }
}

struct Parser {
    devices: DeviceNumbers,
}

/// `usr_0` for the host `usr` and the disk 0, as the files of the collection are called.
fn device_name(host_and_disk: &[u8]) -> Vec<u8> {
    let parts: Vec<&[u8]> = host_and_disk.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).collect();
    parts.join(&b'_')
}

fn parse_op(word: &[u8]) -> Option<Op> {
    match word {
        _ if word.eq_ignore_ascii_case(b"read") => Some(Op::Read),
        _ if word.eq_ignore_ascii_case(b"write") => Some(Op::Write),
        _ => None,
    }
}

impl LineParser for Parser {
    const SHAPE: &'static str = "Timestamp,Hostname,DiskNumber,Read|Write,Offset,Size,ResponseTime";

    fn parse(&mut self, line: Line) -> ParseResult<Option<Request>> {
        let mut fields = Fields::new(line);
        let arrival = fields.time("the timestamp in 100 ns", 2)?;
        let name_at = fields.comma()?;
        fields.word(b',');
        fields.comma()?;
        fields.integer("the disk number")?;
        let name = fields.since(name_at);
        let at = fields.comma()?;
        let Some(op) = parse_op(fields.word(b',').trim_ascii()) else {
            return Err(Fault::with_remedy(at, "unknown type of request", "write Read or Write"));
        };
        let at = fields.comma()?;
        let offset = fields.integer("the offset in bytes")?;
        fields.comma()?;
        let size = fields.integer("the size in bytes")?;
        let (lbn, blocks) = bytes(at, offset, size)?;
        if !fields.is_at_end() {
            fields.separator(b',')?;
        }
        let device = self.devices.number(name_at, name)?;
        Ok(Some(Request { arrival, lbn, blocks, device, op, ..Request::default() }))
    }

    fn is_header(&self, line: &[u8]) -> bool {
        line.get(..9).is_some_and(|word| word.eq_ignore_ascii_case(b"timestamp"))
    }
}
