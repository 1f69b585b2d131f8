//! Logs of the I/O tester fio: the logs that it replays (iolog version 2 and 3) and those of its measurements.
//!
//! - Version 2, `fio version 2 iolog`: lines `file action` (add, open, close) and `file action
//!   offset length` (read, write, trim, sync, datasync, wait) in bytes. It holds no times but
//!   `wait N`, which the program and its manual define differently: see [`Waits`]. Requests between two waits arrive
//!   together.
//! - Version 3, `fio version 3 iolog`: the same after a timestamp in microseconds; waits are ignored, as by fio.
//! - Block logs (`write_bw_log`, `write_lat_log` ... with `log_offset=1`): `time_ms, value,
//!   direction, length, offset[, ...]`, direction 0 read, 1 write, 2 trim. The time is that of
//!   the entry, which fio makes as a request completes.
//!
//! Synchronizations are flushes. Each file is a device, called by its path. (fio manual, chapters on trace files and
//! log files.)

use sledlab_core::{Error, Op, Request, Result, Source, Time};

use super::{Clock, Format, Head, TraceInput, fields as split_fields, is_numeric};
use crate::devices::DeviceNumbers;
use crate::fields::{Fault, Fields, Line, ParseResult, bytes};
use crate::lines::{LineParser, LineSource};
use crate::notes::Note;
use crate::shown::shorten;

/// The meaning of `wait N` in version 2 of the iolog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// Until N milliseconds after the start of the job, as the program does (`read_iolog_get` in iolog.c).
    UntilMs,
    /// For N microseconds, as its manual says.
    ForUs,
}

/// See the module documentation.
pub struct FioIolog {
    pub(super) waits: Waits,
}

const VERSION_2: &[u8] = b"fio version 2 iolog";
const VERSION_3: &[u8] = b"fio version 3 iolog";

/// Fields of a line of a histogram log: more than those of any other block log.
const MIN_HISTOGRAM_FIELDS: usize = 16;

impl Format for FioIolog {
    fn name(&self) -> &'static str {
        match self.waits {
            Waits::UntilMs => "fio-iolog",
            Waits::ForUs => "fio-iolog-us",
        }
    }

    fn description(&self) -> &'static str {
        match self.waits {
            Waits::UntilMs => {
                "fio iolog version 2 or 3, or a block log: time(ms), value, direction, length, offset"
            }
            Waits::ForUs => {
                "fio iolog version 2 with waits in us since the previous request, as fio's manual says"
            }
        }
    }

    fn clock(&self) -> Clock {
        Clock::Recording
    }

    fn matches_head(&self, head: &Head) -> bool {
        self.waits == Waits::UntilMs && (head.bytes().starts_with(b"fio version ") || is_block_log(head))
    }

    fn read(&self, mut trace: TraceInput) -> Result<Box<dyn Source>> {
        let head = Head::from_input(&mut trace.input)?;
        let first_line = head.lines().next().unwrap_or_default().to_vec();
        let devices = trace.devices;
        if first_line == VERSION_2 || first_line == VERSION_3 {
            let parser =
                Iolog { has_timestamps: first_line == VERSION_3, waits: self.waits, waited_ns: 0, devices };
            return Ok(Box::new(LineSource::new(trace.input, parser, trace.arrivals)));
        }
        if first_line.starts_with(b"fio version ") {
            return Err(Error::user("unsupported version of fio's iolog")
                .with_remedy("write version 2 or 3 (any fio since 1.20 does)")
                .with_location(trace.input.name(), 1, 1, &first_line));
        }
        if let Some(error) = block_log_error(&head) {
            return Err(error.with_location(trace.input.name(), 1, 1, &first_line));
        }
        Ok(Box::new(LineSource::new(trace.input, BlockLog, trace.arrivals)))
    }
}

/// Whether fields are separated by a comma *and a space*, as fio prints them in block logs.
fn is_block_log(head: &Head) -> bool {
    let has_spaces = head.lines().next().is_some_and(|line| line.windows(2).any(|pair| pair == b", "));
    let fields = head.first_fields(b',');
    has_spaces && fields.len() >= 4 && fields.iter().all(|field| is_numeric(field))
}

