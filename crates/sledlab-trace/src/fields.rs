//! Cuts a line of text into the fields of a request, by bytes and without copying.

#![allow(clippy::inline_always, reason = "called for every line; inlining is a third faster")]

use sledlab_core::{Error, Time};

use crate::range::{self, RangeFault};

/// Why a line gives no request.
#[derive(Debug)]
pub(crate) enum Fault {
    /// A request of length 0.
    EmptyRequest,
    /// An error, with its position in bytes.
    Error(Box<(usize, Error)>),
}

impl Fault {
    /// An error about the byte `at` of the line.
    #[cold]
    pub(crate) fn new(at: usize, message: impl Into<String>) -> Self {
        Fault::from_error(at, Error::user(message))
    }

    /// An error about the byte `at` of the line, with what to do about it.
    #[cold]
    pub(crate) fn with_remedy(at: usize, message: impl Into<String>, remedy: &str) -> Self {
        Fault::from_error(at, Error::user(message).with_remedy(remedy))
    }

    /// An error about the byte `at` of the line.
    #[cold]
    pub(crate) fn from_error(at: usize, error: Error) -> Self {
        Fault::Error(Box::new((at, error)))
    }

    #[cold]
    fn from_range(at: usize, fault: RangeFault) -> Self {
        match fault {
            RangeFault::Empty => Fault::EmptyRequest,
            RangeFault::Invalid(error) => Fault::from_error(at, error),
        }
    }
}

/// The result of reading a part of a line.
pub(crate) type ParseResult<T> = Result<T, Fault>;

/// Number of decimal digits that always fit 64 bits.
const SAFE_DIGITS: usize = 19;

/// A time such as 1.28E+17 that is only known to 10^13 ns (3 h) was shortened by a spreadsheet.
const SHORTENED_DIGITS: i64 = 13;

const POWERS_OF_TEN: [u64; 10] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// Bytes after a line that a reader may access, so that digits can be read eight at a time.
pub(crate) const SLACK: usize = 8;

/// A line of text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// The line without its end.
    pub(crate) text: &'a [u8],
    /// The line and the bytes after it: the first of them is no digit, and there are [`SLACK`] of them where possible.
    pub(crate) run: &'a [u8],
}

impl<'a> Line<'a> {
    /// The place in the line of a word of it.
    pub(crate) fn place(self, word: &[u8]) -> usize {
        word.as_ptr() as usize - self.text.as_ptr() as usize
    }

