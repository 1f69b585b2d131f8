//! Logs of the I/O tester fio: the logs that it replays (iolog version 2 and 3) and those of its measurements.
//!
//! - Version 2, `fio version 2 iolog`: lines `file action` (add, open, close) and `file action
//!   offset length` (read, write, trim, sync, datasync, wait) in bytes. It holds no times but
//!   `wait N`, which lets N microseconds pass: requests between two waits arrive together.
//! - Version 3, `fio version 3 iolog`: the same after a timestamp in microseconds.
//! - Block logs (`write_bw_log`, `write_lat_log` ... with `log_offset=1`): `time_ms, value,
//!   direction, length, offset[, ...]`, direction 0 read, 1 write, 2 trim. The time is that of
//!   the entry, which fio makes as a request completes.
//!
//! Synchronizations are flushes. Each file is a device. (fio manual, chapters on trace files and
//! log files.)

use sledlab_core::{Error, Op, Request, Result, Source, Time};

use super::{Clock, Format, Head, TraceInput, is_numeric};
use crate::devices::DeviceNumbers;
use crate::fields::{Fault, Fields, Line, ParseResult, bytes};
use crate::lines::{LineParser, LineSource};

/// See the module documentation.
pub struct FioIolog;

const VERSION_2: &[u8] = b"fio version 2 iolog";
const VERSION_3: &[u8] = b"fio version 3 iolog";

impl Format for FioIolog {
    fn name(&self) -> &'static str {
        "fio-iolog"
    }

    fn description(&self) -> &'static str {
        "fio iolog version 2 or 3, or a block log: time(ms), value, direction, length, offset"
    }

    fn clock(&self) -> Clock {
        Clock::Wall
    }

    fn matches_head(&self, head: &Head) -> bool {
        head.bytes().starts_with(b"fio version ") || is_block_log(head)
    }

    fn read(&self, mut trace: TraceInput) -> Result<Box<dyn Source>> {
        let head = Head::from_input(&mut trace.input)?;
        let first = head.lines().next().unwrap_or_default().to_vec();
        let devices = trace.devices;
        if first == VERSION_2 || first == VERSION_3 {
            let parser = Iolog { timed: first == VERSION_3, waited_ns: 0, devices };
            return Ok(Box::new(LineSource::new(trace.input, parser, trace.arrivals)));
        }
        if first.starts_with(b"fio version ") {
            return Err(Error::user("unsupported version of fio's iolog")
                .with_remedy("write version 2 or 3 (any fio since 1.20 does)")
                .with_location(trace.input.name(), 1, 1, &first));
        }
        Ok(Box::new(LineSource::new(trace.input, BlockLog, trace.arrivals)))
    }
}

/// Whether fields are separated by a comma *and a space*, as fio prints them in block logs.
fn is_block_log(head: &Head) -> bool {
    let spaced = head.lines().next().is_some_and(|line| line.windows(2).any(|pair| pair == b", "));
    let fields = head.first_fields(b',');
    spaced && fields.len() >= 4 && fields.iter().all(|field| is_numeric(field))
}

struct Iolog {
    timed: bool,
    /// Sum of the waits so far.
    waited_ns: u64,
    devices: DeviceNumbers,
}

impl LineParser for Iolog {
    const SHAPE: &'static str = "[timestamp_us, in version 3] file action [offset length]";

    fn parse(&mut self, line: Line) -> ParseResult<Option<Request>> {
        let mut fields = Fields::new(line);
        let mut arrival = Time::from_ns(self.waited_ns);
        if self.timed {
            arrival = fields.time("the timestamp in us", 3)?;
            fields.blanks()?;
        }
        let name_at = fields.column();
        let name = fields.token();
        fields.blanks()?;
        let action_at = fields.column();
        let op = match fields.token() {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            b"sync" | b"datasync" | b"sync_file_range" => Op::Flush,
            b"add" | b"open" | b"close" | b"unlink" => return Ok(None),
            b"wait" if !self.timed => return self.wait(&mut fields),
            _ => return Err(Fault::new(action_at, "unknown action")),
        };
        let device = self.devices.number(name_at, name)?;
        if op == Op::Flush {
            return Ok(Some(Request { arrival, lbn: 0, blocks: 0, device, op, ..Request::default() }));
        }
        fields.blanks()?;
        let at = fields.column();
        let offset = fields.integer("the offset in bytes")?;
        fields.blanks()?;
        let length = fields.integer("the length in bytes")?;
        fields.end()?;
        let (lbn, blocks) = bytes(at, offset, length)?;
        Ok(Some(Request { arrival, lbn, blocks, device, op, ..Request::default() }))
    }

    fn is_header(&self, line: &[u8]) -> bool {
        line == VERSION_2 || line == VERSION_3
    }
}

impl Iolog {
    fn wait(&mut self, fields: &mut Fields) -> ParseResult<Option<Request>> {
        fields.blanks()?;
        let at = fields.column();
        let wait_ns = fields.decimal("the wait in us", 3)?;
        let waited_ns = self.waited_ns.checked_add(wait_ns);
        self.waited_ns = waited_ns.ok_or_else(|| Fault::new(at, "time does not fit 64 bits"))?;
        Ok(None)
    }
}

struct BlockLog;

impl LineParser for BlockLog {
    const SHAPE: &'static str = "time_ms, value, direction, length, offset";

    fn parse(&mut self, line: Line) -> ParseResult<Option<Request>> {
        let mut fields = Fields::new(line);
        let arrival = fields.time("the time in ms", 6)?;
        next(&mut fields)?;
        fields.word(b',');
        next(&mut fields)?;
        let op_at = fields.column();
        let op = match fields.word(b',').trim_ascii() {
            b"0" => Op::Read,
            b"1" => Op::Write,
            b"2" => Op::Trim,
            _ => {
                return Err(Fault::new(op_at, "expected the direction: 0 read, 1 write, 2 trim"));
            }
        };
        next(&mut fields)?;
        let length = fields.integer("the length in bytes")?;
        let at = fields.column();
        // Without offsets the fifth field is the priority, in hexadecimal.
        let has_offset = next(&mut fields).is_ok() && !fields.rest().starts_with(b"0x");
        if !has_offset {
            let message = "the log holds no offsets".to_owned();
            return Err(Fault::with_remedy(at, message, "record it again with fio's option `log_offset=1`"));
        }
        let at = fields.column();
        let offset = fields.integer("the offset in bytes")?;
        if !fields.is_at_end() {
            fields.separator(b',')?;
        }
        let (lbn, blocks) = bytes(at, offset, length)?;
        Ok(Some(Request { arrival, lbn, blocks, op, ..Request::default() }))
    }
}

fn next(fields: &mut Fields) -> ParseResult<()> {
    fields.separator(b',')?;
    fields.skip_blanks();
    Ok(())
}
