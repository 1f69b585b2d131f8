//! Tables with other separators than commas, with quotes (R) or with decimal commas (spreadsheets), which are rewritten
//! as the lines that formats read.

use std::io::{self, BufRead, BufReader, Read};

use csv::{ReaderBuilder, StringRecord};
use sledlab_core::Error;

use crate::compression::Decompressor;
use crate::input::MAX_LINE_BYTES;
use crate::shown::shorten;

/// Separators of fields other than commas.
const SEPARATORS: [u8; 3] = [b';', b'\t', b'|'];

/// Lines that are examined to recognize a dialect.
const EXAMINED_LINES: usize = 20;

/// How the fields of a table are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    separator: u8,
}

impl Dialect {
    /// Recognizes a table with another separator than a comma, or with quotes, by its first lines.
    pub(crate) fn recognize<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Option<Self> {
        let lines: Vec<&[u8]> = lines.take(EXAMINED_LINES).collect();
        let first = lines.first()?;
        let count = |line: &[u8], separator: u8| memchr::memchr_iter(separator, line).count();
        let separator = SEPARATORS.into_iter().find(|separator| {
            let fields = count(first, *separator);
            fields >= 2 && lines.iter().all(|line| count(line, *separator) == fields)
        });
        match separator {
            Some(separator) => Some(Dialect { separator }),
            None if first.contains(&b'"') && count(first, b',') >= 2 => Some(Dialect { separator: b',' }),
            None => None,
        }
    }

    /// The table as lines whose fields are separated by commas, without quotes, and with decimal points.
    pub(crate) fn rewrite(self, text: Decompressor) -> Decompressor {
        let lines = BufReader::new(text);
        Box::new(RewrittenTable {
            lines,
            dialect: self,
            line: Vec::new(),
            rewritten: Vec::new(),
            start: 0,
            row: 0,
        })
    }

    /// The fields of a line.
    pub(crate) fn fields(self, line: &[u8]) -> Vec<String> {
        let mut reader = ReaderBuilder::new()
            .delimiter(self.separator)
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .from_reader(line);
        let mut record = StringRecord::new();
        match reader.read_record(&mut record) {
            Ok(true) => record.iter().map(str::to_owned).collect(),
            _ => vec![String::from_utf8_lossy(line).into_owned()],
        }
    }
}

/// Rewrites a table line by line, so that the lines of errors are those of the file.
struct RewrittenTable<R> {
    lines: R,
    dialect: Dialect,
    line: Vec<u8>,
    /// The line for the caller, of which bytes from `start` on are unread.
    rewritten: Vec<u8>,
    start: usize,
    row: u64,
}

impl<R: BufRead> RewrittenTable<R> {
    /// Rewrites the next line; returns false after the last.
    fn next_line(&mut self) -> io::Result<bool> {
        self.line.clear();
        self.rewritten.clear();
        self.start = 0;
        let max_bytes = MAX_LINE_BYTES as u64 + 1;
        if self.lines.by_ref().take(max_bytes).read_until(b'\n', &mut self.line)? == 0 {
            return Ok(false);
        }
        self.row += 1;
        let line = self.line.trim_ascii_end();
        if line.is_empty() || line[0] == b'#' || self.line.len() > MAX_LINE_BYTES {
            // A line that is too long gets its error from the reader of lines.
            self.rewritten.extend_from_slice(&self.line);
            return Ok(true);
        }
        for (number, field) in self.dialect.fields(line).into_iter().enumerate() {
            if number > 0 {
                self.rewritten.push(b',');
            }
            self.write_field(&field)?;
        }
        self.rewritten.push(b'\n');
        Ok(true)
    }

    fn write_field(&mut self, field: &str) -> io::Result<()> {
        match field.split_once(',') {
            None => self.rewritten.extend_from_slice(field.as_bytes()),
            Some((whole, fraction)) if is_decimal_comma(whole, fraction) => {
                // Semicolons separate fields where commas separate decimals. Elsewhere `1,234` may be 1234.
                let is_ambiguous = fraction.len() == 3 && (1..=3).contains(&whole.len()) && whole != "0";
                if is_ambiguous && self.dialect.separator != b';' {
                    return Err(self.number_error(field));
                }
                self.rewritten.extend_from_slice(whole.as_bytes());
                self.rewritten.push(b'.');
                self.rewritten.extend_from_slice(fraction.as_bytes());
            }
            Some(_) if field.bytes().all(|byte| byte.is_ascii_digit() || b",.".contains(&byte)) => {
                return Err(self.number_error(field));
            }
            // A name: a comma would separate two fields.
            Some(_) => {
                self.rewritten.extend(field.bytes().map(|byte| if byte == b',' { b'_' } else { byte }));
            }
        }
        Ok(())
    }

    fn number_error(&self, field: &str) -> io::Error {
        let row = self.row;
        io::Error::other(
            Error::user(format!(
                "line {row}: `{}` is a number with a decimal comma or with thousands separators",
                shorten(field)
            ))
            .with_remedy("write numbers with a decimal point, and without separators of thousands"),
        )
    }
}

/// Whether `whole,fraction` is one number, with a comma for the decimal point.
fn is_decimal_comma(whole: &str, fraction: &str) -> bool {
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    is_digits(whole.strip_prefix('-').unwrap_or(whole)) && is_digits(fraction) && !fraction.is_empty()
}

impl<R: BufRead> Read for RewrittenTable<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.start == self.rewritten.len() && !self.next_line()? {
            return Ok(0);
        }
        let unread = &self.rewritten[self.start..];
        let count = unread.len().min(buffer.len());
        buffer[..count].copy_from_slice(&unread[..count]);
        self.start += count;
        Ok(count)
    }
}
