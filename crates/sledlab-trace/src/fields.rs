//! Cuts a line of text into the fields of a request, by bytes and without copying.

use sledlab_core::{BLOCK_BYTES, Error, Op};

/// What is wrong with a line, and at which byte of it.
#[derive(Debug)]
pub(crate) struct Fault(pub(crate) Box<(usize, Error)>);

/// The result of reading a part of a line.
pub(crate) type Parsed<T> = Result<T, Fault>;

/// Blocks up to which byte addresses fit 64 bits.
const MOST_BLOCKS: u64 = u64::MAX / BLOCK_BYTES;

/// Decimal digits that always fit 64 bits.
const SAFE_DIGITS: usize = 19;

const POWERS_OF_TEN: [u64; 10] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// A place in a line that moves from field to field.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    #[inline]
    pub(crate) fn new(line: &'a [u8]) -> Self {
        Fields { line, at: 0 }
    }

    /// The byte at the present place; 0 at the end of the line.
    #[inline]
    pub(crate) fn peek(&self) -> u8 {
        self.line.get(self.at).copied().unwrap_or(0)
    }

    #[inline]
    pub(crate) fn is_at_end(&self) -> bool {
        self.at >= self.line.len()
    }

    /// The present place.
    pub(crate) fn column(&self) -> usize {
        self.at
    }

    /// Steps over spaces and tabs.
    #[inline]
    pub(crate) fn skip_blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\t') {
            self.at += 1;
        }
    }

    /// Steps over `separator`, which must come now.
    #[inline]
    pub(crate) fn separator(&mut self, separator: u8) -> Parsed<()> {
        if self.peek() == separator && !self.is_at_end() {
            self.at += 1;
            return Ok(());
        }
        self.skip_blanks();
        if self.peek() == separator && !self.is_at_end() {
            self.at += 1;
            return Ok(());
        }
        let found = if self.is_at_end() { "the line ends" } else { "other text comes" };
        let shown = char::from(separator);
        Err(self.fault(self.at, format!("expected `{shown}` here, but {found}")))
    }

    /// Steps over spaces and tabs, of which there must be one at least.
    #[inline]
    pub(crate) fn blanks(&mut self) -> Parsed<()> {
        if matches!(self.peek(), b' ' | b'\t') {
            self.at += 1;
            self.skip_blanks();
            return Ok(());
        }
        let found = if self.is_at_end() { "the line ends" } else { "other text comes" };
        Err(self.fault(self.at, format!("expected a space here, but {found}")))
    }

    /// Nothing but spaces may be left.
    #[inline]
    pub(crate) fn end(&mut self) -> Parsed<()> {
        self.skip_blanks();
        if self.is_at_end() {
            return Ok(());
        }
        Err(self.fault(self.at, "unexpected text after the last field".to_owned()))
    }

    /// A whole number, 0 or more. `what` names the field in errors.
    #[inline]
    pub(crate) fn unsigned(&mut self, what: &str) -> Parsed<u64> {
        let from = self.at;
        let value = self.digits();
        let count = self.at - from;
        if count == 0 || count > SAFE_DIGITS {
            return self.unsigned_with_care(from, what);
        }
        Ok(value)
    }

    /// Takes decimal digits; the value wraps around past [`SAFE_DIGITS`].
    #[inline]
    fn digits(&mut self) -> u64 {
        let mut value = 0_u64;
        while let Some(digit) = self.line.get(self.at).map(|byte| byte.wrapping_sub(b'0')).filter(|d| *d < 10)
        {
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            self.at += 1;
        }
        value
    }

    #[cold]
    fn unsigned_with_care(&mut self, from: usize, what: &str) -> Parsed<u64> {
        let digits = &self.line[from..self.at];
        if digits.is_empty() {
            return Err(self.not_a_number(from, what, "a whole number"));
        }
        let value = digits
            .iter()
            .try_fold(0_u64, |value, byte| value.checked_mul(10)?.checked_add(u64::from(byte - b'0')));
        value.ok_or_else(|| self.fault(from, format!("{what} is too large: it does not fit 64 bits")))
    }

    /// The number of a device.
    #[inline]
    pub(crate) fn device(&mut self) -> Parsed<u16> {
        let at = self.at;
        let number = self.unsigned("the device number")?;
        u16::try_from(number)
            .map_err(|_| self.fault(at, format!("device number {number}: the highest is {}", u16::MAX)))
    }

    /// A hexadecimal number, with or without `0x`.
    #[inline]
    pub(crate) fn hexadecimal(&mut self, what: &str) -> Parsed<u64> {
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
            0 => Err(self.not_a_number(from, what, "a hexadecimal number")),
            1..=16 => Ok(value),
            _ => Err(self.fault(from, format!("{what} is too large: it does not fit 64 bits"))),
        }
    }

    /// A number with a fraction, times 10^`scale`, rounded to the nearest whole number without
    /// any floating-point step in between. `scale` is at most 9.
    #[inline]
    pub(crate) fn decimal(&mut self, what: &str, scale: usize) -> Parsed<u64> {
        let from = self.at;
        let whole = self.digits();
        let whole_digits = self.at - from;
        let (mut fraction, mut fraction_digits) = (0, 0);
        if self.peek() == b'.' {
            self.at += 1;
            let point = self.at;
            fraction = self.digits();
            fraction_digits = self.at - point;
        }
        let simple = whole_digits + scale < SAFE_DIGITS && fraction_digits <= scale;
        if !simple || whole_digits + fraction_digits == 0 || matches!(self.peek(), b'e' | b'E') {
            self.at = from;
            return self.decimal_with_care(what, scale);
        }
        Ok(whole * POWERS_OF_TEN[scale] + fraction * POWERS_OF_TEN[scale - fraction_digits])
    }

    /// Any number of digits, and exponents.
    #[cold]
    fn decimal_with_care(&mut self, what: &str, scale: usize) -> Parsed<u64> {
        let from = self.at;
        let whole_from = self.at;
        self.digits();
        let whole = &self.line[whole_from..self.at];
        let mut fraction: &[u8] = &[];
        if self.peek() == b'.' {
            self.at += 1;
            let point = self.at;
            self.digits();
            fraction = &self.line[point..self.at];
        }
        if whole.is_empty() && fraction.is_empty() {
            self.at = from;
            return Err(self.not_a_number(from, what, "a number"));
        }
        let exponent = self.exponent(what)?;
        // Decimal place of each digit after scaling: units are 0, tenths -1.
        let mut place = (whole.len() as i64) - 1 + exponent + scale as i64;
        let mut value = 0_u128;
        for digit in whole.iter().chain(fraction).map(|byte| u128::from(byte - b'0')) {
            if place >= 0 && (value > 0 || digit > 0) {
                if place > 20 {
                    return Err(self.fault(from, format!("{what} is too large")));
                }
                value += digit * 10_u128.pow(place as u32);
            } else if place == -1 && digit >= 5 {
                value += 1;
            }
            place -= 1;
        }
        u64::try_from(value).map_err(|_| self.fault(from, format!("{what} is too large")))
    }

    fn exponent(&mut self, what: &str) -> Parsed<i64> {
        if !matches!(self.peek(), b'e' | b'E') {
            return Ok(0);
        }
        let from = self.at;
        self.at += 1;
        let negative = self.peek() == b'-';
        if matches!(self.peek(), b'-' | b'+') {
            self.at += 1;
        }
        let digits_from = self.at;
        let size = self.digits();
        if !(1..=6).contains(&(self.at - digits_from)) {
            return Err(self.fault(from, format!("{what} has an exponent that makes no sense")));
        }
        let size = size.cast_signed();
        Ok(if negative { -size } else { size })
    }

    /// The bytes up to the next `separator` or the end of the line.
    #[inline]
    pub(crate) fn word(&mut self, separator: u8) -> &'a [u8] {
        let rest = &self.line[self.at..];
        let length = rest.iter().position(|byte| *byte == separator).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// The bytes up to the next space or tab.
    #[inline]
    pub(crate) fn token(&mut self) -> &'a [u8] {
        let rest = &self.line[self.at..];
        let length = rest.iter().position(|byte| matches!(byte, b' ' | b'\t')).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    #[cold]
    fn not_a_number(&self, at: usize, what: &str, wanted: &str) -> Fault {
        let rest = &self.line[at.min(self.line.len())..];
        let unsigned = rest.strip_prefix(b"-").or_else(|| rest.strip_prefix(b"+")).unwrap_or(rest);
        let lower: Vec<u8> = unsigned.iter().take(3).map(u8::to_ascii_lowercase).collect();
        let message = if lower == b"nan" || lower == b"inf" {
            format!("{what} is not a finite number")
        } else if rest.first() == Some(&b'-') && unsigned.first().is_some_and(u8::is_ascii_digit) {
            format!("{what} is negative")
        } else if rest.is_empty() {
            format!("{what} is missing: the line ends")
        } else {
            format!("expected {what}, {wanted}")
        };
        self.fault(at, message)
    }

    /// An error about the byte `at` of the line.
    #[cold]
    pub(crate) fn fault(&self, at: usize, message: String) -> Fault {
        Fault(Box::new((at, Error::user(message))))
    }

    /// An error about the byte `at` of the line, with what to do about it.
    #[cold]
    pub(crate) fn fault_with(&self, at: usize, message: String, remedy: &str) -> Fault {
        Fault(Box::new((at, Error::user(message).with_remedy(remedy))))
    }

    /// Checks a range given in blocks. `at` is where it stands in the line.
    #[inline]
    pub(crate) fn blocks(&self, at: usize, op: Op, lbn: u64, blocks: u64) -> Parsed<(u64, u32)> {
        let count = blocks as u32;
        if blocks == 0 || u64::from(count) != blocks || lbn > MOST_BLOCKS - blocks {
            return self.odd_range(at, op, lbn, blocks);
        }
        Ok((lbn, count))
    }

    /// Checks a range given in bytes and rounds it outwards to whole blocks.
    #[inline]
    pub(crate) fn bytes(&self, at: usize, op: Op, offset: u64, length: u64) -> Parsed<(u64, u32)> {
        let lbn = offset / BLOCK_BYTES;
        match offset.checked_add(length) {
            Some(end) if length > 0 => self.blocks(at, op, lbn, end.div_ceil(BLOCK_BYTES) - lbn),
            Some(_) => self.odd_range(at, op, lbn, 0),
            None => Err(self.fault(at, "offset + length does not fit 64 bits".to_owned())),
        }
    }

    #[cold]
    fn odd_range(&self, at: usize, op: Op, lbn: u64, blocks: u64) -> Parsed<(u64, u32)> {
        if op == Op::Flush {
            return Ok((0, 0));
        }
        let fault = if blocks == 0 {
            self.fault_with(
                at,
                "a request of length zero".to_owned(),
                "remove the line, or write it as a flush",
            )
        } else if blocks > u64::from(u32::MAX) {
            self.fault(at, format!("a request of {blocks} blocks: the longest is {} (2 TiB)", u32::MAX))
        } else {
            self.fault(at, format!("the request starts at block {lbn}: byte addresses do not fit 64 bits"))
        };
        Err(fault)
    }
}
