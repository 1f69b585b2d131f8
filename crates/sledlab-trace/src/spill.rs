//! Partitions requests of many devices into a few files in one pass, before they are written to a file for each device.
//!
//! A caller with more devices than files that can be open at once reads these files one after another: each holds all
//! requests of its devices, in order of arrival.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use sledlab_core::{Error, Op, Request, Result, Source, Time};

/// Bytes of a request: arrival in ns and first block (u64 each), blocks (u32), device and kind (u16 each), all
/// little-endian. The kind is 0 to 3 for read, write, trim and flush, plus 4 for metadata, plus 8 times the unrequested
/// words.
pub const RECORD_BYTES: usize = 24;

/// Bytes gathered for a file before they are written.
const BUFFER_BYTES: usize = 256 * 1024;

/// Files that are being written: `0`, `1` and so on, each for the device numbers with that remainder modulo `parts`.
pub struct Spill {
    files: Vec<BufWriter<File>>,
    directory: String,
    last_arrival: Time,
    requests: u64,
}

impl Spill {
    /// Begins `parts` files in an empty directory.
    pub fn create(directory: &Path, parts: u16) -> Result<Self> {
        let name = directory.display().to_string();
        let create = |part| File::create_new(directory.join(format!("{part}")));
        let files: std::io::Result<Vec<File>> = (0..parts.max(1)).map(create).collect();
        let files = files.map_err(|error| write_error(&name, &error))?;
        let files = files.into_iter().map(|file| BufWriter::with_capacity(BUFFER_BYTES, file)).collect();
        Ok(Spill { files, directory: name, last_arrival: Time::ZERO, requests: 0 })
    }

    /// Writes the next few thousand requests of a source; returns how many there were, 0 at the end of the source.
    ///
    /// # Errors
    /// The errors of the source; a request that arrives before the last request of the previous source; no space on the
    /// disk.
    pub fn write_chunk(&mut self, source: &mut impl Source, chunk: &mut Vec<Request>) -> Result<usize> {
        chunk.clear();
        let count = source.fill(chunk)?;
        if let Some(early_request) = chunk.first().filter(|request| request.arrival < self.last_arrival) {
            let early_s = self.last_arrival.since(early_request.arrival).as_seconds();
            return Err(Error::user(format!(
                "starts {early_s} s before the end of the trace that it continues"
            ))
            .with_remedy("list the files in chronological order"));
        }
        self.last_arrival = chunk.last().map_or(self.last_arrival, |request| request.arrival);
        for request in chunk.iter() {
            let part = usize::from(request.device) % self.files.len();
            self.files[part]
                .write_all(&record(request))
                .map_err(|error| write_error(&self.directory, &error))?;
        }
        self.requests += count as u64;
        Ok(count)
    }

    /// Requests written so far.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Writes the requests still buffered, and returns how many were written in all.
    pub fn finish(mut self) -> Result<u64> {
        let result: std::io::Result<()> = self.files.iter_mut().try_for_each(Write::flush);
        result.map_err(|error| write_error(&self.directory, &error))?;
        Ok(self.requests)
    }
}

fn write_error(directory: &str, error: &std::io::Error) -> Error {
    Error::user(format!("cannot write into `{directory}`: {error}"))
        .with_remedy("free some space, or choose another directory")
}

#[inline]
fn record(request: &Request) -> [u8; RECORD_BYTES] {
    let op = match request.op {
        Op::Read => 0_u16,
        Op::Write => 1,
        Op::Trim => 2,
        Op::Flush => 3,
    };
    let kind = op | (u16::from(request.metadata) << 2) | (u16::from(request.unrequested_words) << 3);
    let mut bytes = [0; RECORD_BYTES];
    bytes[..8].copy_from_slice(&request.arrival.as_ns().to_le_bytes());
    bytes[8..16].copy_from_slice(&request.lbn.to_le_bytes());
    bytes[16..20].copy_from_slice(&request.blocks.to_le_bytes());
    bytes[20..22].copy_from_slice(&request.device.to_le_bytes());
    bytes[22..].copy_from_slice(&kind.to_le_bytes());
    bytes
}
