//! The time that commands and the bus take before and after the mechanism does its part.

use sledlab_core::{Op, Span};

use crate::device::disk::params::DiskNumbers;

/// A pair of overheads: after a read, and after a write.
type OverheadPair = [Span; 2];

/// Overheads of a drive's commands and of its bus.
#[derive(Clone, Debug)]
pub(super) struct Overheads {
    read_hit: OverheadPair,
    read_miss: OverheadPair,
    write_buffered: OverheadPair,
    write_through: OverheadPair,
    pub read_completion: Span,
    pub write_completion: Span,
    pub data_preparation: Span,
    pub reselect_first: Span,
    /// Time of a sector that is read on the bus.
    pub sector: Span,
    written_sector: Span,
    /// How writes complete: when buffered or on the medium.
    write: Command,
    /// The extra disconnection before a write that follows a write, in drives that make one.
    pub extra: Option<ExtraDisconnect>,
}

/// A drive that disconnects once more before a write that follows a write.
#[derive(Clone, Debug)]
pub(super) struct ExtraDisconnect {
    /// From the command to the start of the arm.
    pub arm: Span,
    /// From the command to the first sector on the bus, without preparation.
    pub data: Span,
    pub reselect: Span,
    /// Minimum time of a movement of the arm.
    pub min_movement: Span,
}

/// How a command is carried out, which decides its overhead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    ReadHit,
    ReadMiss,
    WriteBuffered,
    WriteThrough,
}

impl Overheads {
    pub fn new(disk: &DiskNumbers) -> Self {
        let us = |us: f64| Span::from_ms(us / 1e3);
        // The overhead in us that every command pays.
        let common_us = disk.command_overhead_ms * 1e3;
        let pair = |read: f64, write: f64| [us(common_us + read), us(common_us + write)];
        let reselect_first = us(disk.reselect_first_us);
        Overheads {
            read_hit: pair(disk.read_hit_after_read_us, disk.read_hit_after_write_us),
            read_miss: pair(disk.read_miss_after_read_us, disk.read_miss_after_write_us),
            write_buffered: pair(disk.write_buffered_after_read_us, disk.write_buffered_after_write_us),
            write_through: pair(disk.write_through_after_read_us, disk.write_through_after_write_us),
            read_completion: us(disk.read_completion_us),
            write_completion: us(disk.write_completion_us),
            data_preparation: us(disk.data_preparation_us),
            reselect_first,
            sector: us(disk.bus_sector_us),
            written_sector: us(disk.bus_write_sector_us),
            write: if disk.buffers_writes { Command::WriteBuffered } else { Command::WriteThrough },
            extra: disk.extra_write_disconnect.then(|| ExtraDisconnect {
                arm: us(common_us + disk.extra_disconnect_command_us + disk.extra_disconnect_seek_delta_us),
                data: us(common_us
                    + disk.extra_disconnect_command_us
                    + disk.extra_disconnect_first_us
                    + disk.extra_disconnect_gap_us)
                    + reselect_first,
                reselect: us(disk.reselect_other_us),
                min_movement: us(disk.minimum_write_seek_us),
            }),
        }
    }

    /// From the arrival of a command to its first action, after a request of operation `previous_op`.
    pub fn command_overhead(&self, command: Command, previous_op: Op) -> Span {
        let pair = match command {
            Command::ReadHit => &self.read_hit,
            Command::ReadMiss => &self.read_miss,
            Command::WriteBuffered => &self.write_buffered,
            Command::WriteThrough => &self.write_through,
        };
        pair[usize::from(previous_op == Op::Write)]
    }

    /// From the arrival of a command to the end of its overhead, as far as the drive knows before it searches its
    /// blocks in the buffer: a read counts as a miss.
    pub fn admission(&self, op: Op, previous_op: Op) -> Span {
        self.command_overhead(if op == Op::Write { self.write } else { Command::ReadMiss }, previous_op)
    }

    /// From the arrival of a command that needs the medium to the start of the arm, after a request of operation
    /// `previous_op`.
    pub fn arm_overhead(&self, op: Op, previous_op: Op) -> Span {
        match (op, &self.extra) {
            (Op::Write, Some(extra)) if previous_op == Op::Write => extra.arm,
            (Op::Write, _) => self.command_overhead(self.write, previous_op),
            _ => self.command_overhead(Command::ReadMiss, previous_op),
        }
    }

    /// Time of `sectors` written sectors on the bus.
    pub fn write_transfer(&self, sectors: u64) -> Span {
        self.written_sector.saturating_mul(sectors)
    }
}
