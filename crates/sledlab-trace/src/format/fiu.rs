//! Traces of Florida International University (Koller and Rangaswami, FAST 2010, "I/O Deduplication").
//!
//! `ns pid process lba blocks W|R major minor md5`: nanoseconds, blocks of 512 bytes, and a hash of the content. Names
//! of processes may contain blanks. Each pair of major and minor number is a device, `major,minor`.

use sledlab_core::{Op, Request, Result, Source, Time};

use super::{Clock, Format, Head, TraceInput, fields, is_numeric};
use crate::devices::DeviceNumbers;
use crate::fields::{Fault, Line, ParseResult, blocks};
use crate::lines::{LineParser, LineSource};

/// See the module documentation.
pub struct Fiu;

impl Format for Fiu {
    fn name(&self) -> &'static str {
        "fiu"
    }

    fn description(&self) -> &'static str {
        "FIU (I/O deduplication): ns pid process lba blocks W|R major minor md5, separated by spaces"
    }

    fn clock(&self) -> Clock {
        Clock::Recording
    }

    fn matches_head(&self, head: &Head) -> bool {
        match head.first_fields(b' ')[..] {
            [time, pid, _, .., lba, count, b"W" | b"R", major, minor, _hash] => {
                [time, pid, lba, count, major, minor].iter().all(|field| is_numeric(field))
            }
            _ => false,
        }
    }

    fn read(&self, trace: TraceInput) -> Result<Box<dyn Source>> {
        let devices = trace.devices.named_by(device_name);
        Ok(Box::new(LineSource::new(trace.input, Parser { devices }, trace.arrivals)))
    }
}

/// `8,16` for the major and the minor number of a device, separated by blanks.
fn device_name(major_and_minor: &[u8]) -> Vec<u8> {
    fields(major_and_minor, b' ').join(&b',')
}

struct Parser {
    devices: DeviceNumbers,
}

impl LineParser for Parser {
    const SHAPE: &'static str = "ns pid process lba blocks W|R major minor md5";

    fn parse(&mut self, line: Line) -> ParseResult<Option<Request>> {
        let words = fields(line.text, b' ');
        let [time, _pid, _process, .., lba, count, op, major, minor, _hash] = words[..] else {
            return Err(Fault::new(line.text.len(), format!("{} fields instead of 9", words.len())));
        };
        let integer = |word, what| line.read_word(word, |fields| fields.integer(what));
        let arrival = Time::from_ns(integer(time, "the time in ns")?);
        let (lbn, blocks) = blocks(
            line.place(lba),
            integer(lba, "the block address")?,
            integer(count, "the number of blocks")?,
        )?;
        let op = match op {
            b"R" => Op::Read,
            b"W" => Op::Write,
            other => {
                return Err(Fault::with_remedy(line.place(other), "unknown type of request", "write R or W"));
            }
        };
        integer(major, "the major number")?;
        integer(minor, "the minor number")?;
        let name_at = line.place(major);
        let name = &line.text[name_at..line.place(minor) + minor.len()];
        let device = self.devices.number(name_at, name)?;
        Ok(Some(Request { arrival, lbn, blocks, device, op, ..Request::default() }))
    }
}
