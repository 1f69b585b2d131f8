//! Damages sessions: bits, fields, messages, and the order of them.

use rand::{Rng, RngExt};

/// Values that hostile clients send as a length, an offset or the number of a command.
const ODD_NUMBERS: &[u64] = &[
    0,
    1,
    2,
    3,
    7,
    8,
    9,
    10,
    11,
    0x7f,
    0xff,
    0x200,
    0x1000,
    0x1001,
    0x4000,
    0x4001,
    0xffff,
    0x1_0000,
    0x1_0001,
    0x0200_0000,
    0x0200_0001,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0xffff_ffff_ffff_fe00,
    u64::MAX,
];

/// The magic numbers with which messages begin.
const MAGICS: [&[u8]; 2] = [b"IHAVEOPT", &[0x25, 0x60, 0x95, 0x13]];

/// The longest session that is kept, in bytes: longer ones show nothing new.
const MAX_SESSION_BYTES: usize = 24_000;

/// One to six damages to `session`; `other` is a session to take messages from.
pub fn mutate(rng: &mut impl Rng, session: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = session.to_vec();
    for _ in 0..rng.random_range(1..=6) {
        damage(rng, &mut bytes, other);
        bytes.truncate(MAX_SESSION_BYTES);
    }
    bytes
}

fn damage(rng: &mut impl Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    let position = rng.random_range(0..=bytes.len());
    match rng.random_range(0..10) {
        0 => bytes.truncate(position),
        1 => {
            if let Some(byte) = bytes.get_mut(position) {
                *byte ^= 1 << rng.random_range(0..8);
            }
        }
        2 => {
            let to = bytes.len().min(position + rng.random_range(0..40));
            drop(bytes.drain(position..to));
        }
        3 => bytes.splice(position..position, vec![rng.random(); rng.random_range(0..60)]).for_each(drop),
        4 => {
            let (from, to) = random_message(rng, bytes);
            drop(bytes.drain(from..to));
        }
        5 | 6 => {
            let (from, to) = random_message(rng, other);
            let (insert_at, _) = random_message(rng, bytes);
            bytes.splice(insert_at..insert_at, other[from..to].to_vec());
        }
        _ => replace_field(rng, bytes),
    }
}

/// Puts an odd number into the head of a message.
fn replace_field(rng: &mut impl Rng, bytes: &mut [u8]) {
    let (from, _) = random_message(rng, bytes);
    let at = from + 2 * rng.random_range(0..18);
    let width = [2, 4, 8][rng.random_range(0..3)];
    let number = ODD_NUMBERS[rng.random_range(0..ODD_NUMBERS.len())].to_be_bytes();
    if let Some(field) = bytes.get_mut(at..at + width) {
        field.copy_from_slice(&number[8 - width..]);
    }
}

/// The place of a message of a session, chosen at random: its first byte, and the first byte of the next message.
fn random_message(rng: &mut impl Rng, bytes: &[u8]) -> (usize, usize) {
    let begins_message = |at: &usize| MAGICS.iter().any(|magic| bytes[*at..].starts_with(magic));
    let mut places: Vec<usize> = (0..bytes.len()).filter(begins_message).collect();
    places.extend([bytes.len(), bytes.len()]);
    let first = rng.random_range(0..places.len() - 1);
    (places[first], places[first + 1])
}
