//! A plain NBD client: tests see every byte that it sends and gets.

// Each test file uses a part of this module.
#![allow(dead_code)]

use std::collections::HashMap;
use std::io::{Read, Result, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

pub const READ: u16 = 0;
pub const WRITE: u16 = 1;
pub const DISCONNECT: u16 = 2;
pub const FLUSH: u16 = 3;
pub const TRIM: u16 = 4;
pub const CACHE: u16 = 5;
pub const WRITE_ZEROES: u16 = 6;

/// Force unit access.
pub const FUA: u16 = 1;

/// A connection to a server whose device has been chosen.
pub struct Host {
    pub stream: UnixStream,
    /// The size and the transmission flags of the export.
    pub bytes: u64,
    pub flags: u16,
    sent: u64,
    /// By cookie of a read in flight: the bytes of data in its reply.
    reads: HashMap<u64, usize>,
}

impl Host {
    /// Connects and chooses the export.
    pub fn connect(socket: &Path) -> Result<Host> {
        let mut stream = UnixStream::connect(socket)?;
        // A missing reply must not block a test without end.
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let mut greeting = [0; 18];
        stream.read_exact(&mut greeting)?;
        assert_eq!(&greeting, b"NBDMAGICIHAVEOPT\0\x03");
        stream.write_all(b"\0\0\0\x03IHAVEOPT\0\0\0\x01\0\0\0\0")?;
        let mut export_info = [0; 10];
        stream.read_exact(&mut export_info)?;
        let bytes = u64::from_be_bytes(export_info[..8].try_into().expect("eight bytes"));
        let flags = u16::from_be_bytes([export_info[8], export_info[9]]);
        Ok(Host { stream, bytes, flags, sent: 0, reads: HashMap::new() })
    }

    /// Encodes a request, and returns its bytes and its cookie; cookies count from 1.
    pub fn request(
        &mut self,
        command: u16,
        flags: u16,
        offset: u64,
        length: u32,
        data: &[u8],
    ) -> (u64, Vec<u8>) {
        self.sent += 1;
        if command == READ {
            self.reads.insert(self.sent, length as usize);
        }
        let mut request = b"\x25\x60\x95\x13".to_vec();
        request.extend(flags.to_be_bytes());
        request.extend(command.to_be_bytes());
        request.extend(self.sent.to_be_bytes());
        request.extend(offset.to_be_bytes());
        request.extend(length.to_be_bytes());
        request.extend(data);
        (self.sent, request)
    }

    /// Sends a request and does not wait for its reply.
    pub fn send_request(&mut self, command: u16, flags: u16, offset: u64, length: u32, data: &[u8]) -> u64 {
        let (cookie, request) = self.request(command, flags, offset, length, data);
        self.stream.write_all(&request).expect("the server reads");
        cookie
    }

    /// Waits for the next reply: its cookie, its error, its data.
    pub fn reply(&mut self) -> Result<(u64, u32, Vec<u8>)> {
        let mut head = [0; 16];
        self.stream.read_exact(&mut head)?;
        assert_eq!(&head[..4], b"\x67\x44\x66\x98");
        let errno = u32::from_be_bytes(head[4..8].try_into().expect("four bytes"));
        let cookie = u64::from_be_bytes(head[8..].try_into().expect("eight bytes"));
        let length = self.reads.remove(&cookie).filter(|_| errno == 0).unwrap_or(0);
        let mut data = vec![0; length];
        self.stream.read_exact(&mut data)?;
        Ok((cookie, errno, data))
    }

    /// Sends a request and waits for its reply.
    pub fn call(
        &mut self,
        command: u16,
        flags: u16,
        offset: u64,
        length: u32,
        data: &[u8],
    ) -> (u32, Vec<u8>) {
        let request_cookie = self.send_request(command, flags, offset, length, data);
        let (cookie, errno, data) = self.reply().expect("a reply");
        assert_eq!(cookie, request_cookie);
        (errno, data)
    }

    /// Reads data.
    pub fn read(&mut self, offset: u64, length: u32) -> Vec<u8> {
        let (errno, data) = self.call(READ, 0, offset, length, &[]);
        assert_eq!(errno, 0);
        data
    }

    /// Writes data, and returns the error of the reply.
    pub fn write(&mut self, flags: u16, offset: u64, data: &[u8]) -> u32 {
        self.call(WRITE, flags, offset, data.len() as u32, data).0
    }
}
