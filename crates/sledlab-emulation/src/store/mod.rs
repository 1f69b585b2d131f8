//! Storage of the data that hosts write: in memory (an anonymous file) or in a sparse file.
//!
//! A store is sparse: a range that was never written reads as zeroes and uses no space. Data written to a file survives
//! the end of this process, since the kernel has the data when the call returns. Only data before a [`DataStore::sync`]
//! survives a failure of the host.

mod open;
pub mod versions;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{FallocateFlags, SeekFrom, fallocate, seek};
use rustix::io::Errno;

use crate::DataExtent;

/// Data is copied and zeroes are written in pieces of this many bytes.
const PIECE_BYTES: usize = 1 << 20;

/// The data of one device.
///
/// All methods take `&self` and can be called from several threads. A range beyond the end is
/// [`io::ErrorKind::InvalidInput`]; a full disk is [`io::ErrorKind::StorageFull`], which NBD clients see as `ENOSPC`
/// ([`Errno`](crate::transport::nbd::Errno)).
#[derive(Debug)]
pub struct DataStore {
    file: File,
    bytes: u64,
}

impl DataStore {
    /// The size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Fills `buffer` with bytes.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.range_end(offset, buffer.len() as u64)?;
        self.file.read_exact_at(buffer, offset)
    }

    /// Writes bytes, which survive the end of this process as soon as this method returns.
    pub fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.range_end(offset, bytes.len() as u64)?;
        self.file.write_all_at(bytes, offset)
    }

    /// Makes a hole: the range reads as zeroes and uses no space. If the file system does not support holes, zeroes are
    /// written, which takes time for long ranges.
    pub fn punch(&self, offset: u64, length: u64) -> io::Result<()> {
        self.fallocate_zeroes(FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, length)
    }

    /// Writes zeroes that use the space of data, so that later writes to the range do not run out of space. In memory
    /// this takes as long as writing data.
    pub fn zero(&self, offset: u64, length: u64) -> io::Result<()> {
        self.fallocate_zeroes(FallocateFlags::ZERO_RANGE | FallocateFlags::KEEP_SIZE, offset, length)
    }

    /// Returns up to `max_extents` consecutive extents of data and holes from `offset` on, which cover `length` bytes
    /// or, if there are more extents, fewer. Data and holes alternate. If the file system does not support holes, the
    /// entire range is data.
    pub fn extents(&self, offset: u64, length: u64, max_extents: usize) -> io::Result<Vec<DataExtent>> {
        let end = self.range_end(offset, length)?;
        let mut extents = Vec::new();
        let mut position = offset;
        while position < end && extents.len() < max_extents {
            let data = next_boundary(&self.file, SeekFrom::Data(position), end)?;
            let (to, allocated) = if data > position {
                (data, false)
            } else {
                (next_boundary(&self.file, SeekFrom::Hole(position), end)?, true)
            };
            extents.push(DataExtent { length: to - position, allocated });
            position = to;
        }
        Ok(extents)
    }

    /// Makes written data durable on the host. In memory there is nothing to do.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn fallocate_zeroes(&self, flags: FallocateFlags, offset: u64, length: u64) -> io::Result<()> {
        let end = self.range_end(offset, length)?;
        if length == 0 {
            return Ok(());
        }
        loop {
            match fallocate(&self.file, flags, offset, length) {
                Ok(()) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(Errno::OPNOTSUPP | Errno::NOSYS) => return self.write_zeroes(offset, end),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Writes zeroes if the file system can allocate neither holes nor zeroes.
    fn write_zeroes(&self, offset: u64, end: u64) -> io::Result<()> {
        let zeroes = vec![0; PIECE_BYTES.min((end - offset) as usize)];
        let mut position = offset;
        while position < end {
            let count = zeroes.len().min((end - position) as usize);
            self.file.write_all_at(&zeroes[..count], position)?;
            position += count as u64;
        }
        Ok(())
    }

    /// The end of a range that lies within the store.
    fn range_end(&self, offset: u64, length: u64) -> io::Result<u64> {
        let end = offset.checked_add(length).filter(|end| *end <= self.bytes);
        end.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "past the end of the device"))
    }
}

/// Returns where the next data or hole begins, or `end` if there is none before; everything is data if the file system
/// does not support holes.
fn next_boundary(file: &File, from: SeekFrom, end: u64) -> io::Result<u64> {
    match seek(file, from) {
        Ok(at) => Ok(at.min(end)),
        Err(Errno::NXIO) => Ok(end),
        Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(match from {
            SeekFrom::Data(at) => at,
            _ => end,
        }),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeroes_are_written_without_fallocate() {
        let bytes = 3 * PIECE_BYTES as u64;
        let store = DataStore::in_memory(bytes).expect("memory");
        store.write_at(0, &vec![7; bytes as usize]).expect("room");
        store.write_zeroes(5, bytes - 3).expect("room");
        let mut read = vec![0; bytes as usize];
        store.read_at(0, &mut read).expect("data");
        assert!(
            read.iter().enumerate().all(|(i, b)| *b == if i < 5 || i as u64 >= bytes - 3 { 7 } else { 0 })
        );
    }
}
