//! Damages traces: bytes, fields, lines, and the order of them.

use rand::Rng;
use rand::RngExt;

/// Odd texts that people and machines write in place of a field.
const ODD_FIELDS: &[&str] = &[
    "",
    "0",
    "1",
    "-1",
    "-0",
    "+5",
    "nan",
    "NaN",
    "inf",
    "-Infinity",
    "0x",
    "0xffffffffffffffffff",
    "1e308",
    "1e-400",
    "1e999999",
    "1e9999999",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "36028797018963967",
    "4294967295",
    "4294967296",
    "65535",
    "65536",
    "99999999999999999999999999",
    "0.0000000000000000000000001",
    "1.9999999999",
    "18446744073709.551615",
    ".",
    "1.",
    ".5",
    "1.2.3",
    "R",
    "W",
    "T",
    "F",
    "Read",
    "x",
    "\u{e9}",
    "\0",
    "#",
    "+",
    "->",
    "{",
    "}",
    "null",
    "[]",
    "[[0]]",
    "\"all\"",
    "\"each\":",
    "\"runs\":",
    "\"varint:gA\"",
    "1125899906842625",
];

/// Bytes between fields and lines.
const SEPARATORS: &[u8] = b", \t\n\r;\0\x0c";

/// Applies one to eight damages to `trace`, with pieces of `other`.
pub fn mutate(rng: &mut impl Rng, trace: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = trace.to_vec();
    for _ in 0..rng.random_range(1..=8) {
        damage(rng, &mut bytes, other);
        bytes.truncate(400_000);
    }
    bytes
}

fn damage(rng: &mut impl Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    let (from, to) = span(rng, bytes.len());
    match rng.random_range(0..11) {
        0 => drop(bytes.drain(from..to)),
        1 => bytes.truncate(from),
        2 => {
            if let Some(byte) = bytes.get_mut(from) {
                *byte ^= 1 << rng.random_range(0..8);
            }
        }
        3 => bytes.insert(from, rng.random()),
        4 => bytes.insert(from, pick(rng, SEPARATORS).copied().unwrap_or(0)),
        5 => {
            let piece = bytes[from..to].to_vec();
            let (at, _) = span(rng, bytes.len());
            bytes.splice(at..at, piece);
        }
        6 => {
            let (a, b) = span(rng, other.len());
            bytes.splice(from..from, other[a..b].to_vec());
        }
        7 => swap_lines(rng, bytes),
        8 if rng.random_ratio(1, 20) => {
            let run = vec![*pick(rng, b"0191 ,#x").unwrap_or(&b'0'); rng.random_range(1..200_000)];
            bytes.splice(from..from, run);
        }
        _ => replace_field(rng, bytes),
    }
}

/// Replaces one field by an odd text.
fn replace_field(rng: &mut impl Rng, bytes: &mut Vec<u8>) {
    let (at, _) = span(rng, bytes.len());
    let is_field = |byte: &u8| !SEPARATORS.contains(byte);
    let from = bytes[..at].iter().rposition(|byte| !is_field(byte)).map_or(0, |i| i + 1);
    let to = bytes[at..].iter().position(|byte| !is_field(byte)).map_or(bytes.len(), |i| at + i);
    let field = pick(rng, ODD_FIELDS).copied().unwrap_or_default();
    bytes.splice(from..to, field.bytes());
}

fn swap_lines(rng: &mut impl Rng, bytes: &mut Vec<u8>) {
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    if lines.is_empty() {
        return;
    }
    let (a, b) = (rng.random_range(0..lines.len()), rng.random_range(0..lines.len()));
    lines.swap(a, b);
    *bytes = lines.concat();
}

/// Beginning and end of a piece within `length` bytes: mostly short, anywhere, perhaps empty.
fn span(rng: &mut impl Rng, length: usize) -> (usize, usize) {
    let from = rng.random_range(0..=length);
    let max_length = if rng.random_ratio(1, 8) { length } else { 16 };
    (from, rng.random_range(from..=length.min(from + max_length)))
}

fn pick<'a, T>(rng: &mut impl Rng, from: &'a [T]) -> Option<&'a T> {
    from.get(rng.random_range(0..from.len().max(1)))
}
