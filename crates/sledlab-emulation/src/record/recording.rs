//! The recording of a run, for a replay: operations and their times as fixed-size records, written by a separate
//! thread.
//!
//! The server never waits for the disk. Records go to the thread in chunks; while the channel to the thread is full,
//! the server does not read its sockets.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};

use sledlab_core::{Error, Op, Result};

use crate::timing::lateness::Cause;

/// Records handed over at a time.
const CHUNK_RECORDS: usize = 1_024;
/// Chunks that the channel holds.
const MAX_QUEUED_CHUNKS: usize = 64;

/// One operation of the model: the request, and when it was answered. Files hold records of 64 bytes,
/// little-endian, in the order of the fields, one after another in the order of replies; sorted by `id` they are the
/// trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Number of the operation, from 0 in the order of submission.
    pub id: u64,
    /// When the operation counts as arrived, in nanoseconds of the model.
    pub stamp_ns: u64,
    /// When the model completed the operation, in nanoseconds of the model.
    pub planned_ns: u64,
    /// When the reply was handed over, in nanoseconds of the model; `planned_ns` where there was no reply.
    pub sent_ns: u64,
    /// First block; 0 for a flush.
    pub lbn: u64,
    /// Number of blocks; 0 for a flush.
    pub blocks: u32,
    /// Number of the connection, from 0 in the order in which clients connected (modulo 65,536).
    pub connection: u16,
    /// The operation: 0 to 3 for read, write, trim and flush.
    pub op: u8,
    /// [`UNALIGNED`](Record::UNALIGNED), [`SILENT`](Record::SILENT), [`FUA`](Record::FUA), [`LOST`](Record::LOST).
    pub flags: u8,
    /// Words of the last block that the host did not request.
    pub unrequested_words: u8,
    /// Why the reply was late, a [`Cause`].
    pub cause: u8,
    /// Number of previous power failures; numbers and times restart after each failure.
    pub starts: u16,
    /// How much earlier than `planned_ns` the reply was due to be sent, to compensate for the host path, in nanoseconds
    /// of wall-clock time.
    pub host_ns: u32,
    /// Lateness: how much later than that the reply was sent, in nanoseconds of wall-clock time.
    pub lateness_ns: i64,
}

impl Record {
    /// Bytes of a record in a file.
    pub const BYTES: usize = 64;
    /// The request did not begin and end at boundaries of blocks.
    pub const UNALIGNED: u8 = 2;
    /// There was no reply to this operation: the client had disconnected, the power had failed, the run had ended, or
    /// the operation is the write of a request with force unit access, whose reply belongs to the flush that follows.
    pub const SILENT: u8 = 4;
    /// A flush of a write with force unit access.
    pub const FUA: u8 = 8;
    /// The power failed before the operation was complete: `planned_ns` has no meaning.
    pub const LOST: u8 = 16;

    /// The record as bytes of a file.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let times = [self.id, self.stamp_ns, self.planned_ns, self.sent_ns, self.lbn];
        for (field, value) in bytes.chunks_exact_mut(8).zip(times) {
            field.copy_from_slice(&value.to_le_bytes());
        }
        bytes[40..44].copy_from_slice(&self.blocks.to_le_bytes());
        bytes[44..46].copy_from_slice(&self.connection.to_le_bytes());
        bytes[46..50].copy_from_slice(&[self.op, self.flags, self.unrequested_words, self.cause]);
        bytes[50..52].copy_from_slice(&self.starts.to_le_bytes());
        bytes[52..56].copy_from_slice(&self.host_ns.to_le_bytes());
        bytes[56..].copy_from_slice(&self.lateness_ns.to_le_bytes());
        bytes
    }

    /// Reads what [`to_bytes`](Record::to_bytes) wrote.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        fn field<const N: usize>(bytes: &[u8; Record::BYTES], at: usize) -> [u8; N] {
            std::array::from_fn(|i| bytes[at + i])
        }
        let time = |at: usize| u64::from_le_bytes(field(bytes, at));
        Record {
            id: time(0),
            stamp_ns: time(8),
            planned_ns: time(16),
            sent_ns: time(24),
            lbn: time(32),
            blocks: u32::from_le_bytes(field(bytes, 40)),
            connection: u16::from_le_bytes(field(bytes, 44)),
            op: bytes[46],
            flags: bytes[47],
            unrequested_words: bytes[48],
            cause: bytes[49],
            starts: u16::from_le_bytes(field(bytes, 50)),
            host_ns: u32::from_le_bytes(field(bytes, 52)),
            lateness_ns: i64::from_le_bytes(field(bytes, 56)),
        }
    }

    /// The cause of lateness as an enum.
    pub fn cause(&self) -> Cause {
        Cause::ALL.get(usize::from(self.cause)).copied().unwrap_or_default()
    }
}