    /// Reads all of a word of the line.
    pub(crate) fn read_word<T>(
        self,
        word: &'a [u8],
        read: impl FnOnce(&mut Fields<'a>) -> ParseResult<T>,
    ) -> ParseResult<T> {
        let mut fields = Fields::new(Line { text: word, run: word });
        let value = read(&mut fields).and_then(|value| fields.end().map(|()| value));
        value.map_err(|fault| match fault {
            Fault::Error(error) => Fault::from_error(self.place(word) + error.0, error.1),
            Fault::EmptyRequest => Fault::EmptyRequest,
        })
    }
}

/// How many of eight characters, from the first, are decimal digits, and their value.
///
/// All eight are handled at once within a 64-bit word, since the branch at the end of a number
/// of unknown length is what costs most in a loop over its digits.
#[inline(always)]
fn leading_digits(characters: [u8; SLACK]) -> (usize, u64) {
    const BYTE_LOW_BITS: u64 = 0x0101_0101_0101_0101;
    // Digits become 0 to 9; adding 0x76 sets the top bit of all other bytes, the first of which
    // is certain (a carry reaches only the bytes after it).
    let values = u64::from_le_bytes(characters) ^ (BYTE_LOW_BITS * 0x30);
    let non_digit_bits = (values.wrapping_add(BYTE_LOW_BITS * 0x76) | values) & (BYTE_LOW_BITS * 0x80);
    let count = (non_digit_bits.trailing_zeros() / 8) as usize;
    if count == 0 {
        return (0, 0);
    }
    // Zeros in front, then neighbors are joined: digits, pairs, fours.
    let values = values << (64 - 8 * count);
    let pairs = (values.wrapping_mul(10) + (values >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100) + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    let value = (fours.wrapping_mul(10_000) + (fours >> 32)) & 0xffff_ffff;
    (count, value)
}

/// A place in a line that moves from field to field.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    line: &'a [u8],
    run: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    #[inline]
    pub(crate) fn new(line: Line<'a>) -> Self {
        Fields { line: line.text, run: line.run, at: 0 }
    }

    /// The byte at the present place; 0 at the end of the line.
    #[inline(always)]
    pub(crate) fn peek(&self) -> u8 {
        self.line.get(self.at).copied().unwrap_or(0)
    }

    #[inline]
    pub(crate) fn is_at_end(&self) -> bool {
        self.at >= self.line.len()
    }

    /// The present place, as a byte of the line.
    pub(crate) fn column(&self) -> usize {
        self.at
    }

    /// Steps over spaces and tabs.
    #[inline(always)]
    pub(crate) fn skip_blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\t') {
            self.at += 1;
        }
    }

    /// Steps over `separator`, which must come now.
    #[inline(always)]
    pub(crate) fn separator(&mut self, separator: u8) -> ParseResult<()> {
        if self.peek() == separator && !self.is_at_end() {
            self.at += 1;
            return Ok(());
        }
        self.skip_blanks();
        if self.peek() == separator && !self.is_at_end() {
            self.at += 1;
            return Ok(());
        }
        Err(self.missing_separator_fault(separator))
    }

    /// Steps over a comma, which must come now, and the blanks after it; returns the column of the next field.
    #[inline(always)]
    pub(crate) fn comma(&mut self) -> ParseResult<usize> {
        self.separator(b',')?;
        self.skip_blanks();
        Ok(self.column())
    }

    /// Skips spaces and tabs, of which there must be at least one.
    #[inline(always)]
    pub(crate) fn blanks(&mut self) -> ParseResult<()> {
        if matches!(self.peek(), b' ' | b'\t') {
            self.at += 1;
            self.skip_blanks();
            return Ok(());
        }
        Err(self.missing_separator_fault(b' '))
    }

    /// Checks that only spaces are left of the line.
    #[inline(always)]
    pub(crate) fn end(&mut self) -> ParseResult<()> {
        self.skip_blanks();
        if self.is_at_end() {
            return Ok(());
        }
        Err(self.trailing_text_fault())
    }

    #[cold]
    fn trailing_text_fault(self) -> Fault {
        Fault::new(self.at, "unexpected text after the last field")
    }

    #[cold]
    fn missing_separator_fault(self, separator: u8) -> Fault {
        let expected =
            if separator == b' ' { "a space".to_owned() } else { format!("`{}`", char::from(separator)) };
        let found = if self.is_at_end() { "the line ends" } else { "other text comes" };
        Fault::new(self.at, format!("expected {expected} here, but {found}"))
    }

    /// Reads an integer, 0 or more. `what` names the field in errors.
    #[inline(always)]
    pub(crate) fn integer(&mut self, what: &str) -> ParseResult<u64> {
        let from = self.at;
        let value = self.digits();
        let count = self.at - from;
        if count == 0 || count > SAFE_DIGITS {
            return self.parse_long_unsigned(from, what);
        }
        Ok(value)
    }

    /// Takes decimal digits; the value wraps around past [`SAFE_DIGITS`].
    #[inline(always)]
    fn digits(&mut self) -> u64 {
        let mut value = 0_u64;
        while let Some(eight) = self.run.get(self.at..self.at + SLACK) {
            let (count, digits_value) = leading_digits(eight.try_into().unwrap_or_default());
            self.at += count;
            value = value.wrapping_mul(POWERS_OF_TEN[count]).wrapping_add(digits_value);
            if count < SLACK {
                return value;
            }
        }
        while let Some(digit) = self.line.get(self.at).map(|byte| byte.wrapping_sub(b'0')).filter(|d| *d < 10)
        {
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            self.at += 1;
        }
        value
    }

    #[cold]
    fn parse_long_unsigned(self, from: usize, what: &str) -> ParseResult<u64> {
        let digits = &self.line[from..self.at];
        if digits.is_empty() {
            return Err(self.not_a_number_fault(from, what, "a whole number"));
        }
        let value = digits
            .iter()
            .try_fold(0_u64, |value, byte| value.checked_mul(10)?.checked_add(u64::from(byte - b'0')));
        value.ok_or_else(|| Fault::new(from, format!("{what} is too large: it does not fit 64 bits")))
    }

    /// Reads the number of a device.
    #[inline(always)]
    pub(crate) fn device(&mut self) -> ParseResult<u16> {
        let at = self.at;
        // The number is nearly always a single digit.
        if let Some([digit @ b'0'..=b'9', b' ' | b'\t']) = self.line.get(at..at + 2) {
            self.at += 1;
            return Ok(u16::from(digit - b'0'));
        }
        let number = self.integer("the device number")?;
        u16::try_from(number).map_err(|_| unknown_device_fault(at, number))
    }

    /// Reads a hexadecimal number, with or without `0x`.
    #[inline(always)]
    pub(crate) fn hexadecimal(&mut self, what: &str) -> ParseResult<u64> {
        let first = self.peek();
        if self.at + 1 == self.line.len() && first.is_ascii_digit() {
            self.at += 1;
            return Ok(u64::from(first - b'0'));
        }
        if self.line[self.at..].starts_with(b"0x") {
            self.at += 2;
        }
        let from = self.at;
        let mut value = 0_u64;
        while let Some(digit) = char::from(self.peek()).to_digit(16) {
            value = (value << 4) | u64::from(digit);
            self.at += 1;
        }
        match self.at - from {
            0 => Err(self.not_a_number_fault(from, what, "a hexadecimal number")),
            1..=16 => Ok(value),
            _ => Err(Fault::new(from, format!("{what} is too large: it does not fit 64 bits"))),
        }
    }

    /// Reads a number with a fraction, times 10^`scale`, rounded to the nearest integer without any floating-point step
    /// in between. `scale` is at most 9.
    #[inline(always)]
    pub(crate) fn decimal(&mut self, what: &str, scale: usize) -> ParseResult<u64> {
        let from = self.at;
        let whole = self.digits();
        let whole_digits = self.at - from;
        let (mut fraction, mut fraction_digits) = (0, 0);
        if self.peek() == b'.' {
            self.at += 1;
            let point_at = self.at;
            fraction = self.digits();
            fraction_digits = self.at - point_at;
        }
        let is_simple = whole_digits + scale < SAFE_DIGITS && fraction_digits <= scale;
        if !is_simple || whole_digits + fraction_digits == 0 || matches!(self.peek(), b'e' | b'E') {
            let (value, at) = Fields { at: from, ..*self }.parse_long_decimal(what, scale)?;
            self.at = at;
            return Ok(value);
        }
        Ok(whole * POWERS_OF_TEN[scale] + fraction * POWERS_OF_TEN[scale - fraction_digits])
    }

    /// Like [`Fields::decimal`], for any number of digits and for exponents.
    #[cold]
    fn parse_long_decimal(mut self, what: &str, scale: usize) -> ParseResult<(u64, usize)> {
        let from = self.at;
        let whole_from = self.at;
        self.digits();
        let whole_digits = &self.line[whole_from..self.at];
        let mut fraction: &[u8] = &[];
        if self.peek() == b'.' {
            self.at += 1;
            let point_at = self.at;
            self.digits();
            fraction = &self.line[point_at..self.at];
        }
        if whole_digits.is_empty() && fraction.is_empty() {
            self.at = from;
            return Err(self.not_a_number_fault(from, what, "a number"));
        }
        let exponent = self.exponent(what)?;
        // Decimal place of each digit after scaling: 0 for units, -1 for tenths.
        let mut place = (whole_digits.len() as i64) - 1 + exponent + scale as i64;
        let mut value = 0_u128;
        for digit in whole_digits.iter().chain(fraction).map(|byte| u128::from(byte - b'0')) {
            if place >= 0 && (value > 0 || digit > 0) {
                if place > 20 {
                    return Err(too_large_fault(from, what));
                }
                value += digit * 10_u128.pow(place as u32);
            } else if place == -1 && digit >= 5 {
                value += 1;
            }
            place -= 1;
        }
        let value = u64::try_from(value).map_err(|_| too_large_fault(from, what))?;
        let least_exponent = exponent - fraction.len() as i64;
        if least_exponent > 0 && least_exponent + scale as i64 >= SHORTENED_DIGITS {
            return Err(Fault::with_remedy(
                from,
                format!("{what} has lost its last {least_exponent} digits"),
                "a spreadsheet shortened it: export the times with all their digits, or use the original file",
            ));
        }
        Ok((value, self.at))
    }

    fn exponent(&mut self, what: &str) -> ParseResult<i64> {
        if !matches!(self.peek(), b'e' | b'E') {
            return Ok(0);
        }
        let from = self.at;
        self.at += 1;
        let is_negative = self.peek() == b'-';
        if matches!(self.peek(), b'-' | b'+') {
            self.at += 1;
        }
        let digits_from = self.at;
        let magnitude = self.digits();
        if !(1..=6).contains(&(self.at - digits_from)) {
            return Err(Fault::new(from, format!("{what} has an invalid exponent")));
        }
        let magnitude = magnitude.cast_signed();
        Ok(if is_negative { -magnitude } else { magnitude })
    }

    /// The next byte; 0 at the end of the line.
    #[inline(always)]
    pub(crate) fn letter(&mut self) -> u8 {
        let letter = self.peek();
        self.at += usize::from(!self.is_at_end());
        letter
    }

    /// Reads a time in units of 10^`digits` ns, with a fraction or not.
    #[inline(always)]
    pub(crate) fn time(&mut self, what: &str, digits: usize) -> ParseResult<Time> {
        self.decimal(what, digits).map(Time::from_ns)
    }

    /// The bytes stepped over since the place `from`.
    pub(crate) fn since(&self, from: usize) -> &'a [u8] {
        &self.line[from..self.at]
    }

    /// The bytes up to the next `separator` or the end of the line.
    #[inline]
    pub(crate) fn word(&mut self, separator: u8) -> &'a [u8] {
        let rest_of_line = &self.line[self.at..];
        let length = rest_of_line.iter().position(|byte| *byte == separator).unwrap_or(rest_of_line.len());
        self.at += length;
        &rest_of_line[..length]
    }

    /// The bytes up to the next space or tab.
    #[inline]
    pub(crate) fn token(&mut self) -> &'a [u8] {
        let rest_of_line = &self.line[self.at..];
        let length =
            rest_of_line.iter().position(|byte| matches!(byte, b' ' | b'\t')).unwrap_or(rest_of_line.len());
        self.at += length;
        &rest_of_line[..length]
    }

    #[cold]
    fn not_a_number_fault(self, at: usize, what: &str, expected: &str) -> Fault {
        let text = &self.line[at.min(self.line.len())..];
        let unsigned = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
        let prefix: Vec<u8> = unsigned.iter().take(3).map(u8::to_ascii_lowercase).collect();
        let message = if prefix == b"nan" || prefix == b"inf" {
            format!("{what} is not a finite number")
        } else if text.first() == Some(&b'-') && unsigned.first().is_some_and(u8::is_ascii_digit) {
            format!("{what} is negative")
        } else if text.is_empty() {
            format!("{what} is missing: the line ends")
        } else {
            format!("expected {what}, {expected}")
        };
        Fault::new(at, message)
    }
}

#[cold]
fn too_large_fault(at: usize, what: &str) -> Fault {
    Fault::with_remedy(
        at,
        format!("{what} is too large"),
        "check the unit: times since 1970 may be in another one, which `--columns` can state",
    )
}

#[cold]
fn unknown_device_fault(at: usize, number: u64) -> Fault {
    Fault::new(at, format!("device number {number}: the highest is {}", u16::MAX))
}

/// Checks a range given in blocks. `at` is the byte of the line where the range stands.
#[inline(always)]
pub(crate) fn blocks(at: usize, lbn: u64, blocks: u64) -> ParseResult<(u64, u32)> {
    range::from_blocks(lbn, blocks).map_err(|fault| Fault::from_range(at, fault))
}

/// Checks a range given in bytes and rounds it outwards to blocks. `at` as in [`blocks`].
#[inline(always)]
pub(crate) fn bytes(at: usize, offset: u64, length: u64) -> ParseResult<(u64, u32)> {
    range::from_bytes(offset, length).map_err(|fault| Fault::from_range(at, fault))
}
