//! Reads traces and work records: decompresses, buffers and splits the bytes into lines or records, with locations for
//! errors.

#![allow(clippy::inline_always, reason = "called for every line; inlining is a third faster")]

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::memchr;
use sledlab_core::{Error, Result};

use crate::archive::{self, TarMember};
use crate::compression::{Compression, Decompressor, unpack};
use crate::encoding;
use crate::fields::{Line, SLACK};
use crate::{interrupt, sample};

/// Unpacked bytes buffered at once.
const BUFFER_BYTES: usize = 512 * 1024;

/// Longest line read, so that a file without line ends cannot fill the memory.
pub(crate) const MAX_LINE_BYTES: usize = 64 * 1024;

/// Bytes examined to recognize a format.
pub(crate) const HEAD_BYTES: usize = 64 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Compressions and archives within one another that are opened, such as a tar archive of a compressed file.
const MAX_WRAPPINGS: usize = 4;

/// Bytes that show whether a file is an archive or text in another encoding.
const MAGIC_BYTES: u64 = 512;

/// The unpacked bytes of one trace.
pub struct Input {
    name: String,
    reader: Box<dyn Read + Send>,
    compression: Compression,
    buffer: Box<[u8]>,
    /// Unread bytes are `buffer[start..end]`.
    start: usize,
    end: usize,
    is_exhausted: bool,
    /// Number of the line returned last, from 1.
    line: u64,
    consumed: Arc<AtomicU64>,
    /// Bytes of the file as stored, where known.
    size: Option<u64>,
}

/// Counts the bytes read from `inner`, for progress, and checks for interrupts: a decoder returns no bytes while it
/// reads empty members.
struct StoredReader<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for StoredReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        interrupt::check().map_err(io::Error::other)?;
        let n = self.inner.read(buffer)?;
        self.count.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

impl<R: Seek> Seek for StoredReader<R> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.inner.seek(position)
    }
}