/// Why a block log holds no requests with addresses, judged by its first lines: it has averages, histograms or
/// priorities.
///
/// Since fio 3.18 a line without an offset ends in the priority, which before was the place of the offset.
fn block_log_error(head: &Head) -> Option<Error> {
    const RECORD_AGAIN: &str = "record it again with fio's option `log_offset=1`";
    let lines: Vec<Vec<&[u8]>> = head.lines().map(|line| split_fields(line, b',')).collect();
    let all_lines =
        |test: &dyn Fn(&[&[u8]]) -> bool| !lines.is_empty() && lines.iter().all(|fields| test(fields));
    if all_lines(&|fields| fields.len() >= MIN_HISTOGRAM_FIELDS) {
        return Some(
            Error::user("the log holds histograms of latencies (`log_hist_msec`), not requests")
                .with_remedy("record requests with fio's options `write_lat_log` and `log_offset=1`"),
        );
    }
    if all_lines(&|fields| fields.get(3) == Some(&&b"0"[..])) {
        let interval = lines.first().and_then(|fields| std::str::from_utf8(fields[0]).ok()).unwrap_or("some");
        return Some(
            Error::user(format!(
                "the log holds averages over {} ms (`log_avg_msec`), not requests",
                shorten(interval)
            ))
            .with_remedy("record it again without `log_avg_msec`, and with `log_offset=1`"),
        );
    }
    let is_flag = |field: &[u8]| matches!(field, b"0" | b"1") || field.starts_with(b"0x");
    let is_block = |field: &[u8]| {
        let number = std::str::from_utf8(field).ok().and_then(|digits| digits.parse::<u64>().ok());
        number.is_some_and(|number| number.is_multiple_of(512))
    };
    // Six fields: offset and priority, or priority and time of issue.
    let ends_in_priority = all_lines(&|fields| fields.len() == 4)
        || all_lines(&|fields| fields.len() == 5 && is_flag(fields[4]))
        || all_lines(&|fields| fields.len() == 6 && is_flag(fields[4]) && !is_flag(fields[5]));
    if ends_in_priority {
        return Some(Error::user("the log holds no offsets").with_remedy(RECORD_AGAIN));
    }
    let is_ambiguous = all_lines(&|fields| fields.len() == 5)
        && !all_lines(&|fields| fields.len() == 5 && is_block(fields[4]));
    is_ambiguous.then(|| {
        Error::user("the fifth column may be the offset (fio before 3.18) or the priority (later, without offsets)")
            .with_remedy(
                "record it again with `log_offset=1`; `--columns time=1:ms,op=3:read=0,length=4,offset=5` reads it as \
                 the offset",
            )
    })
}

struct Iolog {
    has_timestamps: bool,
    waits: Waits,
    /// The time until which the waits so far last.
    waited_ns: u64,
    devices: DeviceNumbers,
}

/// A line of an iolog after its timestamp.
struct IologLine<'a> {
    name: &'a [u8],
    action_at: usize,
    action: &'a [u8],
}

const FILE_ACTIONS: [&[u8]; 4] = [b"add", b"open", b"close", b"unlink"];
const REQUEST_ACTIONS: [&[u8]; 7] =
    [b"read", b"write", b"trim", b"sync", b"datasync", b"sync_file_range", b"wait"];

/// Takes the name of the file and the action of a line; afterwards `fields` is at the end of the action.
fn take_action<'a>(fields: &mut Fields<'a>) -> ParseResult<IologLine<'a>> {
    let start = *fields;
    let name = fields.token();
    fields.blanks()?;
    let action_at = fields.column();
    let action = fields.token();
    let mut after_action = *fields;
    after_action.skip_blanks();
    // An action of files ends the line, and numbers follow one of requests: other words belong to a name.
    let is_action = if FILE_ACTIONS.contains(&action) {
        after_action.is_at_end()
    } else {
        !after_action.peek().is_ascii_alphabetic()
    };
    if is_action && (REQUEST_ACTIONS.contains(&action) || FILE_ACTIONS.contains(&action)) {
        return Ok(IologLine { name, action_at, action });
    }
    // The name may contain blanks: the action is the last of its words in the line.
    let mut last_action = None;
    let mut position = start;
    position.token();
    while position.blanks().is_ok() && !position.is_at_end() {
        let (word_at, before_word) = (position.column(), position);
        let word = position.token();
        if REQUEST_ACTIONS.contains(&word) || FILE_ACTIONS.contains(&word) {
            last_action = Some((word_at, word, position, before_word));
        }
    }
    let Some((word_at, word, after_action, before_word)) = last_action else {
        return Err(Fault::new(action_at, "unknown action"));
    };
    *fields = after_action;
    Ok(IologLine {
        name: before_word.since(start.column()).trim_ascii_end(),
        action_at: word_at,
        action: word,
    })
}

impl LineParser for Iolog {
    const SHAPE: &'static str = "[timestamp_us, in version 3] file action [offset length]";

    fn parse(&mut self, line: Line) -> ParseResult<Option<Request>> {
        let mut fields = Fields::new(line);
        let mut arrival = Time::from_ns(self.waited_ns);
        if self.has_timestamps {
            arrival = fields.time("the timestamp in us", 3)?;
            fields.blanks()?;
        }
        let name_at = fields.column();
        let IologLine { name, action_at, action } = take_action(&mut fields)?;
        let op = match action {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            b"sync" | b"datasync" | b"sync_file_range" => Op::Flush,
            b"wait" if self.has_timestamps => {
                self.devices.add_note(Note::IgnoredWaits, 1);
                return Ok(None);
            }
            b"wait" => return self.wait(&mut fields),
            _ if FILE_ACTIONS.contains(&action) => return Ok(None),
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
        let waited_ns = match self.waits {
            // A time that has passed is no wait.
            Waits::UntilMs => Some(self.waited_ns.max(fields.decimal("the wait in ms", 6)?)),
            Waits::ForUs => self.waited_ns.checked_add(fields.decimal("the wait in us", 3)?),
        };
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
        if next(&mut fields).is_err() {
            let remedy = "record it again with fio's option `log_offset=1`";
            return Err(Fault::with_remedy(at, "the log holds no offsets", remedy));
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
    fields.comma()?;
    Ok(())
}
