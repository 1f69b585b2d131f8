//! HP's SRT binary traces (Ruemmler and Wilkes 1993), version 4 of their records.
//!
//! A text header that describes the disks ends with a form feed; big-endian records of 56 bytes
//! follow: length, version and type, seconds, microseconds, start offset, stop offset, size in
//! bytes, sector number, device, driver type, cylinder, flags (bit 0 read), info, queue length.
//!
//! The device number holds the disk in bits 8 to 15 and the section of the disk in bits 0 to 7. Sector numbers count
//! from the start of the *disk*, in sectors of the size that the header states, or the option `sector_bytes`. So the
//! sections of a disk do not overlap. The disks are placed one after another in the order of the header, each as long
//! as in its geometry, and all requests are for device 0.

use sledlab_core::{Error, Op, Request, Result, Source, Time};

use super::{Clock, Format, Head, TraceInput};
use crate::fields::{Fault, ParseResult, bytes};
use crate::input::Input;
use crate::records::{RecordParser, RecordSource};

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

    fn read(&self, mut trace: TraceInput) -> Result<Box<dyn Source>> {
        let disks = read_header(&mut trace.input, trace.sector_bytes)?;
        Ok(Box::new(RecordSource::new(trace.input, Parser { disks }, trace.arrivals)))
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
    let rejection = |message: &str| {
        let remedy = "check that this is an HP SRT trace and that it was copied as binary data";
        Err(Error::user(message).with_remedy(remedy).with_location(&name, 1, 0, &head[..head.len().min(40)]))
    };
    if !head.starts_with(MAGIC) {
        return rejection("expected a header that begins with $$TR_IOREC");
    }
    let Some(length) = head.iter().position(|byte| *byte == HEADER_END) else {
        return rejection("the header does not end (with a form feed)");
    };
    let disks = match parse_disks(&head[..length], sector_bytes) {
        Ok(disks) => disks,
        Err(message) => return rejection(&message),
    };
    input.next_bytes(length + 1)?;
    Ok(disks)
}

/// Reads `disks = { 0 -> { nspt = 113, ntpc = 8, ncyl = 1449, sectorsize = 256, ... }, 1 -> ... }`. Sectors have
/// `sector_bytes` instead of those in the header, if given; then disks are larger or smaller.
fn parse_disks(header: &[u8], sector_bytes: Option<u64>) -> Result<Vec<Disk>, String> {
    const KEYS: [&str; 4] = ["nspt", "ntpc", "ncyl", "sectorsize"];
    let text = String::from_utf8_lossy(header);
    let Some((_, text)) = text.split_once("disks") else {
        return Err("the header names no disks".to_owned());
    };
    let spaced_text: String =
        text.chars().flat_map(|c| if "{}=,;()".contains(c) { vec![' ', c, ' '] } else { vec![c] }).collect();
    let words: Vec<&str> = spaced_text.split_whitespace().collect();
    let mut disks: Vec<Disk> = Vec::new();
    let mut values = [None; KEYS.len()];
    let mut number = 0;
    let mut depth = 0_u32;
    for (i, word) in words.iter().enumerate() {
        match *word {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                if depth == 1 {
                    let start = disks.last().map_or(0, |disk| disk.start + disk.length);
                    disks.push(disk(number, start, values, sector_bytes)?);
                    values = [None; KEYS.len()];
                }
            }
            "->" if depth == 1 => {
                let disk_number =
                    i.checked_sub(1).and_then(|previous_index| words[previous_index].parse().ok());
                number = disk_number.ok_or("a disk in the header has no number")?;
            }
            // Blocks of sections and adaptors, which are nested deeper, use some of the same words.
            "=" if depth == 2 => {
                let key = KEYS.iter().position(|key| i > 0 && words[i - 1] == *key);
                if let (Some(key), Some(value)) = (key, words.get(i + 1)) {
                    values[key] = value.parse::<u64>().ok();
                }
            }
            _ => {}
        }
    }
    if disks.is_empty() { Err("the header describes no disks".to_owned()) } else { Ok(disks) }
}

fn disk(
    number: u64,
    start: u64,
    values: [Option<u64>; 4],
    sector_bytes: Option<u64>,
) -> Result<Disk, String> {
    let incomplete =
        || format!("the header does not state the geometry of disk {number} (nspt, ntpc, ncyl, sectorsize)");
    let [Some(sectors), Some(tracks), Some(cylinders), Some(header_sector_bytes)] = values else {
        return Err(incomplete());
    };
    let sector_bytes = sector_bytes.unwrap_or(header_sector_bytes);
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

/// Reads records of the disks in the header.
struct Parser {
    disks: Vec<Disk>,
}

impl RecordParser<RECORD_BYTES> for Parser {
    const TIME_AT: usize = 8;

    fn parse(&mut self, record: &[u8; RECORD_BYTES]) -> ParseResult<Request> {
        let word =
            |at: usize| u32::from_be_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]]);
        let (length, kind, seconds, micros) = (word(0), word(4), word(8), word(12));
        let (size, sector, device, flags) = (u64::from(word(24)), u64::from(word(28)), word(32), word(44));
        if length as usize != RECORD_BYTES || kind != IO_RECORD {
            let message =
                format!("record of length {length}, version {}, type {}", kind >> 16, kind & 0xffff);
            let remedy = "only I/O records (type 1) of version 4, 56 bytes long, are known";
            return Err(Fault::with_remedy(0, message, remedy));
        }
        let number = u64::from(device >> 8 & 0xff);
        let Some(disk) = self.disks.iter().find(|disk| disk.number == number) else {
            return Err(Fault::new(32, format!("disk {number} is not described in the header")));
        };
        let offset = sector * disk.sector_bytes;
        if offset > disk.length || size > disk.length - offset {
            let message =
                format!("sector {sector} and {size} bytes from there lie beyond the end of disk {number}");
            return Err(Fault::new(28, message));
        }
        let (lbn, blocks) = bytes(24, disk.start + offset, size)?;
        let arrival = Time::from_ns((u64::from(seconds) * 1_000_000 + u64::from(micros)) * 1_000);
        let op = if flags & READ_FLAG != 0 { Op::Read } else { Op::Write };
        Ok(Request { arrival, lbn, blocks, op, ..Request::default() })
    }
}