impl Input {
    /// Opens a file, a sample by its name (`sample:mail-a`), or standard input for `-`.
    pub fn open(path: &Path) -> Result<Self> {
        if path.as_os_str() == "-" {
            return Self::from_reader("<stdin>", Box::new(io::stdin()));
        }
        let name = path.display().to_string();
        if let Some(bytes) = crate::memory_files::find(&name) {
            let size = bytes.len() as u64;
            return Self::from_stored(&name, Cursor::new(bytes), Some(size));
        }
        let file = File::open(sample::resolve(path)?).map_err(|error| open_error(&name, &error))?;
        let size = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|metadata| metadata.len());
        Self::from_stored(&name, file, size)
    }

    /// Reads a file of `size` bytes, where that is known; zip archives can only be read from such files, since their
    /// directory is at the end.
    fn from_stored(
        name: &str,
        mut file: impl Read + Seek + Send + 'static,
        size: Option<u64>,
    ) -> Result<Self> {
        let consumed = Arc::new(AtomicU64::new(0));
        let locate = |error| read_error(name, 0, Compression::Plain, error);
        let mut magic = Vec::new();
        if size.is_some() {
            (&mut file).take(archive::ZIP_MAGIC.len() as u64).read_to_end(&mut magic).map_err(locate)?;
            file.rewind().map_err(locate)?;
        }
        let stored_reader = StoredReader { inner: file, count: Arc::clone(&consumed) };
        let reader: Decompressor = if magic == archive::ZIP_MAGIC {
            archive::open_zip(stored_reader).map_err(locate)?
        } else {
            Box::new(stored_reader)
        };
        Self::unwrap_layers(name, reader, consumed, size)
    }

    /// Reads from any reader; `name` stands for it in messages.
    pub fn from_reader(name: &str, reader: Box<dyn Read + Send>) -> Result<Self> {
        let consumed = Arc::new(AtomicU64::new(0));
        let stored_reader = StoredReader { inner: reader, count: Arc::clone(&consumed) };
        Self::unwrap_layers(name, Box::new(stored_reader), consumed, None)
    }

    /// Decompresses and decodes a file, and opens an archive of one file.
    fn unwrap_layers(
        name: &str,
        mut reader: Decompressor,
        consumed: Arc<AtomicU64>,
        size: Option<u64>,
    ) -> Result<Self> {
        let mut compression = Compression::Plain;
        for _ in 0..MAX_WRAPPINGS {
            let locate = |error| read_error(name, 0, compression, error);
            let (inner_compression, decompressed) = unpack(reader).map_err(locate)?;
            let mut magic = Vec::with_capacity(MAGIC_BYTES as usize);
            let mut decompressed = decompressed.take(MAGIC_BYTES);
            let outcome = decompressed.read_to_end(&mut magic);
            let remaining_reader = decompressed.into_inner();
            if inner_compression != Compression::Plain {
                compression = inner_compression;
            }
            outcome.map_err(|error| read_error(name, 0, compression, error))?;
            let encoding = encoding::recognize_utf16(&magic);
            let is_tar = archive::is_tar(&magic);
            if magic.starts_with(archive::ZIP_MAGIC) {
                return Err(Error::user("zip archives are only read from files")
                    .with_remedy("unpack the archive first")
                    .with_location(name, 0, 0, b""));
            }
            let is_packed = Compression::recognize(&magic) != Compression::Plain;
            reader = Box::new(Cursor::new(magic).chain(remaining_reader));
            if is_tar {
                reader = Box::new(
                    TarMember::open(reader).map_err(|error| read_error(name, 0, compression, error))?,
                );
            } else if let Some(encoding) = encoding {
                reader = encoding::decode(reader, encoding);
            } else if !is_packed {
                break;
            }
        }
        let mut input = Input {
            name: name.to_owned(),
            reader,
            compression,
            buffer: vec![0; BUFFER_BYTES + SLACK].into_boxed_slice(),
            start: 0,
            end: 0,
            is_exhausted: false,
            line: 0,
            consumed,
            size,
        };
        if input.head()?.starts_with(BYTE_ORDER_MARK) {
            input.start += BYTE_ORDER_MARK.len();
        }
        Ok(input)
    }

    /// The rest of the input as another reader makes it.
    pub(crate) fn map_reader(self, change: impl FnOnce(Decompressor) -> Decompressor) -> Self {
        let unread = Cursor::new(self.buffer[self.start..self.end].to_vec());
        let reader = change(Box::new(unread.chain(self.reader)));
        Input { reader, start: 0, end: 0, is_exhausted: false, ..self }
    }

    /// Reads the rest of the input, for the error of an archive of several files.
    pub(crate) fn drain(mut self) -> Result<()> {
        while self.fill_buffer(1)? {
            self.start = self.end;
        }
        Ok(())
    }

    /// The input's name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The first bytes not yet read, [`HEAD_BYTES`] of them unless the trace is shorter.
    pub(crate) fn head(&mut self) -> Result<&[u8]> {
        self.fill_buffer(HEAD_BYTES)?;
        Ok(self.buffered_head())
    }

    /// Like [`Input::head`], for the bytes that are buffered already.
    pub(crate) fn buffered_head(&self) -> &[u8] {
        &self.buffer[self.start..self.end.min(self.start + HEAD_BYTES)]
    }

    /// Whether the trace ends with the head.
    pub(crate) fn ends_with_head(&self) -> bool {
        self.is_exhausted && self.end - self.start <= HEAD_BYTES
    }

    /// The share of the stored bytes that has been read, 0 to 1.
    pub(crate) fn progress(&self) -> Option<f64> {
        let size = self.size.filter(|size| *size > 0)?;
        Some((self.consumed.load(Ordering::Relaxed) as f64 / size as f64).min(1.0))
    }

    /// The next line without its end, or `None` after the last.
    #[inline(always)]
    pub(crate) fn next_line(&mut self) -> Result<Option<Line<'_>>> {
        let range = match memchr(b'\n', &self.buffer[self.start..self.end]) {
            Some(length) if length <= MAX_LINE_BYTES => self.start..self.start + length,
            Some(_) => return Err(self.long_line_error()),
            None => match self.line_across_refill()? {
                Some(range) => range,
                None => return Ok(None),
            },
        };
        self.start = (range.end + 1).min(self.end);
        self.line += 1;
        let run = &self.buffer[range.start..range.end + SLACK];
        let text = &run[..range.end - range.start];
        Ok(Some(Line { text: text.strip_suffix(b"\r").unwrap_or(text), run }))
    }

    /// Finds the end of the next line where the buffer holds only the beginning of the line.
    #[cold]
    fn line_across_refill(&mut self) -> Result<Option<Range<usize>>> {
        loop {
            let searched_bytes = self.end - self.start;
            if searched_bytes > MAX_LINE_BYTES {
                return Err(self.long_line_error());
            }
            if !self.fill_buffer(searched_bytes + 1)? {
                // The remaining bytes are the last line, which has no line end.
                return Ok((searched_bytes > 0).then_some(self.start..self.end));
            }
            match memchr(b'\n', &self.buffer[self.start + searched_bytes..self.end]) {
                Some(line_end) if searched_bytes + line_end > MAX_LINE_BYTES => {
                    return Err(self.long_line_error());
                }
                Some(line_end) => return Ok(Some(self.start..self.start + searched_bytes + line_end)),
                None => {}
            }
        }
    }

    /// Puts the next line, without its end, into `line`, which may be longer than the buffer; false
    /// after the last.
    pub(crate) fn next_long_line(&mut self, line: &mut Vec<u8>, max_bytes: usize) -> Result<bool> {
        line.clear();
        let mut has_more = self.fill_buffer(1)?;
        let has_line = has_more;
        while has_more {
            let unread = &self.buffer[self.start..self.end];
            let line_end = memchr(b'\n', unread);
            let taken_bytes = line_end.unwrap_or(unread.len());
            if line.len() + taken_bytes > max_bytes {
                return Err(Error::user(format!("line longer than {} MiB", max_bytes >> 20))
                    .with_remedy("check where the file came from: its line ends may be lost")
                    .with_location(&self.name, self.line + 1, max_bytes as u64, line));
            }
            line.extend_from_slice(&unread[..taken_bytes]);
            self.start += taken_bytes + usize::from(line_end.is_some());
            has_more = line_end.is_none() && self.fill_buffer(1)?;
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        self.line += u64::from(has_line);
        Ok(has_line)
    }

    #[cold]
    fn long_line_error(&self) -> Error {
        Error::user(format!("line longer than {MAX_LINE_BYTES} bytes"))
            .with_remedy("this is no text trace, or its line ends are lost: check where the file came from")
            .with_location(
                &self.name,
                self.line + 1,
                MAX_LINE_BYTES as u64,
                &self.buffer[self.start..self.end],
            )
    }

    /// The next `length` bytes, or fewer at the end of the trace.
    pub(crate) fn next_bytes(&mut self, length: usize) -> Result<&[u8]> {
        self.fill_buffer(length)?;
        let range = self.start..self.end.min(self.start + length);
        self.start = range.end;
        Ok(&self.buffer[range])
    }

    /// Fills the buffer to `length` bytes; returns false if the trace ends before.
    fn fill_buffer(&mut self, length: usize) -> Result<bool> {
        debug_assert!(length <= BUFFER_BYTES / 2, "room to move and to read");
        while self.end - self.start < length && !self.is_exhausted {
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.start = 0;
            }
            interrupt::check()?;
            match self.reader.read(&mut self.buffer[self.end..BUFFER_BYTES]) {
                Ok(0) => {
                    self.is_exhausted = true;
                    self.buffer[self.end..self.end + SLACK].fill(b'\n');
                }
                Ok(n) => self.end += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(read_error(&self.name, self.line, self.compression, error)),
            }
        }
        Ok(self.end - self.start >= length)
    }

    /// Number of the line returned last, from 1.
    pub(crate) fn line_number(&self) -> u64 {
        self.line
    }
}

