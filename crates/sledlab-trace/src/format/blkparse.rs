//! The default text output of `blkparse` for a `blktrace` recording.
//!
//! `major,minor cpu sequence seconds pid action rwbs sector + sectors [process]`. The requests are the events of action
//! Q (queued), or, in a recording that begins without any, those of action D (issued to the driver). `rwbs` contains
//! the operation (blkparse(1)): D discards, W writes, R reads; an F without data is a flush. A flush that a write with
//! data may request first is omitted, and so are commands that are passed through (`R 36 (12 00 ..) [smartd]`). Each
//! major,minor is a device. Summaries are skipped; recordings that follow one another are read as one.

use sledlab_core::{Op, Request, Result, Source};

use super::{Clock, Format, Head, TraceInput, fields, is_numeric};
use crate::devices::DeviceNumbers;
use crate::fields::{Fault, Fields, Line, ParseResult, blocks};
use crate::lines::{LineParser, LineSource};
use crate::notes::Note;

/// See the module documentation.
pub struct Blkparse;

impl Format for Blkparse {
    fn name(&self) -> &'static str {
        "blkparse"
    }

    fn description(&self) -> &'static str {
        "default output of blkparse; takes Q (queued) events, or D (issued) in a trace without Q"
    }

    fn clock(&self) -> Clock {
        Clock::Recording
    }

    fn matches_head(&self, head: &Head) -> bool {
        head.lines().filter(|line| !is_announcement(line)).take(3).any(|line| action(line).is_some())
    }

    fn read(&self, mut trace: TraceInput) -> Result<Box<dyn Source>> {
        let events: Vec<u8> = Head::from_input(&mut trace.input)?.lines().filter_map(action).collect();
        let event = if !events.contains(&b'Q') && events.contains(&b'D') { b'D' } else { b'Q' };
        if event == b'D' {
            trace.arrivals.add_note(Note::IssueEvents, 1);
        }
        let parser = Parser { event, devices: trace.devices, in_summary: false, has_events: false };
        Ok(Box::new(LineSource::new(trace.input, parser, trace.arrivals)))
    }
}

/// Whether a line announces one of the files that `blkparse` reads.
fn is_announcement(line: &[u8]) -> bool {
    line.starts_with(b"Input file ")
}

/// The first letter of the action of a line, if the line is an event.
fn action(line: &[u8]) -> Option<u8> {
    match fields(line, b' ')[..] {
        [device, cpu, sequence, seconds, pid, action, ..]
            if is_device(device) && [cpu, sequence, seconds, pid].iter().all(|field| is_numeric(field)) =>
        {
            action.first().copied()
        }
        _ => None,
    }
}

fn is_device(field: &[u8]) -> bool {
    let mut parts = field.split(|byte| *byte == b',');
    let mut number =
        || parts.next().is_some_and(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit));
    number() && number() && parts.next().is_none()
}

struct Parser {
    event: u8,
    devices: DeviceNumbers,
    in_summary: bool,
    /// Whether the recording has events of any kind.
    has_events: bool,
}

impl LineParser for Parser {
    const SHAPE: &'static str = "major,minor cpu sequence seconds pid action rwbs sector + sectors";

    fn parse(&mut self, line: Line) -> ParseResult<Option<Request>> {
        if line.text.starts_with(b"CPU") || line.text.starts_with(b"Total") {
            self.in_summary = true;
        }
        if is_announcement(line.text) || (self.in_summary && action(line.text).is_none()) {
            return Ok(None);
        }
        // An event after a summary belongs to the next recording.
        self.in_summary = false;
        let mut fields = Fields::new(line);
        fields.skip_blanks();
        let device_at = fields.column();
        let name = fields.token();
        if !is_device(name) {
            return Err(Fault::new(device_at, "expected the device as major,minor"));
        }
        fields.blanks()?;
        fields.integer("the processor")?;
        fields.blanks()?;
        fields.integer("the sequence number")?;
        fields.blanks()?;
        let arrival = fields.time("the time in s", 9)?;
        fields.blanks()?;
        fields.integer("the process id")?;
        fields.blanks()?;
        self.has_events = true;
        if fields.token() != [self.event] {
            return Ok(None);
        }
        fields.blanks()?;
        let Some((op, lbn, blocks)) = operation(&mut fields)? else { return Ok(None) };
        let device = self.devices.number(device_at, name)?;
        Ok(Some(Request { arrival, lbn, blocks, device, op, ..Request::default() }))
    }

    fn missing_requests_remedy(&self) -> Option<&'static str> {
        self.has_events.then_some(
            "the recording has neither events Q (queued) nor D (issued) of requests: record with \
             `blktrace -a queue` or `-a issue`",
        )
    }
}

/// Reads `rwbs sector + sectors`; `None` for events that move no data, such as a passed-through command.
fn operation(fields: &mut Fields) -> ParseResult<Option<(Op, u64, u32)>> {
    let rwbs = fields.token();
    let flush_operation = rwbs.contains(&b'F').then_some((Op::Flush, 0, 0));
    let op = match rwbs {
        _ if rwbs.contains(&b'D') => Op::Trim,
        _ if rwbs.contains(&b'W') => Op::Write,
        _ if rwbs.contains(&b'R') => Op::Read,
        _ => return Ok(flush_operation),
    };
    fields.skip_blanks();
    if flush_operation.is_some() && !fields.peek().is_ascii_digit() {
        return Ok(flush_operation);
    }
    let at = fields.column();
    let lbn = fields.integer("the sector")?;
    fields.blanks()?;
    if fields.peek() == b'(' {
        return Ok(None);
    }
    fields.separator(b'+')?;
    fields.blanks()?;
    let count = fields.integer("the number of sectors")?;
    if count == 0 && flush_operation.is_some() {
        return Ok(flush_operation);
    }
    let (lbn, blocks) = blocks(at, lbn, count)?;
    Ok(Some((op, lbn, blocks)))
}
