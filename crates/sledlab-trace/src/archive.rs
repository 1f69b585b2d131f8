//! Archives of files: tar (also compressed) and zip. An archive that holds one file is read as that file.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use flate2::CrcReader;
use flate2::read::DeflateDecoder;
use sledlab_core::Error;
use tar::{EntryType, Header, PaxExtensions};
use zip::{CompressionMethod, ZipArchive};

use crate::compression::Decompressor;
use crate::shown::list_names;

/// Bytes of a record of a tar archive, the unit of headers and contents.
const TAR_RECORD: usize = 512;

/// Most bytes of an extended header that are read.
const MAX_EXTENDED_HEADER: u64 = 1 << 20;

/// The first bytes of a zip archive.
pub(crate) const ZIP_MAGIC: &[u8] = b"PK\x03\x04";

/// Returns whether a file that begins like this is a tar archive.
pub(crate) fn is_tar(head: &[u8]) -> bool {
    head.len() >= TAR_RECORD && head[257..].starts_with(b"ustar")
}

/// The content of the only file of a tar archive. An archive of several files gives an error at the end of the first.
///
/// The headers are read here since `tar::Archive` lends its entries, which a reader cannot own.
pub(crate) struct TarMember<R> {
    archive: R,
    name: String,
    /// Bytes of the file that are left.
    remaining_bytes: u64,
    /// Bytes between the end of the file and the next header.
    padding: u64,
}

/// A file in a tar archive.
struct TarFile {
    name: String,
    length: u64,
}

/// Bytes after a content up to the next record.
fn padding(length: u64) -> u64 {
    length.wrapping_neg() % TAR_RECORD as u64
}

impl<R: Read> TarMember<R> {
    /// Opens the first file of an archive.
    pub(crate) fn open(mut archive: R) -> io::Result<Self> {
        match next_file(&mut archive)? {
            Some(file) => Ok(TarMember {
                archive,
                remaining_bytes: file.length,
                padding: padding(file.length),
                name: file.name,
            }),
            None => Err(user_error("the tar archive holds no files", "check that the file is complete")),
        }
    }

    /// Refuses an archive with more files after the first.
    fn check_single(&mut self) -> io::Result<()> {
        skip(&mut self.archive, self.padding)?;
        self.padding = 0;
        let mut names = Vec::new();
        while let Some(file) = next_file(&mut self.archive)? {
            skip_content(&mut self.archive, file.length)?;
            names.push(file.name);
        }
        if names.is_empty() {
            return Ok(());
        }
        names.insert(0, std::mem::take(&mut self.name));
        Err(several_files_error("tar", &names))
    }
}

impl<R: Read> Read for TarMember<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.remaining_bytes == 0 {
            self.check_single()?;
            return Ok(0);
        }
        let max_count = usize::try_from(self.remaining_bytes).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.archive.read(&mut buffer[..max_count])?;
        if count == 0 && !buffer.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.remaining_bytes -= count as u64;
        Ok(count)
    }
}

/// Reads headers up to that of the next file; directories, links and files of the macOS Finder are skipped.
fn next_file(archive: &mut impl Read) -> io::Result<Option<TarFile>> {
    let mut long_name: Option<String> = None;
    let mut long_length: Option<u64> = None;
    loop {
        let mut header = Header::new_old();
        if !read_record(archive, header.as_mut_bytes())? || header.as_bytes().iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        let length = header.entry_size()?;
        match header.entry_type() {
            EntryType::GNULongName => {
                let name = read_extended_header(archive, length)?;
                long_name = Some(String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned());
            }
            EntryType::XHeader => {
                let records = read_extended_header(archive, length)?;
                for record in PaxExtensions::new(&records).flatten() {
                    match record.key() {
                        Ok("path") => long_name = record.value().ok().map(str::to_owned),
                        Ok(key) if key.starts_with("GNU.sparse.") => return Err(sparse_error()),
                        Ok("size") => long_length = record.value().ok().and_then(|size| size.parse().ok()),
                        _ => {}
                    }
                }
            }
            EntryType::Regular | EntryType::Continuous => {
                let name =
                    long_name.take().unwrap_or_else(|| String::from_utf8_lossy(&header.path_bytes()).into());
                let file = TarFile { name, length: long_length.take().unwrap_or(length) };
                if !is_finder_file(&file.name) {
                    return Ok(Some(file));
                }
                skip_content(archive, file.length)?;
            }
            EntryType::GNUSparse => return Err(sparse_error()),
            _ => skip_content(archive, length)?,
        }
    }
}

