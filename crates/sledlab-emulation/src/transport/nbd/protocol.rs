//! What both phases of the protocol and both directions name: options, commands, requests and errors.

use std::io;

/// Features that a client has negotiated in the handshake and may use in the transmission phase.
#[derive(Clone, Copy, Debug, Default)]
pub struct NegotiatedOptions {
    /// Replies come in chunks.
    pub structured: bool,
    /// `BLOCK_STATUS` reports which extents hold data.
    pub allocation: bool,
}

/// `NBD_CMD_WRITE`, the only command that data follows.
pub const WRITE: u16 = 1;

/// The command of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Read data.
    Read,
    /// Write the data that has arrived before the request was complete.
    Write,
    /// Make earlier writes durable; has no range on the device.
    Flush,
    /// Trim: the client no longer needs the data.
    Trim,
    /// A hint that the data will be read soon.
    Cache,
    /// Write zeroes.
    WriteZeroes,
    /// Report which extents hold data.
    BlockStatus,
}

impl Command {
    /// The command with this number.
    pub(super) fn from_number(number: u16) -> Option<Self> {
        Some(match number {
            0 => Command::Read,
            WRITE => Command::Write,
            3 => Command::Flush,
            4 => Command::Trim,
            5 => Command::Cache,
            6 => Command::WriteZeroes,
            7 => Command::BlockStatus,
            _ => return None,
        })
    }

    /// Whether the command may change data.
    pub const fn is_write(self) -> bool {
        matches!(self, Command::Write | Command::Trim | Command::WriteZeroes)
    }
}

/// A valid request of a client: its range lies within the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NbdRequest {
    /// The client's own name for it, which its reply carries.
    pub cookie: u64,
    /// The command.
    pub command: Command,
    /// First byte on the device, aligned or not; 0 for a flush.
    pub offset: u64,
    /// Number of bytes, aligned or not; 0 only for a flush. At most [`MAX_BYTES`](super::MAX_BYTES) where data is read or written.
    pub length: u32,
    /// The data must be durable before the reply (force unit access).
    pub fua: bool,
    /// Zeroes must take the room of data, not become a hole.
    pub no_hole: bool,
    /// The reply may have one extent only.
    pub single_extent: bool,
}

/// Errors of requests, with the numbers of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Errno {
    /// The device is read-only.
    Perm = 1,
    /// Data could not be read or written.
    Io = 5,
    /// There is no memory for the request.
    NoMem = 12,
    /// The request is invalid.
    Inval = 22,
    /// A write goes beyond the end of the device, or there is no space for its data.
    NoSpc = 28,
    /// The server ends.
    Shutdown = 108,
}

impl From<&io::Error> for Errno {
    fn from(error: &io::Error) -> Self {
        use io::ErrorKind as Kind;
        match error.kind() {
            Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge => Errno::NoSpc,
            Kind::PermissionDenied | Kind::ReadOnlyFilesystem => Errno::Perm,
            Kind::OutOfMemory => Errno::NoMem,
            Kind::InvalidInput => Errno::Inval,
            _ => Errno::Io,
        }
    }
}
