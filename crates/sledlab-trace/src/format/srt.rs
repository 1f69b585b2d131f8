//! HP's SRT binary traces (Ruemmler and Wilkes 1993), version 4 of their records.
//!
//! A text header that describes the disks ends with a form feed; big-endian records of 56 bytes
//! follow: length, version and type, seconds, microseconds, start offset, stop offset, size in
//! bytes, sector number, device, driver type, cylinder, flags (bit 0 read), info, queue length.
//!
//! The device number holds the disk in bits 8 to 15 and the section of the disk in bits 0 to 7. Sector numbers count
//! from the start of the *disk*, in sectors of the size that the header states (or the option `sector_bytes`), so the sections of a disk do not
//! overlap. The disks are placed one after another in the order of the header, each as long as in its geometry, and all
//! requests are for device 0.

use sledlab_core::{Error, Op, Request, Result, Source};

use super::{Clock, Format, Head, HeadReading, TraceInput};
use crate::arrivals::TraceArrivals;
use crate::input::Input;
use crate::lines::{CHUNK, no_requests_error};
use crate::notes::Note;
use crate::range::{self, RangeFault};
use crate::stream_end::StreamEnd;

/// See the module documentation.
pub struct Srt;

const MAGIC: &[u8] = b"$$TR_IOREC";
const HEADER_END: u8 = 0x0c;
const RECORD_BYTES: usize = 56;
/// Version 4 in the high half, type 1 (I/O record) in the low half.
const IO_RECORD: u32 = 0x0004_0001;
const READ_FLAG: u32 = 1;

impl Format for Srt {
    fn name(&self) -> &'static str {
        "srt"
    }

    fn description(&self) -> &'static str {
        "HP SRT binary: a text header and 56-byte big-endian records; disks placed one after another"
    }

    fn clock(&self) -> Clock {
        Clock::Unix
    }

    fn matches_head(&self, head: &Head) -> bool {
        head.bytes().starts_with(MAGIC)
    }

    fn read_head(&self, _head: &Head) -> Option<HeadReading> {
        None
    }

    fn read(&self, mut trace: TraceInput) -> Result<Box<dyn Source>> {
        let disks = read_header(&mut trace.input, trace.sector_bytes)?;
        let TraceInput { input, arrivals, .. } = trace;
        Ok(Box::new(Records { input, disks, arrivals, record: 0, stream_end: StreamEnd::default() }))
    }
}

/// Position of a disk in the common address range, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Disk {
    number: u64,
    sector_bytes: u64,
    start: u64,
    length: u64,
}

fn read_header(input: &mut Input, sector_bytes: Option<u64>) -> Result<Vec<Disk>> {
    let name = input.name().to_owned();
    let head = input.head()?;
    let refuse = |message: &str| {
        let remedy = "check that this is an HP SRT trace and that it was copied as binary data";
        Err(Error::user(message).with_remedy(remedy).with_location(&name, 1, 0, &head[..head.len().min(40)]))
    };
    if !head.starts_with(MAGIC) {
        return refuse("expected a header that begins with $$TR_IOREC");
    }
    let Some(length) = head.iter().position(|byte| *byte == HEADER_END) else {
        return refuse("the header does not end (with a form feed)");
    };
    let disks = match parse_disks(&head[..length]) {
        Ok(disks) => disks,
        Err(message) => return refuse(&message),
    };
    input.next_bytes(length + 1)?;
    match sector_bytes {
        Some(sector_bytes) => Ok(disks.into_iter().map(|disk| Disk { sector_bytes, ..disk }).collect()),
        None => Ok(disks),
    }
}

/// Reads `disks = { 0 -> { nspt = 113, ntpc = 8, ncyl = 1449, sectorsize = 256, ... }, 1 -> ... }`.
fn parse_disks(header: &[u8]) -> Result<Vec<Disk>, String> {
    const KEYS: [&str; 4] = ["nspt", "ntpc", "ncyl", "sectorsize"];
    let text = String::from_utf8_lossy(header);
    let Some((_, text)) = text.split_once("disks") else {
        return Err("the header names no disks".to_owned());
    };
    let spaced: String =
        text.chars().flat_map(|c| if "{}=,;()".contains(c) { vec![' ', c, ' '] } else { vec![c] }).collect();
    let parts: Vec<&str> = spaced.split_whitespace().collect();
    let mut disks: Vec<Disk> = Vec::new();
    let mut values = [None; KEYS.len()];
    let mut number = 0;
    let mut depth = 0_u32;
    for (i, word) in parts.iter().enumerate() {
        match *word {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                if depth == 1 {
                    let start = disks.last().map_or(0, |disk| disk.start + disk.length);
                    disks.push(disk(number, start, values)?);
                    values = [None; KEYS.len()];
                }
            }
            "->" if depth == 1 => {
                let stated = i.checked_sub(1).and_then(|before| parts[before].parse().ok());
                number = stated.ok_or("a disk in the header has no number")?;
            }
            // Blocks of sections and adaptors, which are nested deeper, use some of the same words.
            "=" if depth == 2 => {
                let key = KEYS.iter().position(|key| i > 0 && parts[i - 1] == *key);
                if let (Some(key), Some(value)) = (key, parts.get(i + 1)) {
                    values[key] = value.parse::<u64>().ok();
                }
            }
            _ => {}
        }
    }
    if disks.is_empty() { Err("the header describes no disks".to_owned()) } else { Ok(disks) }
}