/// Reads a record; returns false at the end of the archive.
fn read_record(archive: &mut impl Read, record: &mut [u8]) -> io::Result<bool> {
    let mut filled_bytes = 0;
    while filled_bytes < record.len() {
        match archive.read(&mut record[filled_bytes..]) {
            Ok(0) if filled_bytes == 0 => return Ok(false),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => filled_bytes += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

fn read_extended_header(archive: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    if length > MAX_EXTENDED_HEADER {
        return Err(io::Error::other("an extended header of the tar archive is too long"));
    }
    let mut bytes = vec![0; length as usize];
    archive.read_exact(&mut bytes)?;
    skip(archive, padding(length))?;
    Ok(bytes)
}

/// Skips a content and its padding.
fn skip_content(archive: &mut impl Read, length: u64) -> io::Result<()> {
    skip(archive, length)?;
    skip(archive, padding(length))
}

fn skip(archive: &mut impl Read, length: u64) -> io::Result<()> {
    let skipped_bytes = io::copy(&mut archive.take(length), &mut io::sink())?;
    if skipped_bytes < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

/// Returns the content of the only file of a zip archive.
pub(crate) fn open_zip(file: impl Read + Seek + Send + 'static) -> io::Result<Decompressor> {
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(io::Error::other)?;
    let mut files: Vec<(usize, String)> = Vec::new();
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(io::Error::other)?;
        let name = String::from_utf8_lossy(entry.name_raw()).into_owned();
        if entry.is_file() && !is_finder_file(&name) {
            files.push((index, name));
        }
    }
    let [(index, _)] = files[..] else {
        let names: Vec<String> = files.into_iter().map(|(_, name)| name).collect();
        return Err(if names.is_empty() {
            user_error("the zip archive holds no files", "check that the file is complete")
        } else {
            several_files_error("zip", &names)
        });
    };
    let (start, length, method, crc) = {
        // The raw entry: an encrypted one can be located, but not read.
        let entry = archive.by_index_raw(index).map_err(io::Error::other)?;
        if entry.encrypted() {
            return Err(user_error("the file in the zip archive is encrypted", "unpack the archive first"));
        }
        let start = entry.data_start().unwrap_or(0);
        (start, entry.compressed_size(), entry.compression(), entry.crc32())
    };
    let mut file = archive.into_inner();
    file.seek(SeekFrom::Start(start))?;
    let compressed = file.take(length);
    let content: Decompressor = match method {
        CompressionMethod::Stored => Box::new(compressed),
        CompressionMethod::Deflated => Box::new(DeflateDecoder::new(compressed)),
        other => {
            let message = format!("the file in the zip archive is compressed by {other}, not by deflate");
            return Err(user_error(message, "unpack the archive first"));
        }
    };
    Ok(Box::new(ChecksummedReader { inner: CrcReader::new(content), crc }))
}

/// Compares the checksum of a content at its end.
struct ChecksummedReader {
    inner: CrcReader<Decompressor>,
    crc: u32,
}

impl Read for ChecksummedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        if count == 0 && !buffer.is_empty() && self.inner.crc().sum() != self.crc {
            return Err(io::Error::other("the checksum of the file in the zip archive does not match"));
        }
        Ok(count)
    }
}

/// Whether the Finder of macOS wrote a file into an archive.
fn is_finder_file(name: &str) -> bool {
    name.starts_with("__MACOSX/")
        || name.rsplit('/').next().is_some_and(|file| file.starts_with("._") || file == ".DS_Store")
}

fn several_files_error(kind: &str, names: &[String]) -> io::Error {
    let listed_names = list_names(names.iter().map(String::as_str));
    user_error(
        format!("the {kind} archive holds {} files: {listed_names}", names.len()),
        "unpack the archive, and name one of the files; `sledlab trace merge` joins several",
    )
}

/// The content of a sparse file lacks its zeros.
fn sparse_error() -> io::Error {
    user_error("the tar archive holds a sparse file", "unpack the archive first")
}

/// An error that passes through readers unchanged.
fn user_error(message: impl Into<String>, remedy: &str) -> io::Error {
    io::Error::other(Error::user(message).with_remedy(remedy))
}
