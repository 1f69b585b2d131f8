//! zstd and xz by the libraries in C, twice as fast as those in Rust.

use std::io::{self, BufRead};

use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};

use super::{Decompressor, MAX_XZ_MEMORY};

pub(super) fn zstd(packed: impl BufRead + Send + 'static) -> io::Result<Decompressor> {
    Ok(Box::new(::zstd::stream::read::Decoder::with_buffer(packed)?))
}

pub(super) fn xz(packed: impl BufRead + Send + 'static) -> io::Result<Decompressor> {
    let stream = Stream::new_stream_decoder(MAX_XZ_MEMORY, CONCATENATED).map_err(io::Error::from)?;
    Ok(Box::new(XzDecoder::new_stream(packed, stream)))
}
