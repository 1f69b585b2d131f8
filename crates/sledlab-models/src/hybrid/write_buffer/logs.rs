//! Logs on the front device: a ring in which the oldest log is overwritten once its blocks have been destaged.

use crate::cache::{BlockRun, SlotState};

/// The state of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// All newest versions in the log have been destaged, or the log is empty.
    Clean,
    /// Records are appended to the log.
    Open,
    /// The log accepts no more records, and its destaging has not started.
    Full,
    /// The newest versions in the log are being destaged.
    Cleaning,
}

/// A record of a log, written by one write or part of a write: a header, followed by the data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// The blocks, as the host numbers them.
    pub run: BlockRun,
    /// Where the data begins on the front device.
    pub data_block: u64,
    /// Number of the record; records are numbered one by one across all logs.
    pub number: u64,
    /// Number of blocks whose newest versions are in the record; 0 until the record is acknowledged.
    pub newest_blocks: u64,
}

impl Record {
    /// Whether block `front_block` of the front device is part of the record's data.
    pub fn holds(&self, front_block: u64) -> bool {
        (self.data_block..self.data_block + u64::from(self.run.blocks())).contains(&front_block)
    }

    /// Whether all blocks of the record are the newest versions.
    pub fn is_newest(&self) -> bool {
        self.newest_blocks == self.run.end - self.run.first
    }
}

#[derive(Debug)]
pub(super) struct Log {
    pub phase: Phase,
    pub records: Vec<Record>,
    /// Number of records whose write is not acknowledged; the log cannot be destaged before they are.
    pub unacknowledged: u32,
    /// Number of reads of the log in flight; the log cannot be overwritten before they are complete.
    pub readers: u32,
}

impl Log {
    /// The record whose data contains block `front_block` of the front device.
    pub fn record_at(&mut self, front_block: u64) -> Option<&mut Record> {
        let end = self.records.partition_point(|record| record.data_block <= front_block);
        self.records[..end].last_mut()
    }
}

/// A ring of logs.
#[derive(Debug)]
pub(super) struct Logs {
    pub log_blocks: u64,
    logs: Vec<Log>,
    /// The log to which records are appended.
    head: usize,
    /// The oldest log that is not clean.
    tail: usize,
    /// Blocks appended to the open log so far.
    filled_blocks: u64,
    records: u64,
    /// Number of the last record of the latest log to be overwritten. Recovery ignores records up to this number, even
    /// if they can still be read: non-volatile memory stores the number before the log is overwritten.
    pub last_discarded: u64,
    /// Number of logs that are not clean.
    used_logs: usize,
}

/// Blocks of a record's header.
pub(super) const HEADER_BLOCKS: u64 = 1;

impl Logs {
    pub fn new(logs: usize, log_blocks: u64) -> Self {
        let new_log = || Log { phase: Phase::Clean, records: Vec::new(), unacknowledged: 0, readers: 0 };
        let mut ring: Vec<Log> = (0..logs).map(|_| new_log()).collect();
        ring[0].phase = Phase::Open;
        Logs {
            log_blocks,
            logs: ring,
            head: 0,
            tail: 0,
            filled_blocks: 0,
            records: 0,
            last_discarded: 0,
            used_logs: 1,
        }
    }

    /// Number of logs.
    pub fn len(&self) -> usize {
        self.logs.len()
    }

    /// Share of the logs that are not clean.
    pub fn used_share(&self) -> f64 {
        self.used_logs as f64 / self.logs.len() as f64
    }

    /// The state of every log. A clean log with records can still be read until it is overwritten; a clean log without
    /// records is free.
    pub fn slots(&self) -> Vec<SlotState> {
        let slot = |log: &Log| match log.phase {
            Phase::Clean if log.records.is_empty() => SlotState::Free,
            Phase::Clean => SlotState::Clean,
            Phase::Open => SlotState::Filling,
            Phase::Full => SlotState::Dirty,
            Phase::Cleaning => SlotState::Destaging,
        };
        self.logs.iter().map(slot).collect()
    }

    /// The log that contains block `front_block` of the front device.
    pub fn log_at(&mut self, front_block: u64) -> &mut Log {
        &mut self.logs[(front_block / self.log_blocks) as usize]
    }

    /// A log by its number.
    pub fn log(&mut self, number: usize) -> &mut Log {
        &mut self.logs[number]
    }

    /// Whether a record of `blocks` blocks fits into the open log.
    pub fn has_room(&self, blocks: u64) -> bool {
        self.filled_blocks + HEADER_BLOCKS + blocks <= self.log_blocks
    }

    /// Opens the next log, if that is clean and no read of it is in flight. Returns its records, which the
    /// caller must remove from the lookup table.
    pub fn open_next(&mut self) -> Option<Vec<Record>> {
        let next = (self.head + 1) % self.logs.len();
        let log = &mut self.logs[next];
        if log.phase != Phase::Clean || log.readers > 0 {
            return None;
        }
        log.phase = Phase::Open;
        let records = std::mem::take(&mut log.records);
        self.last_discarded = records.last().map_or(self.last_discarded, |record| record.number);
        self.logs[self.head].phase = Phase::Full;
        (self.head, self.filled_blocks) = (next, 0);
        self.used_logs += 1;
        Some(records)
    }

    /// Lets the open log, which has no record yet, use the memory of an empty vector.
    pub fn reuse(&mut self, empty: Vec<Record>) {
        self.logs[self.head].records = empty;
    }

    /// Appends a record to the open log, which has room for it.
    pub fn append(&mut self, run: BlockRun) -> Record {
        let front_block = self.head as u64 * self.log_blocks + self.filled_blocks + HEADER_BLOCKS;
        self.filled_blocks += HEADER_BLOCKS + u64::from(run.blocks());
        self.records += 1;
        let record = Record { run, data_block: front_block, number: self.records, newest_blocks: 0 };
        self.logs[self.head].records.push(record);
        self.logs[self.head].unacknowledged += 1;
        record
    }

    /// Returns up to `maximum` of the oldest full logs.
    pub fn oldest(&self, maximum: usize) -> Vec<usize> {
        let ring = (0..self.logs.len()).map(|step| (self.tail + step) % self.logs.len());
        let is_ready =
            |log: &usize| self.logs[*log].phase == Phase::Full && self.logs[*log].unacknowledged == 0;
        ring.take_while(is_ready).take(maximum).collect()
    }

    /// Returns whether the oldest log that is not clean is full and can be destaged.
    pub fn has_full(&self) -> bool {
        let Log { phase, unacknowledged, .. } = self.logs[self.tail];
        phase == Phase::Full && unacknowledged == 0
    }

    /// The newest versions in a log have been destaged: the log is clean.
    pub fn clean(&mut self, log: usize) {
        self.logs[log].phase = Phase::Clean;
        self.used_logs -= 1;
        while self.logs[self.tail].phase == Phase::Clean {
            self.tail = (self.tail + 1) % self.logs.len();
        }
    }
}