fn open_error(name: &str, error: &io::Error) -> Error {
    let remedy = match error.kind() {
        io::ErrorKind::NotFound => "check the path",
        io::ErrorKind::PermissionDenied => "check the permissions of the file",
        _ => "check the file",
    };
    Error::user(format!("cannot open: {error}")).with_remedy(remedy).with_location(name, 0, 0, b"")
}

fn read_error(name: &str, line: u64, compression: Compression, error: io::Error) -> Error {
    let error = match error.downcast::<Error>() {
        Ok(interrupt) if interrupt.is_interrupt() => return interrupt,
        Ok(error) => return error.with_location(name, line, 0, b""),
        Err(error) => error,
    };
    let format = compression.name();
    let explained = match (compression, error.kind()) {
        (_, io::ErrorKind::IsADirectory) => Error::user("is a directory").with_remedy("name a file in it"),
        (_, io::ErrorKind::OutOfMemory) => Error::user(format!("the {format} data {error}"))
            .with_remedy("compress the file with a smaller window, such as `zstd -19` without `--long`"),
        (Compression::Plain, io::ErrorKind::UnexpectedEof) => {
            Error::user("the archive ends too early: the file is cut off")
                .with_remedy("copy or download the file again")
        }
        (_, io::ErrorKind::UnexpectedEof) => {
            Error::user(format!("the {format} data ends too early: the file is cut off"))
                .with_remedy("copy, download or compress the file again")
        }
        (Compression::Plain, _) => Error::user(format!("cannot read: {error}")).with_remedy("check the file"),
        _ => Error::user(format!("damaged {format} data: {error}"))
            .with_remedy("copy, download or compress the file again"),
    };
    explained.with_location(name, line, 0, b"")
}