/// The number that stands for an operation in a record.
pub(crate) const fn op_code(op: Op) -> u8 {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Trim => 2,
        Op::Flush => 3,
    }
}

/// A recording in progress.
#[derive(Debug)]
pub(crate) struct Recording {
    chunk: Vec<u8>,
    sender: SyncSender<Vec<u8>>,
    /// Set while the server waits for space in the channel.
    wants_wake: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<()>>,
    name: String,
    has_write_failed: bool,
}

impl Recording {
    /// Records into a new file; `wake` is an eventfd that ends the sleep of the server.
    ///
    /// # Errors
    /// A file that cannot be made.
    pub fn create(path: &Path, wake: Arc<OwnedFd>) -> Result<Self> {
        let name = path.display().to_string();
        let file = File::create(path).map_err(|error| write_error(&name, &error))?;
        let (sender, receiver) = sync_channel(MAX_QUEUED_CHUNKS);
        let wants_wake = Arc::new(AtomicBool::new(false));
        let thread_wants_wake = Arc::clone(&wants_wake);
        let thread = thread::Builder::new()
            .name("sledlab-recorder".to_owned())
            .spawn(move || write_chunks(file, &receiver, &thread_wants_wake, &wake))
            .map_err(|error| Error::user(format!("cannot start a thread for the recording: {error}")))?;
        Ok(Recording {
            chunk: Vec::with_capacity(CHUNK_RECORDS * Record::BYTES),
            sender,
            wants_wake,
            thread,
            name,
            has_write_failed: false,
        })
    }

    /// Adds a record.
    #[inline]
    pub fn push(&mut self, record: &Record) {
        self.chunk.extend_from_slice(&record.to_bytes());
        if self.chunk.len() >= CHUNK_RECORDS * Record::BYTES {
            self.try_send();
        }
    }

    /// Sends the collected records to the thread, if the channel has space.
    pub fn try_send(&mut self) {
        if self.chunk.is_empty() || self.has_write_failed {
            return;
        }
        let empty = Vec::with_capacity(CHUNK_RECORDS * Record::BYTES);
        match self.sender.try_send(std::mem::replace(&mut self.chunk, empty)) {
            Ok(()) => {}
            Err(TrySendError::Full(chunk)) => {
                self.chunk = chunk;
                self.wants_wake.store(true, Ordering::SeqCst);
            }
            Err(TrySendError::Disconnected(_)) => self.has_write_failed = true,
        }
    }

    /// Whether the channel is full, so that no more requests may be read.
    pub fn is_full(&self) -> bool {
        self.chunk.len() >= CHUNK_RECORDS * Record::BYTES
    }

    /// Whether writing the file has failed; [`finish`](Recording::finish) returns the error.
    pub fn has_failed(&self) -> bool {
        self.has_write_failed
    }

    /// Writes what is left and closes the file.
    ///
    /// # Errors
    /// A file that could not be written.
    pub fn finish(self) -> Result<()> {
        let Recording { chunk, sender, thread, name, .. } = self;
        // The error of a thread that has ended is returned below.
        let _ = sender.send(chunk);
        drop(sender);
        let result = thread.join().map_err(|_| Error::internal("the recording thread panicked"))?;
        result.map_err(|error| write_error(&name, &error))
    }
}

fn write_chunks(
    mut file: File,
    chunks: &Receiver<Vec<u8>>,
    wants_wake: &AtomicBool,
    wake: &OwnedFd,
) -> io::Result<()> {
    let result = chunks.iter().try_for_each(|chunk| {
        file.write_all(&chunk)?;
        if wants_wake.swap(false, Ordering::SeqCst) {
            signal_eventfd(wake);
        }
        Ok(())
    });
    if result.is_err() {
        signal_eventfd(wake);
    }
    result
}

/// Wakes the thread that sleeps at an eventfd. This fails only if the counter is full, and then the thread wakes
/// anyway.
pub(crate) fn signal_eventfd(wake: &OwnedFd) {
    let _ = rustix::io::write(wake, &1_u64.to_ne_bytes());
}

fn write_error(name: &str, error: &io::Error) -> Error {
    Error::user(format!("cannot write the recording to {name}: {error}"))
        .with_remedy("choose a file in a writable directory with free space")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_bytes_round_trip() {
        let record = Record {
            id: 1,
            stamp_ns: 2,
            planned_ns: u64::MAX,
            sent_ns: 4,
            lbn: 5,
            blocks: u32::MAX,
            connection: 7,
            op: op_code(Op::Flush),
            flags: Record::FUA,
            unrequested_words: 63,
            cause: Cause::Client as u8,
            starts: 9,
            host_ns: 12,
            lateness_ns: -13,
        };
        assert_eq!(Record::from_bytes(&record.to_bytes()), record);
        assert_eq!(record.cause(), Cause::Client);
    }
}
