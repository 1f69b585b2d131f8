//! The text of parameter files in any of the encodings that editors write.

use std::borrow::Cow;
use std::path::Path;

use sledlab_core::{Error, Result};

const UTF_8_MARK: &[u8] = b"\xef\xbb\xbf";
const LITTLE_ENDIAN_MARK: [u8; 2] = [0xff, 0xfe];
const BIG_ENDIAN_MARK: [u8; 2] = [0xfe, 0xff];

/// Returns the text of a file without its byte order mark, with `\n` at the ends of lines: UTF-8, UTF-16 with or
/// without a mark, or else Latin-1, which old files have in comments.
///
/// # Errors
/// The bytes are no text.
pub(in crate::device) fn decode<'a>(data: &'a [u8], file: &Path) -> Result<Cow<'a, str>> {
    let fault = |message: &str, remedy: &str| {
        Error::user(message).with_remedy(remedy).with_location(file.to_string_lossy(), 0, 0, b"")
    };
    let text = if let Some((to_unit, data)) = utf_16(data) {
        let (pairs, half_unit) = data.as_chunks::<2>();
        let units: Vec<u16> = pairs.iter().map(|pair| to_unit(*pair)).collect();
        let text = String::from_utf16(&units).ok().filter(|_| half_unit.is_empty());
        let damaged = || fault("the UTF-16 text is damaged", "copy the file again, or save it as UTF-8");
        Cow::Owned(text.ok_or_else(damaged)?)
    } else {
        let data = data.strip_prefix(UTF_8_MARK).unwrap_or(data);
        let latin_1 = || Cow::Owned(data.iter().map(|byte| char::from(*byte)).collect());
        std::str::from_utf8(data).map_or_else(|_| latin_1(), Cow::Borrowed)
    };
    if text.contains('\0') {
        return Err(fault(
            "the file is not text: it contains zero bytes",
            "name a parameter file of DiskSim; save UTF-32 as UTF-8",
        ));
    }
    // A comment would otherwise extend to the end of a file whose lines end in a carriage return alone.
    Ok(if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")) } else { text })
}

/// Makes a code unit of two bytes.
type ToUnit = fn([u8; 2]) -> u16;

/// Returns how to decode a UTF-16 text, and its bytes without a mark; `None` for other encodings.
fn utf_16(data: &[u8]) -> Option<(ToUnit, &[u8])> {
    let (little_endian, big_endian): (ToUnit, ToUnit) = (u16::from_le_bytes, u16::from_be_bytes);
    match *data.first_chunk::<2>()? {
        LITTLE_ENDIAN_MARK => Some((little_endian, &data[2..])),
        BIG_ENDIAN_MARK => Some((big_endian, &data[2..])),
        // Without a mark: parameter files begin with ASCII.
        [1..=127, 0] => Some((little_endian, data)),
        [0, 1..=127] => Some((big_endian, data)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf_16(text: &str, mark: bool, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        let mark = mark.then_some(0xfeff);
        mark.into_iter().chain(text.encode_utf16()).flat_map(to_bytes).collect()
    }

    fn decode(data: &[u8]) -> Result<String> {
        super::decode(data, Path::new("a.parv")).map(Cow::into_owned)
    }

    #[test]
    fn every_encoding_gives_the_same_text() {
        let text = "# gr\u{fc}n\nb = 1\n";
        let mut encoded = vec![text.as_bytes().to_vec(), [UTF_8_MARK, text.as_bytes()].concat()];
        for mark in [true, false] {
            encoded.push(utf_16(text, mark, u16::to_le_bytes));
            encoded.push(utf_16(text, mark, u16::to_be_bytes));
        }
        encoded.push(b"# gr\xfcn\nb = 1\n".to_vec());
        encoded.push(utf_16(&text.replace('\n', "\r\n"), true, u16::to_le_bytes));
        encoded.push(text.replace('\n', "\r").into_bytes());
        for data in encoded {
            assert_eq!(decode(&data).unwrap(), text, "{data:?}");
        }
        assert_eq!(decode(b"").unwrap(), "");
    }

    #[test]
    fn data_without_text_is_refused() {
        for (data, expected) in [
            (&b"\xff\xfea\0b"[..], "the UTF-16 text is damaged"),
            (b"\xff\xfe\x00\xd8a\0", "the UTF-16 text is damaged"),
            (b"\xff\xfe\0\0a\0\0\0", "the file is not text"),
            (b"PAR1\0\0\x15\0", "the file is not text"),
        ] {
            let error = decode(data).unwrap_err();
            assert!(error.message().contains(expected), "{error}");
            assert_eq!(error.location().unwrap().file, "a.parv");
        }
    }
}
