//! Rows of numbers in a compact form: LEB128 in base64.

use base64::Engine;
use base64::alphabet::STANDARD as ALPHABET;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::counts::{MAX_COUNT, MAX_NODES};

/// Prefix of a packed row.
const PREFIX: &str = "varint:";

/// Programs differ in whether they pad the end with `=`.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &ALPHABET,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Packs a row of numbers for `"sends"`: `varint:` and, in base64, each number in groups of seven bits, the lowest
/// first, with the top bit set in all bytes of a number but its last.
pub fn pack(numbers: impl IntoIterator<Item = u64>) -> String {
    let mut bytes = Vec::new();
    for mut number in numbers {
        while number >= 0x80 {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
    }
    let mut text = PREFIX.to_owned();
    STANDARD.encode_string(bytes, &mut text);
    text
}

/// Hands the numbers of a packed row to `take`, each with its index, and returns how many there are, or the error in
/// the row.
pub(super) fn unpack(text: &str, mut take: impl FnMut(usize, u64)) -> Result<usize, String> {
    let base64_text = text.strip_prefix(PREFIX).ok_or("a packed row begins with `varint:`")?;
    let bytes = LENIENT.decode(base64_text).map_err(|error| format!("the row is not base64: {error}"))?;
    let (mut count, mut number, mut shift) = (0, 0_u64, 0);
    for byte in bytes {
        // A number of 2^50 takes 51 bits: eight bytes.
        if shift > 49 {
            return Err(format!("number {count} of the row has too many bytes"));
        }
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 != 0 {
            continue;
        }
        if number > MAX_COUNT {
            return Err(format!("number {count} of the row is more than 2^50"));
        }
        if count > MAX_NODES {
            return Err(format!("the row has more than {} numbers", MAX_NODES + 1));
        }
        take(count, number);
        (count, number, shift) = (count + 1, 0, 0);
    }
    if shift > 0 { Err(format!("number {count} of the row is cut off")) } else { Ok(count) }
}