fn disk(number: u64, start: u64, values: [Option<u64>; 4]) -> Result<Disk, String> {
    let incomplete =
        || format!("the header does not state the geometry of disk {number} (nspt, ntpc, ncyl, sectorsize)");
    let [Some(sectors), Some(tracks), Some(cylinders), Some(sector_bytes)] = values else {
        return Err(incomplete());
    };
    let bytes = sectors.checked_mul(tracks).and_then(|n| n.checked_mul(cylinders)?.checked_mul(sector_bytes));
    // A multiple of the block size, so that the next disk begins at a block, and far from overflow for any number of
    // disks.
    let length = bytes.and_then(|bytes| bytes.checked_next_multiple_of(sledlab_core::BLOCK_BYTES));
    match length {
        Some(length) if (1..=1 << 50).contains(&length) && start <= 1 << 60 => {
            Ok(Disk { number, sector_bytes, start, length })
        }
        _ => Err(format!("the header states an impossible geometry for disk {number}")),
    }
}

/// A stream of the trace's records.
struct Records {
    input: Input,
    disks: Vec<Disk>,
    arrivals: TraceArrivals,
    /// Records read so far.
    record: u64,
    stream_end: StreamEnd,
}

impl Records {
    fn read_chunk(&mut self, into: &mut Vec<Request>) -> Result<()> {
        let before = into.len();
        while into.len() < before + CHUNK {
            let bytes = self.input.next_bytes(RECORD_BYTES)?;
            if bytes.is_empty() {
                return Ok(());
            }
            self.record += 1;
            let parsed = parse(bytes, &self.disks, &mut self.arrivals);
            match parsed {
                Ok(Some(request)) => into.push(request),
                Ok(None) => self.arrivals.add_note(Note::EmptyRequests, 1),
                Err((column, mut error)) => {
                    if error.remedy().is_none() {
                        error = error
                            .with_remedy("check that the trace is complete and was copied as binary data");
                    }
                    return Err(error.with_location(self.input.name(), self.record, column as u64 + 1, b""));
                }
            }
        }
        Ok(())
    }
}

/// Reads one record; `None` for a request of length 0. An error comes with the byte of the record that it is about.
fn parse(
    bytes: &[u8],
    disks: &[Disk],
    arrivals: &mut TraceArrivals,
) -> Result<Option<Request>, (usize, Error)> {
    let Ok(record) = <&[u8; RECORD_BYTES]>::try_from(bytes) else {
        let message = format!("the last record is cut off: {} of {RECORD_BYTES} bytes", bytes.len());
        return Err((0, Error::user(message).with_remedy("copy the file again, as binary data")));
    };
    let word = |at: usize| u32::from_be_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]]);
    let (length, kind, seconds, micros) = (word(0), word(4), word(8), word(12));
    let (size, sector, device, flags) = (u64::from(word(24)), u64::from(word(28)), word(32), word(44));
    if length as usize != RECORD_BYTES || kind != IO_RECORD {
        let message = format!("record of length {length}, version {}, type {}", kind >> 16, kind & 0xffff);
        let remedy = "only I/O records (type 1) of version 4, 56 bytes long, are known";
        return Err((0, Error::user(message).with_remedy(remedy)));
    }
    let number = u64::from(device >> 8 & 0xff);
    let Some(disk) = disks.iter().find(|disk| disk.number == number) else {
        return Err((32, Error::user(format!("disk {number} is not described in the header"))));
    };
    let offset = sector * disk.sector_bytes;
    if offset > disk.length || size > disk.length - offset {
        let message =
            format!("sector {sector} and {size} bytes from there lie beyond the end of disk {number}");
        return Err((28, Error::user(message)));
    }
    let (lbn, blocks) = match range::from_bytes(disk.start + offset, size) {
        Ok(range) => range,
        Err(RangeFault::Empty) => return Ok(None),
        Err(RangeFault::Invalid(error)) => return Err((24, error)),
    };
    let trace_ns = (u64::from(seconds) * 1_000_000 + u64::from(micros)) * 1_000;
    let Some(arrival) = arrivals.accept(trace_ns) else { return Err((8, arrivals.refusal(trace_ns))) };
    let op = if flags & READ_FLAG != 0 { Op::Read } else { Op::Write };
    Ok(Some(Request { arrival, lbn, blocks, op, ..Request::default() }))
}

impl Source for Records {
    fn fill(&mut self, into: &mut Vec<Request>) -> Result<usize> {
        self.stream_end.check()?;
        let before = into.len();
        let outcome = self.read_chunk(into);
        self.stream_end
            .close_trace(into.len() - before, outcome, || no_requests_error(&self.input, &self.arrivals))
    }

    fn progress(&self) -> Option<f64> {
        self.input.progress()
    }
}
