//! An output file for lines of text or binary records, compressed according to its extension.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use flate2::write::GzEncoder;
use sledlab_core::{Error, Result};

/// Bytes of text gathered before they are written.
const BUFFER_BYTES: usize = 256 * 1024;

#[derive(Clone, Copy, Debug)]
pub(super) enum OutputCompression {
    Gzip,
    Zstd,
}

/// Extensions that select a compression.
pub(super) const COMPRESSIONS: [(&str, OutputCompression); 3] =
    [(".gz", OutputCompression::Gzip), (".zst", OutputCompression::Zstd), (".zstd", OutputCompression::Zstd)];

enum Sink {
    Plain(Box<dyn Write + Send>),
    Gzip(GzEncoder<Box<dyn Write + Send>>),
    Zstd(zstd::stream::write::Encoder<'static, Box<dyn Write + Send>>),
}

/// A file being written. Lines or records are appended to [`Output::text`].
pub(super) struct Output {
    name: String,
    sink: Sink,
    text: Vec<u8>,
}

impl Output {
    /// Creates the file, `-` for standard output.
    pub(super) fn create(path: &Path) -> Result<Self> {
        let name = if path.as_os_str() == "-" { "<stdout>".to_owned() } else { path.display().to_string() };
        let file: Box<dyn Write + Send> = if path.as_os_str() == "-" {
            Box::new(io::stdout())
        } else {
            Box::new(File::create(path).map_err(|error| {
                Error::user(format!("cannot create: {error}"))
                    .with_remedy("check the path and its permissions")
                    .with_location(&name, 0, 0, b"")
            })?)
        };
        let lower_name = name.to_ascii_lowercase();
        let compression = COMPRESSIONS.iter().find(|(extension, _)| lower_name.ends_with(extension));
        let sink = match compression.map(|(_, compression)| compression) {
            None => Sink::Plain(file),
            Some(OutputCompression::Gzip) => Sink::Gzip(GzEncoder::new(file, flate2::Compression::default())),
            Some(OutputCompression::Zstd) => {
                let encoder = zstd::stream::write::Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL);
                Sink::Zstd(encoder.map_err(|error| write_error(&name, &error))?)
            }
        };
        Ok(Output { name, sink, text: Vec::with_capacity(BUFFER_BYTES + 256) })
    }

    /// The file's name in messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The buffered text; call [`Output::end_line`] after each line.
    pub(super) fn text(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// Appends an integer.
    #[inline]
    pub(super) fn number(&mut self, number: u64) {
        self.text.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }

    /// Appends `ns` in units of 10^`digits` ns with all its decimals, without trailing zeros past `keep`.
    pub(super) fn decimal(&mut self, ns: u64, digits: u32, min_decimals: usize) {
        let unit = 10_u64.pow(digits);
        self.number(ns / unit);
        let mut fraction = ns % unit;
        if fraction == 0 && min_decimals == 0 {
            return;
        }
        self.text.push(b'.');
        let point_at = self.text.len();
        let mut unit_of_digit = unit / 10;
        while unit_of_digit > 0 {
            self.text.push(b'0' + (fraction / unit_of_digit) as u8);
            fraction %= unit_of_digit;
            unit_of_digit /= 10;
        }
        while self.text.len() > point_at + min_decimals && self.text.ends_with(b"0") {
            self.text.pop();
        }
    }

    /// Ends the line, and writes the buffer out if it is full.
    #[inline]
    pub(super) fn end_line(&mut self) -> Result<()> {
        self.text.push(b'\n');
        self.end_record()
    }

    /// Ends a binary record in [`Output::text`], and writes the buffer out if it is full.
    pub(super) fn end_record(&mut self) -> Result<()> {
        if self.text.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let result = match &mut self.sink {
            Sink::Plain(sink) => sink.write_all(&self.text),
            Sink::Gzip(sink) => sink.write_all(&self.text),
            Sink::Zstd(sink) => sink.write_all(&self.text),
        };
        self.text.clear();
        result.map_err(|error| write_error(&self.name, &error))
    }

    /// Writes the remaining buffer and completes the file.
    pub(super) fn finish(mut self) -> Result<()> {
        self.flush()?;
        let name = self.name;
        let sink = match self.sink {
            Sink::Plain(sink) => Ok(sink),
            Sink::Gzip(sink) => sink.finish(),
            Sink::Zstd(sink) => sink.finish(),
        };
        sink.and_then(|mut sink| sink.flush()).map_err(|error| write_error(&name, &error))
    }
}

fn write_error(name: &str, error: &io::Error) -> Error {
    Error::user(format!("cannot write: {error}"))
        .with_remedy("check the free space on the disk")
        .with_location(name, 0, 0, b"")
}
