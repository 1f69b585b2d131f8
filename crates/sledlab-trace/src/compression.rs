//! Compressed files, recognized by their first bytes rather than by their names.

use std::io::{self, BufReader, Cursor, Read};

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;

#[cfg(not(target_family = "wasm"))]
mod c_library;
mod members;
#[cfg(any(target_family = "wasm", test))]
mod pure_rust;

#[cfg(not(target_family = "wasm"))]
use c_library::{xz, zstd};
#[cfg(target_family = "wasm")]
use pure_rust::{xz, zstd};

use members::Members;

/// The compression format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not compressed.
    Plain,
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
    /// Burrows-Wheeler blocks of the `bzip2` tool.
    Bzip2,
    /// The `.xz` container.
    Xz,
}

/// A reader that decompresses a file.
pub(crate) type Decompressor = Box<dyn Read + Send>;

/// Compressed bytes handed to a decoder at once.
const PACKED_BUFFER: usize = 64 * 1024;

/// The memory limit of an xz stream: `xz -9` needs 65 MiB.
const MAX_XZ_MEMORY: u64 = 256 << 20;

impl Compression {
    /// Longest prefix needed to recognize a compression.
    const PREFIX: usize = 6;

    /// Recognizes the compression by the first bytes of a file.
    pub fn recognize(prefix: &[u8]) -> Self {
        match prefix {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            // A frame, or one of the sixteen kinds of skippable frames.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Compression::Bzip2,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Compression::Xz,
            _ => Compression::Plain,
        }
    }

    /// Name of the compression in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Compression::Plain => "plain",
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Bzip2 => "bzip2",
            Compression::Xz => "xz",
        }
    }
}

/// A reader of the unpacked bytes of `packed`, and the compression that was recognized.
///
/// Files of several members or streams, one after another, are read to the end of the last. Zeros after a member are
/// padding, as on tapes and in files of whole disk blocks.
pub(crate) fn unpack(mut compressed: Decompressor) -> io::Result<(Compression, Decompressor)> {
    let mut prefix = Vec::with_capacity(Compression::PREFIX);
    compressed.by_ref().take(Compression::PREFIX as u64).read_to_end(&mut prefix)?;
    let compression = Compression::recognize(&prefix);
    let reader = Cursor::new(prefix).chain(compressed);
    if compression == Compression::Plain {
        return Ok((compression, Box::new(reader)));
    }
    let reader = BufReader::with_capacity(PACKED_BUFFER, reader);
    let decompressed: Decompressor = match compression {
        Compression::Plain => Box::new(reader),
        Compression::Gzip => Box::new(Members::new(reader, |member| Ok(GzDecoder::new(member)))?),
        Compression::Zstd => zstd(reader)?,
        Compression::Bzip2 => Box::new(Members::new(reader, |member| Ok(BzDecoder::new(member)))?),
        Compression::Xz => xz(reader)?,
    };
    Ok((compression, decompressed))
}
