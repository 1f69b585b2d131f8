//! zstd and xz without C libraries, for WebAssembly.

use std::io::{self, BufRead, ErrorKind, Read};

use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::members::skip_zeros;
use super::{Decompressor, MAX_XZ_MEMORY};

/// The maximum window size of a frame: the memory of a browser is scarce.
const MAX_WINDOW: u64 = 128 << 20;

#[allow(clippy::unnecessary_wraps, reason = "as the library in C, which allocates")]
pub(super) fn zstd(packed: impl BufRead + Send + 'static) -> io::Result<Decompressor> {
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(MAX_WINDOW);
    Ok(Box::new(Frames { packed, decoder, is_within: false }))
}

#[allow(clippy::unnecessary_wraps, reason = "as the library in C, which allocates")]
pub(super) fn xz(packed: impl BufRead + Send + 'static) -> io::Result<Decompressor> {
    Ok(Box::new(XzReader::new_mem_limit(packed, true, (MAX_XZ_MEMORY >> 10) as u32)))
}

/// The frames of a zstd file, one after another; skippable frames are skipped.
struct Frames<R> {
    packed: R,
    decoder: FrameDecoder,
    /// Whether the reader is inside a frame.
    is_within: bool,
}

impl<R: BufRead> Frames<R> {
    /// Begins the next frame; returns false at the end of the file.
    fn begin(&mut self) -> io::Result<bool> {
        while skip_zeros(&mut self.packed)? {
            match self.decoder.init(&mut self.packed) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let skipped_bytes =
                        io::copy(&mut self.packed.by_ref().take(length.into()), &mut io::sink())?;
                    if skipped_bytes < length.into() {
                        return Err(ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(FrameDecoderError::WindowSizeTooBig { requested, .. }) => {
                    return Err(io::Error::new(
                        ErrorKind::OutOfMemory,
                        format!(
                            "needs a window of {} MiB, and {} are the limit",
                            requested >> 20,
                            MAX_WINDOW >> 20
                        ),
                    ));
                }
                Err(error) => return Err(damage_error(error)),
            }
        }
        Ok(false)
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_within {
                self.is_within = self.begin()?;
                if !self.is_within {
                    return Ok(0);
                }
            }
            if self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let decoding_limit = BlockDecodingStrategy::UptoBytes(buffer.len());
                self.decoder.decode_blocks(&mut self.packed, decoding_limit).map_err(damage_error)?;
            }
            let count = self.decoder.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            if self.decoder.is_finished() {
                self.check()?;
                self.is_within = false;
            }
        }
    }
}

impl<R> Frames<R> {
    /// Compares the checksum of the frame, where it has one.
    fn check(&self) -> io::Result<()> {
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(stated_sum), Some(computed_sum)) if stated_sum != computed_sum => {
                Err(damage_error("the checksum does not match"))
            }
            _ => Ok(()),
        }
    }
}

/// The error of a decoder: a file that ends within a frame is cut off, any other error is damage.
fn damage_error(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    let error = error.into();
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error.as_ref());
    while let Some(source) = cause {
        if source.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::UnexpectedEof) {
            return ErrorKind::UnexpectedEof.into();
        }
        cause = source.source();
    }
    io::Error::new(ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use super::*;
    use crate::compression::c_library;

    fn text() -> Vec<u8> {
        (0..200_000_u64).flat_map(|n| (n.wrapping_mul(0x9e37_79b9) >> 7).to_string().into_bytes()).collect()
    }

    fn read(unpacked: io::Result<Decompressor>) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        unpacked?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    #[test]
    fn decoders_equal_c_libraries() {
        let text = text();
        let (first_half, second_half) = text.split_at(text.len() / 2);
        let skippable_frame = [&0x184d_2a53_u32.to_le_bytes()[..], &3_u32.to_le_bytes(), b"abc"].concat();
        let frame = |bytes: &[u8]| {
            let mut encoder = ::zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
            encoder.include_checksum(true).unwrap();
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        };
        let packed = [frame(first_half), skippable_frame, frame(second_half)].concat();
        assert!(read(zstd(Cursor::new(packed.clone()))).unwrap() == text);
        assert!(read(c_library::zstd(Cursor::new(packed))).unwrap() == text);
        let stream = |bytes: &[u8]| {
            let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        };
        let packed = [stream(first_half), stream(second_half)].concat();
        assert!(read(xz(Cursor::new(packed.clone()))).unwrap() == text);
        assert!(read(c_library::xz(Cursor::new(packed))).unwrap() == text);
    }

    #[test]
    fn truncated_and_damaged_data_give_different_errors() {
        let packed = ::zstd::encode_all(Cursor::new(text()), 3).unwrap();
        let truncation_error = read(zstd(Cursor::new(packed[..packed.len() / 2].to_vec()))).unwrap_err();
        assert_eq!(truncation_error.kind(), ErrorKind::UnexpectedEof, "{truncation_error}");
        let mut damaged = packed;
        damaged[6..200].fill(0xff);
        assert!(read(zstd(Cursor::new(damaged))).is_err());
    }
}
