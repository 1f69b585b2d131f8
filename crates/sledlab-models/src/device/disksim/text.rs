//! The text of parameter files in any of the encodings that editors write.

use std::borrow::Cow;
use std::path::Path;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use sledlab_core::{Error, Result};

/// Returns the text of a file without its byte order mark, with `\n` at the ends of lines: UTF-8, UTF-16 with or
/// without a mark, or else Latin-1 (Windows-1252), which old files have in comments.
///
/// # Errors
/// The bytes are no text.
pub(in crate::device) fn decode<'a>(data: &'a [u8], file: &Path) -> Result<Cow<'a, str>> {
    let fault = |message: &str, remedy: &str| {
        Error::user(message).with_remedy(remedy).with_location(file.to_string_lossy(), 0, 0, b"")
    };
    let (encoding, mark) = Encoding::for_bom(data).unwrap_or_else(|| (guess_encoding(data), 0));
    let text =
        encoding.decode_without_bom_handling_and_without_replacement(&data[mark..]).ok_or_else(|| {
            fault(
                &format!("the {} text is damaged", encoding.name()),
                "copy the file again, or save it as UTF-8",
            )
        })?;
    if text.contains('\0') {
        return Err(fault(
            "the file is not text: it contains zero bytes",
            "name a parameter file of DiskSim; save UTF-32 as UTF-8",
        ));
    }
    // A comment would otherwise extend to the end of a file whose lines end in a carriage return alone.
    Ok(if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")) } else { text })
}

/// The encoding of a file without a byte order mark. Parameter files begin with ASCII.
fn guess_encoding(data: &[u8]) -> &'static Encoding {
    match data {
        [1..=127, 0, ..] => UTF_16LE,
        [0, 1..=127, ..] => UTF_16BE,
        _ if std::str::from_utf8(data).is_ok() => UTF_8,
        _ => WINDOWS_1252,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf_16(text: &str, has_mark: bool, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        let mark = has_mark.then_some(0xfeff);
        mark.into_iter().chain(text.encode_utf16()).flat_map(to_bytes).collect()
    }

    fn decode(data: &[u8]) -> Result<String> {
        super::decode(data, Path::new("a.parv")).map(Cow::into_owned)
    }

    #[test]
    fn every_encoding_gives_the_same_text() {
        let text = "# gr\u{fc}n\nb = 1\n";
        let mut encoded = vec![text.as_bytes().to_vec(), ["\u{feff}", text].concat().into_bytes()];
        for has_mark in [true, false] {
            encoded.push(utf_16(text, has_mark, u16::to_le_bytes));
            encoded.push(utf_16(text, has_mark, u16::to_be_bytes));
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
            (&b"\xff\xfea\0b"[..], "the UTF-16LE text is damaged"),
            (b"\xff\xfe\x00\xd8a\0", "the UTF-16LE text is damaged"),
            (b"\xff\xfe\0\0a\0\0\0", "the file is not text"),
            (b"PAR1\0\0\x15\0", "the file is not text"),
        ] {
            let error = decode(data).unwrap_err();
            assert!(error.message().contains(expected), "{error}");
            assert_eq!(error.location().unwrap().file, "a.parv");
        }
    }
}
