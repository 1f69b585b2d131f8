//! Readers check for interrupts whatever a trace contains.

use std::cell::Cell;
use std::io::{Cursor, Read, Write};

use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;
use liblzma::write::XzEncoder;
use sledlab_core::{Error, Source};
use sledlab_trace::{OpenOptions, interrupt, open_reader};

thread_local! {
    /// Checks until an interrupt; other tests of the program run in threads without one.
    static CHECKS_LEFT: Cell<Option<u32>> = const { Cell::new(None) };
}

fn check() -> Result<(), Error> {
    match CHECKS_LEFT.get() {
        Some(0) => Err(Error::interrupted()),
        Some(left) => {
            CHECKS_LEFT.set(Some(left - 1));
            Ok(())
        }
        None => Ok(()),
    }
}

/// Lines without a request, by format.
const LINES: [(&str, &str, &str); 3] = [
    ("csv", "time_us,op,offset_bytes,length_bytes\n", "\n"),
    ("csv", "time_us,op,offset_bytes,length_bytes\n", "# a comment\n"),
    ("blkparse", "", "  8,0    1        1     0.000000000  1234  C   R 223490 + 8 [0]\n"),
];

#[test]
fn interrupt_ends_a_trace_without_requests() {
    interrupt::set_check(check);
    for (format, header, line) in LINES {
        let endless = Cursor::new(header).chain(Repeat { bytes: line.into(), position: 0 });
        assert!(is_interrupted(endless, Some(format)), "{format} {line:?}");
    }
}

/// Files of no bytes, by compression.
fn empty_files() -> [(&'static str, Vec<u8>); 5] {
    let gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast()).finish().unwrap();
    let bzip2 = BzEncoder::new(Vec::new(), bzip2::Compression::fast()).finish().unwrap();
    let xz = XzEncoder::new(Vec::new(), 0).finish().unwrap();
    let zstd = zstd::encode_all(Cursor::new(b""), 1).unwrap();
    let skippable = [&0x184d_2a50_u32.to_le_bytes()[..], &0_u32.to_le_bytes()].concat();
    [("gzip", gzip), ("bzip2", bzip2), ("xz", xz), ("zstd", zstd), ("zstd, skippable", skippable)]
}

#[test]
fn interrupt_ends_a_compressed_trace_of_empty_members() {
    interrupt::set_check(check);
    for (compression, empty) in empty_files() {
        let endless = Repeat { bytes: empty.clone(), position: 0 };
        assert!(is_interrupted(endless, None), "{compression}, at the start");
        if compression == "gzip" {
            let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(b"time_us,op,offset_bytes,length_bytes\n0,R,0,512\n").unwrap();
            let request = Cursor::new(encoder.finish().unwrap());
            let endless = request.chain(Repeat { bytes: empty, position: 0 });
            assert!(is_interrupted(endless, Some("csv")), "{compression}, after a request");
        }
    }
}

/// Whether opening and reading a trace ends with the interrupt of its tenth check.
fn is_interrupted(trace: impl Read + Send + 'static, format: Option<&'static str>) -> bool {
    let options = OpenOptions { format, ..OpenOptions::default() };
    CHECKS_LEFT.set(Some(10));
    let outcome =
        open_reader("endless", Box::new(trace), options).and_then(|mut trace| trace.fill(&mut Vec::new()));
    CHECKS_LEFT.set(None);
    outcome.is_err_and(|error| error.is_interrupt())
}

/// Bytes, repeated without end.
struct Repeat {
    bytes: Vec<u8>,
    position: usize,
}

impl Read for Repeat {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        for byte in into.iter_mut() {
            *byte = self.bytes[self.position];
            self.position = (self.position + 1) % self.bytes.len();
        }
        Ok(into.len())
    }
}
