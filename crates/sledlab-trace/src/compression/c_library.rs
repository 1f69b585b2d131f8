//! zstd and xz by the libraries in C, twice as fast as those in Rust.

use std::io::{self, BufRead};

use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};

use super::members::{MemberDecoder, Members};
use super::{Decompressor, MAX_XZ_MEMORY};

/// Largest window of a frame, as its logarithm: the maximum of the format. Memory is only used as it is filled.
const MAX_WINDOW_LOG: u32 = 31;

impl<R: BufRead> MemberDecoder for ::zstd::Decoder<'static, R> {
    type Packed = R;

    fn into_packed(self) -> R {
        self.finish()
    }
}

pub(super) fn zstd<R: BufRead + Send + 'static>(packed: R) -> io::Result<Decompressor> {
    let begin = |packed: R| -> io::Result<::zstd::Decoder<'static, R>> {
        let mut decoder = ::zstd::Decoder::with_buffer(packed)?.single_frame();
        decoder.window_log_max(MAX_WINDOW_LOG)?;
        Ok(decoder)
    };
    Ok(Box::new(Members::new(packed, begin)?))
}

pub(super) fn xz(packed: impl BufRead + Send + 'static) -> io::Result<Decompressor> {
    let stream = Stream::new_stream_decoder(MAX_XZ_MEMORY, CONCATENATED).map_err(io::Error::from)?;
    Ok(Box::new(XzDecoder::new_stream(packed, stream)))
}
