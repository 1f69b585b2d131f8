//! Text in UTF-16, as PowerShell writes it.

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use encoding_rs_io::DecodeReaderBytesBuilder;

use crate::compression::Decompressor;

/// Recognizes UTF-16 by its byte order mark, or by the zeros of ASCII text.
pub(crate) fn recognize_utf16(head: &[u8]) -> Option<&'static Encoding> {
    match head {
        [0xff, 0xfe, 0, 0, ..] => None,
        [0xff, 0xfe, ..] => Some(UTF_16LE),
        [0xfe, 0xff, ..] => Some(UTF_16BE),
        _ => {
            let pairs = &head.as_chunks::<2>().0[..(head.len() / 2).min(32)];
            let is_text = |byte: u8| (b' '..0x7f).contains(&byte) || byte.is_ascii_whitespace();
            if pairs.len() < 4 {
                None
            } else if pairs.iter().all(|[low, high]| *high == 0 && is_text(*low)) {
                Some(UTF_16LE)
            } else if pairs.iter().all(|[high, low]| *high == 0 && is_text(*low)) {
                Some(UTF_16BE)
            } else {
                None
            }
        }
    }
}

/// Decodes a text to UTF-8.
pub(crate) fn decode(text: Decompressor, encoding: &'static Encoding) -> Decompressor {
    Box::new(DecodeReaderBytesBuilder::new().encoding(Some(encoding)).build(text))
}
