//! Integers in network order, which is big-endian, and messages that arrive in pieces.

use std::borrow::Cow;

/// Parses fields from the front of a message; `None` past its end.
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (front, remaining) = self.0.split_at_checked(count)?;
        self.0 = remaining;
        Some(front)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (front, remaining) = self.0.split_first_chunk()?;
        self.0 = remaining;
        Some(*front)
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// A string: its length, then its bytes.
    pub fn string(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()?;
        self.bytes(length as usize)
    }
}

/// Appends fields to bytes that are to be sent.
pub trait AppendField {
    fn put_u16(&mut self, value: u16);
    fn put_u32(&mut self, value: u32);
    fn put_u64(&mut self, value: u64);
}

impl AppendField for Vec<u8> {
    fn put_u16(&mut self, value: u16) {
        self.extend_from_slice(&value.to_be_bytes());
    }

    fn put_u32(&mut self, value: u32) {
        self.extend_from_slice(&value.to_be_bytes());
    }

    fn put_u64(&mut self, value: u64) {
        self.extend_from_slice(&value.to_be_bytes());
    }
}

/// The start of a message that has not arrived completely.
#[derive(Debug, Default)]
pub struct PartialMessage(Vec<u8>);

impl PartialMessage {
    /// The next `count` bytes as one piece, once all of them have arrived, and how many bytes of the input were used. A
    /// piece that is completely in the input is not copied.
    pub fn gather<'a>(&mut self, count: usize, input: &'a [u8]) -> (usize, Option<Cow<'a, [u8]>>) {
        if self.0.is_empty() && input.len() >= count {
            return (count, Some(Cow::Borrowed(&input[..count])));
        }
        // Only bytes that have arrived take memory, and no more than `count`.
        let taken_bytes = input.len().min(count - self.0.len());
        if self.0.capacity() < self.0.len() + taken_bytes {
            self.0.reserve_exact(taken_bytes.max(self.0.len()).min(count - self.0.len()));
        }
        self.0.extend_from_slice(&input[..taken_bytes]);
        let is_complete = self.0.len() == count;
        (taken_bytes, is_complete.then(|| Cow::Owned(std::mem::take(&mut self.0))))
    }

    /// Bytes of memory that are allocated.
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }
}
